//! [`Report`]: what a restore did, path by path.

use std::fmt;

use super::plan::{Action, Plan, Reason, Step};
use crate::history::coverage::Gap;
use crate::history::manifest::Manifest;
use crate::store::id::{ObjectId, SnapshotId};
use crate::store::relpath::RelPathBuf;
use crate::stream::quote;
use crate::tree::rules::RuleSource;

/// One path of a report.
pub type Line = Step;

/// What a restore did, or would do.
#[derive(Debug)]
pub struct Report {
    /// The snapshot that was put back.
    pub target: SnapshotId,
    /// Every path that was touched, or left although the target says otherwise, sorted.
    pub lines: Vec<Line>,
    /// What the target itself had not captured.
    pub gaps: Vec<Gap>,
    /// Those of them that are not there any more: nobody can bring them back.
    pub lost_gaps: Vec<Gap>,
    /// What was wrong with the rules.
    pub warnings: Vec<String>,
    /// Bytes without a copy that were stored first (`--force`), and the pin that keeps them.
    pub forced: Option<Forced>,
    /// Paths of the request that neither the snapshot nor the workspace has: a slip of the pen, perhaps.
    pub unknown: Vec<RelPathBuf>,
    /// Bytes found in the staging area, here or of a killed restore, that the store had no copy of.
    pub salvaged: Vec<Salvaged>,
}

/// What `--force` stored.
#[derive(Debug)]
pub struct Forced {
    /// The pin's id: `pin-<id>.json`.
    pub pin: SnapshotId,
    /// The paths and what they held.
    pub stored: Vec<(RelPathBuf, ObjectId)>,
}

/// Bytes that were nowhere else.
#[derive(Debug)]
pub struct Salvaged {
    /// Where they had been, if that is known.
    pub path: Option<RelPathBuf>,
    /// The object that holds them now; `None` when they could not be read and stay where they are.
    pub object: Option<ObjectId>,
    /// Where they stay, if they do.
    pub left_at: Option<std::path::PathBuf>,
}

impl fmt::Display for Salvaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.path.as_ref().map_or_else(|| "a file".into(), |path| quote::name(path.as_bytes()));
        match (&self.object, &self.left_at) {
            (Some(id), _) => write!(f, "bytes of {what} that were nowhere else: 'wt-cat-object {id}' writes them"),
            (None, Some(place)) => {
                write!(f, "what {what} held cannot be removed and stays in {}", quote::path(place))
            }
            (None, None) => write!(f, "bytes of {what} were cleared"),
        }
    }
}

/// How many paths of a kind a report has.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Paths that got content.
    pub written: usize,
    /// Paths that were removed.
    pub deleted: usize,
    /// Paths that got only their mode.
    pub chmodded: usize,
    /// Paths that were left, for any reason.
    pub kept: usize,
}

impl Report {
    /// Takes the steps over: the work of the plan only names their places.
    pub(super) fn of(plan: &mut Plan, target: &Manifest, warnings: Vec<String>) -> Self {
        Self {
            target: target.id.clone(),
            lines: std::mem::take(&mut plan.steps),
            gaps: target.gaps.clone(),
            lost_gaps: std::mem::take(&mut plan.lost_gaps),
            warnings,
            forced: None,
            unknown: Vec::new(),
            salvaged: Vec::new(),
        }
    }

    pub(super) fn keep(&mut self, step: usize, reason: Reason) {
        if let Some(line) = self.lines.get_mut(step) {
            line.action = Action::Keep(reason);
            line.displaced = None;
        }
    }

    /// The lines, ascending by path bytes.
    pub fn sort(&mut self) {
        self.lines.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Whether the restore wrote or removed a file with ignore rules.
    #[must_use]
    pub fn changed_the_rules(&self) -> bool {
        self.lines.iter().any(|line| {
            matches!(line.action, Action::Write | Action::Delete)
                && [RuleSource::IterionIgnore, RuleSource::GitIgnore]
                    .iter()
                    .any(|source| source.name().as_bytes() == line.path.as_bytes())
        })
    }

    /// What whoever asked for the restore has to be told beside its lines: what was wrong with the rules, and where bytes
    /// are now that no snapshot has.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let mut notices = self.warnings.clone();
        notices.extend(self.salvaged.iter().map(ToString::to_string));
        for (path, id) in self.forced.iter().flat_map(|forced| &forced.stored) {
            let name = quote::name(path.as_bytes());
            notices.push(format!("what {name} held is in no snapshot; 'wt-cat-object {id}' writes it"));
        }
        notices
    }

    /// Counts by kind.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for line in &self.lines {
            match line.action {
                Action::Write => counts.written += 1,
                Action::Delete => counts.deleted += 1,
                Action::Chmod => counts.chmodded += 1,
                Action::Keep(_) => counts.kept += 1,
            }
        }
        counts
    }

    /// Whether something was left out against the request: exit code 3.
    #[must_use]
    pub fn left_something_out(&self) -> bool {
        self.salvaged.iter().any(|saved| saved.left_at.is_some())
            || self
                .lines
                .iter()
                .any(|line| matches!(&line.action, Action::Keep(reason) if !reason.is_as_requested()))
    }
}
