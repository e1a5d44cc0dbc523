//! Taking objects out of every pin of a store. A pin that lists nothing any more goes.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::prune::mark;
use super::documents;
use crate::error::{Error, Result};
use crate::history::hashes;
use crate::history::json::{push_array, push_key};
use crate::history::manifest::Members;
use crate::store::fsio::document;
use crate::store::id::ObjectId;
use crate::store::{Store, layout, read_document};

pub(super) fn drop_from_all(store: &Store, doomed: &HashSet<ObjectId>) -> Result<()> {
    for dir in mark::run_dirs(store)? {
        let Some((snapshots, _)) = mark::snapshots_dir(&dir.path)? else { continue };
        for path in documents(&snapshots)? {
            let is_pin =
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(layout::PIN_PREFIX));
            if is_pin {
                drop_from(store, &path, doomed)?;
            }
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    hash: std::borrow::Cow<'a, str>,
}

fn drop_from(store: &Store, path: &Path, doomed: &HashSet<ObjectId>) -> Result<()> {
    let bytes = read_document(path)?;
    let mut names_one = false;
    hashes::for_each_in_text(&bytes, &mut |id| names_one |= doomed.contains(&id));
    if !names_one {
        return Ok(());
    }
    let damaged = |error: serde_json::Error| Error::damaged(path, format!("not a pin: {error}"));
    let Members(members) = serde_json::from_slice(&bytes).map_err(damaged)?;
    let mut out = vec![b'{'];
    let mut left = 0;
    for (key, value) in &members {
        push_key(&mut out, key);
        if key != "entries" {
            out.extend_from_slice(value.get().as_bytes());
            continue;
        }
        let items: Option<Vec<&RawValue>> = serde_json::from_str(value.get()).map_err(damaged)?;
        let mut kept = Vec::new();
        for item in items.unwrap_or_default() {
            let listed: Listed<'_> = serde_json::from_str(item.get()).map_err(damaged)?;
            if !ObjectId::parse(listed.hash.as_bytes()).is_some_and(|id| doomed.contains(&id)) {
                kept.push(item);
            }
        }
        left = kept.len();
        push_array(&mut out, kept, |out, item| out.extend_from_slice(item.get().as_bytes()));
    }
    out.push(b'}');
    if left == 0 { document::remove(path) } else { document::replace(path, &[&out], store.durability()) }
}
