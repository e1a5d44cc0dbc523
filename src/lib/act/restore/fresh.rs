//! Whole directories that are not there: each is staged with all that the target has in it, and comes to its place in one
//! rename. What an emptied workspace gets back is that, and little else.
//!
//! ```text
//! .iterion/restore-<id>/n<k>/...   -- rename, unless something is there -->   <missing directory>/...
//! ```
//!
//! Somebody may have made the directory meanwhile. Then it is theirs, and each path gets its place by itself, unless
//! something is there. The same is done from the beginning where a directory hands its group or an access control list
//! down: what is made in the staging area would not get them.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::bulk::{Batches, NewFile, Staging};
use super::dirs::IMPLIED_MODE;
use super::plan::Reason;
use super::stage::{self, Item};
use super::swap::{Outcome, Swapper, or_left};
use super::undo::Undo;
use crate::error::{IoContext, Result};
use crate::history::manifest::{Entry, Node};
use crate::store::fsio;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::tree::beneath;

/// A staged directory.
pub(super) struct Fresh {
    /// The directory, if it was staged whole.
    tree: Option<Item>,
    /// Entries that were staged by themselves, and their steps; an empty directory is made in its place.
    singles: Vec<(usize, usize, Option<Item>)>,
}

impl Fresh {
    /// Everything in the staging area, and the entry that it is; `None` for the whole directory.
    pub(super) fn items(&self) -> impl Iterator<Item = (&Item, Option<usize>)> {
        let singles = self.singles.iter().filter_map(|(entry, _, item)| Some((item.as_ref()?, Some(*entry))));
        self.tree.iter().map(|item| (item, None)).chain(singles)
    }
}

impl<'t> Swapper<'_, 't> {
    /// Stages a missing directory with all that goes into it; what goes into the staging area is only added to `batches`.
    pub(super) fn stage_new_tree(
        &mut self,
        staging: Staging<'_>,
        root: &RelPathBuf,
        entries: &[(usize, usize)],
        batches: &mut Batches<'t>,
    ) -> Result<Fresh> {
        let is_plain = stage::hands_nothing_down(self.area.dir.as_fd())
            && self.dirs.with_parent(root, |dir| Ok(stage::hands_nothing_down(dir))).unwrap_or(false);
        if !is_plain {
            return self.stage_singly(staging, entries);
        }
        let item = self.area.item('n', root, &mut self.dirs).on("cannot stage", root.as_path())?;
        let top = Arc::new(self.item_dir(&item).on("cannot stage", root.as_path())?);
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
        Ok(Fresh { tree: Some(item), singles: Vec::new() })
    }

    /// Stages everything that was gathered.
    pub(super) fn write_all(&mut self, batches: &Batches<'t>, staging: Staging<'_>) -> Result<()> {
        self.taken.extend(batches.write(staging)?.into_iter().map(|entry| &*entry.path));
        Ok(())
    }

    fn stage_singly(&mut self, staging: Staging<'_>, entries: &[(usize, usize)]) -> Result<Fresh> {
        let mut singles = Vec::new();
        for (number, step) in entries {
            let item = self.stage_put(staging.pool, *number, None, staging.durability)?;
            singles.push((*number, *step, item));
        }
        Ok(Fresh { tree: None, singles })
    }

    /// Gives a staged directory its place.
    pub(super) fn create_tree(
        &mut self,
        root: &RelPathBuf,
        entries: &[(usize, usize)],
        fresh: &Fresh,
    ) -> io::Result<Outcome> {
        let mut left = Vec::new();
        if let Some(item) = &fresh.tree {
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
        }
        let is_taken = |number: usize| self.entry(number).is_ok_and(|entry| self.taken.contains(&*entry.path));
        let taken = entries.iter().filter(|(number, _)| is_taken(*number));
        left.extend(taken.map(|(_, step)| (*step, Reason::Collision)));
        for (number, step, item) in &fresh.singles {
            let Some(entry) = self.target.entries.get(*number) else { continue };
            self.dirs.forget_all();
            let done = self.create(&entry.path, *number, item.as_ref());
            note_left(&mut left, *step, or_left(done)?);
        }
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
        let from = beneath::open_dir(top.as_fd(), Some(from))?;
        match self.dirs.with_parent(path, |dir| fsio::rename_new(from.as_fd(), name, dir, name)) {
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
    /// The directory that was asked for last.
    last: Option<RelPathBuf>,
    /// Where that is staged.
    inside: RelPathBuf,
}

impl<'a> NewDirs<'a> {
    fn new(top: &'a OwnedFd, root: &'a RelPath, name: &'a RelPath) -> Self {
        Self { top, root, name, last: None, inside: name.to_owned() }
    }

    /// Makes a directory and those above it, as far as they are not made yet: the paths below one come in a row. Says
    /// where it is staged.
    fn make(&mut self, dir: &RelPath) -> io::Result<&RelPath> {
        let last = self.last.as_deref();
        if last != Some(dir) {
            let is_made = |dir: &RelPath| last.is_some_and(|last| last.is_within(dir));
            let above = std::iter::once(dir).chain(dir.ancestors());
            let missing: Vec<&RelPath> =
                above.take_while(|dir| dir.is_within(self.root) && !is_made(dir)).collect();
            for dir in missing.into_iter().rev() {
                self.make_one(&inside(self.name, self.root, dir))?;
            }
            self.inside = inside(self.name, self.root, dir);
            self.last = Some(dir.to_owned());
        }
        Ok(&self.inside)
    }

    fn make_one(&self, inside: &RelPath) -> io::Result<()> {
        let opened = match inside.parent() {
            Some(parent) => Some(beneath::open_dir(self.top.as_fd(), Some(parent))?),
            None => None,
        };
        let parent = opened.as_ref().unwrap_or(self.top);
        match fsio::make_dir(parent.as_fd(), inside.file_name(), IMPLIED_MODE) {
            // The disk takes its name for that of another one, and so both are one.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }
}
