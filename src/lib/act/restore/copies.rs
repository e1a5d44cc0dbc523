//! [`Copies`]: is the store's copy of a content whole? Asked for everything that a plan may displace, on all processors.
//!
//! A name in the pool proves nothing: every byte is read. Who plans asks for one content after the other and reads manifests
//! in between; the other processors go ahead meanwhile. What was found is for the plan alone: right before bytes go,
//! the clearing reads both them and their copy once more.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::act::prune::mark::IdMap;
use crate::error::{Kind, Result};
use crate::store::id::ObjectId;
use crate::store::pool::Pool;

/// Fewer than this are read before another thread has begun.
const TOGETHER_MIN: usize = 64;
/// Threads: beyond that the disk is the limit.
const THREADS_MAX: usize = 8;

/// The store's copies of some contents.
pub(super) struct Copies<'a> {
    pool: Option<&'a Pool>,
    /// Those that will be asked for, in the order in which they are read ahead.
    ids: Vec<ObjectId>,
    /// Their sizes, `None` for one that is not whole; an error is told to whoever asks for it.
    found: IdMap<OnceLock<Result<Option<u64>, ()>>>,
}

impl<'a> Copies<'a> {
    /// Begins with nothing read.
    pub(super) fn of(pool: Option<&'a Pool>, ids: impl Iterator<Item = ObjectId>) -> Self {
        let ids: Vec<ObjectId> = ids.collect();
        let found = ids.iter().map(|id| (*id, OnceLock::new())).collect();
        Self { pool, ids, found }
    }

    /// The size of the copy of a content; `None` where there is none that is whole.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be read.
    pub(super) fn size_of(&self, id: ObjectId) -> Result<Option<u64>> {
        match self.found.get(&id).map(|found| found.get_or_init(|| self.read(id).map_err(drop))) {
            Some(Ok(size)) => Ok(*size),
            Some(Err(())) | None => self.read(id),
        }
    }

    fn read(&self, id: ObjectId) -> Result<Option<u64>> {
        match self.pool.map(|pool| pool.verify(id)).transpose() {
            Err(error) if matches!(error.kind(), Kind::Damaged | Kind::NotFound) => Ok(None),
            found => found,
        }
    }

    /// Does `work` while other threads read ahead. They stop when it has ended.
    pub(super) fn while_reading_ahead<T>(&self, work: impl FnOnce() -> T) -> T {
        let threads = crate::store::process::threads(THREADS_MAX);
        if self.ids.len() < TOGETHER_MIN || self.pool.is_none() {
            return work();
        }
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| {
                    while let Some(id) = self.ids.get(next.fetch_add(1, Ordering::Relaxed)) {
                        // Whoever asks for it is told of the error.
                        let _ = self.size_of(*id);
                    }
                });
            }
            let done = work();
            next.store(self.ids.len(), Ordering::Relaxed);
            done
        })
    }
}
