//! Shards as directories: when they changed and which names are in them, for whoever remembers what the pool holds.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;

use super::Pool;
use crate::error::{Error, Result};
use crate::store::id::ObjectId;
use crate::store::{fsio, layout};

/// By what a directory can be told to be as it was: nothing is added to it or removed from it without a trace here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Inode number.
    pub inode: u64,
    /// Modification time, ns since the epoch.
    pub mtime_ns: i64,
    /// Status change time, ns since the epoch.
    pub ctime_ns: i64,
}

/// Bytes of directory entries taken from the kernel at once.
const DIRENTS_BYTES: usize = 32 * 1024;

impl Pool {
    /// Device and inode of the pool's directory.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn identity(&self) -> Result<(u64, u64)> {
        let stat = rustix::fs::fstat(&self.dir).map_err(|errno| {
            Error::io("cannot examine the pool", layout::pool(self.store.root()), &errno.into())
        })?;
        Ok((stat.st_dev, stat.st_ino))
    }

    /// The stamp of the shard of all ids that begin with this byte; `None` where there is none, or its times are absurd.
    #[must_use]
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        reason = "the fields have other widths on other machines, and a fraction of a second is small"
    )]
    pub fn shard_stamp(&self, shard: u8) -> Option<Stamp> {
        let name = layout::shard_name(shard);
        let stat = rustix::fs::statat(&self.dir, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let ns = |seconds: i64, fraction: i64| seconds.checked_mul(1_000_000_000)?.checked_add(fraction);
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return None;
        }
        Some(Stamp {
            inode: stat.st_ino,
            mtime_ns: ns(stat.st_mtime as i64, stat.st_mtime_nsec as i64)?,
            ctime_ns: ns(stat.st_ctime as i64, stat.st_ctime_nsec as i64)?,
        })
    }

    /// Whether there is a shard for all ids that begin with this byte.
    pub(super) fn has_shard(&self, shard: u8) -> bool {
        let name = layout::shard_name(shard);
        // Whatever is wrong with it shows when something is to go into it.
        !matches!(rustix::fs::statat(&self.dir, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
    }

    /// The ids that stand as names in a shard, in no order; whether they are whole objects is not looked at.
    ///
    /// # Errors
    /// What the operating system said.
    pub fn shard_ids(&self, shard: u8) -> io::Result<Vec<ObjectId>> {
        let dir = match fsio::open_dir(self.dir.as_fd(), &layout::shard_name(shard)) {
            Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => return Ok(Vec::new()),
            other => other?,
        };
        let mut buffer = vec![MaybeUninit::uninit(); DIRENTS_BYTES];
        let mut dirents = RawDir::new(dir, &mut buffer);
        let mut ids = Vec::new();
        while let Some(dirent) = dirents.next() {
            ids.extend(layout::object_of(shard, dirent?.file_name().to_bytes()));
        }
        Ok(ids)
    }
}
