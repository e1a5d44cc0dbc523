//! How a document of a run is read and written: one JSON value a file, in the form of the original.

use std::path::Path;

use super::json::{Json, keys};
use crate::error::{Error, Kind, Result};
use crate::store::fsio::document::{self, Published};
use crate::store::{Store, read_document};
use crate::stream::quote;

/// Reads a document.
///
/// # Errors
/// [`Kind::NotFound`] when it is not there, [`Kind::Damaged`] when it is not a JSON object.
pub fn read(path: &Path) -> Result<Json> {
    let bytes = read_document(path)?;
    let json = Json::parse(&bytes).map_err(|flaw| Error::damaged(path, format!("not JSON: {flaw}")))?;
    if json.is_object() { Ok(json) } else { Err(Error::damaged(path, "not a JSON object")) }
}

/// Reads a document; `None` when it is not there.
///
/// # Errors
/// As [`read`].
pub fn read_if_there(path: &Path) -> Result<Option<Json>> {
    match read(path) {
        Err(error) if error.kind() == Kind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Reads any JSON value; `None` when it is not there.
///
/// # Errors
/// [`Kind::Damaged`] when it is no JSON.
pub fn read_value_if_there(path: &Path) -> Result<Option<Json>> {
    match read_document(path) {
        Err(error) if error.kind() == Kind::NotFound => Ok(None),
        bytes => Json::parse(&bytes?).map(Some).map_err(|flaw| Error::damaged(path, format!("not JSON: {flaw}"))),
    }
}

/// Replaces a document, or makes it; its directory is made if need be.
///
/// # Errors
/// [`Kind::Io`]; the old one is whole and in place then.
pub fn replace(store: &Store, path: &Path, json: &Json) -> Result<()> {
    make_parent(store, path)?;
    document::replace(path, &[&json.indented()], store.durability())
}

/// Makes a document unless there is one; its directory is made if need be.
///
/// # Errors
/// [`Kind::Io`]; nothing is there then.
pub fn create(store: &Store, path: &Path, json: &Json) -> Result<Published> {
    make_parent(store, path)?;
    document::publish_new(path, &[&json.indented()], store.durability())
}

fn make_parent(store: &Store, path: &Path) -> Result<()> {
    path.parent().map_or(Ok(()), |dir| store.create_dir(dir))
}

/// Reads a JSON object that somebody gave. Stricter than a reader of what is there: a key given twice is refused.
///
/// # Errors
/// [`Kind::Usage`], saying where in `what` it is wrong.
pub fn given(what: &str, bytes: &[u8]) -> Result<Json> {
    let json = given_value(what, bytes)?;
    if json.is_object() {
        Ok(json)
    } else {
        Err(Error::usage(format!("cannot read {what} as a JSON object")).hint("write one as {\"key\":\"value\"}"))
    }
}

/// Reads any JSON value that somebody gave.
///
/// # Errors
/// As [`given`].
pub fn given_value(what: &str, bytes: &[u8]) -> Result<Json> {
    let json = Json::parse(bytes).map_err(|flaw| Error::usage(format!("cannot read {what} as JSON: {flaw}")))?;
    // It was found to be UTF-8 by the parser.
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    match keys::first_duplicate(text) {
        Ok(None) => Ok(json),
        Ok(Some(key)) => {
            Err(Error::usage(format!("the key {} is given twice in {what}", quote::name(key.as_bytes())))
                .hint("give it once: readers disagree on which of the two counts"))
        }
        Err(error) => Err(Error::usage(format!("not every program can read {what}: {error}"))),
    }
}

/// The names in a directory that end in `suffix`, without it, in no order. A directory that is not there has none; what
/// begins with a dot is a lock or a temporary file.
///
/// # Errors
/// [`Kind::Io`].
pub fn stems(dir: &Path, suffix: &str) -> Result<Vec<String>> {
    let names = list(dir)?;
    Ok(names.iter().filter_map(|name| Some(name.strip_suffix(suffix)?.to_owned())).collect())
}

/// The names in a directory that are UTF-8 and do not begin with a dot, in no order. A directory that is not there has
/// none.
///
/// # Errors
/// [`Kind::Io`].
pub fn list(dir: &Path) -> Result<Vec<String>> {
    let failed = |cause: &std::io::Error| Error::io("cannot list", dir, cause);
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(&error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| failed(&error))?.file_name();
        if let Ok(name) = name.into_string()
            && !name.starts_with('.')
        {
            names.push(name);
        }
    }
    Ok(names)
}
