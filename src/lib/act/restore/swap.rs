//! Carrying the plan out: stage everything, then swap one path after the other, each in one step that can be taken back.
//!
//! A swap is an exchange: what was there comes out and is compared with what the plan saw. If somebody saved in
//! between, both go back where they were and the path is reported as kept. Where the file system cannot exchange, the
//! path is examined once more right before a plain rename.

use std::collections::{HashMap, HashSet};
use std::io;

use super::bulk::Staging;
use super::compare::is_planned;
use super::current::folded;
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
use crate::history::manifest::{Entry, Manifest};
use crate::store::fsio::{self, Durability};
use crate::store::pool::Pool;
use crate::store::relpath::RelPath;
use crate::store::seam;
use crate::stream::quote;
use crate::tree::root::Workspace;

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
    pub(super) workspace: &'a Workspace,
    pub(super) staged: HashMap<usize, Item>,
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
    /// Whether all may have to be taken back (`--all-or-nothing`).
    pub(super) may_take_back: bool,
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
        taken: HashSet::new(),
        clearing: Clearing::default(),
        placed: HashSet::new(),
        placed_unseen: Vec::new(),
        moved: HashMap::new(),
        undo: Vec::new(),
        may_take_back: request.all_or_nothing,
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

impl Swapper<'_, '_> {
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
                let mut batches = self.batches();
                self.stage_op(staging, number, op, &mut batches)?;
                self.write_all(&batches, staging)?;
                done = self.carry_out(number, op);
                if matches!(&done, Err(error) if error.kind() == io::ErrorKind::CrossesDevices) {
                    // Somebody goes on mounting.
                    done = Ok(Outcome::Left(Reason::Changed));
                }
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
            (Work::PutNewTree { entries }, Some(item)) => self.create_tree(path, entries, &item),
            (Work::Chmod { entry, old, .. }, None) => self.chmod(path, *entry, old),
            (Work::Remove { old, .. }, _) => self.remove(path, old),
            (Work::RemoveDir { .. }, _) => self.remove_dir(path),
            (
                Work::Put { .. } | Work::PutTree { .. } | Work::PutOverTree { .. } | Work::PutNewTree { .. },
                None,
            ) => Err(io::Error::other("its new content was not staged")),
        }
    }
}

/// What an error of one path comes to: one that the system guards must not keep the others from being restored.
pub(super) fn or_left(done: io::Result<Outcome>) -> io::Result<Outcome> {
    let is_other_kind = |error: &io::Error| {
        matches!(error.raw_os_error().map(Errno::from_raw_os_error), Some(Errno::NOTDIR | Errno::LOOP))
    };
    match done {
        // Something that is no directory came where the plan saw one, or nothing.
        Err(error) if is_other_kind(&error) => Ok(Outcome::Left(Reason::Changed)),
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
