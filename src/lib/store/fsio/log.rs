//! Effects on append-only files: a line goes out in one write, or is taken back.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{Durability, FILE_MODE, Field, note, permission_bits, point, unsure};

/// Whether the name of a file that was opened is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// It was there before.
    Existing,
    /// It was made now, or by somebody who has not flushed its directory since.
    Made,
}

/// Opens a file for reading and appending, private whatever it was before, and makes it if it is missing.
///
/// # Errors
/// What the operating system said; `ELOOP` for a link.
pub fn open_append(path: &Path) -> io::Result<(File, Opened)> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mode = unsure::new_mode(FILE_MODE, Durability::Flushed);
    let fd = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            point("create", path)?;
            let fd = rustix::fs::open(path, flags | OFlags::CREATE, mode)?;
            note("create", &[Field::Path(path), Field::Fd(fd.as_fd()), Field::Number(mode.as_raw_mode().into())]);
            fd
        }
        other => other?,
    };
    let file = File::from(fd);
    let meta = file.metadata()?;
    let opened = if unsure::is_unsure(&meta) { Opened::Made } else { Opened::Existing };
    if meta.mode() & 0o777 != FILE_MODE {
        point("chmod", path)?;
        rustix::fs::fchmod(&file, if opened == Opened::Made { mode } else { permission_bits(FILE_MODE) })?;
    }
    Ok((file, opened))
}

/// Appends in exactly one write and says how much of `bytes` went in.
///
/// # Errors
/// What the operating system said; nothing was written then.
pub fn append_once(file: &File, bytes: &[u8], path: &Path) -> io::Result<usize> {
    point("append", path)?;
    loop {
        match rustix::io::write(file, bytes) {
            Err(Errno::INTR) => {}
            other => {
                let count = other?;
                note("write", &[Field::Fd(file.as_fd()), Field::Bytes(bytes.get(..count).unwrap_or_default())]);
                return Ok(count);
            }
        }
    }
}

/// Opens a file for reading, and for writing at offsets of the caller's choice; makes it if it is missing.
///
/// # Errors
/// As [`open_append`].
pub fn open_write(path: &Path) -> io::Result<(File, Opened)> {
    let (file, opened) = open_append(path)?;
    // An append goes to the end wherever it is aimed at.
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::APPEND)?;
    Ok((file, opened))
}

/// Writes all of `bytes` at `offset`.
///
/// # Errors
/// What the operating system said; part of the bytes may have been written.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64, path: &Path) -> io::Result<()> {
    point("write", path)?;
    while !bytes.is_empty() {
        let count = match rustix::io::pwrite(file, bytes, offset) {
            Err(Errno::INTR) => 0,
            other => other?,
        };
        note(
            "write-at",
            &[Field::Fd(file.as_fd()), Field::Number(offset), Field::Bytes(bytes.get(..count).unwrap_or_default())],
        );
        offset += count as u64;
        bytes = bytes.get(count..).unwrap_or_default();
    }
    Ok(())
}

/// Leaves an empty file as a mark; it may be there already.
///
/// # Errors
/// What the operating system said.
pub fn leave_mark(path: &Path) -> io::Result<()> {
    point("create", path)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, permission_bits(FILE_MODE))?;
    note("create", &[Field::Path(path), Field::Fd(fd.as_fd()), Field::Number(FILE_MODE.into())]);
    Ok(())
}
