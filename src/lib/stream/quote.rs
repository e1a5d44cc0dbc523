//! How a name is written where a person or a line-based tool reads it.
//!
//! Two forms. [`c_quote`] is the reversible one of path streams and records without `-z`: git's C-style quoting with
//! `core.quotePath=false`, used only where a name needs it. [`path`] is the display form of messages: single quotes, with
//! control characters masked, so that a hostile name cannot drive the terminal, and characters that nobody sees or that turn
//! the direction of text around, so that it cannot pass for another name.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether `name` must be quoted: control characters, a double quote, a backslash or bytes that are not UTF-8.
#[must_use]
pub fn needs_quoting(name: &[u8]) -> bool {
    match std::str::from_utf8(name) {
        Ok(text) => name.is_empty() || text.chars().any(|c| c.is_control() || c == '"' || c == '\\'),
        Err(_) => true,
    }
}

/// Writes `name` for a line of text: as it is, or in double quotes with git's escapes.
#[must_use]
pub fn c_quote(name: &[u8]) -> Cow<'_, [u8]> {
    if !needs_quoting(name) {
        return Cow::Borrowed(name);
    }
    let mut out = Vec::with_capacity(name.len() + 8);
    out.push(b'"');
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            push_escaped(&mut out, c);
        }
        for byte in chunk.invalid() {
            push_octal(&mut out, *byte);
        }
    }
    out.push(b'"');
    Cow::Owned(out)
}

fn push_escaped(out: &mut Vec<u8>, c: char) {
    let short = match c {
        '\u{7}' => b'a',
        '\u{8}' => b'b',
        '\t' => b't',
        '\n' => b'n',
        '\u{b}' => b'v',
        '\u{c}' => b'f',
        '\r' => b'r',
        '"' => b'"',
        '\\' => b'\\',
        _ => {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            if c.is_control() {
                for byte in bytes {
                    push_octal(out, *byte);
                }
            } else {
                out.extend_from_slice(bytes);
            }
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

fn push_octal(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(&[b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]);
}

/// Reads what [`c_quote`] wrote. A name that does not begin with a double quote is taken as it stands.
///
/// Returns `None` when the quoting is malformed: no closing quote, text after it, or an unknown escape.
#[must_use]
pub fn c_unquote(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let Some(mut rest) = text.strip_prefix(b"\"") else { return Some(Cow::Borrowed(text)) };
    let mut out = Vec::with_capacity(rest.len());
    loop {
        let (&byte, tail) = rest.split_first()?;
        rest = tail;
        match byte {
            b'"' => return rest.is_empty().then_some(Cow::Owned(out)),
            b'\\' => {
                let (&escape, tail) = rest.split_first()?;
                rest = tail;
                out.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let (digits, tail) = rest.split_at_checked(2)?;
                        rest = tail;
                        digits.iter().try_fold(escape - b'0', |value, digit| {
                            matches!(digit, b'0'..=b'7').then(|| value << 3 | (digit - b'0'))
                        })?
                    }
                    _ => return None,
                });
            }
            other => out.push(other),
        }
    }
}

/// Writes a word of a command that a person can paste into a shell: as it is, or in single quotes.
#[must_use]
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}

/// Writes a path for a message: `'a/b'`, with control characters masked as `\x1b` and bad bytes as `\xff`.
#[must_use]
pub fn path(path: impl AsRef<Path>) -> String {
    name(path.as_ref().as_os_str().as_bytes())
}

/// Writes any bytes that name something for a message; see [`path`].
#[must_use]
pub fn name(bytes: &[u8]) -> String {
    format!("'{}'", masked(bytes))
}

/// Masks control characters and bad bytes as `\x1b`, and what cannot be seen as `\u{202e}`, without the quotes of [`name`].
#[must_use]
pub fn masked(bytes: &[u8]) -> String {
    masking(bytes, is_unseen)
}

/// Masks only what would break a line or drive a terminal, control characters and bad bytes, as [`masked`] does: for a field
/// of a line that a program may read.
#[must_use]
pub fn one_line(bytes: &[u8]) -> String {
    masking(bytes, |_| false)
}

/// Writes JSON for a terminal: the same value, with escapes in the place of what cannot be seen or could drive it.
#[must_use]
pub fn visible_json(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Line feeds stand between tokens; within strings they are escaped already.
        if is_unseen(c) || c.is_control() && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

fn masking(bytes: &[u8], is_unseen: impl Fn(char) -> bool) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            // Writing to a String cannot fail.
            if c.is_control() {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            } else if is_unseen(c) {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            } else {
                out.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Characters that are not seen, or that change how those beside them are: general categories Cf, Zl and Zp, and what has
/// the property `Default_Ignorable_Code_Point` (Unicode 16.0, `UnicodeData.txt` and `DerivedCoreProperties.txt`). Ascending.
const UNSEEN: [(char, char); 25] = [
    ('\u{ad}', '\u{ad}'),       // soft hyphen
    ('\u{34f}', '\u{34f}'),     // combining grapheme joiner
    ('\u{600}', '\u{605}'),     // Arabic number signs
    ('\u{61c}', '\u{61c}'),     // Arabic letter mark
    ('\u{6dd}', '\u{6dd}'),     // Arabic end of ayah
    ('\u{70f}', '\u{70f}'),     // Syriac abbreviation mark
    ('\u{890}', '\u{891}'),     // Arabic pound and piastre marks
    ('\u{8e2}', '\u{8e2}'),     // Arabic disputed end of ayah
    ('\u{115f}', '\u{1160}'),   // Hangul fillers
    ('\u{17b4}', '\u{17b5}'),   // Khmer inherent vowels
    ('\u{180b}', '\u{180f}'),   // Mongolian selectors and vowel separator
    ('\u{200b}', '\u{200f}'),   // zero width, joiners, direction marks
    ('\u{2028}', '\u{202e}'),   // line and paragraph separators, embeddings and overrides
    ('\u{2060}', '\u{206f}'),   // word joiner, invisible operators, isolates
    ('\u{3164}', '\u{3164}'),   // Hangul filler
    ('\u{fe00}', '\u{fe0f}'),   // variation selectors
    ('\u{feff}', '\u{feff}'),   // byte order mark
    ('\u{ffa0}', '\u{ffa0}'),   // halfwidth Hangul filler
    ('\u{fff0}', '\u{fffb}'),   // annotation anchors, and unassigned ones before them
    ('\u{110bd}', '\u{110bd}'), // Kaithi number sign
    ('\u{110cd}', '\u{110cd}'), // Kaithi number sign above
    ('\u{13430}', '\u{1343f}'), // Egyptian hieroglyph format controls
    ('\u{1bca0}', '\u{1bca3}'), // shorthand format controls
    ('\u{1d173}', '\u{1d17a}'), // musical format controls
    ('\u{e0000}', '\u{e0fff}'), // tags, selectors, and unassigned ones
];

/// Whether [`masked`] shows a character as something else.
#[must_use]
pub fn is_masked(c: char) -> bool {
    c.is_control() || is_unseen(c)
}

/// Whether a character cannot be seen as itself.
fn is_unseen(c: char) -> bool {
    c > '\u{a0}' && UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_only_what_needs_it_and_reads_it_back() {
        for (name, quoted) in [
            (&b"plain name"[..], &b"plain name"[..]),
            ("caf\u{e9}-\u{62a5}".as_bytes(), "caf\u{e9}-\u{62a5}".as_bytes()),
            (b"tab\there", b"\"tab\\there\""),
            (b"say \"hi\"", b"\"say \\\"hi\\\"\""),
            (b"back\\slash", b"\"back\\\\slash\""),
            (b"\xff\x01", b"\"\\377\\001\""),
        ] {
            assert_eq!(c_quote(name).as_ref(), quoted);
            assert_eq!(c_unquote(quoted).unwrap().as_ref(), name);
        }
    }

    #[test]
    fn refuses_malformed_quoting() {
        for bad in [&b"\"open"[..], b"\"a\"b", b"\"\\q\"", b"\"\\9\"", b"\"\\40", b"\"\\777\""] {
            assert_eq!(c_unquote(bad), None, "{}", masked(bad));
        }
    }

    #[test]
    fn every_byte_string_survives() {
        for a in 0..=255_u8 {
            for b in 0..=255_u8 {
                let name = [a, b];
                assert_eq!(c_unquote(&c_quote(&name)).unwrap().as_ref(), name);
            }
        }
    }

    /// Every character of the categories Cf, Zl and Zp, from the `Cf`, `Zl` and `Zp` lines of `UnicodeData.txt` 16.0.
    const CF_ZL_ZP: [(u32, u32); 21] = [
        (0xad, 0xad),
        (0x600, 0x605),
        (0x61c, 0x61c),
        (0x6dd, 0x6dd),
        (0x70f, 0x70f),
        (0x890, 0x891),
        (0x8e2, 0x8e2),
        (0x180e, 0x180e),
        (0x200b, 0x200f),
        (0x2028, 0x202e),
        (0x2060, 0x2064),
        (0x2066, 0x206f),
        (0xfeff, 0xfeff),
        (0xfff9, 0xfffb),
        (0x110bd, 0x110bd),
        (0x110cd, 0x110cd),
        (0x13430, 0x1343f),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0001, 0xe0001),
        (0xe0020, 0xe007f),
    ];

    #[test]
    fn what_cannot_be_seen_is_shown_and_data_stay_as_they_are() {
        let of = |ranges: &[(u32, u32)]| -> Vec<char> {
            ranges.iter().flat_map(|(first, last)| (*first..=*last).filter_map(char::from_u32)).collect()
        };
        let invisible = [(0x34f, 0x34f), (0x115f, 0x1160), (0x3164, 0x3164), (0xfe0f, 0xfe0f), (0xe0100, 0xe01ef)];
        for c in of(&CF_ZL_ZP).into_iter().chain(of(&invisible)) {
            let name = format!("a{c}b");
            assert_eq!(masked(name.as_bytes()), format!("a\\u{{{:x}}}b", u32::from(c)));
            assert_eq!(super::name(name.as_bytes()), format!("'a\\u{{{:x}}}b'", u32::from(c)));
            assert_eq!(c_quote(name.as_bytes()).as_ref(), name.as_bytes(), "data are not masked");
            assert_eq!(one_line(name.as_bytes()), name, "nor are fields of a line");
        }
        for seen in ["plain", "caf\u{e9}", "\u{a0}", "\u{62a5}\u{544a}", "\u{1f600}", "\u{5d0}\u{627}", "\u{2010}"]
        {
            assert_eq!(masked(seen.as_bytes()), seen);
        }
        assert_eq!(masked(b"\x1b\x7f\xff\xc2\x9b"), "\\x1b\\x7f\\xff\\x9b");
        assert_eq!(
            visible_json("{\n  \"a\u{202e}\u{9b}\u{7f}\u{e0001}\": \"caf\u{e9}\"\n}"),
            "{\n  \"a\\u202e\\u009b\\u007f\\udb40\\udc01\": \"caf\u{e9}\"\n}"
        );
        assert_eq!(one_line(b"\x1b\t\xff"), "\\x1b\\x09\\xff");
        assert!(UNSEEN.windows(2).all(|pair| pair[0].1 < pair[1].0), "ascending");
    }

    #[test]
    fn a_word_for_a_shell_is_quoted_where_the_shell_would_take_it_apart() {
        for (word, quoted) in [
            ("wt-undo", "wt-undo"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("$x", "'$x'"),
            ("~", "'~'"),
        ] {
            assert_eq!(shell_word(word), quoted);
        }
    }
}
