//! [`Span`]: the two boundaries between which a node ran (facts 5.5).

use super::History;
use super::index::Index;
use super::label;
use crate::error::Result;
use crate::store::id::SnapshotId;

/// The boundaries of one iteration of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The iteration.
    pub iteration: u64,
    /// The snapshot from before it.
    pub pre: SnapshotId,
    /// The snapshot from after it.
    pub post: SnapshotId,
}

/// What there is instead of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Nothing of the run was captured.
    History,
    /// Nothing of the run was captured, because the workspace has too many files.
    TooManyFiles,
    /// The node has no boundary before it.
    Pre,
    /// It has begun, and then the run paused in it.
    Paused(u64),
    /// It has begun, and ended without completing.
    Failed(u64),
    /// It has begun, and no end is marked.
    Post(u64),
}

impl History {
    /// Finds the span of an iteration of a node, or without one of the highest iteration that has both ends.
    ///
    /// # Errors
    /// [`crate::error::Kind::NotFound`] for a label that points to nothing.
    pub fn span(&self, index: &Index, node: &str, iteration: Option<u64>) -> Result<Result<Span, Missing>> {
        let has = |phase: &str, iteration: u64| index.labels.contains_key(&format!("{phase}:{node}:{iteration}"));
        let begun = index.labels.keys().filter_map(|text| {
            let mark = label::boundary(text)?;
            (mark.phase == "pre" && mark.node == node).then_some(mark.iteration)
        });
        let mut begun: Vec<u64> = begun.filter(|found| iteration.is_none_or(|wanted| *found == wanted)).collect();
        begun.sort_unstable();
        if let Some(iteration) = begun.iter().copied().rev().find(|iteration| has("post", *iteration)) {
            let pre = self.resolve(index, &format!("pre:{node}:{iteration}"))?;
            let post = self.resolve(index, &format!("post:{node}:{iteration}"))?;
            return Ok(Ok(Span { iteration, pre, post }));
        }
        Ok(Err(match begun.last().copied() {
            Some(last) if has("pause", last) => Missing::Paused(last),
            Some(last) if has("fail", last) => Missing::Failed(last),
            Some(last) => Missing::Post(last),
            None if index.head.is_some() => Missing::Pre,
            None if index.overflowed => Missing::TooManyFiles,
            None => Missing::History,
        }))
    }
}
