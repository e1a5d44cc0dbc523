//! `<run>/.pid`: which process executes a run that was started apart from its server (facts 4.7, 10.15).
//!
//! Its text is that of a [`Process`]. Whoever writes or removes it holds the run's lock, so that nobody takes away what
//! the next engine has written.

use crate::error::{Error, Kind, Result};
use crate::store::fsio::document;
use crate::store::id::RunId;
use crate::store::process::Process;
use crate::store::run_lock::RunLock;
use crate::store::{Store, layout, read_document};

/// Longest file that is read.
const BYTES_MAX: usize = 4096;

/// Reads it. An absent file is no process, and so is an absent run.
///
/// # Errors
/// [`Kind::Damaged`] for what does not begin with a decimal number above 0, [`Kind::Io`].
pub fn read(store: &Store, run: &RunId) -> Result<Option<Process>> {
    let path = layout::pid(store.root(), run);
    let text = match read_document(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == Kind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let head = text.get(..text.len().min(BYTES_MAX)).unwrap_or_default();
    Process::parse(head).map(Some).map_err(|flaw| Error::damaged(&path, flaw))
}

/// Names this process.
///
/// # Errors
/// [`Kind::Io`]; what was there is there still then.
pub fn write(store: &Store, run: &RunId, _held: &RunLock) -> Result<()> {
    document::replace(&layout::pid(store.root(), run), &[Process::own().text().as_bytes()], store.durability())
}

/// Removes it if it names `process` still; it may be gone.
///
/// # Errors
/// [`Kind::Io`].
pub fn remove(store: &Store, run: &RunId, process: &Process, _held: &RunLock) -> Result<()> {
    match read(store, run) {
        Ok(Some(named)) if named == *process => document::remove(&layout::pid(store.root(), run)),
        Ok(_) => Ok(()),
        // It names nobody, so not the one that is meant either.
        Err(error) if error.kind() == Kind::Damaged => Ok(()),
        Err(error) => Err(error),
    }
}
