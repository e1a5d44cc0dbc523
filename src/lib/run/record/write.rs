//! The frame of every writer of run.json: what it expects to find, and what it tells.

use super::{WriteLock, revision};
use crate::clock;
use crate::error::{Error, Fact, Result};
use crate::run::companion::Teller;
use crate::run::json::Json;
use crate::run::status::Status;
use crate::store::Store;
use crate::store::id::RunId;
use crate::stream::quote;

/// What a writer has seen and relies on; nothing is written if it is no longer so.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// The revision of the document.
    pub revision: Option<i64>,
    /// The statuses that it may have; `None` is any.
    pub statuses: Option<Vec<Status>>,
}

impl Expected {
    /// Checks a stored document.
    ///
    /// # Errors
    /// [`crate::error::Kind::Conflict`] with what is stored; [`crate::error::Kind::Usage`] for an empty set of statuses.
    pub fn check(&self, run: &Json) -> Result<()> {
        if let Some(expected) = self.revision
            && expected != revision(run)
        {
            return Err(conflict(run, &format!("its revision is not {expected}"))
                .hint("read the run again, and decide anew"));
        }
        match &self.statuses {
            None => Ok(()),
            Some(statuses) if statuses.is_empty() => {
                Err(Error::usage("no status is expected").hint("name at least one, or leave --expect out"))
            }
            Some(statuses) if statuses.iter().any(|status| run.text_of("status") == status.as_str()) => Ok(()),
            Some(statuses) => {
                let names = statuses.iter().map(|status| status.as_str()).collect::<Vec<_>>().join(" or ");
                Err(conflict(run, &format!("it is not {names}")).hint("read the run again, and decide anew"))
            }
        }
    }
}

/// A conflict with the stored document, which it describes.
#[must_use]
pub fn conflict(run: &Json, why: &str) -> Error {
    described(Error::conflict(format!("{} has changed: {why}; it is {}", shown(run), state(run))), run)
}

/// A refusal because of the stored document, which it describes.
#[must_use]
pub fn refused(run: &Json, why: &str) -> Error {
    described(Error::refused(format!("{} is {}: {why}", shown(run), state(run))), run)
}

/// A conflict with a run that is there and was to be made.
#[must_use]
pub fn exists_already(run: &Json) -> Error {
    described(Error::conflict(format!("{} exists already: it is {}", shown(run), state(run))), run)
}

fn shown(run: &Json) -> String {
    let id = run.text_of("id");
    if id.is_empty() { "the run".into() } else { format!("run {}", quote::name(id.as_bytes())) }
}

fn state(run: &Json) -> String {
    format!("{} at revision {}", quote::name(run.text_of("status").as_bytes()), revision(run))
}

fn described(error: Error, run: &Json) -> Error {
    error
        .with_fact("revision", Fact::Number(revision(run)))
        .with_fact("status", Fact::Text(run.text_of("status").into_owned()))
}

/// What a writer found out about its change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The document is to be written.
    Made,
    /// There is nothing to write.
    None,
}

/// What a writer tells: the document as it now stands.
#[derive(Debug)]
pub struct Receipt {
    /// The run.
    pub run: RunId,
    /// Whether the document was written.
    pub changed: bool,
    /// The document.
    pub document: Json,
    /// The number of the event that went with it.
    pub event_seq: Option<u64>,
    /// Why the event that went with it is missing, or may not be on the disk.
    pub event_failure: Option<Error>,
}

impl Receipt {
    /// The receipt as JSON: run, revision, and what consumers of outcomes look at.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut json = Json::object([
            ("run", Json::string(self.run.as_str())),
            ("changed", Json::boolean(self.changed)),
            ("revision", Json::integer(revision(&self.document))),
        ]);
        for key in ["status", "outcome_seq", "continuation_state", "failure_code"] {
            if let Some(value) = self.document.get(key) {
                json.set(key, value.clone());
            }
        }
        if let Some(seq) = self.event_seq {
            json.set("event_seq", Json::integer(i64::try_from(seq).unwrap_or(i64::MAX)));
        }
        json
    }
}

/// Changes run.json if it is what is `expected`. `edit` is given the document and the time as it is written, and may let an
/// event go with the change.
///
/// # Errors
/// Those of [`WriteLock`], [`Expected::check`] and `edit`; nothing is written then.
pub fn change(
    store: &Store,
    run: &RunId,
    expected: &Expected,
    edit: impl FnOnce(&mut Json, &str, &mut Teller<'_>) -> Result<Change>,
) -> Result<Receipt> {
    let mut teller = Teller::new(store, run);
    let (document, change) = under(&WriteLock::take(store, run)?, |document, now| {
        expected.check(document)?;
        edit(document, now, &mut teller)
    })?;
    Ok(Receipt {
        run: run.clone(),
        changed: change == Change::Made,
        document,
        event_seq: teller.seq,
        event_failure: teller.failure,
    })
}

/// Changes run.json under its lock. `edit` is given the document and the time as it is written.
///
/// # Errors
/// Those of [`WriteLock`] and `edit`; nothing is written then.
pub fn under(lock: &WriteLock<'_>, edit: impl FnOnce(&mut Json, &str) -> Result<Change>) -> Result<(Json, Change)> {
    let mut document = lock.read()?;
    let now = clock::rfc3339(clock::now_ns());
    let change = edit(&mut document, &now)?;
    if change == Change::Made {
        document.set_in_order("updated_at", Json::string(&now), super::ORDER);
        lock.write(&mut document)?;
    }
    Ok((document, change))
}
