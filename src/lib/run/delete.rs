//! [`delete`]: a run goes, and stays gone (facts 2.10, 10.13).
//!
//! ```text
//! lock of the run -> lock of run.json -> has it ended? -> .deleted, flushed -> wait for writers -> aside -> gone
//! ```
//!
//! From `.deleted` on the run is deleted, whatever happens: every writer looks for it, again under its lock, and another
//! attempt removes what is left. Objects of the workspace stay; a sweep takes those that nothing names any more.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::json::Json;
use super::liveness::{self, LockIs, Rules, Verdict};
use super::record::{self, FORMAT_VERSION, WriteLock};
use super::roster::{self, Entry};
use super::route;
use super::status::Status;
use crate::clock;
use crate::error::{Error, IoContext, Kind, Result};
use crate::store::fsio::{self, document, tree};
use crate::store::id::RunId;
use crate::store::lock::{Lock, Mode};
use crate::store::run_lock::{self, Attempt, RunLock};
use crate::store::{Store, layout, seam};
use crate::stream::quote;

/// What became of a run that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// It is deleted.
    Now,
    /// It was deleted before; what was left of it is gone.
    Before,
    /// There is none.
    Absent,
}

/// Whether a run may go that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unless {
    /// Only one that has (finished, failed, failed and resumable, cancelled) and of which nobody has claimed an outcome.
    Ended,
    /// Any, as long as nobody executes it.
    Executed,
}

/// Deletes a run. `agrees` sees the document under its lock, and may refuse.
///
/// # Errors
/// [`Kind::Refused`] for a run that has not ended, that somebody routes, or whose directory is a link, [`Kind::Damaged`] for
/// one whose document or registry of decisions cannot be understood, [`Kind::Conflict`] when its lock is held; nothing was changed then. [`Kind::Io`] when something
/// could not be removed: it is deleted all the same if that is said in `.deleted`.
pub fn delete(
    store: &Store,
    run: &RunId,
    unless: Unless,
    agrees: impl FnOnce(&Json) -> Result<()>,
) -> Result<Deleted> {
    let path = layout::run(store.root(), run);
    let Some(dir) = open(&path)? else { return Ok(Deleted::Absent) };
    if store.refuse_deleted(run).is_err() {
        if let Some(holder) = run_lock::holder(store, run)? {
            return Err(run_lock::conflict(store, run, &holder));
        }
        clear(store, run, &dir, &path)?;
        return Ok(Deleted::Before);
    }
    let lock = match unless_full(RunLock::try_existing(store, run))? {
        Some(Attempt::Busy(holder)) => return Err(run_lock::conflict(store, run, &holder)),
        Some(Attempt::Held(lock)) => Some(lock),
        None => None,
    };
    let document = unless_full(WriteLock::take(store, run))?;
    match has_ended(store, run) {
        Ok(json) => {
            agrees(&json)?;
            if unless == Unless::Ended {
                refuse_routed(store, run)?;
            }
        }
        Err(_) if unless == Unless::Executed => refuse_executed(store, run)?,
        Err(error) => return Err(error),
    }
    seam::hook("delete-decided");
    mark(store, run)?;
    drop(document);
    seam::hook("delete-tombstoned");
    wait_for_writers(store, run).map_err(unfinished)?;
    clear(store, run, &dir, &path)?;
    drop(lock);
    Ok(Deleted::Now)
}

/// What [`delete`] would do as things stand. Changes nothing and takes no lock.
///
/// # Errors
/// As [`delete`] for what is refused.
pub fn would(store: &Store, run: &RunId, unless: Unless) -> Result<Deleted> {
    if open(&layout::run(store.root(), run))?.is_none() {
        return Ok(Deleted::Absent);
    }
    if let Some(holder) = run_lock::holder(store, run)? {
        return Err(run_lock::conflict(store, run, &holder));
    }
    if store.refuse_deleted(run).is_err() {
        return Ok(Deleted::Before);
    }
    match has_ended(store, run) {
        Err(error) if unless == Unless::Ended => Err(error),
        Ok(_) if unless == Unless::Ended => refuse_routed(store, run).map(|()| Deleted::Now),
        _ => Ok(Deleted::Now),
    }
}

/// Refuses a run that somebody is at work on who has claimed one of its outcomes, or of which nobody can say that.
fn refuse_routed(store: &Store, run: &RunId) -> Result<()> {
    let Some(decision) =
        route::held(store, run).map_err(|error| error.also("--force deletes the run all the same"))?
    else {
        return Ok(());
    };
    let name = quote::name(run.as_str().as_bytes());
    Err(Error::refused(format!("outcome {} of run {name} {}", decision.outcome, decision.live()))
        .at(layout::route_decisions(store.root(), run))
        .hint("wait until it is finished or its lease has run out, or add --force"))
}

/// A lock file that is not there and for which the disk has no room is held by nobody, and nobody else can make it either.
fn unless_full<T>(taken: Result<T>) -> Result<Option<T>> {
    match taken {
        Err(error) if error.is_no_space() => Ok(None),
        other => other.map(Some),
    }
}

/// Writes `.deleted`. Where no block is free it is empty, which says the same; where no file can be made one that is there
/// becomes it. [`clear`] makes room for the time.
fn mark(store: &Store, run: &RunId) -> Result<()> {
    let path = layout::tombstone(store.root(), run);
    let text = format!("{}\n", clock::rfc3339(clock::now_ns()));
    let mut made = document::publish_new(&path, &[text.as_bytes()], store.durability()).map(drop);
    if made.as_ref().is_err_and(Error::is_no_space) {
        made = document::publish_new(&path, &[], store.durability()).map(drop);
    }
    if made.as_ref().is_err_and(Error::is_no_space) {
        let root = store.root();
        // Those who wait for these locks look for `.deleted` when they have them, and those who make them anew do so as well.
        for source in [layout::write_lock(root, run), layout::run_lock(root, run), layout::run_document(root, run)]
        {
            if document::turn_into(&source, &path, store.durability())? {
                return Ok(());
            }
        }
    }
    made
}

/// Gives a `.deleted` that is empty the time at which it was made.
fn complete(path: &Path, store: &Store) -> Result<()> {
    let Ok(stat) = rustix::fs::lstat(path) else { return Ok(()) };
    if stat.st_size != 0 {
        return Ok(());
    }
    let made_ns = u64::try_from(i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec));
    let text = format!("{}\n", clock::rfc3339(made_ns.unwrap_or(0)));
    match document::replace(path, &[text.as_bytes()], store.durability()) {
        // Somebody else has taken the room at once; an empty one does.
        Err(error) if error.is_no_space() => Ok(()),
        other => other,
    }
}

/// Opens a run's directory; `None` when there is none. A link is refused: what it points to may belong to others.
fn open(path: &Path) -> Result<Option<OwnedFd>> {
    if tree::is_link(path).on("cannot examine", path)? {
        return Err(Error::refused(format!("the run's directory {} is a symbolic link", quote::path(path)))
            .at(path)
            .hint("delete the directory that it points to, where it belongs, or remove the link"));
    }
    match open_dir(path) {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            Err(Error::damaged(path, "not a directory"))
        }
        Err(error) => Err(Error::io("cannot open", path, &error)),
    }
}

fn open_dir(path: &Path) -> std::io::Result<OwnedFd> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(std::io::ErrorKind::NotFound.into());
    };
    let parent = fsio::open_store_dir(parent)?;
    fsio::open_dir(parent.as_fd(), name.as_encoded_bytes())
}

/// The document of a run that has ended.
fn has_ended(store: &Store, run: &RunId) -> Result<Json> {
    let name = quote::name(run.as_str().as_bytes());
    let json = record::load(store, run).map_err(|error| match error.kind() {
        Kind::NotFound => {
            Error::refused(format!("run {name} has no document, so nobody can say whether it has ended"))
                .at(layout::run(store.root(), run))
                .hint("add --force to delete it all the same")
        }
        _ => error.also("--force deletes it all the same"),
    })?;
    let refused = |why: String, hint: &str| {
        Err(Error::refused(format!("run {name} {why}")).at(layout::run_document(store.root(), run)).hint(hint))
    };
    if let Some(version) = record::foreign_format(&json) {
        let why = format!("has format version {version}, and this program knows {FORMAT_VERSION}");
        return refused(why, "use a newer program for it, or add --force");
    }
    match record::status(&json) {
        Some(status) if status.is_terminal() => Ok(json),
        Some(Status::Running) => refused(
            "is running".into(),
            "stop it first; if its process has died, 'run-reconcile' says so in its document",
        ),
        Some(status) => refused(format!("is {status}, and may go on"), "cancel it first, or add --force"),
        None => {
            let status = quote::name(json.text_of("status").as_bytes());
            refused(
                format!("has the status {status}, which is not known here"),
                "add --force to delete it all the same",
            )
        }
    }
}

/// Refuses a run that has not ended and that somebody executes who does not hold its lock: the process in `.pid` is there, or
/// a run that waits for this one is executed.
fn refuse_executed(store: &Store, run: &RunId) -> Result<()> {
    let rules = Rules { grace: Duration::ZERO, trust_network: true };
    let verdict = match liveness::attached(store, run)? {
        Some(process) => Verdict::Attached(process),
        // A document that cannot be understood says of nobody that he waits for the run.
        None => liveness::judge(store, run, rules, LockIs::Ours).unwrap_or(Verdict::Orphaned),
    };
    if !matches!(verdict, Verdict::Attached(_) | Verdict::Followed(_)) {
        return Ok(());
    }
    let (_, why) = verdict.words();
    Err(Error::conflict(format!("run {} is being executed: {why}", quote::name(run.as_str().as_bytes())))
        .at(layout::run(store.root(), run))
        .hint(
            "wait until it has ended, or stop it; a .pid that names a stranger's process is to be removed by hand",
        ))
}

/// Waits until those have written who looked for `.deleted` before it was there. Later ones find it.
fn wait_for_writers(store: &Store, run: &RunId) -> Result<()> {
    let root = store.root();
    let locks: [(PathBuf, &str); 5] = [
        (layout::write_lock(root, run), "the document"),
        (layout::events_lock(root, run), "the event log"),
        (layout::history_lock(root, run), "the history"),
        (layout::answer_lock(root, run), "the answers"),
        (layout::messages_once_lock(root, run), "the messages"),
    ];
    for (path, what) in locks {
        if rustix::fs::lstat(&path).is_ok() {
            let what = format!("{what} of run {}", quote::name(run.as_str().as_bytes()));
            drop(Lock::on_file(&path, Mode::Exclusive, &what, store.patience())?);
        }
    }
    Ok(())
}

/// Removes all but `.deleted`, and completes that.
fn clear(store: &Store, run: &RunId, dir: &OwnedFd, path: &Path) -> Result<()> {
    let tombstone = layout::tombstone(store.root(), run);
    let keep = tombstone.file_name().unwrap_or_default().as_encoded_bytes();
    tree::empty(dir.as_fd(), path, keep, layout::TEMP_PREFIX, store.durability())
        .and_then(|()| complete(&tombstone, store))
        .map_err(unfinished)
}

fn unfinished(error: Error) -> Error {
    error.also("the run is deleted; running the command again removes what is left")
}

/// What is left of a run that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// The run.
    pub run: RunId,
    /// When it was deleted, nanoseconds since the epoch.
    pub deleted_ns: i128,
    /// It is no run's any more: somebody was killed while removing it.
    pub is_leftover: bool,
}

/// The tombstones that are at least so old.
///
/// # Errors
/// [`Kind::Io`].
pub fn tombstones(store: &Store, older_than: Duration) -> Result<Vec<Tombstone>> {
    let cutoff = i128::from(clock::now_ns()) - i128::try_from(older_than.as_nanos()).unwrap_or(i128::MAX);
    let mut found = Vec::new();
    for entry in roster::list(store)? {
        let (run, is_leftover) = match entry {
            Entry::Deleted(run) | Entry::Bare(run) if run.as_str().starts_with(layout::TEMP_PREFIX) => (run, true),
            Entry::Deleted(run) => (run, false),
            _ => continue,
        };
        let path =
            if is_leftover { layout::run(store.root(), &run) } else { layout::tombstone(store.root(), &run) };
        // It may have gone since.
        let Ok(stat) = rustix::fs::lstat(&path) else { continue };
        let deleted_ns = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
        if deleted_ns <= cutoff {
            found.push(Tombstone { run, deleted_ns, is_leftover });
        }
    }
    Ok(found)
}

/// Removes a tombstone, with whatever a late writer has left beside it. The id is that of no run then, and may be used.
///
/// # Errors
/// [`Kind::Refused`] where the directory is a link, [`Kind::Io`].
pub fn forget(store: &Store, tombstone: &Tombstone) -> Result<()> {
    let runs = layout::runs(store.root());
    let path = layout::run(store.root(), &tombstone.run);
    let Some(dir) = open(&path)? else { return Ok(()) };
    let runs_dir = fsio::open_store_dir(&runs).on("cannot open", &runs)?;
    // In one step: half a tombstone would be a run without a document.
    let aside = fsio::temp_name(layout::TEMP_PREFIX);
    fsio::rename_new(runs_dir.as_fd(), tombstone.run.as_str().as_bytes(), runs_dir.as_fd(), aside.as_bytes())
        .on("cannot put aside", &path)?;
    seam::hook("tombstone-aside");
    let marker = layout::tombstone(store.root(), &tombstone.run);
    let marker = marker.file_name().unwrap_or_default().as_encoded_bytes();
    tree::empty(dir.as_fd(), &runs.join(&aside), marker, layout::TEMP_PREFIX, store.durability())?;
    // The marker goes last: it tells the next attempt what the directory was.
    match fsio::unlink(dir.as_fd(), marker) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        other => other.on("cannot remove the marker of", &path)?,
    }
    fsio::remove_dir(runs_dir.as_fd(), aside.as_bytes()).on("cannot remove", runs.join(&aside))
}
