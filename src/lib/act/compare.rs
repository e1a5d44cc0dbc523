//! [`Now`]: the workspace as it is, in the form of a snapshot that is never published, so that it can be compared with
//! one. Nothing is written: files whose stat the stat cache knows are not even read, the others only hashed.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;

use rustix::fs::AtFlags;

use super::known::{self, Known};
use crate::error::{IoContext, Result};
use crate::history::History;
use crate::history::coverage::{Coverage, Gap, Selection};
use crate::history::covers::CoverageRules;
use crate::history::diff::Side;
use crate::history::diff::patch::{Content, Files, TEXT_BYTES_MAX};
use crate::history::index::Index;
use crate::history::manifest::{Entry, Manifest, Node};
use crate::store::fsio;
use crate::store::hash;
use crate::store::id::SnapshotId;
use crate::store::layout;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::{self, EntryKind, Record};
use crate::tree::beneath;
use crate::tree::listing::Found;
use crate::tree::root::Workspace;
use crate::tree::rules::RULES_ENGINE;
use crate::tree::scan::{self, Limits, Outset};
use crate::tree::stat::FileStat;
use crate::tree::walk::{Walk, Wanted};

/// A workspace as it was when it was looked at.
pub struct Now {
    outset: Outset,
    manifest: Manifest,
}

/// What to look at.
pub struct Look<'a> {
    /// The workspace.
    pub workspace: &'a Workspace,
    /// The run whose stat cache is used.
    pub history: &'a History,
    /// Its index.
    pub index: &'a Index,
    /// Files above this many bytes are gaps, as in a capture.
    pub cap_bytes: u64,
    /// Only what is at or below one of these is hashed; empty for everything.
    pub limits: &'a [RelPathBuf],
}

impl Look<'_> {
    /// Looks. `target` is what the workspace is going to be compared with.
    ///
    /// # Errors
    /// As a walk and the reading of files.
    pub fn at(&self, target: &Manifest) -> Result<Now> {
        let outset = Outset::read(self.workspace, Limits { files_max: u64::MAX, cap_bytes: self.cap_bytes })?;
        let seen = outset.seen_before(&layout::dirs_seen(self.history.store().root(), self.history.run()));
        let store = self.history.store_identities()?;
        let walk = outset.walk(self.workspace, &store, None);
        // A workspace holds about what a snapshot of it does.
        let mut held = Held { entries: Vec::with_capacity(target.entries.len()), gaps: Vec::new() };
        let (mut known, mut unread) = (Known::of(self.index), Vec::new());
        Walk { seen: seen.as_ref(), wanted: Wanted::Kept, ..walk }.flow(&mut |path, found| {
            let Found::Entry(found) = found else { return };
            if !self.is_asked_for(path) {
                return;
            }
            match known.content(path, found) {
                Some(content) => held.take(Record { content, ..scan::record_of(path, &found.stat) }, None),
                None => unread.push(scan::record(path, found)),
            }
        })?;
        if !unread.is_empty() {
            for record in known::read(self.workspace, self.cap_bytes, unread)? {
                let link = if record.kind == EntryKind::Link { self.read_link(&record.path)? } else { None };
                held.take(record, link);
            }
            // Two sorted runs each: the sort finds them and merges.
            held.entries.sort_by(|a, b| a.path.cmp(&b.path));
            held.gaps.sort_by(|a, b| a.path.cmp(&b.path));
        }
        let Held { mut entries, gaps } = held;
        self.add_dirs_that_only_hold_ignored(target, &mut entries);
        let coverage = Coverage {
            selection: Selection::Rules {
                source: outset.rules_file.source.name().to_owned(),
                id: hash::of_bytes(&outset.rules_file.text),
            },
            engine: RULES_ENGINE.to_owned(),
            cap_bytes: Some(self.cap_bytes),
            all_kinds: true,
        };
        let manifest = Manifest {
            id: SnapshotId::new(0, 0),
            parent: None,
            label: None,
            created_at: String::new(),
            entries,
            gaps,
            coverage,
            workspace: Some(self.workspace.path().to_owned()),
        };
        Ok(Now { outset, manifest })
    }

    /// Whether a path is, or may be, at or below one of those that were named.
    fn is_asked_for(&self, path: &RelPath) -> bool {
        let mut limits = self.limits.iter();
        self.limits.is_empty() || limits.any(|limit| path.is_within(limit) || limit.is_within(path))
    }

    /// `None` when it is a link no more.
    fn read_link(&self, path: &RelPath) -> Result<Option<Vec<u8>>> {
        let target = beneath::open_dir(self.workspace.fd(), path.parent())
            .and_then(|dir| Ok(rustix::fs::readlinkat(dir, path.file_name(), Vec::new())?));
        match target {
            Ok(target) => Ok(Some(target.into_bytes())),
            Err(error) if is_gone(&error) => Ok(None),
            other => other.map(|_| None).on("cannot read the link", self.workspace.path().join(path.as_path())),
        }
    }

    /// A directory with nothing in it but what the rules leave out is no entry of a walk, and yet it is there. Where the
    /// target has it as an empty one, it has not gone.
    fn add_dirs_that_only_hold_ignored(&self, target: &Manifest, entries: &mut Vec<Entry>) {
        let mut kept = Vec::new();
        for dir in target.entries.iter().filter(|entry| entry.node == Node::Dir) {
            if entries.binary_search_by(|entry| entry.path.cmp(&dir.path)).is_ok() {
                continue;
            }
            let stat = beneath::open_dir(self.workspace.fd(), dir.path.parent()).and_then(|parent| {
                Ok(rustix::fs::statat(parent, dir.path.file_name(), AtFlags::SYMLINK_NOFOLLOW)?)
            });
            if stat.is_ok_and(|stat| FileStat::from(stat).kind == EntryKind::Dir) {
                kept.push(dir.clone());
            }
        }
        entries.extend(kept);
        entries.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// What a workspace holds.
struct Held {
    entries: Vec<Entry>,
    gaps: Vec<Gap>,
}

impl Held {
    /// Takes what is known of a path. `link` is the target of one that is a link still.
    fn take(&mut self, record: Record, link: Option<Vec<u8>>) {
        let node = match (record.kind, &record.content) {
            (_, record::Content::Gap(reason)) => {
                let (reason, hides_subtree) = (reason.clone(), record.hides_subtree());
                return self.gaps.push(Gap { path: record.path, reason, hides_subtree });
            }
            (EntryKind::Dir, _) => Some(Node::Dir),
            (EntryKind::File, record::Content::Object(hash)) => {
                Some(Node::File { hash: *hash, size: record.size.unwrap_or(0) })
            }
            (EntryKind::Link, _) => link.map(|target| Node::Link { target }),
            // Neither comes out of the hashing stage.
            (EntryKind::File | EntryKind::Special, _) => None,
        };
        self.entries.extend(node.map(|node| Entry { path: record.path, node, mode: record.mode }));
    }
}

impl Now {
    /// The workspace as one side of a comparison.
    #[must_use]
    pub fn side(&self) -> Side<'_> {
        Side { manifest: &self.manifest, covers: CoverageRules::of_workspace(&self.outset.rules) }
    }

    /// What was wrong with the rules.
    pub fn warnings(&self) -> impl Iterator<Item = &crate::tree::rules::Warning> {
        self.outset.warnings.iter()
    }
}

impl Files for Workspace {
    fn read(&self, entry: &Entry) -> Result<Content> {
        let read = || {
            let dir = beneath::open_dir(self.fd(), entry.path.parent())?;
            let fd = fsio::open_read(dir.as_fd(), entry.path.file_name())?;
            if FileStat::from(rustix::fs::fstat(&fd)?).kind != EntryKind::File {
                return Ok(Content::Gone);
            }
            let mut bytes = Vec::new();
            File::from(fd).take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            Ok(if bytes.len() as u64 > TEXT_BYTES_MAX { Content::TooLarge } else { Content::of(bytes) })
        };
        match read() {
            Err(error) if is_gone(&error) => Ok(Content::Gone),
            other => other.on("cannot read", self.path().join(entry.path.as_path())),
        }
    }
}

fn is_gone(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        error.raw_os_error().map(Errno::from_raw_os_error),
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::INVAL | Errno::ACCESS)
    )
}
