//! The rows of the account: by run, snapshot, directory, file or extension.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;

use super::{Census, contents, documents, history};
use crate::error::Result;
use crate::history::manifest::{self, Entry, Manifest};
use crate::store::id::{ObjectId, RunId, SnapshotId};
use crate::store::relpath::RelPath;
use crate::store::{Store, read_document};

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A run.
    Run,
    /// A snapshot.
    Snapshot,
    /// A directory so many components deep, with everything below it.
    Dir(usize),
    /// A path.
    File,
    /// What stands after the last dot of file names.
    Extension,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it stands for, as bytes.
    pub name: Vec<u8>,
    /// Bytes of all it names.
    pub total: u64,
    /// Bytes that nothing else names.
    pub unique: u64,
}

impl Row {
    /// Bytes that something else names too.
    #[must_use]
    pub fn shared(&self) -> u64 {
        self.total - self.unique
    }
}

/// Counts rows over one run, or over all runs; the largest first.
///
/// # Errors
/// [`crate::error::Kind::NotFound`] when there is no such run, [`crate::error::Kind::Io`]. Documents that cannot be read
/// are passed over; the census names them.
pub fn rows(store: &Store, run: Option<&RunId>, census: &Census, by: By) -> Result<Vec<Row>> {
    let dirs = match run {
        Some(run) => vec![crate::store::layout::run(history(store, run)?.store().root(), run)],
        None => store.runs().dirs.into_iter().map(|dir| dir.path).collect(),
    };
    let mut count = Count { census, by, rows: BTreeMap::new(), pending: HashMap::new() };
    for dir in dirs {
        let name = dir.file_name().map(|name| name.as_bytes().to_vec()).unwrap_or_default();
        for path in documents(&dir)? {
            let Some(manifest) = read_document(&path).ok().and_then(|bytes| manifest::parse(&bytes).ok()) else {
                continue;
            };
            match by {
                By::Run => count.add(&name, contents(&manifest)),
                By::Snapshot => {
                    let id = manifest.id.as_str().as_bytes();
                    let name = if run.is_some() { id.to_vec() } else { [name.as_slice(), id].join(&b'/') };
                    count.add(&name, contents(&manifest));
                    count.settle();
                }
                By::Dir(_) | By::File | By::Extension => count.add_paths(&manifest),
            }
        }
        if by == By::Run {
            count.settle();
        }
    }
    count.settle();
    let mut rows: Vec<Row> = count.rows.into_values().collect();
    rows.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.name.cmp(&b.name)));
    Ok(rows)
}

/// For each object the size, and per row that names it the number of documents that do.
type Pending = HashMap<ObjectId, (u64, HashMap<Vec<u8>, u32>)>;

struct Count<'a> {
    census: &'a Census,
    by: By,
    rows: BTreeMap<Vec<u8>, Row>,
    /// What has been seen and not yet been added to rows.
    pending: Pending,
}

impl Count<'_> {
    fn add(&mut self, name: &[u8], contents: impl IntoIterator<Item = (ObjectId, u64)>) {
        for (id, size) in contents {
            let (known, by_row) = self.pending.entry(id).or_default();
            *known = size.max(*known);
            *by_row.entry(name.to_vec()).or_default() += 1;
        }
    }

    fn add_paths(&mut self, manifest: &Manifest) {
        // A document counts once for an object, whatever number of its paths hold it.
        let mut of_document: HashMap<ObjectId, (u64, HashSet<Vec<u8>>)> = HashMap::new();
        for (entry, id, size) in manifest.files() {
            let (known, names) = of_document.entry(id).or_default();
            *known = size;
            names.insert(self.name(entry));
        }
        for (id, (size, names)) in of_document {
            let (known, by_row) = self.pending.entry(id).or_default();
            *known = size;
            for name in names {
                *by_row.entry(name).or_default() += 1;
            }
        }
    }

    fn name(&self, entry: &Entry) -> Vec<u8> {
        let path: &RelPath = &entry.path;
        match self.by {
            By::Dir(depth) => {
                let parts: Vec<&[u8]> =
                    path.parent().into_iter().flat_map(RelPath::components).take(depth).collect();
                if parts.is_empty() { b".".to_vec() } else { parts.join(&b'/') }
            }
            By::Extension => match path.file_name().iter().rposition(|byte| *byte == b'.') {
                Some(dot) if dot > 0 => path.file_name().get(dot..).unwrap_or_default().to_vec(),
                _ => b"(none)".to_vec(),
            },
            By::File | By::Run | By::Snapshot => path.as_bytes().to_vec(),
        }
    }

    /// Adds what is pending to its rows. An object is unique to a row if all documents that name it are the row's.
    fn settle(&mut self) {
        for (id, (size, by_row)) in self.pending.drain() {
            let is_alone = by_row.len() == 1;
            for (name, count) in by_row {
                let row = self.rows.entry(name).or_insert_with_key(|name| Row {
                    name: name.clone(),
                    total: 0,
                    unique: 0,
                });
                row.total = row.total.saturating_add(size);
                if is_alone && count >= self.census.count(id) {
                    row.unique = row.unique.saturating_add(size);
                }
            }
        }
    }
}

/// What each snapshot of a run's chain brought that none before it had, oldest first: id, own label, bytes.
///
/// # Errors
/// [`crate::error::Kind::NotFound`] when there is no such run, [`crate::error::Kind::Damaged`] when the index or a
/// manifest cannot be read.
pub fn growth(store: &Store, run: &RunId) -> Result<Vec<(SnapshotId, Option<String>, u64)>> {
    let history = history(store, run)?;
    let ids: Vec<SnapshotId> = history.chain(history.index()?.head).map(|(id, _)| id).collect();
    let mut known = HashSet::new();
    let mut steps = Vec::new();
    for id in ids.into_iter().rev() {
        let manifest = history.manifest(&id)?;
        let new = contents(&manifest).into_iter().filter(|(id, _)| known.insert(*id));
        let bytes = new.map(|(_, size)| size).fold(0, u64::saturating_add);
        steps.push((id, manifest.label, bytes));
    }
    Ok(steps)
}
