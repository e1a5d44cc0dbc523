//! The swap of one path: create, exchange, chmod, remove; each is one step that leaves old or new, whole.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use super::compare::{TreeState, compare_tree, is_planned, is_untouched};
use super::dirs::Dirs;
use super::plan::Reason;
use super::salvage::names_in;
use super::stage::Item;
use super::swap::{Outcome, Swapper, is_refusal};
use super::undo::Undo;
use crate::store::fsio::{self, Exchanged};
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::store::seam;
use crate::stream::record::{EntryKind, Record};
use crate::tree::stat::{FileStat, stat_at};

/// Whether what came out of an exchange is what the plan saw.
type IsRight<'a> = &'a dyn Fn(BorrowedFd<'_>, &[u8], &FileStat) -> bool;

impl Swapper<'_, '_> {
    pub(super) fn create(&mut self, path: &RelPathBuf, entry: usize, staged: Option<&Item>) -> io::Result<Outcome> {
        for made in self.dirs.make_parents(path)? {
            self.undo.push(Undo::RemoveDir(made));
        }
        let name = path.file_name();
        let done = if let Some(item) = staged {
            self.move_in(item, path)
        } else {
            let mode = self.target.entries.get(entry).map_or(0o755, |entry| entry.mode);
            let created = self.dirs.with_parent(path, |dir| fsio::make_child_dir(dir, name, Some(mode)));
            if created.is_ok() {
                self.undo.push(Undo::RemoveDir(path.clone()));
            }
            created
        };
        match done {
            Ok(()) => {
                self.placed_unseen.push(entry);
                Ok(Outcome::Done)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.left_to_another(path),
            Err(error) => Err(error),
        }
    }

    /// Why a path is left whose name is taken.
    pub(super) fn left_to_another(&mut self, path: &RelPath) -> io::Result<Outcome> {
        let stat = self.dirs.with_parent(path, |dir| stat_at(dir, path.file_name()))?;
        let is_ours = stat.is_some_and(|stat| self.is_placed(&stat));
        Ok(Outcome::Left(if is_ours { Reason::Collision } else { Reason::Changed }))
    }

    /// Whether this inode was just put in place. Those that came where nothing was are looked at only now: hardly ever does
    /// anybody ask.
    fn is_placed(&mut self, stat: &FileStat) -> bool {
        for number in std::mem::take(&mut self.placed_unseen) {
            let Some(entry) = self.target.entries.get(number) else { continue };
            let placed = self.dirs.with_parent(&entry.path, |dir| stat_at(dir, entry.path.file_name()));
            if let Ok(Some(placed)) = placed {
                self.placed.insert((placed.device, placed.inode));
            }
        }
        self.placed.contains(&(stat.device, stat.inode))
    }

    /// Gives a staged item its place where nothing is.
    pub(super) fn move_in(&mut self, item: &Item, path: &RelPathBuf) -> io::Result<()> {
        let name = path.file_name();
        let from = self.item_dir(item)?;
        self.dirs.with_parent(path, |dir| fsio::rename_new(from.as_fd(), item.name.as_bytes(), dir, name))?;
        self.clearing.copies.remove(&item.name);
        self.undo.push(Undo::TakeOut(item.clone(), path.clone()));
        Ok(())
    }

    /// Exchanges a staged item with what is at `path`, if that is what the plan saw, before and after.
    pub(super) fn exchange(
        &mut self,
        item: &Item,
        path: &RelPathBuf,
        is_right: IsRight<'_>,
        old: &Record,
    ) -> io::Result<Outcome> {
        let name = path.file_name();
        let before = self.dirs.with_parent(path, |dir| stat_at(dir, name))?;
        if !before.is_some_and(|stat| self.is_untouched(&stat, old)) {
            return Ok(Outcome::Left(Reason::Changed));
        }
        seam::hook("before-exchange");
        self.exchange_now(item, path, is_right)
    }

    fn exchange_now(&mut self, item: &Item, path: &RelPathBuf, is_right: IsRight<'_>) -> io::Result<Outcome> {
        match self.exchange_once(item, path, is_right) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && self.let_dirs_move(item, path)? => {
                self.exchange_once(item, path, is_right)
            }
            done => done,
        }
    }

    /// A directory gets another parent only where it is writable itself: read-only ones of ours are made so until the end.
    fn let_dirs_move(&mut self, item: &Item, path: &RelPathBuf) -> io::Result<bool> {
        let from = self.item_dir(item)?;
        let here = self.dirs.with_parent(path, |dir| fsio::open_dir(dir, path.file_name()));
        let mut is_lifted = false;
        for dir in [here, fsio::open_dir(from.as_fd(), item.name.as_bytes())].into_iter().flatten() {
            is_lifted |= self.dirs.lift_opened(dir, Some(path))?;
        }
        Ok(is_lifted)
    }

    fn exchange_once(&mut self, item: &Item, path: &RelPathBuf, is_right: IsRight<'_>) -> io::Result<Outcome> {
        let name = path.file_name();
        let from = self.item_dir(item)?;
        let ours = stat_at(from.as_fd(), item.name.as_bytes())?.map(|stat| (stat.device, stat.inode));
        let swapped =
            self.dirs.with_parent(path, |dir| fsio::exchange(from.as_fd(), item.name.as_bytes(), dir, name));
        match swapped {
            Ok(Exchanged::Yes) => {}
            Ok(Exchanged::Unsupported) => return self.replace_without_exchange(item, path, is_right),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Left(Reason::Changed)),
            Err(error) => return Err(error),
        }
        self.clearing.copies.remove(&item.name);
        let displaced = stat_at(from.as_fd(), item.name.as_bytes())?;
        if let Some(stat) = displaced
            && is_right(from.as_fd(), item.name.as_bytes(), &stat)
        {
            self.note_displaced(&stat);
            self.undo.push(Undo::Exchange(item.clone(), path.clone()));
            self.dirs.forget(path);
            self.placed.extend(ours);
            return Ok(Outcome::Done);
        }
        // Somebody saved in between. Both go back; if what comes out then is not ours, somebody saved again: theirs
        // goes back in, and what is left here is kept by the clearing, which stores what has no copy.
        seam::hook("before-exchange-back");
        for _ in 0..2 {
            self.dirs.with_parent(path, |dir| fsio::exchange(from.as_fd(), item.name.as_bytes(), dir, name))?;
            let out = stat_at(from.as_fd(), item.name.as_bytes())?.map(|stat| (stat.device, stat.inode));
            if out == ours {
                break;
            }
        }
        Ok(Outcome::Left(Reason::Changed))
    }

    /// Without an exchange a file is replaced by a plain rename, behind one more look; it keeps a second name in the area,
    /// so that the clearing can still ask its bytes. A directory goes out before the new file comes in.
    fn replace_without_exchange(
        &mut self,
        item: &Item,
        path: &RelPathBuf,
        is_right: IsRight<'_>,
    ) -> io::Result<Outcome> {
        let name = path.file_name();
        let from = self.item_dir(item)?;
        let out = self.new_item('d', path, item)?;
        let out_dir = self.item_dir(&out)?;
        let is_dir = |stat: Option<FileStat>| stat.is_some_and(|stat| stat.kind == EntryKind::Dir);
        let goes_out = is_dir(self.dirs.with_parent(path, |dir| stat_at(dir, name))?)
            || is_dir(stat_at(from.as_fd(), item.name.as_bytes())?);
        if goes_out {
            self.dirs.with_parent(path, |dir| fsio::rename_new(dir, name, out_dir.as_fd(), out.name.as_bytes()))?;
        } else {
            // Not every file system has hard links; the rename is whole without it.
            let _ =
                self.dirs.with_parent(path, |dir| fsio::link_new(dir, name, out_dir.as_fd(), out.name.as_bytes()));
        }
        let now = if goes_out {
            stat_at(out_dir.as_fd(), out.name.as_bytes())?
        } else {
            self.dirs.with_parent(path, |dir| stat_at(dir, name))?
        };
        if now.is_some_and(|stat| is_right(out_dir.as_fd(), out.name.as_bytes(), &stat)) {
            let moved = self.dirs.with_parent(path, |dir| {
                let rename = if goes_out { fsio::rename_new } else { fsio::rename };
                rename(from.as_fd(), item.name.as_bytes(), dir, name)
            });
            if moved.is_ok() {
                self.clearing.copies.remove(&item.name);
                self.dirs.forget(path);
                self.undo.push(Undo::PutBack(out, path.clone()));
                self.undo.push(Undo::TakeOut(item.clone(), path.clone()));
                return Ok(Outcome::Done);
            }
        }
        if goes_out {
            self.dirs.with_parent(path, |dir| fsio::rename_new(out_dir.as_fd(), out.name.as_bytes(), dir, name))?;
        }
        Ok(Outcome::Left(Reason::Changed))
    }

    pub(super) fn exchange_tree(
        &mut self,
        item: &Item,
        path: &RelPathBuf,
        removed: &[(Record, usize)],
    ) -> io::Result<Outcome> {
        let expected: HashMap<&RelPath, &Record> =
            removed.iter().map(|(record, _)| (&*record.path, record)).collect();
        let is_right = |dir: BorrowedFd<'_>, name: &[u8], stat: &FileStat| {
            stat.kind == EntryKind::Dir
                && fsio::open_dir(dir, name)
                    .is_ok_and(|tree| matches!(compare_tree(&tree, path, &expected), Ok(TreeState::AsPlanned)))
        };
        let at = self.dirs.with_parent(path, |dir| fsio::open_dir(dir, path.file_name()))?;
        match compare_tree(&at, path, &expected)? {
            TreeState::AsPlanned => {}
            TreeState::Changed => return Ok(Outcome::Left(Reason::Changed)),
            TreeState::Guarded => return Ok(Outcome::Left(Reason::Denied)),
        }
        seam::hook("before-exchange");
        self.exchange_now(item, path, &is_right)
    }

    pub(super) fn chmod(&mut self, path: &RelPathBuf, entry: usize, old: &Record) -> io::Result<Outcome> {
        let mode = self.target.entries.get(entry).map_or(old.mode, |entry| entry.mode);
        let name = path.file_name();
        let is_dir = old.kind == EntryKind::Dir;
        let opened = self
            .dirs
            .with_parent(path, |dir| if is_dir { fsio::open_dir(dir, name) } else { fsio::open_read(dir, name) });
        let fd = match opened {
            Ok(fd) => fd,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Left(Reason::Changed)),
            Err(error) => return Err(error),
        };
        let stat = FileStat::from(rustix::fs::fstat(&fd)?);
        let same = if is_dir { Some(stat.inode) == old.inode } else { self.is_untouched(&stat, old) };
        if !same {
            return Ok(Outcome::Left(Reason::Changed));
        }
        let set_mode = if is_dir { fsio::set_mode_of_dir } else { fsio::set_mode };
        set_mode(fd.as_fd(), mode, name)?;
        self.dirs.note_mode(path, mode);
        self.undo.push(Undo::Mode(path.clone(), old.mode));
        Ok(Outcome::Done)
    }

    pub(super) fn remove(&mut self, path: &RelPathBuf, old: &Record) -> io::Result<Outcome> {
        let name = path.file_name();
        let before = self.dirs.with_parent(path, |dir| stat_at(dir, name));
        match before {
            // It is gone already, which is all that was wanted.
            Ok(None) => return Ok(Outcome::Done),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Done),
            // It has the inode and the times that the plan saw: nothing that was made since.
            Ok(Some(stat)) if self.is_untouched(&stat, old) => {}
            Ok(Some(stat)) if self.is_placed(&stat) => return Ok(Outcome::Done),
            Ok(Some(_)) => return Ok(Outcome::Left(Reason::Changed)),
            Err(error) => return Err(error),
        }
        seam::hook("before-remove");
        let out = self.area.item('d', path, &mut self.dirs)?;
        let out_dir = self.item_dir(&out)?;
        let moved =
            self.dirs.with_parent(path, |dir| fsio::rename_new(dir, name, out_dir.as_fd(), out.name.as_bytes()));
        match moved {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Done),
            Err(error) => return Err(error),
        }
        let displaced = stat_at(out_dir.as_fd(), out.name.as_bytes())?;
        match displaced {
            Some(stat) if is_planned(&stat, old) => {
                self.note_displaced(&stat);
                self.undo.push(Undo::PutBack(out, path.clone()));
                Ok(Outcome::Done)
            }
            _ => self.bring_back(&out_dir, &out, path),
        }
    }

    fn note_displaced(&mut self, stat: &FileStat) {
        if stat.links > 1 {
            self.moved.insert((stat.device, stat.inode), stat.ctime_ns);
        }
    }

    /// Whether a path is exactly as the plan saw it, but for what we ourselves did to another name of its inode.
    fn is_untouched(&self, stat: &FileStat, planned: &Record) -> bool {
        let ours = self.moved.get(&(stat.device, stat.inode));
        is_untouched(stat, planned)
            || (is_planned(stat, planned) && ours.is_some_and(|ctime| *ctime == stat.ctime_ns))
    }

    pub(super) fn remove_dir(&mut self, path: &RelPathBuf) -> io::Result<Outcome> {
        let name = path.file_name();
        self.dirs.forget(path);
        let was = match self.dirs.with_parent(path, |dir| stat_at(dir, name)) {
            Ok(Some(stat)) if stat.kind == EntryKind::Dir => stat,
            Ok(Some(_)) => return Ok(Outcome::Left(Reason::Changed)),
            Ok(None) => return Ok(Outcome::Done),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Done),
            Err(error) => return Err(error),
        };
        seam::hook("before-remove-dir");
        if self.may_take_back {
            match self.move_dir_aside(path) {
                // On another mount, or of somebody else: what is taken back then is made anew.
                Err(error) if is_refusal(&error) || error.kind() == io::ErrorKind::CrossesDevices => {}
                done => return done,
            }
        }
        match self.dirs.with_parent(path, |dir| fsio::remove_dir(dir, name)) {
            Ok(()) => {
                self.undo.push(Undo::MakeDir(path.clone(), was));
                Ok(Outcome::Done)
            }
            Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::NOENT) => Ok(Outcome::Done),
                // Something came into it, or stays in it because it changed.
                Some(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(Outcome::Left(Reason::Changed)),
                _ => Err(error),
            },
        }
    }

    /// Takes an empty directory out into the area, where it is removed at the end, so that it can come back as it was.
    fn move_dir_aside(&mut self, path: &RelPathBuf) -> io::Result<Outcome> {
        let name = path.file_name();
        let dir = self.dirs.with_parent(path, |dir| fsio::open_dir(dir, name))?;
        if !names_in(&dir)?.is_empty() {
            return Ok(Outcome::Left(Reason::Changed));
        }
        let out = self.area.item('d', path, &mut self.dirs)?;
        if out.beside.is_some() {
            // Beside where it was it would be in the way when the directory above it is to go.
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        let out_dir = self.item_dir(&out)?;
        let take_out = |dirs: &mut Dirs<'_>| {
            dirs.with_parent(path, |dir| fsio::rename_new(dir, name, out_dir.as_fd(), out.name.as_bytes()))
        };
        let moved = match take_out(&mut self.dirs) {
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied && self.dirs.lift_opened(dir, Some(path))? =>
            {
                take_out(&mut self.dirs)
            }
            done => done,
        };
        match moved {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Done),
            Err(error) => return Err(error),
        }
        let names = fsio::open_dir(out_dir.as_fd(), out.name.as_bytes()).and_then(|dir| names_in(&dir));
        if names.is_ok_and(|names| names.is_empty()) {
            self.undo.push(Undo::PutBack(out, path.clone()));
            return Ok(Outcome::Done);
        }
        self.bring_back(&out_dir, &out, path)
    }

    /// What came out is not what was planned, and goes back. If the name is taken again, the clearing keeps it.
    fn bring_back(&mut self, out_dir: &OwnedFd, out: &Item, path: &RelPathBuf) -> io::Result<Outcome> {
        let back = self
            .dirs
            .with_parent(path, |dir| fsio::rename_new(out_dir.as_fd(), out.name.as_bytes(), dir, path.file_name()));
        match back {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(Outcome::Left(Reason::Changed)),
        }
    }

    fn new_item(&mut self, kind: char, path: &RelPathBuf, like: &Item) -> io::Result<Item> {
        match like.beside {
            None => self.area.item(kind, path, &mut self.dirs),
            Some(_) => self.area.item_beside(kind, path, &mut self.dirs),
        }
    }

    /// The directory that an item lies in.
    pub(super) fn item_dir(&mut self, item: &Item) -> io::Result<Arc<OwnedFd>> {
        match &item.beside {
            None => Ok(Arc::clone(&self.area.dir)),
            Some(parent) => self.dirs.with(parent.as_deref(), |dir| dir.try_clone_to_owned()).map(Arc::new),
        }
    }
}
