//! [`judge`]: whether a run that says it is running is being executed (facts 2.9).
//!
//! ```text
//! status is not running                         idle
//! the run lies on a network file system         unsure, unless its locks are trusted
//! the process in .pid is there                  attached
//! its lock is held                              live
//! a run that waits for it is live               followed
//! it, or its last event, is younger than grace  young
//! none of these                                 orphaned
//! ```
//!
//! The order is that of certainty. Nothing here changes anything; [`super::reconcile`] does, and asks again under the lock.

use std::collections::HashSet;
use std::time::Duration;

use super::events::bisect;
use super::events::event::{Event, string};
use super::events::lines::Tail;
use super::events::source;
use super::json::Json;
use super::status::Status;
use super::{pid, record};
use crate::clock;
use crate::error::{IoContext, Kind, Result};
use crate::store::id::RunId;
use crate::store::process::{Presence, Process};
use crate::store::run_lock::{self, Holder};
use crate::store::{Store, layout};
use crate::stream::quote;

/// How long a run is given to show itself, unless a caller says otherwise (facts 2.9.6).
pub const GRACE_SECONDS: u64 = 120;

/// What a judge goes by.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// How long a run is given to show itself.
    pub grace: Duration,
    /// Whether a free lock on a network file system counts.
    pub trust_network: bool,
}

/// What a run is found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It does not say that it is running.
    Idle(String),
    /// The process that its `.pid` names is there.
    Attached(Process),
    /// Its lock is held.
    Live(Holder),
    /// A run that waits for it is live.
    Followed(RunId),
    /// It began, or something happened to it, so many seconds ago; negative for a time in the future.
    Young(i64),
    /// Nobody can tell from here: it lies on this kind of network file system.
    Unsure(&'static str),
    /// It says that it is running, and nobody executes it.
    Orphaned,
}

impl Verdict {
    /// The word for it, and by what it was found.
    #[must_use]
    pub fn words(&self) -> (&'static str, String) {
        match self {
            Self::Idle(status) => ("idle", quote::masked(status.as_bytes())),
            Self::Attached(process) => ("attached", format!("process {}", process.pid)),
            Self::Live(holder) => ("live", format!("its lock is held by {holder}")),
            Self::Followed(parent) => ("followed", format!("run {parent} waits for it")),
            Self::Young(seconds) if *seconds < 0 => ("young", "its newest time is in the future".into()),
            Self::Young(seconds) => ("young", format!("{seconds} s since its last sign of life")),
            Self::Unsure(kind) => ("unsure", format!("on {kind} a lock may be held and not be seen")),
            Self::Orphaned => ("orphaned", "nobody executes it".into()),
        }
    }
}

/// Who holds the run's lock, for a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockIs {
    /// To be looked at.
    Unknown,
    /// Held by the caller, who executes nothing.
    Ours,
}

/// Judges a run by its document, `.pid`, lock, ancestors and log.
///
/// # Errors
/// [`Kind::NotFound`] for a run that is not there, [`Kind::Damaged`] for one that cannot be understood, or whose ancestor
/// cannot; [`Kind::Io`].
pub fn judge(store: &Store, run: &RunId, rules: Rules, lock: LockIs) -> Result<Verdict> {
    let json = record::load(store, run)?;
    if record::status(&json) != Some(Status::Running) {
        return Ok(Verdict::Idle(json.text_of("status").into_owned()));
    }
    if let Some(process) = attached(store, run)? {
        return Ok(Verdict::Attached(process));
    }
    if lock == LockIs::Unknown
        && let Some(holder) = run_lock::holder(store, run)?
    {
        return Ok(Verdict::Live(holder));
    }
    if !rules.trust_network
        && let Some(kind) = run_lock::network(store, run)?
    {
        return Ok(Verdict::Unsure(kind));
    }
    if let Some(ancestor) = live_ancestor(store, run, json.clone())? {
        return Ok(Verdict::Followed(ancestor));
    }
    // A run that never gave a sign of life with a time is older than any grace.
    let age_ns = i128::from(clock::now_ns()).saturating_sub(newest_sign(store, run, &json)?);
    if age_ns < i128::try_from(rules.grace.as_nanos()).unwrap_or(i128::MAX) {
        return Ok(Verdict::Young(i64::try_from(age_ns / 1_000_000_000).unwrap_or(i64::MIN)));
    }
    Ok(Verdict::Orphaned)
}

/// The process that `.pid` names, if it is there. A file that names none is as good as missing.
pub(super) fn attached(store: &Store, run: &RunId) -> Result<Option<Process>> {
    match pid::read(store, run) {
        Ok(process) => Ok(process.filter(|process| process.presence() == Presence::Alive)),
        Err(error) if error.kind() == Kind::Damaged => Ok(None),
        Err(error) => Err(error),
    }
}

/// The nearest run up the chain of those that wait for the next one below and that is executed. An asynchronous link, a
/// run that is not there and a circle end the chain.
fn live_ancestor(store: &Store, run: &RunId, mut json: Json) -> Result<Option<RunId>> {
    let mut seen = HashSet::from([run.clone()]);
    loop {
        if json.text_of("parent_node_id").is_empty() {
            return Ok(None);
        }
        let Ok(parent) = RunId::named(&json.text_of("parent_run_id")) else { return Ok(None) };
        if !seen.insert(parent.clone()) {
            return Ok(None);
        }
        if run_lock::holder(store, &parent)?.is_some() || attached(store, &parent)?.is_some() {
            return Ok(Some(parent));
        }
        json = match record::load(store, &parent) {
            Err(error) if error.kind() == Kind::NotFound => return Ok(None),
            other => other?,
        };
    }
}

/// When the run was made, or something last happened to it, whichever is later.
fn newest_sign(store: &Store, run: &RunId, json: &Json) -> Result<i128> {
    let created = clock::parse_rfc3339(&json.text_of("created_at"));
    let happened = last_event_time(store, run)?;
    Ok(created.max(happened).unwrap_or(i128::MIN))
}

fn last_event_time(store: &Store, run: &RunId) -> Result<Option<i128>> {
    let mut newest = None;
    walk_back(store, run, |event| {
        // What says that the run is an orphan is no sign of life.
        if !explains(event) {
            newest = clock::parse_rfc3339(&event.timestamp);
        }
        newest.is_none()
    })?;
    Ok(newest)
}

/// Whether an event says that a run was found to be an orphan.
#[must_use]
pub fn explains(event: &Event<'_>) -> bool {
    event.kind == "run_interrupted"
        && event.datum(&["source"]).and_then(string).is_some_and(|source| source == super::reconcile::SOURCE)
}

/// Gives the events of a run from the last to the first, until `visit` says that it has enough.
///
/// # Errors
/// [`Kind::Io`], [`Kind::Damaged`] for a log that is no file.
pub fn walk_back(store: &Store, run: &RunId, mut visit: impl FnMut(&Event<'_>) -> bool) -> Result<()> {
    let path = layout::events(store.root(), run);
    let Some(file) = source::open(&path)? else { return Ok(()) };
    let len = source::len(&file).on("cannot examine", &path)?;
    bisect::walk_back(&file, len, Tail::Emit, |_, event| visit(event)).on("cannot read", &path)
}
