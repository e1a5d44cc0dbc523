//! [`History::unended`]: which nodes had begun and not ended where the history stops.
//!
//! What changed since the newest boundary is somebody's, if the run stood still there. If a node was at work, and its
//! process died without a word, it may as well be debris of that; nobody can tell.

use super::History;
use super::index::Index;
use super::label;
use super::manifest::Manifest;
use super::timeline::{Execution, Timeline};
use crate::error::Result;

impl History {
    /// The executions that may have been at work since `boundary`, the newest one; none where the run stood still.
    ///
    /// # Errors
    /// Those of [`History::journal`].
    pub fn unended(&self, index: &Index, boundary: &Manifest) -> Result<Vec<Execution>> {
        let journal = self.journal()?;
        let marks = journal.effective(index);
        if marks.iter().any(|mark| label::is_boundary(&mark.label)) {
            return Ok(Timeline::of(&marks).unended().to_vec());
        }
        // A history of the original has no journal: there the labels of the snapshot tell.
        let own = boundary.label.as_deref().and_then(label::boundary);
        let labels = index.labels.iter().filter(|(_, id)| **id == *boundary.id.as_str());
        let here = || own.into_iter().chain(labels.clone().filter_map(|(text, _)| label::boundary(text)));
        if here().any(|mark| !begins(mark.phase)) {
            return Ok(Vec::new());
        }
        let mut found: Vec<Execution> =
            here().map(|mark| Execution { node: mark.node.to_owned(), iteration: mark.iteration }).collect();
        found.sort();
        found.dedup();
        Ok(found)
    }
}

fn begins(phase: &str) -> bool {
    matches!(phase, "pre" | "resume")
}
