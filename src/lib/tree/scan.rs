//! [`Scan`]: the rules as they are now and everything that they include, taken at one moment.
//!
//! Rules are read once, before anything is walked; whatever changes them later, this scan keeps its own.

use super::listing::{Entry, Tree};
use super::root::Workspace;
use super::rules::{Rules, RulesFile, Warning};
use super::stat::FileStat;
use super::walk::Walk;
use crate::clock;
use crate::error::Result;
use crate::store::hash;
use crate::store::relpath::RelPath;
use crate::stream::record::{Content, EntryKind, Record};
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

/// A workspace as it was at one moment.
pub struct Scan {
    /// The rules file that was in force.
    pub rules_file: RulesFile,
    /// The rules.
    pub rules: Rules,
    /// What was wrong with them.
    pub warnings: Vec<Warning>,
    /// What they include.
    pub tree: Tree,
    /// When the walk began, ns since the epoch.
    pub start_ns: u64,
    /// Files above this many bytes were gaps.
    pub cap_bytes: u64,
}

impl Scan {
    /// Reads the rules and walks. `store` is device and inode of the store's directories, which are left out wherever they lie.
    ///
    /// # Errors
    /// As [`RulesFile::read`] and [`Walk::run`].
    pub fn take(
        workspace: &Workspace,
        store: &[(u64, u64)],
        limits: Limits,
        progress: Option<&(dyn Fn(u64) + Sync)>,
    ) -> Result<Self> {
        let start_ns = clock::now_ns();
        let (rules_file, mut warnings) = RulesFile::read(workspace.fd(), workspace.path())?;
        let (rules, bad_lines) = Rules::parse(&rules_file);
        warnings.extend(bad_lines);
        let Limits { files_max, cap_bytes } = limits;
        let tree = Walk { workspace, rules: &rules, store, cap_bytes, files_max, progress }.run()?;
        Ok(Self { rules_file, rules, warnings, tree, start_ns, cap_bytes })
    }

    /// The header of the record stream of this scan; the caller adds the run's head.
    #[must_use]
    pub fn header(&self, workspace: &Workspace) -> Header {
        Header {
            root: Some(workspace.path().to_owned()),
            rules: Some(RulesMark {
                source: self.rules_file.source.name().to_owned(),
                id: hash::of_bytes(&self.rules_file.text),
            }),
            cap_bytes: Some(self.cap_bytes),
            start_ns: Some(self.start_ns),
            head: None,
            unknown: Vec::new(),
        }
    }
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
    let is_known = stat.inode != 0;
    Record {
        kind: stat.kind,
        mode: stat.mode,
        content: Content::Unknown,
        size: matches!(stat.kind, EntryKind::File | EntryKind::Link).then_some(stat.size),
        // Both or neither: a row of the stat cache needs both.
        mtime_ns: stat.mtime_ns.filter(|_| is_known && stat.ctime_ns.is_some()),
        ctime_ns: stat.ctime_ns.filter(|_| is_known),
        inode: Some(stat.inode).filter(|_| is_known),
        path: path.to_owned(),
    }
}
