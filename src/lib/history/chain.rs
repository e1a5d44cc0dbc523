//! The chain: a run's snapshots from head back through their parents.

use std::collections::HashSet;

use super::History;
use super::manifest::Manifest;
use crate::error::{Error, IoContext, Kind, Result};
use crate::store::id::SnapshotId;
use crate::store::layout;

/// Walks from a snapshot to the first one of its chain. A manifest that cannot be read ends the walk with its error.
pub struct Chain<'a> {
    history: &'a History,
    next: Option<SnapshotId>,
    seen: HashSet<SnapshotId>,
}

impl History {
    /// Walks the chain that ends in `newest`, newest first.
    #[must_use]
    pub fn chain(&self, newest: Option<SnapshotId>) -> Chain<'_> {
        Chain { history: self, next: newest, seen: HashSet::new() }
    }

    /// The ids of all manifests of the run, oldest first, whether the chain reaches them or not.
    ///
    /// # Errors
    /// [`Kind::Io`] when the directory cannot be listed; a missing one is empty.
    pub fn snapshot_ids(&self) -> Result<Vec<SnapshotId>> {
        let path = layout::snapshots(self.store().root(), self.run());
        let listed = match std::fs::read_dir(&path) {
            Ok(listed) => listed,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("cannot list", &path, &error)),
        };
        let mut ids = Vec::new();
        for entry in listed {
            let name = entry.on("cannot list", &path)?.file_name();
            ids.extend(name.to_str().and_then(|name| name.strip_suffix(".json")).and_then(SnapshotId::parse));
        }
        ids.sort_unstable();
        Ok(ids)
    }
}

impl Iterator for Chain<'_> {
    type Item = (SnapshotId, Result<Manifest>);

    fn next(&mut self) -> Option<Self::Item> {
        let id = self.next.take()?;
        if !self.seen.insert(id.clone()) {
            let path = layout::manifest(self.history.store().root(), self.history.run(), &id);
            let cycle = Error::damaged(path, "the chain of parents returns to it").with_kind(Kind::Damaged);
            return Some((id, Err(cycle)));
        }
        let manifest = self.history.manifest(&id);
        if let Ok(manifest) = &manifest {
            self.next.clone_from(&manifest.parent);
        }
        Some((id, manifest))
    }
}
