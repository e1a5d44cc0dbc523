//! `artifact_files/`: files that tools of a run wrote, where a sandbox may write too (facts 4.10 and 5).
//!
//! So nothing in it is trusted: no link is followed at any level, and whatever cannot be opened looks the same from outside.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::access::Writing;
use crate::error::{Error, IoContext, Result};
use crate::store::id::RunId;
use crate::store::{Store, fsio, layout};
use crate::stream::quote;

/// Deepest directory that is listed.
const DEPTH_MAX: usize = 128;

/// Who may write into the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Its owner.
    Private,
    /// Its group too, as a sandbox with another user needs it.
    Sandbox,
}

/// Makes sure that a real directory is there, with the mode that is asked for. A link in its place is removed, not what it
/// points to.
///
/// # Errors
/// [`crate::error::Kind::Damaged`] when something else is in its place; those of [`Writing::begin`].
pub fn ensure(store: &Store, run: &RunId, sharing: Sharing) -> Result<std::path::PathBuf> {
    let writing = Writing::begin(store, run)?;
    let path = layout::artifact_files(store.root(), run);
    let parent = layout::run(store.root(), run);
    let mode = match sharing {
        Sharing::Private => fsio::DIR_MODE,
        Sharing::Sandbox => 0o775,
    };
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let dir = fsio::open_store_dir(&parent).on("cannot open", &parent)?;
    let kind = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(FileType::from_raw_mode(stat.st_mode)),
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(Error::io("cannot examine", &path, &errno.into())),
    };
    match kind {
        Some(FileType::Directory) => {}
        None => fsio::make_dir(dir.as_fd(), name, mode).on("cannot make the directory", &path)?,
        Some(FileType::Symlink) => {
            fsio::unlink(dir.as_fd(), name).on("cannot remove the link", &path)?;
            fsio::make_dir(dir.as_fd(), name, mode).on("cannot make the directory", &path)?;
        }
        Some(_) => {
            return Err(Error::damaged(&path, "not a directory").hint("move it away, and run the command again"));
        }
    }
    let opened = fsio::open_dir(dir.as_fd(), name).on("cannot open", &path)?;
    let stat = rustix::fs::fstat(&opened).on("cannot examine", &path)?;
    if stat.st_mode & 0o777 != mode {
        fsio::set_mode(opened.as_fd(), mode, name).on("cannot set the mode of", &path)?;
    }
    drop(writing);
    Ok(path)
}

/// Opens a file by its path below the directory.
///
/// # Errors
/// [`crate::error::Kind::NotFound`], whatever the reason: who asks must not learn what is elsewhere.
pub fn open(store: &Store, run: &RunId, path: &str) -> Result<File> {
    open_beneath(store, run, path).ok_or_else(|| {
        Error::not_found(format!("the run has no file {}", quote::name(path.as_bytes())))
            .hint("'run-artifact files' lists those that there are")
    })
}

fn open_beneath(store: &Store, run: &RunId, path: &str) -> Option<File> {
    let path = path.replace('\\', "/");
    let components: Vec<&str> = path.split('/').collect();
    if components.iter().any(|component| matches!(*component, "" | "." | "..") || component.contains('\0')) {
        return None;
    }
    let mut dir = open_root(store, run).ok()??;
    let (last, above) = components.split_last()?;
    for component in above {
        dir = fsio::open_dir(dir.as_fd(), component.as_bytes()).ok()?;
    }
    let file = fsio::open_read(dir.as_fd(), last.as_bytes()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| file.into())
}

/// The directory itself, unless it is missing or a link.
fn open_root(store: &Store, run: &RunId) -> Result<Option<OwnedFd>> {
    let parent = layout::run(store.root(), run);
    let path = layout::artifact_files(store.root(), run);
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let dir = match fsio::open_store_dir(&parent) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.on("cannot open", &parent)?,
    };
    match fsio::open_dir(dir.as_fd(), name) {
        Ok(root) => Ok(Some(root)),
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            _ => Err(Error::io("cannot open", &path, &error)),
        },
    }
}

/// A file that is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its path below the directory, with slashes.
    pub path: Vec<u8>,
    /// Its length in bytes.
    pub size: u64,
}

/// Lists the regular files, sorted; links are passed over. A missing directory has none.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn list(store: &Store, run: &RunId) -> Result<Vec<Listed>> {
    let mut found = Vec::new();
    if let Some(root) = open_root(store, run)? {
        walk(root.as_fd(), &[], DEPTH_MAX, &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn walk(dir: BorrowedFd<'_>, prefix: &[u8], depth: usize, found: &mut Vec<Listed>) -> Result<()> {
    let shown = || String::from_utf8_lossy(prefix).into_owned();
    let entries = rustix::fs::Dir::read_from(dir).on("cannot list", shown())?;
    for entry in entries {
        let entry = entry.on("cannot list", shown())?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let path = if prefix.is_empty() { name.to_vec() } else { [prefix, b"/", name].concat() };
        // What vanishes meanwhile was not there.
        let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                found.push(Listed { path, size: u64::try_from(stat.st_size).unwrap_or(0) });
            }
            FileType::Directory if depth > 0 => match fsio::open_dir(dir, name) {
                Ok(below) => walk(below.as_fd(), &path, depth - 1, found)?,
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                    _ => return Err(Error::io("cannot open", String::from_utf8_lossy(&path).into_owned(), &error)),
                },
            },
            _ => {}
        }
    }
    Ok(())
}
