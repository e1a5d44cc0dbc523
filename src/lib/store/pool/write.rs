//! Writing objects: staged under temporary names, flushed together, then given their names.
//!
//! ```text
//! stage   .obj-<unique> in the pool's root        many, by several threads
//! commit  flush all -> rename into shards -> flush the shards
//! ```
//!
//! A writer that dies leaves only temporary files, which a sweep removes when they are old.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Pool, object_name};
use crate::error::{Error, IoContext, Result};
use crate::store::fsio::{self, DIR_MODE, Durability, FILE_MODE};
use crate::store::hash::{self, Hasher};
use crate::store::id::ObjectId;
use crate::store::layout;

/// Up to so many new objects are flushed one by one; beyond that one flush of the file system is cheaper.
const FLUSH_EACH_MAX: usize = 256;
/// An object younger than this may not be on the disk yet, seconds: who relies on it flushes it too.
const YOUNG_SECONDS: i64 = 600;
/// An object touched within this time is not touched again, seconds.
const FRESH_SECONDS: i64 = 60;
/// Threads that flush.
const FLUSH_THREADS: usize = 8;

/// What became of a content that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Put {
    /// Its id.
    pub id: ObjectId,
    /// Its size, bytes.
    pub size: u64,
    /// Whether the pool did not have it.
    pub is_new: bool,
}

/// Stores contents; nothing has its name before [`PoolWriter::commit`].
pub struct PoolWriter<'a> {
    pool: &'a Pool,
    trusts_existing: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// New objects and the temporary names that hold them.
    staged: HashMap<ObjectId, String>,
    /// Objects that were there, but so young that their bytes may not be on the disk.
    young: HashSet<ObjectId>,
    new_bytes: u64,
}

impl<'a> PoolWriter<'a> {
    /// Begins with nothing staged.
    #[must_use]
    pub fn new(pool: &'a Pool) -> Self {
        Self { pool, trusts_existing: true, state: Mutex::default() }
    }

    /// As [`PoolWriter::new`], but what is put replaces an object that is there: it is known to be damaged.
    #[must_use]
    pub fn replacing(pool: &'a Pool) -> Self {
        Self { pool, trusts_existing: false, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of new objects staged so far.
    #[must_use]
    pub fn new_bytes(&self) -> u64 {
        self.state().new_bytes
    }

    /// Stores bytes that are in memory. The caller holds the pool's lock.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn put_bytes(&self, bytes: &[u8]) -> Result<Put> {
        let put = Put { id: hash::of_bytes(bytes), size: bytes.len() as u64, is_new: true };
        if self.keep_existing(put.id, put.size)? {
            return Ok(Put { is_new: false, ..put });
        }
        let (temp, mut file) = self.create_temp()?;
        let written = fsio::write_all(&mut file, bytes, temp.as_bytes());
        self.finish_temp(temp, put, written)
    }

    /// Stores what `file` holds from its current position on, up to `limit` bytes, in one pass. `None` when there is
    /// more than that. The caller holds the pool's lock.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] where the pool fails; the outer error is what reading `file` said.
    pub fn put_file(&self, file: &mut File, limit: u64, buffer: &mut [u8]) -> io::Result<Result<Option<Put>>> {
        let mut filled = 0;
        while let Some(free) = buffer.get_mut(filled..).filter(|free| !free.is_empty()) {
            match file.read(free) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if filled as u64 > limit {
            return Ok(Ok(None));
        }
        let head = buffer.get(..filled).unwrap_or_default();
        if filled < buffer.len() {
            return Ok(self.put_bytes(head).map(Some));
        }
        let mut hasher = Hasher::default();
        hasher.update(head);
        let (temp, mut out) = match self.create_temp() {
            Ok(created) => created,
            Err(error) => return Ok(Err(error)),
        };
        let mut size = filled as u64;
        let mut written = fsio::write_all(&mut out, head, temp.as_bytes());
        while written.is_ok() {
            let count = match file.read(buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.drop_temp(&temp);
                    return Err(error);
                }
            };
            size += count as u64;
            if size > limit {
                self.drop_temp(&temp);
                return Ok(Ok(None));
            }
            let block = buffer.get(..count).unwrap_or_default();
            hasher.update(block);
            written = fsio::write_all(&mut out, block, temp.as_bytes());
        }
        let put = Put { id: hasher.finish(), size, is_new: true };
        if written.is_ok() {
            match self.keep_existing(put.id, put.size) {
                Ok(false) => {}
                Ok(true) => {
                    self.drop_temp(&temp);
                    return Ok(Ok(Some(Put { is_new: false, ..put })));
                }
                Err(error) => {
                    self.drop_temp(&temp);
                    return Ok(Err(error));
                }
            }
        }
        Ok(self.finish_temp(temp, put, written).map(Some))
    }

    /// Whether the object is there already, staged or in the pool with the right size; then it is kept young, so that no
    /// sweep takes it before a manifest names it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn keep_existing(&self, id: ObjectId, size: u64) -> Result<bool> {
        if self.state().staged.contains_key(&id) {
            return Ok(true);
        }
        if !self.trusts_existing {
            return Ok(false);
        }
        let Some((found_size, mtime)) = self.pool.examine(id)? else { return Ok(false) };
        if found_size != size {
            return Ok(false);
        }
        let age = i64::try_from(crate::clock::now_ns() / 1_000_000_000).unwrap_or(i64::MAX).saturating_sub(mtime);
        if !(0..FRESH_SECONDS).contains(&age) {
            match fsio::touch(self.pool.dir.as_fd(), &object_name(id)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(Error::io("cannot touch object", self.pool.path(id), &error)),
            }
        }
        if age < YOUNG_SECONDS {
            self.state().young.insert(id);
        }
        Ok(true)
    }

    fn create_temp(&self) -> Result<(String, File)> {
        let temp = fsio::temp_name(layout::OBJECT_TEMP_PREFIX);
        let file = fsio::create_new(self.pool.dir.as_fd(), temp.as_bytes(), FILE_MODE)
            .on("cannot write to the pool", layout::pool(self.pool.store.root()))?;
        Ok((temp, file))
    }

    fn finish_temp(&self, temp: String, put: Put, written: io::Result<()>) -> Result<Put> {
        if let Err(error) = written {
            self.drop_temp(&temp);
            return Err(Error::io("cannot write to the pool", layout::pool(self.pool.store.root()), &error));
        }
        let mut state = self.state();
        state.new_bytes += put.size;
        // Two threads may have staged one content at the same time.
        let second = state.staged.insert(put.id, temp);
        drop(state);
        if let Some(second) = second {
            self.drop_temp(&second);
        }
        Ok(put)
    }

    fn drop_temp(&self, temp: &str) {
        // A temp that cannot be removed is garbage for the next sweep.
        let _ = fsio::unlink(self.pool.dir.as_fd(), temp.as_bytes());
    }

    /// Flushes everything staged and gives it its names. The caller holds the pool's lock.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`]; objects that have their names by then are whole.
    pub fn commit(&self) -> Result<()> {
        let mut state = std::mem::take(&mut *self.state());
        let staged: Vec<(ObjectId, String)> = state.staged.drain().collect();
        let done = self.publish(&staged, &state.young);
        if done.is_err() {
            for (_, temp) in &staged {
                self.drop_temp(temp);
            }
        }
        done.on("cannot write to the pool", layout::pool(self.pool.store.root()))
    }

    fn publish(&self, staged: &[(ObjectId, String)], young: &HashSet<ObjectId>) -> io::Result<()> {
        let pool = self.pool.dir.as_fd();
        let flushed = self.pool.store.durability() == Durability::Flushed;
        let each = staged.len() + young.len() <= FLUSH_EACH_MAX;
        if flushed && each {
            let mut names: Vec<Vec<u8>> = staged.iter().map(|(_, temp)| temp.clone().into_bytes()).collect();
            names.extend(young.iter().map(|id| object_name(*id).to_vec()));
            self.flush_each(&names)?;
        } else if flushed {
            fsio::flush_file_system(pool, b"the pool")?;
        }
        let mut shards = HashSet::new();
        for (id, temp) in staged {
            let (shard, _) = layout::object_names(*id);
            if shards.insert(shard) {
                match fsio::make_dir(pool, &shard, DIR_MODE) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                    _ => {}
                }
            }
            fsio::rename(pool, temp.as_bytes(), pool, &object_name(*id))?;
        }
        if !flushed || (staged.is_empty() && young.is_empty()) {
            return Ok(());
        }
        shards.extend(young.iter().map(|id| layout::object_names(*id).0));
        if each {
            for shard in &shards {
                let dir = fsio::open_dir(pool, shard)?;
                fsio::flush_dir(dir.as_fd(), shard)?;
            }
            fsio::flush_dir(pool, b"the pool")
        } else {
            fsio::flush_file_system(pool, b"the pool")
        }
    }

    /// Flushes files side by side: the disk merges what comes together.
    fn flush_each(&self, names: &[Vec<u8>]) -> io::Result<()> {
        let share = names.len().div_ceil(FLUSH_THREADS).max(1);
        std::thread::scope(|scope| {
            let threads: Vec<_> = names
                .chunks(share)
                .map(|chunk| {
                    scope.spawn(move || {
                        chunk.iter().try_for_each(|name| {
                            let file = match fsio::open_read(self.pool.dir.as_fd(), name) {
                                // Replaced or swept meanwhile; whoever relies on it checks again under the lock.
                                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                                other => other?,
                            };
                            fsio::flush_data(file.as_fd(), name)
                        })
                    })
                })
                .collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|_| Err(io::Error::other("a flushing thread panicked")))
            })
        })
    }
}

impl Drop for PoolWriter<'_> {
    /// What was staged and not committed is garbage.
    fn drop(&mut self) {
        let state = std::mem::take(&mut *self.state());
        for temp in state.staged.values() {
            self.drop_temp(temp);
        }
    }
}
