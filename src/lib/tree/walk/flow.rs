//! A walk whose entries are handed on in order while it still goes on: the first stage of a capture, and
//! how a restore looks at what is there.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::{Scratch, Shared, Walk, lock, threads};
use crate::error::Result;
use crate::store::relpath::RelPath;
use crate::tree::listing::{self, Found, Listing};

impl Walk<'_> {
    /// Walks the workspace and calls `visit` for everything that is found, ascending by path bytes, as soon as it is
    /// known. This thread lists directories, too, while there is nothing to hand on.
    ///
    /// # Errors
    /// As [`Walk::run`]; `visit` may have been called before that.
    pub fn flow(&self, visit: &mut dyn FnMut(&RelPath, Found<'_>)) -> Result<()> {
        let shared = self.begin()?;
        std::thread::scope(|scope| {
            for _ in 1..threads() {
                scope.spawn(|| shared.work());
            }
            let mut scratch = Scratch::default();
            if let Some(root) = shared.listing(0, &mut scratch) {
                listing::in_order(root, |slot| shared.listing(slot, &mut scratch), visit);
            }
        });
        let files = shared.files.load(Ordering::Relaxed);
        let queue = shared.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        match queue.failed {
            Some(error) => Err(error),
            // Which directory holds most of them is asked only now; the answer needs all listings at once.
            None if files > self.files_max => self.run().map(drop),
            None => Ok(()),
        }
    }
}

impl Shared<'_> {
    /// Takes a listing out, working until it is there; `None` when the walk was stopped.
    fn listing(&self, slot: usize, scratch: &mut Scratch) -> Option<Listing> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.is_stopped {
                return None;
            }
            if let Some(listing) = queue.listings.get_mut(slot).and_then(Option::take) {
                return Some(listing);
            }
            queue = match queue.tasks.pop() {
                Some(task) => self.perform(queue, &task, scratch),
                None => self.wait(queue),
            };
        }
    }
}
