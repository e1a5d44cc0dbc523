//! The middle stage of a capture: fills in what each record's content is, from the stat cache or by reading.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::intake::{Intake, Sink};
use crate::error::{Error, Result};
use crate::history::index::Index;
use crate::history::rows::{self, Row, Seen};
use crate::store::id::ObjectId;
use crate::store::pool::{Pool, PoolWriter};
use crate::stream::quote;
use crate::stream::record::{Content, EntryKind, Record};
use crate::tree::root::Workspace;

/// Records worked on at a time; the pool's lock is held for one batch.
pub const BATCH_RECORDS: usize = 4096;
/// Records a thread takes at a time.
const GRAIN: usize = 16;
/// Reading threads: beyond that the disk is the limit.
const THREADS_MAX: usize = 8;

/// The stat cache of a run, with the promise that what it names is in the pool.
pub struct StatCache<'a> {
    rows: Vec<Row<'a>>,
    pool: Option<&'a Pool>,
}

impl<'a> StatCache<'a> {
    /// Takes the rows of an index. Rows that cannot be understood are no cache.
    #[must_use]
    pub fn new(index: &'a Index, pool: Option<&'a Pool>) -> Self {
        Self { rows: index.rows().unwrap_or_default(), pool }
    }

    /// The content that `record` had when it was last seen with this very stat, if its object is still there.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the pool cannot be listed.
    pub fn lookup(&self, record: &Record) -> Result<Option<ObjectId>> {
        let (Some(path), Some(seen)) = (record.path.to_str(), seen(record)) else { return Ok(None) };
        let hash = rows::find(&self.rows, path).filter(|row| row.describes(seen)).and_then(|row| row.hash);
        let Some(hash) = hash else { return Ok(None) };
        let found = match self.pool {
            Some(pool) => pool.size_of(hash)?,
            None => None,
        };
        // An object cut short by a power cut has its name and not its size.
        Ok((found == record.size).then_some(hash))
    }
}

/// The stat of a record, where all of it is known.
#[must_use]
pub fn seen(record: &Record) -> Option<Seen> {
    Some(Seen { size: record.size?, mtime_ns: record.mtime_ns?, ctime_ns: record.ctime_ns?, inode: record.inode? })
}

/// What a hashing stage works with.
pub struct Hashing<'a> {
    /// Where the files are.
    pub workspace: &'a Workspace,
    /// Where they go; `None` only hashes.
    pub pool: Option<&'a PoolWriter<'a>>,
    /// The run's stat cache.
    pub cache: Option<&'a StatCache<'a>>,
    /// Files above this many bytes are gaps.
    pub cap_bytes: u64,
    /// More bytes of new objects than this end the work.
    pub new_bytes_max: Option<u64>,
}

impl Hashing<'_> {
    /// Fills in a batch. A record whose path vanished is dropped, one whose kind changed is what it is now.
    ///
    /// # Errors
    /// [`crate::error::Kind::Limit`] when there is more new content than allowed, [`crate::error::Kind::Io`] for what is
    /// not a fact about a file.
    pub fn fill(&self, batch: Vec<Record>) -> Result<Vec<Record>> {
        let grains: Vec<Mutex<Vec<Record>>> = {
            let mut grains = Vec::with_capacity(batch.len().div_ceil(GRAIN));
            let mut batch = batch.into_iter().peekable();
            while batch.peek().is_some() {
                grains.push(Mutex::new(batch.by_ref().take(GRAIN).collect()));
            }
            grains
        };
        let next = AtomicUsize::new(0);
        let failed = Mutex::new(None);
        let work = || {
            let sink = self.pool.map_or(Sink::HashOnly, Sink::Store);
            let mut intake = Intake::new(self.workspace, sink, self.cap_bytes);
            while let Some(grain) = grains.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut grain = lock(grain);
                let filled: Result<Vec<Option<Record>>> =
                    std::mem::take(&mut *grain).into_iter().map(|record| self.one(&mut intake, record)).collect();
                match filled {
                    Ok(filled) => *grain = filled.into_iter().flatten().collect(),
                    Err(error) => {
                        next.store(usize::MAX / 2, Ordering::Relaxed);
                        *lock(&failed) = Some(error);
                    }
                }
            }
        };
        if let Some(pool) = self.pool {
            pool.expect(grains.len() * GRAIN);
        }
        let threads = crate::store::process::threads(THREADS_MAX);
        std::thread::scope(|scope| {
            for _ in 1..threads.min(grains.len()) {
                scope.spawn(work);
            }
            work();
        });
        if let Some(error) = lock(&failed).take() {
            return Err(error);
        }
        let filled: Vec<Record> = grains.into_iter().flat_map(|grain| std::mem::take(&mut *lock(&grain))).collect();
        self.check_growth(&filled)?;
        Ok(filled)
    }

    fn one(&self, intake: &mut Intake<'_>, record: Record) -> Result<Option<Record>> {
        match (record.kind, &record.content) {
            (_, Content::Gap(_)) | (EntryKind::Dir | EntryKind::Special, _) => Ok(Some(record)),
            (EntryKind::Link, _) => intake.take(&record.path),
            (EntryKind::File, _) => {
                let cached = match self.cache {
                    Some(cache) => cache.lookup(&record)?,
                    None => None,
                };
                match cached {
                    Some(id) => Ok(Some(Record { content: Content::Object(id), ..record })),
                    None => intake.take_known_file(&record.path),
                }
            }
        }
    }

    fn check_growth(&self, filled: &[Record]) -> Result<()> {
        let (Some(limit), Some(pool)) = (self.new_bytes_max, self.pool) else { return Ok(()) };
        let new_bytes = pool.new_bytes();
        if new_bytes <= limit {
            return Ok(());
        }
        let mut by_top: BTreeMap<&[u8], u64> = BTreeMap::new();
        for record in filled {
            let top = record.path.components().next().unwrap_or_default();
            *by_top.entry(top).or_default() += record.size.unwrap_or(0);
        }
        let largest = by_top.into_iter().max_by_key(|(_, bytes)| *bytes).map_or(&b""[..], |(top, _)| top);
        Err(Error::limit(format!(
            "the workspace has {new_bytes} bytes of new content, more than {limit}, most of it in {}",
            quote::name(largest)
        ))
        .hint("leave it out in .iterionignore, or raise the limit with --max-new-bytes"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
