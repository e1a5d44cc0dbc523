//! The look at the workspace: what is there is sifted against the target while the walk goes on.
//!
//! ```text
//! walk      each path in order, with its stat; names of unchanged directories from `.dirs-seen`   tree::walk
//! rows      the content of a file whose stat the stat cache knows                                act::known
//! target    what is as it records is only counted off; everything else is kept, to be planned for
//! ```
//!
//! Nearly all is as it should be, and nothing of that is kept: the memory of a look grows with what differs. All three
//! stand in the same order, so there is no map and no search. The target is read while other threads walk.
//!
//! What a capture saw in a directory spares listing it and nothing else: each file is looked at, a directory in which the
//! rules leave something out is listed, and whatever is displaced is examined once more right before. Were a name missing
//! in that memory, the plan would not know of what has it: that stays, for nothing is put over what the plan did not see,
//! and a directory is removed only while it is empty.

use super::Request;
use super::current::Current;
use super::planner::{is_as_recorded, is_recorded_so};
use crate::act::known::{self, Known};
use crate::error::Result;
use crate::history::History;
use crate::history::index::Index;
use crate::history::manifest::{self, Manifest, Node};
use crate::store::layout;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::{Content, EntryKind, GapReason, Record};
use crate::tree::listing::Found;
use crate::tree::root::Workspace;
use crate::tree::scan::{self, Limits, Outset};
use crate::tree::walk::Walk;

/// What is looked at, and for what.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) history: &'a History,
    pub(super) index: &'a Index,
    pub(super) request: &'a Request,
}

impl Look<'_> {
    /// Looks. `target` reads what the workspace is compared with, on this thread: the others have begun to walk by then, and
    /// what it allocates stays in the heap of this one, which grows by more than a page at a time.
    ///
    /// # Errors
    /// That of `target`; those of a walk and of reading files.
    pub(super) fn at<T: AsRef<Manifest>>(&self, mut target: impl FnMut() -> Result<T>) -> Result<(T, Current)> {
        let mut sift: Option<Result<Sift<'_, T>>> = None;
        let walked = self.walk(&mut |path, found| {
            let sift = sift.get_or_insert_with(|| Ok(Sift::new(*self, target()?)));
            if let Ok(sift) = sift {
                sift.take(path, found);
            }
        });
        let sift = sift.unwrap_or_else(|| Ok(Sift::new(*self, target()?)))?;
        sift.finish(walked?)
    }

    /// Reads the rules and walks.
    fn walk(&self, visit: &mut dyn FnMut(&RelPath, Found<'_>)) -> Result<Outset> {
        let outset = Outset::read(self.workspace, Limits { files_max: u64::MAX, cap_bytes: u64::MAX })?;
        let seen = outset.seen_before(&layout::dirs_seen(self.history.store().root(), self.history.run()));
        let store = self.history.store_identities()?;
        Walk { seen: seen.as_ref(), ..outset.walk(self.workspace, &store, None) }.flow(visit)?;
        Ok(outset)
    }

    /// Whether the request reaches a path, so that its content matters.
    fn is_asked_for(&self, path: &RelPath) -> bool {
        self.request.scope.as_ref().is_none_or(|scope| scope.concerns(path))
    }
}

/// What was found so far.
struct Sift<'a, T> {
    look: Look<'a>,
    target: T,
    known: Known<'a>,
    /// The target's entry that comes next.
    next: usize,
    /// For each of the target's entries, whether it is there as it is recorded.
    is_there: Vec<bool>,
    /// What is not, and what the target does not have.
    records: Vec<Record>,
    /// What has to be read before anybody can tell.
    unread: Vec<Record>,
    ignored: Vec<RelPathBuf>,
}

impl<'a, T: AsRef<Manifest>> Sift<'a, T> {
    fn new(look: Look<'a>, target: T) -> Self {
        let is_there = vec![false; target.as_ref().entries.len()];
        let known = Known::of(look.index);
        Self {
            look,
            target,
            known,
            next: 0,
            is_there,
            records: Vec::new(),
            unread: Vec::new(),
            ignored: Vec::new(),
        }
    }

    fn take(&mut self, path: &RelPath, found: Found<'_>) {
        let Found::Entry(found) = found else {
            self.ignored.push(path.to_owned());
            return;
        };
        let entries = &self.target.as_ref().entries;
        while entries.get(self.next).is_some_and(|entry| *entry.path < *path) {
            self.next += 1;
        }
        let entry = entries.get(self.next).filter(|entry| *entry.path == *path);
        let is_file = found.stat.kind == EntryKind::File && found.gap.is_none();
        let content = if is_file && is_surely_uncaptured(found.stat.size, entry, self.look.request.cap_bytes) {
            Content::Gap(GapReason::Oversized)
        } else if self.look.is_asked_for(path) {
            match self.known.content(path, found) {
                Some(content) => content,
                None => return self.unread.push(scan::record(path, found)),
            }
        } else {
            found.gap.clone().map_or(Content::Unknown, Content::Gap)
        };
        let is_there = entry.is_some_and(|entry| is_recorded_so(entry, found.stat.kind, found.stat.mode, &content));
        match self.is_there.get_mut(self.next) {
            Some(mark) if is_there => *mark = true,
            _ => self.records.push(Record { content, ..scan::record_of(path, &found.stat) }),
        }
    }

    /// Reads what has to be read.
    fn finish(mut self, outset: Outset) -> Result<(T, Current)> {
        let read = known::read(self.look.workspace, u64::MAX, self.unread)?;
        let is_in_order = read.is_empty();
        let entries = &self.target.as_ref().entries;
        for record in read {
            let place = entries.binary_search_by(|entry| entry.path.cmp(&record.path));
            match place.ok().and_then(|place| Some((entries.get(place)?, self.is_there.get_mut(place)?))) {
                Some((entry, mark)) if is_as_recorded(entry, &record) => *mark = true,
                _ => self.records.push(record),
            }
        }
        if !is_in_order {
            // Two sorted runs: the sort finds them and merges.
            self.records.sort_by(|a, b| a.path.cmp(&b.path));
        }
        let warnings = outset.warnings.iter().map(ToString::to_string).collect();
        let current = Current::new(outset.rules, self.records, self.is_there, self.ignored, warnings);
        Ok((self.target, current))
    }
}

/// Whether a big file is not worth hashing: above the cap, and not what the target holds.
fn is_surely_uncaptured(size: u64, entry: Option<&manifest::Entry>, cap_bytes: u64) -> bool {
    let is_of_its_size =
        |entry: &manifest::Entry| matches!(entry.node, Node::File { size: recorded, .. } if recorded == size);
    size > cap_bytes && !entry.is_some_and(is_of_its_size)
}
