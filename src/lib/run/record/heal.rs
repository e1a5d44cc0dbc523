//! What is put right when run.json is read, in memory only (facts 1.11): the file stays as it is.

use std::path::Path;

use super::{FORMAT_VERSION, name, status};
use crate::error::{Error, Result};
use crate::run::json::{Json, keys};
use crate::run::status::Status;
use crate::store::id::RunId;
use crate::store::{Store, layout, read_document};
use crate::stream::quote;

/// A document as readers should see it, and what they must be told of it.
#[derive(Debug)]
pub struct Healed {
    /// The document.
    pub json: Json,
    /// Whole sentences.
    pub notices: Vec<String>,
}

/// Reads run.json and heals it.
///
/// # Errors
/// As [`super::load`]; [`crate::error::Kind::Damaged`] also for a `fallback` that is none.
pub fn load(store: &Store, run: &RunId) -> Result<Healed> {
    store.refuse_deleted(run)?;
    let path = layout::run_document(store.root(), run);
    let bytes = read_document(&path).map_err(|error| super::missing(error, store, run))?;
    let mut json = super::parse(&path, &bytes)?;
    heal(&mut json, run, &path)?;
    let mut notices = Vec::new();
    let shown = quote::name(run.as_str().as_bytes());
    if let Some(version) = super::foreign_format(&json) {
        notices.push(format!(
            "run {shown} has format version {version}, and {FORMAT_VERSION} is what is understood here; it can be read, not written"
        ));
    }
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    if let Ok(Some(key)) = keys::first_duplicate(text) {
        let key = quote::name(key.as_bytes());
        notices
            .push(format!("run {shown} gives the key {key} twice: programs disagree on which of the two counts"));
    }
    Ok(Healed { json, notices })
}

/// Puts right what the original puts right.
fn heal(run: &mut Json, id: &RunId, path: &Path) -> Result<()> {
    if run.text_of("name").is_empty() {
        let name = name::friendly(&run.text_of("file_path"), id.as_str());
        run.set_in_order("name", Json::string(&name), super::ORDER);
    }
    let status = status(run);
    if status == Some(Status::Running) {
        run.remove("finished_at");
    }
    if !status.is_some_and(Status::may_carry_cause) {
        run.remove("failure_code");
        run.remove("end_reason");
    }
    heal_fallback(run).map_err(|flaw| Error::damaged(path, flaw))
}

/// Brings a `fallback` of an older form into the present one: one object is a list of one, `null` is none (facts 1.3).
///
/// # Errors
/// What is wrong with one of another type.
pub fn heal_fallback(run: &mut Json) -> Result<(), &'static str> {
    match run.get_mut("fallback") {
        None | Some(Json::Array(_)) => Ok(()),
        Some(place @ Json::Object(_)) => {
            let stage = std::mem::take(place);
            *place = Json::Array(vec![stage]);
            Ok(())
        }
        Some(other) if other.is_null() => {
            run.remove("fallback");
            Ok(())
        }
        Some(_) => Err("the member 'fallback' is neither a list nor an object"),
    }
}
