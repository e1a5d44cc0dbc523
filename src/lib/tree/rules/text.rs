//! [`TextGlob`]: a shell pattern for texts that are no paths, such as labels.

use super::glob::{self, Glob};
use crate::error::{Error, Result};
use crate::stream::quote;

/// A pattern with `*`, `?`, `[...]` and `\`, matched against the whole of a text; `/` is a byte like any other.
#[derive(Debug, Clone)]
pub struct TextGlob(Glob);

impl TextGlob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] when it can match nothing.
    pub fn named(pattern: &str) -> Result<Self> {
        let mut tokens = Vec::new();
        let mut rest = pattern.as_bytes();
        loop {
            let next = glob::next_token(rest).map_err(|problem| {
                Error::usage(format!("{problem} in pattern {}", quote::name(pattern.as_bytes())))
                    .hint("put a backslash before a character that is meant as it stands")
            })?;
            let Some((token, tail)) = next else { return Ok(Self(Glob::new(tokens))) };
            tokens.push(token);
            rest = tail;
        }
    }

    /// Whether the whole of `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.0.matches(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_whole_texts_and_refuses_what_matches_nothing() {
        for (pattern, text, matched) in [
            ("pre:*", "pre:a/b:0", true),
            ("pre:*", "xpre:a", false),
            ("*:?", "gate:7", true),
            ("*:[0-4]", "gate:7", false),
            ("", "", true),
            ("a\\*", "a*", true),
        ] {
            assert_eq!(TextGlob::named(pattern).unwrap().matches(text), matched, "{pattern} {text}");
        }
        for bad in ["[a", "a\\", "[[:no:]]"] {
            assert_eq!(TextGlob::named(bad).unwrap_err().kind(), crate::error::Kind::Usage, "{bad}");
        }
    }
}
