//! Putting a damaged manifest or pin aside, so that it cannot stop prune for ever, and losing nothing by it.
//!
//! ```text
//! every run of 64 hex digits in it -> a pin, flushed -> the document gets a name that no prune reads
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::clock;
use crate::error::{Error, Kind, Result};
use crate::history::hashes;
use crate::history::manifest::{self, pin_json_of};
use crate::store::fsio::document::{self, Published};
use crate::store::{Store, layout, read_document};
use crate::stream::quote;

/// What was put aside.
#[derive(Debug)]
pub struct PutAside {
    /// The document.
    pub document: PathBuf,
    /// Where it is now.
    pub aside: PathBuf,
    /// How many objects a pin keeps alive for it.
    pub pinned: usize,
}

/// Puts the damaged document of a snapshots directory aside.
///
/// # Errors
/// [`Kind::Refused`] when it is not damaged, [`Kind::Damaged`] when it is no regular file, [`Kind::Io`] when it cannot be
/// read: then nobody knows what it names.
pub fn put_aside(store: &Store, path: &Path) -> Result<PutAside> {
    let bytes = read_document(path)?;
    if hashes::for_each_named(&bytes, &mut |_| {}).is_ok() && !is_bad_manifest(path, &bytes) {
        return Err(Error::refused(format!("{} is not damaged", quote::path(path))).at(path));
    }
    if hashes::is_newer(&bytes) {
        let message = format!("{} was written by a later version of these programs", quote::path(path));
        return Err(Error::refused(message).at(path).hint("use that version"));
    }
    let mut named = BTreeSet::new();
    hashes::for_each_in_text(&bytes, &mut |id| {
        named.insert(id);
    });
    if !named.is_empty() {
        let entries: Vec<_> = named.iter().map(|id| (*id, 0)).collect();
        let of = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        publish_pin(store, path, &pin_json_of(&of, &entries))?;
    }
    let first = layout::quarantined(path);
    let mut aside = first.clone();
    while document::move_aside(path, &aside, store.durability())? == Published::Exists {
        aside = layout::broken(&first, clock::now_ns());
    }
    Ok(PutAside { document: path.to_owned(), aside, pinned: named.len() })
}

fn is_bad_manifest(path: &Path, bytes: &[u8]) -> bool {
    let is_pin = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(layout::PIN_PREFIX));
    !is_pin
        && !manifest::parse(bytes)
            .is_ok_and(|manifest| path.file_stem().is_some_and(|stem| stem == manifest.id.as_str()))
}

/// A pin that a killed attempt left says the same and is as good.
fn publish_pin(store: &Store, path: &Path, json: &[u8]) -> Result<()> {
    let mut pin = layout::quarantine_pin(path);
    for attempt in 0_u32.. {
        if document::publish_new(&pin, &[json], store.durability())? == Published::New {
            return Ok(());
        }
        if read_document(&pin).is_ok_and(|there| *there == *json) {
            return Ok(());
        }
        let other =
            path.with_file_name(format!("{attempt}-{}", path.file_name().unwrap_or_default().to_string_lossy()));
        pin = layout::quarantine_pin(&other);
    }
    Err(Error::new(Kind::Io, "no name is free for the pin").at(path))
}
