//! [`Guess`]: finding out that nothing changed while the stream of a capture comes in, without reading anything.
//!
//! Head's manifest and the stat cache are compared with the lines of the stream byte by byte, as they arrive. If the
//! last line is reached and all was the same, the snapshot is head, and no entry was ever read into memory. At the
//! first difference the lines so far are read as records and the capture goes its ordinary way: what is decided here
//! is only that nothing is to be decided.
//!
//! Manifest and index are read before the history lock is held; under the lock both must still be the same files.

use std::io::BufRead;

use super::capture::{self, Captured, Request};
use crate::error::Result;
use crate::history::History;
use crate::history::change::Change;
use crate::history::index::Index;
use crate::history::json::Name;
use crate::history::manifest::{Entries, Shell};
use crate::history::rows::Pass;
use crate::store::pool::Pool;
use crate::store::seam;
use crate::stream::raw::RawRecord;
use crate::stream::record::{Content, EntryKind, Record};
use crate::stream::recordset::{Outcome, RecordSet};
use crate::stream::wire::{Header, Mark, Reader};
use crate::stream::{Framing, decimal};
use crate::tree::stat::is_settled;

/// Index and head of a run, as they were before the history lock was held.
pub struct Guess {
    index: Index,
    shell: Shell,
}

impl Guess {
    /// Reads them. `None` where there is no head, or anything is unusual or wrong: the ordinary way says what.
    #[must_use]
    pub fn read(history: &History) -> Option<Self> {
        let index = history.index().ok()?;
        let shell = history.manifest_shell(index.head.as_ref()?)?;
        Some(Self { index, shell })
    }
}

/// What came of a stream.
pub enum Read {
    /// It says what head and the stat cache say. The records other than files are there; of the others there are the
    /// lines, for a capture that has to be made all the same.
    Unchanged(Unread),
    /// It was read as it has to be when there is something new.
    Read(Outcome),
}

/// A stream of which nothing is new.
pub struct Unread {
    header: Header,
    lines: Vec<u8>,
    others: Vec<Record>,
}

impl Unread {
    /// Reads it after all.
    ///
    /// # Errors
    /// As [`RecordSet::new`].
    pub fn into_set(self) -> Result<RecordSet> {
        let mut records = Vec::new();
        read_lines(&self.lines, &mut records)?;
        RecordSet::new(self.header, records)
    }
}

/// Reads a stream to its end, in the hope that it says nothing new.
///
/// # Errors
/// As [`RecordSet::read`].
pub fn read<R: BufRead>(mut reader: Reader<R>, header: Header, guess: Option<&Guess>) -> Result<Read> {
    let comparison = guess.and_then(|guess| Comparison::new(guess, &header));
    let Some(mut comparison) = comparison else {
        return RecordSet::read(reader, header).map(Read::Read);
    };
    let mut lines = Vec::new();
    loop {
        match reader.next_line()? {
            Mark::Failed(code, text) => return Ok(Read::Read(Outcome::Failed(code, text))),
            Mark::End => break,
            Mark::Line => {}
        }
        lines.extend_from_slice(reader.line());
        lines.push(Framing::Nul.end());
        if !comparison.take(reader.line()) {
            let mut records = Vec::new();
            read_lines(&lines, &mut records)?;
            return RecordSet::read_on(reader, header, records).map(Read::Read);
        }
    }
    let unread = Unread { header, lines, others: comparison.others.drain(..).collect() };
    if comparison.is_complete() {
        return Ok(Read::Unchanged(unread));
    }
    unread.into_set().map(Outcome::Complete).map(Read::Read)
}

fn read_lines(lines: &[u8], records: &mut Vec<Record>) -> Result<()> {
    let mut reader = Reader::bare(lines, Framing::Nul);
    while reader.next_line()? == Mark::Line {
        records.push(reader.record()?);
    }
    Ok(())
}

/// Makes the capture of a stream that said nothing new: labels move, and nothing else. `None` where that is not all
/// there is to do.
///
/// # Errors
/// As [`capture::write_snapshot`].
pub fn reuse_head(
    history: &History,
    guess: Guess,
    unread: &mut Unread,
    request: &Request,
) -> Result<Option<Captured>> {
    let Guess { mut index, shell } = guess;
    let Some(pool) = Pool::open(history.store())? else { return Ok(None) };
    capture::refuse_foreign_engine(history, request)?;
    seam::hook("before-history-lock");
    let _lock = history.lock_for_change()?;
    if !history.is_index(&index)? || !shell.is_current(history) {
        return Ok(None);
    }
    let head = shell.manifest;
    if request.parent.as_ref().is_some_and(|parent| *parent != head.id) {
        return Ok(None);
    }
    let labels = capture::wanted_labels(&index, &request.labels)?;
    let others = RecordSet::new(unread.header.clone(), std::mem::take(&mut unread.others))?;
    let candidate = capture::candidate(&pool, &others, Some(&head), None)?;
    if !candidate.records_the_same(&head) || !capture::may_reuse(&head, request, &labels) {
        return Ok(None);
    }
    let change = Change {
        head: Some(head.id.clone()),
        labels: labels.iter().map(|label| (label.clone(), Some(head.id.clone()))).collect(),
        overflowed: Some(false),
        rows: None,
    };
    history.apply(&mut index, change)?;
    Ok(Some(Captured { manifest: head, is_reused: true, labels, rules_were: None }))
}

/// Places in head's entries and in the stat cache, up to which the stream said the same.
struct Comparison<'a> {
    entries: Entries<'a>,
    rows: Pass<'a>,
    start_ns: u64,
    others: Vec<Record>,
    name: Name,
}

impl<'a> Comparison<'a> {
    fn new(guess: &'a Guess, header: &Header) -> Option<Self> {
        Some(Self {
            entries: guess.shell.entries()?,
            rows: Pass::new(guess.index.rows_json())?,
            start_ns: header.start_ns?,
            others: Vec::new(),
            name: Name::default(),
        })
    }

    /// Takes one line; `false` where it says something new.
    fn take(&mut self, line: &[u8]) -> bool {
        self.expect(line).is_some()
    }

    fn expect(&mut self, line: &[u8]) -> Option<()> {
        let raw = RawRecord::split(line).filter(|raw| !raw.content.starts_with(b"!"));
        let Some((raw, name)) = raw.and_then(|raw| Some((raw, self.name.of(raw.path)?))) else {
            let record = Record::parse(line, Framing::Nul).ok()?;
            // A file of which not all is known is an entry all the same, and for the ordinary way.
            let is_entry = record.kind == EntryKind::File
                && !matches!(record.content, Content::Gap(_))
                && record.path.to_str().is_some();
            return (!is_entry).then(|| self.others.push(record));
        };
        self.entries.expect(&raw, name)?;
        let (mtime_ns, ctime_ns) = (decimal::parse_i64(raw.mtime_ns)?, decimal::parse_i64(raw.ctime_ns)?);
        if is_settled(mtime_ns, ctime_ns, self.start_ns) {
            (self.rows.expect(&raw, name)? == raw.content).then_some(())?;
        }
        Some(())
    }

    fn is_complete(&self) -> bool {
        self.entries.is_complete() && self.rows.is_complete()
    }
}
