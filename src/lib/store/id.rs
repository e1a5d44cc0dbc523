//! Names as types: nothing reaches a path join unless it passed through one of these.
//!
//! * [`ObjectId`]: SHA-256 of a content, 64 lower-case hex digits (facts 1.1).
//! * [`SnapshotId`]: `<unix ns>-<counter>`, digits only (facts 1.3).
//! * [`RunId`]: one safe path component (facts 5 of the run store, made stricter).
//! * [`Label`]: a name for a snapshot (design section 5).

use std::cmp::Ordering;
use std::fmt;

use crate::error::{Error, Result};
use crate::stream::quote;

/// The SHA-256 of a file's content. Its text is exactly 64 lower-case hex digits; anything else is not an id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId([u8; 32]);

impl ObjectId {
    /// Takes the digest itself.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads the text form; `None` unless it is exactly 64 lower-case hex digits.
    ///
    /// A capture of 50 000 files reads 150 000 of them; the general decoder was the first thing in its profile.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let digits: &[u8; 64] = text.try_into().ok()?;
        // No branch and no table: a compiler does this for many digits at once.
        let (mut values, mut bad) = ([0_u8; 64], false);
        for (value, digit) in values.iter_mut().zip(digits) {
            let is_number = digit.wrapping_sub(b'0') < 10;
            let is_letter = digit.wrapping_sub(b'a') < 6;
            bad |= !(is_number | is_letter);
            *value = (digit & 15) + if is_letter { 9 } else { 0 };
        }
        if bad {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(values.as_chunks::<2>().0) {
            *byte = high << 4 | low;
        }
        Some(Self(bytes))
    }

    /// Reads an id that a person or another program named.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] when it is not an object id.
    pub fn named(text: &str) -> Result<Self> {
        Self::parse(text.as_bytes()).ok_or_else(|| {
            Error::usage(format!("not an object id: {}", quote::name(text.as_bytes())))
                .hint("an object id is 64 lower-case hex digits")
        })
    }

    /// The digest.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 digits on the stack, for writers that must not allocate.
    #[must_use]
    pub fn hex(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut out = [0; 64];
        for (pair, byte) in out.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        out
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.hex()).unwrap_or_default())
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The id of a snapshot: `<unix ns>-<counter>`. Ordered by the number before the dash, then by the counter.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SnapshotId(String);

/// Longest id accepted; far above any clock, far below any path limit.
const SNAPSHOT_ID_BYTES_MAX: usize = 64;

impl SnapshotId {
    /// Makes the id for a moment and a counter, as the original prints it: the counter has at least four digits.
    #[must_use]
    pub fn new(unix_ns: u64, counter: u32) -> Self {
        Self(format!("{unix_ns}-{counter:04}"))
    }

    /// Reads an id; `None` unless it is digits, one dash, digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (ns, counter) = text.split_once('-')?;
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        (text.len() <= SNAPSHOT_ID_BYTES_MAX && digits(ns) && digits(counter)).then(|| Self(text.to_owned()))
    }

    /// The text, as it stands in file names and manifests.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Nanoseconds since the epoch at which the snapshot was begun; saturates for absurd foreign ids.
    #[must_use]
    pub fn unix_ns(&self) -> u64 {
        self.parts().0.parse().unwrap_or(u64::MAX)
    }

    fn parts(&self) -> (&str, &str) {
        self.0.split_once('-').unwrap_or((&self.0, ""))
    }
}

impl Ord for SnapshotId {
    fn cmp(&self, other: &Self) -> Ordering {
        fn number(text: &str) -> (usize, &str) {
            let digits = text.trim_start_matches('0');
            (digits.len(), digits)
        }
        let ((a_ns, a_n), (b_ns, b_n)) = (self.parts(), other.parts());
        number(a_ns).cmp(&number(b_ns)).then(number(a_n).cmp(&number(b_n))).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for SnapshotId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a run: one path component that cannot leave the run directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// Reads a run id: 1 to 255 bytes, no `/` or `\`, no `..`, no control characters, no leading dash, and not `.`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`], naming the rule that was broken.
    pub fn named(text: &str) -> Result<Self> {
        let problem = if text.is_empty() {
            "is empty"
        } else if text.len() > 255 {
            "is longer than 255 bytes"
        } else if text.contains(['/', '\\']) {
            "contains a slash or backslash"
        } else if text.contains("..") || text == "." {
            "contains dots that could leave the run directory"
        } else if text.chars().any(char::is_control) {
            "contains a control character"
        } else if text.starts_with('-') {
            "begins with a dash"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(Error::usage(format!("run id {} {problem}", quote::name(text.as_bytes())))
            .hint("name the run by the name of its directory below runs/"))
    }

    /// As [`RunId::named`], of what need not be text.
    ///
    /// # Errors
    /// Those of [`RunId::named`], and [`crate::error::Kind::Usage`] for what is not UTF-8.
    pub fn of_os(name: &std::ffi::OsStr) -> Result<Self> {
        match name.to_str() {
            Some(text) => Self::named(text),
            None => Err(Error::usage(format!("run id {} is not UTF-8", quote::name(name.as_encoded_bytes())))
                .hint("name the run by the name of its directory below runs/")),
        }
    }

    /// The text, which is also the directory's name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Refuses an id of the family `pc<digits>_`: newer programs keep such runs in another directory and format (facts 1.9).
    ///
    /// # Errors
    /// [`crate::error::Kind::Refused`].
    pub fn refuse_reserved(&self) -> Result<()> {
        let rest = self.0.strip_prefix("pc").and_then(|rest| rest.split_once('_'));
        if !rest.is_some_and(|(digits, _)| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())) {
            return Ok(());
        }
        let shown = self.0.chars().take(64).collect::<String>();
        Err(Error::refused(format!(
            "run id {} is of the family 'pc<digits>_', which newer programs keep in another format",
            quote::name(shown.as_bytes())
        ))
        .hint("choose an id that does not begin so"))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name that can be given to a snapshot. Foreign labels that break these rules are read and listed, never made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(String);

/// Longest label, in bytes.
pub const LABEL_BYTES_MAX: usize = 256;

impl Label {
    /// Reads a label that somebody wants to make.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`], naming the rule of design section 5 that was broken.
    pub fn named(text: &str) -> Result<Self> {
        let problem = if text.is_empty() {
            "is empty"
        } else if text.len() > LABEL_BYTES_MAX {
            "is longer than 256 bytes"
        } else if text.chars().any(char::is_control) {
            "contains a control character"
        } else if text.starts_with('-') {
            "begins with a dash"
        } else if text.starts_with("HEAD") {
            "begins with HEAD, which always means the newest snapshot"
        } else if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            "could be mistaken for a snapshot id"
        } else {
            return Ok(Self(text.to_owned()));
        };
        let shown = text.chars().take(64).collect::<String>();
        Err(Error::usage(format!("label {} {problem}", quote::name(shown.as_bytes()))).hint("choose another label"))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_at_each_place_of_an_object_id_is_a_digit_or_refused() {
        for place in 0..64 {
            for byte in 0..=255_u8 {
                let mut text = [b'7'; 64];
                text[place] = byte;
                let digits = std::str::from_utf8(&text).ok().filter(|_| !byte.is_ascii_uppercase());
                let expected = digits.and_then(|digits| hex::decode(digits).ok());
                let parsed = ObjectId::parse(&text).map(|id| id.as_bytes().to_vec());
                assert_eq!(parsed, expected, "{byte} at {place}");
            }
        }
    }

    #[test]
    fn object_ids_are_64_lower_hex_digits_and_nothing_else() {
        let good = "a3".repeat(32);
        assert_eq!(ObjectId::parse(good.as_bytes()).unwrap().to_string(), good);
        for byte in 0..=255_u8 {
            for place in [0, 31, 63] {
                let mut text = good.clone().into_bytes();
                text[place] = byte;
                assert_eq!(ObjectId::parse(&text).is_some(), matches!(byte, b'0'..=b'9' | b'a'..=b'f'), "{byte}");
            }
        }
        for bad in ["", "a", "ab", "ABCDEF", &"z".repeat(64), &"a".repeat(80), &"A3".repeat(32), "../../etc/passwd"]
        {
            assert_eq!(ObjectId::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn snapshot_ids_order_by_number_not_by_text() {
        let id = |text| SnapshotId::parse(text).unwrap();
        assert!(id("999-0001") < id("1000-0001"));
        assert!(id("1000-9999") < id("1000-10000"));
        for bad in ["", "nope", "1-", "-1", "1-1-1", "../x", "1-a", "+1-1"] {
            assert_eq!(SnapshotId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn run_ids_cannot_leave_the_run_directory() {
        for bad in ["", ".", "..", "a/b", "a\\b", "../../x", "a\nb", "-rf"] {
            assert!(RunId::named(bad).is_err(), "{bad}");
        }
        assert!(RunId::named("01J9-run.1").is_ok());
    }

    #[test]
    fn labels_keep_to_the_rules() {
        for bad in ["", "-x", "a\nb", "HEAD", "HEAD~1", "123-0001", "12345678", &"x".repeat(257)] {
            assert!(Label::named(bad).is_err(), "{bad}");
        }
        for good in ["pre:node.a:0", "caf\u{e9}", "a/b", &"x".repeat(256)] {
            assert!(Label::named(good).is_ok(), "{good}");
        }
    }
}
