//! [`Glob`]: one name against one segment of a pattern.
//!
//! Most segments of real rules are a literal, `*.ext` or `prefix*`; these are recognised once and compared as bytes.
//! The rest are matched with one point of return, the last `*`: what an earlier `*` took need never be reconsidered,
//! so the work is at most the product of both lengths, whatever the pattern. Nothing is allocated while matching.

use super::class::{self, ByteSet};
use super::pattern::BadPattern;

/// A compiled segment. A name is never empty and holds no `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Glob {
    /// Every name: `*`.
    Any,
    /// Exactly these bytes.
    Literal(Box<[u8]>),
    /// `prefix*`.
    StartsWith(Box<[u8]>),
    /// `*suffix`.
    EndsWith(Box<[u8]>),
    /// Anything else; the number is of the bytes that a matching name has at least.
    Tokens(Box<[Token]>, usize),
}

/// One element of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// This byte.
    Byte(u8),
    /// `?`: any byte.
    AnyByte,
    /// `*`: any bytes, also none.
    AnyBytes,
    /// `[...]`: a byte of the set.
    Class(Box<ByteSet>),
}

impl Token {
    fn accepts(&self, byte: u8) -> bool {
        match self {
            Self::Byte(expected) => *expected == byte,
            Self::AnyByte => true,
            Self::AnyBytes => false,
            Self::Class(set) => set.contains(byte),
        }
    }
}

/// Reads one token; for `*` all that follow it directly are taken too, since they add nothing.
pub(super) fn next_token(pattern: &[u8]) -> Result<Option<(Token, &[u8])>, BadPattern> {
    let Some((byte, tail)) = pattern.split_first() else { return Ok(None) };
    Ok(Some(match byte {
        b'\\' => {
            let (escaped, tail) = tail.split_first().ok_or(BadPattern::LoneBackslash)?;
            (Token::Byte(*escaped), tail)
        }
        b'?' => (Token::AnyByte, tail),
        b'*' => {
            let stars = tail.iter().take_while(|byte| **byte == b'*').count();
            (Token::AnyBytes, tail.get(stars..).unwrap_or_default())
        }
        b'[' => {
            let (set, tail) = class::parse(tail)?;
            (Token::Class(Box::new(set)), tail)
        }
        literal => (Token::Byte(*literal), tail),
    }))
}

impl Glob {
    /// Picks the cheapest form for `tokens`.
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        match tokens.as_slice() {
            [Token::AnyBytes] => return Self::Any,
            [Token::AnyBytes, rest @ ..] => {
                if let Some(suffix) = literal(rest) {
                    return Self::EndsWith(suffix);
                }
            }
            [rest @ .., Token::AnyBytes] => {
                if let Some(prefix) = literal(rest) {
                    return Self::StartsWith(prefix);
                }
            }
            all => {
                if let Some(bytes) = literal(all) {
                    return Self::Literal(bytes);
                }
            }
        }
        let size_bytes_min = tokens.iter().filter(|token| **token != Token::AnyBytes).count();
        Self::Tokens(tokens.into_boxed_slice(), size_bytes_min)
    }

    /// Whether the whole of `name` matches.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Literal(bytes) => **bytes == *name,
            Self::StartsWith(prefix) => name.starts_with(prefix),
            Self::EndsWith(suffix) => name.ends_with(suffix),
            // The length test keeps a pattern of a megabyte from costing more than the name is long.
            Self::Tokens(tokens, size_bytes_min) => name.len() >= *size_bytes_min && tokens_match(tokens, name),
        }
    }
}

fn literal(tokens: &[Token]) -> Option<Box<[u8]>> {
    tokens.iter().map(|token| if let Token::Byte(byte) = token { Some(*byte) } else { None }).collect()
}

fn tokens_match(tokens: &[Token], name: &[u8]) -> bool {
    if let (Some(token), Some(byte)) = (tokens.last(), name.last())
        && !matches!(token, Token::AnyBytes)
        && !token.accepts(*byte)
    {
        return false;
    }
    let (mut tokens, mut text) = (tokens, name);
    // What follows the last `*`, and the text that it has not taken yet.
    let mut retry: Option<(&[Token], &[u8])> = None;
    loop {
        match (tokens.split_first(), text.split_first()) {
            (None, None) | (Some((Token::AnyBytes, [])), _) => return true,
            (Some((Token::AnyBytes, after)), _) => {
                retry = Some((after, text));
                tokens = after;
                continue;
            }
            (Some((token, after)), Some((byte, tail))) if token.accepts(*byte) => {
                (tokens, text) = (after, tail);
                continue;
            }
            // Out of text: a `*` that takes more would leave even less.
            (Some(_), None) => return false,
            (_, Some(_)) => {}
        }
        let Some((after, from)) = retry else { return false };
        let Some((_, tail)) = from.split_first() else { return false };
        retry = Some((after, tail));
        (tokens, text) = (after, tail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(pattern: &str) -> Glob {
        let (mut tokens, mut rest) = (Vec::new(), pattern.as_bytes());
        while let Some((token, tail)) = next_token(rest).unwrap() {
            tokens.push(token);
            rest = tail;
        }
        Glob::new(tokens)
    }

    #[test]
    fn common_shapes_become_byte_comparisons() {
        assert_eq!(glob("*"), Glob::Any);
        assert_eq!(glob("***"), Glob::Any);
        assert_eq!(glob("a\\*"), Glob::Literal(b"a*".as_slice().into()));
        assert_eq!(glob("*.o"), Glob::EndsWith(b".o".as_slice().into()));
        assert_eq!(glob("tmp**"), Glob::StartsWith(b"tmp".as_slice().into()));
        assert!(matches!(glob("*.tmp*"), Glob::Tokens(_, 4)));
    }

    #[test]
    fn matches_whole_names() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "a", true),
            ("*a", "a", true),
            ("*a", "ab", false),
            ("a*b", "ab", true),
            ("a**b", "axxb", true),
            ("a?b", "ab", false),
            ("?", "\u{e9}", false),
            ("??", "\u{e9}", true),
            ("*ab*cd", "abxabcd", true),
            ("*ab*cd", "abxabdc", false),
            ("*.tmp[0-9]", "x.tmp.tmp7", true),
            ("*[[:space:]]*", "a\tb", true),
            ("[]-]x", "]x", true),
            ("[]-]x", "-x", true),
            ("[!a]x", "bx", true),
            ("[^a]x", "ax", false),
            ("\\a1", "a1", true),
            (".*", ".a", true),
            ("*", ".a", true),
        ] {
            assert_eq!(glob(pattern).matches(name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
