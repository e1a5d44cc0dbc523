//! [`Comparison`]: one line after the other against head's entries and the rows of the stat cache.

use std::ops::Range;

use super::super::hashing::seen;
use super::order::Order;
use super::{Found, Guess};
use crate::history::json::Name;
use crate::history::manifest::{Entries, Entry, Node, push_file};
use crate::history::rows::{self, OutOfOrder, Pass, Row};
use crate::history::splice::Splice;
use crate::store::id::ObjectId;
use crate::stream::raw::RawRecord;
use crate::stream::record::{Content, EntryKind, Record};
use crate::stream::recordset::RecordSet;
use crate::stream::wire::Header;
use crate::stream::{Framing, decimal};
use crate::tree::rules::HardReason;
use crate::tree::stat::is_settled;

/// Places in head's entries and in the stat cache, and what the stream makes of both up to there.
pub(super) struct Comparison<'a> {
    old_entries: Entries<'a>,
    old_rows: Pass<'a>,
    start: Start,
    order: Order,
    entries: Splice,
    rows: Splice,
    bare: Vec<u8>,
    others: Vec<Record>,
    name: Name,
}

impl<'a> Comparison<'a> {
    /// Stands before everything. `None` where it cannot be compared: a stream that does not say when it began makes no rows.
    pub(super) fn new(guess: &'a Guess, header: &Header) -> Option<Self> {
        Some(Self {
            old_entries: guess.shell.entries()?,
            old_rows: Pass::new(guess.index.rows_json())?,
            start: Start::new(header.start_ns?),
            order: Order::default(),
            entries: Splice::default(),
            rows: Splice::default(),
            bare: Vec::new(),
            others: Vec::new(),
            name: Name::default(),
        })
    }

    /// Takes one line. `None` where anything about it is unusual; then nothing of it was taken.
    pub(super) fn take(&mut self, line: &[u8]) -> Option<()> {
        let raw = RawRecord::split(line).filter(|raw| !raw.content.starts_with(b"!"));
        let Some((raw, name)) = raw.and_then(|raw| Some((raw, self.name.of(raw.path)?))) else {
            return self.take_other(line);
        };
        self.order.take(raw.path)?;
        let is_at_rest = self.start.is_behind(&raw)?;
        let entry = self.old_entries.expect(&raw, name).map(|()| self.old_entries.last());
        let row = is_at_rest.then(|| self.old_rows.expect(raw.stat(), name)).flatten();
        let row = row.filter(|hash| *hash == raw.content).map(|_| self.old_rows.last());
        if let (Some(entry), Some(row)) = (&entry, &row) {
            self.entries.keep(entry.clone());
            self.rows.keep(row.clone());
            return Some(());
        }
        let file = File::read(line)?;
        let entry = match entry {
            Some(entry) => Some(entry),
            None => same_entry(&mut self.old_entries, &raw, name, &file.entry).ok()?,
        };
        let row = match row {
            None if is_at_rest => same_row(&mut self.old_rows, &raw, name).ok()?,
            other => other,
        };
        match entry {
            Some(entry) => self.entries.keep(entry),
            None => self.entries.add(|out| push_file(out, (&file.entry, file.hash, file.seen.size))),
        }
        match row {
            Some(row) => self.rows.keep(row),
            None if is_at_rest => self.rows.add(|out| rows::push_only_row(out, name, file.hash, file.seen)),
            None => {
                self.bare.extend_from_slice(line);
                self.bare.push(Framing::Nul.end());
            }
        }
        Some(())
    }

    /// Takes the line of anything but a regular file with an UTF-8 name.
    fn take_other(&mut self, line: &[u8]) -> Option<()> {
        let record = Record::parse(line, Framing::Nul).ok()?;
        // A file of which not all is known is an entry all the same, and to be read.
        let is_entry = record.kind == EntryKind::File
            && !matches!(record.content, Content::Gap(_))
            && record.path.to_str().is_some();
        if is_entry {
            return None;
        }
        self.order.take(record.path.as_bytes())?;
        self.others.push(record);
        Some(())
    }

    /// Goes over what the stream does not have any more.
    pub(super) fn finish(&mut self, guess: &Guess) -> Option<()> {
        self.old_entries.finish().ok()?;
        self.old_rows.finish().ok()?;
        let head = &guess.shell.manifest;
        let paths = |are_gaps: bool| {
            let is_meant = move |record: &&Record| matches!(record.content, Content::Gap(_)) == are_gaps;
            self.others.iter().filter(is_meant).map(|record| &record.path)
        };
        let are_all_there = !self.old_entries.has_skipped()
            && paths(false).eq(head.entries.iter().map(|entry| &entry.path))
            && paths(true).eq(head.gaps.iter().map(|gap| &gap.path));
        // The paths of the stream are in good order, and so are head's if they are the same.
        if are_all_there { Some(()) } else { has_good_paths(guess) }
    }

    pub(super) fn into_found(self, header: Header) -> Found {
        let Self { entries, rows, bare, others, .. } = self;
        Found { entries, rows, bare, others: RecordSet { header, records: others } }
    }
}

/// Whether head may be gone on from: that its paths agree with one another was not seen for those that are gone.
fn has_good_paths(guess: &Guess) -> Option<()> {
    let mut order = Order::default();
    let mut gaps = guess.shell.manifest.gaps.iter().map(|gap| gap.path.as_bytes()).peekable();
    let mut take = |path: &[u8]| {
        while gaps.next_if(|gap| *gap < path).is_some() {}
        if gaps.peek() == Some(&path) { None } else { order.take(path) }
    };
    let mut files = guess.shell.entries()?;
    let mut others = guess.shell.manifest.entries.iter().map(|entry| entry.path.as_bytes()).peekable();
    while let Some(path) = files.path() {
        while let Some(other) = others.next_if(|other| *other < path.as_bytes()) {
            take(other)?;
        }
        take(path.as_bytes())?;
    }
    files.is_complete().then_some(())?;
    others.try_for_each(take)
}

/// Goes on to the entry of a path, and over it: where it stands if it says the same.
///
/// # Errors
/// [`OutOfOrder`] where it cannot be found so, or says the same in other words.
fn same_entry(
    old: &mut Entries<'_>,
    raw: &RawRecord<'_>,
    name: &[u8],
    new: &Entry,
) -> Result<Option<Range<usize>>, OutOfOrder> {
    let Some(found) = old.reach(raw.path)? else { return Ok(None) };
    if old.expect(raw, name).is_some() {
        return Ok(Some(old.last()));
    }
    if found == *new {
        return Err(OutOfOrder);
    }
    old.read().map(|_| None).ok_or(OutOfOrder)
}

/// As [`same_entry`], for rows. Those that say more than we write are not found so: what they say must not be lost.
fn same_row(old: &mut Pass<'_>, raw: &RawRecord<'_>, name: &[u8]) -> Result<Option<Range<usize>>, OutOfOrder> {
    if old.reach(raw.path)?.is_none() {
        return Ok(None);
    }
    if old.expect(raw.stat(), name).is_some_and(|hash| hash == raw.content) {
        return Ok(Some(old.last()));
    }
    old.find(raw.path).map(|_| None)
}

/// What a line says of a file.
struct File {
    entry: Entry,
    hash: ObjectId,
    seen: rows::Seen,
}

impl File {
    fn read(line: &[u8]) -> Option<Self> {
        let record = Record::parse(line, Framing::Nul).ok()?;
        let seen = seen(&record)?;
        let Content::Object(hash) = record.content else { return None };
        if record.path.components().any(|name| HardReason::of_name(name).is_some()) {
            return None;
        }
        let node = Node::File { hash, size: seen.size };
        Some(Self { entry: Entry { path: record.path, node, mode: record.mode }, hash, seen })
    }
}

/// The record of a file, from its entry and its row.
pub(super) fn record(entry: Entry, row: &Row<'_>) -> Option<Record> {
    let Node::File { hash, size } = entry.node else { return None };
    Some(Record {
        kind: EntryKind::File,
        mode: entry.mode,
        content: Content::Object(hash),
        size: Some(size),
        mtime_ns: Some(row.mtime_ns),
        ctime_ns: Some(row.ctime_ns?),
        inode: Some(row.inode?),
        path: entry.path,
    })
}

/// When the walk began.
struct Start {
    ns: u64,
    /// A time at which a file was surely at rest, in digits. Nearly all times are as long, and compared as text.
    long_before: Vec<u8>,
}

/// As far before the start as the slowest clock ticks, see [`is_settled`].
const LONG_NS: u64 = 2_000_000_000;

impl Start {
    fn new(ns: u64) -> Self {
        let mut long_before = Vec::new();
        decimal::push(&mut long_before, ns.saturating_sub(LONG_NS).min(i64::MAX.unsigned_abs() - LONG_NS));
        Self { ns, long_before }
    }

    /// Whether a file was at rest by then. `None` where its times are no times.
    fn is_behind(&self, raw: &RawRecord<'_>) -> Option<bool> {
        let is_long_before = |time: &[u8]| time.len() == self.long_before.len() && time < &*self.long_before;
        if is_long_before(raw.mtime_ns) && is_long_before(raw.ctime_ns) {
            return Some(true);
        }
        Some(is_settled(decimal::parse_i64(raw.mtime_ns)?, decimal::parse_i64(raw.ctime_ns)?, self.ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_as_text_is_what_the_numbers_say() {
        let near =
            [0, 1, 19_999_999, 20_000_000, 20_000_001, 1_999_999_999, 2_000_000_000, 2_000_000_001, u64::MAX];
        for start in [0, 5, 9_999_999_999, 1_000_000_000_000_000_000, 1_795_956_271_497_309_057, u64::MAX] {
            let mut times: Vec<i64> =
                near.iter().filter_map(|ns| start.saturating_sub(*ns).try_into().ok()).collect();
            times.extend([-1, 0, 1_000_000_000, i64::MIN, i64::MAX]);
            for mtime in &times {
                for ctime in &times {
                    let line = format!("f0644 - 1 {mtime} {ctime} 3\ta");
                    let raw = RawRecord::split(line.as_bytes()).unwrap();
                    let expected = Some(is_settled(*mtime, *ctime, start));
                    assert_eq!(Start::new(start).is_behind(&raw), expected, "{mtime} {ctime} {start}");
                }
            }
        }
        let line = "f0644 - 1 99999999999999999999 1 3\ta";
        assert_eq!(Start::new(1).is_behind(&RawRecord::split(line.as_bytes()).unwrap()), None);
    }
}
