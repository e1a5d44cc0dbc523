//! Purge: takes a secret out of all history. Nothing brings it back.
//!
//! ```text
//! plan     every manifest that names it, the objects that nothing else names, pins, rows of the stat cache
//! carry    manifests (each whole-old or whole-new) -> stat cache -> pins -> objects, under the pool's exclusive lock
//! ```
//!
//! A path means everything below it too. An object that another path or run still names stays, and is named. Killed in
//! between, the path is gone from part of the manifests; the next purge goes on, and what nothing names any more is
//! removed by it, or at the latest by a prune.

mod pins;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

use super::prune::mark::{self, Marks, Reader};
use crate::clock;
use crate::error::{Error, Result};
use crate::history::change::Change;
use crate::history::index::RowsUpdate;
use crate::history::manifest::{self, Members};
use crate::history::{History, hashes, json};
use crate::store::fsio::document;
use crate::store::id::{ObjectId, RunId, SnapshotId};
use crate::store::pool::{Pool, Removal};
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::store::{Store, engine_lock, layout, read_document, seam};
use crate::stream::quote;

/// What is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// Whatever any snapshot has at a path or below it.
    Path(RelPathBuf),
    /// A content, at whatever path.
    Content(ObjectId),
}

impl Secret {
    /// Reads an object id, or else a path relative to the workspace; `./` before it makes anything a path.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`].
    pub fn named(text: &[u8]) -> Result<Self> {
        if let Some(id) = ObjectId::parse(text) {
            return Ok(Self::Content(id));
        }
        let path = text.strip_prefix(b"./").unwrap_or(text);
        RelPath::new(path.strip_suffix(b"/").unwrap_or(path)).map(|path| Self::Path(path.to_owned())).map_err(
            |problem| {
                Error::usage(format!("{problem}: {}", quote::name(text)))
                    .hint("give a path relative to the workspace, or an object id")
            },
        )
    }

    fn is(&self, path: &RelPath, id: ObjectId) -> bool {
        match self {
            Self::Path(secret) => path.is_within(secret),
            Self::Content(secret) => id == *secret,
        }
    }
}

/// One entry that becomes a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// The run.
    pub run: RunId,
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// The path.
    pub path: RelPathBuf,
}

/// What a purge would do.
pub struct Plan<'a> {
    store: &'a Store,
    secret: Secret,
    /// Entries that become gaps.
    pub touched: Vec<Touched>,
    /// Objects that are removed, and their sizes.
    pub doomed: BTreeMap<ObjectId, u64>,
    /// Objects that stay because something else names them, and what.
    pub shared: BTreeMap<ObjectId, PathBuf>,
    runs: BTreeSet<RunId>,
}

/// What a purge did.
#[derive(Debug, Default)]
pub struct Report {
    /// Objects that are gone.
    pub removed: Vec<ObjectId>,
    /// Objects that something named again meanwhile.
    pub left: Vec<ObjectId>,
}

/// Finds out what goes, in one run or in all.
///
/// # Errors
/// [`crate::error::Kind::Damaged`] when a document cannot be read, [`crate::error::Kind::Refused`] when the content is
/// named where it cannot be taken out, [`crate::error::Kind::NotFound`] when there is no such run, or nothing names it.
pub fn plan<'a>(store: &'a Store, secret: Secret, only: Option<&RunId>) -> Result<Plan<'a>> {
    let mut plan = Plan {
        store,
        secret,
        touched: Vec::new(),
        doomed: BTreeMap::new(),
        shared: BTreeMap::new(),
        runs: BTreeSet::new(),
    };
    if let Some(run) = only
        && !layout::history(store.root(), run).is_dir()
    {
        return Err(History::new(store, run.clone()).is_missing());
    }
    let mut named: Vec<(PathBuf, HashSet<ObjectId>)> = Vec::new();
    let mut meant = BTreeSet::new();
    for dir in mark::run_dirs(store)? {
        let Some((snapshots, _)) = mark::snapshots_dir(&dir.path)? else { continue };
        let run = dir.id.filter(|run| only.is_none_or(|only| only == run));
        for path in documents(&snapshots)? {
            let left = plan.read(&path, run.as_ref())?;
            named.extend(left.map(|left| (path, left)));
        }
        meant.extend(run);
    }
    if let Secret::Content(id) = plan.secret {
        plan.doomed.entry(id).or_insert(0);
    }
    for (path, ids) in named {
        let kept: Vec<ObjectId> = plan.doomed.keys().filter(|id| ids.contains(*id)).copied().collect();
        for id in kept {
            plan.doomed.remove(&id);
            plan.shared.insert(id, path.clone());
        }
    }
    // A purge that was killed may have left rows where no manifest names the secret any more.
    for run in meant {
        if plan.rows_without(History::new(store, run.clone()).index()?.rows_json())?.is_some() {
            plan.runs.insert(run);
        }
    }
    plan.refuse_useless(only)?;
    Ok(plan)
}

fn documents(dir: &std::path::Path) -> Result<Vec<PathBuf>> {
    let failed = |error: &std::io::Error| Error::io("cannot list", dir, error);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|error| failed(&error))? {
        let path = entry.map_err(|error| failed(&error))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

impl Plan<'_> {
    /// Reads one document; returns what it will name afterwards, but `None` for a pin, which gives way.
    fn read(&mut self, path: &std::path::Path, run: Option<&RunId>) -> Result<Option<HashSet<ObjectId>>> {
        let bytes = read_document(path)?;
        let damaged = |problem: String| {
            Error::damaged(path, problem).hint("nothing was changed; 'wt-fsck --quarantine' puts it aside")
        };
        let names = |bytes: &[u8]| {
            let mut ids = HashSet::new();
            hashes::for_each_named(bytes, &mut |id| {
                ids.insert(id);
            })
            .map(|()| ids)
            .map_err(damaged)
        };
        let snapshot = path.file_stem().and_then(|stem| stem.to_str()).and_then(SnapshotId::parse);
        let Some(snapshot) = snapshot else { return names(&bytes).map(|_| None) };
        let cut = match run {
            Some(_) => manifest::cut(&bytes, &|path, id| self.secret.is(path, id)).map_err(damaged)?,
            None => None,
        };
        let (Some(run), Some(cut)) = (run, cut) else { return names(&bytes).map(Some) };
        for (path, id, size) in cut.removed {
            self.doomed.insert(id, size);
            self.runs.insert(run.clone());
            self.touched.push(Touched { run: run.clone(), snapshot: snapshot.clone(), path });
        }
        names(&cut.json).map(Some)
    }

    fn refuse_useless(&self, only: Option<&RunId>) -> Result<()> {
        if let Secret::Content(id) = self.secret {
            if let Some(path) = self.shared.get(&id).filter(|_| only.is_none()) {
                return Err(Error::refused(format!(
                    "{} names the object where it cannot be taken out, as its ignore rules or in a member of a later version",
                    quote::path(path)
                ))
                .at(path)
                .hint("forget that snapshot with wt-forget first"));
            }
            let in_pool = Pool::open(self.store)?.map_or(Ok(None), |pool| pool.size_of(id))?.is_some();
            if self.runs.is_empty() && !in_pool {
                return Err(Error::not_found(format!("nothing names object {id}, and it is not in the pool")));
            }
        } else if self.runs.is_empty() {
            return Err(Error::not_found("no snapshot has anything at that path")
                .hint("if it was purged before, wt-prune removes what is left of it"));
        }
        Ok(())
    }

    /// Every path that was touched, each once.
    #[must_use]
    pub fn paths(&self) -> BTreeSet<&RelPath> {
        self.touched.iter().map(|touched| &*touched.path).collect()
    }

    /// Carries the plan out.
    ///
    /// # Errors
    /// [`crate::error::Kind::Conflict`] when an engine is at work or a lock was not had in time,
    /// [`crate::error::Kind::Io`]. The next purge goes on.
    pub fn carry_out(self, while_running: bool) -> Result<Report> {
        for run in &self.runs {
            engine_lock::refuse_foreign_engine(self.store, run, while_running)?;
        }
        for run in &self.runs {
            self.rewrite(&History::new(self.store, run.clone()))?;
        }
        self.forget_leftovers()?;
        seam::hook("purge-rewritten");
        pins::drop_from_all(self.store, &self.doomed.keys().copied().collect())?;
        self.remove_objects()
    }

    /// Removes what lies beside the documents of any run and may name what has to go, also where no snapshot names it any more:
    /// older indexes, and what killed writers left.
    fn forget_leftovers(&self) -> Result<()> {
        for run in self.store.runs().dirs.into_iter().filter_map(|dir| dir.id) {
            let history = History::new(self.store, run);
            let dir = layout::history(self.store.root(), history.run());
            if !dir.is_dir() || self.store.refuse_deleted(history.run()).is_err() {
                continue;
            }
            let _lock = history.lock_for_change()?;
            for dir in [&dir, &layout::snapshots(self.store.root(), history.run())] {
                for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                    if layout::may_go(entry.file_name().as_encoded_bytes()) {
                        document::remove(&entry.path())?;
                    }
                }
            }
        }
        Ok(())
    }

    fn rewrite(&self, history: &History) -> Result<()> {
        let _lock = history.lock_for_change()?;
        // It names what was in the pool, by parts of ids.
        document::remove(&layout::pool_seen(self.store.root(), history.run()))?;
        // It names files, and what a file was called may be what has to go.
        document::remove(&layout::dirs_seen(self.store.root(), history.run()))?;
        for id in history.snapshot_ids()? {
            let path = layout::manifest(self.store.root(), history.run(), &id);
            let cut = manifest::cut(&read_document(&path)?, &|path, id| self.secret.is(path, id))
                .map_err(|problem| Error::damaged(&path, problem))?;
            if let Some(cut) = cut {
                document::replace(&path, &[&cut.json], self.store.durability())?;
            }
        }
        let mut index = history.index()?;
        let rows = self.rows_without(index.rows_json())?;
        history.apply(
            &mut index,
            Change { rows: rows.map_or(RowsUpdate::Keep, RowsUpdate::Replace), ..Change::default() },
        )
    }

    /// The stat cache without the rows of the secret; `None` when there are none.
    fn rows_without(&self, rows: &[u8]) -> Result<Option<Vec<u8>>> {
        let damaged =
            |error: serde_json::Error| Error::new(crate::error::Kind::Damaged, format!("its stat cache: {error}"));
        let Members(members) = serde_json::from_slice(rows).map_err(damaged)?;
        let mut out = vec![b'{'];
        let mut dropped = 0;
        for (path, row) in members {
            let mut is_secret = matches!(&self.secret, Secret::Path(secret)
                if RelPath::new(path.as_bytes()).is_ok_and(|path| path.is_within(secret)));
            hashes::for_each_in_text(row.get().as_bytes(), &mut |id| is_secret |= self.doomed.contains_key(&id));
            if is_secret {
                dropped += 1;
                continue;
            }
            json::push_key(&mut out, &path);
            out.extend_from_slice(row.get().as_bytes());
        }
        out.push(b'}');
        Ok((dropped > 0).then_some(out))
    }

    /// A capture that went on meanwhile may name the content again: then it stays.
    fn remove_objects(&self) -> Result<Report> {
        let mut report = Report::default();
        let Some(pool) = Pool::open(self.store)?.filter(|_| !self.doomed.is_empty()) else { return Ok(report) };
        let marks = Marks::new();
        let mut reader = Reader::new(self.store, i128::from(clock::now_ns()));
        reader.read_new(&marks, &|_, _| {})?;
        let sweep = pool.sweep()?;
        reader.read_new(&marks, &|_, _| {})?;
        for id in self.doomed.keys() {
            if marks.has(*id) {
                report.left.push(*id);
            } else if sweep.remove_object(*id, i128::MAX)? == Removal::Removed {
                report.removed.push(*id);
            }
        }
        drop(sweep);
        pool.flush()?;
        Ok(report)
    }
}

/// The line of an ignore file that keeps a path out from now on, as a person can copy it: what cannot be seen or would end
/// the line is written as `?`, which is any byte. Such a line may keep out a few names more.
#[must_use]
pub fn ignore_line(path: &RelPath) -> String {
    let mut line = "/".to_owned();
    for chunk in path.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if quote::is_masked(c) {
                line.extend(std::iter::repeat_n('?', c.len_utf8()));
                continue;
            }
            if matches!(c, '*' | '?' | '[' | ']' | '\\' | ' ') {
                line.push('\\');
            }
            line.push(c);
        }
        line.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    line
}
