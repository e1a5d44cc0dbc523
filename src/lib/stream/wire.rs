//! The frame around records: version line, header, end mark (design section 4).
//!
//! ```text
//! #wt-records 1
//! #root /home/a/project
//! #rules .gitignore <oid>
//! #cap 33554432
//! #start 1795956271497309057
//! #head 1795956271524628324-0001      or "-" where the run has no snapshot yet
//! <records>
//! #end                                or "#fail CODE TEXT"
//! ```
//!
//! Programs pass `#` lines that they do not know through. Input that ends without `#end` or `#fail` is a broken stream
//! from which nothing is made: that is how a shell without `pipefail` still gets the truth from the last stage.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::record::Record;
use super::{Framing, broken, clip, quote, read_item};
use crate::error::{Error, Kind, Result};
use crate::store::id::{ObjectId, SnapshotId};

/// The first line.
const VERSION: &[u8] = b"#wt-records 1";

/// The head that the run had when the walk began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadMark {
    /// It had none.
    None,
    /// It was this snapshot.
    At(SnapshotId),
}

/// Where the ignore rules came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesMark {
    /// `.iterionignore`, `.gitignore` or `none`.
    pub source: String,
    /// The id of the file's content; of nothing for `none`.
    pub id: ObjectId,
}

/// What stands before the records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Canonical path of the workspace.
    pub root: Option<PathBuf>,
    /// The rules that selected the records; without them the list covers only what it lists.
    pub rules: Option<RulesMark>,
    /// Largest file that was to be captured, bytes.
    pub cap_bytes: Option<u64>,
    /// When the walk began, ns since the epoch.
    pub start_ns: Option<u64>,
    /// The run's head when the walk began.
    pub head: Option<HeadMark>,
    /// Lines of other versions, passed through.
    pub unknown: Vec<Vec<u8>>,
}

impl Header {
    /// Writes the version line and the header.
    pub fn write(&self, out: &mut Vec<u8>, framing: Framing) {
        let mut line = |parts: &[&[u8]]| {
            for part in parts {
                out.extend_from_slice(part);
            }
            out.push(framing.end());
        };
        line(&[VERSION]);
        if let Some(root) = &self.root {
            use std::os::unix::ffi::OsStrExt;
            line(&[b"#root ", &framing.encode(root.as_os_str().as_bytes())]);
        }
        if let Some(rules) = &self.rules {
            line(&[b"#rules ", rules.source.as_bytes(), b" ", &rules.id.hex()]);
        }
        if let Some(cap) = self.cap_bytes {
            line(&[b"#cap ", cap.to_string().as_bytes()]);
        }
        if let Some(start) = self.start_ns {
            line(&[b"#start ", start.to_string().as_bytes()]);
        }
        match &self.head {
            Some(HeadMark::At(id)) => line(&[b"#head ", id.as_str().as_bytes()]),
            Some(HeadMark::None) => line(&[b"#head -"]),
            None => {}
        }
        for unknown in &self.unknown {
            line(&[unknown]);
        }
    }

    fn take(&mut self, line: &[u8], framing: Framing) -> std::result::Result<(), String> {
        let (key, value) = match line.iter().position(|b| *b == b' ') {
            Some(space) => (line.get(..space), line.get(space + 1..)),
            None => (Some(line), None),
        };
        let (key, value) = (key.unwrap_or_default(), value.unwrap_or_default());
        let text = || std::str::from_utf8(value).map_err(|_| "it is not UTF-8".to_owned());
        match key {
            b"#root" => {
                use std::os::unix::ffi::OsStrExt;
                let root = framing.decode(value).ok_or("the path is quoted wrongly")?;
                if root.contains(&0) {
                    return Err("the path holds a NUL byte".into());
                }
                once(&mut self.root, Path::new(std::ffi::OsStr::from_bytes(&root)).to_owned())
            }
            b"#rules" => {
                let (source, id) = text()?.split_once(' ').ok_or("it has no object id")?;
                let id = ObjectId::parse(id.as_bytes()).ok_or("it has a malformed object id")?;
                // It is written as it is, in either framing.
                if source.contains(char::is_control) {
                    return Err("the name of the rules file holds a control character".into());
                }
                once(&mut self.rules, RulesMark { source: source.to_owned(), id })
            }
            b"#cap" => once(&mut self.cap_bytes, text()?.parse().map_err(|_| "it is not a number")?),
            b"#start" => once(&mut self.start_ns, text()?.parse().map_err(|_| "it is not a number")?),
            b"#head" => {
                let head = match text()? {
                    "-" => HeadMark::None,
                    id => HeadMark::At(SnapshotId::parse(id).ok_or("it is not a snapshot id")?),
                };
                once(&mut self.head, head)
            }
            _ => {
                self.unknown.push(line.to_vec());
                Ok(())
            }
        }
    }
}

fn once<T>(slot: &mut Option<T>, value: T) -> std::result::Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err("it stands twice".into()),
    }
}

/// Writes the end mark of a complete stream.
pub fn write_end(out: &mut Vec<u8>, framing: Framing) {
    out.extend_from_slice(b"#end");
    out.push(framing.end());
}

/// Writes the mark of a stream whose stage failed, for the stages behind it.
pub fn write_fail(out: &mut Vec<u8>, framing: Framing, code: u8, error: &Error) {
    let text = quote::masked(error.to_string().as_bytes());
    out.extend_from_slice(format!("#fail {code} {text}").as_bytes());
    out.push(framing.end());
}

/// Whether a stream must have its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Version line and end mark must be there.
    Required,
    /// A hand-made list without them is taken too (`--allow-unterminated`).
    Optional,
}

/// What [`Reader::step`] found after the header.
#[derive(Debug)]
pub enum Step {
    /// A record.
    Record(Record),
    /// The end of a complete stream.
    End,
    /// An earlier stage failed, and said so with this exit code.
    Failed(u8, String),
}

/// What [`Reader::next_line`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line that stands for a record.
    Line,
    /// The end of a complete stream.
    End,
    /// An earlier stage failed, and said so with this exit code.
    Failed(u8, String),
}

/// Reads a record stream.
pub struct Reader<R> {
    input: R,
    framing: Framing,
    frame: Frame,
    item: Vec<u8>,
    /// `item` holds the first line after the header, not yet taken.
    pending: bool,
    /// Items read so far: the number of the current one.
    number: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads the version line and the header.
    ///
    /// # Errors
    /// [`Kind::Damaged`].
    pub fn open(input: R, framing: Framing, frame: Frame) -> Result<(Self, Header)> {
        let mut reader = Self { input, framing, frame, item: Vec::new(), pending: false, number: 0 };
        let mut header = Header::default();
        if !reader.advance()? {
            return match frame {
                Frame::Required => {
                    Err(broken("the input is empty: the stage before this one wrote nothing".into()))
                }
                Frame::Optional => Ok((reader, header)),
            };
        }
        if reader.item == VERSION {
            reader.pending = reader.advance()?;
        } else if frame == Frame::Required || reader.item.starts_with(b"#wt-records") {
            return Err(reader.bad("a record stream begins with '#wt-records 1'"));
        } else {
            reader.pending = true;
        }
        while reader.pending && reader.item.starts_with(b"#") && !reader.at_end_mark() {
            let item = std::mem::take(&mut reader.item);
            header.take(&item, framing).map_err(|problem| {
                broken(format!("record stream, item {}: {}: {problem}", reader.number, quote::name(clip(&item))))
            })?;
            reader.pending = reader.advance()?;
        }
        Ok((reader, header))
    }

    fn advance(&mut self) -> Result<bool> {
        let more = read_item(&mut self.input, self.framing, &mut self.item)?;
        self.number += u64::from(more);
        Ok(more)
    }

    fn at_end_mark(&self) -> bool {
        self.item == b"#end" || self.item.starts_with(b"#fail ")
    }

    fn bad(&self, problem: &str) -> Error {
        broken(format!("record stream, item {}: {problem}: {}", self.number, quote::name(clip(&self.item))))
    }

    /// Reads lines that were taken from a stream: no header, no end mark.
    pub(crate) fn bare(input: R, framing: Framing) -> Self {
        Self { input, framing, frame: Frame::Optional, item: Vec::new(), pending: false, number: 0 }
    }

    /// What it reads from.
    pub fn input(&self) -> &R {
        &self.input
    }

    /// Reads the next record, or the end.
    ///
    /// # Errors
    /// [`Kind::Damaged`] for a malformed line, a missing end mark, or text after it.
    pub fn step(&mut self) -> Result<Step> {
        Ok(match self.next_line()? {
            Mark::Line => Step::Record(self.record()?),
            Mark::End => Step::End,
            Mark::Failed(code, text) => Step::Failed(code, text),
        })
    }

    /// Reads the next line that stands for a record, without a look into it, or the end.
    ///
    /// # Errors
    /// [`Kind::Damaged`] for a missing end mark, or text after it.
    pub fn next_line(&mut self) -> Result<Mark> {
        loop {
            if !std::mem::take(&mut self.pending) && !self.advance()? {
                return match self.frame {
                    Frame::Optional => Ok(Mark::End),
                    Frame::Required => Err(broken(format!(
                        "the record stream ends after {} items without '#end': a stage before this one died",
                        self.number
                    ))),
                };
            }
            if self.item.first().is_some_and(|first| *first != b'#') {
                return Ok(Mark::Line);
            }
            if self.item == b"#end" {
                return if self.advance()? { Err(self.bad("there is text after '#end'")) } else { Ok(Mark::End) };
            }
            if let Some(rest) = self.item.strip_prefix(b"#fail ") {
                let text = String::from_utf8_lossy(rest);
                let (code, text) = text.split_once(' ').unwrap_or((&text, "it did not say why"));
                let code = code.parse().map_err(|_| self.bad("the failure has no exit code"))?;
                return Ok(Mark::Failed(code, quote::masked(text.as_bytes())));
            }
            // Other lines with a '#' are of another version; between records there is nothing to do for them here.
            if self.item.is_empty() && self.frame == Frame::Required {
                return Ok(Mark::Line);
            }
        }
    }

    /// The line that [`Reader::next_line`] found, without its end.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.item
    }

    /// Reads that line.
    ///
    /// # Errors
    /// [`Kind::Damaged`] when it is malformed.
    pub fn record(&self) -> Result<Record> {
        Record::parse(&self.item, self.framing).map_err(|problem| self.bad(&problem))
    }
}

/// The error that an earlier stage reported, to be passed on with its own exit code.
#[must_use]
pub fn upstream_failure(kind: Kind, text: &str) -> Error {
    Error::new(kind, format!("an earlier stage of the pipeline failed: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, frame: Frame) -> Result<(Header, Vec<Record>, String)> {
        let (mut reader, header) = Reader::open(text.as_bytes(), Framing::Line, frame)?;
        let mut records = Vec::new();
        loop {
            match reader.step()? {
                Step::Record(record) => records.push(record),
                Step::End => return Ok((header, records, "end".into())),
                Step::Failed(code, text) => return Ok((header, records, format!("{code} {text}"))),
            }
        }
    }

    const HEAD: &str = "#wt-records 1\n#root /w\n#cap 5\n#future x\n";
    const A: &str = "f0644 - - - - -\ta\n";

    #[test]
    fn a_stream_without_its_end_is_broken() {
        assert_eq!(read(&format!("{HEAD}{A}#end\n"), Frame::Required).unwrap().1.len(), 1);
        let whole = format!("{HEAD}{A}#end\n");
        for length in 0..whole.len() {
            assert!(read(&whole[..length], Frame::Required).is_err(), "{:?}", &whole[..length]);
        }
        assert!(read(&format!("{HEAD}{A}#end\n{A}"), Frame::Required).is_err());
        assert!(read(A, Frame::Required).is_err());
        assert_eq!(read(A, Frame::Optional).unwrap().1.len(), 1);
    }

    #[test]
    fn a_failure_is_passed_on_and_unknown_lines_survive() {
        let (header, _, end) = read(&format!("{HEAD}{A}#fail 7 too many files\n"), Frame::Required).unwrap();
        assert_eq!(end, "7 too many files");
        assert_eq!(header.unknown, [b"#future x".to_vec()]);
        let mut out = Vec::new();
        header.write(&mut out, Framing::Line);
        assert_eq!(String::from_utf8(out).unwrap(), HEAD);
    }

    #[test]
    fn malformed_headers_are_refused() {
        let odd_name = format!("#rules .\0 {}", "0".repeat(64));
        for line in [
            "#cap x",
            "#start -1",
            "#rules a",
            &odd_name,
            "#head nope",
            "#root \"x",
            "#root a\0b",
            "#cap 1\n#cap 2",
        ] {
            assert!(read(&format!("#wt-records 1\n{line}\n#end\n"), Frame::Required).is_err(), "{line}");
        }
    }
}
