//! The full-document save (`SaveRun`, facts 2.5): whoever read a revision may put a whole document in its place, but for what
//! only the store may say.

use super::outcome::{Permit, Rules};
use super::schema::RUN;
use super::write::{self, Change, Expected, Receipt};
use super::{FORMAT_VERSION, ORDER, create, fresh, heal, outcomes, preserve, revision, routing, status};
use crate::error::{Error, Kind, Result};
use crate::run::json::Json;
use crate::run::status::Status;
use crate::run::transition;
use crate::store::Store;
use crate::store::id::RunId;
use crate::stream::quote;

/// Members of runs that newer programs keep elsewhere (facts 1.9).
const NATIVE: [&str; 3] = ["runtime_semantics", "port_launch", "port_execution"];

/// Puts `submitted` in the place of the stored document if that still has the revision in `submitted`; makes the run where
/// there is none.
///
/// # Errors
/// [`Kind::Conflict`] for another revision, [`Kind::Usage`] for what is no run, and those of [`write::change`] and
/// [`Permit::of`]; nothing is written then.
pub fn save(store: &Store, run: &RunId, submitted: Json, expected: &Expected, rules: Rules) -> Result<Receipt> {
    check(&submitted, run)?;
    let there = match super::load(store, run) {
        Ok(_) => true,
        Err(error) if error.kind() == Kind::NotFound => {
            store.refuse_deleted(run)?;
            false
        }
        Err(error) => return Err(error),
    };
    if !there {
        return make(store, run, submitted, expected);
    }
    write::change(store, run, expected, |document, now, companion| {
        if revision(&submitted) != revision(document) {
            let why = format!("the submitted document is of revision {}", revision(&submitted));
            return Err(write::conflict(document, &why).hint("read the run again, and decide anew"));
        }
        let target = target(&submitted, document)?;
        let permit = target.map(|target| Permit::of(document, target, rules)).transpose()?;
        let stored = std::mem::take(document);
        *document = preserve::merge(&stored, submitted, RUN);
        keep_what_is_the_stores(document, &stored, target, now)?;
        if let Some(permit) = permit {
            permit.tell(companion)?;
        }
        Ok(Change::Made)
    })
}

/// A run that is born through a save has no episode behind it, whatever it says (facts 2.5.5).
fn make(store: &Store, run: &RunId, mut document: Json, expected: &Expected) -> Result<Receipt> {
    let submitted = revision(&document);
    if submitted != 0 || expected.revision.is_some_and(|revision| revision != 0) || expected.statuses.is_some() {
        return Err(Error::conflict(format!(
            "run {} is not there, and something is expected of it",
            quote::name(run.as_str().as_bytes())
        ))
        .hint("to make it, submit a document without a revision"));
    }
    fresh::named(run.as_str())?;
    let target = Status::named(&document.text_of("status"))?;
    document.remove("outcome_seq");
    document.remove("continuation_state");
    if !target.holds_slot() {
        document.remove(routing::MEMBER);
    }
    routing::seal(&mut document)?;
    strip(&mut document, Some(target));
    create::publish(store, run, document)
}

/// The status of a submitted document. One that is not known here stays if it is the stored one: whoever wrote it may know.
fn target(submitted: &Json, stored: &Json) -> Result<Option<Status>> {
    let text = submitted.text_of("status");
    match Status::parse(&text) {
        None if text == stored.text_of("status") => Ok(None),
        None => Status::named(&text).map(Some),
        known => Ok(known),
    }
}

/// What a submitted document must be.
fn check(submitted: &Json, run: &RunId) -> Result<()> {
    if submitted.text_of("id") != run.as_str() {
        return Err(Error::usage(format!(
            "the document is of run {}, not {}",
            quote::name(submitted.text_of("id").as_bytes()),
            quote::name(run.as_str().as_bytes())
        )));
    }
    refuse_native(submitted)?;
    if let Some(version) = submitted.get("format_version")
        && !matches!(version.as_integer(), Some(0..=FORMAT_VERSION))
    {
        return Err(Error::refused(format!("the document has format version {}", version.compact()))
            .hint("use a newer program for it"));
    }
    if submitted.get("cas_version").is_some_and(|revision| !matches!(revision.as_integer(), Some(0..))) {
        return Err(Error::usage("cas_version is not a whole number"));
    }
    let mut scratch = submitted.clone();
    heal::heal_fallback(&mut scratch).map_err(Error::usage)?;
    match submitted.get("checkpoint") {
        Some(checkpoint) if !checkpoint.is_object() && !checkpoint.is_null() => {
            Err(Error::usage("the checkpoint is not an object"))
        }
        _ => Ok(()),
    }
}

/// Refuses members of runs that newer programs keep in another directory and format.
///
/// # Errors
/// [`Kind::Refused`].
pub fn refuse_native(document: &Json) -> Result<()> {
    match NATIVE.into_iter().find(|member| document.get(member).is_some()) {
        None => Ok(()),
        Some(member) => Err(Error::refused(format!("a run with the member '{member}' is kept in another format"))
            .hint("use a newer program for it")),
    }
}

/// The store's own bookkeeping comes from the stored document, whatever a full document says (facts 2.5.3).
fn keep_what_is_the_stores(document: &mut Json, stored: &Json, target: Option<Status>, now: &str) -> Result<()> {
    keep(document, stored, "cas_version");
    if stored.get("created_at").is_some() {
        keep(document, stored, "created_at");
    }
    if stored.text_of("merge_status") == "merging" && stored.get("merge_claimed_at").is_some() {
        keep(document, stored, "merge_status");
        keep(document, stored, "merge_claimed_at");
    }
    if stored.get(routing::MEMBER).is_some() || !status(stored).is_some_and(Status::holds_slot) {
        keep(document, stored, routing::MEMBER);
    } else {
        routing::seal(document)?;
    }
    if stored.get("checkpoint").is_some_and(Json::is_object)
        && !document.get("checkpoint").is_some_and(Json::is_object)
    {
        // Only a deletion and a rewind remove one, and a rewind writes another.
        keep(document, stored, "checkpoint");
    }
    keep(document, stored, "outcome_seq");
    let terminal = target.is_some_and(Status::is_terminal);
    if stored.text_of("status") == document.text_of("status") {
        keep(document, stored, "continuation_state");
        keep(document, stored, "failure_code");
    } else {
        document.remove("continuation_state");
        if terminal {
            let episodes = outcomes(stored);
            document.set_in_order("outcome_seq", Json::integer(episodes.saturating_add(1)), ORDER);
        }
        if target == Some(Status::Queued) {
            document.set_in_order("queued_at", Json::string(now), ORDER);
        }
        if terminal && document.text_of("finished_at").is_empty() {
            document.set_in_order("finished_at", Json::string(now), ORDER);
        }
    }
    strip(document, target);
    Ok(())
}

/// Takes out what the status cannot carry. What says nothing anyway stays as it was written.
fn strip(document: &mut Json, target: Option<Status>) {
    let Some(target) = target else { return };
    let mut clear = |key: &str| {
        if document.get(key).is_some_and(|value| !value.is_zero()) {
            document.remove(key);
        }
    };
    if !target.is_terminal() {
        clear("finished_at");
    }
    if target == Status::Running {
        clear("error");
        clear("resume_requires_explicit");
    }
    transition::strip_what_status_cannot_carry(document, target);
}

fn keep(document: &mut Json, stored: &Json, key: &str) {
    match stored.get(key) {
        Some(value) => document.set_in_order(key, value.clone(), ORDER),
        None => {
            document.remove(key);
        }
    }
}
