//! Writing JSON as the original's encoder does: compact, and with `<`, `>`, `&` and the two line separators escaped
//! (facts 1.2). Reading is `serde_json`'s.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::stream::decimal::{self, Decimal};

/// Writes a string, quoted and escaped.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    if is_verbatim(bytes) {
        out.extend_from_slice(bytes);
        out.push(b'"');
        return;
    }
    let (mut clean_from, mut at) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let (escape, length): (&[u8], usize) = match byte {
            b'"' => (b"\\\"", 1),
            b'\\' => (b"\\\\", 1),
            b'\n' => (b"\\n", 1),
            b'\r' => (b"\\r", 1),
            b'\t' => (b"\\t", 1),
            0x08 => (b"\\b", 1),
            0x0c => (b"\\f", 1),
            b'<' => (b"\\u003c", 1),
            b'>' => (b"\\u003e", 1),
            b'&' => (b"\\u0026", 1),
            0..=0x1f => (b"", 1),
            0xe2 if bytes.get(at + 1..at + 3) == Some(b"\x80\xa8") => (b"\\u2028", 3),
            0xe2 if bytes.get(at + 1..at + 3) == Some(b"\x80\xa9") => (b"\\u2029", 3),
            _ => {
                at += 1;
                continue;
            }
        };
        out.extend_from_slice(bytes.get(clean_from..at).unwrap_or_default());
        out.extend_from_slice(escape);
        if escape.is_empty() {
            // Writing to a vector cannot fail.
            let _ = write!(out, "\\u{byte:04x}");
        }
        at += length;
        clean_from = at;
    }
    out.extend_from_slice(bytes.get(clean_from..).unwrap_or_default());
    out.push(b'"');
}

/// Whether a text stands in JSON as it is: printable ASCII of which nothing is escaped. Others may, too.
fn is_verbatim(text: &[u8]) -> bool {
    match text.last_chunk() {
        // The last word may begin within the one before: looking twice is cheaper than byte by byte.
        Some(last) => text.as_chunks().0.iter().copied().all(is_verbatim_word) && is_verbatim_word(*last),
        None => text.iter().all(|byte| is_verbatim_word([*byte; 8])),
    }
}

/// As [`is_verbatim`], for eight bytes at once: names are looked at by the ten thousand.
fn is_verbatim_word(word: [u8; 8]) -> bool {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH_BITS: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    let each = |byte: u8| ONES * u64::from(byte);
    // The high bit of a byte is set where it is below `bound`, or where a lower byte was.
    let below = |word: u64, bound: u8| word.wrapping_sub(each(bound)) & !word;
    let is = |word: u64, byte: u8| below(word ^ each(byte), 1);
    // Each two that differ in one bit together.
    let quote_or_and = is(word | each(b'"' ^ b'&'), b'"' | b'&');
    let angle = is(word | each(b'<' ^ b'>'), b'<' | b'>');
    let is_other = word | word.wrapping_add(ONES) | below(word, b' ') | is(word, b'\\') | quote_or_and | angle;
    is_other & HIGH_BITS == 0
}

/// Names as they stand in JSON, between the quotes; nearly all stand there as they are.
#[derive(Default)]
pub struct Name {
    escaped: Vec<u8>,
}

impl Name {
    /// The name as [`push_string`] writes it, without the quotes; `None` where it is not UTF-8.
    pub fn of<'n>(&'n mut self, name: &'n [u8]) -> Option<&'n [u8]> {
        if is_verbatim(name) {
            return Some(name);
        }
        self.escaped.clear();
        push_string(&mut self.escaped, std::str::from_utf8(name).ok()?);
        self.escaped.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }
}

/// Writes a number.
pub fn push_number(out: &mut Vec<u8>, number: impl Decimal) {
    decimal::push(out, number);
}

/// Writes `"key":` after a comma where one is needed: an object's first member follows its brace.
pub fn push_key(out: &mut Vec<u8>, key: &str) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    push_string(out, key);
    out.push(b':');
}

/// Writes a name as `"key":"name"`, or as `"key_b64":"..."` where it is not UTF-8.
pub fn push_name(out: &mut Vec<u8>, key: &str, name: &[u8]) {
    if let Ok(text) = std::str::from_utf8(name) {
        push_key(out, key);
        push_string(out, text);
    } else {
        push_key(out, &format!("{key}_b64"));
        push_string(out, &STANDARD.encode(name));
    }
}

/// Writes a name for a reader of `--json`: always the display form, and beside it `key_b64` where it is not UTF-8.
pub fn push_display_name(out: &mut Vec<u8>, key: &str, name: &[u8]) {
    push_key(out, key);
    push_string(out, &String::from_utf8_lossy(name));
    if std::str::from_utf8(name).is_err() {
        push_key(out, &format!("{key}_b64"));
        push_string(out, &STANDARD.encode(name));
    }
}

/// Reads what [`push_name`] wrote: exactly one of the two members must be there.
#[must_use]
pub fn name(text: Option<&str>, base64: Option<&str>) -> Option<Vec<u8>> {
    match (text, base64) {
        (Some(text), None) => Some(text.as_bytes().to_vec()),
        (None, Some(base64)) => STANDARD.decode(base64).ok(),
        _ => None,
    }
}

/// Writes an array of what `push` writes for each item.
pub fn push_array<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, mut push: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (number, item) in items.into_iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        push(out, item);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_as_it_is_is_told_byte_by_byte() {
        for byte in 0..=u8::MAX {
            let expected = (b' '..0x7f).contains(&byte) && !b"\"\\<>&".contains(&byte);
            for length in [1, 2, 7, 8, 9, 15, 16, 17, 24] {
                for at in 0..length {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    assert_eq!(is_verbatim(&text), expected, "{byte} at {at} of {length}");
                }
            }
        }
        assert!(is_verbatim(b""));
    }

    #[test]
    fn strings_are_escaped_as_the_original_does_and_read_back() {
        let mut out = Vec::new();
        push_string(&mut out, "name with  spaces & <angle>.txt");
        assert_eq!(out, br#""name with  spaces \u0026 \u003cangle\u003e.txt""#);
        let odd = [
            "",
            "caf\u{e9}-\u{62a5}",
            "\u{2028}\u{2029}\u{2027}",
            "a\"b\\c\n\t\r\u{8}\u{c}\u{1}\u{7f}",
            "a b~",
            "<",
            ">",
            "&",
        ];
        for text in odd {
            let mut out = Vec::new();
            push_string(&mut out, text);
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            let mut name = Name::default();
            let name = name.of(text.as_bytes()).unwrap();
            assert_eq!(name, &out[1..out.len() - 1]);
        }
    }
}
