//! Du: who in a store needs how many bytes, and what clearing up would free.
//!
//! A content counts once however often it is named. It is *unique* to a row if no other row, and nothing outside of what
//! the rows are about, names it: that is what would be freed if the row alone went. Sizes are those that manifests
//! record. It only reads.

mod retention;
mod rows;

use std::path::{Path, PathBuf};

use super::prune::mark::IdMap;
use crate::error::{Error, Result};
use crate::history::History;
use crate::history::manifest::{self, Manifest};
use crate::store::id::{ObjectId, RunId};
use crate::store::pool::{Found, Pool};
use crate::store::{Store, layout, read_document};

pub use retention::{Choice, choices};
pub use rows::{By, Row, growth, rows};

/// What the pool holds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Pooled {
    /// Objects in the pool.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects that nothing names: what a prune without grace would remove.
    pub unneeded_objects: u64,
    /// Their bytes.
    pub unneeded_bytes: u64,
}

/// What manifests and pins of a store name.
#[derive(Default)]
pub struct Census {
    /// How many documents name each object, and its size where one says so.
    named: IdMap<(u64, u32)>,
    /// Documents that could not be read; what they name is not counted.
    pub unread: Vec<Error>,
}

impl Census {
    /// Reads every document of every run.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the runs cannot be listed.
    pub fn take(store: &Store) -> Result<Self> {
        let mut census = Self::default();
        let runs = store.runs();
        census.unread.extend(runs.troubles.into_iter().map(Error::from));
        for dir in runs.dirs {
            for path in documents(&dir.path)? {
                if let Err(error) = census.read(&path) {
                    census.unread.push(error);
                }
            }
        }
        Ok(census)
    }

    fn read(&mut self, path: &Path) -> Result<()> {
        let bytes = read_document(path)?;
        // A pin says again what its snapshot says, and goes with it.
        let weight = u32::from(!is_pin_of_a_snapshot(path));
        let mut sizes: IdMap<u64> = IdMap::default();
        crate::history::hashes::for_each_named(&bytes, &mut |id| {
            sizes.entry(id).or_insert(0);
        })
        .map_err(|problem| Error::damaged(path, problem))?;
        if let Ok(manifest) = manifest::parse(&bytes) {
            sizes.extend(contents(&manifest));
        }
        for (id, size) in sizes {
            let known = self.named.entry(id).or_insert((size, 0));
            known.0 = known.0.max(size);
            known.1 = known.1.saturating_add(weight);
        }
        Ok(())
    }

    /// Bytes of all contents that are named, each once.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.named.values().filter(|(_, count)| *count > 0).map(|(size, _)| *size).sum()
    }

    fn count(&self, id: ObjectId) -> u32 {
        self.named.get(&id).map_or(0, |(_, count)| *count)
    }

    /// Looks at the pool.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be listed.
    pub fn pooled(&self, store: &Store) -> Result<Pooled> {
        let mut pooled = Pooled::default();
        if let Some(pool) = Pool::open(store)? {
            pool.survey(&|_| false, &mut |found| {
                if let Found::Object { id, size, .. } = found {
                    pooled.objects += 1;
                    pooled.bytes = pooled.bytes.saturating_add(size);
                    if !self.named.contains_key(&id) {
                        pooled.unneeded_objects += 1;
                        pooled.unneeded_bytes = pooled.unneeded_bytes.saturating_add(size);
                    }
                }
            })?;
        }
        Ok(pooled)
    }
}

/// The contents of a snapshot that are in the pool, each once.
fn contents(manifest: &Manifest) -> IdMap<u64> {
    manifest.contents().collect()
}

fn is_pin_of_a_snapshot(path: &Path) -> bool {
    let owner = path.file_name().and_then(|name| name.to_str()?.strip_prefix(layout::PIN_PREFIX));
    owner.is_some_and(|owner| path.with_file_name(owner).exists())
}

/// The documents of a run, sorted.
fn documents(run: &Path) -> Result<Vec<PathBuf>> {
    let dir = layout::snapshots_below(run);
    let listed = match std::fs::read_dir(&dir) {
        Ok(listed) => listed,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("cannot list", dir, &error)),
    };
    let mut paths = listed
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(|error| Error::io("cannot list", dir, &error))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    Ok(paths)
}

/// The history of a run that must be there.
fn history(store: &Store, run: &RunId) -> Result<History> {
    if layout::run(store.root(), run).is_dir() {
        return Ok(History::new(store, run.clone()));
    }
    Err(store.no_run(run))
}
