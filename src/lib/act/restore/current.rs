//! [`Current`]: the workspace as a restore finds it, as far as it is not as the target records it: every other included path
//! with its content known or known to be unknown.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::history::manifest::{Entry, Manifest, Node};
use crate::store::hash;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::{Content, EntryKind, Record};
use crate::tree::beneath;
use crate::tree::root::Workspace;
use crate::tree::rules::{self, Rules};
use crate::tree::scan;
use crate::tree::stat::FileStat;

/// What a path is now.
#[derive(Debug)]
pub(super) enum Now<'a> {
    /// Nothing is there.
    Absent,
    /// Nothing is there, because a directory above it is missing: the topmost of those.
    Missing(Rc<RelPathBuf>),
    /// The walk found it.
    Known(&'a Record),
    /// A directory with something in it.
    Dir,
    /// A file, link or special file above it, that the walk found.
    Beneath(&'a Record),
    /// The walk found it under another name: the file system folds case.
    Alias(Cow<'a, Record>),
    /// Something that the rules leave out, or that came since.
    Other,
}

/// Where a path is looked up that has no record.
pub(super) struct Place<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) target: &'a Manifest,
}

/// The workspace as it is.
pub(super) struct Current {
    /// The rules as they were before anything is changed.
    pub(super) rules: Rules,
    /// For each of the target's entries, whether it is there as it is recorded.
    is_there: Vec<bool>,
    /// Every other path they include, sorted.
    pub(super) records: Vec<Record>,
    /// Every path they leave out, without what lies below.
    pub(super) ignored: Vec<RelPathBuf>,
    /// Places of records by inode, for file systems that fold case; made when it is asked for.
    by_inode: OnceCell<HashMap<u64, usize>>,
    /// Entries that are there as they are recorded, by their folded names, for the same; the numbers are the target's.
    by_fold: OnceCell<HashMap<String, Vec<usize>>>,
    /// The missing directory that was met last. Whoever asks in the order of paths asks for all that lies below it in a row.
    missing: RefCell<Option<Rc<RelPathBuf>>>,
    pub(super) warnings: Vec<String>,
}

impl Current {
    /// Takes what a look found. `records` and `ignored` are sorted.
    pub(super) fn new(
        rules: Rules,
        records: Vec<Record>,
        is_there: Vec<bool>,
        ignored: Vec<RelPathBuf>,
        warnings: Vec<String>,
    ) -> Self {
        Self {
            rules,
            records,
            is_there,
            ignored,
            by_inode: OnceCell::new(),
            by_fold: OnceCell::new(),
            missing: RefCell::default(),
            warnings,
        }
    }

    /// Whether an entry of the target is there as it is recorded.
    pub(super) fn is_there(&self, number: usize) -> bool {
        self.is_there.get(number) == Some(&true)
    }

    /// The target's entries that are there as they are recorded.
    pub(super) fn entries_there<'t>(&self, target: &'t Manifest) -> impl Iterator<Item = &'t Entry> {
        target.entries.iter().zip(&self.is_there).filter(|(_, is_there)| **is_there).map(|(entry, _)| entry)
    }

    /// What the walk found at a path, if that is not as the target records it.
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

    /// What a path leads to that is the name of another entry, and that is as it is recorded, where the file system folds
    /// case. `inode` is what the path leads to.
    fn entry_of_inode(&self, place: &Place<'_>, path: &RelPath, inode: u64) -> Option<Record> {
        let by_fold = self.by_fold.get_or_init(|| {
            let mut by_fold: HashMap<String, Vec<usize>> = HashMap::new();
            for (number, entry) in
                place.target.entries.iter().enumerate().filter(|(number, _)| self.is_there(*number))
            {
                by_fold.entry(folded(&entry.path)).or_default().push(number);
            }
            by_fold
        });
        by_fold.get(&folded(path))?.iter().find_map(|number| {
            let entry = place.target.entries.get(*number)?;
            let stat = examine(place.workspace, &entry.path).ok().filter(|stat| stat.inode == inode)?;
            let content = match &entry.node {
                Node::File { hash, .. } => Content::Object(*hash),
                Node::Link { target } => Content::Object(hash::of_bytes(target)),
                Node::Dir => Content::Unknown,
            };
            Some(Record { content, ..scan::record_of(&entry.path, &stat) })
        })
    }

    /// Everything that the walk found below a directory that is not as the target records it.
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
    pub(super) fn at_unrecorded<'a>(&'a self, place: &Place<'_>, path: &RelPath) -> Result<Now<'a>> {
        let workspace = place.workspace;
        let mut below = None;
        for ancestor in path.ancestors() {
            if let Some(record) = self.record(ancestor) {
                let is_empty_dir = record.kind == EntryKind::Dir && !record.hides_subtree();
                return Ok(match below {
                    _ if !is_empty_dir => Now::Beneath(record),
                    Some(dir) => Now::Missing(Rc::new(RelPath::to_owned(dir))),
                    None => Now::Absent,
                });
            }
            below = Some(ancestor);
        }
        let known = self.missing.borrow().clone();
        if let Some(dir) = known.filter(|dir| path.parent().is_some_and(|parent| parent.is_within(dir))) {
            return Ok(Now::Missing(dir));
        }
        let dir = beneath::open_dir(workspace.fd(), path.parent());
        if let (Err(error), Some(parent)) = (&dir, path.parent())
            && error.kind() == io::ErrorKind::NotFound
        {
            let dir = Rc::new(topmost_missing(workspace, parent).to_owned());
            *self.missing.borrow_mut() = Some(Rc::clone(&dir));
            return Ok(Now::Missing(dir));
        }
        match dir.and_then(|dir| examine_in(&dir, path)) {
            Ok(stat) if stat.kind == EntryKind::Dir => Ok(Now::Dir),
            Ok(stat) if self.is_ignored(path, stat.kind) => Ok(Now::Other),
            Ok(stat) => Ok(match self.record_of_inode(stat.inode) {
                Some(record) if folds_to(path, &record.path) => Now::Alias(Cow::Borrowed(record)),
                _ => self
                    .entry_of_inode(place, path, stat.inode)
                    .map_or(Now::Other, |record| Now::Alias(Cow::Owned(record))),
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
    folded(a) == folded(b)
}

/// What is the same for paths that are one on a disk that folds case.
pub(super) fn folded(path: &RelPath) -> String {
    String::from_utf8_lossy(path.as_bytes()).to_lowercase()
}

/// The topmost directory that is not there: a missing one, or one above it. What comes to be there later is met when the
/// directory is to get its place: nothing is ever put over anything then.
fn topmost_missing<'p>(workspace: &Workspace, missing: &'p RelPath) -> &'p RelPath {
    let is_missing = |dir: &&RelPath| {
        let opened = beneath::open_dir(workspace.fd(), Some(dir));
        opened.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    missing.ancestors().take_while(is_missing).last().unwrap_or(missing)
}

/// Stats a path without following a link anywhere in it.
pub(super) fn examine(workspace: &Workspace, path: &RelPath) -> io::Result<FileStat> {
    examine_in(&beneath::open_dir(workspace.fd(), path.parent())?, path)
}

/// Whether nothing is at a path, and nothing stands in its way.
pub(super) fn is_absent(workspace: &Workspace, path: &RelPath) -> bool {
    examine(workspace, path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn examine_in(dir: &OwnedFd, path: &RelPath) -> io::Result<FileStat> {
    Ok(rustix::fs::statat(dir, path.file_name(), AtFlags::SYMLINK_NOFOLLOW)?.into())
}
