//! The mark: every object that any manifest or pin of any run names, and what appeared since.
//!
//! Every directory entry below `runs/` counts, whatever its name and also where it is a link to another disk. A document
//! that cannot be read completely ends the mark: what it names is unknown, so nothing may be removed.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Kind, Result, describe};
use crate::history::hashes;
use crate::store::id::{ObjectId, RunId};
use crate::store::runs::RunDir;
use crate::store::{Store, layout, read_document};

/// Reading threads: beyond that the disk is the limit.
const THREADS_MAX: usize = 8;
/// A directory changed within this time before the mark began is listed again every time: its time may not tell.
const SETTLED_NS: i128 = 2_000_000_000;

/// Object ids need no hashing: they are hashes.
#[derive(Default)]
pub(in crate::act) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        // The last bytes: the first one already chose the shard.
        let tail = bytes.last_chunk().copied().unwrap_or_default();
        self.0 ^= u64::from_ne_bytes(tail);
    }
}

/// Object ids with something each.
pub(in crate::act) type IdMap<T> = HashMap<ObjectId, T, BuildHasherDefault<IdHasher>>;
/// Object ids, each once.
pub(in crate::act) type IdSet = HashSet<ObjectId, BuildHasherDefault<IdHasher>>;

/// A set of object ids that many threads fill: about 32 bytes for each.
pub(in crate::act) struct Marks(Vec<Mutex<IdSet>>);

impl Marks {
    pub(in crate::act) fn new() -> Self {
        Self((0..256).map(|_| Mutex::default()).collect())
    }

    fn shard(&self, id: ObjectId) -> Option<std::sync::MutexGuard<'_, IdSet>> {
        let [first, ..] = *id.as_bytes();
        Some(self.0.get(usize::from(first))?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn insert(&self, id: ObjectId) {
        if let Some(mut set) = self.shard(id) {
            set.insert(id);
        }
    }

    pub(in crate::act) fn has(&self, id: ObjectId) -> bool {
        // A set that is not there would be a mistake of ours; then everything is alive.
        self.shard(id).is_none_or(|set| set.contains(&id))
    }

    pub(in crate::act) fn count(&self) -> usize {
        self.0.iter().map(|set| set.lock().unwrap_or_else(PoisonError::into_inner).len()).sum()
    }
}

/// What tells one state of a file or directory from another: device, inode, modification time.
type Fingerprint = (u64, u64, i64, i64);

fn fingerprint(meta: &Metadata) -> Fingerprint {
    (meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec())
}

/// One snapshots directory as it was last listed.
struct Listed {
    own: Fingerprint,
    documents: HashMap<Vec<u8>, Fingerprint>,
}

/// All snapshots directories of a store, as far as they have been read.
pub(in crate::act) struct Reader<'a> {
    store: &'a Store,
    /// Runs that do not count.
    without: &'a [RunId],
    begun_ns: i128,
    listed: HashMap<PathBuf, Listed>,
    documents: usize,
}

impl<'a> Reader<'a> {
    /// Begins with nothing read; `begun_ns` is now by the store's clock.
    pub(in crate::act) fn new(store: &'a Store, begun_ns: i128) -> Self {
        Self { store, without: &[], begun_ns, listed: HashMap::new(), documents: 0 }
    }

    /// Reads as if these runs were not there.
    pub(in crate::act) fn without(self, without: &'a [RunId]) -> Self {
        Self { without, ..self }
    }

    /// How many documents have been read.
    pub(in crate::act) fn documents(&self) -> usize {
        self.documents
    }

    /// Marks what the documents name that appeared or changed since the last call; says how many those were.
    ///
    /// # Errors
    /// [`Kind::Damaged`], naming the document or directory that cannot be read completely.
    pub(in crate::act) fn read_new(
        &mut self,
        marks: &Marks,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<usize> {
        let documents = self.list_new()?;
        read_all(&documents, marks, progress)?;
        self.documents += documents.len();
        Ok(documents.len())
    }

    fn list_new(&mut self) -> Result<Vec<PathBuf>> {
        let mut new = Vec::new();
        for run in run_dirs(self.store)? {
            if run.id.is_some_and(|id| self.without.contains(&id)) {
                continue;
            }
            let Some((dir, meta)) = snapshots_dir(&run.path)? else { continue };
            let own = fingerprint(&meta);
            let is_settled = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec())
                < self.begun_ns - SETTLED_NS;
            if is_settled && self.listed.get(&dir).is_some_and(|listed| listed.own == own) {
                continue;
            }
            let documents = list_documents(&dir)?;
            let old = self.listed.insert(dir.clone(), Listed { own, documents: HashMap::new() });
            let old = old.map(|old| old.documents).unwrap_or_default();
            new.extend(
                documents
                    .iter()
                    .filter(|(name, state)| old.get(*name) != Some(state))
                    .map(|(name, _)| dir.join(std::ffi::OsStr::from_bytes(name))),
            );
            if let Some(listed) = self.listed.get_mut(&dir) {
                listed.documents = documents;
            }
        }
        Ok(new)
    }
}

/// Every run of the store.
///
/// # Errors
/// [`Kind::Damaged`] when one of them, or `runs/` itself, cannot be looked into.
pub(in crate::act) fn run_dirs(store: &Store) -> Result<Vec<RunDir>> {
    store.runs().all().map_err(|trouble| {
        let is_run = trouble.path != layout::runs(store.root());
        let problem = if is_run { "is a run that cannot be reached" } else { "cannot be listed" };
        unknown(&trouble.path, problem, &trouble.cause)
    })
}

/// A run's snapshots directory; `None` where the run has none.
pub(in crate::act) fn snapshots_dir(run: &Path) -> Result<Option<(PathBuf, Metadata)>> {
    let (history, dir) = (layout::history_below(run), layout::snapshots_below(run));
    match std::fs::metadata(&dir) {
        Ok(meta) => Ok(Some((dir, meta))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Absent is absent only if no link that leads nowhere stands in its place.
            let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
            if is_link(&dir) || (is_link(&history) && std::fs::metadata(&history).is_err()) {
                return Err(unknown(&dir, "cannot be reached", &error));
            }
            Ok(None)
        }
        Err(error) => Err(unknown(&dir, "cannot be reached", &error)),
    }
}

fn is_there(path: &Path) -> bool {
    !matches!(std::fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

fn list_documents(dir: &Path) -> Result<HashMap<Vec<u8>, Fingerprint>> {
    let failed = |error: &io::Error| unknown(dir, "cannot be listed", error);
    let mut documents = HashMap::new();
    for entry in std::fs::read_dir(dir).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        let name = entry.file_name();
        if !name.as_bytes().ends_with(b".json") {
            continue;
        }
        match entry.metadata() {
            Ok(meta) => drop(documents.insert(name.as_bytes().to_vec(), fingerprint(&meta))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unknown(&entry.path(), "cannot be examined", &error)),
        }
    }
    Ok(documents)
}

fn read_all(documents: &[PathBuf], marks: &Marks, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let work = || {
        while let Some(path) = documents.get(next.fetch_add(1, Ordering::Relaxed)) {
            progress(next.load(Ordering::Relaxed).min(documents.len()), documents.len());
            if let Err(error) = read_one(path, marks) {
                next.store(usize::MAX / 2, Ordering::Relaxed);
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
    };
    let threads = crate::store::process::threads(THREADS_MAX);
    std::thread::scope(|scope| {
        for _ in 1..threads.min(documents.len()) {
            scope.spawn(work);
        }
        work();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

fn read_one(path: &Path, marks: &Marks) -> Result<()> {
    let document = match read_document(path) {
        Ok(document) => document,
        // Forgotten since it was listed; a link that leads nowhere is still there.
        Err(error) if error.kind() == Kind::NotFound && !is_there(path) => return Ok(()),
        Err(error) => return Err(stops(error)),
    };
    hashes::for_each_named(&document, &mut |id| marks.insert(id))
        .map_err(|problem| stops(Error::damaged(path, problem)))
}

/// The error about something that may name objects and cannot be read.
fn unknown(path: &Path, problem: &str, cause: &io::Error) -> Error {
    stops(Error::damaged(path, format!("{problem}: {}", describe(cause))))
}

fn stops(error: Error) -> Error {
    error
        .with_kind(Kind::Damaged)
        .while_doing("it is not known which objects are needed, so nothing is removed")
        .hint("'wt-fsck' examines the store and can put a damaged manifest aside")
}
