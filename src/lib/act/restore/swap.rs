//! Carrying the plan out: stage everything, then swap one path after the other, each in one step that can be taken back.
//!
//! A swap is an exchange: what was there comes out and is compared with what the plan saw. If somebody saved in
//! between, both go back where they were and the path is reported as kept. Where the file system cannot exchange, the
//! path is examined once more right before a plain rename.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use super::bulk::{Batches, NewFile, Staging};
use super::compare::is_planned;
use super::current::folded;
use super::dirs::Dirs;
use super::fresh::Fresh;
use super::plan::{Op, Plan, Reason, Work};
use super::report::Report;
use super::salvage::{self, Clearing};
use super::stage::{self, Area, Item};
use super::undo::Undo;
use super::witness::Witness;
use super::{Place, Request};
use rustix::io::Errno;

use crate::error::{Error, IoContext, Kind, Result};
use crate::history::manifest::{Entry, Manifest, Node};
use crate::store::fsio::{self, Durability};
use crate::store::pool::Pool;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::store::seam;
use crate::stream::quote;
use crate::stream::record::{EntryKind, Record};
use crate::tree::root::Workspace;
use crate::tree::stat::stat_at;

/// What came of one swap.
pub(super) enum Outcome {
    /// The path is as the target records it.
    Done,
    /// It was left as it is.
    Left(Reason),
    /// Some of its steps were left, each for its reason.
    Partly(Vec<(usize, Reason)>),
}

/// Device and inode.
pub(super) type FileId = (u64, u64);

/// A restore at work.
pub(super) struct Swapper<'a, 't> {
    pub(super) area: Area,
    pub(super) dirs: Dirs<'a>,
    pub(super) target: &'t Manifest,
    workspace: &'a Workspace,
    staged: HashMap<usize, Item>,
    /// Whole directories that are to come where none is.
    fresh: HashMap<usize, Fresh>,
    /// Paths that could not be staged in such a directory, because the disk takes their names for those of others.
    pub(super) taken: HashSet<&'t RelPath>,
    pub(super) clearing: Clearing,
    /// Inodes just put in place: a name that leads to one of them is the same file (case-folding disks).
    pub(super) placed: HashSet<FileId>,
    /// Entries just put in place whose inodes nobody has asked for yet.
    pub(super) placed_unseen: Vec<usize>,
    /// Inodes with several names that we renamed under one of them, and the ctime that this gave them.
    pub(super) moved: HashMap<FileId, Option<i64>>,
    pub(super) undo: Vec<Undo>,
}

/// Carries the plan out and notes in the report what came out differently.
///
/// # Errors
/// As [`super::run`].
pub(super) fn carry_out(
    place: &Place<'_>,
    pool: &Pool,
    target: &Manifest,
    plan: Plan,
    request: &Request,
    witness: &Witness<'_>,
    report: &mut Report,
) -> Result<()> {
    let Place { workspace, history, .. } = *place;
    let entries: Vec<&Entry> = plan.written_entries().filter_map(|number| target.entries.get(number)).collect();
    stage::check_space(workspace, &entries)?;
    let mut dirs = Dirs::new(workspace);
    let area = Area::make(workspace, &mut dirs)?;
    let mut journal = area.journal().on("cannot open the journal of", workspace.path())?;
    dirs.before_lift = Box::new(move |dir, mode| {
        let mut line = Vec::new();
        stage::push_lift_line(&mut line, dir, mode);
        fsio::write_all(&mut journal, &line, stage::JOURNAL.as_bytes())
    });
    let mut swapper = Swapper {
        area,
        dirs,
        target,
        workspace,
        staged: HashMap::new(),
        fresh: HashMap::new(),
        taken: HashSet::new(),
        clearing: Clearing::default(),
        placed: HashSet::new(),
        placed_unseen: Vec::new(),
        moved: HashMap::new(),
        undo: Vec::new(),
    };
    let durability = history.store().durability();
    let mut done = swapper.stage(&plan, pool, durability);
    if done.is_ok() {
        seam::hook("before-swap");
        done = swapper.swap(&plan, pool, durability, request, report).map_err(|error| match error.kind() {
            Kind::Refused => error,
            _ => {
                error.hint("some files are restored and some are not, each of them whole; restore again to finish")
            }
        });
    }
    if done.is_ok() && durability == Durability::Flushed {
        done = fsio::flush_file_system(workspace.fd(), b"the workspace").on("cannot flush", workspace.path());
    }
    let Swapper { area, mut dirs, clearing, .. } = swapper;
    let put_back = dirs.put_back().on("cannot put the mode of a directory back in", workspace.path());
    let cleared = salvage::clear(workspace, history, &area.path, &clearing, Some(witness));
    match cleared {
        Ok(salvaged) => {
            // An error is all that the person sees then, so it has to name what was saved on the way out.
            done = done.map_err(|error| salvaged.iter().fold(error, Error::also));
            report.salvaged.extend(salvaged);
        }
        Err(error) if done.is_ok() => return Err(error),
        Err(_) => {}
    }
    done.and(put_back)
}

impl<'t> Swapper<'_, 't> {
    /// Writes all new content under temporary names. Nothing is swapped before all of it is there.
    fn stage(&mut self, plan: &Plan, pool: &Pool, durability: Durability) -> Result<()> {
        let mut lines = Vec::new();
        // One flush for many files, each for few.
        let count = plan.written_entries().count();
        let each = if count <= FLUSH_EACH_MAX { durability } else { Durability::Off };
        let staging = Staging { workspace: self.workspace, pool, durability: each };
        let mut batches = self.batches()?;
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
            let fresh = self.fresh.get(&number).into_iter().flat_map(Fresh::items);
            for (item, entry) in self.staged.get(&number).map(|item| (item, None)).into_iter().chain(fresh) {
                let path =
                    entry.and_then(|entry| self.target.entries.get(entry)).map_or(&op.path, |entry| &entry.path);
                if item.beside.is_none() {
                    push_item_line(&mut lines, &item.name, path);
                }
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
    fn batches<'p>(&self) -> Result<Batches<'p>> {
        let area = self.area.dir.try_clone().on("cannot open", self.area.path.as_path())?;
        Ok(Batches::new(Arc::new(area)))
    }

    /// Stages what one piece of work puts in place, if it puts anything; what is gathered in `batches` is not written yet.
    fn stage_op(&mut self, staging: Staging<'_>, number: usize, op: &Op, batches: &mut Batches<'t>) -> Result<()> {
        let Staging { pool, durability, .. } = staging;
        let item = match &op.work {
            Work::Put { entry, replaces, .. } => self.stage_put(pool, *entry, replaces.as_ref(), durability)?,
            Work::PutOverTree { entry, .. } => self.stage_put(pool, *entry, None, durability)?,
            Work::PutTree { entries, .. } => Some(self.stage_tree(pool, &op.path, entries, durability)?),
            Work::PutNewTree { entries } => {
                let fresh = self.stage_new_tree(staging, &op.path, entries, batches)?;
                self.clearing.copies.extend(fresh.items().map(|(item, _)| item.name.clone()));
                self.fresh.insert(number, fresh);
                None
            }
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
        let item = self.area.item('n', root, &mut self.dirs).on("cannot stage", root.as_path())?;
        let entries = entries.iter().map(|(number, _)| self.entry(*number).cloned()).collect::<Result<Vec<_>>>()?;
        let mut staged = Ok(());
        self.area
            .with_item(&item, &mut self.dirs, |dir, name| {
                fsio::make_dir(dir, name, 0o755)?;
                staged = fsio::open_dir(dir, name)
                    .on("cannot stage", root.as_path())
                    .and_then(|tree| write_tree(pool, tree.as_fd(), root, &entries, durability));
                Ok(())
            })
            .on("cannot stage", root.as_path())?;
        staged.map(|()| item)
    }

    fn swap(
        &mut self,
        plan: &Plan,
        pool: &Pool,
        durability: Durability,
        request: &Request,
        report: &mut Report,
    ) -> Result<()> {
        // A name that is in the way only because the disk folds case goes before the one that takes its place.
        let first = removals_first(plan);
        let mut order: Vec<usize> = (0..plan.ops.len()).collect();
        order.sort_by_key(|number| !first.contains(number));
        let staging = Staging { workspace: self.workspace, pool, durability };
        for number in order {
            let Some(op) = plan.ops.get(number) else { continue };
            // Each path is looked up anew: a directory may have been moved away while all was staged.
            self.dirs.forget_all();
            let mut done = self.carry_out(number, op);
            if matches!(&done, Err(error) if error.kind() == io::ErrorKind::CrossesDevices) {
                self.area.note_elsewhere(&op.path);
                let mut batches = self.batches()?;
                self.stage_op(staging, number, op, &mut batches)?;
                self.write_all(&batches, staging)?;
                done = self.carry_out(number, op);
            }
            let left = match or_left(done).on("cannot restore", op.path.as_path())? {
                Outcome::Done => continue,
                Outcome::Left(reason) => op.work.steps().into_iter().map(|step| (step, reason.clone())).collect(),
                Outcome::Partly(left) => left,
            };
            for (step, reason) in &left {
                report.keep(*step, reason.clone());
            }
            if let (true, Some((step, reason))) = (request.all_or_nothing, left.first()) {
                let path = report.lines.get(*step).map_or(&op.path, |line| &line.path);
                self.take_back()?;
                return Err(Error::refused(format!(
                    "{} could not be restored ({}), and everything is as it was again",
                    quote::name(path.as_bytes()),
                    reason.as_str()
                ))
                .at(path.as_path())
                .hint(reason.way_out()));
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, number: usize, op: &Op) -> io::Result<Outcome> {
        let path = &op.path;
        let staged = self.staged.get(&number).cloned();
        match (&op.work, staged) {
            (Work::Put { replaces: None, entry, .. }, staged) => self.create(path, *entry, staged.as_ref()),
            (Work::Put { replaces: Some(old), .. } | Work::Chmod { old, .. }, Some(item)) => {
                self.exchange(&item, path, &|_, _, stat| is_planned(stat, old), old)
            }
            (Work::PutTree { replaces: (old, _), .. }, Some(item)) => {
                self.exchange(&item, path, &|_, _, stat| is_planned(stat, old), old)
            }
            (Work::PutOverTree { removed, .. }, Some(item)) => self.exchange_tree(&item, path, removed),
            (Work::PutNewTree { entries }, _) => match self.fresh.remove(&number) {
                Some(fresh) => self.create_tree(path, entries, &fresh),
                None => Err(io::Error::other("its new content was not staged")),
            },
            (Work::Chmod { entry, old, .. }, None) => self.chmod(path, *entry, old),
            (Work::Remove { old, .. }, _) => self.remove(path, old),
            (Work::RemoveDir { .. }, _) => self.remove_dir(path),
            (Work::Put { .. } | Work::PutTree { .. } | Work::PutOverTree { .. }, None) => {
                Err(io::Error::other("its new content was not staged"))
            }
        }
    }
}

/// What an error of one path comes to: one that the system guards must not keep the others from being restored.
pub(super) fn or_left(done: io::Result<Outcome>) -> io::Result<Outcome> {
    match done {
        Err(error) if is_refusal(&error) => Ok(Outcome::Left(Reason::Denied)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Outcome::Left(Reason::Changed)),
        other => other,
    }
}

/// Removals of names that may be in the way of new ones where the disk folds case.
fn removals_first(plan: &Plan) -> HashSet<usize> {
    let new = plan.ops.iter().filter(|op| matches!(op.work, Work::Put { replaces: None, .. }));
    let new: HashSet<String> = new.map(|op| folded(&op.path)).collect();
    let is_first = |(number, op): (usize, &Op)| match &op.work {
        Work::Remove { old, .. } if !new.is_empty() => new.contains(&folded(&old.path)).then_some(number),
        _ => None,
    };
    plan.ops.iter().enumerate().filter_map(is_first).collect()
}

/// Whether an error is about this one path: who may change it, or what guards it.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(
        errno,
        Some(Errno::ACCESS | Errno::PERM | Errno::BUSY | Errno::TXTBSY | Errno::ROFS | Errno::LOOP | Errno::NOTDIR)
    )
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
            match fsio::make_dir(dir.as_fd(), part, 0o755) {
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
