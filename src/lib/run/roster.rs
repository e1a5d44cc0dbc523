//! Which runs a store has.

use std::ffi::OsString;
use std::path::Path;

use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::store::id::RunId;
use crate::store::runs::RunDir;
use crate::store::{Store, layout};

/// What a directory below `runs/` is.
#[derive(Debug)]
pub enum Entry {
    /// A run with its document, whether that can be read or not.
    Run(RunId),
    /// A run without a document: a history, or a log of events alone.
    Bare(RunId),
    /// What is left of a run that was deleted.
    Deleted(RunId),
    /// A directory whose name is no run id.
    Foreign(OsString),
    /// What may be a run and cannot be looked at, such as a link to a disk that is not there, and why.
    Unreachable(OsString, Error),
}

/// Lists the directories below `runs/` by name, also those behind links; other files are none of ours. A store that is not
/// there has none.
///
/// # Errors
/// [`crate::error::Kind::Io`] where `runs/` itself cannot be listed.
pub fn list(store: &Store) -> Result<Vec<Entry>> {
    let dir = layout::runs(store.root());
    let listed = store.runs();
    let mut entries: Vec<(OsString, Entry)> =
        listed.dirs.into_iter().map(|dir| (name_of(&dir.path), classify(store, dir))).collect();
    for trouble in listed.troubles {
        if trouble.path == dir {
            return Err(trouble.into());
        }
        let name = name_of(&trouble.path);
        entries.push((name.clone(), Entry::Unreachable(name, trouble.of_a_run())));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn name_of(path: &Path) -> OsString {
    path.file_name().unwrap_or_default().to_owned()
}

fn classify(store: &Store, dir: RunDir) -> Entry {
    let Some(run) = dir.id else { return Entry::Foreign(name_of(&dir.path)) };
    if rustix::fs::lstat(layout::tombstone(store.root(), &run)).is_ok() {
        return Entry::Deleted(run);
    }
    // A directory that may not be looked into may well hold a document: who reads it says what is wrong.
    let is_missing = matches!(rustix::fs::lstat(layout::run_document(store.root(), &run)), Err(Errno::NOENT));
    if is_missing { Entry::Bare(run) } else { Entry::Run(run) }
}
