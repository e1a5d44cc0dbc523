//! The middle stage of a capture as a stream: what the stat cache knows goes on at once, the rest is gathered and read.

use super::hashing::{Hashing, seen};
use super::presence::Presence;
use crate::error::Result;
use crate::history::index::Index;
use crate::history::json::Name;
use crate::history::rows::{self, Pass, Row};
use crate::store::id::ObjectId;
use crate::stream::raw::RawRecord;
use crate::stream::record::{Content, EntryKind, Record};
use crate::stream::{Framing, decimal};

/// The stat cache of a run for records that come in order, with what the pool is remembered to hold.
pub struct Recall<'a> {
    index: &'a Index,
    pass: Option<Pass<'a>>,
    /// All rows, for a cache or a stream that is not in order.
    rows: Option<Vec<Row<'a>>>,
    presence: Option<Presence<'a>>,
    name: Name,
}

impl<'a> Recall<'a> {
    /// Takes the rows of an index. Rows that cannot be understood are no cache.
    #[must_use]
    pub fn new(index: &'a Index, presence: Option<Presence<'a>>) -> Self {
        Self { index, pass: Pass::new(index.rows_json()), rows: None, presence, name: Name::default() }
    }

    /// The digits of the content of a record that is exactly as it was last seen, if its object is still there.
    fn expect(&mut self, raw: &RawRecord<'_>) -> Result<Option<&'a [u8]>> {
        let (Some(pass), Some(presence)) = (&mut self.pass, &mut self.presence) else { return Ok(None) };
        let row = self.name.of(raw.path).and_then(|name| pass.expect(raw.stat(), name));
        let Some(digits) = row else { return Ok(None) };
        let (Some(id), Some(size)) = (ObjectId::parse(digits), decimal::parse_u64(raw.size)) else {
            return Ok(None);
        };
        Ok(presence.holds(id, size)?.then_some(digits))
    }

    /// As [`super::hashing::StatCache::lookup`].
    fn lookup(&mut self, record: &Record) -> Result<Option<ObjectId>> {
        let (Some(presence), Some(seen)) = (&mut self.presence, seen(record)) else { return Ok(None) };
        let hash = |row: &Row<'_>| row.hash.filter(|_| row.describes(seen));
        let found = self.pass.as_mut().map(|pass| pass.find(record.path.as_bytes()));
        let hash = if let Some(Ok(row)) = found {
            row.as_ref().and_then(hash)
        } else {
            self.pass = None;
            let rows = self.rows.get_or_insert_with(|| self.index.rows().unwrap_or_default());
            record.path.to_str().and_then(|path| rows::find(rows, path)).and_then(hash)
        };
        let Some(hash) = hash else { return Ok(None) };
        Ok(presence.holds(hash, seen.size)?.then_some(hash))
    }

    /// Writes down for the next capture what the pool holds.
    pub fn remember(self) {
        if let Some(presence) = self.presence {
            presence.remember();
        }
    }
}

/// Records on their way through the hashing stage, in their order.
pub struct Batch {
    framing: Framing,
    /// Lines that are complete.
    text: Vec<u8>,
    /// Records that have to be read, and where in the text they belong.
    open: Vec<(usize, Record)>,
}

impl Batch {
    /// Begins with nothing.
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        Self { framing, text: Vec::new(), open: Vec::new() }
    }

    /// Takes the line of a file if nothing about it is new; `false` where it has to be read as a record.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the pool cannot be examined.
    pub fn take_line(&mut self, line: &[u8], recall: &mut Recall<'_>) -> Result<bool> {
        let raw = if self.framing == Framing::Nul { RawRecord::split(line) } else { None };
        let Some(raw) = raw.filter(|raw| raw.content == b"-") else { return Ok(false) };
        let Some(digits) = recall.expect(&raw)? else { return Ok(false) };
        self.text.reserve(line.len() + 65);
        self.text.extend_from_slice(raw.mode);
        self.text.push(b' ');
        self.text.extend_from_slice(digits);
        self.text.push(b' ');
        self.text.extend_from_slice(raw.rest);
        self.text.push(b'\0');
        Ok(true)
    }

    /// Takes one more record; its content is filled in at once where the stat cache has it.
    ///
    /// # Errors
    /// As [`Batch::take_line`].
    pub fn take(&mut self, mut record: Record, recall: &mut Recall<'_>) -> Result<()> {
        let is_read = matches!(record.kind, EntryKind::File | EntryKind::Link);
        if is_read && !matches!(record.content, Content::Gap(_)) {
            let cached = if record.kind == EntryKind::File { recall.lookup(&record)? } else { None };
            let Some(id) = cached else {
                self.open.push((self.text.len(), record));
                return Ok(());
            };
            record.content = Content::Object(id);
        }
        record.write(&mut self.text, self.framing);
        Ok(())
    }

    /// How many have to be read.
    #[must_use]
    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// Bytes of the lines that are complete.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Reads what has to be read and writes all lines in their order. What vanished is not among them.
    ///
    /// # Errors
    /// As [`Hashing::fill`].
    pub fn finish(&mut self, hashing: &Hashing<'_>, out: &mut Vec<u8>) -> Result<()> {
        if self.open.is_empty() && out.is_empty() {
            // Nothing is put between the lines: they go on as they are, and their room comes back.
            std::mem::swap(&mut self.text, out);
            return Ok(());
        }
        let (places, to_read): (Vec<_>, Vec<_>) =
            self.open.drain(..).map(|(at, record)| ((at, record.path.clone()), record)).unzip();
        let mut written = 0;
        if !to_read.is_empty() {
            let mut read = hashing.fill(to_read)?.into_iter().peekable();
            for (at, path) in places {
                out.extend_from_slice(self.text.get(written..at).unwrap_or_default());
                written = at;
                if let Some(record) = read.next_if(|record| record.path == path) {
                    record.write(out, self.framing);
                }
            }
        }
        out.extend_from_slice(self.text.get(written..).unwrap_or_default());
        self.text.clear();
        Ok(())
    }
}
