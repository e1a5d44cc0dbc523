//! The only code that creates, writes, renames, links, removes or flushes anything.
//!
//! Two layers: primitives relative to a directory descriptor, each behind the [`seam`](super::seam), and below them (in
//! [`document`]) the protocol for store documents. No primitive follows a link in its last component, and none
//! resolves a path of more than one component inside a workspace: callers open the directory first.

mod dirs;
pub mod document;
pub mod lock_file;
pub mod log;
pub mod staged;
pub mod tree;
pub mod unnamed;
mod unsure;
mod write;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::seam::point;
use super::seam::tape::{Field, note};

/// Whether changes are flushed to the disk before they are relied on (`WT_FSYNC`, design section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Everything named by a label survives a power cut.
    Flushed,
    /// For throw-away stores: only kills are survived.
    Off,
}

/// Mode of every file below the store.
pub const FILE_MODE: u32 = 0o600;
/// Mode of every directory below the store.
pub const DIR_MODE: u32 = 0o700;

fn shown(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
}

/// Bits of a mode that we ever set: never set-user-id, set-group-id or sticky.
#[must_use]
pub fn permission_bits(mode: u32) -> Mode {
    Mode::from_raw_mode(mode & 0o777)
}

/// Creates a new file for writing, failing if the name exists in any form. The mode holds from the first instant and
/// whatever the umask.
///
/// # Errors
/// What the operating system said; `EEXIST` when the name is taken.
pub fn create_new(dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<File> {
    let file = create(dir, name, mode)?;
    rustix::fs::fchmod(&file, permission_bits(mode))?;
    Ok(file)
}

/// As [`create_new`] with [`FILE_MODE`], for whoever sets the final mode afterwards: until then the umask may have taken
/// something away from it.
///
/// # Errors
/// As [`create_new`].
pub fn create_private(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<File> {
    create(dir, name, FILE_MODE)
}

fn create(dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<File> {
    point("create", shown(name))?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name, flags, permission_bits(mode))?;
    note("create", &[Field::Fd(dir), Field::Bytes(name), Field::Fd(fd.as_fd()), Field::Number(mode.into())]);
    Ok(fd.into())
}

/// Sets the permission bits of an open file or directory.
///
/// # Errors
/// What the operating system said.
pub fn set_mode(fd: BorrowedFd<'_>, mode: u32, name: &[u8]) -> io::Result<()> {
    point("chmod", shown(name))?;
    rustix::fs::fchmod(fd, permission_bits(mode))?;
    note("chmod", &[Field::Fd(fd), Field::Number(mode.into())]);
    Ok(())
}

/// Sets the permission bits of what has this name: it may not let itself be opened. The caller knows that it is no link,
/// but a file or directory of ours.
///
/// # Errors
/// What the operating system said.
pub fn set_mode_at(dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()> {
    point("chmod", shown(name))?;
    rustix::fs::chmodat(dir, name, permission_bits(mode), AtFlags::empty())?;
    note("chmod", &[Field::At(dir, name), Field::Number(mode.into())]);
    Ok(())
}

/// Flushes a file's data and what is needed to read it back.
///
/// # Errors
/// What the operating system said; the data must then be taken as not durable.
pub fn flush_data(fd: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    point("flush", shown(name))?;
    rustix::fs::fdatasync(fd)?;
    note("flush", &[Field::Fd(fd)]);
    Ok(())
}

/// Flushes a directory, so that the names in it are durable. File systems that cannot are excused.
///
/// # Errors
/// What the operating system said.
pub fn flush_dir(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    point("flush-dir", shown(name))?;
    match rustix::fs::fsync(dir) {
        Err(Errno::INVAL | Errno::NOTSUP) | Ok(()) => note("flush-dir", &[Field::Fd(dir)]),
        Err(errno) => return Err(errno.into()),
    }
    Ok(())
}

/// Flushes the whole file system that `dir` lies on.
///
/// # Errors
/// What the operating system said.
pub fn flush_file_system(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    point("flush-fs", shown(name))?;
    rustix::fs::syncfs(dir)?;
    note("flush-fs", &[Field::Fd(dir)]);
    Ok(())
}

/// Renames, replacing what is there.
///
/// # Errors
/// What the operating system said.
pub fn rename(from_dir: BorrowedFd<'_>, from: &[u8], to_dir: BorrowedFd<'_>, to: &[u8]) -> io::Result<()> {
    point("rename", shown(to))?;
    rustix::fs::renameat(from_dir, from, to_dir, to)?;
    note("rename", &[Field::Fd(from_dir), Field::Bytes(from), Field::Fd(to_dir), Field::Bytes(to)]);
    Ok(())
}

/// Renames, failing with `EEXIST` if the new name is taken. Where the file system cannot promise that, a hard link
/// and an unlink do (files only); a directory is then renamed after a look.
///
/// # Errors
/// What the operating system said.
pub fn rename_new(from_dir: BorrowedFd<'_>, from: &[u8], to_dir: BorrowedFd<'_>, to: &[u8]) -> io::Result<()> {
    point("rename-new", shown(to))?;
    rename_unless_taken(from_dir, from, to_dir, to)?;
    note("rename", &[Field::Fd(from_dir), Field::Bytes(from), Field::Fd(to_dir), Field::Bytes(to)]);
    Ok(())
}

fn rename_unless_taken(from_dir: BorrowedFd<'_>, from: &[u8], to_dir: BorrowedFd<'_>, to: &[u8]) -> io::Result<()> {
    match rustix::fs::renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {}
        other => return Ok(other?),
    }
    match rustix::fs::linkat(from_dir, from, to_dir, to, AtFlags::empty()) {
        Ok(()) => Ok(rustix::fs::unlinkat(from_dir, from, AtFlags::empty())?),
        Err(Errno::EXIST) => Err(Errno::EXIST.into()),
        Err(_) => match rustix::fs::statat(to_dir, to, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(rustix::fs::renameat(from_dir, from, to_dir, to)?),
            Ok(_) => Err(Errno::EXIST.into()),
            Err(errno) => Err(errno.into()),
        },
    }
}

/// What became of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchanged {
    /// Both names changed places in one step.
    Yes,
    /// The file system cannot exchange; nothing happened.
    Unsupported,
}

/// Lets two names change places in one step.
///
/// # Errors
/// What the operating system said; nothing happened then.
pub fn exchange(a_dir: BorrowedFd<'_>, a: &[u8], b_dir: BorrowedFd<'_>, b: &[u8]) -> io::Result<Exchanged> {
    point("exchange", shown(b))?;
    match rustix::fs::renameat_with(a_dir, a, b_dir, b, RenameFlags::EXCHANGE) {
        Ok(()) => {
            note("exchange", &[Field::Fd(a_dir), Field::Bytes(a), Field::Fd(b_dir), Field::Bytes(b)]);
            Ok(Exchanged::Yes)
        }
        Err(Errno::INVAL | Errno::NOSYS) => Ok(Exchanged::Unsupported),
        Err(errno) => Err(errno.into()),
    }
}

/// Gives an existing file a second name, failing with `EEXIST` if that is taken.
///
/// # Errors
/// What the operating system said.
pub fn link_new(from_dir: BorrowedFd<'_>, from: &[u8], to_dir: BorrowedFd<'_>, to: &[u8]) -> io::Result<()> {
    point("link", shown(to))?;
    rustix::fs::linkat(from_dir, from, to_dir, to, AtFlags::empty())?;
    note("link", &[Field::Fd(from_dir), Field::Bytes(from), Field::Fd(to_dir), Field::Bytes(to)]);
    Ok(())
}

/// Makes a symbolic link with the given target text, failing if the name is taken.
///
/// # Errors
/// What the operating system said.
pub fn symlink(target: &[u8], dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    point("symlink", shown(name))?;
    rustix::fs::symlinkat(target, dir, name)?;
    note("symlink", &[Field::Fd(dir), Field::Bytes(name), Field::At(dir, name), Field::Bytes(target)]);
    Ok(())
}

/// Removes a file or link.
///
/// # Errors
/// What the operating system said.
pub fn unlink(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    point("unlink", shown(name))?;
    rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
    note("unlink", &[Field::Fd(dir), Field::Bytes(name)]);
    Ok(())
}

/// Removes an empty directory.
///
/// # Errors
/// What the operating system said; `ENOTEMPTY` when something is in it.
pub fn remove_dir(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    point("rmdir", shown(name))?;
    rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?;
    note("rmdir", &[Field::Fd(dir), Field::Bytes(name)]);
    Ok(())
}

/// Cuts a file to `len` bytes.
///
/// # Errors
/// What the operating system said.
pub fn truncate(file: &File, len: u64, name: &[u8]) -> io::Result<()> {
    point("truncate", shown(name))?;
    rustix::fs::ftruncate(file, len)?;
    note("truncate", &[Field::Fd(file.as_fd()), Field::Number(len)]);
    Ok(())
}

/// Sets a store file's access and modification time to now: a dedupe hit keeps an object young.
///
/// # Errors
/// What the operating system said.
pub fn touch(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    use rustix::fs::{Timespec, Timestamps, UTIME_NOW};
    point("touch", shown(name))?;
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let times = Timestamps { last_access: now, last_modification: now };
    Ok(rustix::fs::utimensat(dir, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Changes owner and group of an open file.
///
/// # Errors
/// What the operating system said; giving a file away takes a privilege.
pub fn set_owner(file: &File, uid: Option<rustix::fs::Uid>, gid: Option<rustix::fs::Gid>) -> io::Result<()> {
    point("chown", shown(b""))?;
    Ok(rustix::fs::fchown(file, uid, gid)?)
}

/// Copies extended attributes from one open file to another, as far as the system permits: they are a courtesy, and a
/// file system without them is no reason to leave a file as it was.
pub fn copy_attributes(from: &File, to: &File) {
    let mut names = vec![0; XATTR_BYTES_MAX];
    let Ok(length) = rustix::fs::flistxattr(from, names.as_mut_slice()) else { return };
    let mut value = vec![0; XATTR_BYTES_MAX];
    for name in names.get(..length).unwrap_or_default().split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        // New content does not inherit the powers that somebody gave to the old one.
        if name == b"security.capability" {
            continue;
        }
        if let Ok(length) = rustix::fs::fgetxattr(from, name, value.as_mut_slice()) {
            let value = value.get(..length).unwrap_or_default();
            let _ = rustix::fs::fsetxattr(to, name, value, rustix::fs::XattrFlags::empty());
        }
    }
}

/// The kernel's own limit for the names, and for one value, of extended attributes.
const XATTR_BYTES_MAX: usize = 64 * 1024;

/// Opens a directory by one name, never through a link.
///
/// # Errors
/// What the operating system said.
pub fn open_dir(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}

/// Opens a directory of the store by its path, which may lead through links (a run directory may be one).
///
/// # Errors
/// What the operating system said.
pub fn open_store_dir(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Opens a regular file for reading: never through a link, never waiting for a FIFO's writer.
///
/// The caller decides by `fstat` whether what it got is a regular file.
///
/// # Errors
/// What the operating system said; `ELOOP` for a link.
pub fn open_read(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}

pub use dirs::{has_default_acl, make_child_dir, make_dir, set_mode_of_dir};
pub use unsure::{is_sure_dir, make_store_dirs, set_unsure, settle};
pub use write::{open_to_overwrite, write_all, write_parts, write_parts_from};

/// Appends bytes to a store file in one write, making it if it is missing, and flushes them. What a short write left
/// behind is cut off again.
///
/// # Errors
/// What the operating system said; the file then ends where it ended before, or in a line cut short.
pub fn append(dir: BorrowedFd<'_>, name: &[u8], bytes: &[u8], durability: Durability) -> io::Result<()> {
    point("append", shown(name))?;
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            let fd = rustix::fs::openat(dir, name, flags | OFlags::CREATE, permission_bits(FILE_MODE))?;
            rustix::fs::fchmod(&fd, permission_bits(FILE_MODE))?;
            note(
                "create",
                &[Field::Fd(dir), Field::Bytes(name), Field::Fd(fd.as_fd()), Field::Number(FILE_MODE.into())],
            );
            fd
        }
        other => other?,
    };
    let mut file = File::from(fd);
    let before = file.metadata()?.len();
    if let Err(error) = file.write_all(bytes) {
        // Best effort: a reader isolates a line cut short anyway.
        let _ = truncate(&file, before, name);
        return Err(error);
    }
    note("write", &[Field::Fd(file.as_fd()), Field::Bytes(bytes)]);
    match durability {
        Durability::Flushed => flush_data(file.as_fd(), name),
        Durability::Off => Ok(()),
    }
}

/// Opens a lock file, which is made if it is missing, and is never removed.
///
/// # Errors
/// What the operating system said.
pub fn open_lock_file(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            point("create", path)?;
            let fd = rustix::fs::open(path, flags | OFlags::CREATE, permission_bits(FILE_MODE))?;
            // A strange umask must not lock the next process out.
            rustix::fs::fchmod(&fd, permission_bits(FILE_MODE))?;
            note("create", &[Field::Path(path), Field::Fd(fd.as_fd()), Field::Number(FILE_MODE.into())]);
            Ok(fd)
        }
        other => Ok(other?),
    }
}

/// Fills `bytes` with what nobody can guess, from the kernel. It changes nothing, and stands here for the seam: a test must
/// be able to take the entropy away.
///
/// # Errors
/// What the operating system said.
pub fn fill_random(bytes: &mut [u8]) -> io::Result<()> {
    point("random", shown(b""))?;
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += match rustix::rand::getrandom(&mut *rest, rustix::rand::GetRandomFlags::empty()) {
            Err(Errno::INTR) => 0,
            other => other?,
        };
    }
    Ok(())
}

/// A name that no other process and no other call uses at the same time, with the given prefix.
#[must_use]
pub fn temp_name(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // By way of the standard library: rustix asks the kernel where its clock is, and a debugger of memory does not have it.
    let (id, time) = (rustix::process::getpid().as_raw_nonzero(), crate::clock::now_ns());
    format!("{prefix}{id}-{time:x}-{number:x}")
}
