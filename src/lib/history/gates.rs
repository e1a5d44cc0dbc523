//! [`Range`]: what lies between two review gates, and which node each change is of (facts 5.6).
//!
//! ```text
//! gate:0 --(build, edits of somebody, check)--> gate:1        a change is of the node that touched its path last
//! ```
//!
//! Everything that differs between the two ends is in the range; what no node touched between its own two boundaries is
//! somebody else's, and is not dropped. Nodes are ordered by the id of the snapshot at their end: ids are unique and
//! ascend, and no clock that counts in seconds can swap two of them. Of nodes that ran at the same time it is the one that
//! was at work alone when the path changed last, and else any of those that were.

use std::collections::BTreeMap;

use super::History;
use super::authorship::Owner;
use super::covers::CoverageRules;
use super::diff::{self, Letter, Side};
use super::index::Index;
use super::label;
use super::manifest::Manifest;
use super::timeline::{Execution, Timeline};
use crate::error::Result;
use crate::store::id::SnapshotId;
use crate::store::pool::Pool;
use crate::store::relpath::RelPathBuf;

/// The changes between two gates.
#[derive(Debug)]
pub struct Range {
    /// The number of the gate at its end; `None` for all that happened in a run without gates.
    pub gate: Option<u64>,
    /// The gate before, or the first snapshot of the run.
    pub base: SnapshotId,
    /// The end.
    pub head: SnapshotId,
    /// Every path that differs, how, and the execution that touched it last: none where no node did, several of which it
    /// may be any where they ran at the same time.
    pub changes: BTreeMap<RelPathBuf, (Letter, Vec<Execution>)>,
}

/// A node between its two boundaries.
struct Passage {
    execution: Execution,
    pre: SnapshotId,
    post: SnapshotId,
}

/// What is read once.
struct Known<'a> {
    index: &'a Index,
    timeline: &'a Timeline,
    pool: Option<&'a Pool>,
}

impl History {
    /// Finds the ranges of all gates, in their order, or only of the one that is asked for.
    ///
    /// # Errors
    /// [`crate::error::Kind::Damaged`] for a manifest that cannot be read, and for a chain that is broken, so that nobody
    /// knows its first snapshot.
    pub fn gate_ranges(&self, index: &Index, only: Option<u64>, pool: Option<&Pool>) -> Result<Vec<Range>> {
        let Some(head) = &index.head else { return Ok(Vec::new()) };
        let mut ends: Vec<(Option<u64>, SnapshotId)> = Vec::new();
        for gate in gates(index) {
            ends.push((Some(gate), self.resolve(index, &format!("gate:{gate}"))?));
        }
        if ends.is_empty() {
            ends.push((None, head.clone()));
        }
        let passages = self.passages(index)?;
        let timeline = self.timeline(index)?;
        let known = Known { index, timeline: &timeline, pool };
        let mut ranges = Vec::new();
        let mut base = None;
        for (gate, head) in ends {
            if only.is_none() || gate == only {
                let base = match &base {
                    Some(base) => SnapshotId::clone(base),
                    None => self.first_of_chain(&head)?,
                };
                let changes = self.changes(&base, &head, &passages, &known)?;
                ranges.push(Range { gate, base, head: head.clone(), changes });
            }
            base = Some(head);
        }
        Ok(ranges)
    }

    fn first_of_chain(&self, newest: &SnapshotId) -> Result<SnapshotId> {
        let mut first = newest.clone();
        for (id, manifest) in self.chain(Some(newest.clone())) {
            manifest?;
            first = id;
        }
        Ok(first)
    }

    fn passages(&self, index: &Index) -> Result<Vec<Passage>> {
        let mut passages = Vec::new();
        for text in index.labels.keys() {
            let Some(mark) = label::boundary(text).filter(|mark| mark.phase == "post") else { continue };
            let (node, iteration) = (mark.node.to_owned(), mark.iteration);
            if let Some(pre) = self.points_to(index, &format!("pre:{node}:{iteration}"))? {
                let post = self.resolve(index, text)?;
                passages.push(Passage { execution: Execution { node, iteration }, pre, post });
            }
        }
        passages.sort_by(|a, b| (&a.post, &a.execution).cmp(&(&b.post, &b.execution)));
        Ok(passages)
    }

    fn changes(
        &self,
        base: &SnapshotId,
        head: &SnapshotId,
        passages: &[Passage],
        known: &Known<'_>,
    ) -> Result<BTreeMap<RelPathBuf, (Letter, Vec<Execution>)>> {
        let mut changes = BTreeMap::new();
        if base == head {
            return Ok(changes);
        }
        for (path, letter) in self.letters(base, head, known.pool)? {
            changes.insert(path, (letter, Vec::new()));
        }
        // The last one to touch a path has it.
        for passage in passages.iter().filter(|passage| *base < passage.post && passage.post <= *head) {
            if passage.pre == passage.post {
                continue;
            }
            let together = self.together(passage, known)?;
            for path in self.letters(&passage.pre, &passage.post, known.pool)?.keys() {
                if let Some((_, owners)) = changes.get_mut(path) {
                    let alone = || vec![passage.execution.clone()];
                    *owners = together.get(path).cloned().unwrap_or_else(alone);
                }
            }
        }
        Ok(changes)
    }

    /// Of the paths that changed in a passage which was not alone: who was at work when each changed last.
    fn together(&self, passage: &Passage, known: &Known<'_>) -> Result<BTreeMap<RelPathBuf, Vec<Execution>>> {
        let mut found = BTreeMap::new();
        if known.timeline.beside(&passage.execution).is_empty() {
            return Ok(found);
        }
        let (from, to) = (&passage.pre, Some(&passage.post));
        for interval in self.authorship(known.index, from, to, known.pool, &|_, _| false)?.intervals {
            if interval.owner != Owner::Parked && !interval.nodes.is_empty() {
                found.extend(interval.paths.into_keys().map(|path| (path, interval.nodes.clone())));
            }
        }
        Ok(found)
    }

    fn letters(
        &self,
        old: &SnapshotId,
        new: &SnapshotId,
        pool: Option<&Pool>,
    ) -> Result<BTreeMap<RelPathBuf, Letter>> {
        let (old, new) = (self.manifest(old)?, self.manifest(new)?);
        let found = diff::differences(&side(&old, pool)?, &side(&new, pool)?);
        Ok(found.into_iter().map(|difference| (difference.path.to_owned(), difference.letter)).collect())
    }
}

fn side<'a>(manifest: &'a Manifest, pool: Option<&Pool>) -> Result<Side<'a>> {
    Ok(Side { covers: CoverageRules::load(manifest, pool)?, manifest })
}

/// The numbers of the gates, ascending.
fn gates(index: &Index) -> Vec<u64> {
    let numbers = index.labels.keys().filter(|label| label::is_boundary(label)).filter_map(|label| {
        let number = label.strip_prefix("gate:")?;
        number.parse().ok().filter(|parsed: &u64| parsed.to_string() == number)
    });
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers
}
