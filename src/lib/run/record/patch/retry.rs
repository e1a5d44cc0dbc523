//! `retry_state`: when a run will be tried again. Its attempts are counted for the life of the run.

use super::{Subject, write};
use crate::clock;
use crate::error::Result;
use crate::run::json::Json;
use crate::run::record::schema::RETRY_STATE;

/// Sets the members that are given, and takes out those that are `null`.
pub(super) fn set(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    if !value.is_object() {
        return Err(subject.wrong("is not an object").hint(
            "its attempts are counted for the life of the run; take out {\"retry_after\": null} to disarm it",
        ));
    }
    let attempts = |state: Option<&Json>| state.and_then(|state| state.get("attempts")).and_then(Json::as_integer);
    let stored = attempts(subject.stored()).unwrap_or(0);
    if let Some(given) = value.get("attempts") {
        match given.as_integer() {
            Some(count) if count >= stored => {}
            Some(count) => {
                let why = format!("{stored} attempts were made, and {count} are fewer");
                return Err(
                    write::refused(subject.document, &why).hint("attempts are counted for the life of the run")
                );
            }
            None => return Err(subject.wrong("has attempts that are no number")),
        }
    }
    for key in ["retry_after", "scheduled_at", "claimed_at"] {
        if let Some(time) = value.get(key).filter(|time| !time.is_null())
            && time.text().is_none_or(|text| clock::parse_rfc3339(&text).is_none())
        {
            return Err(subject.wrong(&format!("has a {key} that is not a time")));
        }
    }
    let mut state = match subject.stored() {
        Some(stored) if stored.is_object() => stored.clone(),
        _ => Json::Object(Vec::new()),
    };
    let order = RETRY_STATE.order();
    for (key, given) in value.members() {
        if given.is_null() {
            state.remove(key);
        } else {
            state.set_in_order(key, given.clone(), &order);
        }
    }
    subject.put(state);
    Ok(())
}
