//! The watermark: a time that a store is given once. Of all who set it, in whatever process, the first one does.
//!
//! ```text
//! <store>/route_watermark.json
//! {version: 1, watermark, created_at}
//! ```
//!
//! What it means is agreed on by those who route: as a rule that older outcomes are none of theirs. No program here goes
//! by it.

use std::path::Path;

use super::ledger::{begun, read_ours};
use crate::clock;
use crate::error::{Error, IoContext, Result};
use crate::run::document;
use crate::run::json::Json;
use crate::store::fsio::document::Published;
use crate::store::{Store, fsio, layout};
use crate::stream::quote;

/// Reads the watermark; `None` where nobody has set one.
///
/// # Errors
/// [`crate::error::Kind::Refused`] for a file of another program, [`crate::error::Kind::Damaged`],
/// [`crate::error::Kind::Io`].
pub fn read(store: &Store) -> Result<Option<Json>> {
    read_at(&layout::route_watermark(store.root()))
}

fn read_at(path: &Path) -> Result<Option<Json>> {
    read_ours(path, |json| clock::parse_rfc3339(&json.text_of("watermark")).is_some())
}

/// Sets the watermark, in nanoseconds since the epoch, unless there is one. Gives the one that stays, and whether it is this.
///
/// # Errors
/// As [`read`], and [`crate::error::Kind::Conflict`] for one that is removed meanwhile; nothing is written then.
pub fn set(store: &Store, watermark_ns: u64) -> Result<(Json, bool)> {
    let path = layout::route_watermark(store.root());
    let json = begun([
        ("watermark", Json::string(&clock::rfc3339(watermark_ns))),
        ("created_at", Json::string(&clock::rfc3339(clock::now_ns()))),
    ]);
    store.create()?;
    match document::create(store, &path, &json)? {
        Published::New => Ok((json, true)),
        Published::Exists => {
            let first = read_at(&path)?.ok_or_else(|| {
                Error::conflict(format!("{} was there, and was removed meanwhile", quote::path(&path)))
                    .at(&path)
                    .hint("run the command again")
            })?;
            // Whoever made it may have died before it was on the disk.
            fsio::settle(&path, store.durability()).on("cannot flush the name of", &path)?;
            Ok((first, false))
        }
    }
}
