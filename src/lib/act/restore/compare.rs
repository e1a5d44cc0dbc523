//! Is what is there what the plan saw?

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;

use super::salvage;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::{EntryKind, Record};
use crate::tree::beneath;
use crate::tree::scan::record_of;
use crate::tree::stat::{FileStat, stat_at};

/// Whether a path is exactly as the plan saw it.
pub(super) fn is_untouched(stat: &FileStat, planned: &Record) -> bool {
    let now = record_of(&planned.path, stat);
    now.ctime_ns == planned.ctime_ns && is_planned(stat, planned)
}

/// Whether an inode that was renamed since, which moves its ctime, is the one that the plan saw.
pub(super) fn is_planned(stat: &FileStat, planned: &Record) -> bool {
    stat.kind == planned.kind
        && stat.mode == planned.mode
        && Some(stat.inode) == planned.inode
        && (stat.kind == EntryKind::Dir || Some(stat.size) == planned.size)
        && (stat.kind == EntryKind::Dir || stat.mtime_ns.is_none() || stat.mtime_ns == planned.mtime_ns)
}

/// What a directory is that is to be taken out whole.
pub(super) enum TreeState {
    /// It holds exactly what was expected below it, and directories of that.
    AsPlanned,
    /// It holds something else.
    Changed,
    /// The system would not let us remove it afterwards.
    Guarded,
}

/// Refuses to have something taken out with a mount in it: what is mounted would go where it is not looked for.
pub(super) fn refuse_mounts(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    let is_dir = stat_at(dir, name)?.is_some_and(|stat| stat.kind == EntryKind::Dir);
    let mut stack: Vec<RelPathBuf> = if is_dir { vec![RelPathBuf::join(None, name)] } else { Vec::new() };
    while let Some(path) = stack.pop() {
        let inner = match beneath::open_dir_of_same_mount(dir, Some(&path)) {
            Ok(inner) => inner,
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, "something is mounted in it"));
            }
            // What does not let us in is not looked into by the clearing either, or not behind a mount.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
            Err(error) => return Err(error),
        };
        for name in salvage::names_in(&inner)? {
            let stat = match stat_at(inner.as_fd(), &name) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
                stat => stat?,
            };
            if stat.is_some_and(|stat| stat.kind == EntryKind::Dir) {
                stack.push(RelPathBuf::join(Some(&path), &name));
            }
        }
    }
    Ok(())
}

/// Compares a directory with what the plan saw in it. A rename of the directory does not move the times of what it
/// holds, so those must all be the same, before and after.
pub(super) fn compare_tree(
    tree: &OwnedFd,
    root: &RelPathBuf,
    expected: &HashMap<&RelPath, &Record>,
) -> io::Result<TreeState> {
    let own = rustix::process::geteuid().as_raw();
    let mut seen = 0;
    // Paths and not descriptors: a directory may have thousands of others in it.
    let mut stack: Vec<Option<RelPathBuf>> = vec![None];
    while let Some(inner) = stack.pop() {
        let dir = match beneath::open_dir_of_same_mount(tree.as_fd(), inner.as_deref()) {
            Ok(dir) => dir,
            Err(error) if error.raw_os_error() == Some(Errno::XDEV.raw_os_error()) => {
                return Ok(TreeState::Guarded);
            }
            Err(error) => return Err(error),
        };
        let stat = FileStat::from(rustix::fs::fstat(&dir)?);
        let is_writable = rustix::fs::accessat(&dir, ".", Access::WRITE_OK, AtFlags::EACCESS).is_ok();
        if stat.uid != own && !is_writable {
            return Ok(TreeState::Guarded);
        }
        for name in salvage::names_in(&dir)? {
            let below = RelPathBuf::join(inner.as_deref(), &name);
            let here = RelPathBuf::join(Some(root), below.as_bytes());
            let Some(stat) = stat_at(dir.as_fd(), &name)? else { return Ok(TreeState::Changed) };
            match expected.get(&*here) {
                Some(record) if stat.kind == EntryKind::Dir && is_planned(&stat, record) => {
                    seen += 1;
                    stack.push(Some(below));
                }
                Some(record) if is_untouched(&stat, record) => seen += 1,
                None if stat.kind == EntryKind::Dir => stack.push(Some(below)),
                Some(_) | None => return Ok(TreeState::Changed),
            }
        }
    }
    Ok(if seen == expected.len() { TreeState::AsPlanned } else { TreeState::Changed })
}
