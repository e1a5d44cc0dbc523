//! The walk: one pass over the workspace with directory-relative calls, in parallel, following no link.
//!
//! Directories are tasks on a shared stack, taken depth first so that few are open at once. The walk decides what is
//! there and what the rules say of it; it hashes nothing and writes nothing. What it cannot list is a gap, not an
//! error; what vanished meanwhile is simply absent.

mod flow;
mod recall;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fs::{FileType, RawDir};
use rustix::io::Errno;

use super::beneath;
use super::listing::{Entry, Listing, Tree};
use super::root::Workspace;
use super::rules::{self, Inherited, Rules};
use super::seen::Seen;
use super::stat::{FileStat, stat_at};
use crate::error::{Error, IoContext, Result};
use crate::store::relpath::RelPathBuf;
use crate::stream::quote;
use crate::stream::record::{EntryKind, GapReason};

/// What a walk takes and leaves.
pub struct Walk<'a> {
    /// The tree.
    pub workspace: &'a Workspace,
    /// What is left out.
    pub rules: &'a Rules,
    /// Device and inode of the store's directories, which are left out wherever they lie.
    pub store: &'a [(u64, u64)],
    /// Files larger than this many bytes are gaps.
    pub cap_bytes: u64,
    /// More captured files than this end the walk.
    pub files_max: u64,
    /// What was in the directories before.
    pub seen: Option<&'a Seen>,
    /// What has to be found.
    pub wanted: Wanted,
    /// Called after every directory with the number of files seen so far.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

/// What a walk has to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// What the rules keep. What they leave out is found in directories that are listed, and only there.
    Kept,
    /// That and each name that the rules leave out.
    All,
}

/// So many directories are held open for their sub-directories; tasks beyond that open theirs by path.
const OPEN_DIRS_MAX: usize = 256;
/// Threads of a walk: more only fight over the directory cache.
const THREADS_MAX: usize = 4;
/// Bytes of directory entries taken from the kernel at once.
const DIRENTS_BYTES: usize = 32 * 1024;

struct Task {
    /// Where the directory is; `None` for the root.
    path: Option<RelPathBuf>,
    /// The open parent, as long as few enough are open.
    parent: Option<Arc<OpenDir>>,
    inherited: Inherited,
    /// Whether the rules include the directory itself, or it is only passed through.
    included: bool,
    /// Its place among the listings.
    slot: usize,
}

struct OpenDir {
    fd: OwnedFd,
    open: Arc<AtomicUsize>,
}

impl Drop for OpenDir {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Queue {
    tasks: Vec<Task>,
    listings: Vec<Option<Listing>>,
    /// Threads that list a directory now.
    busy: usize,
    /// Threads that wait for one of those.
    waiting: usize,
    /// No more tasks are taken: the walk failed, or met too many files.
    is_stopped: bool,
    failed: Option<Error>,
}

struct Shared<'a> {
    walk: &'a Walk<'a>,
    queue: Mutex<Queue>,
    wake: Condvar,
    open: Arc<AtomicUsize>,
    files: AtomicU64,
}

/// What a thread reuses from directory to directory.
struct Scratch {
    dirents: Vec<MaybeUninit<u8>>,
    path: Vec<u8>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { dirents: vec![MaybeUninit::uninit(); DIRENTS_BYTES], path: Vec::new() }
    }
}

impl Scratch {
    /// Begins paths of what is in the directory of a task, and says where names begin.
    fn begin(&mut self, task: &Task) -> usize {
        self.path.clear();
        if let Some(path) = &task.path {
            self.path.extend_from_slice(path.as_bytes());
            self.path.push(b'/');
        }
        self.path.len()
    }
}

impl Walk<'_> {
    /// Walks the workspace.
    ///
    /// # Errors
    /// [`crate::error::Kind::Limit`] for more than `files_max` files, [`crate::error::Kind::Refused`] when the store is
    /// the workspace itself, [`crate::error::Kind::Io`] when the root cannot be listed.
    pub fn run(&self) -> Result<Tree> {
        let shared = self.begin()?;
        std::thread::scope(|scope| {
            for _ in 1..threads() {
                scope.spawn(|| shared.work());
            }
            shared.work();
        });
        let files = shared.files.load(Ordering::Relaxed);
        let queue = shared.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = queue.failed {
            return Err(error);
        }
        let listings = queue.listings.into_iter().map(|listing| listing.unwrap_or_else(Listing::absent));
        let tree = Tree::new(listings.collect());
        if files > self.files_max { Err(self.too_many(&tree)) } else { Ok(tree) }
    }

    /// What all threads share, with the root as the first task.
    fn begin(&self) -> Result<Shared<'_>> {
        if self.store.contains(&self.workspace.identity()) {
            let path = quote::path(self.workspace.path());
            return Err(Error::refused(format!("workspace {path} is the store itself"))
                .hint("name another workspace with -C or another store with --store"));
        }
        let mut queue = Queue::default();
        queue.listings.push(None);
        let inherited = self.rules.at_root();
        queue.tasks.push(Task { path: None, parent: None, inherited, included: false, slot: 0 });
        Ok(Shared {
            walk: self,
            queue: Mutex::new(queue),
            wake: Condvar::new(),
            open: Arc::default(),
            files: AtomicU64::new(0),
        })
    }

    fn too_many(&self, seen: &Tree) -> Error {
        let (mut largest, mut current) = ((Vec::new(), 0_u64), (Vec::new(), 0_u64));
        seen.for_each(|path, _| {
            let top = path.components().next().unwrap_or_default();
            if current.0 != top {
                current = (top.to_vec(), 0);
            }
            current.1 += 1;
            if largest.1 < current.1 {
                largest.clone_from(&current);
            }
        });
        Error::limit(format!(
            "workspace {} holds more than {} files, most of those seen below {}",
            quote::path(self.workspace.path()),
            self.files_max,
            quote::name(&largest.0)
        ))
        .at(self.workspace.path())
        .hint("leave directories out in .iterionignore, or raise the limit with --max-files")
    }
}

fn threads() -> usize {
    crate::store::process::threads(THREADS_MAX)
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared<'_> {
    /// Takes tasks until none is left and none can come.
    fn work(&self) {
        let mut scratch = Scratch::default();
        let mut queue = lock(&self.queue);
        loop {
            if let Some(task) = queue.tasks.pop() {
                queue = self.perform(queue, &task, &mut scratch);
            } else if queue.busy == 0 {
                self.wake.notify_all();
                return;
            } else {
                queue = self.wait(queue);
            }
        }
    }

    fn wait<'q>(&self, mut queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        queue.waiting += 1;
        let mut queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        queue.waiting -= 1;
        queue
    }

    /// Lists a directory while the queue is not locked, and puts down what came of it.
    fn perform<'q>(
        &'q self,
        mut queue: MutexGuard<'q, Queue>,
        task: &Task,
        scratch: &mut Scratch,
    ) -> MutexGuard<'q, Queue> {
        queue.busy += 1;
        drop(queue);
        let listed = self.list(task, scratch);
        let files = self.files.load(Ordering::Relaxed);
        if let Some(progress) = self.walk.progress {
            progress(files);
        }
        let mut queue = lock(&self.queue);
        queue.busy -= 1;
        match listed {
            Ok((listing, dir)) => self.put(&mut queue, task, listing, dir),
            Err(error) => queue.failed = Some(error),
        }
        if files > self.walk.files_max || queue.failed.is_some() {
            queue.tasks.clear();
            queue.is_stopped = true;
        }
        if queue.waiting > 0 {
            self.wake.notify_all();
        }
        queue
    }

    /// Stores a finished listing and makes tasks of its sub-directories.
    fn put(&self, queue: &mut Queue, task: &Task, mut listing: Listing, dir: Option<OwnedFd>) {
        let parent = dir.filter(|_| self.open.load(Ordering::Relaxed) < OPEN_DIRS_MAX).map(|fd| {
            self.open.fetch_add(1, Ordering::Relaxed);
            Arc::new(OpenDir { fd, open: Arc::clone(&self.open) })
        });
        let first = queue.tasks.len();
        for (name, child) in listing.dirs_mut() {
            child.slot = queue.listings.len();
            queue.listings.push(None);
            queue.tasks.push(Task {
                path: Some(RelPathBuf::join(task.path.as_deref(), name)),
                parent: parent.clone(),
                inherited: child.inherited,
                included: child.included,
                slot: child.slot,
            });
        }
        // The first one is taken first, so that listings come about in the order of paths, or nearly.
        if let Some(new) = queue.tasks.get_mut(first..) {
            new.reverse();
        }
        if let Some(slot) = queue.listings.get_mut(task.slot) {
            *slot = Some(listing);
        }
    }

    fn open(&self, task: &Task) -> io::Result<OwnedFd> {
        match (&task.parent, &task.path) {
            (Some(parent), Some(path)) => crate::store::fsio::open_dir(parent.fd.as_fd(), path.file_name()),
            (_, path) => beneath::open_dir(self.walk.workspace.fd(), path.as_deref()),
        }
    }

    /// Lists one directory. The descriptor is returned for the tasks of its sub-directories.
    fn list(&self, task: &Task, scratch: &mut Scratch) -> Result<(Listing, Option<OwnedFd>)> {
        let root = self.walk.workspace.path();
        let fd = match self.open(task) {
            Ok(fd) => fd,
            Err(error) if task.path.is_none() => return Err(self.failed(task, &error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Listing::absent(), None)),
            Err(error) if is_gap(&error) => return Ok((Listing::unreadable(self.examine_closed(task)), None)),
            Err(error) => return Err(self.failed(task, &error)),
        };
        let own = FileStat::from(rustix::fs::fstat(&fd).on("cannot examine a directory of", root)?);
        // By identity and after opening: no other name, link or bind mount hides the store from us.
        if self.walk.store.contains(&(own.device, own.inode)) {
            return Ok((Listing::store(), None));
        }
        match self.list_open(task, &fd, own, scratch) {
            Ok(listing) => Ok((listing, Some(fd))),
            Err(error) if task.path.is_some() && is_gap(&error) => Ok((Listing::unreadable(Some(own)), None)),
            Err(error) => Err(self.failed(task, &error)),
        }
    }

    fn failed(&self, task: &Task, error: &io::Error) -> Error {
        let root = self.walk.workspace.path();
        match &task.path {
            Some(path) => Error::io("cannot list", root.join(path.as_path()), error),
            None => Error::io("cannot list the workspace", root, error),
        }
    }

    /// What can be said of a directory that cannot be opened.
    fn examine_closed(&self, task: &Task) -> Option<FileStat> {
        let path = task.path.as_deref()?;
        let parent = beneath::open_dir(self.walk.workspace.fd(), path.parent()).ok()?;
        stat_at(parent.as_fd(), path.file_name()).ok()?
    }

    fn read(&self, task: &Task, fd: &OwnedFd, listing: &mut Listing, scratch: &mut Scratch) -> io::Result<()> {
        let base = scratch.begin(task);
        let mut dirents = RawDir::new(fd, &mut scratch.dirents);
        while let Some(dirent) = dirents.next() {
            let dirent = dirent?;
            let name = dirent.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            listing.is_empty = false;
            scratch.path.truncate(base);
            scratch.path.extend_from_slice(name);
            self.consider(task.inherited, fd, listing, (&scratch.path, name), dirent.file_type())?;
        }
        Ok(())
    }

    /// Looks at one name. It is examined only if the rules include it or its type is not known.
    fn consider(
        &self,
        inherited: Inherited,
        fd: &OwnedFd,
        listing: &mut Listing,
        (path, name): (&[u8], &[u8]),
        file_type: FileType,
    ) -> io::Result<()> {
        let mut stat = None;
        let mut is_dir = file_type == FileType::Directory;
        loop {
            if file_type == FileType::Unknown && stat.is_none() {
                stat = stat_at(fd.as_fd(), name)?;
                is_dir = stat.is_some_and(|stat| stat.kind == EntryKind::Dir);
            }
            let kind = if is_dir { rules::EntryKind::Dir } else { rules::EntryKind::NotDir };
            let verdict = self.walk.rules.verdict_below(inherited, path, kind);
            if is_dir {
                if self.walk.rules.may_prune(path, &verdict) {
                    listing.ignore(name, true);
                } else {
                    listing.add_dir(name, verdict.below(), verdict.is_included());
                }
                return Ok(());
            }
            if !verdict.is_included() {
                listing.ignore(name, false);
                return Ok(());
            }
            if stat.is_none() {
                stat = stat_at(fd.as_fd(), name)?;
            }
            let Some(stat) = stat else { return Ok(()) };
            if stat.kind == EntryKind::Dir {
                // It became one since the directory was read.
                is_dir = true;
                continue;
            }
            self.add(listing, name, stat);
            return Ok(());
        }
    }

    fn add(&self, listing: &mut Listing, name: &[u8], stat: FileStat) {
        let gap = match stat.kind {
            EntryKind::Special => Some(GapReason::Special),
            EntryKind::File if stat.size > self.walk.cap_bytes => Some(GapReason::Oversized),
            _ => None,
        };
        if stat.kind == EntryKind::File && gap.is_none() {
            self.files.fetch_add(1, Ordering::Relaxed);
        }
        listing.add(name, Entry { stat, gap });
    }
}

/// Whether a directory that cannot be listed is a fact about the workspace, to be recorded, and not about this process.
fn is_gap(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(
        errno,
        Some(
            Errno::ACCESS
                | Errno::PERM
                | Errno::LOOP
                | Errno::NOTDIR
                | Errno::IO
                | Errno::STALE
                | Errno::NAMETOOLONG
        )
    )
}
