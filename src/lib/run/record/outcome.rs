//! The writers of a status: set, pause, fail (facts 2.4). What a status brings along is [`transition::apply`]'s business,
//! which status may follow which is that of the graph.

use super::write::{self, Change, Expected, Receipt};
use super::{checkpoint, status};
use crate::clock;
use crate::error::{Error, Result};
use crate::run::companion::{Companion, Teller};
use crate::run::interaction::{self, State};
use crate::run::json::Json;
use crate::run::status::Status;
use crate::run::transition::{self, Outcome};
use crate::store::Store;
use crate::store::component::Component;
use crate::store::id::RunId;
use crate::stream::quote;

/// The event that tells of a status that the graph does not have.
pub const FORCED_EVENT: &str = "run_status_forced";
/// The cause of a run that could not be launched.
pub const LAUNCH_FAILED: &str = "LAUNCH_FAILED";

/// How strict a writer of a status is.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Whether a status may follow that the graph does not have: repair by hand.
    pub is_forced: bool,
    /// Whether the repair is told in the event log.
    pub telling: Companion,
}

/// A status that may follow. What there is to tell of it is told last, when nothing can refuse the change any more.
#[must_use]
pub struct Permit {
    /// The data of the event, and since when it may be there.
    repair: Option<(Json, String)>,
    telling: Companion,
}

impl Permit {
    /// Lets `target` follow the stored status, or refuses.
    ///
    /// # Errors
    /// [`crate::error::Kind::Refused`] with what is stored.
    pub fn of(run: &Json, target: Status, rules: Rules) -> Result<Self> {
        let telling = rules.telling;
        let stored = run.text_of("status");
        if stored == target.as_str() {
            return Ok(Self { repair: None, telling });
        }
        let is_lost = status(run) == Some(Status::Failed)
            && target == Status::PausedOperator
            && !run.get("checkpoint").is_some_and(Json::is_object);
        if status(run).is_some_and(|from| from.may_become(target)) && !is_lost {
            return Ok(Self { repair: None, telling });
        }
        if !rules.is_forced {
            let why = if is_lost {
                "it kept no checkpoint to rewind to".to_owned()
            } else {
                format!("{target} does not follow that")
            };
            return Err(write::refused(run, &why).hint("to repair a run by hand, add --force"));
        }
        let data = Json::object([
            ("from", Json::string(&stored)),
            ("to", Json::string(target.as_str())),
            ("revision", Json::integer(super::revision(run))),
        ]);
        Ok(Self { repair: Some((data, run.text_of("updated_at").into_owned())), telling })
    }

    /// Tells of a repair, before it is written.
    ///
    /// # Errors
    /// As [`Companion::tell`].
    pub fn tell(self, companion: &mut Teller<'_>) -> Result<()> {
        match self.repair {
            Some((data, since)) => {
                companion.tell(FORCED_EVENT, &data, &["from", "to", "revision"], &since, self.telling)
            }
            None => Ok(()),
        }
    }
}

/// Sets a status.
///
/// # Errors
/// As [`write::change`] and [`Permit::of`].
pub fn set(
    store: &Store,
    run: &RunId,
    target: Status,
    outcome: &Outcome,
    expected: &Expected,
    rules: Rules,
) -> Result<Receipt> {
    write::change(store, run, expected, |document, now, companion| {
        let permit = Permit::of(document, target, rules)?;
        if target == Status::Running && !rules.is_forced {
            refuse_unanswered(store, run, document)?;
        }
        transition::apply(document, target, outcome, now);
        permit.tell(companion)?;
        Ok(Change::Made)
    })
}

/// A run that waits for a person goes on with the answers (facts 2.2). Where the interaction is not there nobody can tell.
fn refuse_unanswered(store: &Store, run: &RunId, document: &Json) -> Result<()> {
    if status(document) != Some(Status::PausedWaitingHuman) {
        return Ok(());
    }
    for id in checkpoint::awaited(document) {
        let Ok(name) = Component::named("interaction id", &id) else { continue };
        if interaction::read(store, run, &name).is_ok_and(|json| State::of(&json) == State::Open) {
            let id = quote::name(id.as_bytes());
            return Err(write::refused(document, &format!("its interaction {id} has no answer yet"))
                .hint("answer it with 'run-interaction answer', or add --force to go on without"));
        }
    }
    Ok(())
}

/// Pauses a run for a person: checkpoint and status in one write (`PauseRun`). Without a new checkpoint the stored one stays.
///
/// # Errors
/// As [`set`]; [`crate::error::Kind::Usage`] when the checkpoint names no interaction to wait for.
pub fn pause(
    store: &Store,
    run: &RunId,
    new: Option<Json>,
    pointer: Option<(&str, Option<Json>)>,
    outcome: &Outcome,
    expected: &Expected,
    rules: Rules,
) -> Result<Receipt> {
    write::change(store, run, expected, |document, now, companion| {
        let permit = Permit::of(document, Status::PausedWaitingHuman, rules)?;
        if let Some(new) = new {
            checkpoint::put(store, run, document, new);
        }
        if let Some((interaction, questions)) = pointer {
            let Some(checkpoint) = document.get_mut("checkpoint").filter(|checkpoint| checkpoint.is_object())
            else {
                return Err(Error::usage("the run has no checkpoint that could name an interaction")
                    .hint("give one with --checkpoint"));
            };
            checkpoint::point(checkpoint, interaction, questions);
        }
        let names = |path: &[&str]| document.at(path).and_then(Json::text).is_some_and(|id| !id.is_empty());
        if !names(&["checkpoint", "interaction_id"])
            && !names(&["checkpoint", "parallel", "pending_interaction_id"])
        {
            return Err(Error::usage("the checkpoint names no interaction that the run could wait for")
                .hint("name one with --interaction"));
        }
        transition::apply(document, Status::PausedWaitingHuman, outcome, now);
        // A pause is a new state of affairs, also where the run was paused before.
        document.remove("continuation_state");
        permit.tell(companion)?;
        Ok(Change::Made)
    })
}

/// Fails a run: checkpoint and status in one write (`FailRunResumable`, `FailRunTerminal`). A cancelled run stays cancelled, and
/// nothing is said.
///
/// # Errors
/// As [`set`].
pub fn fail(
    store: &Store,
    run: &RunId,
    target: Status,
    new: Option<Json>,
    outcome: &Outcome,
    expected: &Expected,
    rules: Rules,
) -> Result<Receipt> {
    write::change(store, run, expected, |document, now, companion| {
        if status(document) == Some(Status::Cancelled) {
            return Ok(Change::None);
        }
        let permit = Permit::of(document, target, rules)?;
        if let Some(new) = new {
            checkpoint::put(store, run, document, new);
        }
        transition::apply(document, target, outcome, now);
        permit.tell(companion)?;
        Ok(Change::Made)
    })
}

/// Gives a queued run up whose delivery is lost (`FailQueuedRunIfAttempt`): only if it still is queued, and was not queued
/// again after `published`.
///
/// # Errors
/// [`crate::error::Kind::Usage`] for a time that is none, or the zero time; [`crate::error::Kind::Conflict`] when it does not apply.
pub fn fail_queued(
    store: &Store,
    run: &RunId,
    published: &str,
    outcome: &Outcome,
    expected: &Expected,
) -> Result<Receipt> {
    let published_ns = clock::parse_rfc3339(published).filter(|ns| *ns > ZERO_TIME_NS).ok_or_else(|| {
        Error::usage("the time of the attempt is not a time").hint("write it as 2026-01-31T12:00:00Z")
    })?;
    write::change(store, run, expected, |document, now, _| {
        if status(document) != Some(Status::Queued) {
            return Err(write::conflict(document, "it is not queued any more"));
        }
        // A run that does not say since when it is queued was queued before anybody asked; one that says it in words that
        // nobody understands may have been queued again.
        let queued = document.text_of("queued_at");
        let unknown_ns = if queued.is_empty() { ZERO_TIME_NS } else { i128::MAX };
        let queued_ns = clock::parse_rfc3339(&queued).unwrap_or(unknown_ns);
        if queued_ns > published_ns {
            let why = format!("it was queued again at {queued}, after that attempt");
            return Err(write::conflict(document, &why));
        }
        transition::apply(document, Status::FailedResumable, outcome, now);
        Ok(Change::Made)
    })
}

/// `0001-01-01T00:00:00Z`, with which the original says that there is no time.
pub const ZERO_TIME_NS: i128 = -62_135_596_800_000_000_000;

/// Fails a run that could not be launched, and then tells it in the event log (`FailRunAtLaunch`). Run again after a kill
/// between the two it only tells.
///
/// # Errors
/// As [`set`]; when the event cannot be appended the receipt says so.
pub fn fail_at_launch(
    store: &Store,
    run: &RunId,
    error: &str,
    hint: &str,
    expected: &Expected,
    rules: Rules,
) -> Result<Receipt> {
    // Before the status, not after it: a status without its event is worse than neither.
    rules.telling.allow(store, run)?;
    let outcome = Outcome { error: error.to_owned(), code: LAUNCH_FAILED.to_owned(), ..Outcome::default() };
    let mut receipt = write::change(store, run, expected, |document, now, companion| {
        let is_done = status(document) == Some(Status::Failed) && document.text_of("failure_code") == LAUNCH_FAILED;
        if is_done || status(document) == Some(Status::Cancelled) {
            return Ok(Change::None);
        }
        let permit = Permit::of(document, Status::Failed, rules)?;
        transition::apply(document, Status::Failed, &outcome, now);
        permit.tell(companion)?;
        Ok(Change::Made)
    })?;
    if status(&receipt.document) != Some(Status::Failed) {
        return Ok(receipt);
    }
    let mut data = Json::object([
        ("error", Json::string(&receipt.document.text_of("error"))),
        ("code", Json::string(LAUNCH_FAILED)),
        ("phase", Json::string("launch")),
    ]);
    if !hint.is_empty() {
        data.set("hint", Json::string(hint));
    }
    // Not the original's: by it a second run of this command finds the event of this episode.
    if let Some(episode) = receipt.document.get("outcome_seq") {
        data.set("outcome_seq", episode.clone());
    }
    let mut companion = Teller::new(store, run);
    let since = receipt.document.text_of("finished_at");
    let told = companion.tell("run_failed", &data, &["phase", "outcome_seq"], &since, rules.telling);
    receipt.event_seq = companion.seq.or(receipt.event_seq);
    receipt.event_failure = told.err().or(companion.failure).or(receipt.event_failure);
    Ok(receipt)
}
