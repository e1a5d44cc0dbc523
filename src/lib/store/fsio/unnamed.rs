//! Files that have no name before they are whole: whatever kills the writer leaves nothing to clean up.
//!
//! One system call fewer than a temporary name and a rename, and no entry that comes and goes in a directory which all
//! writers share.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, CWD, OFlags};
use rustix::io::Errno;

use super::{permission_bits, shown};
use crate::store::seam::point;
use crate::store::seam::tape::{Field, note};

/// Creates a file without a name on the file system of `dir`; `None` where that cannot be done, and a temporary name has
/// to do.
///
/// The umask and an access control list of `dir` can only take bits of the mode away. Whoever creates many files in one
/// directory passes the same `is_whole` with all: once a mode came out as it was asked for, it is not looked at again.
///
/// # Errors
/// What the operating system said.
pub fn create(dir: BorrowedFd<'_>, mode: u32, is_whole: &AtomicBool) -> io::Result<Option<File>> {
    point("create", shown(b"unnamed"))?;
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, ".", flags, permission_bits(mode)) {
        Ok(fd) => {
            // As for a file with a name, whatever the umask. It is looked at first: a change is a write to the journal.
            if !is_whole.load(Ordering::Relaxed) {
                if rustix::fs::fstat(&fd)?.st_mode & 0o7777 == mode & 0o777 {
                    is_whole.store(true, Ordering::Relaxed);
                } else {
                    rustix::fs::fchmod(&fd, permission_bits(mode))?;
                }
            }
            note("unnamed", &[Field::Fd(dir), Field::Fd(fd.as_fd()), Field::Number(mode.into())]);
            Ok(Some(fd.into()))
        }
        Err(Errno::NOTSUP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS | Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Makes room for so many open files of this process at once, before it has several threads. The table of open files doubles
/// when it is full, and the kernel lets all threads wait until nobody can see the old one any more: milliseconds each time.
///
/// It is only a matter of time, so it does not matter if it cannot be done. `fd` is any open file.
pub fn expect_open(fd: BorrowedFd<'_>, files: usize) {
    if let Ok(number) = i32::try_from(files) {
        let _ = rustix::io::fcntl_dupfd_cloexec(fd, number);
    }
}

/// Gives a file without a name its first one, failing with `EEXIST` if that is taken.
///
/// # Errors
/// What the operating system said.
pub fn link(file: &File, dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    point("link", shown(name))?;
    match rustix::fs::linkat(file.as_fd(), "", dir, name, AtFlags::EMPTY_PATH) {
        // That takes a privilege on most kernels; the way through the process's own descriptors does not.
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            rustix::fs::linkat(CWD, Path::new(&path), dir, name, AtFlags::SYMLINK_FOLLOW)?;
        }
        other => other?,
    }
    note("name", &[Field::Fd(file.as_fd()), Field::Fd(dir), Field::Bytes(name)]);
    Ok(())
}
