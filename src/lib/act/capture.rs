//! The last stage of a capture: a complete record stream becomes a snapshot.
//!
//! Nothing is locked while the stream is read. Then, under the history lock: is the stream still about the newest
//! state, is it the same workspace, is everything it names in the pool? Only then a manifest is published, and head
//! and labels move (design section 6, Publishing and Dedupe).

mod candidate;
mod stat_cache;

use std::path::Path;

use crate::clock;
use crate::error::{Error, Fact, Kind, Result};
use crate::history::History;
use crate::history::change::Change;
use crate::history::coverage::Selection;
use crate::history::index::{Index, RowsUpdate};
use crate::history::label;
use crate::history::manifest::{Entry, Manifest, Node};
use crate::store::engine_lock;
use crate::store::fsio::document::Published;
use crate::store::id::{Label, ObjectId, SnapshotId};
use crate::store::lock::Mode;
use crate::store::pool::Pool;
use crate::stream::quote;
use crate::stream::recordset::RecordSet;
use crate::stream::wire::{HeadMark, Header};

/// A label that the snapshot is to get.
#[derive(Debug, Clone)]
pub enum LabelWish {
    /// This one, wherever it points now.
    Set(Label),
    /// This one, which must not exist yet.
    Create(Label),
    /// The next one of a numbered family.
    Next(String),
}

/// What a capture asks for beside its records.
#[derive(Debug)]
pub struct Request {
    /// The labels; the first is the own label of a new snapshot.
    pub labels: Vec<LabelWish>,
    /// The snapshot that must be head.
    pub parent: Option<SnapshotId>,
    /// Whether an unchanged workspace may reuse head.
    pub dedupe: bool,
    /// Whether the workspace may be another one than head's.
    pub relocate: bool,
    /// Whether an unrelated engine may hold the run's lock.
    pub while_running: bool,
}

/// What came of a capture.
#[derive(Debug)]
pub struct Captured {
    /// The snapshot: a new one, or head reused.
    pub manifest: Manifest,
    /// Whether head was reused.
    pub is_reused: bool,
    /// The labels that point to it now by this capture.
    pub labels: Vec<String>,
    /// The rules file of the snapshot before, where this one was taken by another: what was ignored may be captured now.
    pub rules_were: Option<String>,
}

/// What a capture brings beside what it shares with all others: a whole set of records, or the difference from head.
pub(super) trait News {
    /// The header, and the records that have to be looked at one by one.
    fn set(&self) -> &RecordSet;
    /// Whether all is as head records it; `manifest` is made from [`News::set`].
    fn is_same(&self, manifest: &Manifest, head: &Manifest) -> bool;
    /// Passes every other file that head does not record just so to `check`.
    ///
    /// # Errors
    /// Those of `check`.
    fn new_files(&self, check: &mut dyn FnMut(&Entry, ObjectId, u64) -> Result<()>) -> Result<()>;
    /// Publishes the manifest under its id.
    ///
    /// # Errors
    /// As [`History::publish`].
    fn publish(&self, history: &History, manifest: &Manifest) -> Result<Published>;
    /// What becomes of the stat cache.
    ///
    /// # Errors
    /// [`Kind::Damaged`] where the one that is there cannot be understood.
    fn rows(&self, index: &Index) -> Result<RowsUpdate<'_>>;
}

impl News for RecordSet {
    fn set(&self) -> &RecordSet {
        self
    }

    fn is_same(&self, manifest: &Manifest, head: &Manifest) -> bool {
        manifest.records_the_same(head)
    }

    fn new_files(&self, _check: &mut dyn FnMut(&Entry, ObjectId, u64) -> Result<()>) -> Result<()> {
        Ok(())
    }

    fn publish(&self, history: &History, manifest: &Manifest) -> Result<Published> {
        history.publish(manifest)
    }

    fn rows(&self, index: &Index) -> Result<RowsUpdate<'_>> {
        Ok(stat_cache::of(self, index)?.map_or(RowsUpdate::Keep, RowsUpdate::Replace))
    }
}

/// Makes a snapshot of a complete stream.
///
/// # Errors
/// [`Kind::Conflict`] when head moved since the walk, a label to be created exists, or an engine is at work;
/// [`Kind::Refused`] for another workspace than head's; [`Kind::Damaged`] when an object it names is not in the pool.
/// Nothing has moved then.
pub fn write_snapshot(history: &History, set: &RecordSet, request: &Request) -> Result<Captured> {
    refuse_foreign_engine(history, request)?;
    let pool = Pool::create(history.store())?;
    let _history_lock = history.lock_for_change()?;
    let mut index = history.index()?;
    let head = match &index.head {
        Some(id) => Some(history.manifest(id)?),
        None => None,
    };
    conclude(history, &pool, &mut index, head.as_ref(), set, request)
}

/// Makes a snapshot. The caller holds the history lock, and read index and head under it.
///
/// # Errors
/// As [`write_snapshot`].
pub(super) fn conclude(
    history: &History,
    pool: &Pool,
    index: &mut Index,
    head: Option<&Manifest>,
    news: &dyn News,
    request: &Request,
) -> Result<Captured> {
    if let Some(parent) = &request.parent
        && index.head.as_ref() != Some(parent)
    {
        return Err(Error::conflict(format!(
            "snapshot '{parent}' is not the newest one of run '{}'",
            history.run()
        ))
        .hint("capture again from the state you mean"));
    }
    let labels = wanted_labels(index, &request.labels)?;
    let mut manifest = candidate::of(pool, news.set(), head, labels.first().cloned())?;
    refuse_other_root(head, manifest.workspace.as_deref(), request.relocate)?;
    let same = head.filter(|head| news.is_same(&manifest, head));
    refuse_stale(&news.set().header, index, same.is_some())?;

    let source_of = |manifest: &Manifest| match &manifest.coverage.selection {
        Selection::Rules { source, .. } => Some(source.clone()),
        Selection::Listed | Selection::Original => None,
    };
    let rules_were = head
        .and_then(source_of)
        .filter(|source| source != "none" && source_of(&manifest).is_some_and(|now| now != *source));
    let is_reused = match same {
        Some(head) if may_reuse(head, request, &labels) => {
            manifest = head.clone();
            true
        }
        _ => {
            publish(history, pool, &mut manifest, head, news)?;
            false
        }
    };
    let change = Change {
        head: Some(manifest.id.clone()),
        labels: labels.iter().map(|label| (label.clone(), Some(manifest.id.clone()))).collect(),
        overflowed: Some(false),
        rows: news.rows(index)?,
    };
    history.apply(index, change)?;
    Ok(Captured { manifest, is_reused, labels, rules_were })
}

/// Notes that a capture failed because the workspace holds too many files: rewinds must know that snapshots stopped.
///
/// # Errors
/// [`Kind::Io`], [`Kind::Conflict`].
pub fn set_overflow_latch(history: &History) -> Result<()> {
    let _lock = history.lock_for_change()?;
    let mut index = history.index()?;
    history.apply(&mut index, Change { overflowed: Some(true), ..Change::default() })
}

pub(super) fn refuse_foreign_engine(history: &History, request: &Request) -> Result<()> {
    engine_lock::refuse_foreign_engine(history.store(), history.run(), request.while_running)
}

/// Whether a capture that records what head records may be head: a boundary never ends up on a bank.
fn may_reuse(head: &Manifest, request: &Request, labels: &[String]) -> bool {
    let is_boundary = labels.iter().any(|label| label::is_boundary(label));
    request.dedupe && (!is_boundary || head.label.as_deref().is_some_and(label::is_boundary))
}

fn wanted_labels(index: &Index, wishes: &[LabelWish]) -> Result<Vec<String>> {
    let mut labels = Vec::new();
    for wish in wishes {
        let label = match wish {
            LabelWish::Set(label) => label.to_string(),
            LabelWish::Create(label) => {
                if let Some(id) = index.labels.get(label.as_str()) {
                    return Err(Error::conflict(format!(
                        "label {} exists and points to {}",
                        quote::name(label.as_str().as_bytes()),
                        quote::name(id.as_bytes())
                    ))
                    .hint("choose another label, or name this one without --label-create to move it"));
                }
                label.to_string()
            }
            LabelWish::Next(prefix) => Label::named(&label::next(index, prefix))?.to_string(),
        };
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    Ok(labels)
}

fn refuse_other_root(head: Option<&Manifest>, root: Option<&Path>, relocate: bool) -> Result<()> {
    let (Some(recorded), Some(root)) = (head.and_then(|head| head.workspace.as_deref()), root) else {
        return Ok(());
    };
    let same = recorded == root
        || match (rustix::fs::stat(recorded), rustix::fs::stat(root)) {
            (Ok(a), Ok(b)) => (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino),
            _ => false,
        };
    if same || relocate {
        return Ok(());
    }
    Err(Error::refused(format!(
        "this run's snapshots are of workspace {}, not of {}",
        quote::path(recorded),
        quote::path(root)
    ))
    .at(root)
    .hint("use another run, or --relocate if the workspace has moved"))
}

/// The fact of an error that another attempt may not meet.
pub const LOST_RACE: &str = "lost_race";

/// A stream whose walk began before head became what it is must not be published after it: it may be older.
fn refuse_stale(header: &Header, index: &Index, is_same: bool) -> Result<()> {
    let Some(mark) = &header.head else { return Ok(()) };
    let seen = match mark {
        HeadMark::None => None,
        HeadMark::At(id) => Some(id),
    };
    if seen == index.head.as_ref() || is_same {
        return Ok(());
    }
    Err(Error::conflict("another capture was published since the walk began")
        .hint("capture again")
        .with_fact(LOST_RACE, Fact::Text("stale".into())))
}

/// So few entries are checked by one thread.
const CHECKED_ALONE_MAX: usize = 256;
/// Threads that check: beyond that they only wait for each other.
const CHECK_THREADS: usize = 4;

/// Checks all entries in a few threads. Of several errors it is the first one in the order of the entries.
fn side_by_side(entries: &[Entry], check: impl Fn(&Entry) -> Result<()> + Sync) -> Result<()> {
    let threads = crate::store::process::threads(CHECK_THREADS);
    if threads == 1 || entries.len() <= CHECKED_ALONE_MAX {
        return entries.iter().try_for_each(check);
    }
    let check = &check;
    std::thread::scope(|scope| {
        let shares = entries.chunks(entries.len().div_ceil(threads));
        let threads: Vec<_> = shares.map(|share| scope.spawn(move || share.iter().try_for_each(check))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().try_for_each(join)
    })
}

/// Under the pool's lock: everything is there, then the manifest is published under an id above all others.
fn publish(
    history: &History,
    pool: &Pool,
    manifest: &mut Manifest,
    head: Option<&Manifest>,
    news: &dyn News,
) -> Result<()> {
    let _pool_lock = pool.lock(Mode::Shared)?;
    let check = |entry: &Entry, id: ObjectId, size: u64| {
        if pool.size_of(id)? == Some(size) {
            return Ok(());
        }
        let path = quote::name(entry.path.as_bytes());
        Err(Error::new(Kind::Damaged, format!("object {id} of {path} is not in the pool with {size} bytes"))
            .hint("run the whole capture again"))
    };
    news.new_files(&mut |entry, id, size| check(entry, id, size))?;
    match head {
        Some(head) => {
            let mut old = head.entries.iter().peekable();
            for (entry, id, size) in manifest.files() {
                // Both are sorted by path.
                while old.next_if(|old| old.path < entry.path).is_some() {}
                let same_path = old.peek().filter(|old| old.path == entry.path);
                if same_path.is_none_or(|old| old.node != entry.node) {
                    check(entry, id, size)?;
                }
            }
        }
        // All are new: thousands of looks, for which nobody has to wait twice as long.
        None => side_by_side(&manifest.entries, |entry| match entry.node {
            Node::File { hash, size } => check(entry, hash, size),
            Node::Link { .. } | Node::Dir => Ok(()),
        })?,
    }
    if let Some(rules) = manifest.coverage.rules_object()
        && pool.size_of(rules)?.is_none()
    {
        return Err(Error::new(Kind::Damaged, format!("object {rules} of the rules file is not in the pool"))
            .hint("run 'wt-hash-object -w' over the records and write the manifest from its output"));
    }
    let mut newest = history.snapshot_ids()?.pop();
    loop {
        let now = clock::now_ns();
        let floor = newest.as_ref().map_or(0, |id| id.unix_ns().saturating_add(1));
        manifest.id = SnapshotId::new(now.max(floor), 1);
        manifest.created_at = clock::rfc3339(now.max(floor));
        match news.publish(history, manifest)? {
            Published::New => return Ok(()),
            Published::Exists => newest = Some(manifest.id.clone()),
        }
    }
}
