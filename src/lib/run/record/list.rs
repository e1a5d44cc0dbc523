//! The runs of a store, those that cannot be read included (facts 2.10).

use super::heal;
use crate::clock;
use crate::error::{Error, Kind, Result};
use crate::run::json::Json;
use crate::run::roster;
use crate::run::status::Status;
use crate::store::Store;
use crate::store::id::RunId;
use crate::stream::quote;

/// One run of a list.
#[derive(Debug)]
pub struct Entry {
    /// Its id, or, where it cannot have one, the name of its directory as a message shows it.
    pub id: String,
    /// Its document, or why it cannot be read.
    pub document: Result<Json, Error>,
}

/// Which runs are wanted; `None` is any.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// In one of these statuses.
    pub statuses: Option<Vec<Status>>,
    /// Children of this run.
    pub parent: Option<String>,
    /// Triggered by this issue.
    pub issue: Option<String>,
    /// Triggered by this schedule.
    pub schedule: Option<String>,
}

impl Query {
    /// Whether it asks by what triggered a run; such a list is in the order of creation.
    #[must_use]
    pub fn is_reverse(&self) -> bool {
        self.parent.is_some() || self.issue.is_some() || self.schedule.is_some()
    }

    /// Nothing was triggered by nothing.
    fn is_empty(&self) -> bool {
        [&self.parent, &self.issue, &self.schedule].into_iter().flatten().any(String::is_empty)
    }

    fn selects(&self, run: &Json) -> bool {
        let is_text = |path: &[&str], wanted: &Option<String>| match wanted {
            Some(wanted) => run.at(path).and_then(Json::text).is_some_and(|text| text == **wanted),
            None => true,
        };
        let is_status = match &self.statuses {
            Some(statuses) => statuses.iter().any(|status| run.text_of("status") == status.as_str()),
            None => true,
        };
        is_status
            && is_text(&["parent_run_id"], &self.parent)
            && is_text(&["source", "issue_id"], &self.issue)
            && is_text(&["source", "schedule_id"], &self.schedule)
    }
}

/// The runs that a query selects, by id, or in the order of creation for a reverse query. A run that cannot be read is among
/// them, last in a reverse query: nobody can say that it is not meant. Deleted ones are hidden.
///
/// # Errors
/// [`Kind::Io`] when the store's runs cannot be listed.
pub fn runs(store: &Store, query: &Query) -> Result<Vec<Entry>> {
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let mut entries: Vec<Entry> =
        roster::list(store)?.into_iter().filter_map(|listed| entry(store, listed)).collect();
    entries.retain(|entry| entry.document.as_ref().map_or(true, |run| query.selects(run)));
    if query.is_reverse() {
        sort_by_creation(&mut entries);
    }
    Ok(entries)
}

/// Puts runs in the order of creation; those that cannot be read come last.
pub fn sort_by_creation(entries: &mut [Entry]) {
    entries.sort_by_cached_key(|entry| match &entry.document {
        Ok(run) => (false, clock::parse_rfc3339(&run.text_of("created_at")).unwrap_or(i128::MIN)),
        Err(_) => (true, 0),
    });
}

/// `None` for what is no run: a directory without run.json, and one that was deleted. A directory whose name no run has
/// may hold one all the same, which the original made.
fn entry(store: &Store, listed: roster::Entry) -> Option<Entry> {
    let shown = |name: &std::ffi::OsStr| match name.to_str() {
        Some(text) => text.to_owned(),
        None => quote::masked(name.as_encoded_bytes()),
    };
    match listed {
        roster::Entry::Run(run) => match heal::load(store, &run) {
            Ok(healed) => Some(Entry { id: run.to_string(), document: Ok(healed.json) }),
            // It was deleted in between.
            Err(error) if error.kind() == Kind::NotFound => None,
            Err(error) => Some(Entry { id: run.to_string(), document: Err(error) }),
        },
        roster::Entry::Bare(_) | roster::Entry::Deleted(_) => None,
        roster::Entry::Foreign(name) => {
            let error = RunId::of_os(&name).err()?.hint("no command can name such a run");
            Some(Entry { id: shown(&name), document: Err(error) })
        }
        roster::Entry::Unreachable(name, error) => Some(Entry { id: shown(&name), document: Err(error) }),
    }
}
