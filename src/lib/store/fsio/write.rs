//! Writing the content of a new file.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{Mode, OFlags};

use super::shown;
use crate::store::seam::point;
use crate::store::seam::tape::{Field, note};

/// Writes all of `bytes` at the end of what was written to `file` so far.
///
/// # Errors
/// What the operating system said; part of the bytes may have been written.
pub fn write_all(file: &mut File, bytes: &[u8], name: &[u8]) -> io::Result<()> {
    point("write", shown(name))?;
    file.write_all(bytes)?;
    note("write", &[Field::Fd(file.as_fd()), Field::Bytes(bytes)]);
    Ok(())
}

/// Writes all parts, one behind the other, at the end of what was written to `file` so far: one effect, and as few system
/// calls as there can be.
///
/// # Errors
/// What the operating system said; part of the bytes may have been written.
pub fn write_parts(file: &mut File, parts: &[&[u8]], name: &[u8]) -> io::Result<()> {
    point("write", shown(name))?;
    write_behind(file, parts, 0)?;
    note("write", &[Field::Fd(file.as_fd()), Field::Parts(parts)]);
    Ok(())
}

/// Opens what has this name for writing over it: never through a link, never waiting for a FIFO's reader. The caller decides by
/// `fstat` whether it is a file of ours, and makes sure that nobody sees it change.
///
/// # Errors
/// What the operating system said.
pub fn open_to_overwrite(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?.into())
}

/// Writes the end of all parts, one behind the other, from `offset` on to the place where it belongs: what stands before it
/// in the file is so already.
///
/// # Errors
/// What the operating system said; part of the bytes may have been written.
pub fn write_parts_from(file: &mut File, parts: &[&[u8]], offset: usize, name: &[u8]) -> io::Result<()> {
    point("write", shown(name))?;
    if offset > 0 {
        io::Seek::seek(file, io::SeekFrom::Start(offset as u64))?;
    }
    write_behind(file, parts, offset)?;
    #[cfg(debug_assertions)]
    {
        let bytes = parts.concat();
        let written = bytes.get(offset..).unwrap_or_default();
        note("write-at", &[Field::Fd(file.as_fd()), Field::Number(offset as u64), Field::Bytes(written)]);
    }
    Ok(())
}

/// Writes all parts but the first `skipped` bytes, wherever the file stands.
fn write_behind(file: &mut File, parts: &[&[u8]], skipped: usize) -> io::Result<()> {
    let mut slices: Vec<io::IoSlice<'_>> = parts.iter().map(|part| io::IoSlice::new(part)).collect();
    let mut left = slices.as_mut_slice();
    // Also of nothing: what is empty at the front would look like the end.
    io::IoSlice::advance_slices(&mut left, skipped);
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => io::IoSlice::advance_slices(&mut left, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
