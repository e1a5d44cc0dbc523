//! [`fill`]: what files hold, for those who compare and do not capture.
//!
//! A row of the stat cache whose stat is the file's tells what it holds, whether or not the pool still has the object.
//! Whoever only compares needs no more, and one look into the pool for each file would be half of all it does. Who is
//! going to destroy those bytes asks the pool for them, and a capture asks for all ([`super::hashing::StatCache`]).

use super::hashing::{self, Hashing};
use crate::error::Result;
use crate::history::index::Index;
use crate::history::rows::{self, Pass, Row, Seen};
use crate::store::id::ObjectId;
use crate::store::relpath::RelPath;
use crate::stream::record::{Content, EntryKind, Record};
use crate::tree::root::Workspace;

/// Fills in the content of all records that are wanted: from the index, or by reading. Records are sorted by path bytes. A
/// record whose path vanished is dropped, one whose kind changed is what it is now.
///
/// # Errors
/// [`crate::error::Kind::Io`] for what is not a fact about a file.
pub(super) fn fill(
    workspace: &Workspace,
    index: &Index,
    cap_bytes: u64,
    mut records: Vec<Record>,
    is_wanted: impl Fn(&RelPath) -> bool,
) -> Result<Vec<Record>> {
    let mut rows = Rows::of(index);
    let unread: Vec<Record> = records
        .extract_if(.., |record| {
            let needs_content =
                record.content == Content::Unknown && matches!(record.kind, EntryKind::File | EntryKind::Link);
            if !needs_content || !is_wanted(&record.path) {
                return false;
            }
            match rows.content(record) {
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

/// The rows of the stat cache, asked in the order of paths.
struct Rows<'a> {
    index: &'a Index,
    /// They are gone over once and not kept, as long as they stand in order.
    pass: Option<Pass<'a>>,
    /// All of them, where they do not; rows that cannot be understood are none.
    all: Vec<Row<'a>>,
}

impl<'a> Rows<'a> {
    fn of(index: &'a Index) -> Self {
        let pass = Pass::new(index.rows_json());
        let all = if pass.is_none() { index.rows().unwrap_or_default() } else { Vec::new() };
        Self { index, pass, all }
    }

    /// What the row of a record says, if it has exactly its path and stat.
    fn content(&mut self, record: &Record) -> Option<ObjectId> {
        let (path, seen) = (record.path.to_str()?, hashing::seen(record)?);
        let hash = |row: &Row<'_>, seen: Seen| row.hash.filter(|_| row.describes(seen));
        if let Some(pass) = &mut self.pass {
            if let Ok(found) = pass.find(path.as_bytes()) {
                return hash(&found?, seen);
            }
            self.pass = None;
            self.all = self.index.rows().unwrap_or_default();
        }
        hash(rows::find(&self.all, path)?, seen)
    }
}
