//! [`Plain`]: reading documents that stand as our writers and the original's write them, without a general parser.
//!
//! Nearly every document is: members in one order, no blank between them. A reader goes over it with the pieces that
//! must come next; at the first other byte it gives up, and the caller takes the general parser, whose word is the only
//! one on what is malformed. So this may refuse anything and must never take what the general parser would refuse.

use std::borrow::Cow;

use crate::store::id::ObjectId;
use crate::stream::decimal;

/// A place in a document.
#[derive(Clone, Copy)]
pub(super) struct Plain<'a> {
    rest: &'a [u8],
}

impl<'a> Plain<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    /// What was not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes over exactly these bytes.
    pub(super) fn literal(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(bytes)?;
        Some(())
    }

    /// Goes over these bytes if they stand here.
    pub(super) fn has(&mut self, bytes: &[u8]) -> bool {
        self.literal(bytes).is_some()
    }

    /// So many bytes, whatever they are.
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    /// A string, borrowed where it has no escapes.
    pub(super) fn string(&mut self) -> Option<Cow<'a, str>> {
        let body = self.rest.strip_prefix(b"\"")?;
        let end = memchr::memchr2(b'"', b'\\', body)?;
        if body.get(end) == Some(&b'\\') {
            return self.escaped_string(end + 1);
        }
        let text = body.get(..end)?;
        // A control character must be escaped in JSON. All bytes are looked at without an early end: many at once.
        if text.iter().map(|byte| u8::from(*byte < b' ')).fold(0, |any, is_bad| any | is_bad) != 0 {
            return None;
        }
        self.rest = body.get(end + 1..)?;
        std::str::from_utf8(text).ok().map(Cow::Borrowed)
    }

    /// A string whose first backslash stands at `at`.
    fn escaped_string(&mut self, mut at: usize) -> Option<Cow<'a, str>> {
        loop {
            at += memchr::memchr2(b'"', b'\\', self.rest.get(at..)?)?;
            if self.rest.get(at) == Some(&b'"') {
                break;
            }
            at += 2;
        }
        let text: String = serde_json::from_slice(self.rest.get(..=at)?).ok()?;
        self.rest = self.rest.get(at + 1..)?;
        Some(Cow::Owned(text))
    }

    /// A string that is the id of an object.
    pub(super) fn hash(&mut self) -> Option<ObjectId> {
        let (quoted, rest) = self.rest.split_at_checked(66)?;
        let [b'"', digits @ .., b'"'] = quoted else { return None };
        self.rest = rest;
        ObjectId::parse(digits)
    }

    /// A whole number that is not negative.
    pub(super) fn u64(&mut self) -> Option<u64> {
        let length = self.rest.iter().position(|byte| !byte.is_ascii_digit())?;
        let (digits, rest) = self.rest.split_at_checked(length)?;
        // JSON has one spelling for a number: no zero before other digits.
        if digits.len() > 1 && digits.starts_with(b"0") {
            return None;
        }
        self.rest = rest;
        decimal::parse_u64(digits)
    }

    /// A whole number.
    pub(super) fn i64(&mut self) -> Option<i64> {
        if !self.rest.starts_with(b"-") {
            return i64::try_from(self.u64()?).ok();
        }
        self.literal(b"-")?;
        // The general parser takes -0 for a fraction.
        let distance = self.u64().filter(|distance| *distance > 0)?;
        0_i64.checked_sub_unsigned(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is read here, the general parser reads the same.
    #[test]
    fn strings_are_those_of_the_general_parser() {
        for text in [
            r#""""#,
            r#""a b""#,
            r#""a\u0026b\\""#,
            r#""\"""#,
            r#""\\""#,
            r#""\\\"x""#,
            "\"\u{e9}\"",
            "\"a\tb\"",
            "\"a\0b\"",
            r#""\x""#,
            r#""\ud800""#,
            r#""open"#,
            r#""open\"#,
            "a",
            "",
        ] {
            let read = Plain::new(text.as_bytes()).string().map(Cow::into_owned);
            assert_eq!(read, serde_json::from_str::<String>(text).ok(), "{text}");
        }
        assert_eq!(Plain::new(b"\"\xff\"").string(), None);
    }

    #[test]
    fn numbers_are_those_of_the_general_parser() {
        for text in
            ["0", "7", "-7", "00", "01", "-01", "-0", "18446744073709551615", "18446744073709551616", "-", ""]
        {
            let line = format!("{text},");
            let read = Plain::new(line.as_bytes()).u64();
            assert_eq!(read, serde_json::from_str::<u64>(text).ok(), "{text}");
            let read = Plain::new(line.as_bytes()).i64();
            assert_eq!(read, serde_json::from_str::<i64>(text).ok(), "{text}");
        }
        for text in ["1.5", "1e3", "1 "] {
            let mut plain = Plain::new(text.as_bytes());
            plain.u64();
            assert!(!plain.rest().is_empty(), "{text}: what follows is left for the caller to refuse");
        }
    }
}
