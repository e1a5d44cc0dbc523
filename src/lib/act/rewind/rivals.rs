//! [`shared`]: other runs that worked in the same workspace meanwhile.
//!
//! A run's boundaries show what changed in the workspace, whoever changed it: what another run did between two of them
//! looks like the run's own work. The other run's history has it, too, and so the overlap can be named.

use std::collections::BTreeSet;

use crate::act::restore::Place;
use crate::error::{Error, Result};
use crate::history::History;
use crate::store::id::SnapshotId;
use crate::store::pool::Pool;
use crate::store::relpath::{RelPath, RelPathBuf};

/// A restored path that another run changed, too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shared {
    /// The path.
    pub path: RelPathBuf,
    /// The other run.
    pub run: String,
}

/// Finds the paths among `touched` that other runs of the store produced in this workspace since a snapshot of ours. Runs of
/// which that cannot be told come back with the reason: the restore is done by then, and is not to fail any more.
pub(super) fn shared(
    place: &Place<'_>,
    since: &SnapshotId,
    touched: &BTreeSet<&RelPath>,
    pool: Option<&Pool>,
) -> (Vec<Shared>, Vec<Error>) {
    let runs = place.history.store().runs();
    let mut found = Vec::new();
    let mut unknown: Vec<Error> = runs.troubles.into_iter().map(Error::from).collect();
    for run in runs.dirs.into_iter().filter_map(|dir| dir.id).filter(|run| run != place.history.run()) {
        match produced_by(place, &History::new(place.history.store(), run.clone()), since, pool) {
            Ok(paths) => found.extend(
                paths
                    .into_iter()
                    .filter(|path| touched.contains(&**path))
                    .map(|path| Shared { path, run: run.to_string() }),
            ),
            Err(error) => unknown.push(error.while_doing(format_args!("cannot tell what run '{run}' did"))),
        }
    }
    found.sort_unstable();
    (found, unknown)
}

/// What another run produced in this workspace since a snapshot of ours. Ids are times: they compare across runs.
fn produced_by(
    place: &Place<'_>,
    other: &History,
    since: &SnapshotId,
    pool: Option<&Pool>,
) -> Result<BTreeSet<RelPathBuf>> {
    // Listing names is cheap; most runs end here.
    if other.snapshot_ids()?.last().is_none_or(|newest| newest <= since) {
        return Ok(BTreeSet::new());
    }
    let index = other.index()?;
    let mut first = None;
    for (id, manifest) in other.chain(index.head.clone()) {
        let manifest = manifest?;
        if !manifest.workspace.as_deref().is_some_and(|recorded| place.workspace.is_at(recorded)) {
            break;
        }
        let is_older = id <= *since;
        first = Some(id);
        if is_older {
            break;
        }
    }
    let Some(first) = first else { return Ok(BTreeSet::new()) };
    let newest = other.newest_boundary(&index, &first)?;
    let authorship = other.authorship(&index, &first, Some(&newest.id), pool, &|_, _| false)?;
    Ok(authorship.produced().into_iter().cloned().collect())
}
