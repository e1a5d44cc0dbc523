//! [`fill`]: what files hold, for those who compare and do not capture.
//!
//! A row of the stat cache whose stat is the file's tells what it holds, whether or not the pool still has the object.
//! Whoever only compares needs no more, and one look into the pool for each file would be half of all it does. Who is
//! going to destroy those bytes asks the pool for them, and a capture asks for all ([`super::hashing::StatCache`]).

use std::iter::Peekable;

use super::hashing::{self, Hashing};
use crate::error::Result;
use crate::history::rows::Row;
use crate::store::id::ObjectId;
use crate::store::relpath::RelPath;
use crate::stream::record::{Content, EntryKind, Record};
use crate::tree::root::Workspace;

/// Fills in the content of all records that are wanted: from the rows, or by reading. Records and rows are sorted by path
/// bytes. A record whose path vanished is dropped, one whose kind changed is what it is now.
///
/// # Errors
/// [`crate::error::Kind::Io`] for what is not a fact about a file.
pub(super) fn fill(
    workspace: &Workspace,
    rows: &[Row<'_>],
    cap_bytes: u64,
    mut records: Vec<Record>,
    is_wanted: impl Fn(&RelPath) -> bool,
) -> Result<Vec<Record>> {
    let mut rows = rows.iter().peekable();
    let unread: Vec<Record> = records
        .extract_if(.., |record| {
            let needs_content =
                record.content == Content::Unknown && matches!(record.kind, EntryKind::File | EntryKind::Link);
            if !needs_content || !is_wanted(&record.path) {
                return false;
            }
            match content(&mut rows, record) {
                Some(id) => record.content = Content::Object(id),
                None => return true,
            }
            false
        })
        .collect();
    if !unread.is_empty() {
        let hashing = Hashing { workspace, pool: None, cache: None, cap_bytes, new_bytes_max: None };
        records.extend(hashing.fill(unread)?);
        // Two sorted runs: the sort finds them and merges.
        records.sort_by(|a, b| a.path.cmp(&b.path));
    }
    Ok(records)
}

/// What the next row says of a record, if it has exactly its path and stat.
fn content<'r>(rows: &mut Peekable<impl Iterator<Item = &'r Row<'r>>>, record: &Record) -> Option<ObjectId> {
    let path = record.path.as_bytes();
    while rows.next_if(|row| row.path.as_bytes() < path).is_some() {}
    let row = rows.peek().filter(|row| row.path.as_bytes() == path)?;
    hashing::seen(record).filter(|seen| row.describes(*seen)).and(row.hash)
}
