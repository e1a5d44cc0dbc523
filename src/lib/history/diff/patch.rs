//! [`Patch`]: one difference as git writes it, and as `git apply` and `patch` read it.
//!
//! Permission bits are written as they are, where git knows only two. What a patch cannot say (empty directories,
//! uncaptured paths) stands in lines that begin with `#`, which both programs skip.

use std::borrow::Cow;

use super::text::{Line, TextDiff};
use super::{At, Difference, Letter};
use crate::error::{Error, Kind, Result};
use crate::history::manifest::{Entry, Node};
use crate::store::pool::Pool;
use crate::stream::quote;

/// Larger files are not compared line by line (facts 5.3), bytes.
pub const TEXT_BYTES_MAX: u64 = 5 * 1024 * 1024;

/// A NUL within so many bytes makes a file binary (facts 5.3).
const BINARY_PROBE_BYTES: usize = 8192;

/// What a file holds, as far as lines can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(Vec<u8>),
    /// Something that has no lines.
    Binary,
    /// More than [`TEXT_BYTES_MAX`].
    TooLarge,
    /// It cannot be read any more.
    Gone,
}

impl Content {
    /// Looks at bytes.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        let probe = bytes.get(..BINARY_PROBE_BYTES).unwrap_or(&bytes);
        if probe.contains(&0) { Self::Binary } else { Self::Text(bytes) }
    }
}

/// Where the files of one side can be read.
pub trait Files {
    /// Reads a regular file.
    ///
    /// # Errors
    /// Whatever keeps it from being read, except that it is gone.
    fn read(&self, entry: &Entry) -> Result<Content>;
}

impl Files for Pool {
    fn read(&self, entry: &Entry) -> Result<Content> {
        match entry.node {
            Node::File { size, .. } if size > TEXT_BYTES_MAX => Ok(Content::TooLarge),
            Node::File { hash, .. } => Pool::read(self, hash).map(Content::of),
            Node::Link { .. } | Node::Dir => Ok(Content::Gone),
        }
    }
}

/// The files of a store without a pool: there are none.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, entry: &Entry) -> Result<Content> {
        Err(Error::new(Kind::Damaged, format!("the content of {:?} is not in the pool: there is none", entry.path))
            .hint("name the store that holds it with --store"))
    }
}

/// One line of a patch, by what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchLine<'p> {
    /// A header.
    Header(Vec<u8>),
    /// `@@ ... @@`.
    Hunk(String),
    /// A line of the files, with its newline if it has one.
    Text(Line<'p>),
    /// What a patch cannot say, for people.
    Remark(String),
}

/// A difference with the contents of both sides.
pub struct Patch<'a> {
    difference: Difference<'a>,
    old: Option<Content>,
    new: Option<Content>,
}

impl<'a> Patch<'a> {
    /// Reads the contents that are needed.
    ///
    /// # Errors
    /// As [`Files::read`].
    pub fn read(difference: Difference<'a>, old: &dyn Files, new: &dyn Files) -> Result<Self> {
        let content = |at: At<'_>, files: &dyn Files| match at.entry().map(|entry| (entry, &entry.node)) {
            None | Some((_, Node::Dir)) => Ok(None),
            Some((_, Node::Link { target })) => Ok(Some(Content::Text(target.clone()))),
            Some((entry, Node::File { .. })) => files.read(entry).map(Some),
        };
        if matches!(difference.letter, Letter::ModeChanged | Letter::Uncaptured) {
            return Ok(Self { difference, old: None, new: None });
        }
        Ok(Self { old: content(difference.old, old)?, new: content(difference.new, new)?, difference })
    }

    /// How many lines were added and removed; `None` where there are no lines to compare.
    #[must_use]
    pub fn counts(&self) -> Option<(usize, usize)> {
        let (old, new) = (text(self.old.as_ref())?, text(self.new.as_ref())?);
        Some(TextDiff::new(old, new).counts())
    }

    /// Whether a side is this.
    #[must_use]
    pub fn has(&self, content: &Content) -> bool {
        [&self.old, &self.new].into_iter().flatten().any(|side| side == content)
    }

    /// Calls `visit` for every line.
    pub fn for_each_line(&self, visit: &mut dyn FnMut(PatchLine<'_>)) {
        let Difference { letter, old, new, .. } = self.difference;
        match letter {
            Letter::Uncaptured => visit(PatchLine::Remark(self.uncaptured())),
            // Git has no words for a change of type, and a patch none for two kinds: one goes, the other comes.
            Letter::TypeChanged => {
                self.one(Some(old), None, visit);
                self.one(None, Some(new), visit);
            }
            _ => self.one(Some(old), Some(new), visit),
        }
    }

    fn uncaptured(&self) -> String {
        let Difference { path, old, new, .. } = self.difference;
        let (side, gap) = match (old, new) {
            (At::Gap(gap), _) => ("older", gap),
            (_, At::Gap(gap)) => ("newer", gap),
            _ => return String::new(),
        };
        format!("# uncaptured on the {side} side: {}: {}", quote::masked(path.as_bytes()), gap.reason.as_str())
    }

    /// Writes the diff of the sides that are given; the other one is `/dev/null`.
    fn one(&self, old: Option<At<'_>>, new: Option<At<'_>>, visit: &mut dyn FnMut(PatchLine<'_>)) {
        let path = self.difference.path.as_bytes();
        let (a, b) = (old.and_then(At::entry), new.and_then(At::entry));
        if let Some(dir) = a.or(b).filter(|entry| entry.node == Node::Dir) {
            let (old, new) = (a.map_or(At::Nothing, At::Entry), b.map_or(At::Nothing, At::Entry));
            visit(PatchLine::Remark(remark_dir(dir.path.as_bytes(), old, new)));
            return;
        }
        if let Some(remark) = remark_mode(path, a, b) {
            visit(PatchLine::Remark(remark));
            let is_all = a.zip(b).is_some_and(|(a, b)| git_mode(a) == git_mode(b) && a.node == b.node);
            if is_all {
                return;
            }
        }
        let (a_name, b_name) = (name(b"a/", path), name(b"b/", path));
        visit(PatchLine::Header([&b"diff --git "[..], &a_name, b" ", &b_name].concat()));
        let mut header =
            |words: &str, mode: String| visit(PatchLine::Header(format!("{words} {mode}").into_bytes()));
        match (a, b) {
            (Some(a), None) => header("deleted file mode", git_mode(a)),
            (None, Some(b)) => header("new file mode", git_mode(b)),
            (Some(a), Some(b)) if git_mode(a) != git_mode(b) => {
                header("old mode", git_mode(a));
                header("new mode", git_mode(b));
            }
            _ => {}
        }
        let empty = Content::Text(Vec::new());
        let (old, new) = (self.old.as_ref().filter(|_| a.is_some()), self.new.as_ref().filter(|_| b.is_some()));
        let shown = |present: bool, name: &[u8]| if present { name.to_vec() } else { b"/dev/null".to_vec() };
        let (a_shown, b_shown) = (shown(a.is_some(), &a_name), shown(b.is_some(), &b_name));
        match (old.unwrap_or(&empty), new.unwrap_or(&empty)) {
            (Content::Text(old), Content::Text(new)) => {
                let diff = TextDiff::new(old, new);
                if diff.counts() == (0, 0) {
                    return;
                }
                visit(PatchLine::Header([&b"--- "[..], &a_shown, tab_after(&a_shown)].concat()));
                visit(PatchLine::Header([&b"+++ "[..], &b_shown, tab_after(&b_shown)].concat()));
                diff.for_each_line(|line| {
                    visit(match line {
                        Line::Hunk { old, new } => {
                            PatchLine::Hunk(format!("@@ -{} +{} @@", range(old), range(new)))
                        }
                        text => PatchLine::Text(text),
                    });
                });
            }
            (old, new) => {
                let both = [a_shown.as_slice(), b" and ", &b_shown].concat();
                let (before, after): (&[u8], &str) = match (old, new) {
                    (Content::Gone, _) | (_, Content::Gone) => (b"# ", " changed while they were compared"),
                    (Content::TooLarge, _) | (_, Content::TooLarge) => (b"Files ", " differ, too large to compare"),
                    _ => (b"Binary files ", " differ"),
                };
                visit(PatchLine::Header([before, &both, after.as_bytes()].concat()));
            }
        }
    }
}

/// The text of a side; nothing is the empty text.
fn text(content: Option<&Content>) -> Option<&[u8]> {
    match content {
        None => Some(b""),
        Some(Content::Text(text)) => Some(text),
        Some(_) => None,
    }
}

fn remark_dir(path: &[u8], old: At<'_>, new: At<'_>) -> String {
    let path = quote::masked(path);
    match (old.entry(), new.entry()) {
        (Some(old), Some(new)) => format!("# empty directory {path}: mode {:04o}, was {:04o}", new.mode, old.mode),
        (Some(_), None) => format!("# empty directory {path}: deleted"),
        _ => format!("# empty directory {path}: added"),
    }
}

/// A name in a header: quoted as a whole where it needs it.
fn name(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    let name = [prefix, path].concat();
    match quote::c_quote(&name) {
        Cow::Borrowed(_) => name,
        Cow::Owned(quoted) => quoted,
    }
}

/// What keeps `patch` from taking a blank in a name for its end.
fn tab_after(name: &[u8]) -> &'static [u8] {
    if name.contains(&b' ') && !name.starts_with(b"\"") { b"\t" } else { b"" }
}

fn git_mode(entry: &Entry) -> String {
    match entry.node {
        Node::Link { .. } => "120000".into(),
        Node::File { .. } | Node::Dir if entry.mode & 0o100 != 0 => "100755".into(),
        Node::File { .. } | Node::Dir => "100644".into(),
    }
}

/// Git knows two modes of files and refuses a patch that has others: those are said in a remark.
fn remark_mode(path: &[u8], a: Option<&Entry>, b: Option<&Entry>) -> Option<String> {
    let odd = |entry: &Entry| {
        matches!(entry.node, Node::File { .. }) && git_mode(entry) != format!("100{:03o}", entry.mode)
    };
    let path = quote::masked(path);
    match (a, b) {
        (Some(a), Some(b)) if a.mode != b.mode && (odd(a) || odd(b)) => {
            Some(format!("# mode of {path}: {:04o}, was {:04o}", b.mode, a.mode))
        }
        (None, Some(b)) if odd(b) => Some(format!("# mode of {path}: {:04o}", b.mode)),
        _ => None,
    }
}

/// A length of one is not written.
fn range((start, length): (usize, usize)) -> String {
    if length == 1 { start.to_string() } else { format!("{start},{length}") }
}
