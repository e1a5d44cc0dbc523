//! [`settle`]: a run that says it is running and is not becomes one that failed and may be resumed (facts 2.9).
//!
//! ```text
//! judge -> take the run's lock -> judge again -> run.json's lock -> one event -> the status -> a dead .pid
//! ```
//!
//! The event comes first, and once for each episode: a run that is settled again after a kill in between finds it in the
//! log. There is one rule for all orphans, with a checkpoint or without (facts 10.1, 10.29).

use super::events::append;
use super::events::draft::Draft;
use super::events::event::integer;
use super::events::vocabulary::{Turn, turn};
use super::json::Json;
use super::liveness::{self, LockIs, Rules, Verdict, judge};
use super::record::WriteLock;
use super::status::Status;
use super::transition::{self, Outcome};
use super::{pid, record};
use crate::clock;
use crate::error::{Kind, Result};
use crate::store::id::RunId;
use crate::store::process::{Presence, Process};
use crate::store::run_lock::{Attempt, RunLock};
use crate::store::{Store, seam};

/// The `source` of the event that explains an orphan.
pub const SOURCE: &str = "orphan_reconcile";
/// The `failure_code` of an orphan.
pub const CODE: &str = "PROCESS_ORPHANED";

/// What was found, and done.
#[derive(Debug)]
pub struct Settled {
    /// What the run was found to be.
    pub verdict: Verdict,
    /// What was done to an orphan.
    pub done: Option<Done>,
}

/// What was done to an orphan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The episode that has ended so.
    pub outcome_seq: i64,
    /// The number of the event; none where an earlier attempt had appended it.
    pub event_seq: Option<u64>,
    /// The new revision of run.json.
    pub revision: i64,
}

/// Judges a run, and ends it if it is an orphan.
///
/// # Errors
/// Those of [`judge`]; [`Kind::Refused`] for a document of a newer format, [`Kind::Conflict`] when run.json or the log is
/// locked too long. The run is as it was then, or has the event and not the status, and is settled by the next attempt.
pub fn settle(store: &Store, run: &RunId, rules: Rules) -> Result<Settled> {
    let verdict = judge(store, run, rules, LockIs::Unknown)?;
    match verdict {
        Verdict::Orphaned => {}
        Verdict::Young(_) | Verdict::Followed(_) | Verdict::Idle(_) => {
            forget_dead(store, run)?;
            return Ok(Settled { verdict, done: None });
        }
        _ => return Ok(Settled { verdict, done: None }),
    }
    seam::hook("reconcile-judged");
    let lock = match RunLock::try_existing(store, run)? {
        Attempt::Held(lock) => lock,
        Attempt::Busy(holder) => return Ok(Settled { verdict: Verdict::Live(holder), done: None }),
    };
    let dead = dead(store, run)?;
    // Much may have happened since: a resume that has come and gone, or a parent that has begun.
    let verdict = judge(store, run, rules, LockIs::Ours)?;
    if verdict != Verdict::Orphaned {
        return Ok(Settled { verdict, done: None });
    }
    let done = end(store, run, dead.as_ref())?;
    if let Some(dead) = dead {
        pid::remove(store, run, &dead, &lock)?;
    }
    match done {
        Ok(done) => Ok(Settled { verdict, done: Some(done) }),
        Err(status) => Ok(Settled { verdict: Verdict::Idle(status), done: None }),
    }
}

/// The process that `.pid` names and that has ended.
fn dead(store: &Store, run: &RunId) -> Result<Option<Process>> {
    match pid::read(store, run) {
        Ok(process) => Ok(process.filter(|process| process.presence() == Presence::Gone)),
        Err(error) if error.kind() == Kind::Damaged => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a `.pid` whose process has ended. Where somebody holds the run's lock it is theirs.
fn forget_dead(store: &Store, run: &RunId) -> Result<()> {
    if dead(store, run)?.is_some()
        && let Attempt::Held(lock) = RunLock::try_existing(store, run)?
        && let Some(dead) = dead(store, run)?
    {
        pid::remove(store, run, &dead, &lock)?;
    }
    Ok(())
}

/// Appends the event, unless it is there, and writes the status. The status that the run has instead, when it is not running.
fn end(store: &Store, run: &RunId, dead: Option<&Process>) -> Result<Result<Done, String>> {
    let document = WriteLock::take(store, run)?;
    let mut json = document.read()?;
    if record::status(&json) != Some(Status::Running) {
        return Ok(Err(json.text_of("status").into_owned()));
    }
    let reason = match dead {
        Some(process) => format!("the process {} that executed the run has ended", process.pid),
        None => "no process executes the run any more".to_owned(),
    };
    let outcome_seq = record::outcomes(&json).saturating_add(1);
    let event_seq = if is_explained(store, run, outcome_seq)? {
        None
    } else {
        // A flush that fails is made up for, or reported, when the document is written.
        let (receipt, _) = append::one(store, run, &explanation(&reason, outcome_seq), true)?;
        Some(receipt.seq)
    };
    seam::hook("reconcile-explained");
    let outcome = Outcome { error: reason, code: CODE.into(), ..Outcome::default() };
    transition::apply(&mut json, Status::FailedResumable, &outcome, &clock::rfc3339(clock::now_ns()));
    let revision = document.write(&mut json)?;
    Ok(Ok(Done { outcome_seq, event_seq, revision }))
}

fn explanation(reason: &str, outcome_seq: i64) -> Draft {
    let data = Json::object([
        ("reason", Json::string(reason)),
        ("source", Json::string(SOURCE)),
        ("code", Json::string(CODE)),
        ("outcome_seq", Json::integer(outcome_seq)),
    ]);
    Draft { kind: "run_interrupted".into(), data: data.compact(), ..Draft::default() }
}

/// Whether the log explains this episode already. What stands before the last start of the run is of another one.
fn is_explained(store: &Store, run: &RunId, outcome_seq: i64) -> Result<bool> {
    let mut found = false;
    liveness::walk_back(store, run, |event| {
        found = liveness::explains(event)
            && event.datum(&["outcome_seq"]).and_then(integer) == u64::try_from(outcome_seq).ok();
        !found && turn(&event.kind) != Some(Turn::Opens)
    })?;
    Ok(found)
}
