//! The directories that a restore works in: opened without following a link, kept open, made writable where they are
//! not, and put back as they were.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::store::fsio;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::tree::beneath;
use crate::tree::root::Workspace;
use crate::tree::stat::FileStat;

/// Directories held open at a time.
const OPEN_MAX: usize = 64;
/// What a directory needs for its entries to be changed.
const OWNER_ALL: u32 = 0o700;

/// A directory that was made writable for a while.
struct Lifted {
    fd: OwnedFd,
    path: Option<RelPathBuf>,
    mode: u32,
}

/// Called with a directory, `None` for the root, and the mode that it has.
pub(super) type BeforeLift<'a> = Box<dyn FnMut(Option<&RelPath>, u32) -> io::Result<()> + 'a>;

/// Open directories of one workspace.
pub(super) struct Dirs<'a> {
    workspace: &'a Workspace,
    open: HashMap<Option<RelPathBuf>, OwnedFd>,
    lifted: Vec<Lifted>,
    /// Called before a directory is made writable, so that a killed restore can be mended.
    pub(super) before_lift: BeforeLift<'a>,
}

impl<'a> Dirs<'a> {
    pub(super) fn new(workspace: &'a Workspace) -> Self {
        Self { workspace, open: HashMap::new(), lifted: Vec::new(), before_lift: Box::new(|_, _| Ok(())) }
    }

    fn open(&mut self, dir: Option<&RelPath>) -> io::Result<&OwnedFd> {
        let key = dir.map(RelPath::to_owned);
        if !self.open.contains_key(&key) {
            if self.open.len() >= OPEN_MAX {
                self.open.clear();
            }
            let fd = beneath::open_dir(self.workspace.fd(), dir)?;
            self.open.insert(key.clone(), fd);
        }
        self.open.get(&key).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Does `work` with the directory that `path` lies in; where that is not writable, it is made so until the end.
    pub(super) fn with_parent<T>(
        &mut self,
        path: &RelPath,
        work: impl FnMut(BorrowedFd<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.with(path.parent(), work)
    }

    /// Does `work` with a directory; where that is not writable, it is made so until the end.
    pub(super) fn with<T>(
        &mut self,
        dir: Option<&RelPath>,
        mut work: impl FnMut(BorrowedFd<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        let done = work(self.open(dir)?.as_fd());
        match done {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && self.lift(dir)? => {
                work(self.open(dir)?.as_fd())
            }
            other => other,
        }
    }

    /// Makes a directory of ours writable; `false` when that cannot help.
    pub(super) fn lift(&mut self, dir: Option<&RelPath>) -> io::Result<bool> {
        let fd = self.open(dir)?.try_clone()?;
        self.lift_opened(fd, dir)
    }

    /// The same for a directory that is open already and is, or will be, at a path.
    pub(super) fn lift_opened(&mut self, fd: OwnedFd, dir: Option<&RelPath>) -> io::Result<bool> {
        let stat = FileStat::from(rustix::fs::fstat(&fd)?);
        let is_ours = rustix::process::geteuid().as_raw() == stat.uid;
        if !is_ours || stat.mode & OWNER_ALL == OWNER_ALL {
            return Ok(false);
        }
        (self.before_lift)(dir, stat.mode)?;
        let name = dir.map_or(&b"."[..], RelPath::as_bytes);
        fsio::set_mode_of_dir(fd.as_fd(), stat.mode | OWNER_ALL, name)?;
        self.lifted.push(Lifted { fd, path: dir.map(RelPath::to_owned), mode: stat.mode });
        Ok(true)
    }

    /// Makes the directories above `path` that are missing.
    pub(super) fn make_parents(&mut self, path: &RelPath) -> io::Result<Vec<RelPathBuf>> {
        let mut made = Vec::new();
        let mut missing: Vec<&RelPath> = Vec::new();
        for dir in path.ancestors() {
            match self.open(Some(dir)) {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(dir),
                Err(error) => return Err(error),
            }
        }
        for dir in missing.into_iter().rev() {
            let done = self.with_parent(dir, |parent| fsio::make_child_dir(parent, dir.file_name(), None));
            match done {
                Ok(()) => made.push(dir.to_owned()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }

    /// The directories that are writable for a while, and their own modes.
    pub(super) fn lifted(&self) -> impl Iterator<Item = (Option<&RelPath>, u32)> {
        self.lifted.iter().map(|lifted| (lifted.path.as_deref(), lifted.mode))
    }

    /// Forgets everything that was open: what a name led to then it need not lead to now.
    pub(super) fn forget_all(&mut self) {
        self.open.clear();
    }

    /// Forgets what was open at or below a path that became something else.
    pub(super) fn forget(&mut self, path: &RelPath) {
        self.open.retain(|dir, _| dir.as_deref().is_none_or(|dir| !dir.is_within(path)));
    }

    /// The mode that a directory gets when all is done is now this one.
    pub(super) fn note_mode(&mut self, dir: &RelPath, mode: u32) {
        for lifted in &mut self.lifted {
            if lifted.path.as_deref() == Some(dir) {
                lifted.mode = mode;
            }
        }
    }

    /// Puts back what was lifted, the last first. Directories that are gone by now do not matter.
    pub(super) fn put_back(&mut self) -> io::Result<()> {
        let mut first_error = Ok(());
        while let Some(lifted) = self.lifted.pop() {
            let name = lifted.path.as_deref().map_or(&b"."[..], RelPath::as_bytes);
            let done = fsio::set_mode_of_dir(lifted.fd.as_fd(), lifted.mode, name);
            if first_error.is_ok() {
                first_error = done;
            }
        }
        first_error
    }
}

impl Drop for Dirs<'_> {
    fn drop(&mut self) {
        // On the way out of an error; that error is the one to report.
        let _ = self.put_back();
    }
}
