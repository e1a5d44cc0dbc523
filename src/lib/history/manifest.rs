//! [`Manifest`]: one captured state, and its JSON file (facts 1.2, design section 6).
//!
//! ```text
//! {"id","parent"?,"label"?,"created_at",
//!  "entries":[{"path","hash","mode","size"}],   regular files with UTF-8 names, sorted; null when there is none
//!  "skipped":["path"],                          gaps with UTF-8 names, sorted
//!  "coverage":{"rules":{"source","oid"},"engine","cap","kinds":[...],"gaps":[{"path","reason","subtree"?}]},
//!  "workspace":"/canonical/root",
//!  "links":[{"path","target","hash","mode"}],
//!  "dirs":[{"path","mode"}],
//!  "raw":[{"path_b64","hash","mode","size"}]}
//! ```
//!
//! Up to `skipped` it is exactly what the original reads and writes; the rest are our additions, which it ignores. A
//! name that is not UTF-8 is written in base64 under `path_b64`, `target_b64` or `workspace_b64`. Manifests are never
//! changed once published. A reader rejects a manifest whole for one bad path, hash or duplicate: half a truth would
//! delete files.

mod contents;
mod cut;
mod plain;
mod read;
mod splice;
mod write;

pub use cut::{Cut, cut};
pub(crate) use plain::{Entries, Shell, fresh_entries};
pub use read::{parse, pinned_hashes};
pub(crate) use splice::Members;
pub use splice::with_parent;
pub(crate) use write::{pin_json_of, push_file};

use std::path::PathBuf;

use super::coverage::{Coverage, Gap};
use crate::store::id::{ObjectId, SnapshotId};
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::EntryKind;

/// What a path held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File {
        /// Its content.
        hash: ObjectId,
        /// Its size, bytes.
        size: u64,
    },
    /// A symbolic link.
    Link {
        /// Its target text.
        target: Vec<u8>,
    },
    /// An empty directory.
    Dir,
}

impl Node {
    /// What kind it is.
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        match self {
            Self::File { .. } => EntryKind::File,
            Self::Link { .. } => EntryKind::Link,
            Self::Dir => EntryKind::Dir,
        }
    }
}

/// One captured path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where.
    pub path: RelPathBuf,
    /// What.
    pub node: Node,
    /// Permission bits, 0 to 0o777.
    pub mode: u32,
}

/// One captured state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Its id.
    pub id: SnapshotId,
    /// The snapshot before it.
    pub parent: Option<SnapshotId>,
    /// Its own label: the one it was created under, never rewritten.
    pub label: Option<String>,
    /// When it was made, RFC 3339, as written.
    pub created_at: String,
    /// Everything captured: files, links, empty directories, sorted by path bytes.
    pub entries: Vec<Entry>,
    /// What was there and not captured, sorted by path bytes.
    pub gaps: Vec<Gap>,
    /// What it claims to know.
    pub coverage: Coverage,
    /// The canonical root that was captured, if recorded.
    pub workspace: Option<PathBuf>,
}

impl Manifest {
    /// The entry at a path.
    #[must_use]
    pub fn entry(&self, path: &RelPath) -> Option<&Entry> {
        let index = self.entries.binary_search_by(|entry| (*entry.path).cmp(path)).ok()?;
        self.entries.get(index)
    }

    /// The gap that a path falls into: its own, or a directory above it that could not be listed.
    #[must_use]
    pub fn gap_over(&self, path: &RelPath) -> Option<&Gap> {
        let find = |path: &RelPath| {
            self.gaps.binary_search_by(|gap| (*gap.path).cmp(path)).ok().and_then(|index| self.gaps.get(index))
        };
        find(path).or_else(|| path.ancestors().filter_map(find).find(|gap| gap.hides_subtree))
    }

    /// The regular files.
    pub fn files(&self) -> impl Iterator<Item = (&Entry, ObjectId, u64)> {
        self.entries.iter().filter_map(|entry| match entry.node {
            Node::File { hash, size } => Some((entry, hash, size)),
            Node::Link { .. } | Node::Dir => None,
        })
    }

    /// Every content that entries name, with its size; the same one may come more than once.
    pub fn contents(&self) -> impl Iterator<Item = (ObjectId, u64)> {
        self.entries.iter().filter_map(|entry| match &entry.node {
            Node::File { hash, size } => Some((*hash, *size)),
            Node::Link { target } => Some((crate::store::hash::of_bytes(target), target.len() as u64)),
            Node::Dir => None,
        })
    }

    /// Bytes of all regular files.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.files().map(|(_, _, size)| size).fold(0, u64::saturating_add)
    }

    /// Whether it records the same as `other`, but for id, parent, label and time (design section 6, Dedupe).
    #[must_use]
    pub fn records_the_same(&self, other: &Self) -> bool {
        self.coverage == other.coverage
            && self.workspace == other.workspace
            && self.gaps == other.gaps
            && self.entries == other.entries
    }
}
