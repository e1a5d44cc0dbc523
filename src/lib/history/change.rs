//! The one way in which labels and head change: journal first, then the index, once.

use super::History;
use super::index::{Index, RowsUpdate};
use super::journal::{HEAD, Move};
use super::label;
use crate::error::{IoContext, Result};
use crate::store::id::SnapshotId;
use crate::store::{fsio, layout};

/// Changes that are made together: either the index shows all of them or none.
#[derive(Default)]
pub struct Change<'a> {
    /// Where head moves, if it does.
    pub head: Option<SnapshotId>,
    /// Labels and what they are to point to; `None` deletes one.
    pub labels: Vec<(String, Option<SnapshotId>)>,
    /// The overflow latch, if it changes.
    pub overflowed: Option<bool>,
    /// What becomes of the stat cache.
    pub rows: RowsUpdate<'a>,
}

impl History {
    /// Makes the changes. The caller holds the history lock and read `index` under it. Without any difference nothing
    /// is written, except that each stop and return of the run is noted in the journal.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`]; the old index is then whole.
    pub fn apply(&self, index: &mut Index, change: Change<'_>) -> Result<()> {
        let mut moves = Vec::new();
        let was_unwritten = index.is_unwritten();
        // A run that stops or comes back where it did before moves nothing, and yet the journal must know.
        let mut marks = Vec::new();
        if let Some(head) = change.head
            && index.head.as_ref() != Some(&head)
        {
            let old = index.head.as_ref().map(ToString::to_string);
            moves.push(Move { label: HEAD.into(), old, new: Some(head.clone()) });
            index.head = Some(head);
        }
        for (label, new) in change.labels {
            let old = index.labels.get(&label).cloned();
            if old.as_deref() == new.as_ref().map(SnapshotId::as_str) {
                if is_stop_or_return(&label) && new.is_some() {
                    marks.push(Move { label, old, new });
                }
                continue;
            }
            match &new {
                Some(id) => index.labels.insert(label.clone(), id.to_string()),
                None => index.labels.remove(&label),
            };
            moves.push(Move { label, old, new });
        }
        let latch_moves = change.overflowed.is_some_and(|overflowed| overflowed != index.overflowed);
        if let Some(overflowed) = change.overflowed {
            index.overflowed = overflowed;
        }
        let rows = if change.rows.is_nothing_new(index.rows_json()) { RowsUpdate::Keep } else { change.rows };
        let is_same = moves.is_empty() && !latch_moves && matches!(rows, RowsUpdate::Keep);
        moves.append(&mut marks);
        if !moves.is_empty() {
            self.append_journal(&moves)?;
        }
        if is_same && !was_unwritten {
            // What is there is relied on: it may be that of a program that was killed.
            let path = layout::index(self.store().root(), self.run());
            return match fsio::settle(&path, self.store().durability()) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                other => other.on("cannot flush the directory of", &path),
            };
        }
        self.write_index(index, &rows)
    }
}

fn is_stop_or_return(label: &str) -> bool {
    label::boundary(label).is_some_and(|mark| matches!(mark.phase, "pause" | "fail" | "resume"))
}
