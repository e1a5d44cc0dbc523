//! [`Decision`]: what a decision says as far as anything follows from it, and [`Standing`], what follows.

use super::ATTEMPTS_MAX;
use crate::clock;
use crate::run::json::Json;
use crate::store::id::RunId;
use crate::stream::quote;

/// What a decision says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Somebody claimed it, and has not said what came of it.
    Claimed,
    /// It was done.
    Succeeded,
    /// The last attempt failed.
    Failed,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Claimed, Self::Succeeded, Self::Failed];

    /// The text in the document.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// The state with this text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// How a decision stands at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its lease lasts.
    Live,
    /// Its lease ran out; it may be claimed again.
    Lapsed,
    /// Its last attempt failed; it may be claimed again.
    Failed,
    /// Its last attempt failed or ran out, and it was claimed as often as it may be.
    Exhausted,
    /// It was done.
    Succeeded,
}

impl Standing {
    /// A word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Lapsed => "lapsed",
            Self::Failed => "failed",
            Self::Exhausted => "exhausted",
            Self::Succeeded => "succeeded",
        }
    }
}

/// What a decision says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Which outcome it is about.
    pub outcome: i64,
    /// What it says of itself.
    pub state: State,
    /// How often it was claimed.
    pub attempts: i64,
    /// Who claimed it last.
    pub owner: String,
    /// Until when, as it is written; empty where nobody holds it.
    pub lease_until: String,
    /// When it was claimed first, in nanoseconds since the epoch.
    pub created_ns: i128,
}

impl Decision {
    /// Reads a decision of a run that stands under `key`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn read(run: &RunId, key: &str, json: &Json) -> Result<Self, String> {
        let outcome = json.get("outcome_seq").and_then(Json::as_integer).filter(|seq| *seq > 0);
        let Some(outcome) = outcome.filter(|seq| seq.to_string() == key) else {
            return Err("outcome_seq is not the number that it stands under".into());
        };
        if json.text_of("run_id") != run.as_str() {
            return Err("run_id is that of another run".into());
        }
        let Some(state) = State::parse(&json.text_of("state")) else {
            return Err("state is not claimed, succeeded or failed".into());
        };
        let Some(attempts) = json.get("attempts").and_then(Json::as_integer).filter(|attempts| *attempts > 0)
        else {
            return Err("attempts is not a number above 0".into());
        };
        let time = |member: &str| clock::parse_rfc3339(&json.text_of(member));
        let lease_until = json.text_of("lease_until").into_owned();
        // A lease without an end would never run out.
        if state == State::Claimed && time("lease_until").is_none() {
            return Err("lease_until is no time".into());
        }
        let Some(created_ns) = time("created_at") else { return Err("created_at is no time".into()) };
        Ok(Self {
            outcome,
            state,
            attempts,
            owner: json.text_of("lease_owner").into_owned(),
            lease_until,
            created_ns,
        })
    }

    /// What is said of one whose lease lasts.
    pub(in crate::run) fn live(&self) -> String {
        format!("is claimed by {} until {}", quote::name(self.owner.as_bytes()), self.lease_until)
    }

    /// How it stands at a time, in nanoseconds since the epoch. A lease has run out in the moment that it names.
    #[must_use]
    pub fn standing(&self, now_ns: u64) -> Standing {
        let until = clock::parse_rfc3339(&self.lease_until);
        match self.state {
            State::Succeeded => Standing::Succeeded,
            State::Claimed if until.is_some_and(|until| until > i128::from(now_ns)) => Standing::Live,
            _ if self.attempts >= ATTEMPTS_MAX => Standing::Exhausted,
            State::Claimed => Standing::Lapsed,
            State::Failed => Standing::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: &str = "2026-01-01T12:00:00Z";

    fn decision(state: &str, attempts: &str) -> Result<Decision, String> {
        let text = format!(
            r#"{{"run_id":"r","outcome_seq":7,"state":"{state}","attempts":{attempts},"lease_owner":"o","lease_until":"{NOON}","created_at":"{NOON}"}}"#
        );
        Decision::read(&RunId::named("r").unwrap(), "7", &Json::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn what_follows_depends_on_state_time_and_attempts() {
        let noon = u64::try_from(clock::parse_rfc3339(NOON).unwrap()).unwrap();
        for (state, attempts, before, at) in [
            ("claimed", 1, Standing::Live, Standing::Lapsed),
            ("claimed", 3, Standing::Live, Standing::Exhausted),
            ("failed", 2, Standing::Failed, Standing::Failed),
            ("failed", 3, Standing::Exhausted, Standing::Exhausted),
            ("failed", 4, Standing::Exhausted, Standing::Exhausted),
            ("succeeded", 3, Standing::Succeeded, Standing::Succeeded),
        ] {
            let decision = decision(state, &attempts.to_string()).unwrap();
            assert_eq!((decision.standing(noon - 1), decision.standing(noon)), (before, at), "{state} {attempts}");
        }
    }

    #[test]
    fn what_nobody_understands_is_no_decision() {
        for (state, attempts) in [("odd", "1"), ("claimed", "0"), ("claimed", "1.0"), ("claimed", "\"1\"")] {
            assert!(decision(state, attempts).is_err(), "{state} {attempts}");
        }
        let good = decision("failed", "1");
        assert!(good.is_ok());
        for (key, run) in [("8", "r"), ("07", "r"), ("7", "q")] {
            let json = r#"{"run_id":"r","outcome_seq":7,"state":"failed","attempts":1,"created_at":"2026-01-01T12:00:00Z"}"#;
            let json = Json::parse(json.as_bytes()).unwrap();
            assert!(Decision::read(&RunId::named(run).unwrap(), key, &json).is_err(), "{key} {run}");
        }
    }
}
