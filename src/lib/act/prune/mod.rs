//! Prune: removes objects that no manifest and no pin names any more (design section 6, Prune).
//!
//! ```text
//! mark    without a lock: every hash of every document of every run; one that cannot be read ends it
//! plan    list the pool: unmarked and older than the grace -> a value that can be printed or carried out
//! sweep   in slices under the pool's exclusive lock: mark what appeared since, look at each object again, unlink
//! ```
//!
//! The sweep only unlinks, so it works on a full disk, and it may be killed anywhere: the next one goes on.

pub(super) mod mark;
mod temps;

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::clock;
use crate::error::{Error, IoContext, Result};
use crate::store::fsio::{self, Durability};
use crate::store::id::{ObjectId, RunId};
use crate::store::pool::{Found, Pool, Removal, Sweep};
use crate::store::{Store, layout, seam};
use mark::{Marks, Reader};

/// How long an object is safe although nothing names it, unless `--grace` says otherwise.
pub const GRACE_SECONDS: u64 = 3600;
/// After this long a slice lets the others in; design section 6 promises 200 ms.
const SLICE: Duration = Duration::from_millis(120);
/// How long nobody is kept out between two slices.
const PAUSE: Duration = Duration::from_millis(5);
/// So many things are removed between two looks at the clock.
const BLOCK: usize = 16;
/// Threads that remove: beyond that the disk is the limit.
const THREADS_MAX: usize = 8;

/// Where the work stands, for a person who waits.
#[derive(Debug, Clone, Copy)]
pub enum Progress {
    /// So many of so many documents have been read.
    Marked(usize, usize),
    /// So many of so many things have been removed.
    Swept(usize, usize),
}

/// Something that is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doomed {
    /// An object that nothing names.
    Object(ObjectId),
    /// What a killed writer of an object left in the pool.
    ObjectTemp(Vec<u8>),
    /// What a killed writer of a document left in a run's history.
    DocumentTemp(PathBuf),
}

impl Doomed {
    /// What a person calls it: an object's id, or a path relative to the store.
    #[must_use]
    pub fn name(&self, store: &Store) -> Vec<u8> {
        use std::os::unix::ffi::OsStrExt;
        let path = match self {
            Self::Object(id) => return id.hex().to_vec(),
            Self::ObjectTemp(name) => layout::pool(store.root()).join(std::ffi::OsStr::from_bytes(name)),
            Self::DocumentTemp(path) => path.clone(),
        };
        path.strip_prefix(store.root()).unwrap_or(&path).as_os_str().as_bytes().to_vec()
    }
}

/// What a prune would do.
pub struct Plan<'a> {
    store: &'a Store,
    pool: Option<Pool>,
    reader: Reader<'a>,
    not_after_ns: i128,
    /// What is to go, and how many bytes each holds.
    pub doomed: Vec<(Doomed, u64)>,
    /// Shards that will be empty.
    empty_shards: Vec<u8>,
    /// Manifests and pins that were read.
    pub documents: usize,
    /// Objects that they name.
    pub live: usize,
    /// What stays for now.
    pub young: Young,
    /// What lies in the pool and is nobody's; it stays.
    pub strangers: Vec<PathBuf>,
    /// What could not be examined; it stays.
    pub troubles: Vec<Error>,
}

/// What a prune did.
#[derive(Debug, Default)]
pub struct Report {
    /// Things removed.
    pub removed: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Things that were relied on, or removed by somebody else, since the plan was made.
    pub spared: usize,
    /// Empty shards removed.
    pub shards: usize,
    /// What could not be removed.
    pub troubles: Vec<Error>,
}

/// Objects that nothing names and that stay for now, because they are younger than the grace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Young {
    /// How many.
    pub objects: u64,
    /// Their size.
    pub bytes: u64,
}

impl Young {
    /// A sentence for the person, where there are any.
    #[must_use]
    pub fn text(self, grace: Duration) -> Option<String> {
        let Self { objects, bytes } = self;
        let seconds = grace.as_secs();
        let units = [(86_400, "d"), (3600, "h"), (60, "m"), (1, "s")];
        let unit = units.into_iter().find(|(unit, _)| seconds > 0 && seconds.is_multiple_of(*unit));
        let grace = unit.map_or_else(|| format!("{grace:?}"), |(unit, name)| format!("{}{name}", seconds / unit));
        (objects > 0)
            .then(|| format!("{objects} objects ({bytes} bytes) are younger than --grace {grace} and stay"))
    }
}

/// A pool that is reached through a link may serve another store too, whose manifests nobody here reads.
fn refuse_linked_pool(store: &Store) -> Result<()> {
    let path = layout::pool(store.root());
    match rustix::fs::lstat(&path) {
        Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Symlink => {
            Err(Error::refused(format!("the pool {} is a symbolic link", crate::stream::quote::path(&path)))
                .at(path)
                .hint("prune the store that it belongs to; a pool of its own can be moved by moving the store"))
        }
        _ => Ok(()),
    }
}

/// Finds out what can go. Changes nothing but the time of the pool's lock file.
///
/// # Errors
/// [`crate::error::Kind::Damaged`] naming the manifest, pin or directory that could not be read completely.
pub fn plan<'a>(store: &'a Store, grace: Duration, progress: &(dyn Fn(Progress) + Sync)) -> Result<Plan<'a>> {
    plan_without(store, &[], grace, progress)
}

/// What a prune would do once some runs are gone; nothing that could be carried out.
#[derive(Debug)]
pub struct Outlook {
    /// Things that would be removed.
    pub removed: usize,
    /// Their bytes.
    pub bytes: u64,
    /// What would stay for now.
    pub young: Young,
    /// What could not be examined.
    pub troubles: Vec<Error>,
}

/// Finds out what could go if `without` were deleted. Changes as little as [`plan`].
///
/// # Errors
/// As [`plan`].
pub fn outlook(store: &Store, without: &[RunId], grace: Duration) -> Result<Outlook> {
    let plan = plan_without(store, without, grace, &|_| {})?;
    Ok(Outlook { removed: plan.doomed.len(), bytes: plan.bytes(), young: plan.young, troubles: plan.troubles })
}

fn plan_without<'a>(
    store: &'a Store,
    without: &'a [RunId],
    grace: Duration,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Plan<'a>> {
    refuse_linked_pool(store)?;
    let pool = Pool::open(store)?;
    let now_ns = match &pool {
        // Where nothing may be written nothing will be removed either: then any clock will do for a look.
        Some(pool) => pool.now_ns().unwrap_or_else(|_| i128::from(clock::now_ns())),
        None => i128::from(clock::now_ns()),
    };
    let not_after_ns = now_ns.saturating_sub(i128::try_from(grace.as_nanos()).unwrap_or(i128::MAX));
    let marks = Marks::new();
    let mut reader = Reader::new(store, now_ns).without(without);
    reader.read_new(&marks, &|done, all| progress(Progress::Marked(done, all)))?;
    let (documents, live) = (reader.documents(), marks.count());
    let mut plan = Plan {
        store,
        pool: None,
        reader,
        not_after_ns,
        doomed: Vec::new(),
        empty_shards: Vec::new(),
        documents,
        live,
        young: Young::default(),
        strangers: Vec::new(),
        troubles: Vec::new(),
    };
    // A store without any run directory may be one whose runs lie on a disk that is not there.
    if let Some(pool) = pool
        && layout::runs(store.root()).is_dir()
    {
        plan.survey(&pool, &marks)?;
        plan.pool = Some(pool);
    }
    for (path, size) in temps::stale(store, not_after_ns)? {
        if layout::run_of(store.root(), &path).is_some_and(|run| without.contains(&run)) {
            continue;
        }
        plan.doomed.push((Doomed::DocumentTemp(path), size));
    }
    seam::hook("prune-planned");
    Ok(plan)
}

impl Plan<'_> {
    /// Bytes that the plan frees.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.doomed.iter().map(|(_, size)| *size).fold(0, u64::saturating_add)
    }

    fn survey(&mut self, pool: &Pool, marks: &Marks) -> Result<()> {
        let not_after_ns = self.not_after_ns;
        let mut doomed_in_shard = 0;
        // A shard is listed whole before it is reported itself, and marked objects are not reported.
        pool.survey(&|id| marks.has(id), &mut |found| match found {
            Found::Object { id, size, mtime_ns, .. } if mtime_ns <= not_after_ns => {
                doomed_in_shard += 1;
                self.doomed.push((Doomed::Object(id), size));
            }
            Found::Temp { name, size, mtime_ns } if mtime_ns <= not_after_ns => {
                self.doomed.push((Doomed::ObjectTemp(name), size));
            }
            Found::Object { size, .. } => {
                self.young.objects += 1;
                self.young.bytes = self.young.bytes.saturating_add(size);
            }
            Found::Temp { .. } => {}
            Found::Shard { shard, children, mtime_ns, .. } => {
                // A young empty shard is one that somebody is about to fill.
                if children == doomed_in_shard && (children > 0 || mtime_ns <= not_after_ns) {
                    self.empty_shards.push(shard);
                }
                doomed_in_shard = 0;
            }
            Found::Stranger(path) => self.strangers.push(path),
            Found::Unreadable(error) => {
                doomed_in_shard = 0;
                self.troubles.push(error);
            }
        })
    }

    /// Removes what the plan names and is still not needed; `removed` hears of each thing that went, slice by slice.
    ///
    /// # Errors
    /// [`crate::error::Kind::Damaged`] when a document appeared that cannot be read, [`crate::error::Kind::Conflict`] when the pool's lock was not
    /// had in time, [`crate::error::Kind::Io`]. What was removed by then was garbage.
    pub fn carry_out(
        mut self,
        progress: &(dyn Fn(Progress) + Sync),
        removed: &mut dyn FnMut(&Doomed, u64),
    ) -> Result<Report> {
        let mut report = Report::default();
        let all = self.doomed.len();
        let doomed = std::mem::take(&mut self.doomed);
        let mut rest = doomed.as_slice();
        let spared = Marks::new();
        if let Some(pool) = self.pool.take()
            && (all > 0 || !self.empty_shards.is_empty())
        {
            self.flush_history()?;
            while !rest.is_empty() {
                // Most of what appeared is read before anybody is kept out.
                self.reader.read_new(&spared, &|_, _| {})?;
                seam::hook("prune-slice");
                let sweep = pool.sweep()?;
                let begun = Instant::now();
                self.reader.read_new(&spared, &|_, _| {})?;
                let done = slice(rest, &|doomed| self.remove(&sweep, &spared, doomed), begun);
                drop(sweep);
                let (swept, left) = rest.split_at_checked(done.len()).unwrap_or((rest, &[]));
                for ((doomed, size), done) in swept.iter().zip(done) {
                    report.count(done, *size, || removed(doomed, *size));
                }
                rest = left;
                progress(Progress::Swept(all - rest.len(), all));
                if !rest.is_empty() {
                    std::thread::sleep(PAUSE);
                }
            }
            self.remove_shards(&pool, &mut report)?;
        } else {
            for (doomed, size) in rest {
                let done = match doomed {
                    Doomed::DocumentTemp(path) => temps::remove(path, self.not_after_ns),
                    Doomed::Object(_) | Doomed::ObjectTemp(_) => Ok(Removal::Spared),
                };
                report.count(done, *size, || removed(doomed, *size));
            }
        }
        Ok(report)
    }

    fn remove(&self, sweep: &Sweep<'_>, spared: &Marks, doomed: &Doomed) -> Result<Removal> {
        match doomed {
            Doomed::Object(id) if spared.has(*id) => Ok(Removal::Spared),
            Doomed::Object(id) => sweep.remove_object(*id, self.not_after_ns),
            Doomed::ObjectTemp(name) => sweep.remove_temp(name, self.not_after_ns),
            Doomed::DocumentTemp(path) => temps::remove(path, self.not_after_ns),
        }
    }

    fn remove_shards(&self, pool: &Pool, report: &mut Report) -> Result<()> {
        for batch in self.empty_shards.chunks(16) {
            let sweep = pool.sweep()?;
            for shard in batch {
                match sweep.remove_shard(*shard) {
                    Ok(Removal::Removed) => report.shards += 1,
                    Ok(_) => {}
                    Err(error) => report.troubles.push(error),
                }
            }
        }
        Ok(())
    }

    /// A manifest that was forgotten must stay forgotten after a power cut, now that its objects go.
    fn flush_history(&self) -> Result<()> {
        if self.store.durability() == Durability::Off {
            return Ok(());
        }
        // A run may be a link to another disk, and so may its history.
        let mut disks = HashSet::new();
        let histories = mark::run_dirs(self.store)?.into_iter().map(|run| layout::snapshots_below(&run.path));
        for path in std::iter::once(layout::runs(self.store.root())).chain(histories) {
            let dir = match fsio::open_store_dir(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                other => other.on("cannot open", &path)?,
            };
            if disks.insert(rustix::fs::fstat(&dir).on("cannot examine", &path)?.st_dev) {
                fsio::flush_file_system(dir.as_fd(), b"the runs").on("cannot flush", &path)?;
            }
        }
        Ok(())
    }
}

/// Removes as many things as one slice has time for, on all processors; says of each, from the first on, what came of it.
fn slice(
    doomed: &[(Doomed, u64)],
    remove: &(dyn Fn(&Doomed) -> Result<Removal> + Sync),
    begun: Instant,
) -> Vec<Result<Removal>> {
    let blocks: Vec<_> = doomed.chunks(BLOCK).map(|block| (block, OnceLock::new())).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        // A block that was taken is finished, so that what is done is the front of the list; and one always is.
        while let Some((block, done)) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _ = done.set(block.iter().map(|(doomed, _)| remove(doomed)).collect::<Vec<_>>());
            if begun.elapsed() >= SLICE {
                return;
            }
        }
    };
    let threads = crate::store::process::threads(THREADS_MAX);
    std::thread::scope(|scope| {
        for _ in 1..threads.min(blocks.len()) {
            scope.spawn(work);
        }
        work();
    });
    blocks.into_iter().map_while(|(_, done)| done.into_inner()).flatten().collect()
}

impl Report {
    fn count(&mut self, done: Result<Removal>, size: u64, gone: impl FnOnce()) {
        match done {
            Ok(Removal::Removed) => {
                self.removed += 1;
                self.bytes = self.bytes.saturating_add(size);
                gone();
            }
            Ok(Removal::Spared | Removal::Absent) => self.spared += 1,
            Err(error) => self.troubles.push(error),
        }
    }
}
