//! [`RunLock`]: the engine's lock of a run, taken: whoever holds it executes the run, and nobody else does.
//!
//! It is the original's lock (facts 4.8), a `flock` on `<run>/.lock`, that ends with its last holder. Ours writes into the
//! file who holds it; the original reads nothing there. [`super::engine_lock`] is for who only keeps out of an engine's way.

use std::fmt;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode as FileMode, OFlags};
use rustix::io::Errno;

use super::engine_lock::flock_holder_of;
use super::fsio::lock_file;
use super::id::RunId;
use super::lock::{Mode, try_flock};
use super::process::{Presence, Process};
use super::{Store, layout, network, seam};
use crate::error::{Error, IoContext, Kind, Result};
use crate::stream::quote;

/// Longest text of a holder that is read.
const HOLDER_BYTES_MAX: usize = 4096;

/// The held lock; let go when dropped, and when the process ends.
#[derive(Debug)]
pub struct RunLock {
    file: File,
    path: PathBuf,
}

/// What came of trying for the lock.
#[derive(Debug)]
pub enum Attempt {
    /// It is ours.
    Held(RunLock),
    /// Somebody else has it.
    Busy(Holder),
}

/// Who holds a run's lock, as far as can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its number: by the kernel, else by what stands in the file.
    pub pid: Option<u32>,
    /// The machine, where the file says so.
    pub host: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("a process that cannot be seen from here")?,
        }
        match &self.host {
            Some(host) => write!(f, " on {}", quote::masked(host.as_bytes())),
            None => Ok(()),
        }
    }
}

impl RunLock {
    /// Tries for the lock of a run, whose directory is made if it is missing.
    ///
    /// # Errors
    /// [`Kind::NotFound`] for a deleted run, [`Kind::Io`].
    pub fn try_take(store: &Store, run: &RunId) -> Result<Attempt> {
        store.refuse_deleted(run)?;
        store.create_dir(&layout::run(store.root(), run))?;
        Self::try_existing(store, run)
    }

    /// Tries for the lock of a run whose directory is there.
    ///
    /// # Errors
    /// As [`RunLock::try_take`].
    pub fn try_existing(store: &Store, run: &RunId) -> Result<Attempt> {
        store.refuse_deleted(run)?;
        let path = layout::run_lock(store.root(), run);
        loop {
            let file = lock_file::open(&path).on("cannot open the run's lock", &path)?;
            if !file.metadata().on("cannot examine", &path)?.is_file() {
                return Err(Error::damaged(&path, "is no lock file"));
            }
            seam::hook("run-lock-opened");
            if !try_flock(file.as_fd(), Mode::Exclusive).on("cannot lock", &path)? {
                return Ok(Attempt::Busy(Holder::of(&file, &path)));
            }
            // A run that was deleted in between took its lock file along; only under the lock does it stay true.
            store.refuse_deleted(run)?;
            if is_at(&file, &path) {
                return Ok(Attempt::Held(Self { file, path }));
            }
        }
    }

    /// Says in the file that this process holds the lock.
    ///
    /// # Errors
    /// [`Kind::Io`]; the lock is held all the same.
    pub fn sign(&self) -> Result<()> {
        lock_file::write_holder(&self.file, &Process::own().text(), &self.path)
            .on("cannot say who holds it in", &self.path)
    }

    /// The locked descriptor, for a program that passes it on.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The lock file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of network file system that the lock lies on, if it does: other machines may not see it there.
    #[must_use]
    pub fn network(&self) -> Option<&'static str> {
        network::name_of(self.file.as_fd())
    }
}

/// Whether the file that was locked is the one that others will find.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), rustix::fs::lstat(path)) {
        (Ok(ours), Ok(theirs)) => (ours.dev(), ours.ino()) == (theirs.st_dev, theirs.st_ino),
        _ => false,
    }
}

/// The error for a lock that somebody else has.
#[must_use]
pub fn conflict(store: &Store, run: &RunId, holder: &Holder) -> Error {
    let name = quote::name(run.as_str().as_bytes());
    Error::conflict(format!("run {name} is being executed: its lock is held by {holder}"))
        .at(layout::run_lock(store.root(), run))
        .hint("wait until it has ended, or stop it")
}

/// Looks who holds the lock; `None` when nobody does. Makes nothing. A free lock is shared for some microseconds.
///
/// # Errors
/// [`Kind::Io`].
pub fn holder(store: &Store, run: &RunId) -> Result<Option<Holder>> {
    let path = layout::run_lock(store.root(), run);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file: File = match rustix::fs::open(&path, flags, FileMode::empty()) {
        Ok(fd) => fd.into(),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(errno) => return Err(Error::io("cannot examine the run's lock", &path, &errno.into())),
    };
    if try_flock(file.as_fd(), Mode::Shared).on("cannot examine the run's lock", &path)? {
        return Ok(None);
    }
    Ok(Some(Holder::of(&file, &path)))
}

/// The kind of network file system that a run lies on, if it does.
///
/// # Errors
/// [`Kind::Io`].
pub fn network(store: &Store, run: &RunId) -> Result<Option<&'static str>> {
    let path = layout::run(store.root(), run);
    match super::fsio::open_store_dir(&path) {
        Ok(dir) => Ok(network::name_of(dir.as_fd())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("cannot open", &path, &error).with_kind(Kind::Io)),
    }
}

impl Holder {
    fn of(file: &File, path: &Path) -> Self {
        let signed = signed(path).filter(|process| process.presence() != Presence::Gone);
        // The kernel knows; what stands in the file may be left from the last holder, which did not write there.
        match flock_holder_of(file.as_fd()) {
            Some(pid) => Self {
                pid: Some(pid),
                host: signed.filter(|process| process.pid == pid).and_then(|process| process.host),
            },
            None => Self {
                pid: signed.as_ref().map(|process| process.pid),
                host: signed.and_then(|process| process.host),
            },
        }
    }
}

/// What stands in the file about its holder.
fn signed(path: &Path) -> Option<Process> {
    let text = super::read_log(path).ok()?;
    Process::parse(text.get(..text.len().min(HOLDER_BYTES_MAX))?).ok()
}
