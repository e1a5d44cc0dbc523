//! [`Witness`]: does the store hold a copy of these bytes, under a name that a person can find again?
//!
//! A copy counts only if the object is in the pool and a manifest or a pin of this run names it: an object that nothing
//! names is swept some day. Head and target are asked first, then every other manifest, newest first.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::copies::Copies;
use super::plan::{Plan, Reason};
use super::report::Forced;
use crate::act::intake::{Intake, Sink};
use crate::act::prune::mark::IdSet;
use crate::clock;
use crate::error::{Error, Kind, Result};
use crate::history::History;
use crate::history::index::Index;
use crate::history::manifest::Manifest;
use crate::store::fsio::document::Published;
use crate::store::id::{ObjectId, SnapshotId};
use crate::store::layout;
use crate::store::pool::{Pool, PoolWriter};
use crate::stream::quote;
use crate::stream::record::{Content, EntryKind, GapReason, Record};
use crate::tree::root::Workspace;

/// What the store has copies of.
pub(super) struct Witness<'a> {
    history: &'a History,
    /// The objects themselves; `None` for a witness that is only asked for names.
    copies: Option<&'a Copies<'a>>,
    /// The manifests that were asked, as they were right before.
    asked: Vec<(PathBuf, Option<Fingerprint>)>,
    target: Option<&'a Manifest>,
    is_target_asked: bool,
    /// The contents that somebody will ask for; `None` is all of them.
    wanted: Option<IdSet>,
    /// Those of them that were found.
    named: IdSet,
    /// All other manifests, the newest last.
    others: Vec<SnapshotId>,
    /// Manifests not read yet, the newest last.
    unread: Vec<SnapshotId>,
    pins_unread: bool,
}

impl<'a> Witness<'a> {
    /// `wanted` are contents that will be asked for. Others may be, but then all that was read is read again.
    pub(super) fn new(
        history: &'a History,
        copies: &'a Copies<'a>,
        index: &Index,
        target: &'a Manifest,
        wanted: IdSet,
    ) -> Result<Self> {
        let mut others = history.snapshot_ids()?;
        if let Some(head) = &index.head
            && let Some(place) = others.iter().position(|id| id == head)
        {
            // Head is asked first: it is the bank of whoever banked before restoring.
            let head = others.remove(place);
            others.push(head);
        }
        // Its own manifest was read for the plan already.
        others.retain(|id| *id != target.id);
        let asked = vec![state_of(history, &target.id)];
        let copies = Some(copies);
        Ok(Self { copies, asked, target: Some(target), wanted: Some(wanted), ..Self::of(history, others) })
    }

    /// Asks every manifest of the run, with no target to begin with.
    pub(super) fn of_history(history: &'a History) -> Result<Self> {
        Ok(Self::of(history, history.snapshot_ids()?))
    }

    fn of(history: &'a History, others: Vec<SnapshotId>) -> Self {
        Self {
            history,
            copies: None,
            asked: Vec::new(),
            target: None,
            is_target_asked: false,
            wanted: None,
            named: IdSet::default(),
            unread: others.clone(),
            others,
            pins_unread: true,
        }
    }

    /// Whether every manifest that was asked is still there, the same file: what they named, the run names still.
    pub(super) fn holds_still(&self) -> bool {
        self.asked.iter().all(|(path, state)| state.is_some() && fingerprint(path) == *state)
    }

    /// Whether one of the manifests that were asked names the object.
    pub(super) fn has_named(&self, id: ObjectId) -> bool {
        self.named.contains(&id)
    }

    /// Wants one more content: whatever was read was not asked for it.
    fn want(&mut self, id: ObjectId) {
        if let Some(wanted) = &mut self.wanted
            && wanted.insert(id)
        {
            (self.is_target_asked, self.pins_unread) = (false, true);
            self.unread.clone_from(&self.others);
        }
    }

    /// Whether a manifest or a pin of the run names the object.
    pub(super) fn is_named(&mut self, id: ObjectId) -> Result<bool> {
        self.want(id);
        loop {
            if self.named.contains(&id) {
                return Ok(true);
            }
            let wanted = &self.wanted;
            let is_wanted = |id: ObjectId| wanted.as_ref().is_none_or(|wanted| wanted.contains(&id));
            if !std::mem::replace(&mut self.is_target_asked, true) {
                let contents = self.target.into_iter().flat_map(Manifest::contents);
                self.named.extend(contents.map(|(content, _)| content).filter(|id| is_wanted(*id)));
            } else if let Some(next) = self.unread.pop() {
                // A manifest that cannot be read is no witness; it must not stop a restore of another one.
                let state = state_of(self.history, &next);
                if let Ok(named) = self.history.named_by(&next, &is_wanted) {
                    self.named.extend(named);
                    self.asked.push(state);
                }
            } else if std::mem::take(&mut self.pins_unread) {
                self.named.extend(self.history.pinned()?);
            } else {
                return Ok(false);
            }
        }
    }

    /// Why what is at a path must not be replaced or removed; `None` when the store has it.
    pub(super) fn objection(&mut self, now: &Record) -> Result<Option<Reason>> {
        let id = match &now.content {
            Content::Gap(GapReason::Oversized) => return Ok(Some(Reason::Oversized)),
            Content::Gap(GapReason::Special) => return Ok(Some(Reason::Special)),
            Content::Gap(GapReason::Unstable) => return Ok(Some(Reason::Changed)),
            Content::Gap(_) => return Ok(Some(Reason::Unreadable)),
            Content::Unknown if now.kind == EntryKind::Dir => return Ok(None),
            Content::Unknown => return Ok(Some(Reason::Unbanked)),
            Content::Object(id) => *id,
        };
        if !self.is_named(id)? {
            return Ok(Some(Reason::Unbanked));
        }
        // A link's target stands in the manifest itself.
        if now.kind == EntryKind::Link {
            return Ok(None);
        }
        // A name in the pool proves nothing, and what goes now is perhaps the last good copy.
        let found = self.copies.map_or(Ok(None), |copies| copies.size_of(id))?;
        Ok(if found.is_some() && found == now.size { None } else { Some(Reason::Damaged) })
    }
}

/// What tells a file from another one that takes its name: device, inode, size, modification time.
type Fingerprint = (u64, u64, u64, i64, i64);

fn fingerprint(path: &Path) -> Option<Fingerprint> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec()))
}

fn state_of(history: &History, id: &SnapshotId) -> (PathBuf, Option<Fingerprint>) {
    let path = layout::manifest(history.store().root(), history.run(), id);
    let state = fingerprint(&path);
    (path, state)
}

/// Stores bytes that have no copy under a new pin, whatever the cap and the rules (`--force`).
pub(super) fn store_doomed(
    plan: &Plan,
    workspace: &Workspace,
    history: &History,
    pool: &Pool,
) -> Result<Option<Forced>> {
    if plan.doomed.is_empty() {
        return Ok(None);
    }
    let writer = PoolWriter::new(pool);
    let mut intake = Intake::new(workspace, Sink::Store(&writer), u64::MAX);
    let mut stored = Vec::new();
    for path in &plan.doomed {
        match intake.take(path)? {
            None => {}
            Some(Record { content: Content::Object(id), size, .. }) => {
                stored.push((path.clone(), id, size.unwrap_or(0)));
            }
            Some(_) => {
                return Err(Error::refused(format!(
                    "the bytes of {} cannot be stored before they are replaced",
                    quote::name(path.as_bytes())
                ))
                .at(path.as_path())
                .hint("nothing was changed; make it readable, or leave it out of the restore"));
            }
        }
    }
    drop(intake);
    writer.commit()?;
    // An object that was there already may be damaged, and only its size was looked at.
    stored.iter().try_for_each(|(_, id, _)| pool.verify(*id).map(drop))?;
    let hashes: Vec<_> = stored.iter().map(|(_, id, size)| (*id, *size)).collect();
    let pin = pin(history, &hashes)?;
    Ok(Some(Forced { pin, stored: stored.into_iter().map(|(path, id, _)| (path, id)).collect() }))
}

/// Keeps objects alive that no manifest names.
pub(super) fn pin(history: &History, hashes: &[(ObjectId, u64)]) -> Result<SnapshotId> {
    let _lock = history.lock_for_change()?;
    for counter in 1..=u32::MAX {
        let id = SnapshotId::new(clock::now_ns(), counter);
        if history.publish_pin(&id, hashes)? == Published::New {
            return Ok(id);
        }
    }
    Err(Error::new(Kind::Io, "no free name for a pin"))
}
