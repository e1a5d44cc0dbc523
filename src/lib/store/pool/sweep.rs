//! Listing the whole pool, and removing from it under its exclusive lock.
//!
//! What may be removed is decided elsewhere; this file knows only names, ages and that nothing is taken away which is
//! not an object, an object being written, or an empty shard. Whatever else lies in the pool is reported and stays.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, RawDir, Stat};
use rustix::io::Errno;

use super::{Pool, object_name};
use crate::error::{Error, IoContext, Result};
use crate::store::fsio::Durability;
use crate::store::id::ObjectId;
use crate::store::lock::{Lock, Mode};
use crate::store::{fsio, layout};

/// One thing in the pool.
#[derive(Debug)]
pub enum Found {
    /// A regular file with the name of an object.
    Object {
        /// What its name says.
        id: ObjectId,
        /// Bytes.
        size: u64,
        /// When it was written or last relied on, ns since the epoch.
        mtime_ns: i128,
        /// Permission bits.
        mode: u32,
    },
    /// An object being written, or what a killed writer left of one.
    Temp {
        /// Its name in the pool's root.
        name: Vec<u8>,
        /// Bytes.
        size: u64,
        /// When it was last written to, ns since the epoch.
        mtime_ns: i128,
    },
    /// A shard that has been listed whole.
    Shard {
        /// The first byte of the ids in it.
        shard: u8,
        /// How many things are in it.
        children: usize,
        /// When something was last added or removed, ns since the epoch.
        mtime_ns: i128,
        /// Permission bits.
        mode: u32,
    },
    /// Something that neither we nor the original put there; never touched.
    Stranger(PathBuf),
    /// A shard that could not be listed, or something that could not be examined.
    Unreadable(Error),
}

/// Says which objects are of no interest.
pub type Skip<'a> = &'a (dyn Fn(ObjectId) -> bool + Sync);

/// Listing threads: beyond that the disk is the limit.
const THREADS_MAX: usize = 8;
/// Shards that a thread lists before what it found is handed on.
const NAMES_AT_A_TIME: usize = 16;

/// What became of something that was to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is gone.
    Removed,
    /// It stays: it was relied on meanwhile, or is not what it was.
    Spared,
    /// Somebody else removed it.
    Absent,
}

impl Pool {
    /// Lists everything in the pool, in the order of names. Objects for which `skip` says yes are passed over without a
    /// look at them.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the pool's root cannot be listed.
    pub fn survey(&self, skip: Skip<'_>, found: &mut dyn FnMut(Found)) -> Result<()> {
        let root = layout::pool(self.store.root());
        let mut names = names_in(self.dir.as_fd()).on("cannot list the pool", &root)?;
        names.sort_unstable();
        let threads = crate::store::process::threads(THREADS_MAX);
        // Some names for each thread at a time: no more than what they hold is kept in memory.
        for wave in names.chunks(threads * NAMES_AT_A_TIME) {
            let look = |names: &[Vec<u8>]| {
                let mut there = Vec::new();
                names.iter().for_each(|name| self.survey_name(name, skip, &mut |one| there.push(one)));
                there
            };
            std::thread::scope(|scope| {
                let mut shares = wave.chunks(wave.len().div_ceil(threads));
                let own = shares.next().unwrap_or_default();
                let others: Vec<_> = shares.map(|share| scope.spawn(move || look(share))).collect();
                look(own).into_iter().for_each(&mut *found);
                for other in others {
                    match other.join() {
                        Ok(there) => there.into_iter().for_each(&mut *found),
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
            });
        }
        Ok(())
    }

    fn survey_name(&self, name: &[u8], skip: Skip<'_>, found: &mut dyn FnMut(Found)) {
        let path = || layout::pool(self.store.root()).join(OsStr::from_bytes(name));
        if name == b".lock" {
            return;
        }
        let stat = match self.look(name) {
            Ok(Some(stat)) => stat,
            Ok(None) => return,
            Err(error) => return found(Found::Unreadable(Error::io("cannot examine", path(), &error))),
        };
        match (FileType::from_raw_mode(stat.st_mode), shard_of(name)) {
            (FileType::Directory, Some(shard)) => self.survey_shard(shard, &stat, skip, found),
            (FileType::RegularFile, _) if name.starts_with(layout::OBJECT_TEMP_PREFIX.as_bytes()) => {
                found(Found::Temp { size: size(&stat), mtime_ns: mtime_ns(&stat), name: name.to_vec() });
            }
            _ => found(Found::Stranger(path())),
        }
    }

    fn survey_shard(&self, shard: u8, stat: &Stat, skip: Skip<'_>, found: &mut dyn FnMut(Found)) {
        let name = hex::encode([shard]);
        let path = layout::pool(self.store.root()).join(&name);
        let listed = fsio::open_dir(self.dir.as_fd(), name.as_bytes()).and_then(|dir| names_in(dir.as_fd()));
        let mut names = match listed {
            Ok(names) => names,
            Err(error) => return found(Found::Unreadable(Error::io("cannot list the shard", path, &error))),
        };
        names.sort_unstable();
        for rest in &names {
            let Some(id) = layout::object_of(shard, rest) else {
                found(Found::Stranger(path.join(OsStr::from_bytes(rest))));
                continue;
            };
            if skip(id) {
                continue;
            }
            match self.look(&object_name(id)) {
                Ok(Some(stat)) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                    let (size, mtime_ns) = (size(&stat), mtime_ns(&stat));
                    found(Found::Object { id, size, mtime_ns, mode: stat.st_mode & 0o7777 });
                }
                Ok(Some(_)) => found(Found::Stranger(self.path(id))),
                Ok(None) => {}
                Err(error) => found(Found::Unreadable(Error::io("cannot examine", self.path(id), &error))),
            }
        }
        let mode = stat.st_mode & 0o7777;
        found(Found::Shard { shard, children: names.len(), mtime_ns: mtime_ns(stat), mode });
    }

    /// Looks at a name without following a link; `None` when nothing is there.
    fn look(&self, name: &[u8]) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// What time it is where the pool lies, ns since the epoch: the ages of its objects are told by this clock, which on
    /// a network disk is not ours. It is the time a touch leaves on a file that is there already, so that it can be told
    /// on a full disk.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`], also where nothing may be written.
    pub fn now_ns(&self) -> Result<i128> {
        let path = layout::pool(self.store.root());
        let name: &[u8] = if self.look(b".lock").on("cannot examine the pool's lock", &path)?.is_some() {
            b".lock"
        } else {
            b"."
        };
        fsio::touch(self.dir.as_fd(), name).on("cannot touch the pool's lock", &path)?;
        let stat = self.look(name).on("cannot examine the pool's lock", &path)?;
        stat.map(|stat| mtime_ns(&stat)).ok_or_else(|| Error::io("no", &path, &io::ErrorKind::NotFound.into()))
    }

    /// Flushes what the disk holds of the pool, so that what was removed stays removed.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn flush(&self) -> Result<()> {
        if self.store.durability() == Durability::Off {
            return Ok(());
        }
        fsio::flush_file_system(self.dir.as_fd(), b"the pool").on("cannot flush", layout::pool(self.store.root()))
    }

    /// Keeps every writer and reader out, to remove things.
    ///
    /// # Errors
    /// [`crate::error::Kind::Conflict`] when the lock was not had in time.
    pub fn sweep(&self) -> Result<Sweep<'_>> {
        match self.lock(Mode::Exclusive) {
            Ok(lock) => Ok(Sweep { pool: self, _lock: lock }),
            // No room for a lock file that nobody has made yet: then nobody of ours can be at work either, and the room
            // is what the sweep is for.
            Err(error) if error.is_io(io::ErrorKind::StorageFull) || error.is_io(io::ErrorKind::QuotaExceeded) => {
                Ok(Sweep { pool: self, _lock: None })
            }
            Err(error) => Err(error),
        }
    }
}

/// The right to remove from the pool, for as long as it is held.
pub struct Sweep<'a> {
    pool: &'a Pool,
    _lock: Option<Lock>,
}

impl Sweep<'_> {
    /// Removes an object last relied on no later than `not_after_ns`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn remove_object(&self, id: ObjectId, not_after_ns: i128) -> Result<Removal> {
        self.remove(&object_name(id), not_after_ns).on("cannot remove object", self.pool.path(id))
    }

    /// Removes what a writer of an object left behind, if it was last written to no later than `not_after_ns`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn remove_temp(&self, name: &[u8], not_after_ns: i128) -> Result<Removal> {
        let path = layout::pool(self.pool.store.root()).join(OsStr::from_bytes(name));
        self.remove(name, not_after_ns).on("cannot remove", path)
    }

    /// Removes a shard if nothing is in it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn remove_shard(&self, shard: u8) -> Result<Removal> {
        let name = hex::encode([shard]);
        match fsio::remove_dir(self.pool.dir.as_fd(), name.as_bytes()) {
            Ok(()) => Ok(Removal::Removed),
            Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::NOTEMPTY | Errno::EXIST) => Ok(Removal::Spared),
                Some(Errno::NOENT) => Ok(Removal::Absent),
                _ => Err(Error::io(
                    "cannot remove the empty shard",
                    layout::pool(self.pool.store.root()).join(name),
                    &error,
                )),
            },
        }
    }

    fn remove(&self, name: &[u8], not_after_ns: i128) -> io::Result<Removal> {
        let Some(stat) = self.pool.look(name)? else { return Ok(Removal::Absent) };
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !is_file || mtime_ns(&stat) > not_after_ns {
            return Ok(Removal::Spared);
        }
        match fsio::unlink(self.pool.dir.as_fd(), name) {
            Ok(()) => Ok(Removal::Removed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Removal::Absent),
            Err(error) => Err(error),
        }
    }
}

/// The names in a directory, without the two dots.
fn names_in(dir: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>> {
    let own = fsio::open_dir(dir, b".")?;
    let mut buffer = vec![std::mem::MaybeUninit::uninit(); 32 * 1024];
    let mut dirents = RawDir::new(own, &mut buffer);
    let mut names = Vec::new();
    while let Some(dirent) = dirents.next() {
        let dirent = dirent?;
        let name = dirent.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    Ok(names)
}

fn shard_of(name: &[u8]) -> Option<u8> {
    let mut shard = [0; 1];
    hex::decode_to_slice(name, &mut shard).ok()?;
    let [shard] = shard;
    (hex::encode([shard]).as_bytes() == name).then_some(shard)
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

#[allow(clippy::unnecessary_cast, clippy::cast_lossless, reason = "the fields have other widths on other machines")]
fn mtime_ns(stat: &Stat) -> i128 {
    stat.st_mtime as i128 * 1_000_000_000 + stat.st_mtime_nsec as i128
}
