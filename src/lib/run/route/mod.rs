//! Who acts on an outcome of a run: a registry with one decision for each outcome (facts 4.10, case 71).
//!
//! ```text
//! <store>/runs/<run>/route_decisions.json
//! {version: 1, decisions: {"<outcome_seq>": {run_id, outcome_seq, state: claimed | succeeded | failed, attempts,
//!                                            lease_owner, lease_until?, result?, last_error?, created_at, updated_at}}}
//! ```
//!
//! The facts say what the registry of the original does, and not where it lies or what its members are called. So files and
//! names here are ours, and what has another shape is somebody else's: it is neither understood nor changed.
//!
//! An outcome is claimed for a while. Of many who do that one gets it; while its lease lasts nobody else does, not even the
//! same owner. A lease that ran out, and an attempt that failed, may be followed by another one until there were
//! [`ATTEMPTS_MAX`]; one that succeeded is the last. Each claim raises `attempts`, so owner and attempt together name it, and
//! who comes late with the outcome of a claim that was taken over changes nothing.
//!
//! * [`decision`]: what one decision says, and what that allows.
//! * [`ledger`]: the file.
//! * [`list`]: the decisions of one run or of all.
//! * [`watermark`]: the time that the whole store has once and for all.

pub mod decision;
mod ledger;
pub mod list;
pub mod watermark;

use std::time::Duration;

use super::access::{self, Writing};
use super::json::Json;
use super::record;
use crate::clock;
use crate::error::{Error, Fact, Kind, Result};
use crate::store::Store;
use crate::store::id::RunId;
use crate::stream::quote;
use decision::{Decision, Standing, State};
use ledger::Ledger;

/// So often an outcome may be claimed.
pub const ATTEMPTS_MAX: i64 = 3;
/// Shortest and longest lease.
pub const LEASE_SECONDS: std::ops::RangeInclusive<u64> = 1..=7 * 86_400;
/// Longest name of an owner, in bytes.
const OWNER_BYTES_MAX: usize = 256;
/// Largest result, and longest text of an error, in bytes.
const REPORT_BYTES_MAX: usize = 1 << 20;

/// The members of a decision in the order in which they are written.
const ORDER: &[&str] = &[
    "run_id",
    "outcome_seq",
    "state",
    "attempts",
    "lease_owner",
    "lease_until",
    "result",
    "last_error",
    "created_at",
    "updated_at",
];

/// What is claimed, by whom, and for how long.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The outcome; the run's present one if it is `None`.
    pub outcome: Option<i64>,
    /// Who claims it.
    pub owner: String,
    /// For how long, within [`LEASE_SECONDS`].
    pub lease: Duration,
}

/// Claims the routing of an outcome; gives the decision as it is stored.
///
/// # Errors
/// [`Kind::Conflict`] while somebody holds it, after it succeeded, and after [`ATTEMPTS_MAX`] claims; [`Kind::NotFound`] for a
/// run that is not there and an outcome that it has not reached; [`Kind::Refused`] and [`Kind::Damaged`] for a registry that
/// cannot be understood; those of [`Writing::begin`]. Nothing is written then. [`Kind::Io`] where the claim may stand says so.
pub fn claim(store: &Store, run: &RunId, wanted: &Wanted) -> Result<Json> {
    check_owner(&wanted.owner)?;
    if !LEASE_SECONDS.contains(&wanted.lease.as_secs()) {
        return Err(Error::usage(format!("a lease of {} seconds is not possible", wanted.lease.as_secs()))
            .hint(format!("it lasts from {} second to {} seconds", LEASE_SECONDS.start(), LEASE_SECONDS.end())));
    }
    // No directory is made for a run that is not there.
    record::load(store, run)?;
    let writing = Writing::perhaps(store, run)?;
    let outcome = reached(store, run, wanted.outcome)?;
    let mut ledger = Ledger::read(store, run)?;
    let now_ns = clock::now_ns();
    let before = ledger.decision(outcome)?;
    if let Some(decision) = &before {
        let has_failed = ledger.get(outcome).is_some_and(|json| json.get("last_error").is_some());
        refuse_unless_free(run, decision, has_failed, now_ns)?;
    }
    let (now, lease_ns) = (clock::rfc3339(now_ns), u64::try_from(wanted.lease.as_nanos()).unwrap_or(u64::MAX));
    let mut json = match ledger.get(outcome) {
        Some(json) => json.clone(),
        None => Json::object([
            ("run_id", Json::string(run.as_str())),
            ("outcome_seq", Json::integer(outcome)),
            ("created_at", Json::string(&now)),
        ]),
    };
    let attempts = before.map_or(0, |decision| decision.attempts).saturating_add(1);
    for (key, value) in [
        ("state", Json::string(State::Claimed.as_str())),
        ("attempts", Json::integer(attempts)),
        ("lease_owner", Json::string(&wanted.owner)),
        ("lease_until", Json::string(&clock::rfc3339(now_ns.saturating_add(lease_ns)))),
        ("updated_at", Json::string(&now)),
    ] {
        json.set_in_order(key, value, ORDER);
    }
    writing.tighten()?;
    ledger.put(store, outcome, json.clone()).map_err(|error| {
        // It may have failed after the file was in place, and a claim that is not finished keeps others waiting.
        match Ledger::read(store, run) {
            Ok(stored) if !stored.get(outcome).is_some_and(|stored| stored.is_same(&json)) => error,
            _ => error
                .hint(may_stand(run, &json))
                .with_fact("state", Fact::Text(State::Claimed.as_str().to_owned()))
                .with_fact("attempts", Fact::Number(attempts)),
        }
    })?;
    drop(writing);
    Ok(json)
}

/// What a person has to know of a claim, as it is stored, of whose end nobody was told.
#[must_use]
pub fn may_stand(run: &RunId, claim: &Json) -> String {
    let word = |key: &str| quote::shell_word(&claim.text_of(key)).into_owned();
    let number = |key: &str| claim.get(key).and_then(Json::as_integer).unwrap_or_default();
    let (attempt, run) = (number("attempts"), quote::shell_word(run.as_str()));
    format!(
        "the claim may stand, as attempt {attempt}: 'run-route list --run {run}' shows it, and \
         'run-route finish --run {run} --seq {} --owner {} --attempt {attempt} --failed ERROR' lets it go",
        number("outcome_seq"),
        word("lease_owner")
    )
}

/// Which claim.
#[derive(Debug, Clone)]
pub struct Held {
    /// The outcome.
    pub outcome: i64,
    /// Who claimed it.
    pub owner: String,
    /// Which attempt the claim was, as it was told.
    pub attempt: i64,
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum End {
    /// It was done, perhaps with something to tell.
    Succeeded(Option<Json>),
    /// It was not, and why.
    Failed(String),
}

impl End {
    fn state(&self) -> State {
        match self {
            Self::Succeeded(_) => State::Succeeded,
            Self::Failed(_) => State::Failed,
        }
    }

    /// The member that tells of it.
    fn report(&self) -> Option<(&'static str, Json)> {
        match self {
            Self::Succeeded(result) => result.clone().map(|result| ("result", result)),
            Self::Failed(error) => Some(("last_error", Json::string(error))),
        }
    }
}

/// Writes what came of a claim, and lets it go; gives the decision, and whether it was written now. Whoever still holds a
/// claim whose lease ran out may: nobody has taken it over.
///
/// # Errors
/// [`Kind::Conflict`] for whoever does not hold the claim, or has said otherwise before; [`Kind::Limit`] for a report above the
/// limit; [`Kind::NotFound`] for a run that is not there and an outcome that it has not reached; those of [`claim`] about the
/// registry. Nothing is written then.
pub fn finish(store: &Store, run: &RunId, held: &Held, end: &End) -> Result<(Json, bool)> {
    check_owner(&held.owner)?;
    let report = end.report();
    if report.as_ref().is_some_and(|(_, value)| value.compact().len() > REPORT_BYTES_MAX) {
        return Err(Error::limit(format!("what is told of the attempt has more than {REPORT_BYTES_MAX} bytes"))
            .hint("put the large part into an artifact, and refer to it"));
    }
    access::reading(store, run)?;
    let writing = Writing::perhaps(store, run)?;
    let mut ledger = Ledger::read(store, run)?;
    let Some(decision) = ledger.decision(held.outcome)? else {
        reached(store, run, Some(held.outcome))?;
        return Err(Error::conflict(format!("{} is not claimed", named(run, held.outcome)))
            .hint("claim it with 'run-route claim'"));
    };
    if decision.owner != held.owner || decision.attempts != held.attempt {
        return Err(conflict(
            run,
            &decision,
            &format!(
                "was claimed by {} in attempt {}, not by {} in attempt {}",
                quoted(&decision.owner),
                decision.attempts,
                quoted(&held.owner),
                held.attempt
            ),
        )
        .hint("leave it to whoever has it now"));
    }
    let mut json = ledger.get(held.outcome).cloned().unwrap_or_default();
    if decision.state != State::Claimed {
        let is_told = match &report {
            Some((key, value)) => json.get(key).is_some_and(|told| told.is_same(value)),
            None => json.get("result").is_none(),
        };
        if decision.state != end.state() || !is_told {
            let state = decision.state.as_str();
            return Err(conflict(run, &decision, &format!("was finished before in this attempt: it has {state}")));
        }
        ledger.settle(store)?;
        return Ok((json, false));
    }
    json.remove("lease_until");
    json.set_in_order("state", Json::string(end.state().as_str()), ORDER);
    if let Some((key, value)) = report {
        json.set_in_order(key, value, ORDER);
    }
    json.set_in_order("updated_at", Json::string(&clock::rfc3339(clock::now_ns())), ORDER);
    writing.tighten()?;
    ledger
        .put(store, held.outcome, json.clone())
        .map_err(|error| error.also("it may be written all the same: the same command again makes sure of it"))?;
    drop(writing);
    Ok((json, true))
}

/// The decision about an outcome, and how it stands now; `None` where nobody has claimed it.
///
/// # Errors
/// [`Kind::Refused`] and [`Kind::Damaged`] for a registry that cannot be understood, [`Kind::Io`].
pub fn of_outcome(store: &Store, run: &RunId, outcome: i64) -> Result<Option<(Json, Standing)>> {
    let ledger = Ledger::read(store, run)?;
    let Some(decision) = ledger.decision(outcome)? else { return Ok(None) };
    let json = ledger.get(outcome).cloned().unwrap_or_default();
    Ok(Some((json, decision.standing(clock::now_ns()))))
}

/// A live claim on any outcome of a run.
///
/// # Errors
/// [`Kind::Refused`] and [`Kind::Damaged`] for a registry that cannot be understood: nobody can say then whether there is
/// one. [`Kind::Io`].
pub fn held(store: &Store, run: &RunId) -> Result<Option<Decision>> {
    let now_ns = clock::now_ns();
    for (_, decision) in Ledger::read(store, run)?.decisions() {
        let decision = decision?;
        if decision.standing(now_ns) == Standing::Live {
            return Ok(Some(decision));
        }
    }
    Ok(None)
}

/// The outcome that is meant, which the run must have reached. The caller holds the lock of the run's documents.
fn reached(store: &Store, run: &RunId, wanted: Option<i64>) -> Result<i64> {
    let document = record::load(store, run)?;
    if let Some(error) = record::stranger(&document, run) {
        return Err(error);
    }
    let present = record::outcomes(&document);
    let outcome = wanted.unwrap_or(present);
    if (1..=present).contains(&outcome) {
        return Ok(outcome);
    }
    let name = quoted(run.as_str());
    let what = match wanted {
        None => format!("run {name} has had no outcome yet"),
        Some(_) => format!("run {name} has no outcome {outcome}: it has had {present}"),
    };
    Err(Error::new(Kind::NotFound, what)
        .with_fact("outcome_seq", Fact::Number(present))
        .hint("an outcome is there once the run has ended; 'run-record get /outcome_seq' says how many there were"))
}

/// `has_failed`: one of the attempts was finished as failed, and said why.
fn refuse_unless_free(run: &RunId, decision: &Decision, has_failed: bool, now_ns: u64) -> Result<()> {
    let owner = quoted(&decision.owner);
    match decision.standing(now_ns) {
        Standing::Lapsed | Standing::Failed => Ok(()),
        Standing::Live => {
            Err(conflict(run, decision, &decision.live())
                .hint("wait until it is finished or its lease has run out"))
        }
        Standing::Succeeded => Err(conflict(run, decision, &format!("was routed by {owner}"))
            .hint("nothing is left to do; 'run-route list' shows what was done")),
        Standing::Exhausted => {
            let attempts = decision.attempts;
            let what = match (decision.state, has_failed) {
                (State::Claimed, false) => {
                    format!("all {attempts} leases ran out, and nobody said what came of it")
                }
                (State::Claimed, true) => "attempts failed, and the last lease ran out".to_owned(),
                _ => "attempts failed or their leases ran out, and the last one failed".to_owned(),
            };
            let why = format!("was claimed {attempts} times, which is all, the last time by {owner}: {what}");
            let name = quote::shell_word(run.as_str());
            Err(conflict(run, decision, &why).hint(format!(
                "nothing allows another attempt: a person does by hand what is to follow, and records it with \
                 run-record, see run-route(1); 'run-route list --run {name}' shows the last attempt"
            )))
        }
    }
}

/// A conflict with a decision, which it describes.
fn conflict(run: &RunId, decision: &Decision, why: &str) -> Error {
    Error::conflict(format!("{} {why}", named(run, decision.outcome)))
        .with_fact("state", Fact::Text(decision.state.as_str().to_owned()))
        .with_fact("attempts", Fact::Number(decision.attempts))
}

fn named(run: &RunId, outcome: i64) -> String {
    format!("outcome {outcome} of run {}", quoted(run.as_str()))
}

fn quoted(text: &str) -> String {
    quote::name(text.as_bytes())
}

fn check_owner(owner: &str) -> Result<()> {
    if owner.is_empty() {
        return Err(Error::usage("the owner has no name").hint("say with --owner who it is"));
    }
    if owner.len() > OWNER_BYTES_MAX || owner.chars().any(char::is_control) {
        let shown: String = owner.chars().take(64).collect();
        return Err(Error::usage(format!(
            "owner {} has control characters or more than {OWNER_BYTES_MAX} bytes",
            quoted(&shown)
        )));
    }
    Ok(())
}
