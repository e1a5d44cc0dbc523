//! [`Record`]: one line of the stream between the capture commands (design section 4, wt-stream(5)).
//!
//! ```text
//! MODE SP OID SP SIZE SP MTIME SP CTIME SP INO TAB PATH
//! f0644 <64 hex>     12  <ns>     <ns>     77      src/main.rs
//! l0777 -             4  <ns>     <ns>     78      link
//! d0755 -             -  <ns>     <ns>     79      empty
//! f0644 !oversized 5000  <ns>     <ns>     80      big.bin
//! s0644 !special      -  <ns>     <ns>     81      pipe
//! d0000 !unreadable   -  <ns>     <ns>     82      locked/
//! ```
//!
//! `-` means unknown. MTIME `-` also means "do not cache": times that do not fit 64 bits of nanoseconds are written
//! so. A directory that could not be listed ends in a slash: what lies below it is unknown.

use super::decimal::{self, Decimal};
use super::{Framing, quote};
use crate::store::id::ObjectId;
use crate::store::relpath::{RelPath, RelPathBuf};

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A directory; as a record, an empty one or one that could not be listed.
    Dir,
    /// A FIFO, socket or device: never captured.
    Special,
}

impl EntryKind {
    fn letter(self) -> u8 {
        match self {
            Self::File => b'f',
            Self::Link => b'l',
            Self::Dir => b'd',
            Self::Special => b's',
        }
    }

    fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'f' => Self::File,
            b'l' => Self::Link,
            b'd' => Self::Dir,
            b's' => Self::Special,
            _ => return None,
        })
    }
}

/// Why a path that is present was not captured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GapReason {
    /// Larger than the cap.
    Oversized,
    /// The operating system refused to read or list it.
    Unreadable,
    /// A FIFO, socket or device.
    Special,
    /// It changed again and again while it was read.
    Unstable,
    /// Another word, of a later version or of `wt-purge`.
    Other(String),
}

impl GapReason {
    /// The word in streams and manifests.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Oversized => "oversized",
            Self::Unreadable => "unreadable",
            Self::Special => "special",
            Self::Unstable => "unstable",
            Self::Other(word) => word,
        }
    }

    /// Reads the word; any lower-case word is a reason.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "oversized" => Self::Oversized,
            "unreadable" => Self::Unreadable,
            "special" => Self::Special,
            "unstable" => Self::Unstable,
            _ if !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') => {
                Self::Other(word.to_owned())
            }
            _ => return None,
        })
    }
}

/// What is known of a path's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Not hashed, or nothing to hash.
    Unknown,
    /// The object that holds it; for a link, its target text.
    Object(ObjectId),
    /// It was not captured.
    Gap(GapReason),
}

/// One line of a record stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it is.
    pub kind: EntryKind,
    /// Permission bits, 0 to 0o777.
    pub mode: u32,
    /// Its content.
    pub content: Content,
    /// Bytes; for a link, of its target text.
    pub size: Option<u64>,
    /// Modification time, ns since the epoch.
    pub mtime_ns: Option<i64>,
    /// Status change time, ns since the epoch.
    pub ctime_ns: Option<i64>,
    /// Inode number.
    pub inode: Option<u64>,
    /// Where it is; for a directory that could not be listed, without the slash.
    pub path: RelPathBuf,
}

impl Record {
    /// Whether it stands for a directory of which nothing below is known.
    #[must_use]
    pub fn hides_subtree(&self) -> bool {
        self.kind == EntryKind::Dir && matches!(self.content, Content::Gap(_))
    }

    /// Writes the line, with its end.
    pub fn write(&self, out: &mut Vec<u8>, framing: Framing) {
        let content = match &self.content {
            Content::Unknown => ContentRef::Unknown,
            Content::Object(id) => ContentRef::Object(id),
            Content::Gap(reason) => ContentRef::Gap(reason),
        };
        let Self { kind, mode, size, mtime_ns, ctime_ns, inode, .. } = *self;
        Line { kind, mode, content, size, mtime_ns, ctime_ns, inode, path: &self.path }.write(out, framing);
    }

    /// Reads a line without its end.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn parse(line: &[u8], framing: Framing) -> Result<Self, String> {
        let tab = memchr::memchr(b'\t', line).ok_or("there is no tab before a path")?;
        let (head, path) = line.split_at_checked(tab).ok_or("there is no path")?;
        let mut rest = Some(head);
        let mut field = || next_field(&mut rest).ok_or("there are fewer than six fields");
        let (kind, mode) = parse_mode(field()?).ok_or("the mode is not a type letter and four octal digits")?;
        let content = parse_content(field()?)
            .ok_or("the object id is neither '-', 64 lower-case hex digits nor '!reason'")?;
        let size = parse_number(field()?, decimal::parse_u64).map_err(|()| "the size is not a number")?;
        let mtime_ns = parse_number(field()?, decimal::parse_i64)
            .map_err(|()| "the modification time is not a number of ns")?;
        let ctime_ns = parse_number(field()?, decimal::parse_i64)
            .map_err(|()| "the status change time is not a number of ns")?;
        let inode = parse_number(field()?, decimal::parse_u64).map_err(|()| "the inode is not a number")?;
        if rest.is_some() {
            return Err("there are more than six fields".into());
        }
        let encoded = path.strip_prefix(b"\t").unwrap_or(path);
        let decoded = framing.decode(encoded).ok_or("the path is quoted wrongly")?;
        let is_gap_dir = kind == EntryKind::Dir && matches!(content, Content::Gap(_));
        let bare = match decoded.strip_suffix(b"/") {
            Some(bare) if is_gap_dir => bare,
            None if is_gap_dir => return Err("a directory that was not listed does not end in '/'".into()),
            _ => &decoded,
        };
        let path =
            RelPath::new(bare).map_err(|problem| format!("{problem}: {}", quote::name(super::clip(bare))))?;
        if kind == EntryKind::Special && !matches!(content, Content::Gap(_)) {
            return Err("a special file has no content".into());
        }
        if kind == EntryKind::Dir && matches!(content, Content::Object(_)) {
            return Err("a directory has no content".into());
        }
        Ok(Self { kind, mode, content, size, mtime_ns, ctime_ns, inode, path: path.to_owned() })
    }
}

fn push_octal(out: &mut Vec<u8>, mode: u32) {
    let digit = |shift: u32| b'0' + (mode >> shift & 7) as u8;
    out.extend_from_slice(&[digit(9), digit(6), digit(3), digit(0)]);
}

fn push_number(out: &mut Vec<u8>, value: Option<impl Decimal>) {
    out.push(b' ');
    match value {
        Some(value) => decimal::push(out, value),
        None => out.push(b'-'),
    }
}

/// What a line takes beside its path, unless that is quoted or the reason for a gap is long.
const LINE_BYTES: usize = 6 + 65 + 4 * 21 + 2;

/// As [`Content`], borrowed.
#[derive(Debug, Clone, Copy)]
pub enum ContentRef<'a> {
    /// Not hashed, or nothing to hash.
    Unknown,
    /// The object that holds it.
    Object(&'a ObjectId),
    /// It was not captured.
    Gap(&'a GapReason),
}

/// What a [`Record`] says, borrowed, for whoever writes thousands of lines.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "as in Record")]
pub struct Line<'a> {
    pub kind: EntryKind,
    pub mode: u32,
    pub content: ContentRef<'a>,
    pub size: Option<u64>,
    pub mtime_ns: Option<i64>,
    pub ctime_ns: Option<i64>,
    pub inode: Option<u64>,
    pub path: &'a RelPath,
}

impl Line<'_> {
    /// Writes the line, with its end.
    pub fn write(&self, out: &mut Vec<u8>, framing: Framing) {
        out.reserve(LINE_BYTES + self.path.as_bytes().len());
        out.push(self.kind.letter());
        push_octal(out, self.mode);
        out.push(b' ');
        match self.content {
            ContentRef::Unknown => out.push(b'-'),
            ContentRef::Object(id) => out.extend_from_slice(&id.hex()),
            ContentRef::Gap(reason) => {
                out.push(b'!');
                out.extend_from_slice(reason.as_str().as_bytes());
            }
        }
        push_number(out, self.size);
        push_number(out, self.mtime_ns);
        push_number(out, self.ctime_ns);
        push_number(out, self.inode);
        out.push(b'\t');
        let hides_subtree = self.kind == EntryKind::Dir && matches!(self.content, ContentRef::Gap(_));
        if hides_subtree {
            let path = [self.path.as_bytes(), b"/"].concat();
            out.extend_from_slice(&framing.encode(&path));
        } else {
            out.extend_from_slice(&framing.encode(self.path.as_bytes()));
        }
        out.push(framing.end());
    }
}

/// Takes the next field off, up to the next blank.
fn next_field<'a>(rest: &mut Option<&'a [u8]>) -> Option<&'a [u8]> {
    let text = (*rest)?;
    let Some(blank) = memchr::memchr(b' ', text) else {
        return rest.take();
    };
    *rest = text.get(blank + 1..);
    text.get(..blank)
}

fn parse_mode(text: &[u8]) -> Option<(EntryKind, u32)> {
    let (letter, digits) = text.split_first()?;
    let kind = EntryKind::from_letter(*letter)?;
    if digits.len() != 4 {
        return None;
    }
    let mode = digits
        .iter()
        .try_fold(0, |mode, digit| matches!(digit, b'0'..=b'7').then(|| mode << 3 | u32::from(digit - b'0')))?;
    // Set-user-id and its like are never recorded and never created.
    (mode <= 0o777).then_some((kind, mode))
}

fn parse_content(text: &[u8]) -> Option<Content> {
    match text {
        b"-" => Some(Content::Unknown),
        [b'!', word @ ..] => std::str::from_utf8(word).ok().and_then(GapReason::parse).map(Content::Gap),
        _ => ObjectId::parse(text).map(Content::Object),
    }
}

/// Reads a number or `-`; the outer result tells whether it was either.
fn parse_number<T>(text: &[u8], parse: impl Fn(&[u8]) -> Option<T>) -> Result<Option<T>, ()> {
    if text == b"-" { Ok(None) } else { parse(text).map(Some).ok_or(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OID: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn lines_survive_both_framings() {
        for line in [
            format!("f0644 {OID} 0 -5 1795956271497309057 18446744073709551615\ta b"),
            "l0777 - - - - -\t\"tab\\there\"".into(),
            "d0755 - - 1 2 3\tempty".into(),
            "f0600 !oversized 5000 1 2 3\tbig".into(),
            "d0000 !unreadable - 1 2 3\tlocked/".into(),
            "s0644 !special - 1 2 3\tpipe".into(),
        ] {
            let record = Record::parse(line.as_bytes(), Framing::Line).unwrap_or_else(|e| panic!("{line}: {e}"));
            let mut out = Vec::new();
            record.write(&mut out, Framing::Line);
            assert_eq!(String::from_utf8(out).unwrap(), line + "\n");
            let mut raw = Vec::new();
            record.write(&mut raw, Framing::Nul);
            assert_eq!(Record::parse(&raw[..raw.len() - 1], Framing::Nul).unwrap(), record);
        }
    }

    #[test]
    fn malformed_lines_are_refused() {
        for line in [
            "",
            "f0644 - - - - -",
            "f0644 - - - -\ta",
            "f0644 - - - - - -\ta",
            "x0644 - - - - -\ta",
            "f4755 - - - - -\ta",
            "f644 - - - - -\ta",
            "f0644 ABC - - - -\ta",
            "f0644 !Bad - - - -\ta",
            "f0644 - +1 - - -\ta",
            "f0644 - -1 - - -\ta",
            "f0644 - - - - -\t../a",
            "f0644 - - - - -\t/a",
            "f0644 - - - - -\ta/",
            "f0644 - - - - -\t",
            "d0755 !unreadable - - - -\ta",
            "s0644 - - - - -\ta",
            "f0644 - - - - -\t\"open",
        ] {
            assert!(Record::parse(line.as_bytes(), Framing::Line).is_err(), "{line}");
        }
    }
}
