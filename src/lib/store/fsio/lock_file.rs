//! A lock file that says who holds it. The lock hangs on the inode, so the text is written in place and never replaced.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{FILE_MODE, permission_bits, point, truncate};

/// Opens a lock file for whoever is going to hold it. It is made if it is missing.
///
/// Open for writing also because file systems that make an exclusive `flock` of a record lock ask for it.
///
/// # Errors
/// What the operating system said; `ELOOP` for a link.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            point("create", path)?;
            let fd = rustix::fs::open(path, flags | OFlags::CREATE, permission_bits(FILE_MODE))?;
            rustix::fs::fchmod(&fd, permission_bits(FILE_MODE))?;
            Ok(fd.into())
        }
        other => Ok(other?.into()),
    }
}

/// Says in the file who holds it; to be called with the lock held. Nothing relies on it, so nothing is flushed.
///
/// # Errors
/// What the operating system said; the lock is held all the same.
pub fn write_holder(mut file: &File, text: &str, path: &Path) -> io::Result<()> {
    let name = path.as_os_str().as_encoded_bytes();
    truncate(file, 0, name)?;
    point("write", path)?;
    file.write_all(text.as_bytes())
}
