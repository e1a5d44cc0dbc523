//! Every snapshot of a run, as far as a forget must know it.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::history::History;
use crate::history::index::Index;
use crate::store::id::SnapshotId;

/// One snapshot.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) id: SnapshotId,
    pub(super) parent: Option<SnapshotId>,
    /// The label it was made under.
    pub(super) own: Option<String>,
    /// The labels that point to it now.
    pub(super) labels: Vec<String>,
}

/// The snapshots from `tip` back, oldest first. A parent that was lost ends the chain, and so does a cycle; neither is
/// for a forget to mend.
fn walk(all: &BTreeMap<SnapshotId, Snapshot>, tip: &SnapshotId) -> Vec<SnapshotId> {
    let mut chain: Vec<SnapshotId> = Vec::new();
    let mut next = Some(tip);
    while let Some(snapshot) = next.and_then(|id| all.get(id)).filter(|_| chain.len() < all.len()) {
        chain.push(snapshot.id.clone());
        next = snapshot.parent.as_ref();
    }
    chain.reverse();
    chain
}

pub(super) struct Survey {
    all: BTreeMap<SnapshotId, Snapshot>,
    /// The chain, oldest first.
    chain: Vec<SnapshotId>,
}

impl Survey {
    pub(super) fn take(history: &History, index: &Index) -> Result<Self> {
        let mut all: BTreeMap<SnapshotId, Snapshot> = BTreeMap::new();
        for id in history.snapshot_ids()? {
            let manifest = history.manifest(&id)?;
            let labels = index.labels_of(&id).into_iter().map(str::to_owned).collect();
            all.insert(id.clone(), Snapshot { id, parent: manifest.parent, own: manifest.label, labels });
        }
        let chain = index.head.as_ref().map(|head| walk(&all, head)).unwrap_or_default();
        Ok(Self { all, chain })
    }

    /// Every chain, oldest first: head's, and those that end in a snapshot which neither it nor another one reaches.
    pub(super) fn chains(&self) -> Vec<Vec<&Snapshot>> {
        let mut reached: BTreeSet<&SnapshotId> = self.chain.iter().collect();
        reached.extend(self.all.values().filter_map(|snapshot| snapshot.parent.as_ref()));
        let others = self.all.keys().filter(|id| !reached.contains(id)).map(|tip| walk(&self.all, tip));
        let chains = std::iter::once(self.chain.clone()).chain(others);
        chains.map(|chain| chain.iter().filter_map(|id| self.all.get(id)).collect()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, id: &SnapshotId) -> Option<&Snapshot> {
        self.all.get(id)
    }

    /// All snapshots, whether the chain reaches them or not.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Snapshot> {
        self.all.values().rev()
    }

    /// The chain, oldest first.
    pub(super) fn chain(&self) -> impl DoubleEndedIterator<Item = &Snapshot> {
        self.chain.iter().filter_map(|id| self.all.get(id))
    }

    pub(super) fn head(&self) -> Option<&SnapshotId> {
        self.chain.last()
    }
}
