//! The object pool: file contents named by their SHA-256, shared by all runs (facts 1.1, design section 7).
//!
//! An object appears at its final name only after its bytes are flushed, so that a name in the pool is never a promise
//! the disk has not kept yet. Readers verify what they read, always: a name proves nothing. Whoever writes or reads
//! holds the pool's lock shared; a sweep takes it exclusively.

mod read;
mod shards;
mod sweep;
mod write;

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::id::ObjectId;
use super::lock::{Lock, Mode};
use super::{Store, fsio, layout};
use crate::error::{Error, IoContext, Result};

pub use read::VERIFY_FIRST_BYTES_MAX;
pub use shards::Stamp;
pub use sweep::{Found, Removal, Skip, Sweep};
pub use write::{PoolWriter, Put};

/// The pool of a store, opened for reading or writing.
pub struct Pool {
    store: Store,
    dir: OwnedFd,
}

impl Pool {
    /// Opens the pool; `None` when the store has none yet.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn open(store: &Store) -> Result<Option<Self>> {
        let path = layout::pool(store.root());
        match fsio::open_store_dir(&path) {
            Ok(dir) => Ok(Some(Self { store: store.clone(), dir })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("cannot open the pool", path, &error)),
        }
    }

    /// Opens the pool, making it if it is missing.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn create(store: &Store) -> Result<Self> {
        let path = layout::pool(store.root());
        store.create_dir(&path)?;
        let dir = fsio::open_store_dir(&path).on("cannot open the pool", path)?;
        Ok(Self { store: store.clone(), dir })
    }

    /// Takes the pool's lock.
    ///
    /// # Errors
    /// [`crate::error::Kind::Conflict`] when it was not had in time.
    pub fn lock(&self, mode: Mode) -> Result<Option<Lock>> {
        Lock::on_file(&layout::pool_lock(self.store.root()), mode, "the object pool", self.store.patience())
    }

    /// The size of an object that is there; `None` when it is not, or is no regular file.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn size_of(&self, id: ObjectId) -> Result<Option<u64>> {
        Ok(self.examine(id)?.map(|(size, _)| size))
    }

    /// Size and modification time (seconds) of an object that is there.
    fn examine(&self, id: ObjectId) -> Result<Option<(u64, i64)>> {
        match rustix::fs::statat(&self.dir, object_name(id).as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile =>
            {
                #[allow(clippy::unnecessary_cast, reason = "the field has other widths on other machines")]
                Ok(Some((u64::try_from(stat.st_size).unwrap_or(0), stat.st_mtime as i64)))
            }
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => {
                Err(Error::io("cannot examine object", layout::object(self.store.root(), id), &errno.into()))
            }
        }
    }

    fn path(&self, id: ObjectId) -> std::path::PathBuf {
        layout::object(self.store.root(), id)
    }
}

/// An object's name relative to the pool: `aa/<62 digits>`.
fn object_name(id: ObjectId) -> [u8; 65] {
    let (shard, rest) = layout::object_names(id);
    let mut name = [b'/'; 65];
    name[..2].copy_from_slice(&shard);
    name[3..].copy_from_slice(&rest);
    name
}
