//! [`Delta`]: what the stream of a capture says against head, found out while it comes in.
//!
//! ```text
//! lines of the stream   a  b  C  d  x  e      compared, byte by byte, with
//! head's manifest       a  b  c  d     e  f   its entries, and
//! the stat cache        a  b  c  d     e  f   its rows
//!
//! new manifest          a..b  C  d  x  e      ranges of the old document, and what is new
//! ```
//!
//! A line that says what both documents say is never read: that they stay as they are there is all there is to know. If
//! that is so up to the last line, the snapshot is head. Otherwise both documents are written from ranges of the old ones
//! and from the entries and rows that are new, so a capture costs a comparison and what has changed.
//!
//! Manifest and index are read before the history lock is held; under the lock both must still be the same files. Where
//! anything is unusual (a stream out of order, documents that do not stand as we write them, another capture in between)
//! the records are read after all, and the capture is made from them as if nothing had been compared.

mod compare;
mod order;
#[cfg(test)]
mod tests;

use std::io::BufRead;

use super::capture::{self, Captured, News, Request};
use crate::error::{Error, Kind, Result};
use crate::history::History;
use crate::history::index::{Index, RowsUpdate};
use crate::history::manifest::{Entries, Entry, Manifest, Node, Shell, fresh_entries};
use crate::history::rows::Pass;
use crate::history::splice::Splice;
use crate::store::fsio::document::Published;
use crate::store::id::ObjectId;
use crate::store::pool::Pool;
use crate::store::seam;
use crate::stream::Framing;
use crate::stream::record::Record;
use crate::stream::recordset::{Outcome, RecordSet};
use crate::stream::wire::{Header, Mark, Reader};
use compare::Comparison;

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
    /// It was compared to its end.
    Compared(Box<Delta>),
    /// It was read.
    Read(Outcome),
}

/// A stream of which only what is new was read.
pub struct Delta {
    guess: Guess,
    found: Found,
}

/// What the stream says, most of it by places in the old documents.
struct Found {
    /// The entries of the new manifest.
    entries: Splice,
    /// The rows of the new stat cache.
    rows: Splice,
    /// The lines of files that get an entry and no row.
    bare: Vec<u8>,
    /// Everything but regular files with UTF-8 names.
    others: RecordSet,
}

/// Reads a stream to its end, in the hope that it says little new.
///
/// # Errors
/// As [`RecordSet::read`].
pub fn read<R: BufRead>(mut reader: Reader<R>, header: Header, guess: Option<Guess>) -> Result<Read> {
    let Some(guess) = guess else { return RecordSet::read(reader, header).map(Read::Read) };
    let Some(mut comparison) = Comparison::new(&guess, &header) else {
        return RecordSet::read(reader, header).map(Read::Read);
    };
    loop {
        match reader.next_line()? {
            Mark::Failed(code, text) => return Ok(Read::Read(Outcome::Failed(code, text))),
            Mark::End => break,
            Mark::Line => {}
        }
        if comparison.take(reader.line()).is_none() {
            let mut records = comparison.into_found(Header::default()).into_records(&guess)?;
            records.push(reader.record()?);
            return RecordSet::read_on(reader, header, records).map(Read::Read);
        }
    }
    let is_usual = comparison.finish(&guess).is_some();
    let delta = Box::new(Delta { found: comparison.into_found(header), guess });
    if is_usual {
        return Ok(Read::Compared(delta));
    }
    delta.into_set().map(Outcome::Complete).map(Read::Read)
}

impl Delta {
    /// Makes the capture. `None` where that cannot be done, and nothing was done: the records have to be read.
    ///
    /// # Errors
    /// As [`capture::write_snapshot`].
    pub fn write_snapshot(&mut self, history: &History, request: &Request) -> Result<Option<Captured>> {
        let Some(pool) = Pool::open(history.store())? else { return Ok(None) };
        capture::refuse_foreign_engine(history, request)?;
        seam::hook("before-history-lock");
        let _lock = history.lock_for_change()?;
        let Guess { index, shell } = &mut self.guess;
        if !history.is_index(index)? || !shell.is_current(history) {
            return Ok(None);
        }
        let news = Against { found: &self.found, head: shell };
        capture::conclude(history, &pool, index, Some(&shell.manifest), &news, request).map(Some)
    }

    /// Reads the stream after all.
    ///
    /// # Errors
    /// As [`RecordSet::new`].
    pub fn into_set(mut self) -> Result<RecordSet> {
        let header = std::mem::take(&mut self.found.others.header);
        RecordSet::new(header, self.found.into_records(&self.guess)?)
    }
}

impl Found {
    /// The records that the lines stood for: told by entry and row where a file has both.
    fn into_records(self, guess: &Guess) -> Result<Vec<Record>> {
        let entries = self.entries.to_text(guess.shell.text(), b'[', b']');
        let rows = self.rows.to_text(guess.index.rows_json(), b'{', b'}');
        let mut bare = Reader::bare(&*self.bare, Framing::Nul);
        let mut records = self.others.records;
        let (Some(mut entries), Some(mut rows)) = (Entries::new(&entries), Pass::new(&rows)) else {
            return Err(changed_in_place());
        };
        let mut row = rows.read();
        while let Some(entry) = entries.read() {
            if let Some(row_of_it) = row.take_if(|row| row.path.as_bytes() == entry.path.as_bytes()) {
                records.push(compare::record(entry, &row_of_it).ok_or_else(changed_in_place)?);
                row = rows.read();
            } else if bare.next_line()? == Mark::Line {
                records.push(bare.record()?);
            } else {
                return Err(changed_in_place());
            }
        }
        if entries.is_complete() && rows.is_complete() { Ok(records) } else { Err(changed_in_place()) }
    }
}

/// Neither implementation does that: documents are replaced.
fn changed_in_place() -> Error {
    Error::new(Kind::Damaged, "the index or the newest manifest was changed in place while it was read")
        .hint("run the whole capture again")
}

/// What is new, and what it was compared with.
struct Against<'a> {
    found: &'a Found,
    head: &'a Shell,
}

impl News for Against<'_> {
    fn set(&self) -> &RecordSet {
        &self.found.others
    }

    fn is_same(&self, manifest: &Manifest, head: &Manifest) -> bool {
        let entries = self.head.text();
        self.found.entries.is_only(1..entries.len().saturating_sub(1)) && manifest.records_the_same(head)
    }

    fn new_files(&self, check: &mut dyn FnMut(&Entry, ObjectId, u64) -> Result<()>) -> Result<()> {
        // What is not fresh stands in head as it is.
        for entry in fresh_entries(&self.found.entries) {
            let Some(entry) = entry else { return Err(changed_in_place()) };
            if let Node::File { hash, size } = entry.node {
                check(&entry, hash, size)?;
            }
        }
        Ok(())
    }

    fn publish(&self, history: &History, manifest: &Manifest) -> Result<Published> {
        history.publish_splice(manifest, &self.found.entries, self.head.text())
    }

    fn rows(&self, _index: &Index) -> Result<RowsUpdate<'_>> {
        Ok(RowsUpdate::Splice(&self.found.rows))
    }
}
