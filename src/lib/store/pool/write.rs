//! Writing objects: staged under temporary names, flushed together, then given their names.
//!
//! ```text
//! stage   a file without a name, held open        many, by several threads
//! commit  flush all -> link into shards -> flush the shards
//! ```
//!
//! Where a file cannot be without a name, or too many are open already, it is `.obj-<unique>` in the pool's root, and
//! renamed. A writer that dies leaves only such temporary files, which a sweep removes when they are old.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

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
/// Threads that give names: beyond that they only wait for each other.
const NAME_THREADS: usize = 2;
/// So many files are held open without a name, and never more than half of those that the process may have open.
const OPEN_FILES_MAX: usize = 32 * 1024;

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
    /// How many files may be held open without a name, and how many more.
    unnamed_max: usize,
    unnamed_left: AtomicUsize,
    /// Whether files without a name get their mode here without more ado.
    mode_is_whole: AtomicBool,
    /// Whether each shard was there when it was first asked for.
    shards: [OnceLock<bool>; 256],
}

/// A new object that has not got its name yet.
enum Temp {
    /// It has a temporary one in the pool's root.
    Named(String),
    /// It has none.
    Unnamed(File),
}

#[derive(Default)]
struct State {
    /// New objects and what holds them.
    staged: HashMap<ObjectId, Temp>,
    /// Objects that were there, but so young that their bytes may not be on the disk.
    young: HashSet<ObjectId>,
    new_bytes: u64,
    /// What has its name by now, still open: closing thousands of files takes time, and nobody is to wait for it.
    published: Vec<Vec<(ObjectId, Temp)>>,
}

impl<'a> PoolWriter<'a> {
    /// Begins with nothing staged.
    #[must_use]
    pub fn new(pool: &'a Pool) -> Self {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let unnamed_max = limit
            .map_or(OPEN_FILES_MAX, |limit| usize::try_from(limit / 2).unwrap_or(OPEN_FILES_MAX))
            .min(OPEN_FILES_MAX);
        Self {
            pool,
            trusts_existing: true,
            state: Mutex::default(),
            unnamed_max,
            unnamed_left: AtomicUsize::new(unnamed_max),
            mode_is_whole: AtomicBool::new(false),
            shards: [const { OnceLock::new() }; 256],
        }
    }

    /// As [`PoolWriter::new`], but what is put replaces an object that is there: it is known to be damaged.
    #[must_use]
    pub fn replacing(pool: &'a Pool) -> Self {
        let mut writer = Self::new(pool);
        // What is there is replaced, which takes a rename.
        (writer.trusts_existing, writer.unnamed_left) = (false, AtomicUsize::new(0));
        writer
    }

    /// Prepares for so many new objects, before several threads put them.
    pub fn expect(&self, objects: usize) {
        // Whatever else is open: the directories of the pool and the workspace, what each thread reads.
        const OTHERS: usize = 512;
        let left = self.unnamed_left.load(Ordering::Relaxed);
        if left > 0 {
            let open = self.unnamed_max.saturating_sub(left);
            fsio::unnamed::expect_open(self.pool.dir.as_fd(), open + objects.min(left) + OTHERS);
        }
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
        let (name, mut file) = self.create_temp()?;
        let written = fsio::write_all(&mut file, bytes, shown(name.as_ref()));
        self.finish_temp(name, file, put, written)
    }

    /// Stores what `file` holds from its current position on, up to `limit` bytes, in one pass. `None` when there is
    /// more than that. The caller holds the pool's lock.
    ///
    /// After `expected` bytes the end is not looked for, where that is known: the caller examines the size afterwards.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] where the pool fails; the outer error is what reading `file` said.
    pub fn put_file(
        &self,
        file: &mut File,
        expected: Option<u64>,
        limit: u64,
        buffer: &mut [u8],
    ) -> io::Result<Result<Option<Put>>> {
        let mut filled = 0;
        while let Some(free) = buffer.get_mut(filled..).filter(|free| !free.is_empty()) {
            if filled > 0 && expected == Some(filled as u64) {
                break;
            }
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
        let (name, mut out) = match self.create_temp() {
            Ok(created) => created,
            Err(error) => return Ok(Err(error)),
        };
        let mut size = filled as u64;
        let mut written = fsio::write_all(&mut out, head, shown(name.as_ref()));
        while written.is_ok() {
            let count = match file.read(buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.drop_temp(name.as_ref());
                    return Err(error);
                }
            };
            size += count as u64;
            if size > limit {
                self.drop_temp(name.as_ref());
                return Ok(Ok(None));
            }
            let block = buffer.get(..count).unwrap_or_default();
            hasher.update(block);
            written = fsio::write_all(&mut out, block, shown(name.as_ref()));
        }
        let put = Put { id: hasher.finish(), size, is_new: true };
        if written.is_ok() {
            match self.keep_existing(put.id, put.size) {
                Ok(false) => {}
                Ok(true) => {
                    self.drop_temp(name.as_ref());
                    return Ok(Ok(Some(Put { is_new: false, ..put })));
                }
                Err(error) => {
                    self.drop_temp(name.as_ref());
                    return Ok(Err(error));
                }
            }
        }
        Ok(self.finish_temp(name, out, put, written).map(Some))
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
        if !self.trusts_existing || self.is_in_new_shard(id) {
            return Ok(false);
        }
        self.find_existing(id, size)
    }

    /// Whether the shard of an object was not there, so that nothing is in it but what somebody else stored meanwhile: that
    /// is met when the object is to get its name.
    fn is_in_new_shard(&self, id: ObjectId) -> bool {
        let shard = id.as_bytes()[0];
        let slot = self.shards.get(usize::from(shard));
        slot.is_some_and(|slot| !slot.get_or_init(|| self.pool.has_shard(shard)))
    }

    fn find_existing(&self, id: ObjectId, size: u64) -> Result<bool> {
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

    /// A new file, and its name if it has one.
    fn create_temp(&self) -> Result<(Option<String>, File)> {
        let pool = self.pool.dir.as_fd();
        let failed = || layout::pool(self.pool.store.root());
        let take = |left: usize| left.checked_sub(1);
        if self.unnamed_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            let created = fsio::unnamed::create(pool, FILE_MODE, &self.mode_is_whole)
                .on("cannot write to the pool", failed())?;
            if let Some(file) = created {
                return Ok((None, file));
            }
            self.unnamed_left.store(0, Ordering::Relaxed);
        }
        let name = fsio::temp_name(layout::OBJECT_TEMP_PREFIX);
        let file = fsio::create_new(pool, name.as_bytes(), FILE_MODE).on("cannot write to the pool", failed())?;
        Ok((Some(name), file))
    }

    fn finish_temp(&self, name: Option<String>, file: File, put: Put, written: io::Result<()>) -> Result<Put> {
        if let Err(error) = written {
            self.drop_temp(name.as_ref());
            return Err(Error::io("cannot write to the pool", layout::pool(self.pool.store.root()), &error));
        }
        let mut state = self.state();
        state.new_bytes += put.size;
        // Two threads may have staged one content at the same time.
        let second = state.staged.insert(put.id, name.map_or_else(|| Temp::Unnamed(file), Temp::Named));
        drop(state);
        if let Some(Temp::Named(second)) = second {
            self.drop_temp(Some(&second));
        }
        Ok(put)
    }

    fn drop_temp(&self, name: Option<&String>) {
        // A temp that cannot be removed is garbage for the next sweep.
        if let Some(name) = name {
            let _ = fsio::unlink(self.pool.dir.as_fd(), name.as_bytes());
        }
    }

    /// Flushes everything staged and gives it its names; the files are closed with the writer. The caller holds the pool's
    /// lock.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`]; objects that have their names by then are whole.
    pub fn commit(&self) -> Result<()> {
        let (staged, young) = {
            let mut state = self.state();
            state.new_bytes = 0;
            (std::mem::take(&mut state.staged), std::mem::take(&mut state.young))
        };
        let staged: Vec<(ObjectId, Temp)> = staged.into_iter().collect();
        let done = self.publish(&staged, &young);
        if done.is_err() {
            staged.iter().for_each(|(_, temp)| self.discard(temp));
        }
        self.state().published.push(staged);
        done.on("cannot write to the pool", layout::pool(self.pool.store.root()))
    }

    fn discard(&self, temp: &Temp) {
        if let Temp::Named(name) = temp {
            self.drop_temp(Some(name));
        }
    }

    fn publish(&self, staged: &[(ObjectId, Temp)], young: &HashSet<ObjectId>) -> io::Result<()> {
        let pool = self.pool.dir.as_fd();
        let flushed = self.pool.store.durability() == Durability::Flushed;
        let each = staged.len() + young.len() <= FLUSH_EACH_MAX;
        if flushed && each {
            let young: Vec<ObjectId> = young.iter().copied().collect();
            side_by_side(staged, FLUSH_THREADS, |(_, temp)| match temp {
                Temp::Named(name) => self.flush(name.as_bytes()),
                Temp::Unnamed(file) => fsio::flush_data(file.as_fd(), b"unnamed"),
            })?;
            side_by_side(&young, FLUSH_THREADS, |id| self.flush(&object_name(*id)))?;
        } else if flushed {
            fsio::flush_file_system(pool, b"the pool")?;
        }
        let mut shards: HashSet<[u8; 2]> = staged.iter().map(|(id, _)| layout::object_names(*id).0).collect();
        for shard in &shards {
            match fsio::make_dir(pool, shard, DIR_MODE) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        let threads = if staged.len() > NAMES_ALONE_MAX { NAME_THREADS } else { 1 };
        side_by_side(staged, threads, |(id, temp)| self.name(*id, temp))?;
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

    /// Gives a staged object its name.
    fn name(&self, id: ObjectId, temp: &Temp) -> io::Result<()> {
        let pool = self.pool.dir.as_fd();
        let (name, file) = match temp {
            Temp::Named(temp) => return fsio::rename(pool, temp.as_bytes(), pool, &object_name(id)),
            Temp::Unnamed(file) => (object_name(id), file),
        };
        match fsio::unnamed::link(file, pool, &name) {
            // Damaged, or somebody else was as quick; ours is flushed, and the other one perhaps not.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other,
        }
        let temp = fsio::temp_name(layout::OBJECT_TEMP_PREFIX);
        fsio::unnamed::link(file, pool, temp.as_bytes())?;
        fsio::rename(pool, temp.as_bytes(), pool, &name).inspect_err(|_| self.drop_temp(Some(&temp)))
    }

    fn flush(&self, name: &[u8]) -> io::Result<()> {
        let file = match fsio::open_read(self.pool.dir.as_fd(), name) {
            // Replaced or swept meanwhile; whoever relies on it checks again under the lock.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        fsio::flush_data(file.as_fd(), name)
    }
}

/// So few names are given by one thread.
const NAMES_ALONE_MAX: usize = 64;

/// Does something to all items, in a few threads; the disk merges what comes together.
fn side_by_side<T: Sync>(
    items: &[T],
    threads: usize,
    each: impl Fn(&T) -> io::Result<()> + Sync,
) -> io::Result<()> {
    if threads == 1 {
        return items.iter().try_for_each(each);
    }
    let share = items.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let each = &each;
        let threads: Vec<_> =
            items.chunks(share).map(|chunk| scope.spawn(move || chunk.iter().try_for_each(each))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the pool panicked")))
        })
    })
}

/// The name by which a test is told of a file.
fn shown(name: Option<&String>) -> &[u8] {
    name.map_or(b"unnamed", |name| name.as_bytes())
}

impl Drop for PoolWriter<'_> {
    /// What was staged and not committed is garbage.
    fn drop(&mut self) {
        let state = std::mem::take(&mut *self.state());
        state.staged.values().for_each(|temp| self.discard(temp));
    }
}
