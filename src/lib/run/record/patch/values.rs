//! Members that are replaced as a whole.

use super::Subject;
use crate::clock;
use crate::error::Result;
use crate::run::json::Json;
use crate::run::record::schema::{self, Shape};
use crate::run::record::{preserve, status};
use crate::run::status::Status;

pub(super) fn text(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    if value.is_null() || value.text().is_some() {
        subject.put(value);
        return Ok(());
    }
    Err(subject.wrong("is not a text").hint("write it in quotes: \"...\""))
}

pub(super) fn flag(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    if value.is_null() || value.as_boolean().is_some() {
        subject.put(value);
        return Ok(());
    }
    Err(subject.wrong("is neither true nor false"))
}

/// What a rewind leaves behind: a machine must not resume the run. Running ends it (facts 1.2).
pub(super) fn explicit(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    if value.as_boolean() == Some(true) && status(subject.document) == Some(Status::Running) {
        return Err(super::write::refused(subject.document, "a running run has been resumed already"));
    }
    flag(subject, value)
}

pub(super) fn time(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    let is_time = value.text().is_some_and(|text| clock::parse_rfc3339(&text).is_some());
    if value.is_null() || is_time {
        subject.put(value);
        return Ok(());
    }
    Err(subject.wrong("is not a time").hint("write it as \"2026-01-31T12:00:00Z\""))
}

/// `budget` and `budget_overrides`; what nobody knows of the stored one stays.
pub(super) fn budget(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    if value.is_null() {
        subject.put(value);
        return Ok(());
    }
    caps(subject, &value)?;
    let shape = if subject.name == "budget" { schema::BUDGET } else { schema::BUDGET_OVERRIDES };
    merge(subject, value, shape);
    Ok(())
}

pub(super) fn merge(subject: &mut Subject<'_>, value: Json, shape: Shape) {
    let merged = match subject.stored() {
        Some(stored) => preserve::merge(stored, value, shape),
        None => value,
    };
    subject.put(merged);
}

/// Checks the types of caps; `null` is checked by who allows it.
pub(super) fn caps(subject: &Subject<'_>, value: &Json) -> Result<()> {
    if !value.is_object() {
        return Err(subject.wrong("is not an object"));
    }
    for (key, cap) in value.members() {
        let is_right = match key.as_str() {
            "max_cost_usd" => number(cap).is_some_and(|cost| cost >= 0.0),
            "max_tokens" | "warn_tokens" | "max_iterations" | "max_parallel_branches" => {
                cap.as_integer().is_some_and(|count| count >= 0)
            }
            "max_duration" => cap.text().is_some(),
            "unlimited_workflow" => cap.as_boolean().is_some(),
            _ => true,
        };
        if !is_right && !cap.is_null() {
            return Err(subject.wrong(&format!("has a {key} that is no such cap")));
        }
    }
    Ok(())
}

fn number(json: &Json) -> Option<f64> {
    match json {
        Json::Scalar(text) => text.parse::<f64>().ok().filter(|number| number.is_finite()),
        _ => None,
    }
}
