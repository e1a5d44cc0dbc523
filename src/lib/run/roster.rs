//! Which runs a store has.

use std::ffi::OsString;
use std::io;

use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::store::id::RunId;
use crate::store::{Store, layout};

/// What a directory below `runs/` is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A run with its document, whether that can be read or not.
    Run(RunId),
    /// A run without a document: a history, or a log of events alone.
    Bare(RunId),
    /// What is left of a run that was deleted.
    Deleted(RunId),
    /// A directory whose name is no run id.
    Foreign(OsString),
}

/// Lists the directories below `runs/` by name, also those behind links; other files are none of ours. A store that is not
/// there has none.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn list(store: &Store) -> Result<Vec<Entry>> {
    let dir = layout::runs(store.root());
    let failed = |cause: &io::Error| Error::io("cannot list the runs in", &dir, cause);
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(|error| failed(&error))?.file_name());
    }
    names.sort();
    Ok(names.into_iter().filter_map(|name| classify(store, name)).collect())
}

fn classify(store: &Store, name: OsString) -> Option<Entry> {
    if !layout::runs(store.root()).join(&name).is_dir() {
        return None;
    }
    let Some(run) = name.to_str().and_then(|text| RunId::named(text).ok()) else {
        return Some(Entry::Foreign(name));
    };
    if rustix::fs::lstat(layout::tombstone(store.root(), &run)).is_ok() {
        return Some(Entry::Deleted(run));
    }
    // A directory that may not be looked into may well hold a document: who reads it says what is wrong.
    let is_missing = matches!(rustix::fs::lstat(layout::run_document(store.root(), &run)), Err(Errno::NOENT));
    Some(if is_missing { Entry::Bare(run) } else { Entry::Run(run) })
}
