//! Staging of everything that a plan puts in place, before anything is swapped.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use super::bulk::{Batches, NewFile, Staging};
use super::plan::{Op, Plan, Work};
use super::stage::{self, Item};
use super::swap::Swapper;
use crate::error::{Error, IoContext, Kind, Result};
use crate::history::manifest::{Entry, Node};
use crate::store::fsio::{self, Durability};
use crate::store::pool::Pool;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::quote;
use crate::stream::record::{EntryKind, Record};
use crate::tree::stat::stat_at;

impl<'t> Swapper<'_, 't> {
    /// Writes all new content under temporary names. Nothing is swapped before all of it is there.
    pub(super) fn stage(&mut self, plan: &Plan, pool: &Pool, durability: Durability) -> Result<()> {
        let mut lines = Vec::new();
        // One flush for many files, each for few.
        let count = plan.written_entries().count();
        let each = if count <= FLUSH_EACH_MAX { durability } else { Durability::Off };
        let staging = Staging { workspace: self.workspace, pool, durability: each };
        let mut batches = self.batches();
        for (number, op) in plan.ops.iter().enumerate() {
            if let Some((entry, like)) = self.bulk_entry(op)? {
                let at = entry.path.as_path();
                let item = self.area.item('n', &entry.path, &mut self.dirs).on("cannot stage", at)?;
                self.note_staged(number, &item);
                if item.beside.is_none() {
                    let name = Cow::Owned(item.name.into_bytes());
                    batches.push(None, NewFile { name, entry, like });
                } else {
                    let like = like.and_then(|path| stage::open_like(self.workspace, path));
                    self.write(pool, entry, &item, like.as_ref(), each)?;
                }
            } else {
                self.stage_op(staging, number, op, &mut batches)?;
            }
            if let Some(item) = self.staged.get(&number).filter(|item| item.beside.is_none()) {
                push_item_line(&mut lines, &item.name, &op.path);
            }
        }
        self.write_all(&batches, staging)?;
        if durability == Durability::Flushed && count > FLUSH_EACH_MAX {
            fsio::flush_file_system(self.area.dir.as_fd(), b"the staging area")
                .on("cannot flush", self.area.path.as_path())?;
        }
        lines.extend_from_slice(b"swap\n");
        self.area.note(&lines).on("cannot write the journal in", self.area.path.as_path())?;
        match durability {
            Durability::Flushed => self.area.flush().on("cannot flush the journal in", self.area.path.as_path()),
            Durability::Off => Ok(()),
        }
    }

    /// What is to be staged in the area.
    pub(super) fn batches<'p>(&self) -> Batches<'p> {
        Batches::new(Arc::clone(&self.area.dir))
    }

    /// Stages what one piece of work puts in place, if it puts anything; what is gathered in `batches` is not written yet.
    pub(super) fn stage_op(
        &mut self,
        staging: Staging<'_>,
        number: usize,
        op: &Op,
        batches: &mut Batches<'t>,
    ) -> Result<()> {
        let Staging { pool, durability, .. } = staging;
        let item = match &op.work {
            Work::Put { entry, replaces, .. } => self.stage_put(pool, *entry, replaces.as_ref(), durability)?,
            Work::PutOverTree { entry, .. } => self.stage_put(pool, *entry, None, durability)?,
            Work::PutTree { entries, .. } => Some(self.stage_tree(pool, &op.path, entries, durability)?),
            Work::PutNewTree { entries } => Some(self.stage_new_tree(staging, &op.path, entries, batches)?),
            Work::Chmod { entry, old, .. } if old.kind == EntryKind::File => {
                self.stage_shared(pool, *entry, old, durability)?
            }
            Work::Chmod { .. } | Work::Remove { .. } | Work::RemoveDir { .. } => None,
        };
        if let Some(item) = item {
            self.note_staged(number, &item);
        }
        Ok(())
    }

    fn note_staged(&mut self, number: usize, item: &Item) {
        self.clearing.copies.insert(item.name.clone());
        self.staged.insert(number, item.clone());
    }

    /// The entry of a file, and the path that lends it owner and attributes: such files are staged together.
    fn bulk_entry(&self, op: &Op) -> Result<Option<(&'t Entry, Option<&'t RelPath>)>> {
        let Work::Put { entry, ref replaces, .. } = op.work else { return Ok(None) };
        let entry = self.entry(entry)?;
        let like = replaces.as_ref().map(|_| &*entry.path);
        Ok(matches!(entry.node, Node::File { .. }).then_some((entry, like)))
    }

    pub(super) fn entry(&self, number: usize) -> Result<&'t Entry> {
        self.target
            .entries
            .get(number)
            .ok_or_else(|| Error::new(Kind::Io, "the plan names an entry that is not there"))
    }

    pub(super) fn stage_put(
        &mut self,
        pool: &Pool,
        number: usize,
        replaces: Option<&Record>,
        durability: Durability,
    ) -> Result<Option<Item>> {
        let entry = self.entry(number)?;
        if entry.node == Node::Dir && replaces.is_none() {
            // An empty directory where nothing is: made in place.
            return Ok(None);
        }
        let at = entry.path.as_path();
        let item = self.area.item('n', &entry.path, &mut self.dirs).on("cannot stage", at)?;
        let like = replaces.and_then(|_| stage::open_like(self.workspace, &entry.path));
        self.write(pool, entry, &item, like.as_ref(), durability)?;
        Ok(Some(item))
    }

    fn write(
        &mut self,
        pool: &Pool,
        entry: &Entry,
        item: &Item,
        like: Option<&std::fs::File>,
        durability: Durability,
    ) -> Result<()> {
        let mut staged = Ok(());
        self.area
            .with_item(item, &mut self.dirs, |dir, name| {
                staged = stage::write_entry(pool, entry, dir, name, like, durability);
                Ok(())
            })
            .on("cannot stage", entry.path.as_path())?;
        staged
    }

    /// A file with a second name must not get a mode through it: it becomes a file of its own.
    fn stage_shared(
        &mut self,
        pool: &Pool,
        number: usize,
        old: &Record,
        durability: Durability,
    ) -> Result<Option<Item>> {
        let stat = self.dirs.with_parent(&old.path, |dir| stat_at(dir, old.path.file_name()));
        match stat {
            Ok(Some(stat)) if stat.links > 1 => self.stage_put(pool, number, Some(old), durability),
            _ => Ok(None),
        }
    }

    fn stage_tree(
        &mut self,
        pool: &Pool,
        root: &RelPathBuf,
        entries: &[(usize, usize)],
        durability: Durability,
    ) -> Result<Item> {
        let item = self.tree_item(root).on("cannot stage", root.as_path())?;
        let entries = entries.iter().map(|(number, _)| self.entry(*number).cloned()).collect::<Result<Vec<_>>>()?;
        let mut staged = Ok(());
        self.area
            .with_item(&item, &mut self.dirs, |dir, name| {
                fsio::make_child_dir(dir, name, None)?;
                staged = fsio::open_dir(dir, name)
                    .on("cannot stage", root.as_path())
                    .and_then(|tree| write_tree(pool, tree.as_fd(), root, &entries, durability));
                Ok(())
            })
            .on("cannot stage", root.as_path())?;
        staged.map(|()| item)
    }
}

/// Up to so many staged files are flushed one by one.
const FLUSH_EACH_MAX: usize = 256;

fn push_item_line(lines: &mut Vec<u8>, name: &str, path: &RelPath) {
    lines.extend_from_slice(format!("item {name} ").as_bytes());
    lines.extend_from_slice(&quote::c_quote(path.as_bytes()));
    lines.push(b'\n');
}

/// Writes entries of the target into a staged directory that stands for `root`.
fn write_tree(
    pool: &Pool,
    tree: BorrowedFd<'_>,
    root: &RelPathBuf,
    entries: &[Entry],
    durability: Durability,
) -> Result<()> {
    for entry in entries {
        let at = entry.path.as_path();
        let depth = root.components().count();
        let inner: Vec<&[u8]> = entry.path.components().skip(depth).collect();
        let Some((name, dirs)) = inner.split_last() else {
            // The root itself is an empty directory of the target.
            fsio::set_mode(tree, entry.mode, root.file_name()).on("cannot stage", at)?;
            continue;
        };
        let mut dir = tree.try_clone_to_owned().on("cannot stage", at)?;
        for part in dirs {
            match fsio::make_child_dir(dir.as_fd(), part, None) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Error::io("cannot stage", at, &error));
                }
                _ => {}
            }
            dir = fsio::open_dir(dir.as_fd(), part).on("cannot stage", at)?;
        }
        stage::write_entry(pool, entry, dir.as_fd(), name, None, durability)?;
    }
    Ok(())
}
