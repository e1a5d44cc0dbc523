//! Names that may not be on the disk yet, so that whoever relies on one knows that he must flush it first.
//!
//! A program that is killed between making a name and flushing its directory leaves a name that the next program finds
//! and could take for durable. So a store directory, a replaced document and a new log carry the sticky bit, which means
//! nothing for them, until their name is flushed. A bit that stays costs one flush more and nothing else.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{DIR_MODE, Durability, FILE_MODE, Field, flush_dir, note, open_store_dir, point};

/// The bit.
const UNSURE: u32 = 0o1000;

/// The mode of a file or directory of the store whose name is new; with the bit, unless nobody will ever flush it.
pub(super) fn new_mode(mode: u32, durability: Durability) -> Mode {
    let bit = if durability == Durability::Flushed { UNSURE } else { 0 };
    Mode::from_raw_mode(bit | mode & 0o700)
}

/// Nobody but us makes private files and directories with just this bit.
pub(super) fn is_unsure(meta: &Metadata) -> bool {
    let is_ours = meta.uid() == rustix::process::geteuid().as_raw();
    is_ours && (meta.is_dir() || meta.is_file()) && meta.mode() & 0o7077 == UNSURE
}

/// Creates a new document, as [`super::create_new`] does, whose name is not durable.
pub(super) fn create_unsure(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<File> {
    point("create", Path::new(OsStr::from_bytes(name)))?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = new_mode(FILE_MODE, Durability::Flushed);
    let fd = rustix::fs::openat(dir, name, flags, mode)?;
    rustix::fs::fchmod(&fd, mode)?;
    note("create", &[Field::Fd(dir), Field::Bytes(name), Field::Fd(fd.as_fd()), Field::Number(0o1600)]);
    Ok(fd.into())
}

/// Says of an open document of ours that the name which it is about to get is not durable.
///
/// # Errors
/// What the operating system said.
pub fn set_unsure(fd: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    point("chmod", Path::new(OsStr::from_bytes(name)))?;
    rustix::fs::fchmod(fd, new_mode(FILE_MODE, Durability::Flushed))?;
    note("chmod", &[Field::Fd(fd), Field::Number(0o1600)]);
    Ok(())
}

/// Whether a directory is there and its name is known to be durable, or nobody cares.
#[must_use]
pub fn is_sure_dir(path: &Path, durability: Durability) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_dir() && (durability == Durability::Off || !is_unsure(&meta)))
}

/// Makes a store directory and those above it that are missing, each private, and flushes their names.
///
/// # Errors
/// What the operating system said.
pub fn make_store_dirs(path: &Path, durability: Durability) -> io::Result<()> {
    if is_sure_dir(path, durability) {
        return Ok(());
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    make_store_dirs(parent, durability)?;
    let dir = open_store_dir(parent)?;
    point("mkdir", Path::new(name))?;
    match rustix::fs::mkdirat(&dir, name, new_mode(DIR_MODE, durability)) {
        Ok(()) => {
            let made = Field::At(dir.as_fd(), name.as_bytes());
            note("mkdir", &[Field::Fd(dir.as_fd()), Field::Bytes(name.as_bytes()), made, Field::Number(0o1700)]);
        }
        // Somebody else was as quick; a file in the way shows when the directory is used.
        Err(Errno::EXIST) => {
            if !std::fs::symlink_metadata(path).is_ok_and(|meta| is_unsure(&meta)) {
                return Ok(());
            }
        }
        Err(errno) => return Err(errno.into()),
    }
    if durability == Durability::Flushed {
        flush_dir(dir.as_fd(), name.as_bytes())?;
    }
    // It holds whatever the umask took away.
    super::set_mode_at(dir.as_fd(), name.as_bytes(), DIR_MODE)
}

/// Flushes the name of a document or log if nobody is known to have done that.
///
/// # Errors
/// What the operating system said.
pub fn settle(path: &Path, durability: Durability) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let is_settled = || std::fs::symlink_metadata(path).map(|meta| !is_unsure(&meta));
    if durability == Durability::Off || is_settled()? {
        return Ok(());
    }
    let dir = open_store_dir(parent)?;
    flush_dir(dir.as_fd(), name.as_bytes())?;
    super::set_mode_at(dir.as_fd(), name.as_bytes(), FILE_MODE)
}
