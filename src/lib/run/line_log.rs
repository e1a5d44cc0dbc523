//! What all append-only files of lines have in common: a line goes out in one write with its newline, or is taken back.
//!
//! The caller holds the lock of the log and has found its end.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use super::events::source::{self, Source};
use crate::error::{Error, IoContext, Kind, Result};
use crate::store::fsio::log::{self, Opened};
use crate::store::{fsio, seam};
use crate::stream::quote;

/// Opens a log for appending, and makes it if it is missing.
///
/// # Errors
/// [`Kind::Io`]; [`Kind::Damaged`] when what is there is not a regular file.
pub fn open(path: &Path) -> Result<(File, Opened)> {
    let (file, opened) = log::open_append(path).on("cannot open", path)?;
    let stat = rustix::fs::fstat(&file).on("cannot examine", path)?;
    match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::RegularFile => Ok((file, opened)),
        _ => Err(Error::damaged(path, "not a regular file")),
    }
}

/// Whether the last line of a log of `len` bytes has its newline, or there is none. What has not gets one before the next
/// line, and stays as a line of its own.
///
/// # Errors
/// What the operating system said.
pub fn is_terminated(file: &File, len: u64) -> std::io::Result<bool> {
    let mut last = [b'\n'];
    if let Some(at) = len.checked_sub(1) {
        file.read_at(&mut last, at)?;
    }
    Ok(last == [b'\n'])
}

/// Appends `line` behind the first `before` bytes in one write; what went in only in part is taken back.
///
/// # Errors
/// [`Kind::Io`].
pub fn append(file: &File, path: &Path, line: &[u8], before: u64) -> Result<()> {
    let count = log::append_once(file, line, path).on("cannot append to", path)?;
    if count == line.len() {
        return Ok(());
    }
    let error =
        Error::new(Kind::Io, format!("only {count} of {} bytes fit into {}", line.len(), quote::path(path)))
            .at(path)
            .hint("free some space, or raise the file size limit, and append the event again");
    seam::hook("events-cut-short");
    // The newline that isolates an older fragment may stay: readers have seen it, perhaps.
    let keep = before + u64::from(line.first() == Some(&b'\n'));
    let alone = source::len(file).is_ok_and(|len| len == before + count as u64);
    if alone && let Err(cause) = fsio::truncate(file, keep, path.as_os_str().as_encoded_bytes()) {
        let why = crate::error::describe(&cause);
        return Err(error.while_doing(format!("a fragment stays, to be isolated by the next append ({why})")));
    }
    Err(error)
}

/// Flushes what was appended, and the name of a log that was made for it.
///
/// # Errors
/// [`Kind::Io`].
pub fn flush(file: &File, path: &Path, opened: Opened) -> Result<()> {
    let name = path.as_os_str().as_encoded_bytes();
    fsio::flush_data(file.as_fd(), name).on("cannot flush", path)?;
    if opened == Opened::Made
        && let Some(dir) = path.parent()
    {
        let dir_fd = fsio::open_store_dir(dir).on("cannot open", dir)?;
        fsio::flush_dir(dir_fd.as_fd(), name).on("cannot flush the directory of", path)?;
        // Now it is known to be durable.
        fsio::set_mode(file.as_fd(), fsio::FILE_MODE, name).on("cannot set the mode of", path)?;
    }
    Ok(())
}
