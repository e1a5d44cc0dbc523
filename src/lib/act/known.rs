//! [`Known`]: what files hold, for those who compare and do not capture.
//!
//! A row of the stat cache whose stat is the file's tells what it holds, whether or not the pool still has the object.
//! Whoever only compares needs no more, and one look into the pool for each file would be half of all it does. Who is
//! going to destroy those bytes asks the pool for them, and a capture asks for all ([`super::hashing::StatCache`]).

use super::hashing::Hashing;
use crate::error::Result;
use crate::history::index::Index;
use crate::history::json::Name;
use crate::history::rows::{self, Pass, Row, Seen};
use crate::store::id::ObjectId;
use crate::store::relpath::RelPath;
use crate::stream::decimal;
use crate::stream::record::{Content, EntryKind, Record};
use crate::tree::listing::Entry;
use crate::tree::root::Workspace;
use crate::tree::scan;
use crate::tree::stat::FileStat;

/// The rows of the stat cache, asked in the order of paths.
pub(super) struct Known<'a> {
    index: &'a Index,
    /// They are gone over once and not kept, as long as they stand in order.
    pass: Option<Pass<'a>>,
    /// All of them, where they do not; rows that cannot be understood are none.
    all: Vec<Row<'a>>,
    name: Name,
    /// The numbers of a stat, one after the other: kept for its room.
    digits: Vec<u8>,
}

impl<'a> Known<'a> {
    /// Takes the rows of an index.
    pub(super) fn of(index: &'a Index) -> Self {
        let pass = Pass::new(index.rows_json());
        let all = if pass.is_none() { index.rows().unwrap_or_default() } else { Vec::new() };
        Self { index, pass, all, name: Name::default(), digits: Vec::new() }
    }

    /// The content of what a walk found, as far as it can be told without reading; `None` where it has to be read.
    pub(super) fn content(&mut self, path: &RelPath, found: &Entry) -> Option<Content> {
        match (&found.gap, found.stat.kind) {
            (Some(reason), _) => Some(Content::Gap(reason.clone())),
            (None, EntryKind::File) => self.object(path, &found.stat).map(Content::Object),
            (None, EntryKind::Link) => None,
            (None, EntryKind::Dir | EntryKind::Special) => Some(Content::Unknown),
        }
    }

    /// What the row of a file says, if it has exactly its path and stat.
    fn object(&mut self, path: &RelPath, stat: &FileStat) -> Option<ObjectId> {
        let (Some(size), Some(mtime_ns), Some(ctime_ns), Some(inode)) = scan::known(stat) else { return None };
        let seen = Seen { size, mtime_ns, ctime_ns, inode };
        if let Some(id) = self.expect(path, seen) {
            return Some(id);
        }
        let path = path.to_str()?;
        let hash = |row: &Row<'_>| row.hash.filter(|_| row.describes(seen));
        if let Some(pass) = &mut self.pass {
            if let Ok(found) = pass.find(path.as_bytes()) {
                return hash(&found?);
            }
            self.pass = None;
            self.all = self.index.rows().unwrap_or_default();
        }
        hash(rows::find(&self.all, path)?)
    }

    /// What the next row says, if it is that of the file: nearly always it is, and then it need not be read.
    fn expect(&mut self, path: &RelPath, seen: Seen) -> Option<ObjectId> {
        let pass = self.pass.as_mut()?;
        let name = self.name.of(path.as_bytes())?;
        self.digits.clear();
        decimal::push(&mut self.digits, seen.size);
        let size = self.digits.len();
        decimal::push(&mut self.digits, seen.mtime_ns);
        let mtime = self.digits.len();
        decimal::push(&mut self.digits, seen.ctime_ns);
        let ctime = self.digits.len();
        decimal::push(&mut self.digits, seen.inode);
        let number = |from: usize, to: usize| self.digits.get(from..to).unwrap_or_default();
        let stat = [number(0, size), number(size, mtime), number(mtime, ctime), number(ctime, self.digits.len())];
        ObjectId::parse(pass.expect(stat, name)?)
    }
}

/// Reads these files and links, which are sorted by path bytes. One that vanished is dropped, one whose kind changed is what
/// it is now.
///
/// # Errors
/// [`crate::error::Kind::Io`] for what is not a fact about a file.
pub(super) fn read(workspace: &Workspace, cap_bytes: u64, unknown: Vec<Record>) -> Result<Vec<Record>> {
    if unknown.is_empty() {
        return Ok(unknown);
    }
    Hashing { workspace, pool: None, cache: None, cap_bytes, new_bytes_max: None }.fill(unknown)
}
