//! How a store document is written: whole-old or whole-new after any kill or full disk.
//!
//! ```text
//! unique temp beside the target -> write -> flush -> rename or link -> flush the directory -> the name is sure
//! ```
//!
//! Temp names begin with `.iterion-tmp-`, as in the original, and never end in `.json`: a prune of either
//! implementation reads every `*.json` of a snapshots directory.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Durability, FILE_MODE, unsure};
use crate::error::{Error, IoContext, Result};

/// Replaces the document at `path`, or makes it.
///
/// # Errors
/// [`crate::error::Kind::Io`]; the old document is then whole and in place.
pub fn replace(path: &Path, parts: &[&[u8]], durability: Durability) -> Result<()> {
    stage(path, parts, durability, |dir, temp, name| super::rename(dir, temp, dir, name))
}

/// What became of a document that must not exist yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// It is there now, complete.
    New,
    /// The name was taken; nothing changed.
    Exists,
}

/// Makes the document at `path` unless the name is taken.
///
/// # Errors
/// [`crate::error::Kind::Io`]; nothing is there then.
pub fn publish_new(path: &Path, parts: &[&[u8]], durability: Durability) -> Result<Published> {
    let done = stage(path, parts, durability, |dir, temp, name| super::rename_new(dir, temp, dir, name));
    match done {
        Err(error) if error.is_io(io::ErrorKind::AlreadyExists) => Ok(Published::Exists),
        other => other.map(|()| Published::New),
    }
}

fn stage(
    path: &Path,
    parts: &[&[u8]],
    durability: Durability,
    publish: impl Fn(BorrowedFd<'_>, &[u8], &[u8]) -> io::Result<()>,
) -> Result<()> {
    let (dir, name) = split(path)?;
    let dir = super::open_store_dir(dir).on("cannot open", dir)?;
    let temp = super::temp_name(".iterion-tmp-");
    let written = (|| {
        let mut file = match durability {
            Durability::Flushed => unsure::create_unsure(dir.as_fd(), temp.as_bytes())?,
            Durability::Off => super::create_new(dir.as_fd(), temp.as_bytes(), FILE_MODE)?,
        };
        super::write_parts(&mut file, parts, name)?;
        if durability == Durability::Flushed {
            super::flush_data(file.as_fd(), name)?;
        }
        publish(dir.as_fd(), temp.as_bytes(), name).map(|()| file)
    })();
    if written.is_err() {
        // The reason matters more than a temp that could not be removed; the next sweep takes it.
        let _ = super::unlink(dir.as_fd(), temp.as_bytes());
    }
    let file = written.on("cannot write", path)?;
    if durability == Durability::Flushed {
        super::flush_dir(dir.as_fd(), name).on("cannot flush the directory of", path)?;
        super::set_mode(file.as_fd(), FILE_MODE, name).on("cannot set the mode of", path)?;
    }
    Ok(())
}

/// Gives the file at `path` another name beside it, unless that is taken.
///
/// # Errors
/// [`crate::error::Kind::Io`]; nothing is moved then.
pub fn move_aside(path: &Path, aside: &Path, durability: Durability) -> Result<Published> {
    let ((dir, from), (_, to)) = (split(path)?, split(aside)?);
    let opened = super::open_store_dir(dir).on("cannot open", dir)?;
    match super::rename_new(opened.as_fd(), from, opened.as_fd(), to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Published::Exists),
        other => other.on("cannot put aside", path)?,
    }
    if durability == Durability::Flushed {
        super::flush_dir(opened.as_fd(), to).on("cannot flush the directory of", path)?;
    }
    Ok(Published::New)
}

/// Removes the document at `path`; it may be gone already.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn remove(path: &Path) -> Result<()> {
    let (dir, name) = split(path)?;
    let removed = super::open_store_dir(dir).and_then(|dir| super::unlink(dir.as_fd(), name));
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.on("cannot remove", path),
    }
}

/// Removes a directory in which nothing is.
///
/// # Errors
/// [`crate::error::Kind::Io`], also where something is in it.
pub fn remove_dir(path: &Path) -> Result<()> {
    let (dir, name) = split(path)?;
    let removed = super::open_store_dir(dir).and_then(|dir| super::remove_dir(dir.as_fd(), name));
    removed.on("cannot remove", path)
}

/// Flushes a directory of documents, so that what was removed from it stays removed.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn flush_dir(dir: &Path, durability: Durability) -> Result<()> {
    if durability == Durability::Off {
        return Ok(());
    }
    let opened = super::open_store_dir(dir).on("cannot open", dir)?;
    super::flush_dir(opened.as_fd(), dir.as_os_str().as_bytes()).on("cannot flush the directory", dir)
}

fn split(path: &Path) -> Result<(&Path, &[u8])> {
    match (path.parent(), path.file_name()) {
        (Some(dir), Some(name)) => Ok((dir, name.as_bytes())),
        _ => Err(Error::usage(format!("not a file name: {}", crate::stream::quote::path(path)))),
    }
}
