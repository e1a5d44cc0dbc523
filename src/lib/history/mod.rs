//! What was captured, under which names, and what differs: manifests, index, labels, journal, chain, diff.
//!
//! This room knows nothing of how a workspace is captured or restored; it reads and writes a run's history.
//!
//! Order of every change: manifest and pin, then journal, then index; so a label never names what is not there
//! (design section 7).

pub mod authorship;
pub mod chain;
pub mod change;
pub mod coverage;
pub mod covers;
pub mod diff;
pub mod gates;
pub mod graph;
pub mod hashes;
pub mod index;
mod items;
pub mod journal;
pub mod json;
pub mod label;
pub mod label_batch;
pub mod log;
pub mod manifest;
pub mod pivot;
mod plain;
pub mod rebuild;
pub mod refs;
pub mod rows;
pub mod span;
pub mod splice;
pub mod timeline;
pub mod unended;

use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::id::RunId;
use crate::store::layout;
use crate::store::lock::{Lock, Mode};
use crate::stream::quote;

/// The history of one run in one store.
#[derive(Clone)]
pub struct History {
    store: Store,
    run: RunId,
}

impl History {
    /// Names a run's history. It need not exist.
    #[must_use]
    pub fn new(store: &Store, run: RunId) -> Self {
        Self { store: store.clone(), run }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Device and inode of the directories of the store and of this run, which no walk may enter.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn store_identities(&self) -> Result<Vec<(u64, u64)>> {
        self.store.identities(Some(&self.run))
    }

    /// What is said of a history that is not there.
    #[must_use]
    pub fn is_missing(&self) -> Error {
        let (root, run) = (self.store.root(), &self.run);
        if !layout::run(root, run).is_dir() {
            return self.store.no_run(run);
        }
        let name = quote::name(run.as_str().as_bytes());
        Error::not_found(format!("run {name} of the store {} has no history", quote::path(root)))
            .at(layout::history(root, run))
            .hint("nothing of it was captured here; name the project with -C or the store with --store; for one that has moved see wt(7)")
    }

    /// Takes the history lock for a change, making the history's directory if it is missing.
    ///
    /// # Errors
    /// [`crate::error::Kind::NotFound`] for a deleted run, [`crate::error::Kind::Conflict`] when the lock was not had
    /// in time.
    pub fn lock_for_change(&self) -> Result<Option<Lock>> {
        self.store.refuse_deleted(&self.run)?;
        self.store.create_dir(&layout::snapshots(self.store.root(), &self.run))?;
        let what = format!("the history of run '{}'", self.run);
        let path = layout::history_lock(self.store.root(), &self.run);
        Lock::on_file(&path, Mode::Exclusive, &what, self.store.patience())
    }
}
