//! Opening what lies below a directory without ever following a link, at any depth.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::store::relpath::RelPath;

/// Longest piece of a path handed to the kernel at once; its own limit is 4096 with the final NUL.
const PIECE_BYTES_MAX: usize = 4000;

const DIR_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// Opens the directory `path` below `root`; `None` is the root itself.
///
/// # Errors
/// What the operating system said; `ELOOP` or `ENOTDIR` where a component is not a directory.
pub fn open_dir(root: BorrowedFd<'_>, path: Option<&RelPath>) -> io::Result<OwnedFd> {
    let Some(path) = path else {
        return Ok(rustix::fs::openat(root, ".", DIR_FLAGS, Mode::empty())?);
    };
    let mut rest = path.as_bytes();
    let mut dir: Option<OwnedFd> = None;
    while !rest.is_empty() {
        let (piece, tail) = split(rest);
        let from = dir.as_ref().map_or(root, AsFd::as_fd);
        dir = Some(open_piece(from, piece)?);
        rest = tail;
    }
    dir.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Opens the directory `path` below `root`, unless it lies on another mount, be it of the same file system.
///
/// # Errors
/// What the operating system said; `EXDEV` for another mount. Before Linux 5.6 a bind mount is not noticed.
pub fn open_dir_of_same_mount(root: BorrowedFd<'_>, path: Option<&RelPath>) -> io::Result<OwnedFd> {
    let Some(path) = path else { return open_dir(root, None) };
    let mut rest = path.as_bytes();
    let mut dir: Option<OwnedFd> = None;
    while !rest.is_empty() {
        let (piece, tail) = split(rest);
        let from = dir.as_ref().map_or(root, AsFd::as_fd);
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let opened = match rustix::fs::openat2(from, piece, DIR_FLAGS, Mode::empty(), resolve) {
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => open_by_component(from, piece)?,
            other => other?,
        };
        if rustix::fs::fstat(&opened)?.st_dev != rustix::fs::fstat(from)?.st_dev {
            return Err(Errno::XDEV.into());
        }
        dir = Some(opened);
        rest = tail;
    }
    dir.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Whether another mount begins at a name in a directory, be it of the same file system. The name is not opened for
/// anything: no permission is needed.
///
/// # Errors
/// What the operating system said.
pub fn is_mount_point(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<bool> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_XDEV;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat2(dir, name, flags, Mode::empty(), resolve) {
        Ok(_) => Ok(false),
        Err(Errno::XDEV) => Ok(true),
        // Before Linux 5.6, or where a sandbox forbids the call.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {
            let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(stat.st_dev != rustix::fs::fstat(dir)?.st_dev)
        }
        Err(error) => Err(error.into()),
    }
}

/// Splits off as many whole components as the kernel takes at once.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    if path.len() <= PIECE_BYTES_MAX {
        return (path, b"");
    }
    let window = path.get(..PIECE_BYTES_MAX).unwrap_or(path);
    let slash = window.iter().rposition(|b| *b == b'/').or_else(|| path.iter().position(|b| *b == b'/'));
    match slash.and_then(|slash| Some((path.get(..slash)?, path.get(slash + 1..)?))) {
        Some(split) => split,
        None => (path, b""),
    }
}

fn open_piece(dir: BorrowedFd<'_>, piece: &[u8]) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(dir, piece, DIR_FLAGS, Mode::empty(), resolve) {
        // Before Linux 5.6, or where a sandbox forbids the call.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => open_by_component(dir, piece),
        other => Ok(other?),
    }
}

fn open_by_component(dir: BorrowedFd<'_>, piece: &[u8]) -> io::Result<OwnedFd> {
    let mut current: Option<OwnedFd> = None;
    for component in piece.split(|b| *b == b'/') {
        let from = current.as_ref().map_or(dir, AsFd::as_fd);
        current = Some(rustix::fs::openat(from, component, DIR_FLAGS, Mode::empty())?);
    }
    current.ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_component_may_be_a_link() {
        let scratch = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::DirBuilder::new().recursive(true).create(scratch.path().join("a/b")).unwrap();
        std::fs::DirBuilder::new().create(outside.path().join("b")).unwrap();
        symlink(outside.path(), scratch.path().join("link")).unwrap();
        let root = std::fs::File::open(scratch.path()).unwrap();
        let open = |path: &str| open_dir(root.as_fd(), Some(RelPath::new(path.as_bytes()).unwrap()));
        assert!(open("a/b").is_ok());
        assert!(open("link").is_err());
        assert!(open("link/b").is_err());
        for path in ["a/b", "link", "link/b"] {
            assert_eq!(open_by_component(root.as_fd(), path.as_bytes()).is_ok(), path == "a/b");
        }
    }

    #[test]
    fn long_paths_are_opened_in_pieces() {
        let path = vec![b"component".to_vec(); 2000].join(&b'/');
        let mut rest = path.as_slice();
        let mut seen = Vec::new();
        while !rest.is_empty() {
            let (piece, tail) = split(rest);
            assert!(piece.len() <= PIECE_BYTES_MAX);
            seen.push(piece.to_vec());
            rest = tail;
        }
        assert_eq!(seen.join(&b'/'), path);
    }
}
