//! Carrying the plan out: stage everything, then swap one path after the other, each in one step that can be taken back.
//!
//! A swap is an exchange: what was there comes out and is compared with what the plan saw. If somebody saved in
//! between, both go back where they were and the path is reported as kept. Where the file system cannot exchange, the
//! path is examined once more right before a plain rename.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::bulk;
use super::compare::is_planned;
use super::current::folds_to;
use super::dirs::Dirs;
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
use crate::tree::stat::stat_at;

/// What came of one swap.
pub(super) enum Outcome {
    /// The path is as the target records it.
    Done,
    /// It was left as it is.
    Left(Reason),
}

/// Device and inode.
pub(super) type FileId = (u64, u64);

/// A restore at work.
pub(super) struct Swapper<'a, 't> {
    pub(super) area: Area,
    pub(super) dirs: Dirs<'a>,
    pub(super) target: &'t Manifest,
    staged: HashMap<usize, Item>,
    pub(super) clearing: Clearing,
    /// Inodes just put in place: a name that leads to one of them is the same file (case-folding disks).
    pub(super) placed: HashSet<FileId>,
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
        staged: HashMap::new(),
        clearing: Clearing::default(),
        placed: HashSet::new(),
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
        let mut jobs = Vec::new();
        for (number, op) in plan.ops.iter().enumerate() {
            if let Some(entry) = self.bulk_entry(op)? {
                let at = entry.path.as_path();
                let item = self.area.item('n', &entry.path, &mut self.dirs).on("cannot stage", at)?;
                self.note_staged(number, &item);
                if item.beside.is_none() {
                    jobs.push((item, entry));
                } else {
                    self.write(pool, entry, &item, None, each)?;
                }
            } else {
                self.stage_op(pool, number, op, each)?;
            }
            if let Some(item) = self.staged.get(&number)
                && item.beside.is_none()
            {
                push_item_line(&mut lines, &item.name, &op.path);
            }
        }
        bulk::write_all(pool, self.area.dir.as_fd(), &jobs, each)?;
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

    /// Stages what one piece of work puts in place, if it puts anything.
    fn stage_op(&mut self, pool: &Pool, number: usize, op: &Op, durability: Durability) -> Result<()> {
        let item = match &op.work {
            Work::Put { entry, replaces, .. } => self.stage_put(pool, *entry, replaces.as_ref(), durability)?,
            Work::PutOverTree { entry, .. } => self.stage_put(pool, *entry, None, durability)?,
            Work::PutTree { entries, .. } => Some(self.stage_tree(pool, &op.path, entries, durability)?),
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

    /// The entry of a file that replaces nothing: such files are staged together.
    fn bulk_entry(&self, op: &Op) -> Result<Option<&'t Entry>> {
        let Work::Put { entry, replaces: None, .. } = op.work else { return Ok(None) };
        let entry = self.entry(entry)?;
        Ok(matches!(entry.node, Node::File { .. }).then_some(entry))
    }

    fn entry(&self, number: usize) -> Result<&'t Entry> {
        self.target
            .entries
            .get(number)
            .ok_or_else(|| Error::new(Kind::Io, "the plan names an entry that is not there"))
    }

    fn stage_put(
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
        let like = replaces.and_then(|_| stage::open_like(&entry.path, &mut self.dirs));
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
        let removals_first = |op: &Op| matches!(&op.work, Work::Remove { old, .. } if Self::makes_way(plan, old));
        let mut order: Vec<usize> = (0..plan.ops.len()).collect();
        let first: HashSet<usize> =
            order.iter().copied().filter(|n| plan.ops.get(*n).is_some_and(removals_first)).collect();
        order.sort_by_key(|number| !first.contains(number));
        for number in order {
            let Some(op) = plan.ops.get(number) else { continue };
            let path = &op.path;
            // Each path is looked up anew: a directory may have been moved away while all was staged.
            self.dirs.forget_all();
            let mut done = self.carry_out(number, op);
            if matches!(&done, Err(error) if error.kind() == io::ErrorKind::CrossesDevices) {
                self.area.note_elsewhere(path);
                self.stage_op(pool, number, op, durability)?;
                done = self.carry_out(number, op);
            }
            let outcome = match done {
                // One path that the system guards must not keep the others from being restored.
                Err(error) if is_refusal(&error) => Outcome::Left(Reason::Denied),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Outcome::Left(Reason::Changed),
                other => other.on("cannot restore", path.as_path())?,
            };
            let Outcome::Left(reason) = outcome else { continue };
            for step in op.work.steps() {
                report.keep(step, reason.clone());
            }
            if request.all_or_nothing {
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

    /// Whether something is to be put where this path's inode shows under another name.
    fn makes_way(plan: &Plan, old: &Record) -> bool {
        plan.ops
            .iter()
            .any(|op| matches!(op.work, Work::Put { replaces: None, .. }) && folds_to(&op.path, &old.path))
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
            (Work::Chmod { entry, old, .. }, None) => self.chmod(path, *entry, old),
            (Work::Remove { old, .. }, _) => self.remove(path, old),
            (Work::RemoveDir { .. }, _) => self.remove_dir(path),
            (Work::Put { .. } | Work::PutTree { .. } | Work::PutOverTree { .. }, None) => {
                Err(io::Error::other("its new content was not staged"))
            }
        }
    }
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
