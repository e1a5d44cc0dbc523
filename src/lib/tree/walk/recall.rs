//! A directory that is as it was: its names come from [`Seen`](crate::tree::seen::Seen), all else from the kernel.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use rustix::fs::FileType;

use super::{Scratch, Shared, Task, Wanted};
use crate::stream::record::EntryKind;
use crate::tree::listing::Listing;
use crate::tree::seen::{Holding, Remembered};
use crate::tree::stat::{FileStat, stat_at};

impl Shared<'_> {
    /// What is in an open directory. `own` was taken before.
    pub(super) fn list_open(
        &self,
        task: &Task,
        fd: &OwnedFd,
        own: FileStat,
        scratch: &mut Scratch,
    ) -> io::Result<Listing> {
        #[cfg(debug_assertions)]
        crate::store::seam::hook(&format!("dir-examined:{}", String::from_utf8_lossy(path_of(task))));
        if let Some(seen) = self.walk.seen
            && let Some(remembered) = seen.recall(path_of(task), fd.as_fd(), &own)
        {
            let mut listing = Listing::of(own, task.included);
            // What the rules leave out is not remembered: where somebody asks for it, only listing tells.
            let is_enough = self.walk.wanted == Wanted::Kept || remembered.holding != Holding::LeftOut;
            if is_enough && self.recall(task, fd, remembered, &mut listing, scratch)? {
                return Ok(listing);
            }
            seen.forget(path_of(task));
            self.files.fetch_sub(listing.captured_files(), Ordering::Relaxed);
        }
        let mut listing = Listing::of(own, task.included);
        self.read(task, fd, &mut listing, scratch)?;
        listing.sort();
        if let Some(seen) = self.walk.seen {
            seen.learn(path_of(task), fd.as_fd(), &own, listing.holding(), listing.kept_names());
        }
        Ok(listing)
    }

    /// Takes what is in a directory from what is remembered of it. `false` where it has to be listed after all.
    fn recall(
        &self,
        task: &Task,
        fd: &OwnedFd,
        remembered: Remembered<'_>,
        listing: &mut Listing,
        scratch: &mut Scratch,
    ) -> io::Result<bool> {
        listing.reserve(remembered.count, remembered.names_bytes());
        listing.is_empty = remembered.holding == Holding::Nothing;
        let mut is_sorted = true;
        for name in remembered.names() {
            let Some(name) = name else { return Ok(false) };
            if let Some(bits) = name.inherited {
                let Some(inherited) = self.walk.rules.inherited_of_bits(bits) else { return Ok(false) };
                listing.add_dir(name.bytes, inherited, inherited.is_included());
                continue;
            }
            match stat_at(fd.as_fd(), name.bytes)? {
                // It has gone since the directory was examined, or the directory is not what its times say.
                None => return Ok(false),
                Some(stat) if stat.kind == EntryKind::Dir => {
                    // It became one since then. The rules may say something else of a directory.
                    let base = scratch.begin(task);
                    scratch.path.truncate(base);
                    scratch.path.extend_from_slice(name.bytes);
                    let names = (scratch.path.as_slice(), name.bytes);
                    self.consider(task.inherited, fd, listing, names, FileType::Directory)?;
                    is_sorted = false;
                }
                Some(stat) => self.add(listing, name.bytes, stat),
            }
        }
        if !is_sorted {
            listing.sort();
        }
        Ok(true)
    }
}

fn path_of(task: &Task) -> &[u8] {
    task.path.as_ref().map_or(b"", |path| path.as_bytes())
}
