//! The one module with `unsafe`: what the safe libraries cannot say. Each block carries its reason.
#![allow(unsafe_code, reason = "collected here, each block with its reason, so that nothing else needs it")]

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::Mmap;

use crate::store::relpath::RelPath;

/// Views checked bytes as a path without copying them. Only `store::relpath` calls it, after its check.
pub(crate) fn relpath_from_bytes(bytes: &[u8]) -> &RelPath {
    // SAFETY: RelPath is repr(transparent) over [u8], so both references have the same layout and lifetime.
    unsafe { &*(std::ptr::from_ref::<[u8]>(bytes) as *const RelPath) }
}

/// Maps a file that only the store writes. Workspace files are never mapped: somebody may truncate them.
///
/// # Errors
/// What the operating system said; an empty file cannot be mapped.
pub(crate) fn map_store_file(file: &File) -> io::Result<Mmap> {
    // SAFETY: store documents are replaced by rename, or changed under a lease that is not given while a file is open or
    // mapped (`store::spare`), so the mapped inode keeps its bytes.
    unsafe { Mmap::map(file) }
}

/// Duplicates a descriptor that a parent process passed by number.
///
/// # Errors
/// `EBADF` when no such descriptor is open.
pub(crate) fn duplicate_inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the borrow ends in this expression; a number that is not open makes the call fail with EBADF, and a
    // number that some other part owns is only duplicated, never closed.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(rustix::io::dup(borrowed)?)
}

/// Makes sure that nobody else has this file open or mapped, nor opens it while the lease lasts: he waits until it is
/// released or the file is closed.
///
/// # Errors
/// `EAGAIN` when somebody has it open; whatever says that this file system or this kernel cannot tell.
#[cfg(target_os = "linux")]
pub(crate) fn take_lease(file: &File) -> io::Result<()> {
    // Who has to wait makes the kernel tell us: by a signal that does nothing where nobody asked for it.
    fcntl(file, F_SETSIG, libc::SIGURG)?;
    fcntl(file, libc::F_SETLEASE, libc::F_WRLCK)
}

/// Lets others open the file again.
///
/// # Errors
/// What the operating system said.
#[cfg(target_os = "linux")]
pub(crate) fn release_lease(file: &File) -> io::Result<()> {
    fcntl(file, libc::F_SETLEASE, libc::F_UNLCK)
}

/// Not a constant of every C library.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

#[cfg(target_os = "linux")]
fn fcntl(file: &File, command: libc::c_int, value: libc::c_int) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the commands of the callers take a number and touch no memory.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, value) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Elsewhere nothing is known of who has a file open.
#[cfg(not(target_os = "linux"))]
pub(crate) fn take_lease(_file: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nothing was taken.
#[cfg(not(target_os = "linux"))]
pub(crate) fn release_lease(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Whether standard output was closed when the process began.
///
/// The standard library opens `/dev/null` on closed standard descriptors before `main`, so that `cmd >&-` would seem
/// to succeed; the state must be read before that.
#[must_use]
pub(crate) fn stdout_was_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn note_closed_stdout() {
    // SAFETY: descriptor 1 is only queried.
    let stdout = unsafe { BorrowedFd::borrow_raw(1) };
    if rustix::io::fcntl_getfd(stdout) == Err(rustix::io::Errno::BADF) {
        STDOUT_CLOSED.store(true, Ordering::Relaxed);
    }
}

// SAFETY: functions in .init_array run once before main with no Rust state to depend on; this one makes one system
// call and one atomic store.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE_CLOSED_STDOUT: extern "C" fn() = note_closed_stdout;
