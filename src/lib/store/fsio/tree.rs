//! Removing a whole directory: nothing outside of it, whatever lies in it.
//!
//! ```text
//! <dir>/<anything>      -> <dir>/<temp>/<number>      one rename each: from now on it is not there
//! <dir>/<temp>/a/b/     -> <dir>/<temp>/<number>      a directory in a directory comes up, however deep
//! <dir>/<temp>/*        -> gone                       files are unlinked, links too and never followed
//! ```
//!
//! On a disk where not even a directory can be made, the files go where they are, and a directory that is there becomes
//! `<temp>`.
//!
//! A mount point cannot be renamed, so what is mounted somewhere below ends the work before anything in it is touched. No
//! more than a few descriptors are open at a time, and a kill anywhere leaves what the next attempt removes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{
    DIR_MODE, Durability, flush_dir, make_dir, remove_dir, rename, rename_new, set_mode_at, temp_name, unlink,
};
use crate::error::{Error, IoContext, Result};
use crate::store::seam;

/// So often the directory is looked at again, for what somebody has put there meanwhile.
const ROUNDS_MAX: u32 = 16;

/// Empties the directory that is open as `dir` and called `path`, but for the file `keep`.
///
/// # Errors
/// [`crate::error::Kind::Io`] naming what could not be removed, [`crate::error::Kind::Conflict`] when somebody goes on
/// writing there; the rest is gone or aside then, and another attempt goes on.
pub fn empty(dir: BorrowedFd<'_>, path: &Path, keep: &[u8], prefix: &str, durability: Durability) -> Result<()> {
    for _ in 0..ROUNDS_MAX {
        let names = names_in(dir).on("cannot list", path)?;
        let doomed: Vec<_> = names.into_iter().filter(|name| name != keep).collect();
        if doomed.is_empty() {
            return Ok(());
        }
        let temp = temp_name(prefix);
        let aside = path.join(&temp);
        match make_dir(dir, temp.as_bytes(), DIR_MODE) {
            // A directory takes a block. The files go where they are, and leave room for it.
            Err(error) if is_full(&error) => {
                if unlink_files(dir, &doomed, path)? {
                    continue;
                }
                let Some(name) = doomed.first() else { continue };
                rename_new(dir, name, dir, temp.as_bytes())
                    .map_err(|error| cannot(&error, &path.join(shown(name))))?;
            }
            other => other.on("cannot make", &aside)?,
        }
        let temp_dir = open_readable(dir, temp.as_bytes()).on("cannot open", &aside)?;
        for name in doomed {
            // Under a name that nothing in a directory that was there before has.
            let within = temp_name("").into_bytes();
            match rename_new(dir, &name, temp_dir.as_fd(), &within) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other.map_err(|error| cannot(&error, &path.join(shown(&name))))?,
            }
        }
        if durability == Durability::Flushed {
            flush_dir(dir, temp.as_bytes()).on("cannot flush the directory", path)?;
        }
        seam::hook("tree-aside");
        remove_flat(temp_dir.as_fd(), &aside)?;
        remove_dir(dir, temp.as_bytes()).on("cannot remove", &aside)?;
    }
    Err(Error::conflict(format!("somebody goes on writing into {}", crate::stream::quote::path(path)))
        .at(path)
        .hint("stop it and run the command again"))
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Removes those of the names that are no directories; tells whether there was one.
fn unlink_files(dir: BorrowedFd<'_>, names: &[Vec<u8>], path: &Path) -> Result<bool> {
    let mut is_any = false;
    for name in names {
        match unlink(dir, name) {
            Ok(()) => is_any = true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => is_any = true,
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {}
            Err(error) => return Err(cannot(&error, &path.join(shown(name)))),
        }
    }
    Ok(is_any)
}

/// Removes everything in the temporary directory `temp`, bringing the directories in it up one by one.
fn remove_flat(temp: BorrowedFd<'_>, path: &Path) -> Result<()> {
    let mut pending = names_in(temp).on("cannot list", path)?;
    while let Some(name) = pending.pop() {
        let at = path.join(shown(&name));
        match unlink(temp, &name) {
            Ok(()) => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            // Linux says EISDIR, POSIX EPERM.
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {}
            Err(error) => return Err(cannot(&error, &at)),
        }
        let dir = open_readable(temp, &name).map_err(|error| cannot(&error, &at))?;
        for inner in names_in(dir.as_fd()).on("cannot list", &at)? {
            let at = at.join(shown(&inner));
            match unlink(dir.as_fd(), &inner) {
                Ok(()) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => {}
                Err(error) => return Err(cannot(&error, &at)),
            }
            let up = temp_name("").into_bytes();
            rename(dir.as_fd(), &inner, temp, &up).map_err(|error| cannot(&error, &at))?;
            pending.push(up);
        }
        remove_dir(temp, &name).map_err(|error| cannot(&error, &at))?;
    }
    Ok(())
}

fn cannot(error: &io::Error, path: &Path) -> Error {
    let failed = Error::io("cannot remove", path, error);
    if error.kind() == io::ErrorKind::ResourceBusy || error.kind() == io::ErrorKind::CrossesDevices {
        return failed.hint("something is mounted there: unmount it and run the command again");
    }
    failed
}

fn shown(name: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

/// Opens a directory that lies on the same mount, making it readable for its owner if it is not.
fn open_readable(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<OwnedFd> {
    match open_here(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            set_mode_at(dir, name, DIR_MODE)?;
            open_here(dir, name)
        }
        other => other,
    }
}

/// Opens a directory that lies on the same mount, never through a link.
fn open_here(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let opened = match rustix::fs::openat2(dir, name, flags, Mode::empty(), resolve) {
        // Before Linux 5.6, or where a sandbox forbids the call; a mount point could not have been renamed to here.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => rustix::fs::openat(dir, name, flags, Mode::empty())?,
        other => other?,
    };
    if rustix::fs::fstat(&opened)?.st_dev != rustix::fs::fstat(dir)?.st_dev {
        return Err(Errno::XDEV.into());
    }
    Ok(opened)
}

/// Every name in a directory but `.` and `..`.
fn names_in(dir: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    Ok(names)
}

/// Whether a path is a symbolic link itself; what is not there is none.
///
/// # Errors
/// What the operating system said.
pub fn is_link(path: &Path) -> io::Result<bool> {
    match rustix::fs::lstat(path) {
        Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Symlink),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}
