//! Whole directories that are not there: each is staged with all that the target has in it, and comes to its place in one
//! rename. What an emptied workspace gets back is that, and little else.
//!
//! ```text
//! .iterion/restore-<id>/n<k>/...   -- rename, unless something is there -->   <missing directory>/...
//! ```
//!
//! Somebody may have made the directory meanwhile. Then it is theirs, and each path gets its place by itself, unless
//! something is there. Where a directory hands its group or an access control list down, what goes into it is staged in
//! it and not in the staging area, and so gets what anything gets that is made there.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::bulk::{Batches, NewFile, Staging};
use super::plan::Reason;
use super::stage::{self, Item};
use super::swap::{Outcome, Swapper, or_left};
use super::undo::Undo;
use crate::error::{IoContext, Result};
use crate::history::manifest::{Entry, Node};
use crate::store::fsio;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::tree::beneath;
use crate::tree::stat::stat_at;

impl<'t> Swapper<'_, 't> {
    /// Stages a missing directory with all that goes into it; what goes into the staging area is only added to `batches`.
    pub(super) fn stage_new_tree(
        &mut self,
        staging: Staging<'_>,
        root: &RelPathBuf,
        entries: &[(usize, usize)],
        batches: &mut Batches<'t>,
    ) -> Result<Item> {
        let item = self.tree_item(root).on("cannot stage", root.as_path())?;
        // The directory that it lies in may have to be made writable.
        let make = |dir: BorrowedFd<'_>, name: &[u8]| fsio::make_child_dir(dir, name, None);
        self.area.with_item(&item, &mut self.dirs, make).on("cannot stage", root.as_path())?;
        let top = self.item_dir(&item).on("cannot stage", root.as_path())?;
        let name = RelPathBuf::join(None, item.name.as_bytes());
        let mut dirs = NewDirs::new(&top, root, &name);
        let mut beside = Batches::new(Arc::clone(&top));
        let batches = if item.beside.is_some() { &mut beside } else { batches };
        for (number, _) in entries {
            let entry = self.entry(*number)?;
            let Some(parent) = entry.path.parent() else { continue };
            let inside = dirs.make(parent).on("cannot stage", entry.path.as_path())?;
            let name = Cow::Borrowed(entry.path.file_name());
            batches.push(Some(inside), NewFile { name, entry, like: None });
        }
        self.write_all(&beside, staging)?;
        Ok(item)
    }

    /// A name for a whole directory that is to be staged where what it holds gets what it would get in its place.
    pub(super) fn tree_item(&mut self, root: &RelPath) -> io::Result<Item> {
        let hands_something_down = !stage::hands_nothing_down(self.area.dir.as_fd())
            || self.dirs.with_parent(root, |dir| Ok(!stage::hands_nothing_down(dir))).unwrap_or(false);
        if hands_something_down {
            return self.area.item_beside('n', root, &mut self.dirs);
        }
        self.area.item('n', root, &mut self.dirs)
    }

    /// Stages everything that was gathered.
    pub(super) fn write_all(&mut self, batches: &Batches<'t>, staging: Staging<'_>) -> Result<()> {
        self.taken.extend(batches.write(staging)?.into_iter().map(|entry| &*entry.path));
        Ok(())
    }

    /// Gives a staged directory its place.
    pub(super) fn create_tree(
        &mut self,
        root: &RelPathBuf,
        entries: &[(usize, usize)],
        item: &Item,
    ) -> io::Result<Outcome> {
        let mut left = Vec::new();
        if item.beside.is_some() && stat_at(self.item_dir(item)?.as_fd(), item.name.as_bytes())?.is_none() {
            // The directory that it lies in was moved away.
            return Err(io::ErrorKind::NotFound.into());
        }
        for made in self.dirs.make_parents(root)? {
            self.undo.push(Undo::RemoveDir(made));
        }
        match self.move_in(item, root) {
            Ok(()) => self.placed_unseen.extend(entries.iter().map(|(number, _)| *number)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.spread(item, root, entries, &mut left)?;
            }
            Err(error) => return Err(error),
        }
        let is_taken = |number: usize| self.entry(number).is_ok_and(|entry| self.taken.contains(&*entry.path));
        let taken = entries.iter().filter(|(number, _)| is_taken(*number));
        left.extend(taken.map(|(_, step)| (*step, Reason::Collision)));
        Ok(if left.is_empty() { Outcome::Done } else { Outcome::Partly(left) })
    }

    /// Somebody made the directory meanwhile: each path of the staged one gets its place by itself. What does not stays in
    /// the staging area, and is a copy of an object like all that is there.
    fn spread(
        &mut self,
        item: &Item,
        root: &RelPathBuf,
        entries: &[(usize, usize)],
        left: &mut Vec<(usize, Reason)>,
    ) -> io::Result<()> {
        let top = self.item_dir(item)?;
        let name = RelPathBuf::join(None, item.name.as_bytes());
        for (number, step) in entries {
            let Some(entry) = self.target.entries.get(*number) else { continue };
            if self.taken.contains(&*entry.path) {
                continue;
            }
            self.dirs.forget_all();
            let from = inside(&name, root, entry.path.parent().unwrap_or(root));
            let outcome = match self.spread_one(&top, &from, *number, entry) {
                // What they made is a mount, even.
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => Outcome::Left(Reason::Changed),
                done => or_left(done)?,
            };
            note_left(left, *step, outcome);
        }
        Ok(())
    }

    fn spread_one(&mut self, top: &OwnedFd, from: &RelPath, number: usize, entry: &Entry) -> io::Result<Outcome> {
        let (path, name) = (&entry.path, entry.path.file_name());
        for made in self.dirs.make_parents(path)? {
            self.undo.push(Undo::RemoveDir(made));
        }
        let done = match &entry.node {
            // Empty, and perhaps not writable, as it would have to be to be moved.
            Node::Dir => self.dirs.with_parent(path, |dir| fsio::make_child_dir(dir, name, Some(entry.mode))),
            Node::File { .. } | Node::Link { .. } => {
                let from = beneath::open_dir(top.as_fd(), Some(from))?;
                self.dirs.with_parent(path, |dir| fsio::rename_new(from.as_fd(), name, dir, name))
            }
        };
        match done {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return self.left_to_another(path),
            Err(error) => return Err(error),
        }
        self.placed_unseen.push(number);
        self.undo.push(if entry.node == Node::Dir {
            Undo::RemoveDir(path.clone())
        } else {
            // A name of its own: what is taken back may have been written to, and is no mere copy then.
            Undo::TakeOut(self.area.item('d', path, &mut self.dirs)?, path.clone())
        });
        Ok(Outcome::Done)
    }
}

fn note_left(left: &mut Vec<(usize, Reason)>, step: usize, outcome: Outcome) {
    match outcome {
        Outcome::Done => {}
        Outcome::Left(reason) => left.push((step, reason)),
        Outcome::Partly(more) => left.extend(more),
    }
}

/// Where a directory below `root` is staged, `name` being where `root` is.
fn inside(name: &RelPath, root: &RelPath, dir: &RelPath) -> RelPathBuf {
    let depth = root.components().count();
    dir.components().skip(depth).fold(name.to_owned(), |path, part| RelPathBuf::join(Some(&path), part))
}

/// The directories of a tree that is being staged, made in the order of the paths in them.
struct NewDirs<'a> {
    top: &'a OwnedFd,
    root: &'a RelPath,
    name: &'a RelPath,
    /// The directory that was asked for last; the first of them is made already.
    last: RelPathBuf,
    /// Where that is staged.
    inside: RelPathBuf,
}

impl<'a> NewDirs<'a> {
    fn new(top: &'a OwnedFd, root: &'a RelPath, name: &'a RelPath) -> Self {
        Self { top, root, name, last: root.to_owned(), inside: name.to_owned() }
    }

    /// Makes a directory and those above it, as far as they are not made yet: the paths below one come in a row. Says
    /// where it is staged.
    fn make(&mut self, dir: &RelPath) -> io::Result<&RelPath> {
        if *self.last != *dir {
            let is_made = |dir: &RelPath| self.last.is_within(dir);
            let above = std::iter::once(dir).chain(dir.ancestors());
            let missing: Vec<&RelPath> =
                above.take_while(|dir| dir.is_within(self.root) && !is_made(dir)).collect();
            for dir in missing.into_iter().rev() {
                self.make_one(&inside(self.name, self.root, dir))?;
            }
            self.inside = inside(self.name, self.root, dir);
            self.last = dir.to_owned();
        }
        Ok(&self.inside)
    }

    fn make_one(&self, inside: &RelPath) -> io::Result<()> {
        let opened = match inside.parent() {
            Some(parent) => Some(beneath::open_dir(self.top.as_fd(), Some(parent))?),
            None => None,
        };
        let parent = opened.as_ref().unwrap_or(self.top);
        match fsio::make_child_dir(parent.as_fd(), inside.file_name(), None) {
            // The disk takes its name for that of another one, and so both are one.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }
}
