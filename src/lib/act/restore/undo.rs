//! Taking swaps back: `--all-or-nothing` leaves everything as it was.
//!
//! What comes back into the area may hold what somebody wrote since the swap, so it counts as nobody's copy: the
//! clearing looks at its bytes.

use std::os::fd::AsFd;

use rustix::fs::{Gid, Uid};

use super::compare::refuse_mounts;
use super::stage::Item;
use super::swap::Swapper;
use crate::error::{IoContext, Result};
use crate::store::fsio;
use crate::store::relpath::RelPathBuf;
use crate::stream::record::EntryKind;
use crate::tree::stat::FileStat;

/// How to take a swap back.
pub(super) enum Undo {
    /// Exchanges the item with what is at the path.
    Exchange(Item, RelPathBuf),
    /// Takes what is at the path out, under the item's name.
    TakeOut(Item, RelPathBuf),
    /// Puts the item where nothing is.
    PutBack(Item, RelPathBuf),
    /// Sets the mode.
    Mode(RelPathBuf, u32),
    /// Removes a directory that was made.
    RemoveDir(RelPathBuf),
    /// Makes a directory anew that could not be moved aside, with what can be given to it of what it had.
    MakeDir(RelPathBuf, FileStat),
}

impl Undo {
    fn path(&self) -> &RelPathBuf {
        match self {
            Self::Exchange(_, path)
            | Self::TakeOut(_, path)
            | Self::PutBack(_, path)
            | Self::Mode(path, _)
            | Self::RemoveDir(path)
            | Self::MakeDir(path, _) => path,
        }
    }
}

impl Swapper<'_, '_> {
    /// Takes back everything that was swapped, the last first (`--all-or-nothing`).
    pub(super) fn take_back(&mut self) -> Result<()> {
        while let Some(undo) = self.undo.pop() {
            let done = match &undo {
                Undo::Exchange(item, path) => self.item_dir(item).and_then(|from| {
                    self.dirs.forget(path);
                    let name = path.file_name();
                    self.dirs.with_parent(path, |dir| {
                        refuse_mounts(dir, name)?;
                        fsio::exchange(from.as_fd(), item.name.as_bytes(), dir, name).map(drop)
                    })
                }),
                Undo::TakeOut(item, path) => self.item_dir(item).and_then(|from| {
                    let name = path.file_name();
                    self.dirs.with_parent(path, |dir| {
                        refuse_mounts(dir, name)?;
                        fsio::rename_new(dir, name, from.as_fd(), item.name.as_bytes())
                    })
                }),
                Undo::PutBack(item, path) => self.item_dir(item).and_then(|from| {
                    let name = path.file_name();
                    self.dirs
                        .with_parent(path, |dir| fsio::rename_new(from.as_fd(), item.name.as_bytes(), dir, name))
                }),
                Undo::Mode(path, mode) => self.dirs.with_parent(path, |dir| {
                    let fd = fsio::open_read(dir, path.file_name())?;
                    let is_dir = FileStat::from(rustix::fs::fstat(&fd)?).kind == EntryKind::Dir;
                    let set_mode = if is_dir { fsio::set_mode_of_dir } else { fsio::set_mode };
                    set_mode(fd.as_fd(), *mode, path.file_name())
                }),
                Undo::RemoveDir(path) => {
                    self.dirs.forget(path);
                    self.dirs.with_parent(path, |dir| fsio::remove_dir(dir, path.file_name()))
                }
                Undo::MakeDir(path, was) => self.dirs.with_parent(path, |dir| {
                    fsio::make_dir(dir, path.file_name(), was.mode)?;
                    if let Ok(made) = fsio::open_dir(dir, path.file_name()) {
                        let (uid, gid) = (Uid::from_raw(was.uid), Gid::from_raw(was.gid));
                        // Only root gives directories away.
                        let _ = fsio::set_owner(&made.into(), Some(uid), Some(gid));
                    }
                    Ok(())
                }),
            };
            done.on("cannot take back", undo.path().as_path())?;
        }
        Ok(())
    }
}
