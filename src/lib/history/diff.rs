//! [`differences`]: what two states of a workspace differ in, as far as both sides can know (design section 6, Coverage).
//!
//! ```text
//! A  only in the newer, and the older would have named it
//! D  only in the older, and the newer would have named it
//! M  content differs          m  only the mode differs          T  the kind differs
//! U  uncaptured on one side: nobody can say
//! ```
//!
//! What is uncaptured on both sides, or on one side and not covered by the other, is left out. A directory is an entry
//! only while it is empty; one that holds something on the other side has not come or gone.

pub mod patch;
pub mod stat;
pub mod text;

use super::coverage::Gap;
use super::covers::CoverageRules;
use super::json;
use super::manifest::{Entry, Manifest, Node};
use crate::store::relpath::RelPath;
use crate::stream::record::{EntryKind, GapReason};

/// One side of a comparison.
pub struct Side<'a> {
    /// What it holds: a snapshot's manifest, or one made of a workspace.
    pub manifest: &'a Manifest,
    /// Where its silence can be believed.
    pub covers: CoverageRules<'a>,
}

/// How a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letter {
    /// Only in the newer.
    Added,
    /// Only in the older.
    Deleted,
    /// Other content.
    Modified,
    /// Another kind.
    TypeChanged,
    /// Only another mode.
    ModeChanged,
    /// Uncaptured on one side.
    Uncaptured,
}

impl Letter {
    /// The letter itself.
    #[must_use]
    pub fn as_char(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Deleted => 'D',
            Self::Modified => 'M',
            Self::TypeChanged => 'T',
            Self::ModeChanged => 'm',
            Self::Uncaptured => 'U',
        }
    }
}

/// What one side has at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At<'a> {
    /// Nothing.
    Nothing,
    /// This.
    Entry(&'a Entry),
    /// Something that was not captured.
    Gap(&'a Gap),
}

impl<'a> At<'a> {
    /// The entry, where there is one.
    #[must_use]
    pub fn entry(self) -> Option<&'a Entry> {
        if let Self::Entry(entry) = self { Some(entry) } else { None }
    }
}

/// One path that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference<'a> {
    /// Where.
    pub path: &'a RelPath,
    /// How.
    pub letter: Letter,
    /// What the older side has.
    pub old: At<'a>,
    /// What the newer side has.
    pub new: At<'a>,
}

impl Difference<'_> {
    /// Whether the path is a directory of which one side knows nothing.
    #[must_use]
    pub fn hides_subtree(&self) -> bool {
        [self.old, self.new]
            .iter()
            .any(|at| matches!(at, At::Gap(gap) if gap.hides_subtree && *gap.path == *self.path))
    }

    /// The difference as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = vec![b'{'];
        json::push_key(&mut out, "letter");
        json::push_string(&mut out, self.letter.as_char().encode_utf8(&mut [0; 4]));
        json::push_display_name(&mut out, "path", self.path.as_bytes());
        for (key, at) in [("old", self.old), ("new", self.new)] {
            json::push_key(&mut out, key);
            push_at(&mut out, at);
        }
        out.push(b'}');
        out
    }

    /// Whether it is, or may be, about something at or below `limit`.
    #[must_use]
    pub fn concerns(&self, limit: &RelPath) -> bool {
        self.path.is_within(limit) || (self.hides_subtree() && limit.is_within(self.path))
    }
}

/// Compares two sides; the result is sorted by path bytes.
#[must_use]
pub fn differences<'a>(old: &Side<'a>, new: &Side<'a>) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    let (mut olds, mut news) = (old.manifest.entries.iter().peekable(), new.manifest.entries.iter().peekable());
    loop {
        let order = match (olds.peek(), news.peek()) {
            (None, None) => break,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(a), Some(b)) => a.path.cmp(&b.path),
        };
        let a = if order.is_le() { olds.next() } else { None };
        let b = if order.is_ge() { news.next() } else { None };
        match (a, b) {
            (Some(a), Some(b)) => found.extend(letter(a, b).map(|letter| Difference {
                path: &a.path,
                letter,
                old: At::Entry(a),
                new: At::Entry(b),
            })),
            (Some(a), None) => {
                found.extend(one_sided(a, new).map(|(letter, at)| Difference {
                    path: &a.path,
                    letter: letter.unwrap_or(Letter::Deleted),
                    old: At::Entry(a),
                    new: at,
                }));
            }
            (None, Some(b)) => {
                found.extend(one_sided(b, old).map(|(letter, at)| Difference {
                    path: &b.path,
                    letter: letter.unwrap_or(Letter::Added),
                    old: at,
                    new: At::Entry(b),
                }));
            }
            (None, None) => {}
        }
    }
    let uncaptured = |path, old, new| Difference { path, letter: Letter::Uncaptured, old, new };
    found.extend(lone_gaps(old, new).map(|gap| uncaptured(&gap.path, At::Gap(gap), At::Nothing)));
    found.extend(lone_gaps(new, old).map(|gap| uncaptured(&gap.path, At::Nothing, At::Gap(gap))));
    found.sort_by(|a, b| a.path.cmp(b.path));
    found
}

fn push_at(out: &mut Vec<u8>, at: At<'_>) {
    let entry = match at {
        At::Nothing => return out.extend_from_slice(b"null"),
        At::Gap(gap) => {
            out.push(b'{');
            json::push_key(out, "gap");
            json::push_string(out, gap.reason.as_str());
            out.push(b'}');
            return;
        }
        At::Entry(entry) => entry,
    };
    out.push(b'{');
    json::push_key(out, "kind");
    json::push_string(
        out,
        match entry.node {
            Node::File { .. } => "file",
            Node::Link { .. } => "link",
            Node::Dir => "dir",
        },
    );
    json::push_key(out, "mode");
    json::push_string(out, &format!("{:04o}", entry.mode));
    match &entry.node {
        Node::File { hash, size } => {
            json::push_key(out, "hash");
            json::push_string(out, &hash.to_string());
            json::push_key(out, "size");
            json::push_number(out, size);
        }
        Node::Link { target } => json::push_display_name(out, "target", target),
        Node::Dir => {}
    }
    out.push(b'}');
}

/// How an entry differs from another one of its path.
fn letter(a: &Entry, b: &Entry) -> Option<Letter> {
    if a.node.kind() != b.node.kind() {
        return Some(Letter::TypeChanged);
    }
    let is_same = match (&a.node, &b.node) {
        (Node::File { hash: a, .. }, Node::File { hash: b, .. }) => a == b,
        (a, b) => a == b,
    };
    if !is_same {
        return Some(Letter::Modified);
    }
    // The mode of a link means nothing and cannot be set.
    (a.mode != b.mode && a.node.kind() != EntryKind::Link).then_some(Letter::ModeChanged)
}

/// What to say of an entry that the other side does not have: `None` when that side cannot know, or has it in another
/// form; a letter where it is not simply gone.
fn one_sided<'a>(entry: &Entry, other: &Side<'a>) -> Option<(Option<Letter>, At<'a>)> {
    if let Some(gap) = other.manifest.gap_over(&entry.path) {
        return Some((Some(Letter::Uncaptured), At::Gap(gap)));
    }
    if entry.node == Node::Dir && other.manifest.has_below(&entry.path) {
        return None;
    }
    other.covers.covers(&entry.path, entry.node.kind()).then_some((None, At::Nothing))
}

/// The gaps of a side where the other one has nothing, and would have named it.
fn lone_gaps<'a>(side: &Side<'a>, other: &Side<'_>) -> impl Iterator<Item = &'a Gap> {
    side.manifest.gaps.iter().filter(|gap| {
        let kind = match (&gap.reason, gap.hides_subtree) {
            (_, true) => EntryKind::Dir,
            (GapReason::Special, _) => EntryKind::Special,
            _ => EntryKind::File,
        };
        other.manifest.entry(&gap.path).is_none()
            && other.manifest.gap_over(&gap.path).is_none()
            && !(gap.hides_subtree && other.manifest.has_below(&gap.path))
            && other.covers.covers(&gap.path, kind)
    })
}

impl Manifest {
    /// Whether it names anything below a path.
    #[must_use]
    pub fn has_below(&self, path: &RelPath) -> bool {
        let mut dir = path.as_bytes().to_vec();
        dir.push(b'/');
        let is_before = |candidate: &RelPath| candidate.as_bytes() < dir.as_slice();
        let entry = self.entries.get(self.entries.partition_point(|entry| is_before(&entry.path)));
        let gap = self.gaps.get(self.gaps.partition_point(|gap| is_before(&gap.path)));
        let found = [entry.map(|entry| &entry.path), gap.map(|gap| &gap.path)];
        found.into_iter().flatten().any(|found| found.as_bytes().starts_with(&dir))
    }
}
