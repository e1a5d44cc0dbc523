//! The rows of the account: by run, snapshot, directory, file or extension.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;

use super::{Census, contents, documents, history};
use crate::act::prune::mark::IdMap;
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
    let mut count = Count::new(census, by);
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
    let mut rows = count.rows;
    rows.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.name.cmp(&b.name)));
    Ok(rows)
}

/// The place of a row.
type Place = u32;

/// An object that was seen: per row that names it the number of documents that do. Most are named by one row.
struct Pending {
    size: u64,
    first: (Place, u32),
    others: HashMap<Place, u32>,
}

struct Count<'a> {
    census: &'a Census,
    by: By,
    rows: Vec<Row>,
    places: HashMap<Vec<u8>, Place>,
    /// What has been seen and not yet been added to rows.
    pending: IdMap<Pending>,
}

impl<'a> Count<'a> {
    fn new(census: &'a Census, by: By) -> Self {
        Self { census, by, rows: Vec::new(), places: HashMap::new(), pending: IdMap::default() }
    }

    /// The row of a name, which is made if there is none.
    fn place(&mut self, name: Vec<u8>) -> Place {
        if let Some(place) = self.places.get(&name) {
            return *place;
        }
        let place = Place::try_from(self.rows.len()).unwrap_or(Place::MAX);
        self.rows.push(Row { name: name.clone(), total: 0, unique: 0 });
        self.places.insert(name, place);
        place
    }

    fn note(&mut self, id: ObjectId, size: u64, place: Place) {
        let one = Pending { size, first: (place, 0), others: HashMap::new() };
        let known = self.pending.entry(id).or_insert(one);
        known.size = known.size.max(size);
        let count =
            if known.first.0 == place { &mut known.first.1 } else { known.others.entry(place).or_default() };
        *count = count.saturating_add(1);
    }

    fn add(&mut self, name: &[u8], contents: IdMap<u64>) {
        if contents.is_empty() {
            return;
        }
        let place = self.place(name.to_vec());
        for (id, size) in contents {
            self.note(id, size, place);
        }
    }

    fn add_paths(&mut self, manifest: &Manifest) {
        let mut named: Vec<(ObjectId, Place, u64)> = Vec::new();
        for (entry, id, size) in manifest.files() {
            let name = self.name(entry);
            named.push((id, self.place(name), size));
        }
        // A document counts once for an object and a row, whatever number of its paths hold it.
        named.sort_unstable();
        named.dedup_by_key(|(id, place, _)| (*id, *place));
        for (id, place, size) in named {
            self.note(id, size, place);
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
        for (id, Pending { size, first, others }) in self.pending.drain() {
            let is_unique = others.is_empty() && first.1 >= self.census.count(id);
            for (place, _) in std::iter::once(first).chain(others) {
                let Some(row) = self.rows.get_mut(place as usize) else { continue };
                row.total = row.total.saturating_add(size);
                if is_unique {
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
