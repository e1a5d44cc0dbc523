//! Makes the plan: compares the target with what is there now, over the whole final tree.
//!
//! Three passes. Entries of the target; then what is there and the target does not have; then directories that these
//! two leave empty. Where a directory stands in the way of a file or the reverse, everything that takes part becomes
//! one step of work, so that a kill in the middle leaves one of the two and nothing of both.

use std::collections::{BTreeMap, HashSet};

use super::current::{Current, Now, Place};
use super::plan::{Action, Plan, Reason, Work};
use super::witness::Witness;
use super::{Request, Scope};
use crate::act::intake::{Intake, Sink};
use crate::act::prune::mark::IdSet;
use crate::error::Result;
use crate::history::covers::CoverageRules;
use crate::history::manifest::{Entry, Manifest, Node};
use crate::store::hash;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::{Content, EntryKind, Record};
use crate::tree::root::Workspace;

/// What a plan is made of.
pub(super) struct Planner<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) current: &'a Current,
    pub(super) target: &'a Manifest,
    pub(super) covers: &'a CoverageRules<'a>,
    pub(super) edited_since: Option<&'a Manifest>,
    pub(super) request: &'a Request,
}

/// What is gathered while the target's entries are looked at.
struct Draft<'d, 'w> {
    plan: Plan,
    witness: &'d mut Witness<'w>,
    /// Entries that cannot be written before a file or link above them is out of the way.
    beneath: BTreeMap<RelPathBuf, Vec<usize>>,
    /// Paths that are dealt with, but for the target's entries; of those, records are marked in `in_target`.
    done: HashSet<RelPathBuf>,
    /// For each record whether the target has an entry of its path: those are dealt with.
    in_target: Vec<bool>,
    /// Directories that the target has empty and that hold something now.
    filled: Vec<usize>,
}

impl<'a> Planner<'a> {
    /// The contents that a restore may have to displace: whatever is not as the target records it, in scope and not spared.
    pub(super) fn displaced(&self) -> IdSet {
        let may_go = |record: &&Record| {
            self.is_in_scope(&record.path) && self.is_spared(&record.path, Some(record)).is_none()
        };
        let object = |record: &Record| match record.content {
            Content::Object(id) => Some(id),
            _ => None,
        };
        self.current.records.iter().filter(may_go).filter_map(object).collect()
    }

    pub(super) fn plan(&self, witness: &mut Witness<'_>) -> Result<Plan> {
        let plan = Plan::default();
        let records = &self.current.records;
        let mut draft = Draft {
            plan,
            witness,
            beneath: BTreeMap::new(),
            done: HashSet::new(),
            in_target: vec![false; records.len()],
            filled: Vec::new(),
        };
        // Both are sorted: one pass finds what has a record of its own.
        let mut place = 0;
        for (number, entry) in self.target.entries.iter().enumerate() {
            while records.get(place).is_some_and(|record| record.path < entry.path) {
                place += 1;
            }
            if self.current.is_there(number) || !self.is_in_scope(&entry.path) {
                continue;
            }
            let record = records.get(place).filter(|record| record.path == entry.path);
            if let (Some(_), Some(mark)) = (record, draft.in_target.get_mut(place)) {
                *mark = true;
            }
            self.plan_entry(&mut draft, number, entry, record)?;
        }
        for (root, entries) in std::mem::take(&mut draft.beneath) {
            self.plan_tree(&mut draft, &root, &entries)?;
        }
        self.report_gaps(&mut draft);
        for (place, record) in records.iter().enumerate() {
            let is_dealt_with = draft.in_target.get(place) == Some(&true);
            if !is_dealt_with && self.is_in_scope(&record.path) && !draft.done.contains(&record.path) {
                self.plan_removal(&mut draft, record)?;
            }
        }
        self.report_hidden(&mut draft);
        let mut plan = draft.plan;
        self.plan_emptied(&mut plan, &draft.filled);
        Ok(plan)
    }

    fn is_in_scope(&self, path: &RelPath) -> bool {
        self.request.scope.as_ref().is_none_or(|scope| scope.holds(path))
    }

    /// Why the request itself leaves the path alone.
    fn is_spared(&self, path: &RelPath, now: Option<&Record>) -> Option<Reason> {
        if self.request.protect.iter().any(|protected| path.is_within(protected)) {
            return Some(Reason::Protected);
        }
        let since = self.edited_since?;
        let same = match (since.entry(path), now) {
            (Some(entry), Some(now)) => is_as_recorded(entry, now),
            (None, None) => true,
            // A gap of that snapshot says nothing about what it held.
            _ => false,
        };
        (!same).then_some(Reason::Edited)
    }

    /// An entry that is not there as it is recorded; `record` is what the walk found at its path.
    fn plan_entry(
        &self,
        draft: &mut Draft<'_, '_>,
        number: usize,
        entry: &Entry,
        record: Option<&'a Record>,
    ) -> Result<()> {
        let (path, kind) = (&entry.path, entry.node.kind());
        let is_dir = kind == EntryKind::Dir;
        let place = Place { workspace: self.workspace, target: self.target };
        let now =
            record.map_or_else(|| self.current.at_unrecorded(&place, path), |record| Ok(Now::Known(record)))?;
        if is_dir && matches!(now, Now::Dir) {
            // It holds something. What of that has to go is decided path by path, its mode when that is known.
            draft.filled.push(number);
            return Ok(());
        }
        let known = match &now {
            Now::Known(record) => Some(*record),
            Now::Alias(record) => Some(&**record),
            _ => None,
        };
        if let Some(reason) = self.is_spared(path, known) {
            draft.plan.add(path, is_dir, Action::Keep(reason), None);
            return Ok(());
        }
        if self.current.is_ignored(path, kind) || self.current.lies_in_ignored(path) {
            return self.plan_ignored(draft, number, entry);
        }
        match now {
            Now::Absent => {
                let step = draft.plan.add(path, is_dir, Action::Write, None);
                draft.plan.push(path, Work::Put { step, entry: number, replaces: None });
            }
            Now::Missing(dir) => {
                let step = draft.plan.add(path, is_dir, Action::Write, None);
                draft.plan.push_into_new_tree(&dir, number, step);
            }
            Now::Known(record) if record.kind == EntryKind::Dir && !record.hides_subtree() && !is_dir => {
                self.plan_over_tree(draft, number, entry)?;
            }
            Now::Known(record) => self.plan_change(draft, number, entry, record)?,
            Now::Dir => self.plan_over_tree(draft, number, entry)?,
            Now::Beneath(above) => draft.beneath.entry(above.path.clone()).or_default().push(number),
            Now::Alias(record) => {
                let is_wanted = self.target.entry(&record.path).is_some() || !self.is_in_scope(&record.path);
                if is_wanted {
                    draft.plan.add(path, is_dir, Action::Keep(Reason::Collision), None);
                } else {
                    // The other name goes first, in the pass over what the target does not have.
                    let step = draft.plan.add(path, is_dir, Action::Write, None);
                    draft.plan.push(path, Work::Put { step, entry: number, replaces: None });
                }
            }
            Now::Other => {
                draft.plan.add(path, is_dir, Action::Keep(Reason::Blocked), None);
            }
        }
        Ok(())
    }

    /// A path that the rules leave out now: what it holds was not captured lately, whoever wrote it.
    fn plan_ignored(&self, draft: &mut Draft<'_, '_>, number: usize, entry: &Entry) -> Result<()> {
        let path = &entry.path;
        let is_dir = entry.node.kind() == EntryKind::Dir;
        let keep = |draft: &mut Draft<'_, '_>| {
            draft.plan.add(path, is_dir, Action::Keep(Reason::Ignored), None);
        };
        if self.current.is_out_of_bounds(path, entry.node.kind()) {
            keep(draft);
            return Ok(());
        }
        let now = Intake::new(self.workspace, Sink::HashOnly, u64::MAX).take(path)?;
        match now {
            Some(record) if is_as_recorded(entry, &record) => {}
            _ if !self.request.force => keep(draft),
            // Below a link or a file it is not absent, but out of reach until that has gone.
            None if super::current::is_absent(self.workspace, path) => {
                let step = draft.plan.add(path, is_dir, Action::Write, None);
                draft.plan.push(path, Work::Put { step, entry: number, replaces: None });
            }
            Some(record) if matches!(record.content, Content::Object(_)) && !is_dir => {
                self.plan_change(draft, number, entry, &record)?;
            }
            _ => keep(draft),
        }
        Ok(())
    }

    /// One file, link or empty directory takes the place of another one.
    fn plan_change(&self, draft: &mut Draft<'_, '_>, number: usize, entry: &Entry, old: &Record) -> Result<()> {
        let is_dir = entry.node.kind() == EntryKind::Dir;
        if same_content(entry, old) {
            let step = draft.plan.add(&entry.path, is_dir, Action::Chmod, None);
            draft.plan.push(&entry.path, Work::Chmod { step, entry: number, old: old.clone() });
            return Ok(());
        }
        if let Some(reason) = self.objection(draft, old)? {
            draft.plan.add(&entry.path, is_dir, Action::Keep(reason), None);
            return Ok(());
        }
        let step = draft.plan.add(&entry.path, is_dir, Action::Write, Some(old));
        draft.plan.push(&entry.path, Work::Put { step, entry: number, replaces: Some(old.clone()) });
        Ok(())
    }

    /// Why what is at a path must stay; with `--force` what has no copy is noted to get one.
    fn objection(&self, draft: &mut Draft<'_, '_>, old: &Record) -> Result<Option<Reason>> {
        let objection = draft.witness.objection(old)?;
        match objection {
            Some(Reason::Unbanked) if self.request.as_if_banked && self.would_be_captured(old) => Ok(None),
            Some(Reason::Unbanked | Reason::Oversized) if self.request.force => {
                draft.plan.doomed.push(old.path.clone());
                Ok(None)
            }
            other => Ok(other),
        }
    }

    fn would_be_captured(&self, now: &Record) -> bool {
        self.request.dry_run
            && now.size.unwrap_or(0) <= self.request.cap_bytes
            && !self.current.is_ignored(&now.path, now.kind)
    }

    /// A file or link takes the place of a directory: only if everything in it may go.
    fn plan_over_tree(&self, draft: &mut Draft<'_, '_>, number: usize, entry: &Entry) -> Result<()> {
        let path = &entry.path;
        let inside: Vec<&Record> = self.current.below(path).collect();
        let mut may_go = !self.current.hides_something_in(path);
        let doomed_before = draft.plan.doomed.len();
        for record in &inside {
            // Coverage need not be asked: where the target has a file, nothing can have been below.
            let spared = self.is_spared(&record.path, Some(record)).is_some();
            if spared || !self.is_in_scope(&record.path) || self.objection(draft, record)?.is_some() {
                may_go = false;
                break;
            }
        }
        if !may_go {
            draft.plan.doomed.truncate(doomed_before);
            draft.plan.add(path, false, Action::Keep(Reason::Blocked), None);
            return Ok(());
        }
        let step = draft.plan.add(path, false, Action::Write, None);
        let mut removed = Vec::new();
        for record in inside {
            draft.done.insert(record.path.clone());
            let is_dir = record.kind == EntryKind::Dir;
            let step = draft.plan.add(&record.path, is_dir, Action::Delete, Some(record));
            removed.push((record.clone(), step));
        }
        draft.plan.push(path, Work::PutOverTree { step, entry: number, removed });
        Ok(())
    }

    /// A directory with what the target has in it takes the place of a file or link.
    fn plan_tree(&self, draft: &mut Draft<'_, '_>, root: &RelPathBuf, numbers: &[usize]) -> Result<()> {
        let Some(old) = self.current.record(root) else { return Ok(()) };
        draft.done.insert(root.clone());
        let mut reason = self.is_spared(root, Some(old));
        if reason.is_none() && !self.is_in_scope(root) {
            reason = Some(Reason::Blocked);
        }
        if reason.is_none() {
            reason = self.objection(draft, old)?;
        }
        let entries = numbers.iter().filter_map(|number| Some((*number, self.target.entries.get(*number)?)));
        if let Some(reason) = reason {
            if self.is_in_scope(root) {
                draft.plan.add(root, false, Action::Keep(reason), None);
            }
            for (_, entry) in entries {
                let is_dir = entry.node.kind() == EntryKind::Dir;
                draft.plan.add(&entry.path, is_dir, Action::Keep(Reason::Blocked), None);
            }
            return Ok(());
        }
        let removal = draft.plan.add(root, false, Action::Delete, Some(old));
        let mut placed = Vec::new();
        for (number, entry) in entries {
            let is_dir = entry.node.kind() == EntryKind::Dir;
            placed.push((number, draft.plan.add(&entry.path, is_dir, Action::Write, None)));
        }
        let replaces = (old.clone(), removal);
        draft.plan.push(root, Work::PutTree { replaces, entries: placed });
        Ok(())
    }

    /// What the target itself had not captured stays as it is, and is named.
    fn report_gaps(&self, draft: &mut Draft<'_, '_>) {
        for gap in &self.target.gaps {
            if !self.is_in_scope(&gap.path) {
                continue;
            }
            // A directory that holds something stands for itself, unless it was one then.
            let is_known = self.current.record(&gap.path).is_some();
            let now = super::current::examine(self.workspace, &gap.path);
            let is_there =
                is_known || now.as_ref().is_ok_and(|stat| stat.kind != EntryKind::Dir || gap.hides_subtree);
            if !is_known && now.is_err() {
                draft.plan.lost_gaps.push(gap.clone());
            }
            if !draft.done.insert(gap.path.clone()) || !is_there {
                continue;
            }
            draft.plan.add(&gap.path, gap.hides_subtree, Action::Keep(Reason::Gap(gap.reason.clone())), None);
        }
    }

    /// A path that was asked for by name, that the target does not have and that the rules leave out by now: the walk does
    /// not see it, and it is not removed, but not passed over in silence either.
    fn report_hidden(&self, draft: &mut Draft<'_, '_>) {
        for path in self.request.scope.iter().flat_map(Scope::exact_paths) {
            let is_settled = draft.done.contains(path)
                || self.target.entry(path).is_some()
                || self.current.record(path).is_some()
                || self.target.gap_over(path).is_some();
            if is_settled {
                continue;
            }
            let Ok(stat) = super::current::examine(self.workspace, path) else { continue };
            let is_hidden = stat.kind != EntryKind::Dir && self.current.is_ignored(path, stat.kind);
            if is_hidden && self.covers.covers(path, stat.kind) {
                let reason = self.is_spared(path, None).filter(|reason| *reason == Reason::Protected);
                draft.plan.add(path, false, Action::Keep(reason.unwrap_or(Reason::Ignored)), None);
            }
        }
    }

    /// Something that the target does not have: it may go only where the target would have had it.
    fn plan_removal(&self, draft: &mut Draft<'_, '_>, record: &Record) -> Result<()> {
        let path = &record.path;
        let is_dir = record.kind == EntryKind::Dir;
        let has_dir_here = self.target.has_below(path);
        if self.target.gap_over(path).is_some() || has_dir_here && is_dir {
            return Ok(());
        }
        if !self.covers.covers(path, record.kind) {
            return Ok(());
        }
        if let Some(reason) = self.is_spared(path, Some(record)) {
            draft.plan.add(path, is_dir, Action::Keep(reason), None);
            return Ok(());
        }
        if has_dir_here {
            // What the target has in the directory that was here is out of the scope, or was not captured: nothing could
            // take the place of this.
            draft.plan.add(path, is_dir, Action::Keep(Reason::Blocked), None);
            return Ok(());
        }
        if let Some(reason) = self.objection(draft, record)? {
            draft.plan.add(path, is_dir, Action::Keep(reason), None);
            return Ok(());
        }
        let step = draft.plan.add(path, is_dir, Action::Delete, Some(record));
        let work = if is_dir { Work::RemoveDir { step } } else { Work::Remove { step, old: record.clone() } };
        draft.plan.push(path, work);
        Ok(())
    }
}

/// Whether a path has the content that the target records; mode apart.
fn same_content(entry: &Entry, now: &Record) -> bool {
    holds(entry, now.kind, &now.content)
}

fn holds(entry: &Entry, kind: EntryKind, content: &Content) -> bool {
    match (&entry.node, content) {
        (Node::File { hash, .. }, Content::Object(id)) => kind == EntryKind::File && hash == id,
        (Node::Link { target }, Content::Object(id)) => kind == EntryKind::Link && hash::of_bytes(target) == *id,
        (Node::Dir, Content::Unknown) => kind == EntryKind::Dir,
        _ => false,
    }
}

/// Whether a path is exactly as a snapshot records it.
pub(super) fn is_as_recorded(entry: &Entry, now: &Record) -> bool {
    is_recorded_so(entry, now.kind, now.mode, &now.content)
}

/// Whether a snapshot records exactly this. The mode of a link means nothing.
pub(super) fn is_recorded_so(entry: &Entry, kind: EntryKind, mode: u32, content: &Content) -> bool {
    holds(entry, kind, content) && (kind == EntryKind::Link || entry.mode == mode)
}
