//! The last stage of a capture: a complete record stream becomes a snapshot.
//!
//! Nothing is locked while the stream is read. Then, under the history lock: is the stream still about the newest
//! state, is it the same workspace, is everything it names in the pool? Only then a manifest is published, and head
//! and labels move (design section 6, Publishing and Dedupe).

use std::path::Path;

use super::hashing::seen;
use crate::clock;
use crate::error::{Error, Fact, Kind, Result};
use crate::history::History;
use crate::history::change::Change;
use crate::history::coverage::{Coverage, Gap, Selection};
use crate::history::index::Index;
use crate::history::label;
use crate::history::manifest::{Entry, Manifest, Node};
use crate::history::rows::{self, Pass, Row};
use crate::store::engine_lock;
use crate::store::fsio::document::Published;
use crate::store::id::{Label, ObjectId, SnapshotId};
use crate::store::lock::Mode;
use crate::store::pool::Pool;
use crate::stream::quote;
use crate::stream::record::{Content, EntryKind, Record};
use crate::stream::recordset::RecordSet;
use crate::stream::wire::HeadMark;
use crate::tree::rules::{HardReason, RULES_ENGINE};
use crate::tree::stat::is_settled;

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
    if let Some(parent) = &request.parent
        && index.head.as_ref() != Some(parent)
    {
        return Err(Error::conflict(format!(
            "snapshot '{parent}' is not the newest one of run '{}'",
            history.run()
        ))
        .hint("capture again from the state you mean"));
    }
    let labels = wanted_labels(&index, &request.labels)?;
    let mut manifest = candidate(&pool, set, head.as_ref(), labels.first().cloned())?;
    refuse_other_root(head.as_ref(), manifest.workspace.as_deref(), request.relocate)?;
    let same = head.as_ref().filter(|head| manifest.records_the_same(head));
    refuse_stale(set, &index, same.is_some())?;

    let source_of = |manifest: &Manifest| match &manifest.coverage.selection {
        Selection::Rules { source, .. } => Some(source.clone()),
        Selection::Listed | Selection::Original => None,
    };
    let rules_were = head
        .as_ref()
        .and_then(source_of)
        .filter(|source| source != "none" && source_of(&manifest).is_some_and(|now| now != *source));
    let is_reused = match same {
        Some(head) if may_reuse(head, request, &labels) => {
            manifest = head.clone();
            true
        }
        _ => {
            publish(history, &pool, &mut manifest, head.as_ref())?;
            false
        }
    };
    let change = Change {
        head: Some(manifest.id.clone()),
        labels: labels.iter().map(|label| (label.clone(), Some(manifest.id.clone()))).collect(),
        overflowed: Some(false),
        rows: stat_cache(set, &index)?,
    };
    history.apply(&mut index, change)?;
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
pub(super) fn may_reuse(head: &Manifest, request: &Request, labels: &[String]) -> bool {
    let is_boundary = labels.iter().any(|label| label::is_boundary(label));
    request.dedupe && (!is_boundary || head.label.as_deref().is_some_and(label::is_boundary))
}

pub(super) fn wanted_labels(index: &Index, wishes: &[LabelWish]) -> Result<Vec<String>> {
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
                    .hint("choose another label, or set it with --label"));
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

/// The manifest that the stream describes; its id is a placeholder until it is published.
pub(super) fn candidate(
    pool: &Pool,
    set: &RecordSet,
    head: Option<&Manifest>,
    label: Option<String>,
) -> Result<Manifest> {
    let mut entries = Vec::with_capacity(set.records.len());
    let mut gaps = Vec::new();
    for record in &set.records {
        if let Some(reason) = record.path.components().find_map(HardReason::of_name) {
            return Err(Error::usage(format!(
                "path {} is never versioned ({reason})",
                quote::name(record.path.as_bytes())
            ))
            .hint("leave it out of the records"));
        }
        match &record.content {
            Content::Gap(reason) => gaps.push(Gap {
                path: record.path.clone(),
                reason: reason.clone(),
                hides_subtree: record.hides_subtree(),
            }),
            _ => entries.push(entry(pool, head, record)?),
        }
    }
    let selection = match &set.header.rules {
        Some(rules) => Selection::Rules { source: rules.source.clone(), id: rules.id },
        None => Selection::Listed,
    };
    Ok(Manifest {
        id: SnapshotId::new(0, 0),
        parent: head.map(|head| head.id.clone()),
        label,
        created_at: String::new(),
        entries,
        gaps,
        coverage: Coverage {
            selection,
            engine: RULES_ENGINE.to_owned(),
            cap_bytes: set.header.cap_bytes,
            all_kinds: true,
        },
        workspace: set.header.root.clone(),
    })
}

fn entry(pool: &Pool, head: Option<&Manifest>, record: &Record) -> Result<Entry> {
    let node = match (record.kind, &record.content) {
        (EntryKind::Dir, _) => Node::Dir,
        (EntryKind::File, Content::Object(hash)) => Node::File {
            hash: *hash,
            size: match record.size {
                Some(size) => size,
                None => pool.size_of(*hash)?.ok_or_else(|| missing(*hash, record))?,
            },
        },
        (EntryKind::Link, Content::Object(id)) => Node::Link { target: link_target(pool, head, record, *id)? },
        _ => {
            return Err(Error::usage(format!("path {} is not hashed", quote::name(record.path.as_bytes())))
                .hint("put 'wt-hash-object -w --stdin-records' before this command"));
        }
    };
    Ok(Entry { path: record.path.clone(), node, mode: record.mode })
}

/// The target text stands in the pool; where head has the same link it need not be read.
fn link_target(pool: &Pool, head: Option<&Manifest>, record: &Record, id: ObjectId) -> Result<Vec<u8>> {
    if let Some(Entry { node: Node::Link { target }, .. }) = head.and_then(|head| head.entry(&record.path))
        && crate::store::hash::of_bytes(target) == id
    {
        return Ok(target.clone());
    }
    let target = pool.read(id)?;
    if target.is_empty() || target.contains(&0) {
        return Err(Error::new(
            Kind::Damaged,
            format!("object {id} is not the target of a link, as {} says", quote::name(record.path.as_bytes())),
        ));
    }
    Ok(target)
}

fn missing(id: ObjectId, record: &Record) -> Error {
    Error::new(Kind::Damaged, format!("object {id} of {} is not in the pool", quote::name(record.path.as_bytes())))
        .hint("run 'wt-hash-object -w' over the records and write the manifest from its output")
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
fn refuse_stale(set: &RecordSet, index: &Index, is_same: bool) -> Result<()> {
    let Some(mark) = &set.header.head else { return Ok(()) };
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

/// Under the pool's lock: everything is there, then the manifest is published under an id above all others.
fn publish(history: &History, pool: &Pool, manifest: &mut Manifest, parent: Option<&Manifest>) -> Result<()> {
    let _pool_lock = pool.lock(Mode::Shared)?;
    let mut old = parent.map(|parent| parent.entries.iter().peekable());
    for (entry, id, size) in manifest.files() {
        // Both are sorted by path.
        let same_path = old.as_mut().and_then(|old| {
            while old.next_if(|old| old.path < entry.path).is_some() {}
            old.peek().filter(|old| old.path == entry.path)
        });
        if same_path.is_some_and(|old| old.node == entry.node) {
            continue;
        }
        if pool.size_of(id)? != Some(size) {
            return Err(Error::new(
                Kind::Damaged,
                format!(
                    "object {id} of {} is not in the pool with {size} bytes",
                    quote::name(entry.path.as_bytes())
                ),
            )
            .hint("run the whole capture again"));
        }
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
        match history.publish(manifest)? {
            Published::New => return Ok(()),
            Published::Exists => newest = Some(manifest.id.clone()),
        }
    }
}

/// The rows of everything that was seen at rest, as JSON; `None` where the stream does not say when it began.
fn stat_cache(set: &RecordSet, index: &Index) -> Result<Option<Vec<u8>>> {
    let Some(start) = set.header.start_ns else { return Ok(None) };
    let mut old = OldRows::new(index)?;
    let mut json = Vec::with_capacity(index.rows_json().len() + 1024);
    json.push(b'{');
    for record in &set.records {
        let (EntryKind::File, Content::Object(hash)) = (record.kind, &record.content) else { continue };
        let (Some(path), Some(seen)) = (record.path.to_str(), seen(record)) else { continue };
        if !is_settled(seen.mtime_ns, seen.ctime_ns, start) {
            continue;
        }
        let before = json.len();
        rows::push_row(&mut json, path, *hash, seen, None);
        let row = json.get(before..).unwrap_or_default();
        if let Some(old) = old.row_unlike(path, row.strip_prefix(b",").unwrap_or(row))? {
            json.truncate(before);
            rows::push_row(&mut json, path, *hash, seen, Some(&old));
        }
    }
    json.push(b'}');
    Ok(Some(json))
}

/// The rows of the index, of which only those are read that the new ones differ from.
struct OldRows<'a> {
    index: &'a Index,
    pass: Option<Pass<'a>>,
    all: Vec<Row<'a>>,
}

impl<'a> OldRows<'a> {
    fn new(index: &'a Index) -> Result<Self> {
        let mut rows = Self { index, pass: Pass::new(index.rows_json()), all: Vec::new() };
        if rows.pass.is_none() {
            rows.read_all()?;
        }
        Ok(rows)
    }

    fn read_all(&mut self) -> Result<()> {
        self.pass = None;
        self.all = self.index.rows().map_err(|problem| Error::new(Kind::Damaged, problem))?;
        Ok(())
    }

    /// The row that a path had, unless it is `row` byte by byte.
    fn row_unlike(&mut self, path: &str, row: &[u8]) -> Result<Option<Row<'a>>> {
        if let Some(pass) = &mut self.pass {
            if pass.skip(path, row) {
                return Ok(None);
            }
            if let Ok(found) = pass.find(path.as_bytes()) {
                return Ok(found);
            }
            self.read_all()?;
        }
        Ok(rows::find(&self.all, path).cloned())
    }
}
