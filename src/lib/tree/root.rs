//! [`Workspace`]: the directory tree that is versioned, opened once and known by identity.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::error::{Error, IoContext, Kind, Result};
use crate::store::lock::{self, Lock, Patience};
use crate::stream::quote;

/// An opened workspace. A root given through a link is resolved here, once.
#[derive(Debug)]
pub struct Workspace {
    path: PathBuf,
    fd: OwnedFd,
    device: u64,
    inode: u64,
}

/// A workspace lock that a parent process has for us: the descriptor's number and how it is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InheritedLock {
    /// The number of the inherited descriptor.
    pub fd: i32,
    /// How the parent holds it, or wants it held.
    pub mode: lock::Mode,
    /// Whether the parent only opened the descriptor: who needs the lock first takes it there, for all who have it open.
    pub is_due: bool,
}

/// A held workspace lock, our own or our parent's.
#[derive(Debug)]
pub struct WorkspaceLock {
    own: Option<Lock>,
}

impl WorkspaceLock {
    /// The descriptor that holds it, unless a parent process does.
    #[must_use]
    pub fn own_descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.own.as_ref().map(Lock::descriptor)
    }
}

impl Workspace {
    /// Opens the workspace at `path`.
    ///
    /// # Errors
    /// [`Kind::NotFound`] when it is missing or not a directory: that is never an empty workspace.
    pub fn open(path: &Path) -> Result<Self> {
        let resolved = path
            .canonicalize()
            .on("cannot open the workspace", path)
            .map_err(|error| error.with_kind(Kind::NotFound).hint("name an existing directory with -C"))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&resolved, flags, Mode::empty()).map_err(|errno| {
            let error = Error::io("cannot open the workspace", path, &errno.into());
            match errno {
                rustix::io::Errno::NOTDIR => error.with_kind(Kind::NotFound).hint("name a directory with -C"),
                _ => error,
            }
        })?;
        let stat = rustix::fs::fstat(&fd).on("cannot examine the workspace", path)?;
        Ok(Self { path: resolved, fd, device: stat.st_dev, inode: stat.st_ino })
    }

    /// The canonical path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The root directory.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Device and inode of the root.
    #[must_use]
    pub fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Whether `recorded` names this directory: the same canonical path, or the same device and inode (design 6, Roots).
    #[must_use]
    pub fn is_at(&self, recorded: &Path) -> bool {
        recorded == self.path
            || rustix::fs::stat(recorded).is_ok_and(|stat| (stat.st_dev, stat.st_ino) == self.identity())
    }

    /// Refuses roots that nobody means: `/`, the home directory and whatever holds `state_dir`.
    ///
    /// # Errors
    /// [`Kind::Refused`].
    pub fn refuse_unlikely(&self, home: Option<&Path>, state_dir: Option<&Path>) -> Result<()> {
        let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let problem = if self.path == Path::new("/") {
            "is the root of the file system"
        } else if home.is_some_and(|home| resolved(home) == self.path) {
            "is the home directory"
        } else if state_dir.is_some_and(|dir| resolved(dir).starts_with(&self.path)) {
            "holds the directory of all stores"
        } else {
            return Ok(());
        };
        Err(Error::refused(format!("workspace {} {problem}", quote::path(&self.path)))
            .at(&self.path)
            .hint("name a project with -C, or insist with --yes-this-root"))
    }

    /// Takes the workspace lock: captures share it, a restore holds it alone. It is a lock on the root directory itself,
    /// so nothing is written.
    ///
    /// # Errors
    /// [`Kind::Conflict`] when it was not had in time, or when an inherited shared lock would have to become exclusive, or
    /// when the descriptor on which it is due is not this root's.
    pub fn lock(
        &self,
        mode: lock::Mode,
        inherited: Option<InheritedLock>,
        patience: Patience,
    ) -> Result<WorkspaceLock> {
        if let Some(parent) = inherited
            && (if parent.is_due { self.take_due(parent, patience)? } else { self.holds(parent) })
        {
            if mode == lock::Mode::Exclusive && parent.mode == lock::Mode::Shared {
                return Err(Error::conflict(format!(
                    "workspace {} must be locked exclusively, but the calling process shares its lock",
                    quote::path(&self.path)
                ))
                .hint("run it under 'wt-lock -x', or outside of wt-lock"));
            }
            return Ok(WorkspaceLock { own: None });
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd =
            rustix::fs::openat(&self.fd, ".", flags, Mode::empty()).on("cannot open the workspace", &self.path)?;
        Ok(WorkspaceLock { own: Some(Lock::on_descriptor(fd, mode, &self.name(), patience)?) })
    }

    /// What it is called where somebody waits for it.
    fn name(&self) -> String {
        format!("workspace {}", quote::path(&self.path))
    }

    /// Whether the inherited descriptor is this root and really locked: asking again for what is held changes nothing.
    fn holds(&self, parent: InheritedLock) -> bool {
        self.inherited_root(parent.fd).is_some_and(|fd| lock::try_flock(fd.as_fd(), parent.mode).unwrap_or(false))
    }

    /// Takes the lock on the inherited descriptor, where it stays when ours is closed: the lock is that of the open file.
    /// The parent relies on that, so a descriptor that is not this root is an error. Nobody wants the lock any more when the
    /// parent has ended.
    fn take_due(&self, parent: InheritedLock, patience: Patience) -> Result<bool> {
        let Some(fd) = self.inherited_root(parent.fd) else {
            return Err(Error::conflict(format!(
                "descriptor {}, which WT_LOCK_FD names, is not workspace {}",
                parent.fd,
                quote::path(&self.path)
            ))
            .hint("if its directory was replaced meanwhile, run the command again; otherwise unset WT_LOCK_FD"));
        };
        let asked_by = rustix::process::getppid();
        let is_wanted = || rustix::process::getppid() == asked_by;
        Lock::while_wanted(fd, parent.mode, &self.name(), patience, &is_wanted).map(|_| true)
    }

    /// A duplicate of the inherited descriptor, if it is this root.
    fn inherited_root(&self, fd: i32) -> Option<OwnedFd> {
        let fd = crate::sys::duplicate_inherited(fd).ok()?;
        let stat = rustix::fs::fstat(&fd).ok()?;
        ((stat.st_dev, stat.st_ino) == self.identity()).then_some(fd)
    }
}
