//! [`Component`]: a name from outside that becomes one component of a path below a run (facts 5).

use std::fmt;

use crate::error::{Error, Result};
use crate::stream::quote;

/// The id of a node, interaction, attachment, tool call or file, safe as the name of a directory or file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Component(String);

/// Longest name that is read: what file systems take, with room for `.json`.
const BYTES_MAX: usize = 250;
/// Longest name that is made.
const NEW_BYTES_MAX: usize = 128;

impl Component {
    /// Reads a name as the original accepts it: it cannot leave its directory, and has no control characters. `what` says
    /// what is being named ("node id").
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`], naming the rule that was broken.
    pub fn named(what: &str, text: &str) -> Result<Self> {
        match flaw(text) {
            None => Ok(Self(text.to_owned())),
            Some(flaw) => Err(refusal(what, text, flaw)),
        }
    }

    /// Reads a name for something that is to be made. Narrower than [`Component::named`]: short, not hidden, not an option,
    /// and no name that a file system may change (facts 10.10). A name that exists may be written below again.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`], naming the rule that was broken.
    pub fn for_new(what: &str, text: &str) -> Result<Self> {
        match flaw(text).or_else(|| flaw_of_new(text)) {
            None => Ok(Self(text.to_owned())),
            Some(flaw) => Err(refusal(what, text, flaw)),
        }
    }

    /// The text, which is also the name on the disk.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a name is not safe as a path component, if it is not.
#[must_use]
pub fn flaw(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        Some("is empty")
    } else if text.len() > BYTES_MAX {
        Some("is longer than 250 bytes")
    } else if text.contains(['/', '\\']) {
        Some("contains a slash or backslash")
    } else if text.contains("..") || text == "." {
        Some("contains dots that could leave its directory")
    } else if text.chars().any(char::is_control) {
        Some("contains a control character")
    } else {
        None
    }
}

/// Why a name that is safe should not be made, if so.
#[must_use]
pub fn flaw_of_new(text: &str) -> Option<&'static str> {
    if text.len() > NEW_BYTES_MAX {
        Some("is longer than 128 bytes")
    } else if text.starts_with('.') {
        Some("begins with a dot")
    } else if text.starts_with('-') {
        Some("begins with a dash")
    } else if text.ends_with(['.', ' ']) {
        Some("ends with a dot or blank, which some file systems drop")
    } else if is_device(text) {
        Some("is the name of a device on some systems")
    } else {
        None
    }
}

fn is_device(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or(text).to_ascii_lowercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

fn refusal(what: &str, text: &str, flaw: &str) -> Error {
    let shown = text.chars().take(64).collect::<String>();
    Error::usage(format!("{what} {} {flaw}", quote::name(shown.as_bytes()))).hint("choose another name")
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_its_directory() {
        for bad in ["", ".", "..", "a..b", "a/b", "a\\b", "a\nb", "a\u{7f}", &"x".repeat(251)] {
            assert!(Component::named("node id", bad).is_err(), "{bad:?}");
            assert!(Component::for_new("node id", bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_others_made_is_read_and_not_made() {
        for odd in [".hidden", "-rf", "a.", "a ", "NUL", "com1.json", &"x".repeat(129)] {
            assert!(Component::named("node id", odd).is_ok(), "{odd:?}");
            assert!(Component::for_new("node id", odd).is_err(), "{odd:?}");
        }
        for good in ["plan", "a.b", "caf\u{e9}", "run_1_review_2", "com10", "toolu_01A"] {
            assert!(Component::for_new("node id", good).is_ok(), "{good:?}");
        }
    }
}
