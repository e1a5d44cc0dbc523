//! [`RawRecord`]: a line of a record stream, taken apart and not read.
//!
//! Most lines of most captures say what the last one said. They are compared with what is stored byte by byte; only
//! the others are worth a [`Record`](super::record::Record).

use super::decimal;
use crate::store::relpath::RelPath;

/// The fields of the line of a regular file, as they stand, without the quoting of names: only for lines that end in NUL.
#[derive(Debug, Clone, Copy)]
pub struct RawRecord<'a> {
    /// `f` and four octal digits, checked.
    pub mode: &'a [u8; 5],
    /// Whatever stands for the content, not checked.
    pub content: &'a [u8],
    /// Bytes, in digits.
    pub size: &'a [u8],
    /// Modification time, in digits, perhaps after a minus sign.
    pub mtime_ns: &'a [u8],
    /// Status change time, in digits, perhaps after a minus sign.
    pub ctime_ns: &'a [u8],
    /// Inode number, in digits.
    pub inode: &'a [u8],
    /// The path, checked.
    pub path: &'a [u8],
    /// Everything behind the content and its blank.
    pub rest: &'a [u8],
}

impl<'a> RawRecord<'a> {
    /// Takes a line without its end apart; `None` for every other kind of path, for one of which not everything is known,
    /// and for whatever is not as it has to be.
    #[must_use]
    pub fn split(line: &'a [u8]) -> Option<Self> {
        let (mode, text) = line.split_first_chunk::<5>()?;
        let [b'f', b'0', digits @ ..] = mode else { return None };
        digits.iter().all(|digit| matches!(digit, b'0'..=b'7')).then_some(())?;
        let text = text.strip_prefix(b" ")?;
        let (content, rest) = match text {
            // Nothing is known of most contents while a line is on its way.
            [b'-', b' ', rest @ ..] => (text.get(..1)?, rest),
            _ => field(text, memchr::memchr(b' ', text)?)?,
        };
        let (size, text) = number(rest, b' ')?;
        let (mtime_ns, text) = time(text)?;
        let (ctime_ns, text) = time(text)?;
        let (inode, path) = number(text, b'\t')?;
        RelPath::new(path).ok()?;
        Some(Self { mode, content, size, mtime_ns, ctime_ns, inode, path, rest })
    }
}

impl RawRecord<'_> {
    /// Size, mtime, ctime and inode, in digits.
    #[must_use]
    pub fn stat(&self) -> [&[u8]; 4] {
        [self.size, self.mtime_ns, self.ctime_ns, self.inode]
    }
}

/// So many bytes, and what follows the one behind them.
fn field(text: &[u8], length: usize) -> Option<(&[u8], &[u8])> {
    let (field, rest) = text.split_at_checked(length)?;
    Some((field, rest.get(1..)?))
}

/// Digits up to this byte, at least one, and what follows it.
fn number(text: &[u8], end: u8) -> Option<(&[u8], &[u8])> {
    let length = decimal::leading_digits(text);
    (length > 0 && text.get(length) == Some(&end)).then_some(())?;
    field(text, length)
}

/// As [`number`] up to a blank, perhaps after a minus sign.
fn time(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let sign = usize::from(text.first() == Some(&b'-'));
    let length = decimal::leading_digits(text.get(sign..)?);
    (length > 0 && text.get(sign + length) == Some(&b' ')).then_some(())?;
    field(text, sign + length)
}

#[cfg(test)]
mod tests {
    use super::super::Framing;
    use super::super::record::{EntryKind, Record};
    use super::*;

    #[test]
    fn what_is_taken_apart_is_a_record_of_a_file_with_its_stat() {
        let oid = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for (line, is_taken) in [
            (format!("f0644 {oid} 0 -5 1795956271497309057 18446744073709551615\ta b"), true),
            ("f0777 - 12 1 2 3\ta\tb".into(), true),
            ("f1777 - 12 1 2 3\ta".into(), false),
            ("f0648 - 12 1 2 3\ta".into(), false),
            ("l0777 - 4 1 2 3\ta".into(), false),
            ("f0644 - - 1 2 3\ta".into(), false),
            ("f0644 - 1 - 2 3\ta".into(), false),
            ("f0644 - 1 1 2 3\t../a".into(), false),
            ("f0644 - 1 1 2 3\t".into(), false),
            ("f0644 - 1 1 2\ta".into(), false),
            ("f0644 - 1 1 2 3 4\ta".into(), false),
            ("f0644 - 1 +1 2 3\ta".into(), false),
            ("f0644 - 1 1 2 3".into(), false),
            (String::new(), false),
        ] {
            let raw = RawRecord::split(line.as_bytes());
            assert_eq!(raw.is_some(), is_taken, "{line}");
            let Some(raw) = raw else { continue };
            let record = Record::parse(line.as_bytes(), Framing::Nul).unwrap();
            assert_eq!((record.kind, record.path.as_bytes()), (EntryKind::File, raw.path));
            assert_eq!(record.size.unwrap().to_string().as_bytes(), raw.size);
            assert_eq!(record.mtime_ns.unwrap().to_string().as_bytes(), raw.mtime_ns);
            assert_eq!(record.ctime_ns.unwrap().to_string().as_bytes(), raw.ctime_ns);
            assert_eq!(record.inode.unwrap().to_string().as_bytes(), raw.inode);
        }
    }
}
