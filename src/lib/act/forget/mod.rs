//! Forget: removes snapshots from a run's history without breaking its chain or what authorship says of the rest.
//!
//! ```text
//! survey   every snapshot of the run, its own label, the labels that point to it, its place in the chain
//! choose   by name or by policy; head and what a label names are never chosen unless asked for
//! judge    what must stay so that the chain and authorship stay true (`judge`)
//! carry    children get the next older survivor as parent -> labels go -> pin and manifest go, newest first
//! ```
//!
//! Each step leaves a sound history behind, so it may be killed anywhere; the next one finishes. Objects stay: wt-prune
//! removes those that nothing names any more. Where an interval cannot be kept true it is kept whole, never carried.

mod choose;
mod judge;
mod shrink;
mod survey;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::history::History;
use crate::history::change::Change;
use crate::history::index::Index;
use crate::history::manifest;
use crate::store::engine_lock;
use crate::store::fsio::document;
use crate::store::id::SnapshotId;
use crate::store::lock::Lock;
use crate::store::{layout, read_document};
use crate::stream::quote;
use crate::tree::rules::TextGlob;
pub use shrink::{Across, across};
use survey::Survey;

/// Which snapshots are to stay; all others are chosen.
#[derive(Default)]
pub struct Policy {
    /// So many of the newest snapshots of the chain.
    pub last: Option<usize>,
    /// Those made within this time.
    pub within: Option<Duration>,
    /// Those that a matching label names, or that were made under one.
    pub labels: Vec<TextGlob>,
    /// Those that a gate names or that were made at one.
    pub gates: bool,
}

impl Policy {
    fn is_empty(&self) -> bool {
        self.last.is_none() && self.within.is_none() && self.labels.is_empty() && !self.gates
    }
}

/// What is asked for.
#[derive(Default)]
pub struct Request {
    /// Snapshots by name; each must go or nothing does.
    pub named: Vec<String>,
    /// What is to stay; with `bytes_max` it chooses nothing.
    pub policy: Policy,
    /// Labels that do not protect: they go with their snapshot. Alone, what they name is chosen.
    pub drop_labels: Vec<TextGlob>,
    /// The oldest snapshots go until the files of the rest take no more bytes than this.
    pub bytes_max: Option<u64>,
}

/// Whether the plan will be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// It is only looked at.
    Look,
    /// It is carried out: the history is locked from here on.
    Change {
        /// Whether an unrelated engine may hold the run's lock.
        while_running: bool,
    },
}

/// A snapshot that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// Its id.
    pub id: SnapshotId,
    /// Its own label.
    pub own: Option<String>,
    /// Labels that go with it.
    pub labels: Vec<String>,
}

/// A snapshot that was chosen and stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its id.
    pub id: SnapshotId,
    /// Why.
    pub reason: String,
}

/// What a forget would do.
pub struct Plan<'a> {
    history: &'a History,
    index: Index,
    _lock: Option<Lock>,
    /// What goes, newest first.
    pub gone: Vec<Gone>,
    /// What was chosen and stays, newest first.
    pub kept: Vec<Kept>,
    /// How many snapshots the run has then.
    pub left: usize,
    /// Bytes of the files of the rest, where `bytes_max` was asked for and is still exceeded.
    pub still_bytes: Option<u64>,
    /// Survivors whose parent goes, and the parent they get.
    reparented: Vec<(SnapshotId, Option<SnapshotId>)>,
}

/// Finds out what goes.
///
/// # Errors
/// [`crate::error::Kind::Refused`] when a snapshot that was named must stay, [`crate::error::Kind::NotFound`] when one is
/// not there, [`crate::error::Kind::Damaged`] when any manifest of the run cannot be read,
/// [`crate::error::Kind::Conflict`] when an engine is at work or the lock was not had in time.
pub fn plan<'a>(history: &'a History, request: &Request, intent: Intent) -> Result<Plan<'a>> {
    let lock = match intent {
        Intent::Look => None,
        Intent::Change { while_running } => {
            engine_lock::refuse_foreign_engine(history.store(), history.run(), while_running)?;
            refuse_missing(history)?;
            history.lock_for_change()?
        }
    };
    refuse_missing(history)?;
    let index = history.index()?;
    let survey = Survey::take(history, &index)?;
    let mut chosen = choose::choose(history, &index, &survey, request)?;
    let mut kept = chosen.kept;
    for (id, reason) in judge::stays(history, &index, &survey, &mut chosen.doomed)? {
        if chosen.named.contains(&id) {
            return Err(refusal(history, &id, &reason));
        }
        kept.push(Kept { id, reason });
    }
    let still_bytes = match request.bytes_max {
        Some(limit) => shrink::shrink(history, &survey, request, limit, &mut chosen.doomed)?,
        None => None,
    };
    let doomed = chosen.doomed;
    let gone = survey.newest_first().filter(|snapshot| doomed.contains(&snapshot.id));
    let gone: Vec<Gone> = gone
        .map(|snapshot| Gone {
            id: snapshot.id.clone(),
            own: snapshot.own.clone(),
            labels: snapshot.labels.clone(),
        })
        .collect();
    kept.sort_by(|a, b| b.id.cmp(&a.id));
    Ok(Plan {
        history,
        index,
        _lock: lock,
        left: survey.len() - gone.len(),
        reparented: reparented(&survey, &doomed),
        gone,
        kept,
        still_bytes,
    })
}

fn refuse_missing(history: &History) -> Result<()> {
    if layout::history(history.store().root(), history.run()).is_dir() {
        return Ok(());
    }
    Err(history.is_missing())
}

fn refusal(history: &History, id: &SnapshotId, reason: &str) -> Error {
    let path = layout::manifest(history.store().root(), history.run(), id);
    Error::refused(format!("snapshot '{id}' must stay: {reason}")).at(path)
}

/// Every survivor whose parent goes gets the next older survivor.
fn reparented(survey: &Survey, doomed: &BTreeSet<SnapshotId>) -> Vec<(SnapshotId, Option<SnapshotId>)> {
    let mut changed = Vec::new();
    for snapshot in survey.newest_first().filter(|snapshot| !doomed.contains(&snapshot.id)) {
        let mut parent = snapshot.parent.clone();
        let mut steps = 0;
        while let Some(gone) = parent.as_ref().filter(|parent| doomed.contains(*parent)) {
            parent = survey.get(gone).and_then(|gone| gone.parent.clone());
            steps += 1;
            if steps > survey.len() {
                parent = None;
            }
        }
        if parent != snapshot.parent {
            changed.push((snapshot.id.clone(), parent));
        }
    }
    changed
}

impl Plan<'_> {
    /// Carries the plan out; `forgotten` hears of each snapshot when it is gone.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`]; the history is sound then, and the next forget goes on.
    pub fn carry_out(mut self, forgotten: &mut dyn FnMut(&Gone)) -> Result<()> {
        let (root, run) = (self.history.store().root(), self.history.run());
        let durability = self.history.store().durability();
        for (id, parent) in &self.reparented {
            let path = layout::manifest(root, run, id);
            let changed = manifest::with_parent(&read_document(&path)?, parent.as_ref())
                .map_err(|problem| Error::damaged(&path, problem))?;
            document::replace(&path, &[&changed], durability)?;
        }
        let labels = self.gone.iter().flat_map(|gone| &gone.labels).map(|label| (label.clone(), None)).collect();
        self.history.apply(&mut self.index, Change { labels, ..Change::default() })?;
        for gone in &self.gone {
            // The pin first: alone it would keep its objects alive for ever.
            document::remove(&layout::pin(root, run, &gone.id))?;
            document::remove(&layout::manifest(root, run, &gone.id))?;
            forgotten(gone);
        }
        if !self.gone.is_empty() {
            document::flush_dir(&layout::snapshots(root, run), durability)?;
        }
        Ok(())
    }
}

/// The labels of a snapshot that still protect it.
fn protecting<'s>(labels: &'s [String], dropped: &[TextGlob], asked: &[&str]) -> Vec<&'s str> {
    labels
        .iter()
        .map(String::as_str)
        .filter(|label| !dropped.iter().any(|glob| glob.matches(label)) && !asked.contains(label))
        .collect()
}

fn named_by(labels: &[&str]) -> String {
    let shown: Vec<String> = labels.iter().map(|label| quote::name(label.as_bytes())).collect();
    format!("label {} names it (--drop-labels drops labels)", shown.join(", "))
}
