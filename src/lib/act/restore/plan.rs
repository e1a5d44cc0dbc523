//! [`Plan`]: what a restore will do, path by path, as a value.

use std::fmt;

use crate::error::{Error, Kind, Result};
use crate::history::coverage::Gap;
use crate::history::json;
use crate::history::manifest::{Manifest, Node};
use crate::store::id::ObjectId;
use crate::store::pool::Pool;
use crate::store::relpath::RelPathBuf;
use crate::stream::quote;
use crate::stream::record::{Content, GapReason, Record};

/// Why a path is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// `--protect` names it.
    Protected,
    /// It is not what `--keep-edited` recorded.
    Edited,
    /// The target did not capture it, for this reason: nothing is known of how it was.
    Gap(GapReason),
    /// The ignore rules leave it out now.
    Ignored,
    /// The store has no copy of what it holds.
    Unbanked,
    /// The store's copy of what it holds is damaged: this may be the last good one.
    Damaged,
    /// It is above the size cap, and the store has no copy of what it holds.
    Oversized,
    /// It cannot be read, so nothing is known of what it holds.
    Unreadable,
    /// A FIFO, socket or device.
    Special,
    /// Something that must stay is in its way.
    Blocked,
    /// The file system takes its name for that of another path.
    Collision,
    /// The system refuses to change it: permissions, an attribute, a mount point.
    Denied,
    /// Somebody changed it while the restore was at work.
    Changed,
}

impl Reason {
    /// The word in reports.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Protected => "protected",
            Self::Edited => "edited",
            Self::Gap(reason) => reason.as_str(),
            Self::Ignored => "ignored",
            Self::Unbanked => "unbanked",
            Self::Damaged => "damaged",
            Self::Oversized => "oversized",
            Self::Unreadable => "unreadable",
            Self::Special => "special",
            Self::Blocked => "blocked",
            Self::Collision => "collision",
            Self::Denied => "denied",
            Self::Changed => "changed",
        }
    }

    /// Whether leaving the path is what was asked for, or all that could be asked for.
    #[must_use]
    pub fn is_as_requested(&self) -> bool {
        matches!(self, Self::Protected | Self::Edited | Self::Gap(_))
    }

    /// What a person can do about it.
    #[must_use]
    pub fn way_out(&self) -> &'static str {
        match self {
            Self::Unbanked | Self::Oversized => {
                "capture it first (wt-bank), or --force to store its bytes and go on"
            }
            Self::Damaged => "'wt-fsck --repair-from WORKSPACE' makes the store's copy good again",
            Self::Ignored => "change the ignore rules, or --force to store its bytes and go on",
            Self::Unreadable => "make it readable and restore again",
            Self::Special | Self::Blocked | Self::Collision => "move what is in the way and restore again",
            Self::Denied => "get permission to change it and restore again",
            Self::Changed => "restore again when nobody else is writing",
            Self::Protected | Self::Edited | Self::Gap(_) => "",
        }
    }
}

/// What happens to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It gets the target's content.
    Write,
    /// It is removed.
    Delete,
    /// It gets the target's mode; its content is right.
    Chmod,
    /// It is left as it is.
    Keep(Reason),
}

impl fmt::Display for Action {
    /// The word in reports: `write`, `delete`, `chmod` or `keep:REASON`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write => f.write_str("write"),
            Self::Delete => f.write_str("delete"),
            Self::Chmod => f.write_str("chmod"),
            Self::Keep(reason) => write!(f, "keep:{}", reason.as_str()),
        }
    }
}

/// One line of the plan and of the report.
#[derive(Debug, Clone)]
pub struct Step {
    /// The path.
    pub path: RelPathBuf,
    /// Whether it is a directory, here or in the target.
    pub is_dir: bool,
    /// What happens to it.
    pub action: Action,
    /// The content that is replaced or removed.
    pub displaced: Option<ObjectId>,
}

impl Step {
    /// The path as reports show it: a directory ends in a slash.
    #[must_use]
    pub fn shown_path(&self) -> Vec<u8> {
        let mut path = self.path.as_bytes().to_vec();
        if self.is_dir {
            path.push(b'/');
        }
        path
    }

    /// The line as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = vec![b'{'];
        json::push_key(&mut out, "action");
        match &self.action {
            Action::Keep(_) => json::push_string(&mut out, "keep"),
            other => json::push_string(&mut out, &other.to_string()),
        }
        json::push_display_name(&mut out, "path", &self.shown_path());
        if let Action::Keep(reason) = &self.action {
            json::push_key(&mut out, "reason");
            json::push_string(&mut out, reason.as_str());
        }
        if let Some(id) = &self.displaced {
            json::push_key(&mut out, "displaced");
            json::push_string(&mut out, &id.to_string());
        }
        out.push(b'}');
        out
    }
}

/// One piece of work on the file system.
#[derive(Debug)]
pub(super) struct Op {
    /// Where.
    pub path: RelPathBuf,
    /// What.
    pub work: Work,
}

/// What is to be done at a path. Numbers are places in [`Plan::steps`] and in the target's entries.
#[derive(Debug)]
pub(super) enum Work {
    /// Puts one entry of the target where nothing is, or where one file or link is.
    Put {
        /// The step.
        step: usize,
        /// The entry.
        entry: usize,
        /// What is there now.
        replaces: Option<Record>,
    },
    /// Puts one file or link where a directory is, which is taken out whole.
    PutOverTree {
        /// The step.
        step: usize,
        /// The entry.
        entry: usize,
        /// Everything in the directory, and the steps of that.
        removed: Vec<(Record, usize)>,
    },
    /// Puts a whole directory where a file or link is.
    PutTree {
        /// What is there now, and its step.
        replaces: (Record, usize),
        /// The target's entries in it, and their steps.
        entries: Vec<(usize, usize)>,
    },
    /// Puts a whole directory where there is none.
    PutNewTree {
        /// The target's entries in it, and their steps.
        entries: Vec<(usize, usize)>,
    },
    /// Sets a mode.
    Chmod {
        /// The step.
        step: usize,
        /// The entry.
        entry: usize,
        /// What is there now.
        old: Record,
    },
    /// Removes a file or link.
    Remove {
        /// The step.
        step: usize,
        /// What is there now.
        old: Record,
    },
    /// Removes an empty directory, or one that is empty by then.
    RemoveDir {
        /// The step.
        step: usize,
    },
}

impl Work {
    /// The steps that it stands for.
    pub(super) fn steps(&self) -> Vec<usize> {
        match self {
            Self::Put { step, .. }
            | Self::Chmod { step, .. }
            | Self::Remove { step, .. }
            | Self::RemoveDir { step } => vec![*step],
            Self::PutOverTree { step, removed, .. } => {
                std::iter::once(*step).chain(removed.iter().map(|(_, step)| *step)).collect()
            }
            Self::PutTree { replaces: (_, step), entries } => {
                std::iter::once(*step).chain(entries.iter().map(|(_, step)| *step)).collect()
            }
            Self::PutNewTree { entries } => entries.iter().map(|(_, step)| *step).collect(),
        }
    }

    /// The target's entries that it writes.
    pub(super) fn entries(&self) -> Vec<usize> {
        match self {
            Self::Put { entry, .. } | Self::PutOverTree { entry, .. } => vec![*entry],
            Self::PutTree { entries, .. } | Self::PutNewTree { entries } => {
                entries.iter().map(|(entry, _)| *entry).collect()
            }
            Self::Chmod { .. } | Self::Remove { .. } | Self::RemoveDir { .. } => Vec::new(),
        }
    }
}

/// So many pieces of work are looked back for the one of a missing directory.
const OTHERS_BETWEEN_MAX: usize = 4;

/// What a restore will do.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Every path that is touched, or left although the target says otherwise.
    pub steps: Vec<Step>,
    /// The work, in the order in which it must be done.
    pub ops: Vec<Op>,
    /// What the target had not captured and is not there any more: nobody can bring it back.
    pub lost_gaps: Vec<Gap>,
    /// Paths whose bytes must be stored before they are replaced (`--force`).
    pub doomed: Vec<RelPathBuf>,
}

impl Plan {
    /// Adds a step and returns its place.
    pub(super) fn add(&mut self, path: &RelPathBuf, is_dir: bool, action: Action, old: Option<&Record>) -> usize {
        let displaced = match (&action, old.map(|old| &old.content)) {
            (Action::Write | Action::Delete, Some(Content::Object(id))) => Some(*id),
            _ => None,
        };
        self.steps.push(Step { path: path.clone(), is_dir, action, displaced });
        self.steps.len() - 1
    }

    /// Whether a path that the target records, or that would be removed, is left against the request.
    #[must_use]
    pub(super) fn leaves_something_out(&self) -> bool {
        self.left_out().next().is_some()
    }

    fn left_out(&self) -> impl Iterator<Item = (&Step, &Reason)> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Keep(reason) if !reason.is_as_requested() => Some((step, reason)),
            _ => None,
        })
    }

    /// The error of `--all-or-nothing`.
    pub(super) fn refusal(&self) -> Error {
        let count = self.left_out().count();
        match self.left_out().next() {
            None => Error::refused("something would be left out"),
            Some((step, reason)) => Error::refused(format!(
                "{count} paths would be left out, the first is {} ({})",
                quote::name(step.path.as_bytes()),
                reason.as_str()
            ))
            .at(step.path.as_path())
            .hint(reason.way_out()),
        }
    }

    /// The target's entries that are written.
    pub(super) fn written_entries(&self) -> impl Iterator<Item = usize> {
        self.ops.iter().flat_map(|op| op.work.entries())
    }

    pub(super) fn push(&mut self, path: &RelPathBuf, work: Work) {
        self.ops.push(Op { path: path.clone(), work });
    }

    /// Adds an entry to the work of the missing directory that it lies in. All entries of one directory come one after the
    /// other, and hardly any other work between them.
    pub(super) fn push_into_new_tree(&mut self, root: &RelPathBuf, entry: usize, step: usize) {
        for op in self.ops.iter_mut().rev().take(OTHERS_BETWEEN_MAX) {
            if let Work::PutNewTree { entries } = &mut op.work
                && op.path == *root
            {
                entries.push((entry, step));
                return;
            }
        }
        // A second piece of work for the same directory finds it there, and then each path gets its place by itself.
        self.push(root, Work::PutNewTree { entries: vec![(entry, step)] });
    }

    /// Finds out before anything is changed that every object to be written is there, with the right size.
    ///
    /// # Errors
    /// [`Kind::Damaged`] naming the first that is not.
    pub(super) fn check_objects(&self, pool: Option<&Pool>, target: &Manifest) -> Result<()> {
        for number in self.written_entries() {
            let Some(entry) = target.entries.get(number) else { continue };
            let Node::File { hash, size } = entry.node else { continue };
            let found = match pool {
                Some(pool) => pool.size_of(hash)?,
                None => None,
            };
            if found != Some(size) {
                let problem = if found.is_none() { "is not in the pool" } else { "has the wrong size" };
                return Err(Error::new(
                    Kind::Damaged,
                    format!("object {hash} of {} {problem}", quote::name(entry.path.as_bytes())),
                )
                .at(entry.path.as_path())
                .hint("nothing was changed; 'wt-fsck' examines the store"));
            }
        }
        Ok(())
    }
}
