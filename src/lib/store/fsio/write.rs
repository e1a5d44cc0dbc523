//! Writing the content of a new file.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

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
    let mut slices: Vec<io::IoSlice<'_>> = parts.iter().map(|part| io::IoSlice::new(part)).collect();
    let mut left = slices.as_mut_slice();
    // What is empty at the front would look like the end.
    io::IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => io::IoSlice::advance_slices(&mut left, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    note("write", &[Field::Fd(file.as_fd()), Field::Parts(parts)]);
    Ok(())
}
