//! The line reader: bytes in blocks, lines out, whatever the bytes are.
//!
//! It decodes nothing. A run of NUL bytes (what a truncation under a writer, or a power cut, leaves behind) is a hole of
//! its own and ends the line before it; a line above the limit is measured and passed over, never gathered in memory.

use std::io;

use memchr::memchr2;

use super::LINE_BYTES_MAX;
use super::source::Source;

/// How much is read at once, in bytes.
const BLOCK_BYTES: usize = if cfg!(fuzzing) { 64 } else { 256 * 1024 };

/// One piece of a log.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Where it begins, in bytes from the start of the log.
    pub offset: u64,
    /// The number of its line, counted from 1 at the place where reading began.
    pub number: u64,
    /// What it is.
    pub content: Content<'a>,
}

/// What a piece is.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A line without its newline; may be empty.
    Line(&'a [u8], End),
    /// So many NUL bytes.
    Hole(u64),
    /// A line longer than the limit, of so many bytes without its newline.
    TooLong(u64, End),
}

/// What ended a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A newline, as it should be.
    Newline,
    /// A run of NUL bytes.
    Hole,
    /// The end of the log: a line that is being written, or a torn one.
    Eof,
}

/// What to do with a last line that has no newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// Give it out: the log is read once.
    Emit,
    /// Leave it, and read it anew when asked again: somebody may be writing it, or may take it back.
    Hold,
}

/// Reads lines from a source.
pub struct Lines<S> {
    source: S,
    buffer: Vec<u8>,
    /// The piece to be given out next begins here in the buffer.
    start: usize,
    /// Up to here no line end was found.
    searched: usize,
    /// Up to here the buffer is filled.
    end: usize,
    /// Offset of `start` in the source.
    offset: u64,
    number: u64,
    /// Bytes of an over-long line that were let go already.
    passed_over: u64,
    /// The last read gave less than was asked for.
    short: bool,
    /// The line at this offset has been read anew, after it had seemed to be the last one.
    reread: Option<u64>,
    /// The end was reached, and nothing behind it is looked at any more.
    ended: bool,
}

impl<S: Source> Lines<S> {
    /// Reads lines from `offset`, which should be where a line begins.
    pub fn new(source: S, offset: u64) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            end: 0,
            offset,
            number: 1,
            passed_over: 0,
            short: false,
            reread: None,
            ended: false,
        }
    }

    /// Where the next piece begins.
    pub fn offset(&self) -> u64 {
        self.offset - self.passed_over
    }

    /// The source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Gives the source back.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Whether another whole line is in memory already, so that asking for it cannot wait.
    pub fn has_line(&self) -> bool {
        self.buffer.get(self.start..self.end).is_some_and(|rest| memchr::memchr(b'\n', rest).is_some())
    }

    /// The next piece; `None` at the end of what is there now, after which it may be asked again.
    ///
    /// # Errors
    /// What the source said.
    pub fn next(&mut self, tail: Tail) -> io::Result<Option<Piece<'_>>> {
        let (stop, end) = loop {
            if self.ended && self.start == self.end {
                return Ok(None);
            }
            let unsearched = self.buffer.get(self.searched..self.end).unwrap_or_default();
            if let Some(found) = memchr2(b'\n', 0, unsearched) {
                let newline = unsearched.get(found) == Some(&b'\n');
                let stop = self.searched + found;
                if !newline && stop == self.start && self.passed_over == 0 {
                    return self.hole().map(Some);
                }
                break (stop, if newline { End::Newline } else { End::Hole });
            }
            self.searched = self.end;
            if self.passed_over > 0 || self.end - self.start >= LINE_BYTES_MAX {
                self.passed_over += self.let_go();
            }
            if !self.is_at_end()? && self.fill()? > 0 {
                continue;
            }
            self.short = false;
            self.ended = tail == Tail::Emit;
            let something = self.end > self.start || self.passed_over > 0;
            if tail == Tail::Emit && something {
                break (self.end, End::Eof);
            }
            (self.end, self.searched) = (self.start, self.start);
            return Ok(None);
        };
        Ok(Some(self.take(stop, end)))
    }

    /// Gives out what lies before `stop`, and steps over the newline.
    fn take(&mut self, stop: usize, end: End) -> Piece<'_> {
        let (from, number) = (self.start, self.number);
        let len = self.passed_over + (stop - from) as u64;
        let offset = self.offset();
        let taken = stop - from + usize::from(end == End::Newline);
        self.offset += taken as u64;
        self.start += taken;
        self.searched = self.start;
        self.number += u64::from(end == End::Newline);
        self.passed_over = 0;
        let content = if len >= LINE_BYTES_MAX as u64 {
            Content::TooLong(len, end)
        } else {
            Content::Line(self.buffer.get(from..stop).unwrap_or_default(), end)
        };
        Piece { offset, number, content }
    }

    /// Gives out a run of NUL bytes that begins at `start`, however long.
    fn hole(&mut self) -> io::Result<Piece<'_>> {
        let (offset, number) = (self.offset, self.number);
        let mut len = 0;
        loop {
            let rest = self.buffer.get(self.start..self.end).unwrap_or_default();
            let zeros = rest.iter().take_while(|byte| **byte == 0).count();
            len += zeros as u64;
            self.offset += zeros as u64;
            self.start += zeros;
            self.searched = self.start;
            if self.start < self.end || self.is_at_end()? || self.fill()? == 0 {
                return Ok(Piece { offset, number, content: Content::Hole(len) });
            }
        }
    }

    /// Empties the buffer without giving anything out; says how much that was.
    fn let_go(&mut self) -> u64 {
        let len = (self.end - self.start) as u64;
        self.offset += len;
        (self.start, self.searched, self.end) = (0, 0, 0);
        len
    }

    /// Whether the last read met the end of a file.
    ///
    /// Bytes that follow such an end are not joined to what was read before them, which may have been taken back in
    /// between: where the file has grown since, the line is read anew, once.
    fn is_at_end(&mut self) -> io::Result<bool> {
        if !self.short {
            return Ok(false);
        }
        let Some(len) = self.source.len_now()? else { return Ok(false) };
        let read_to = self.offset + (self.end - self.start) as u64;
        if read_to >= len {
            return Ok(true);
        }
        if self.reread != Some(self.offset) {
            self.reread = Some(self.offset);
            (self.end, self.searched) = (self.start, self.start);
        }
        Ok(false)
    }

    /// Reads one more block behind what is there.
    fn fill(&mut self) -> io::Result<usize> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < self.end + BLOCK_BYTES {
            // Doubling, so that a long line is not copied once a block.
            let grown = (self.buffer.len() * 2).min(LINE_BYTES_MAX + BLOCK_BYTES).max(self.end + BLOCK_BYTES);
            self.buffer.resize(grown, 0);
        }
        let place = self.buffer.get_mut(self.end..).unwrap_or_default();
        let wanted = place.len();
        let count = self.source.read_at(place, self.offset + self.end as u64)?;
        self.short = count < wanted;
        self.end += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(log: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(log, 0);
        let mut out = Vec::new();
        while let Some(piece) = lines.next(Tail::Emit).unwrap() {
            let what = match piece.content {
                Content::Line(bytes, end) => format!("{} {end:?}", String::from_utf8_lossy(bytes)),
                Content::Hole(len) => format!("hole {len}"),
                Content::TooLong(len, end) => format!("long {len} {end:?}"),
            };
            out.push(format!("{}@{} {what}", piece.number, piece.offset));
        }
        out
    }

    #[test]
    fn lines_have_numbers_offsets_and_ends() {
        assert_eq!(pieces(b"a\n\nbc\nd"), ["1@0 a Newline", "2@2  Newline", "3@3 bc Newline", "4@6 d Eof"]);
        assert_eq!(pieces(b""), [""; 0]);
    }

    #[test]
    fn a_run_of_nul_bytes_is_a_hole() {
        assert_eq!(pieces(b"a\0\0\0b\n\0"), ["1@0 a Hole", "1@1 hole 3", "1@4 b Newline", "2@6 hole 1"]);
        let mut log = vec![0; 3 * BLOCK_BYTES + 5];
        log.extend_from_slice(b"x\n");
        let after = 3 * BLOCK_BYTES + 5;
        assert_eq!(pieces(&log), [format!("1@0 hole {after}"), format!("1@{after} x Newline")]);
    }

    #[test]
    fn the_longest_line_is_given_out_and_one_byte_more_is_not() {
        let mut log = vec![b'x'; LINE_BYTES_MAX - 1];
        log.extend_from_slice(b"\nb\n");
        let lines = pieces(&log);
        assert!(lines[0].ends_with("x Newline"));
        assert_eq!(lines[1], format!("2@{LINE_BYTES_MAX} b Newline"));
        log.insert(0, b'x');
        let after = LINE_BYTES_MAX + 1;
        assert_eq!(pieces(&log), [format!("1@0 long {LINE_BYTES_MAX} Newline"), format!("2@{after} b Newline")]);
        log.truncate(LINE_BYTES_MAX);
        assert_eq!(pieces(&log), [format!("1@0 long {LINE_BYTES_MAX} Eof")]);
    }

    /// A file that another process changes at the moment when its end has been met.
    struct Changing(std::cell::Cell<usize>, [&'static [u8]; 2]);

    impl Source for Changing {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            self.1[self.0.get()].read_at(buffer, offset)
        }
        fn len_now(&self) -> io::Result<Option<u64>> {
            self.0.set(1);
            self.1[1].len_now()
        }
    }

    #[test]
    fn what_was_taken_back_is_not_joined_to_what_came_after() {
        let mut lines = Lines::new(Changing(std::cell::Cell::new(0), [b"one\ntw", b"one\n2\n"]), 0);
        let mut texts = Vec::new();
        while let Some(piece) = lines.next(Tail::Emit).unwrap() {
            let Content::Line(bytes, _) = piece.content else { unreachable!() };
            texts.push(String::from_utf8_lossy(bytes).into_owned());
        }
        // Shorter than what was read of it: the tail is what was there at that moment.
        assert_eq!(texts, ["one", "tw"]);
        let mut lines = Lines::new(Changing(std::cell::Cell::new(0), [b"one\ntw", b"one\n2 and 3\n"]), 0);
        lines.next(Tail::Emit).unwrap();
        let piece = lines.next(Tail::Emit).unwrap().unwrap();
        assert_eq!((piece.offset, piece.content), (4, Content::Line(b"2 and 3", End::Newline)));
    }

    #[test]
    fn a_held_tail_is_read_anew() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let put = |bytes: &[u8]| std::io::Write::write_all(&mut file.as_file(), bytes).unwrap();
        let mut lines = Lines::new(file.as_file(), 0);
        put(b"one\ntw");
        assert_eq!(lines.next(Tail::Hold).unwrap().unwrap().content, Content::Line(b"one", End::Newline));
        assert_eq!(lines.next(Tail::Hold).unwrap(), None);
        file.as_file().set_len(4).unwrap();
        std::io::Seek::seek(&mut file.as_file(), io::SeekFrom::End(0)).unwrap();
        put(b"2\n");
        let piece = lines.next(Tail::Hold).unwrap().unwrap();
        assert_eq!((piece.offset, piece.number, piece.content), (4, 2, Content::Line(b"2", End::Newline)));
    }
}
