//! [`History::log`]: the snapshots of a run, newest first, also past a manifest that cannot be read (facts W35).
//!
//! What a snapshot holds is only counted here; its entries are dropped as soon as they are.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::History;
use super::index::Index;
use super::label::is_bank;
use super::manifest::Manifest;
use crate::error::Result;
use crate::store::id::SnapshotId;
use crate::store::layout;

/// Whether the chain leads from head to a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It does.
    Reached,
    /// It does not.
    NotReached,
    /// The chain is broken above it, so nobody can say.
    Unknown,
}

/// Which snapshots are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those of the chain. Where it is broken, everything older than the break.
    Chain,
    /// All that are there, newest first by their ids.
    All,
}

/// One snapshot of the log.
#[derive(Debug)]
pub struct Row {
    /// Its id.
    pub id: SnapshotId,
    /// What it is, or why it cannot be read.
    pub summary: Result<Summary>,
    /// Whether the chain leads to it.
    pub reach: Reach,
}

/// What a manifest says, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The snapshot before it.
    pub parent: Option<SnapshotId>,
    /// Its own label.
    pub label: Option<String>,
    /// When it was made, RFC 3339, as written.
    pub created_at: String,
    /// Regular files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Paths that were there and were not captured.
    pub gaps: u64,
}

impl Summary {
    /// Whether it was made so that a restore can be undone.
    #[must_use]
    pub fn is_bank(&self) -> bool {
        self.label.as_deref().is_some_and(is_bank)
    }
}

impl From<Manifest> for Summary {
    fn from(manifest: Manifest) -> Self {
        Self {
            files: manifest.files().count() as u64,
            bytes: manifest.total_bytes(),
            gaps: manifest.gaps.len() as u64,
            parent: manifest.parent,
            label: manifest.label,
            created_at: manifest.created_at,
        }
    }
}

impl History {
    /// Calls `visit` for each snapshot, newest first, until it breaks off.
    ///
    /// # Errors
    /// [`crate::error::Kind::NotFound`] for a run that is not there, [`crate::error::Kind::Io`] when the manifests cannot
    /// be listed. A manifest that cannot be read is a row.
    pub fn log(&self, index: &Index, which: Which, mut visit: impl FnMut(Row) -> ControlFlow<()>) -> Result<()> {
        if !layout::run(self.store().root(), self.run()).is_dir() {
            return Err(self.store().no_run(self.run()));
        }
        let chain = self.chain(index.head.clone()).map(|(id, manifest)| Row {
            id,
            summary: manifest.map(Summary::from),
            reach: Reach::Reached,
        });
        match which {
            Which::Chain => self.log_chain(chain, &mut visit),
            Which::All => self.log_all(chain, &mut visit),
        }
    }

    fn log_chain(
        &self,
        chain: impl Iterator<Item = Row>,
        visit: &mut dyn FnMut(Row) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut seen = Vec::new();
        for row in chain {
            let broken_at = row.summary.is_err().then(|| row.id.clone());
            seen.push(row.id.clone());
            if visit(row).is_break() {
                return Ok(());
            }
            let Some(broken_at) = broken_at else { continue };
            let older = self.snapshot_ids()?.into_iter().filter(|id| *id < broken_at && !seen.contains(id));
            for id in older.rev() {
                if visit(self.row(id, Reach::Unknown)).is_break() {
                    return Ok(());
                }
            }
            return Ok(());
        }
        Ok(())
    }

    fn log_all(
        &self,
        chain: impl Iterator<Item = Row>,
        visit: &mut dyn FnMut(Row) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut reached: HashMap<SnapshotId, Row> = HashMap::new();
        let mut broken_at = None;
        for row in chain {
            if row.summary.is_err() {
                broken_at = Some(row.id.clone());
            }
            reached.entry(row.id.clone()).or_insert(row);
        }
        let mut ids = self.snapshot_ids()?;
        // What the chain names and is not there belongs into the list too.
        ids.extend(reached.keys().filter(|id| ids.binary_search(id).is_err()).cloned().collect::<Vec<_>>());
        ids.sort_unstable();
        for id in ids.into_iter().rev() {
            let row = reached.remove(&id).unwrap_or_else(|| {
                let is_unknown = broken_at.as_ref().is_some_and(|broken_at| id < *broken_at);
                self.row(id, if is_unknown { Reach::Unknown } else { Reach::NotReached })
            });
            if visit(row).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn row(&self, id: SnapshotId, reach: Reach) -> Row {
        let summary = self.manifest(&id).map(Summary::from);
        Row { id, summary, reach }
    }
}
