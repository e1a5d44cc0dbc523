//! Dropping the oldest snapshots until the files of the rest take no more than so many bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::choose::{is_kept, places};
use super::survey::{Snapshot, Survey};
use super::{Request, protecting};
use crate::error::Result;
use crate::history::History;
use crate::history::manifest::Manifest;
use crate::store::id::{ObjectId, RunId, SnapshotId};
use crate::store::{Store, layout};

/// The files of some snapshots, each content weighed once.
#[derive(Default)]
struct Weight {
    uses: HashMap<ObjectId, (u64, usize)>,
    bytes: u64,
}

impl Weight {
    fn add(&mut self, manifest: &Manifest) {
        for (id, size) in contents(manifest) {
            let (_, count) = self.uses.entry(id).or_insert((size, 0));
            if *count == 0 {
                self.bytes = self.bytes.saturating_add(size);
            }
            *count += 1;
        }
    }

    fn drop(&mut self, manifest: &Manifest) {
        for (id, size) in contents(manifest) {
            if let Some((_, count)) = self.uses.get_mut(&id) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    self.bytes = self.bytes.saturating_sub(size);
                }
            }
        }
    }
}

/// The contents of a snapshot, each once.
fn contents(manifest: &Manifest) -> HashMap<ObjectId, u64> {
    manifest.files().map(|(_, id, size)| (id, size)).collect()
}

/// What may go, in the order in which it goes: what head does not reach, then the oldest of the chain; of every chain only
/// what comes before the first that is protected, so that no boundary goes from between two that stay.
fn order<'s>(survey: &'s Survey, request: &Request) -> Vec<&'s Snapshot> {
    let places = places(survey);
    let is_protected = |snapshot: &Snapshot| {
        let labels = protecting(&snapshot.labels, &request.drop_labels, &[]);
        !labels.is_empty() || is_kept(&request.policy, snapshot, places.get(&snapshot.id).copied(), survey)
    };
    let mut unreached = BTreeMap::new();
    for chain in survey.chains().into_iter().skip(1) {
        let oldest = chain.into_iter().take_while(|snapshot| !is_protected(snapshot));
        unreached
            .extend(oldest.filter(|snapshot| !places.contains_key(&snapshot.id)).map(|found| (&found.id, found)));
    }
    unreached.into_values().chain(survey.chain().take_while(|snapshot| !is_protected(snapshot))).collect()
}

/// Dooms snapshots of one run. Says how many bytes the rest takes where that is still too many.
pub(super) fn shrink(
    history: &History,
    survey: &Survey,
    request: &Request,
    limit: u64,
    doomed: &mut BTreeSet<SnapshotId>,
) -> Result<Option<u64>> {
    let mut weight = Weight::default();
    for snapshot in survey.newest_first() {
        weight.add(&history.manifest(&snapshot.id)?);
    }
    for snapshot in order(survey, request) {
        if weight.bytes <= limit {
            break;
        }
        weight.drop(&history.manifest(&snapshot.id)?);
        doomed.insert(snapshot.id.clone());
    }
    Ok((weight.bytes > limit).then_some(weight.bytes))
}

/// What must go from which run, so that the store holds no more than so many bytes.
#[derive(Debug, Default)]
pub struct Across {
    /// Runs, and the snapshots to forget by name.
    pub runs: Vec<(RunId, Vec<SnapshotId>)>,
    /// Bytes of the files of the rest, where that is still too many.
    pub still_bytes: Option<u64>,
}

/// Finds the oldest snapshots of all runs that must go until the files of the rest take no more than `limit` bytes.
/// Nothing is locked: each run's part is planned again when it is carried out.
///
/// # Errors
/// [`crate::error::Kind::Damaged`] when an index or manifest cannot be read, [`crate::error::Kind::Io`].
pub fn across(store: &Store, request: &Request, limit: u64) -> Result<Across> {
    let mut weight = Weight::default();
    let mut runs = Vec::new();
    for run in run_ids(store)? {
        let history = History::new(store, run);
        let survey = Survey::take(&history, &history.index()?)?;
        for snapshot in survey.newest_first() {
            weight.add(&history.manifest(&snapshot.id)?);
        }
        runs.push((history, survey));
    }
    let mut queues: Vec<_> = runs.iter().map(|(_, survey)| order(survey, request).into_iter().peekable()).collect();
    let mut doomed: Vec<Vec<SnapshotId>> = vec![Vec::new(); runs.len()];
    while weight.bytes > limit {
        let oldest = queues
            .iter_mut()
            .zip(&runs)
            .zip(&mut doomed)
            .filter_map(|((queue, run), doomed)| Some((queue.peek()?.id.clone(), queue, run, doomed)))
            .min_by(|a, b| a.0.cmp(&b.0));
        let Some((id, queue, (history, _), doomed)) = oldest else { break };
        weight.drop(&history.manifest(&id)?);
        queue.next();
        doomed.push(id);
    }
    let runs = runs.iter().zip(doomed).filter(|(_, ids)| !ids.is_empty());
    Ok(Across {
        runs: runs.map(|((history, _), ids)| (history.run().clone(), ids)).collect(),
        still_bytes: (weight.bytes > limit).then_some(weight.bytes),
    })
}

/// The runs that have a history and a name that can be given.
fn run_ids(store: &Store) -> Result<Vec<RunId>> {
    let ids = store.runs().all()?.into_iter().filter_map(|dir| dir.id);
    Ok(ids.filter(|run| layout::history(store.root(), run).is_dir()).collect())
}
