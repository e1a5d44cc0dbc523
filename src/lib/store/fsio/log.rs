//! Effects on append-only files: a line goes out in one write, or is taken back.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{Durability, FILE_MODE, Field, note, permission_bits, point, unsure};

/// Opens a file for reading and appending, private whatever it was before, and makes it if it is missing: then its name
/// is not durable until [`super::settle`] has seen to that.
///
/// # Errors
/// What the operating system said; `ELOOP` for a link.
pub fn open_append(path: &Path, durability: Durability) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mode = unsure::new_mode(FILE_MODE, durability);
    let fd = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            point("create", path)?;
            let fd = rustix::fs::open(path, flags | OFlags::CREATE, mode)?;
            note("create", &[Field::Path(path), Field::Fd(fd.as_fd()), Field::Number(mode.as_raw_mode().into())]);
            fd
        }
        other => other?,
    };
    if rustix::fs::fstat(&fd)?.st_mode & 0o777 != FILE_MODE {
        point("chmod", path)?;
        rustix::fs::fchmod(&fd, mode)?;
    }
    Ok(fd.into())
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
