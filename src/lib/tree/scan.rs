//! [`Scan`]: the rules as they are now and everything that they include, taken at one moment.
//!
//! Rules are read once, before anything is walked; whatever changes them later, this scan keeps its own.

use std::path::Path;

use super::listing::{Entry, Tree};
use super::root::Workspace;
use super::rules::{self, Rules, RulesFile, Warning};
use super::seen::Seen;
use super::stat::FileStat;
use super::walk::{Walk, Wanted};
use crate::clock;
use crate::error::Result;
use crate::store::relpath::RelPath;
use crate::store::{Document, hash, read_document};
use crate::stream::Framing;
use crate::stream::record::{Content, ContentRef, EntryKind, Line, Record};
use crate::stream::wire::{Header, RulesMark};

/// More captured files than this are an error unless the caller says otherwise (facts 2.2).
pub const FILES_MAX: u64 = 50_000;
/// Larger files are gaps unless the caller says otherwise (facts 2.2), bytes.
pub const CAP_BYTES: u64 = 32 * 1024 * 1024;

/// How much a walk takes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// More captured files than this are an error.
    pub files_max: u64,
    /// Files above this many bytes are gaps.
    pub cap_bytes: u64,
}

/// What is settled before a walk begins: when, under which rules, within which limits.
pub struct Outset {
    /// The rules file that is in force.
    pub rules_file: RulesFile,
    /// The rules.
    pub rules: Rules,
    /// What is wrong with them.
    pub warnings: Vec<Warning>,
    /// When the walk began, ns since the epoch.
    pub start_ns: u64,
    /// How much it takes.
    pub limits: Limits,
}

impl Outset {
    /// Reads the rules, as they are now.
    ///
    /// # Errors
    /// As [`RulesFile::read`].
    pub fn read(workspace: &Workspace, limits: Limits) -> Result<Self> {
        let start_ns = clock::now_ns();
        let (rules_file, mut warnings) = RulesFile::read(workspace.fd(), workspace.path())?;
        let (rules, bad_lines) = Rules::parse(&rules_file);
        warnings.extend(bad_lines);
        Ok(Self { rules_file, rules, warnings, start_ns, limits })
    }

    /// The walk. `store` is device and inode of the store's directories, which are left out wherever they lie.
    #[must_use]
    pub fn walk<'a>(
        &'a self,
        workspace: &'a Workspace,
        store: &'a [(u64, u64)],
        progress: Option<&'a (dyn Fn(u64) + Sync)>,
    ) -> Walk<'a> {
        let Limits { files_max, cap_bytes } = self.limits;
        Walk {
            workspace,
            rules: &self.rules,
            store,
            cap_bytes,
            files_max,
            seen: None,
            wanted: Wanted::All,
            progress,
        }
    }

    /// What a document remembers of the directories of the workspace, for a walk under these rules.
    #[must_use]
    pub fn seen(&self, document: Option<Document>) -> Seen {
        Seen::new(document, rules::identity(&self.rules_file), self.start_ns)
    }

    /// What a file remembers of them, for a walk of which nothing is written down; `None` where that is of no use.
    #[must_use]
    pub fn seen_before(&self, path: &Path) -> Option<Seen> {
        Seen::to_read(read_document(path).ok()?, rules::identity(&self.rules_file))
    }

    /// The header of the record stream of this walk; the caller adds the run's head.
    #[must_use]
    pub fn header(&self, workspace: &Workspace) -> Header {
        Header {
            root: Some(workspace.path().to_owned()),
            rules: Some(RulesMark {
                source: self.rules_file.source.name().to_owned(),
                id: hash::of_bytes(&self.rules_file.text),
            }),
            cap_bytes: Some(self.limits.cap_bytes),
            start_ns: Some(self.start_ns),
            head: None,
            unknown: Vec::new(),
        }
    }
}

/// A workspace as it was at one moment.
pub struct Scan {
    /// Under what it was walked.
    pub outset: Outset,
    /// What the rules include.
    pub tree: Tree,
}

impl Scan {
    /// Reads the rules and walks, as [`Outset::read`] and [`Outset::walk`] say.
    ///
    /// # Errors
    /// As [`RulesFile::read`] and [`Walk::run`].
    pub fn take(
        workspace: &Workspace,
        store: &[(u64, u64)],
        limits: Limits,
        progress: Option<&(dyn Fn(u64) + Sync)>,
    ) -> Result<Self> {
        let outset = Outset::read(workspace, limits)?;
        let tree = outset.walk(workspace, store, progress).run()?;
        Ok(Self { outset, tree })
    }

    /// As [`Outset::header`].
    #[must_use]
    pub fn header(&self, workspace: &Workspace) -> Header {
        self.outset.header(workspace)
    }
}

impl std::ops::Deref for Scan {
    type Target = Outset;
    fn deref(&self) -> &Outset {
        &self.outset
    }
}

/// Writes the line of a path that was found, as [`record`] and [`Record::write`] would.
pub fn write_record(out: &mut Vec<u8>, framing: Framing, path: &RelPath, entry: &Entry) {
    let (size, mtime_ns, ctime_ns, inode) = known(&entry.stat);
    let content = match &entry.gap {
        Some(reason) => ContentRef::Gap(reason),
        None => ContentRef::Unknown,
    };
    let (kind, mode) = (entry.stat.kind, entry.stat.mode);
    Line { kind, mode, content, size, mtime_ns, ctime_ns, inode, path }.write(out, framing);
}

/// The record of a path that was found.
#[must_use]
pub fn record(path: &RelPath, entry: &Entry) -> Record {
    let content = entry.gap.clone().map_or(Content::Unknown, Content::Gap);
    Record { content, ..record_of(path, &entry.stat) }
}

/// The record of a path of which only the stat is known.
#[must_use]
pub fn record_of(path: &RelPath, stat: &FileStat) -> Record {
    let (size, mtime_ns, ctime_ns, inode) = known(stat);
    Record {
        kind: stat.kind,
        mode: stat.mode,
        content: Content::Unknown,
        size,
        mtime_ns,
        ctime_ns,
        inode,
        path: path.to_owned(),
    }
}

/// Size, mtime, ctime and inode, as far as they are known and mean something.
pub(crate) fn known(stat: &FileStat) -> (Option<u64>, Option<i64>, Option<i64>, Option<u64>) {
    let is_known = stat.inode != 0;
    (
        matches!(stat.kind, EntryKind::File | EntryKind::Link).then_some(stat.size),
        // Both or neither: a row of the stat cache needs both.
        stat.mtime_ns.filter(|_| is_known && stat.ctime_ns.is_some()),
        stat.ctime_ns.filter(|_| is_known),
        Some(stat.inode).filter(|_| is_known),
    )
}
