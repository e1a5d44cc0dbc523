//! [`Ledger`]: the file with the decisions of a run.
//!
//! It is changed as a tree, under the lock of the run's documents, and replaced whole. What is no object with our version and
//! a map of decisions belongs to another program and is refused, to read and to write.

use std::path::{Path, PathBuf};

use super::decision::Decision;
use crate::error::{Error, IoContext, Kind, Result};
use crate::run::document;
use crate::run::json::{Json, keys};
use crate::store::fsio::{self, tree};
use crate::store::id::RunId;
use crate::store::{Store, layout, read_document};
use crate::stream::quote;

/// The version of the files that are written here.
const VERSION: i64 = 1;

/// The decisions of a run.
pub(super) struct Ledger {
    run: RunId,
    path: PathBuf,
    json: Json,
}

impl Ledger {
    /// Reads the file; a missing one has no decisions.
    ///
    /// # Errors
    /// [`Kind::Damaged`] for what is no JSON or gives a key twice, [`Kind::Refused`] for a file of another program, [`Kind::Io`].
    pub(super) fn read(store: &Store, run: &RunId) -> Result<Self> {
        let path = layout::route_decisions(store.root(), run);
        let json = match read_ours(&path, |json| json.get("decisions").is_some_and(Json::is_object))? {
            Some(json) => json,
            None => begun([("decisions", Json::object::<&str>([]))]),
        };
        Ok(Self { run: run.clone(), path, json })
    }

    /// All decisions, each under the number of its outcome as it is written.
    pub(super) fn decisions(&self) -> impl Iterator<Item = (&(String, Json), Result<Decision>)> {
        let entries = self.json.get("decisions").map(Json::members).unwrap_or_default();
        entries.iter().map(|entry| (entry, self.understand(&entry.0, &entry.1)))
    }

    /// What the decision about an outcome says; `None` where there is none.
    ///
    /// # Errors
    /// [`Kind::Damaged`] for one that cannot be understood.
    pub(super) fn decision(&self, outcome: i64) -> Result<Option<Decision>> {
        self.get(outcome).map(|json| self.understand(&outcome.to_string(), json)).transpose()
    }

    /// The decision about an outcome as it is stored.
    pub(super) fn get(&self, outcome: i64) -> Option<&Json> {
        self.json.at(&["decisions", &outcome.to_string()])
    }

    fn understand(&self, key: &str, json: &Json) -> Result<Decision> {
        Decision::read(&self.run, key, json).map_err(|flaw| {
            Error::damaged(&self.path, format!("decision {}: {flaw}", quote::name(key.as_bytes())))
                .hint("mend it by hand; the others are not affected")
        })
    }

    /// Puts a decision in its place, and replaces the file. The caller holds the lock of the run's documents.
    ///
    /// # Errors
    /// [`Kind::Io`]; the old file or the new one is whole and in place then.
    pub(super) fn put(&mut self, store: &Store, outcome: i64, json: Json) -> Result<()> {
        if let Some(decisions) = self.json.get_mut("decisions") {
            decisions.set(&outcome.to_string(), json);
        }
        document::replace(store, &self.path, &self.json)
    }

    /// Sees to it that what was read is on the disk.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub(super) fn settle(&self, store: &Store) -> Result<()> {
        fsio::settle(&self.path, store.durability()).on("cannot flush the name of", &self.path)
    }
}

/// A document that begins with our version.
pub(super) fn begun<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::object([("version", Json::integer(VERSION))].into_iter().chain(members))
}

/// Reads a document of ours, one that has our version and `is_ours`; `None` where there is none, not even a link.
///
/// # Errors
/// As [`Ledger::read`].
pub(super) fn read_ours(path: &Path, is_ours: impl Fn(&Json) -> bool) -> Result<Option<Json>> {
    let bytes = match read_document(path) {
        // A link to nothing is somebody's: a write would put a file in its place.
        Err(error) if error.kind() == Kind::NotFound && tree::is_link(path).on("cannot examine", path)? => {
            let shown = quote::path(path);
            return Err(Error::refused(format!("{shown} is no file that can be read: a symbolic link to nothing"))
                .at(path)
                .hint("remove the link, or put the file there that it leads to"));
        }
        Err(error) if error.kind() == Kind::NotFound => return Ok(None),
        other => other?,
    };
    let json = Json::parse(&bytes).map_err(|flaw| {
        Error::damaged(path, format!("not JSON: {flaw}"))
            .hint("mend it by hand, or move it away: what it says is forgotten then")
    })?;
    let version = json.get("version").and_then(Json::as_integer);
    if version != Some(VERSION) || !is_ours(&json) {
        let what = match version {
            Some(version) if version > VERSION => {
                format!("it has version {version}, and this program knows {VERSION}")
            }
            _ => "it has not the shape that this program writes".to_owned(),
        };
        return Err(Error::refused(format!("{} is another program's: {what}", quote::path(path)))
            .at(path)
            .hint("it was left as it is; use the program that keeps it"));
    }
    // It was found to be UTF-8 by the parser.
    match keys::first_duplicate(std::str::from_utf8(&bytes).unwrap_or_default()) {
        Ok(Some(key)) => {
            let key = quote::name(key.as_bytes());
            Err(Error::damaged(path, format!("the key {key} is given twice, and a write would keep one"))
                .hint("take one of them out by hand"))
        }
        _ => Ok(Some(json)),
    }
}
