//! The stat cache that a whole set of records makes.

use super::super::hashing::seen;
use crate::error::{Error, Kind, Result};
use crate::history::index::Index;
use crate::history::rows::{self, Pass, Row};
use crate::stream::record::{Content, EntryKind};
use crate::stream::recordset::RecordSet;
use crate::tree::stat::is_settled;

/// The rows of everything that was seen at rest, as JSON; `None` where the stream does not say when it began.
pub(super) fn of(set: &RecordSet, index: &Index) -> Result<Option<Vec<u8>>> {
    let Some(start) = set.header.start_ns else { return Ok(None) };
    let mut old = OldRows::new(index)?;
    let mut json = Vec::with_capacity(index.rows_json().len() + 1024);
    json.push(b'{');
    for record in &set.records {
        let (EntryKind::File, Content::Object(hash)) = (record.kind, &record.content) else { continue };
        let (Some(path), Some(seen)) = (record.path.to_str(), seen(record)) else { continue };
        if !is_settled(seen.mtime_ns, seen.ctime_ns, start) {
            continue;
        }
        let before = json.len();
        rows::push_row(&mut json, path, *hash, seen, None);
        let row = json.get(before..).unwrap_or_default();
        if let Some(old) = old.row_unlike(path, row.strip_prefix(b",").unwrap_or(row))? {
            json.truncate(before);
            rows::push_row(&mut json, path, *hash, seen, Some(&old));
        }
    }
    json.push(b'}');
    Ok(Some(json))
}

/// The rows of the index, of which only those are read that the new ones differ from.
struct OldRows<'a> {
    index: &'a Index,
    pass: Option<Pass<'a>>,
    all: Vec<Row<'a>>,
}

impl<'a> OldRows<'a> {
    fn new(index: &'a Index) -> Result<Self> {
        let mut rows = Self { index, pass: Pass::new(index.rows_json()), all: Vec::new() };
        if rows.pass.is_none() {
            rows.read_all()?;
        }
        Ok(rows)
    }

    fn read_all(&mut self) -> Result<()> {
        self.pass = None;
        self.all = self.index.rows().map_err(|problem| Error::new(Kind::Damaged, problem))?;
        Ok(())
    }

    /// The row that a path had, unless it is `row` byte by byte.
    fn row_unlike(&mut self, path: &str, row: &[u8]) -> Result<Option<Row<'a>>> {
        if let Some(pass) = &mut self.pass {
            if pass.skip(row) {
                return Ok(None);
            }
            if let Ok(found) = pass.find(path.as_bytes()) {
                return Ok(found);
            }
            self.read_all()?;
        }
        Ok(rows::find(&self.all, path).cloned())
    }
}
