//! Staging of many files that replace nothing, on all processors: what a restore into an emptied workspace consists of.
//!
//! Names are given out before, so no thread needs more than the pool and the staging area's descriptor.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::stage::{self, Item};
use crate::error::{Error, Result};
use crate::history::manifest::Entry;
use crate::store::fsio::Durability;
use crate::store::pool::Pool;

/// Fewer files than this are done before another thread has begun.
const TOGETHER_MIN: usize = 64;
/// Threads: beyond that the disk is the limit.
const THREADS_MAX: usize = 8;

/// Writes all entries into the staging area, each under the name of its item.
///
/// # Errors
/// The error of the first entry, in their order, that could not be staged by then.
pub(super) fn write_all(
    pool: &Pool,
    area: BorrowedFd<'_>,
    jobs: &[(Item, &Entry)],
    durability: Durability,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((item, entry)) = jobs.get(number) else { return };
            if let Err(error) = stage::write_entry(pool, entry, area, item.name.as_bytes(), None, durability) {
                next.store(jobs.len(), Ordering::Relaxed);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                    *failed = Some((number, error));
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(THREADS_MAX);
    std::thread::scope(|scope| {
        if jobs.len() >= TOGETHER_MIN {
            for _ in 1..threads {
                scope.spawn(work);
            }
        }
        work();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, error)| Err(error))
}
