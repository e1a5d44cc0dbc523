//! The project's own `.iterion`, in which a staging area lies: what a restore made of it goes with the area, and what was
//! there before stays as it was.

use std::os::fd::BorrowedFd;

use rustix::fs::{Access, AtFlags};

use super::salvage::names_in;
use crate::store::relpath::RelPathBuf;
use crate::store::{fsio, layout};
use crate::tree::beneath;
use crate::tree::root::Workspace;
use crate::tree::stat::FileStat;

/// Removes `.iterion` if nothing is in it and it is as we make it: then it was made for a staging area.
pub(super) fn remove_empty_project_dir(workspace: &Workspace) {
    if !is_empty_project_dir_of_ours(workspace) {
        return;
    }
    // It stays, without a word, if somebody has put something in it.
    let _ =
        while_writable(workspace.fd(), b".", || fsio::remove_dir(workspace.fd(), layout::PROJECT_DIR.as_bytes()));
}

/// Whether `.iterion` is empty, and has the owner and the mode that we give to it: one that somebody made for
/// themselves is theirs.
pub(super) fn is_empty_project_dir_of_ours(workspace: &Workspace) -> bool {
    let project = RelPathBuf::join(None, layout::PROJECT_DIR.as_bytes());
    let Ok(dir) = beneath::open_dir(workspace.fd(), Some(&project)) else { return false };
    let is_ours = rustix::fs::fstat(&dir)
        .map(FileStat::from)
        .is_ok_and(|stat| stat.mode == fsio::DIR_MODE && stat.uid == rustix::process::geteuid().as_raw());
    is_ours && names_in(&dir).is_ok_and(|names| names.is_empty())
}

/// Does `work` in a directory; a read-only one of ours is made writable for that long.
pub(super) fn while_writable<T>(dir: BorrowedFd<'_>, name: &[u8], work: impl FnOnce() -> T) -> T {
    let is_writable = rustix::fs::accessat(dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok();
    let stat = rustix::fs::fstat(dir).map(FileStat::from).ok();
    let own = rustix::process::geteuid().as_raw();
    let lifted = stat.filter(|stat| !is_writable && stat.uid == own);
    if let Some(stat) = &lifted {
        // If that is refused, so is the work, and says so.
        let _ = fsio::set_mode_of_dir(dir, stat.mode | 0o700, name);
    }
    let done = work();
    if let Some(stat) = &lifted {
        let _ = fsio::set_mode_of_dir(dir, stat.mode, name);
    }
    done
}
