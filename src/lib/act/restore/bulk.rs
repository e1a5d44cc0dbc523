//! Staging of many files on all processors: what a restore into an emptied workspace consists of.
//!
//! Names are given out before, so no thread needs more than the pool, the workspace and the directory that it writes in.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::stage;
use crate::error::{Error, IoContext, Result};
use crate::history::manifest::Entry;
use crate::store::fsio::Durability;
use crate::store::pool::Pool;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::tree::beneath;
use crate::tree::root::Workspace;

/// Fewer files than this are done before another thread has begun.
const TOGETHER_MIN: usize = 64;
/// Threads: beyond that the disk is the limit.
const THREADS_MAX: usize = 8;
/// Files that a thread takes at a time.
const GRAIN: usize = 32;

/// What files are staged with.
#[derive(Clone, Copy)]
pub(super) struct Staging<'a> {
    /// Where files are that lend their owner and attributes.
    pub(super) workspace: &'a Workspace,
    /// Where their content comes from.
    pub(super) pool: &'a Pool,
    /// Whether each is flushed.
    pub(super) durability: Durability,
}

/// Files of one directory.
pub(super) struct Batch<'t> {
    /// The directory, below what they are staged in; `None` is that itself.
    pub(super) dir: Option<RelPathBuf>,
    pub(super) files: Vec<NewFile<'t>>,
}

/// One file to be staged.
pub(super) struct NewFile<'t> {
    pub(super) name: Cow<'t, [u8]>,
    pub(super) entry: &'t Entry,
    /// The path of the file that it will replace.
    pub(super) like: Option<&'t RelPath>,
}

/// What is to be staged below one directory.
pub(super) struct Batches<'t> {
    top: Arc<OwnedFd>,
    all: Vec<Batch<'t>>,
}

impl<'t> Batches<'t> {
    pub(super) fn new(top: Arc<OwnedFd>) -> Self {
        Self { top, all: Vec::new() }
    }

    /// Adds a file; those of one directory are added in a row.
    pub(super) fn push(&mut self, dir: Option<&RelPath>, file: NewFile<'t>) {
        match self.all.last_mut() {
            Some(last) if last.dir.as_deref() == dir && last.files.len() < GRAIN => last.files.push(file),
            _ => self.all.push(Batch { dir: dir.map(RelPath::to_owned), files: vec![file] }),
        }
    }

    /// Stages them all. Entries whose names are taken already are given back: two names are one where the disk folds case.
    /// Then one of them is there, whole.
    ///
    /// # Errors
    /// The error of the first entry, in their order, that could not be staged by then.
    pub(super) fn write(&self, staging: Staging<'_>) -> Result<Vec<&'t Entry>> {
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let taken = Mutex::new(Vec::new());
        let work = || {
            while let Some((number, batch)) = {
                let number = next.fetch_add(1, Ordering::Relaxed);
                self.all.get(number).map(|batch| (number, batch))
            } {
                if let Err(error) = batch.write(staging, self.top.as_fd(), &taken) {
                    next.store(self.all.len(), Ordering::Relaxed);
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                        *failed = Some((number, error));
                    }
                }
            }
        };
        let count: usize = self.all.iter().map(|batch| batch.files.len()).sum();
        let threads = crate::store::process::threads(THREADS_MAX);
        std::thread::scope(|scope| {
            if count >= TOGETHER_MIN {
                for _ in 1..threads {
                    scope.spawn(work);
                }
            }
            work();
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(taken.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

impl<'t> Batch<'t> {
    fn write(&self, staging: Staging<'_>, top: BorrowedFd<'_>, taken: &Mutex<Vec<&'t Entry>>) -> Result<()> {
        let Staging { workspace, pool, durability } = staging;
        let opened = match (&self.dir, self.files.first()) {
            (Some(dir), Some(first)) => {
                Some(beneath::open_dir(top, Some(dir)).on("cannot stage", first.entry.path.as_path())?)
            }
            _ => None,
        };
        let dir = opened.as_ref().map_or(top, AsFd::as_fd);
        for NewFile { name, entry, like } in &self.files {
            let like = like.and_then(|path| stage::open_like(workspace, path));
            match stage::write_entry(pool, entry, dir, name, like.as_ref(), durability) {
                // Names in the staging area itself are given out once.
                Err(error) if self.dir.is_some() && error.is_io(io::ErrorKind::AlreadyExists) => {
                    taken.lock().unwrap_or_else(PoisonError::into_inner).push(*entry);
                }
                other => other?,
            }
        }
        Ok(())
    }
}
