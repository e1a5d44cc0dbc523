//! The last pass of planning: directories that a restore leaves empty.

use std::collections::{BTreeSet, HashSet};

use super::current::examine;
use super::plan::{Action, Plan, Work};
use super::planner::Planner;
use crate::history::manifest::Node;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::EntryKind;

impl Planner<'_> {
    /// Directories that lose everything they had go too, unless the rules leave them out or the target has them.
    pub(super) fn plan_emptied(&self, plan: &mut Plan, filled: &[usize]) {
        if filled.is_empty() && !plan.steps.iter().any(|step| step.action == Action::Delete) {
            return;
        }
        let gone: BTreeSet<RelPathBuf> =
            plan.steps.iter().filter(|step| step.action == Action::Delete).map(|step| step.path.clone()).collect();
        let written: HashSet<&RelPath> =
            plan.steps.iter().filter(|step| step.action == Action::Write).map(|step| &*step.path).collect();
        let as_they_should_be = self.current.entries_there(self.target).map(|entry| &*entry.path);
        let stays = self.current.records.iter().map(|record| &*record.path).filter(|path| !gone.contains(*path));
        let ignored = self.current.ignored.iter().map(|path| &**path);
        let mut inhabited: HashSet<&RelPath> = HashSet::new();
        for path in as_they_should_be.chain(stays).chain(ignored).chain(written.iter().copied()) {
            for dir in path.ancestors() {
                if !inhabited.insert(dir) {
                    break;
                }
            }
        }
        let is_wanted = |dir: &RelPath| self.target.entry(dir).is_some_and(|entry| entry.node == Node::Dir);
        let stays = |dir: &RelPath| is_wanted(dir) || self.current.is_ignored(dir, EntryKind::Dir);
        // A directory that stays although it loses everything keeps those above it.
        let mut seen: HashSet<&RelPath> = HashSet::new();
        for path in &gone {
            for dir in path.ancestors().take_while(|dir| seen.insert(dir)) {
                if !gone.contains(dir) && stays(dir) {
                    inhabited.extend(dir.ancestors());
                }
            }
        }
        let mut emptied: BTreeSet<RelPathBuf> = BTreeSet::new();
        for path in &gone {
            for dir in path.ancestors() {
                // Where a file is put in the place of a directory, all of that went out with it.
                let is_replaced = std::iter::once(dir).chain(dir.ancestors()).any(|dir| written.contains(dir));
                if is_replaced
                    || inhabited.contains(dir)
                    || stays(dir)
                    || self.is_spared_dir(dir)
                    || gone.contains(dir)
                {
                    break;
                }
                if !emptied.insert(dir.to_owned()) {
                    break;
                }
            }
        }
        let modes: Vec<_> = filled
            .iter()
            .filter_map(|number| Some((*number, self.target.entries.get(*number)?)))
            .filter(|(_, entry)| !inhabited.contains(&*entry.path) && !self.is_spared_dir(&entry.path))
            .collect();
        // Deepest first, so that each is empty when its turn comes.
        for dir in emptied.iter().rev() {
            let step = plan.add(dir, true, Action::Delete, None);
            plan.push(dir, Work::RemoveDir { step });
        }
        for (number, entry) in modes {
            let Ok(stat) = examine(self.workspace, &entry.path) else { continue };
            if stat.mode != entry.mode {
                let step = plan.add(&entry.path, true, Action::Chmod, None);
                let old = crate::tree::scan::record_of(&entry.path, &stat);
                plan.push(&entry.path, Work::Chmod { step, entry: number, old });
            }
        }
    }

    fn is_spared_dir(&self, dir: &RelPath) -> bool {
        self.request.protect.iter().any(|protected| dir.is_within(protected) || protected.is_within(dir))
    }
}
