//! Ignore rules: which paths of a workspace are versioned (wt-rules(5)).
//!
//! ```text
//! source   reads the one rules file of the workspace root, never through a link that leads out
//! parse    lines -> rules, with a warning for each line that cannot match
//! pattern  one rule's pattern: bare name, or steps with `**` between them
//! glob     one name against one step: literals, `?`, `*` and classes
//! class    `[...]`, read exactly as git reads it
//! decide   a path and the rules -> a verdict; may a directory be skipped whole?
//! text     the globs for whole texts that are no paths
//! ```
//!
//! Three layers decide. The hard exclusions ([`HardReason`]) stand above everything. Then come the default names as
//! ordinary rules, then the lines of the project's file. The last rule, in that order, that matches the path itself or
//! any directory above it decides; no match means included. Names are bytes from end to end.
//!
//! The syntax is git's (gitignore(5), matched as in git with `core.ignoreCase=false`). The decision differs in three
//! ways, on purpose: a `!` re-includes even below an excluded directory, a rule that matches a directory, `!` or not,
//! reaches everything below it, and no `!` lifts a hard exclusion. One more difference is a bug of older git
//! (seen in 2.47): it reads `foo**/bar` as if `**` stood alone between slashes; here it is a `*`, as gitignore(5) says.
//!
//! This room knows nothing of the store inside the workspace: the walk leaves that out by device and inode.

mod class;
mod decide;
mod glob;
mod parse;
mod pattern;
mod source;
mod text;

use std::fmt;

use crate::store::hash;
use crate::store::id::ObjectId;

pub use decide::{HardReason, Inherited, RuleRef, Rules, Verdict};
pub use source::{RULES_FILE_SIZE_BYTES_MAX, RulesFile};
pub use text::TextGlob;

/// The name of the semantics in this room. Snapshots record it beside their rules, so that a later reader knows how
/// the rules were meant; it changes whenever a verdict could change.
pub const RULES_ENGINE: &str = "workspacetrack-1";

/// The names that are left out unless the project's file negates them. They are generated, large, and rebuilt by the
/// tools that own them. `vendor` is not among them: people edit it.
pub const DEFAULT_NAMES: [&str; 10] = [
    "node_modules",
    ".venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".next",
    ".nuxt",
    ".turbo",
    ".gradle",
    ".terraform",
];

/// What the verdicts of these rules depend on, in one id: the rules themselves, and how they are meant.
pub(in crate::tree) fn identity(file: &RulesFile) -> ObjectId {
    let mut all: Vec<u8> = [RULES_ENGINE, env!("CARGO_PKG_VERSION"), file.source.name()].join("\0").into();
    for name in DEFAULT_NAMES {
        all.push(0);
        all.extend_from_slice(name.as_bytes());
    }
    all.extend_from_slice(b"\0\0");
    all.extend_from_slice(&file.text);
    hash::of_bytes(&all)
}

/// Which file of the workspace root the project's rules came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleSource {
    /// `.iterionignore`; it wins wherever it exists, even empty.
    IterionIgnore,
    /// `.gitignore`.
    GitIgnore,
    /// Neither exists.
    None,
}

impl RuleSource {
    /// The name that the `#rules` line of a stream, the coverage of a manifest and messages use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IterionIgnore => ".iterionignore",
            Self::GitIgnore => ".gitignore",
            Self::None => "none",
        }
    }

    /// Reads what [`RuleSource::name`] wrote; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::IterionIgnore, Self::GitIgnore, Self::None].into_iter().find(|source| source.name() == text)
    }
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a path is, as far as the rules care. A link is not a directory, whatever it points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory; rules that end in `/` may match it.
    Dir,
    /// Anything else.
    NotDir,
}

/// Something in the rules that does not do what its writer may think; it never stops the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file it is about.
    pub source: RuleSource,
    /// The line, counted from 1; `None` when it is about the whole file.
    pub line: Option<u32>,
    /// What is wrong and what was done about it: lower case, no full stop, safe for a terminal.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.source, self.message),
            None => write!(f, "{}: {}", self.source, self.message),
        }
    }
}
