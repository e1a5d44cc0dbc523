//! The tail-backwards reader: where the lines at the end of a log lie, without reading what is before them.
//!
//! It looks for newlines in blocks from the end and keeps one block in memory, whatever the length of a line.

use std::io;

use super::source::Source;
use super::{LINE_BYTES_MAX, event, seq_of_damaged};

/// How much is read at once, in bytes.
const BLOCK_BYTES: usize = if cfg!(fuzzing) { 64 } else { 64 * 1024 };
/// So much of an over-long line is looked at, in bytes: its number stands at its beginning.
const HEAD_BYTES: u64 = 4096;

/// Where a line lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub start: u64,
    /// Behind its last byte, where its newline stands if it has one.
    pub end: u64,
    /// Whether it has its newline.
    pub terminated: bool,
}

impl Span {
    /// How long it is, without its newline.
    #[must_use]
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether nothing stands on it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Walks the lines of a log from the last to the first.
pub struct Backwards<S> {
    source: S,
    /// What lies at and behind this offset has been given out.
    rest: u64,
    /// Whether a newline stands at `rest`: always, but for the first line given out.
    terminated: bool,
    block: Vec<u8>,
    block_offset: u64,
}

impl<S: Source> Backwards<S> {
    /// Walks back from `len`, the end of the log.
    ///
    /// # Errors
    /// What the source said.
    pub fn new(source: S, len: u64) -> io::Result<Self> {
        let mut walk = Self { source, rest: len, terminated: false, block: Vec::new(), block_offset: len };
        if len > 0 {
            walk.load(len)?;
            if walk.block.last() == Some(&b'\n') {
                walk.rest = len - 1;
                walk.terminated = true;
            }
        }
        Ok(walk)
    }

    /// The next line towards the beginning; it may be empty.
    ///
    /// # Errors
    /// What the source said, and "unexpected end" when the file was cut while it was read.
    pub fn previous(&mut self) -> io::Result<Option<Span>> {
        if self.rest == 0 && !self.terminated {
            return Ok(None);
        }
        let (end, terminated) = (self.rest, self.terminated);
        let mut behind = end;
        let start = loop {
            if behind == 0 {
                break 0;
            }
            if behind <= self.block_offset {
                self.load(behind)?;
            }
            let within = usize::try_from(behind - self.block_offset).unwrap_or(usize::MAX);
            match memchr::memrchr(b'\n', self.block.get(..within).unwrap_or(&self.block)) {
                Some(found) => break self.block_offset + found as u64 + 1,
                None => behind = self.block_offset,
            }
        };
        // Before a line that does not begin the log stands the newline of another.
        (self.rest, self.terminated) = (start.saturating_sub(1), start > 0);
        Ok(Some(Span { start, end, terminated }))
    }

    /// Whether a line lies in the block that is in memory, so that looking at it costs nothing.
    fn has(&self, span: Span) -> bool {
        span.start >= self.block_offset && span.end <= self.block_offset + self.block.len() as u64
    }

    /// Reads the block that ends at `end`.
    fn load(&mut self, end: u64) -> io::Result<()> {
        let start = end.saturating_sub(BLOCK_BYTES as u64);
        self.block.resize(usize::try_from(end - start).unwrap_or(BLOCK_BYTES), 0);
        self.block_offset = start;
        read_exact_at(&self.source, &mut self.block, start)
    }

    /// Reads a line, or `None` if it is above the limit.
    ///
    /// # Errors
    /// As [`Backwards::previous`].
    pub fn read<'b>(&self, span: Span, into: &'b mut Vec<u8>) -> io::Result<Option<&'b [u8]>> {
        if span.len() >= LINE_BYTES_MAX as u64 {
            return Ok(None);
        }
        into.resize(usize::try_from(span.len()).unwrap_or(0), 0);
        read_exact_at(&self.source, into, span.start)?;
        Ok(Some(into))
    }
}

fn read_exact_at(source: &impl Source, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = source.read_at(buffer, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        offset += count as u64;
        buffer = buffer.get_mut(count..).unwrap_or_default();
    }
    Ok(())
}

/// What an appender must know of the end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEnd {
    /// How long the log is, in bytes.
    pub len: u64,
    /// Whether its last line is whole, or there is none.
    pub terminated: bool,
    /// The number of the next event.
    pub next_seq: u64,
}

/// Finds the end of a log of `len` bytes.
///
/// The next number follows the last event, and every number that can be seen in the same block, so that lines that two
/// writers of the original mixed up do not bring a number back. A torn tail has no number; a whole line that was damaged
/// later keeps the number that it begins with.
///
/// # Errors
/// As [`Backwards::previous`].
pub fn log_end<S: Source>(source: S, len: u64) -> io::Result<LogEnd> {
    let mut walk = Backwards::new(source, len)?;
    let terminated = len == 0 || walk.terminated;
    let mut next_seq = 0;
    let mut line = Vec::new();
    let mut found = false;
    while let Some(span) = walk.previous()? {
        if found && !walk.has(span) {
            break;
        }
        let seq = match walk.read(span, &mut line)? {
            // A fragment never was an event: its number was given again.
            Some(line) if is_fragment(line) => None,
            Some(line) if found => seq_of_damaged(line),
            Some(line) => match last_event(line) {
                Some(seq) => {
                    found = true;
                    Some(seq)
                }
                None if span.terminated => seq_of_damaged(line),
                None => None,
            },
            None => over_long(&walk.source, span, &mut line)?,
        };
        next_seq = seq.map_or(next_seq, |seq| next_seq.max(seq.saturating_add(1)));
    }
    Ok(LogEnd { len, terminated, next_seq })
}

/// The number of a line above the limit: it stands at its beginning, or, behind a hole, in its last piece.
fn over_long<S: Source>(source: &S, span: Span, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.resize(usize::try_from(HEAD_BYTES.min(span.len())).unwrap_or(0), 0);
    read_exact_at(source, line, span.start)?;
    if let Some(seq) = seq_of_damaged(line) {
        return Ok(Some(seq));
    }
    line.resize(LINE_BYTES_MAX, 0);
    read_exact_at(source, line, span.end.saturating_sub(LINE_BYTES_MAX as u64))?;
    Ok(memchr::memrchr(0, line).and_then(|hole| last_event(line.get(hole + 1..)?)))
}

/// The number of the event on a line; NUL bytes part it into pieces, of which the last event counts.
fn last_event(line: &[u8]) -> Option<u64> {
    line.rsplit(|byte| *byte == 0)
        .find_map(|piece| event::Event::parse(super::bare_line(piece)).ok().map(|event| event.seq))
}

fn is_fragment(line: &[u8]) -> bool {
    matches!(event::Event::parse(super::bare_line(line)), Err(event::Flaw::CutShort))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(log: &[u8]) -> Vec<(u64, u64, bool)> {
        let mut walk = Backwards::new(log, log.len() as u64).unwrap();
        std::iter::from_fn(|| walk.previous().unwrap()).map(|s| (s.start, s.end, s.terminated)).collect()
    }

    fn event(seq: u64, bytes: usize) -> String {
        format!("{{\"seq\":{seq},\"type\":\"{}\"}}\n", "\u{2014}".repeat(bytes / 3))
    }

    fn end(log: &[u8]) -> (bool, u64) {
        let end = log_end(log, log.len() as u64).unwrap();
        (end.terminated, end.next_seq)
    }

    #[test]
    fn walks_back_over_every_line() {
        assert_eq!(spans(b""), []);
        assert_eq!(spans(b"\n"), [(0, 0, true)]);
        assert_eq!(spans(b"a\n\nbc"), [(3, 5, false), (2, 2, true), (0, 1, true)]);
        let wide = vec![b'x'; BLOCK_BYTES * 2 + 7];
        let text = [b"a\n", &*wide, b"\nb\n"].concat();
        let len = wide.len() as u64;
        assert_eq!(spans(&text), [(len + 3, len + 4, true), (2, len + 2, true), (0, 1, true)]);
    }

    #[test]
    fn a_block_may_begin_anywhere_in_a_character() {
        for shift in 0..8 {
            let log = format!("{}{}", event(0, 10), event(1, BLOCK_BYTES + shift));
            assert_eq!(end(log.as_bytes()), (true, 2), "shift {shift}");
            let log = format!("{}{}", event(4, BLOCK_BYTES / 2 + shift), event(5, BLOCK_BYTES / 2));
            assert_eq!(end(log.as_bytes()), (true, 6), "shift {shift}");
        }
    }

    #[test]
    fn the_next_number_follows_what_was_acknowledged() {
        let one = event(7, 3);
        let after = |tail: &str| end(format!("{one}{tail}").as_bytes());
        assert_eq!(after(""), (true, 8));
        assert_eq!(after("{\"seq\":8,\"ty"), (false, 8));
        assert_eq!(after("{\"seq\":8,\"ty\n"), (true, 8), "a healed fragment has no number");
        assert_eq!(
            end(&[b"{\"seq\":99,\"ty\n", event(1, 3).as_bytes()].concat()),
            (true, 2),
            "nor has one before the last event"
        );
        assert_eq!(after("{\"seq\":8,\"type\":\"x\"}"), (false, 9), "only its newline is missing");
        assert_eq!(after("{\"seq\":8,\"type\":\"x}{\"}x\n"), (true, 9), "whole but damaged keeps its number");
        assert_eq!(after("\0\0\0{\"seq\":8,\"type\":\"x\"}\n"), (true, 9));
        assert_eq!(after("{\"seq\":8,\"type\":\"x\"}\n{\"seq\":7,\"type\":\"x\"}\n"), (true, 9), "mixed up");
        assert_eq!(end(b""), (true, 0));
        assert_eq!(end(b"junk\n\n"), (true, 0));
        let mut long = format!("{one}{{\"seq\":8,\"type\":\"").into_bytes();
        long.resize(LINE_BYTES_MAX + 100, b'x');
        long.extend_from_slice(b"\"}\n");
        assert_eq!(end(&long), (true, 9), "an over-long line is an event of the original");
        let hole = [one.as_bytes(), &vec![0; LINE_BYTES_MAX + 5], event(8, 3).as_bytes()].concat();
        assert_eq!(end(&hole), (true, 9), "an event behind a large hole");
    }

    #[test]
    fn a_file_cut_meanwhile_is_an_error() {
        assert!(log_end(&b"{}\n"[..], 100).is_err());
    }
}
