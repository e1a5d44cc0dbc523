//! [`Pivot`]: the snapshot from before a node ran, which a rewind goes back to (facts 6.3).
//!
//! It is `pre:<node>:<i>` with the highest `i` that is not above the wanted iteration. If the node completed a later
//! iteration than that, the label is stale: going back to it would undo work that nobody asked about. If the node ran
//! more than once under one label, which is never moved, the label means the first pass, and only somebody who names
//! the iteration can be taken to mean that.

use super::History;
use super::index::Index;
use super::journal::Mark;
use super::label;
use super::manifest::Manifest;
use crate::error::{Error, Kind, Result};
use crate::store::id::SnapshotId;
use crate::stream::quote;

/// Where a rewind goes back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pivot {
    /// The iteration that was found.
    pub iteration: u64,
    /// The label that marks it.
    pub label: String,
    /// The snapshot.
    pub target: SnapshotId,
    /// Whether the node ran more than once since the label was set; it is from before the first pass.
    pub is_shared: bool,
}

impl History {
    /// Finds the snapshot from before `node` ran, in the wanted iteration or the last one there is.
    ///
    /// # Errors
    /// [`Kind::NotFound`] when nothing was captured before the node, with the reason; [`Kind::Refused`] for a stale
    /// label, or without `iteration` for one that several passes share.
    pub fn pivot(&self, index: &Index, node: &str, iteration: Option<u64>) -> Result<Pivot> {
        let of_node = |phase: &'static str| {
            index.labels.keys().filter_map(move |text| {
                let mark = label::boundary(text)?;
                (mark.phase == phase && mark.node == node).then_some(mark.iteration)
            })
        };
        let wanted = iteration.unwrap_or(u64::MAX);
        let Some(found) = of_node("pre").filter(|found| *found <= wanted).max() else {
            return Err(self.no_pivot(index, node, iteration));
        };
        let shown = quote::name(node.as_bytes());
        if let Some(later) = of_node("post").filter(|later| found < *later && *later <= wanted).max() {
            return Err(Error::refused(format!(
                "node {shown} completed iteration {later}, but the last iteration before which anything was captured is {found}"
            ))
            .hint(format!("name an iteration with --iter {found} to go back so far, or restore a snapshot with wt-undo")));
        }
        let label = format!("pre:{node}:{found}");
        let target = self.resolve(index, &label)?;
        let is_shared = passes_since(&self.journal()?.effective(index), node, found);
        if is_shared && iteration.is_none() {
            return Err(Error::refused(format!(
                "node {shown} ran more than once as iteration {found}, and '{label}' is from before the first time"
            ))
            .hint(format!("name it with --iter {found} to go back so far, or restore a snapshot with wt-undo")));
        }
        Ok(Pivot { iteration: found, label, target, is_shared })
    }

    fn no_pivot(&self, index: &Index, node: &str, iteration: Option<u64>) -> Error {
        let run = quote::name(self.run().as_str().as_bytes());
        let node = quote::name(node.as_bytes());
        let (cause, hint) = match (&index.head, index.overflowed) {
            (None, true) => (
                format!("the workspace of run {run} has too many files, so that nothing of it was captured"),
                "leave some out in .iterionignore before the next run",
            ),
            (None, false) => {
                return self.is_missing().also("wt-boundary marks what can be taken back");
            }
            (Some(_), _) => (
                match iteration {
                    None => format!("run {run} has no boundary before node {node}"),
                    Some(wanted) => {
                        format!("run {run} has no boundary before node {node} up to iteration {wanted}")
                    }
                },
                "wt-label --list 'pre:*' shows those there are",
            ),
        };
        Error::not_found(cause).hint(hint)
    }

    /// The newest boundary of the chain, or `target` where that is newer; the reports of a rewind compare with it.
    ///
    /// # Errors
    /// [`Kind::Refused`] when the chain has neither, [`Kind::Damaged`] for a manifest before it that cannot be read.
    pub fn newest_boundary(&self, index: &Index, target: &SnapshotId) -> Result<Manifest> {
        for (id, manifest) in self.chain(index.head.clone()) {
            let manifest = manifest.map_err(|error| error.while_doing("cannot tell where the run stood"))?;
            if id == *target || manifest.label.as_deref().is_some_and(label::is_boundary) {
                return Ok(manifest);
            }
        }
        Err(Error::new(Kind::Refused, format!("the history of run '{}' has no boundary any more", self.run()))
            .hint("restore a snapshot with wt-undo; 'wt-log' shows those there are"))
    }
}

/// Whether a node ended more than once under one iteration, as far as the journal tells. What a rewind took back does
/// not count, and neither do passes before the label was set. A failure before the first completion is the same pass,
/// and a pause after it may be one between two nodes.
fn passes_since(marks: &[&Mark], node: &str, iteration: u64) -> bool {
    let pre = format!("pre:{node}:{iteration}");
    let begins = |label: &str| label == pre || label.starts_with("rewind-backup:");
    let from = marks.iter().rposition(|mark| begins(&mark.label)).map_or(0, |at| at + 1);
    let mut has_ended = false;
    for mark in marks.get(from..).unwrap_or_default() {
        let Some(mark) = label::boundary(&mark.label).filter(|it| it.node == node && it.iteration == iteration)
        else {
            continue;
        };
        if has_ended && matches!(mark.phase, "post" | "fail") {
            return true;
        }
        has_ended |= mark.phase == "post";
    }
    false
}
