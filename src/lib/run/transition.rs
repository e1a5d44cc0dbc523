//! What a status write does to run.json: one pure function behind every command that writes a status (facts 2.3).

use super::json::Json;
use super::record::{self, ORDER};
use super::status::Status;
use crate::error::{Error, Result};
use crate::stream::quote;

/// Who owns the future of a run that has stopped (facts 2.6). Not stated means unknown, never final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// The queue will deliver it again.
    RedeliveryPending,
    /// A retry is scheduled.
    RetryArmed,
    /// Nobody else will act.
    Final,
}

impl Continuation {
    /// Reads a state that somebody named.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`], listing those that there are.
    pub fn named(text: &str) -> Result<Self> {
        let all = [Self::RedeliveryPending, Self::RetryArmed, Self::Final];
        all.into_iter().find(|state| state.as_str() == text).ok_or_else(|| {
            Error::usage(format!("no continuation is called {}", quote::name(text.as_bytes())))
                .hint(format!("they are {}", all.map(Self::as_str).join(", ")))
        })
    }

    /// The text in run.json.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RedeliveryPending => "redelivery_pending",
            Self::RetryArmed => "retry_armed",
            Self::Final => "final",
        }
    }
}

/// What is said together with a status; empty means not said.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Text for people: why it failed or paused.
    pub error: String,
    /// The cause for machines, `failure_code`.
    pub code: String,
    /// Why it ended by decision, `end_reason`.
    pub end_reason: String,
    /// Who acts next.
    pub continuation: Option<Continuation>,
}

/// Brings `run` into `target`. Everything that hangs on the status follows from the two and from `outcome`; nothing else is
/// touched. The revision is the writer's business. Unlike the original, `paused_operator` clears `finished_at` (facts 10.7).
pub fn apply(run: &mut Json, target: Status, outcome: &Outcome, now: &str) {
    let is_transition = run.text_of("status") != target.as_str();
    set(run, "status", Json::string(target.as_str()));
    set(run, "updated_at", Json::string(now));

    if is_transition && target.is_terminal() {
        let episodes = record::outcomes(run);
        set(run, "outcome_seq", Json::integer(episodes.saturating_add(1)));
    }
    match outcome.continuation {
        Some(continuation) => set(run, "continuation_state", Json::string(continuation.as_str())),
        None if is_transition => drop_member(run, "continuation_state"),
        None => {}
    }
    if outcome.continuation == Some(Continuation::Final)
        && let Some(retry) = run.get_mut("retry_state")
    {
        retry.remove("retry_after");
    }

    if target == Status::Running {
        drop_member(run, "error");
        drop_member(run, "resume_requires_explicit");
        if let Some(checkpoint) = run.get_mut("checkpoint") {
            // A pause that the recovery wrote is over once a resume has claimed the run (facts 1.6).
            checkpoint.remove("recovery_pause");
            checkpoint.remove("recovery_code");
        }
    } else {
        say(run, "error", &outcome.error, is_transition);
    }
    for (key, text) in [("failure_code", &outcome.code), ("end_reason", &outcome.end_reason)] {
        if target.may_carry_cause() {
            say(run, key, text, is_transition);
        } else {
            drop_member(run, key);
        }
    }

    if target.is_terminal() {
        set(run, "finished_at", Json::string(now));
    } else {
        drop_member(run, "finished_at");
    }
    if target == Status::Queued {
        set(run, "queued_at", Json::string(now));
    }
    strip_what_status_cannot_carry(run, target);
    if is_transition {
        drop_member(run, "await_answers_waits");
    }
}

/// Takes out what a document in `status` cannot have, whoever put it in (facts 2.3, 2.5.4).
pub fn strip_what_status_cannot_carry(run: &mut Json, status: Status) {
    if !status.may_carry_cause() {
        drop_member(run, "failure_code");
        drop_member(run, "end_reason");
    }
    if status != Status::Running {
        drop_member(run, "await_answers_waits");
    }
    if let Some(checkpoint) = run.get_mut("checkpoint")
        && !status.may_carry_pause_pointer()
    {
        strip_pause_pointer(checkpoint);
    }
}

/// Takes the pause pointer out of a checkpoint. `interaction_id` is a member that is always there.
pub fn strip_pause_pointer(checkpoint: &mut Json) {
    if let Some(id) = checkpoint.get_mut("interaction_id") {
        *id = Json::string("");
    }
    checkpoint.remove("interaction_questions");
}

/// Sets a text that was said; takes an old one out when the status is a new one.
fn say(run: &mut Json, key: &str, text: &str, is_transition: bool) {
    if !text.is_empty() {
        set(run, key, Json::string(text));
    } else if is_transition {
        drop_member(run, key);
    }
}

fn set(run: &mut Json, key: &str, value: Json) {
    run.set_in_order(key, value, ORDER);
}

fn drop_member(run: &mut Json, key: &str) {
    run.remove(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-02T00:00:00Z";

    fn run(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    fn outcome(code: &str) -> Outcome {
        Outcome { code: code.into(), ..Outcome::default() }
    }

    #[test]
    fn episodes_are_counted_on_transitions_only() {
        let mut run = run(r#"{"status":"running"}"#);
        let mut expect = |target, code: &str, seq: Option<i64>| {
            apply(&mut run, target, &outcome(code), NOW);
            assert_eq!(run.get("outcome_seq").and_then(Json::as_integer), seq, "{target}");
        };
        expect(Status::PausedOperator, "", None);
        expect(Status::FailedResumable, "A", Some(1));
        expect(Status::FailedResumable, "", Some(1));
        expect(Status::Cancelled, "", Some(2));
        expect(Status::Running, "", Some(2));
        expect(Status::FailedResumable, "B", Some(3));
    }

    #[test]
    fn causes_live_as_long_as_their_status() {
        let mut run = run(r#"{"status":"running","checkpoint":{"node_id":"n","interaction_id":"i","outputs":{}}}"#);
        let failed = Outcome { error: "boom".into(), code: "TIMEOUT".into(), ..Outcome::default() };
        apply(&mut run, Status::Failed, &failed, NOW);
        apply(&mut run, Status::Failed, &Outcome::default(), NOW);
        assert_eq!((&*run.text_of("error"), &*run.text_of("failure_code")), ("boom", "TIMEOUT"));
        apply(&mut run, Status::FailedResumable, &Outcome::default(), NOW);
        assert_eq!((&*run.text_of("error"), &*run.text_of("failure_code")), ("", ""));
        apply(&mut run, Status::PausedOperator, &failed, NOW);
        assert_eq!((&*run.text_of("error"), &*run.text_of("failure_code")), ("boom", ""));
        assert_eq!(run.get("finished_at"), None, "a pause is no end");
        apply(&mut run, Status::Running, &failed, NOW);
        assert_eq!(run.get("error"), None);
        let checkpoint = run.get("checkpoint").unwrap();
        assert_eq!(checkpoint.compact(), r#"{"node_id":"n","interaction_id":"","outputs":{}}"#);
    }

    #[test]
    fn a_final_outcome_disarms_the_retry() {
        let mut run = run(r#"{"status":"failed_resumable","retry_state":{"retry_after":"x","attempts":2}}"#);
        let stated = |continuation| Outcome { continuation: Some(continuation), ..Outcome::default() };
        apply(&mut run, Status::FailedResumable, &stated(Continuation::RetryArmed), NOW);
        assert_eq!(run.get("retry_state").unwrap().compact(), r#"{"retry_after":"x","attempts":2}"#);
        apply(&mut run, Status::FailedResumable, &stated(Continuation::Final), NOW);
        assert_eq!(run.get("retry_state").unwrap().compact(), r#"{"attempts":2}"#);
        assert_eq!(run.text_of("continuation_state"), "final");
        apply(&mut run, Status::FailedResumable, &Outcome::default(), NOW);
        assert_eq!(run.text_of("continuation_state"), "final", "kept on a rewrite");
        apply(&mut run, Status::Running, &Outcome::default(), NOW);
        assert_eq!(run.get("continuation_state"), None);
    }

    #[test]
    fn queueing_keeps_the_pause_pointer_and_the_explicit_mark() {
        let text = r#"{"status":"paused_waiting_human","resume_requires_explicit":true,"checkpoint":{"interaction_id":"i","interaction_questions":{"a":1}}}"#;
        let mut run = run(text);
        apply(&mut run, Status::Queued, &Outcome::default(), NOW);
        assert_eq!(run.at(&["checkpoint", "interaction_id"]).unwrap().text().as_deref(), Some("i"));
        assert!(run.get("resume_requires_explicit").is_some() && run.text_of("queued_at") == NOW);
        apply(&mut run, Status::Running, &Outcome::default(), NOW);
        assert_eq!(run.get("resume_requires_explicit"), None);
        assert_eq!(run.at(&["checkpoint", "interaction_questions"]), None);
    }
}
