//! [`Current`]: the workspace as a restore finds it, every included path with its content known or known to be unknown.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::Request;
use crate::act::known;
use crate::error::{Error, Result};
use crate::history::History;
use crate::history::manifest::{Manifest, Node};
use crate::history::rows::Row;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::{Content, EntryKind, GapReason, Record};
use crate::tree::beneath;
use crate::tree::listing::Found;
use crate::tree::root::Workspace;
use crate::tree::rules::{self, Rules};
use crate::tree::scan::{self, Limits, Scan};
use crate::tree::stat::FileStat;

/// What a path is now.
#[derive(Debug)]
pub(super) enum Now<'a> {
    /// Nothing is there.
    Absent,
    /// The walk found it.
    Known(&'a Record),
    /// A directory with something in it.
    Dir,
    /// A file, link or special file above it, that the walk found.
    Beneath(&'a Record),
    /// The walk found it under another name: the file system folds case.
    Alias(&'a Record),
    /// Something that the rules leave out, or that came since.
    Other,
}

/// The workspace as it is.
pub(super) struct Current {
    /// The rules as they were before anything is changed.
    pub(super) rules: Rules,
    /// Every path they include, sorted.
    pub(super) records: Vec<Record>,
    /// Every path they leave out, without what lies below.
    pub(super) ignored: Vec<RelPathBuf>,
    /// Places of records by inode, for file systems that fold case; made when it is asked for.
    by_inode: OnceCell<HashMap<u64, usize>>,
    pub(super) warnings: Vec<String>,
}

impl Current {
    /// Walks once and hashes what the rows of the stat cache do not tell, as far as the request reaches. `rows` is asked
    /// when the walk is done.
    pub(super) fn look<'r>(
        workspace: &Workspace,
        history: &History,
        rows: impl FnOnce() -> Vec<Row<'r>>,
        target: &Manifest,
        request: &Request,
    ) -> Result<Self> {
        let limits = Limits { files_max: u64::MAX, cap_bytes: u64::MAX };
        let Scan { outset, tree } = Scan::take(workspace, &history.store_identities()?, limits, None)?;
        let in_scope = |path: &RelPath| request.scope.as_ref().is_none_or(|scope| scope.concerns(path));
        let (mut records, mut ignored) = (Vec::new(), Vec::new());
        tree.visit(|path, found| match found {
            Found::Ignored(_) => ignored.push(path.to_owned()),
            Found::Entry(entry) => {
                let mut record = scan::record(path, entry);
                if record.kind == EntryKind::File && is_surely_uncaptured(&record, target, request.cap_bytes) {
                    record.content = Content::Gap(GapReason::Oversized);
                }
                records.push(record);
            }
        });
        drop(tree);
        let records = known::fill(workspace, &rows(), u64::MAX, records, in_scope)?;
        let warnings = outset.warnings.iter().map(ToString::to_string).collect();
        Ok(Self { rules: outset.rules, records, ignored, by_inode: OnceCell::new(), warnings })
    }

    /// What the walk found at a path.
    pub(super) fn record(&self, path: &RelPath) -> Option<&Record> {
        let place = self.records.binary_search_by(|record| (*record.path).cmp(path)).ok()?;
        self.records.get(place)
    }

    /// What the walk found under another name of an inode.
    fn record_of_inode(&self, inode: u64) -> Option<&Record> {
        let by_inode = self.by_inode.get_or_init(|| {
            self.records.iter().enumerate().filter_map(|(place, record)| Some((record.inode?, place))).collect()
        });
        self.records.get(*by_inode.get(&inode)?)
    }

    /// Everything that the walk found below a directory.
    pub(super) fn below<'a>(&'a self, dir: &RelPath) -> impl Iterator<Item = &'a Record> + use<'a> {
        let mut from = dir.as_bytes().to_vec();
        from.push(b'/');
        let mut to = dir.as_bytes().to_vec();
        // The byte after the slash: no path below the directory reaches it.
        to.push(b'/' + 1);
        let place = |bound: &[u8]| self.records.partition_point(|record| record.path.as_bytes() < bound);
        self.records.get(place(&from)..place(&to)).unwrap_or_default().iter()
    }

    /// Whether the rules leave out a directory, or something in it, so that it cannot be taken away whole.
    pub(super) fn hides_something_in(&self, dir: &RelPath) -> bool {
        if self.lies_in_ignored(dir) {
            return true;
        }
        let first = self.ignored.partition_point(|path| **path < *dir);
        // Paths below `dir` need not follow it directly (`a`, `a.b`, `a/c`).
        self.ignored
            .get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(|path| path.as_bytes().starts_with(dir.as_bytes()))
            .any(|path| path.is_within(dir))
    }

    /// Whether the rules leave the path out.
    pub(super) fn is_ignored(&self, path: &RelPath, kind: EntryKind) -> bool {
        let kind = if kind == EntryKind::Dir { rules::EntryKind::Dir } else { rules::EntryKind::NotDir };
        !self.rules.verdict(path, kind).is_included()
    }

    /// Whether a directory above the path is left out whole. Where the rules include the path all the same, that
    /// directory is the store.
    pub(super) fn lies_in_ignored(&self, path: &RelPath) -> bool {
        path.ancestors().any(|dir| self.ignored.binary_search_by(|ignored| (**ignored).cmp(dir)).is_ok())
    }

    /// Whether no request may ever touch the path: `.git`, `.iterion`, our own temporary names, and the store.
    pub(super) fn is_out_of_bounds(&self, path: &RelPath, kind: EntryKind) -> bool {
        if !self.is_ignored(path, kind) {
            return self.lies_in_ignored(path);
        }
        let kind = if kind == EntryKind::Dir { rules::EntryKind::Dir } else { rules::EntryKind::NotDir };
        self.rules.verdict(path, kind).hard_reason().is_some()
    }

    /// What is at a path now that has no record of its own.
    pub(super) fn at_unrecorded<'a>(&'a self, workspace: &Workspace, path: &RelPath) -> Result<Now<'a>> {
        for ancestor in path.ancestors() {
            if let Some(record) = self.record(ancestor) {
                let is_empty_dir = record.kind == EntryKind::Dir && !record.hides_subtree();
                return Ok(if is_empty_dir { Now::Absent } else { Now::Beneath(record) });
            }
        }
        match examine(workspace, path) {
            Ok(stat) if stat.kind == EntryKind::Dir => Ok(Now::Dir),
            Ok(stat) => Ok(match self.record_of_inode(stat.inode) {
                Some(record) if folds_to(path, &record.path) && !self.is_ignored(path, stat.kind) => {
                    Now::Alias(record)
                }
                _ => Now::Other,
            }),
            Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::NOENT) => Ok(Now::Absent),
                Some(Errno::NOTDIR | Errno::LOOP | Errno::ACCESS | Errno::PERM) => Ok(Now::Other),
                _ => Err(Error::io("cannot examine", workspace.path().join(path.as_path()), &error)),
            },
        }
    }
}

/// Whether two paths are one on a disk that folds case.
pub(super) fn folds_to(a: &RelPath, b: &RelPath) -> bool {
    let folded = |path: &RelPath| String::from_utf8_lossy(path.as_bytes()).to_lowercase();
    folded(a) == folded(b)
}

/// Stats a path without following a link anywhere in it.
pub(super) fn examine(workspace: &Workspace, path: &RelPath) -> io::Result<FileStat> {
    let dir = beneath::open_dir(workspace.fd(), path.parent())?;
    Ok(rustix::fs::statat(dir.as_fd(), path.file_name(), AtFlags::SYMLINK_NOFOLLOW)?.into())
}

/// Whether a big file is not worth hashing: above the cap, and not what the target holds.
fn is_surely_uncaptured(record: &Record, target: &Manifest, cap_bytes: u64) -> bool {
    let size = record.size.unwrap_or(0);
    size > cap_bytes
        && !matches!(target.entry(&record.path).map(|entry| &entry.node),
            Some(Node::File { size: recorded, .. }) if *recorded == size)
}
