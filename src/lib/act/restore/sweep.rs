//! The bulk of a clearing: plain files of an area that the store has, on all processors.
//!
//! What happens to one of them is what the clearing does with any: its bytes are read, its copy is read, both are the same
//! and a manifest names them, and then it goes. Nothing else is done here. What is no file, has no such copy, or does not
//! go, is given back for the clearing to look at anew, one by one: it stores, keeps and reports.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::witness::Witness;
use crate::act::intake::{Intake, Sink};
use crate::store::fsio;
use crate::store::pool::Pool;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::{Content, EntryKind};
use crate::tree::root::Workspace;
use crate::tree::stat::stat_at;

/// Fewer files than this are done before another thread has begun.
const TOGETHER_MIN: usize = 64;
/// Threads: beyond that the disk is the limit.
const THREADS_MAX: usize = 8;

/// An area of which much is to go.
pub(super) struct Sweep<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) pool: &'a Pool,
    /// The manifests that it asked are all still there.
    pub(super) witness: &'a Witness<'a>,
    pub(super) dir: &'a OwnedFd,
    /// Where it is.
    pub(super) area: &'a RelPath,
    /// Whether an item is only a copy of an object, so that its bytes need not be asked.
    pub(super) is_copy: &'a (dyn Fn(&[u8]) -> bool + Sync),
}

impl Sweep<'_> {
    /// Removes what can go without more ado, and gives the other names back.
    pub(super) fn run(&self, names: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        if names.len() < TOGETHER_MIN {
            return names;
        }
        let (next, left) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            let mut intake = Intake::new(self.workspace, Sink::HashOnly, u64::MAX);
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                if !self.has_gone(&mut intake, name) {
                    left.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
                }
            }
        };
        let threads = crate::store::process::threads(THREADS_MAX);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        left.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_gone(&self, intake: &mut Intake<'_>, name: &[u8]) -> bool {
        let is_file = matches!(stat_at(self.dir.as_fd(), name), Ok(Some(stat)) if stat.kind == EntryKind::File);
        is_file
            && ((self.is_copy)(name) || self.has_copy(intake, name))
            && fsio::unlink(self.dir.as_fd(), name).is_ok()
    }

    /// Whether the store has the bytes that an item holds now, under a name.
    fn has_copy(&self, intake: &mut Intake<'_>, name: &[u8]) -> bool {
        let Ok(Some(seen)) = intake.take(&RelPathBuf::join(Some(self.area), name)) else { return false };
        let Content::Object(id) = seen.content else { return false };
        seen.kind == EntryKind::File && self.pool.verify(id).is_ok() && self.witness.has_named(id)
    }
}
