//! The only writer of event logs.
//!
//! ```text
//! lock .events.lock -> find the end -> one write of line and newline -> unlock -> flush -> acknowledge
//! ```
//!
//! A number is used up only by a line that went in whole. A short write is taken back if nobody has written behind it;
//! else the fragment stays, and the next append gives it a newline of its own. A flush that fails does not undo an append:
//! it leaves a mark, and whoever must rely on the log calls [`ensure_synced`] first.

use std::fs::File;
use std::path::PathBuf;

use super::backwards::{self, LogEnd};
use super::draft::{Draft, Stamp};
use super::source;
use crate::clock;
use crate::error::{Error, IoContext, Result};
use crate::run::line_log;
use crate::run::record::fresh;
use crate::store::engine_lock::refuse_foreign_engine;
use crate::store::fsio::Durability;
use crate::store::fsio::document;
use crate::store::fsio::log::{self, Opened};
use crate::store::id::RunId;
use crate::store::lock::{Lock, Mode};
use crate::store::{Store, layout, seam};
use crate::stream::quote;

/// When appended events are flushed to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Each before the next one is written.
    Always,
    /// Those that were appended together, together.
    Batch,
    /// Never: only kills are survived.
    Off,
}

impl Sync {
    /// As the store is flushed.
    #[must_use]
    pub fn of(store: &Store) -> Self {
        if store.durability() == Durability::Off { Self::Off } else { Self::Batch }
    }
}

/// An event that went in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Its number.
    pub seq: u64,
    /// Where its line begins.
    pub offset: u64,
    /// Length of its line with the newline.
    pub bytes: u64,
}

/// Whether what was appended is on the disk.
#[derive(Debug)]
#[must_use]
pub enum Synced {
    /// It is, or was not asked to be.
    Yes,
    /// It may not be; the log carries a mark of that.
    Failed(Error),
}

/// Appends one event and flushes it as the store is flushed.
///
/// # Errors
/// Those of [`Writer::new`] and [`Batch::append`]; nothing was appended then.
pub fn one(store: &Store, run: &RunId, draft: &Draft, while_running: bool) -> Result<(Receipt, Synced)> {
    let mut writer = Writer::new(store, run, Sync::of(store), while_running)?;
    let mut batch = writer.batch()?;
    let appended = batch.append(draft);
    let synced = batch.finish();
    Ok((appended?, synced))
}

/// What is known of the log since the last append, true as long as file and length are the same.
struct Known {
    identity: (u64, u64),
    end: LogEnd,
}

/// Appends to the log of one run.
pub struct Writer<'s> {
    store: &'s Store,
    run: RunId,
    path: PathBuf,
    sync: Sync,
    while_running: bool,
    known: Option<Known>,
    line: Vec<u8>,
}

impl<'s> Writer<'s> {
    /// A writer for `run`, which needs no run.json. Nothing is made before the first batch.
    ///
    /// # Errors
    /// [`crate::error::Kind::NotFound`] for a deleted run, [`crate::error::Kind::Conflict`] beside a stranger's engine unless `while_running`.
    pub fn new(store: &'s Store, run: &RunId, sync: Sync, while_running: bool) -> Result<Self> {
        store.refuse_deleted(run)?;
        fresh::made(store, run)?;
        refuse_foreign_engine(store, run, while_running)?;
        let path = layout::events(store.root(), run);
        Ok(Self { store, run: run.clone(), path, sync, while_running, known: None, line: Vec::new() })
    }

    /// Takes the lock for events that are at hand. Nobody may wait for input while a batch is open.
    ///
    /// # Errors
    /// As [`Writer::new`], and [`crate::error::Kind::Io`].
    pub fn batch(&mut self) -> Result<Batch<'_, 's>> {
        self.store.create_dir(&layout::run(self.store.root(), &self.run))?;
        let what = format!("the event log of run {}", quote::name(self.run.as_str().as_bytes()));
        let lock_path = layout::events_lock(self.store.root(), &self.run);
        let lock = Lock::on_file(&lock_path, Mode::Exclusive, &what, self.store.patience())?;
        // Only under the lock does it stay true.
        self.store.refuse_deleted(&self.run)?;
        refuse_foreign_engine(self.store, &self.run, self.while_running)?;
        let (file, opened) = line_log::open(&self.path)?;
        Ok(Batch { writer: self, _lock: lock, file, opened })
    }

    /// Length of run.log now; 0 where there is none.
    fn log_offset(&self) -> u64 {
        let path = layout::run_log(self.store.root(), &self.run);
        rustix::fs::stat(&path).ok().and_then(|stat| u64::try_from(stat.st_size).ok()).unwrap_or(0)
    }
}

/// Appends under the lock.
pub struct Batch<'w, 's> {
    writer: &'w mut Writer<'s>,
    _lock: Option<Lock>,
    file: File,
    opened: Opened,
}

impl Batch<'_, '_> {
    /// Appends one event.
    ///
    /// # Errors
    /// [`crate::error::Kind::Limit`] for one above the limit, [`crate::error::Kind::Io`] when it did not go in whole; the log is as it was then.
    pub fn append(&mut self, draft: &Draft) -> Result<Receipt> {
        draft.check()?;
        let (identity, end) = self.end()?;
        let path = &self.writer.path;
        if end.next_seq > i64::MAX.unsigned_abs() {
            return Err(Error::damaged(path, "the highest number is used up").hint("run run-events check"));
        }
        let now_ns = clock::now_ns();
        let stamp =
            Stamp { seq: end.next_seq, now_ns, run: &self.writer.run, log_offset: self.writer.log_offset() };
        let mut line = std::mem::take(&mut self.writer.line);
        let encoded = draft.encode(stamp, &mut line);
        let isolating = u64::from(!end.terminated);
        if isolating == 1 {
            line.insert(0, b'\n');
        }
        seam::hook("events-numbered");
        let written = encoded.and_then(|()| line_log::append(&self.file, path, &line, end.len));
        let bytes = line.len() as u64;
        self.writer.line = line;
        self.writer.known = None;
        written?;
        let end_now = LogEnd { len: end.len + bytes, terminated: true, next_seq: end.next_seq + 1 };
        self.writer.known = Some(Known { identity, end: end_now });
        Ok(Receipt { seq: end.next_seq, offset: end.len + isolating, bytes: bytes - isolating })
    }

    /// The end of the log, read anew unless it is where our last append left it.
    fn end(&self) -> Result<((u64, u64), LogEnd)> {
        let path = &self.writer.path;
        let stat = rustix::fs::fstat(&self.file).on("cannot examine", path)?;
        let (identity, len) = ((stat.st_dev, stat.st_ino), u64::try_from(stat.st_size).unwrap_or(0));
        match &self.writer.known {
            Some(known) if known.identity == identity && known.end.len == len => Ok((identity, known.end)),
            _ => Ok((identity, backwards::log_end(&self.file, len).on("cannot read the end of", path)?)),
        }
    }

    /// Lets go of the lock and flushes what was appended.
    ///
    /// An earlier flush that failed is made up for here, if it can be.
    pub fn finish(self) -> Synced {
        let Self { writer, _lock: lock, file, opened } = self;
        drop(lock);
        if writer.sync == Sync::Off {
            return Synced::Yes;
        }
        match line_log::flush(&file, &writer.path, opened) {
            Ok(()) => match forget_failure(writer.store, &writer.run) {
                Ok(()) => Synced::Yes,
                Err(error) => Synced::Failed(error),
            },
            Err(error) => {
                // Without the mark the caller still has the error; there is nobody else to tell.
                let _ = log::leave_mark(&layout::events_unsynced(writer.store.root(), &writer.run));
                Synced::Failed(error)
            }
        }
    }
}

/// Whether a flush of the run's log has failed and was not made up for.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn flush_had_failed(store: &Store, run: &RunId) -> Result<bool> {
    let mark = layout::events_unsynced(store.root(), run);
    match rustix::fs::lstat(&mark) {
        Ok(_) => Ok(true),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(false),
        Err(errno) => Err(Error::io("cannot examine", &mark, &errno.into())),
    }
}

/// To be called before run.json is written: a checkpoint must never be durable ahead of the events that it follows, so
/// where a flush of the log had failed it is flushed now (facts 3.2). A missing log is fine.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it still cannot be flushed; run.json must not be written then.
pub fn ensure_synced(store: &Store, run: &RunId) -> Result<()> {
    if store.durability() == Durability::Off || !flush_had_failed(store, run)? {
        return Ok(());
    }
    let path = layout::events(store.root(), run);
    if let Some(file) = source::open(&path)? {
        // The name may be what was not flushed.
        line_log::flush(&file, &path, Opened::Made)?;
    }
    forget_failure(store, run)
}

fn forget_failure(store: &Store, run: &RunId) -> Result<()> {
    if flush_had_failed(store, run)? {
        document::remove(&layout::events_unsynced(store.root(), run))?;
    }
    Ok(())
}
