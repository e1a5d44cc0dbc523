//! Locks between processes, always taken in this order: workspace, history, pool (design section 7).
//!
//! All are `flock`s on files that are never deleted, or on the workspace's root directory itself: a kernel lock dies
//! with its holder, so there is never a stale one to break. Waits are bounded and say what they wait for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::{fsio, seam};
use crate::error::{Error, Result};

/// Whether others may hold the lock at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Any number of shared holders.
    Shared,
    /// One holder and nobody else.
    Exclusive,
}

/// How long to wait for a lock, and whom to tell.
#[derive(Clone, Copy)]
pub struct Patience {
    /// After this long the wait ends in a conflict (`WT_LOCK_WAIT`).
    pub limit: Duration,
    /// Called once when a wait turns out not to be short.
    pub notice: fn(&str),
}

/// How long a wait is silent.
const SILENT: Duration = Duration::from_millis(500);

/// A held lock; let go when dropped.
#[derive(Debug)]
pub struct Lock {
    fd: OwnedFd,
}

impl Lock {
    /// Takes the lock that `fd` stands for. `what` names it for the person who waits.
    ///
    /// # Errors
    /// [`crate::error::Kind::Conflict`] when it was not had in time.
    pub fn on_descriptor(fd: OwnedFd, mode: Mode, what: &str, patience: Patience) -> Result<Self> {
        Self::while_wanted(fd, mode, what, patience, &|| true)
    }

    /// Takes it as [`Lock::on_descriptor`] does, but waits only as long as somebody wants it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Conflict`] when it was not had in time, or is not wanted any more.
    pub fn while_wanted(
        fd: OwnedFd,
        mode: Mode,
        what: &str,
        patience: Patience,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let begun = Instant::now();
        let mut pause = Duration::from_millis(1);
        let mut told = false;
        loop {
            if try_flock(fd.as_fd(), mode).map_err(|error| failure("cannot lock", what, &error))? {
                return Ok(Self { fd });
            }
            let waited = begun.elapsed();
            if waited >= patience.limit {
                return Err(Error::conflict(format!(
                    "{what} is locked by another process, and {} s were not enough to get it",
                    patience.limit.as_secs_f32()
                ))
                .hint("run the command again when the other one is done, or set WT_LOCK_WAIT to more seconds"));
            }
            if !is_wanted() {
                return Err(Error::conflict(format!(
                    "{what} was not locked: the process that asked for it has ended"
                )));
            }
            if !told && waited >= SILENT {
                told = true;
                (patience.notice)(&format!("waiting for {what}, which another process has locked"));
            }
            std::thread::sleep(pause.min(patience.limit.saturating_sub(waited)));
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// The locked descriptor, for a program that passes it on.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Takes the lock of a lock file, which is made if it is missing.
    ///
    /// A lock file that is missing and cannot be made on a read-only file system is not needed: nobody can write there.
    ///
    /// # Errors
    /// [`crate::error::Kind::Conflict`] when it was not had in time, [`crate::error::Kind::Io`] when the file cannot be
    /// opened or made.
    pub fn on_file(path: &Path, mode: Mode, what: &str, patience: Patience) -> Result<Option<Self>> {
        match fsio::open_lock_file(path) {
            Ok(fd) => Self::on_descriptor(fd, mode, what, patience).map(Some),
            Err(error)
                if mode == Mode::Shared
                    && matches!(
                        error.kind(),
                        std::io::ErrorKind::ReadOnlyFilesystem
                            | std::io::ErrorKind::NotFound
                            | std::io::ErrorKind::PermissionDenied
                    ) =>
            {
                Ok(None)
            }
            Err(error) => Err(Error::io("cannot open the lock file", path, &error)),
        }
    }
}

impl Lock {
    /// Whether the file that is locked is still the one at `path`, which the next one will lock. It is not where somebody
    /// has taken back the directory that it lay in.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        match (rustix::fs::fstat(&self.fd), rustix::fs::lstat(path)) {
            (Ok(ours), Ok(theirs)) => (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino),
            _ => false,
        }
    }
}

/// The error of a lock that could not even be tried; `doing` is as in [`Error::io`].
pub fn failure(doing: &str, what: impl AsRef<Path>, error: &std::io::Error) -> Error {
    let failed = Error::io(doing, what.as_ref(), error);
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS) => failed.hint(
            "its file system supports no locks, or its lock service does not run; nothing was changed: keep store and workspace where locks work",
        ),
        _ => failed,
    }
}

/// Tries the lock once: `true` when it is held now.
///
/// # Errors
/// Anything but "somebody else holds it".
pub fn try_flock(fd: BorrowedFd<'_>, mode: Mode) -> std::io::Result<bool> {
    let operation = match mode {
        Mode::Shared => FlockOperation::NonBlockingLockShared,
        Mode::Exclusive => FlockOperation::NonBlockingLockExclusive,
    };
    loop {
        match seam::lock_point().and_then(|()| rustix::fs::flock(fd, operation)) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
