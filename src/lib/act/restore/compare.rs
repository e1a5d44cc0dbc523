//! Is what is there what the plan saw?

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::salvage;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::{EntryKind, Record};
use crate::tree::beneath;
use crate::tree::scan::record_of;
use crate::tree::stat::FileStat;

/// Stats one name without following a link; `None` when nothing is there.
pub(super) fn examine(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Option<FileStat>> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat.into())),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

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

/// Whether a directory holds exactly what was expected below it, and directories of that.
pub(super) fn holds_only(
    tree: &OwnedFd,
    root: &RelPathBuf,
    expected: &HashMap<&RelPath, &Record>,
) -> io::Result<bool> {
    let mut seen = 0;
    let mut stack = vec![(tree.try_clone()?, root.clone())];
    while let Some((dir, path)) = stack.pop() {
        for name in salvage::names_in(&dir)? {
            let here = RelPathBuf::join(Some(&path), &name);
            let Some(stat) = examine(dir.as_fd(), &name)? else { return Ok(false) };
            match expected.get(&*here) {
                Some(record) if is_planned(&stat, record) => seen += 1,
                None if stat.kind == EntryKind::Dir => {
                    // A mount point cannot be taken out with the rest; this fails for one.
                    stack.push((beneath::open_dir_of_same_mount(dir.as_fd(), &name)?, here));
                }
                Some(_) | None => return Ok(false),
            }
        }
    }
    Ok(seen == expected.len())
}
