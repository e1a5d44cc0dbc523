//! [`ByteSet`]: a bracket expression `[...]`, read byte for byte as git's wildmatch reads it.
//!
//! The oddities are git's and are kept: a `]` directly after the opening is a member, a `-` is a range only between
//! two members, a range may end in an escaped byte, `[:name:]` needs its `:]` before the next `]`, and an unknown name
//! spoils the whole pattern. Classes are of single bytes, ASCII only, whatever the locale.

use super::pattern::BadPattern;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    const EMPTY: Self = Self([0; 4]);

    /// Whether `byte` is a member.
    pub(super) fn contains(&self, byte: u8) -> bool {
        let word = self.0.get(usize::from(byte >> 6)).copied().unwrap_or(0);
        word >> (byte & 63) & 1 == 1
    }

    fn insert(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }

    fn insert_where(&mut self, is_member: impl Fn(u8) -> bool) {
        for byte in (0..=u8::MAX).filter(|byte| is_member(*byte)) {
            self.insert(byte);
        }
    }

    fn inverted(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

/// Reads a class whose `[` has been consumed. Returns the set and what follows its `]`.
pub(super) fn parse(pattern: &[u8]) -> Result<(ByteSet, &[u8]), BadPattern> {
    let mut set = ByteSet::EMPTY;
    let (negated, mut rest) = match pattern.split_first() {
        Some((b'!' | b'^', tail)) => (true, tail),
        _ => (false, pattern),
    };
    // The member that a following `-` would make the start of a range.
    let mut range_start = None;
    loop {
        let (byte, tail) = take(rest)?;
        match byte {
            b'\\' => {
                let (escaped, tail) = take(tail)?;
                set.insert(escaped);
                (range_start, rest) = (Some(escaped), tail);
            }
            b'-' if range_start.is_some() && tail.first().is_some_and(|next| *next != b']') => {
                let (mut last, mut tail) = take(tail)?;
                if last == b'\\' {
                    (last, tail) = take(tail)?;
                }
                let first = range_start.unwrap_or(last);
                set.insert_where(|member| first <= member && member <= last);
                (range_start, rest) = (None, tail);
            }
            b'[' if tail.first() == Some(&b':') => {
                if let Some((is_member, tail)) = named(tail.get(1..).unwrap_or_default())? {
                    set.insert_where(|member| is_member(&member));
                    (range_start, rest) = (None, tail);
                } else {
                    set.insert(b'[');
                    (range_start, rest) = (Some(b'['), tail);
                }
            }
            member => {
                set.insert(member);
                (range_start, rest) = (Some(member), tail);
            }
        }
        if let Some((b']', tail)) = rest.split_first() {
            return Ok((if negated { set.inverted() } else { set }, tail));
        }
    }
}

fn take(pattern: &[u8]) -> Result<(u8, &[u8]), BadPattern> {
    pattern.split_first().map(|(byte, tail)| (*byte, tail)).ok_or(BadPattern::UnclosedClass)
}

type Member = fn(&u8) -> bool;

/// Reads `name:]` after `[:`. `None` means that the next `]` is not preceded by `:`, so that `[` was a plain member.
fn named(pattern: &[u8]) -> Result<Option<(Member, &[u8])>, BadPattern> {
    let Some(end) = pattern.iter().position(|byte| *byte == b']') else { return Err(BadPattern::UnclosedClass) };
    let (inside, tail) = pattern.split_at(end);
    let Some(name) = inside.strip_suffix(b":") else { return Ok(None) };
    let is_member: Member = match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        // As git: neither vertical tab nor form feed is white space.
        b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return Err(BadPattern::UnknownClassName),
    };
    Ok(Some((is_member, tail.get(1..).unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(class: &str) -> String {
        let (set, rest) = parse(class.as_bytes()).unwrap();
        assert_eq!(rest, b"", "{class} has a rest");
        (b' '..=b'~').filter(|byte| set.contains(*byte)).map(char::from).collect()
    }

    #[test]
    fn reads_the_oddities_as_git_does() {
        for (class, expected) in [
            ("abc]", "abc"),
            ("a-c]", "abc"),
            ("]-]", "-]"),
            ("]]", "]"),
            ("a-]", "-a"),
            ("-a]", "-a"),
            ("--0]", "-./0"),
            ("c-a]", "c"),
            ("a-c-e]", "-abce"),
            ("\\]]", "]"),
            ("a\\-c]", "-ac"),
            ("a-\\c]", "abc"),
            ("[:digit:]]", "0123456789"),
            ("[:digit:]-a]", "-0123456789a"),
            ("[:]", ":["),
            ("[:a]", ":[a"),
            ("[a]", "[a"),
        ] {
            assert_eq!(members(class), expected, "[{class}");
        }
        for inverted in ["!a]", "^a]"] {
            let (set, _) = parse(inverted.as_bytes()).unwrap();
            assert!(!set.contains(b'a') && set.contains(b'!') && set.contains(b'^') && set.contains(0xff));
        }
        assert_eq!(parse(b"a]bc").unwrap().1, b"bc");
        assert_eq!(parse(b"!]a]b").unwrap().1, b"b");
    }

    #[test]
    fn a_malformed_class_is_named() {
        for unclosed in ["", "a", "]", "!", "!]", "a-", "\\", "a-\\", "[:alpha:", "[:alpha:]", "[:"] {
            assert_eq!(parse(unclosed.as_bytes()), Err(BadPattern::UnclosedClass), "[{unclosed}");
        }
        for unknown in ["[:nope:]]", "[::]]", "[:Alpha:]]"] {
            assert_eq!(parse(unknown.as_bytes()), Err(BadPattern::UnknownClassName), "[{unknown}");
        }
    }
}
