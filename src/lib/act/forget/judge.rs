//! What must stay although it was chosen, so that authorship says of the rest what it said before.
//!
//! Authorship walks own labels from the newest boundary back and compares neighbours, stepping over banks (design
//! section 6). So the oldest snapshots may go as a whole. Of the others:
//!
//! * a boundary stays: its interval would be merged with the next one;
//! * a bank stays if it alone shows that the run had stopped before a `resume:`;
//! * any other goes only if the changes around it, put together, are the change across it, and it does not stand before
//!   a `resume:`, where the changes before it would pass from the run to the person.

use std::collections::{BTreeMap, BTreeSet};

use super::survey::{Snapshot, Survey};
use crate::error::Result;
use crate::history::History;
use crate::history::label;
use crate::history::manifest::{Entry, Manifest};
use crate::store::id::SnapshotId;
use crate::store::relpath::RelPathBuf;

/// Takes what must stay out of `doomed`, with the reasons.
pub(super) fn stays(
    history: &History,
    survey: &Survey,
    doomed: &mut BTreeSet<SnapshotId>,
) -> Result<Vec<(SnapshotId, String)>> {
    let mut kept = Vec::new();
    // Whatever stays may end the oldest prefix earlier and make a neighbour's reason.
    loop {
        let found = first_rounds(history, survey, doomed)?;
        if found.is_empty() {
            return Ok(kept);
        }
        for (id, reason) in found {
            doomed.remove(&id);
            kept.push((id, reason.to_owned()));
        }
    }
}

fn first_rounds(
    history: &History,
    survey: &Survey,
    doomed: &BTreeSet<SnapshotId>,
) -> Result<Vec<(SnapshotId, &'static str)>> {
    let chain: Vec<&Snapshot> = survey.chain().collect();
    let prefix = chain.iter().take_while(|snapshot| doomed.contains(&snapshot.id)).count();
    let interior: Vec<&Snapshot> = chain.into_iter().skip(prefix).collect();
    let is_doomed = |snapshot: &Snapshot| doomed.contains(&snapshot.id);
    let boundaries: Vec<_> = interior
        .iter()
        .filter(|snapshot| is_doomed(snapshot) && own(snapshot).is_some_and(label::is_boundary))
        .map(|snapshot| (snapshot.id.clone(), "it is a boundary between snapshots that stay"))
        .collect();
    if !boundaries.is_empty() {
        return Ok(boundaries);
    }
    let journal = history.journal()?;
    let shows_stop = |snapshot: &Snapshot| {
        let is_stop = |label: &str| label.starts_with("pause:") || label.starts_with("fail:");
        own(snapshot).is_some_and(is_stop)
            || snapshot.labels.iter().any(|label| is_stop(label))
            || journal
                .marks
                .iter()
                .any(|mark| is_stop(&mark.label) && mark.new.as_deref() == Some(snapshot.id.as_str()))
    };
    let mut found = Vec::new();
    // The survivor before, and what stands between it and the next survivor; banks are no survivors here.
    let mut older: Option<&Snapshot> = None;
    let mut between: Vec<&Snapshot> = Vec::new();
    for snapshot in interior {
        if own(snapshot).is_some_and(label::is_bank) || is_doomed(snapshot) {
            between.push(snapshot);
            continue;
        }
        if let Some(older) = older {
            judge_gap(history, older, &between, snapshot, &is_doomed, &shows_stop, &mut found)?;
        }
        older = Some(snapshot);
        between.clear();
    }
    Ok(found)
}

fn own(snapshot: &Snapshot) -> Option<&str> {
    snapshot.own.as_deref()
}

fn judge_gap(
    history: &History,
    older: &Snapshot,
    between: &[&Snapshot],
    newer: &Snapshot,
    is_doomed: &dyn Fn(&Snapshot) -> bool,
    shows_stop: &dyn Fn(&Snapshot) -> bool,
    found: &mut Vec<(SnapshotId, &'static str)>,
) -> Result<()> {
    let is_bank = |snapshot: &&&Snapshot| own(snapshot).is_some_and(label::is_bank);
    let banks: Vec<&&Snapshot> = between.iter().filter(is_bank).collect();
    let others: Vec<&&Snapshot> = between.iter().filter(|snapshot| !is_bank(snapshot)).collect();
    let is_resume = own(newer).is_some_and(|label| label.starts_with("resume:"));
    if is_resume && !banks.is_empty() && banks.iter().all(|bank| is_doomed(bank)) && !shows_stop(older) {
        let reason = "it alone shows that the run had stopped";
        found.extend(banks.last().map(|bank| (bank.id.clone(), reason)));
    }
    if others.is_empty() {
        return Ok(());
    }
    let reason = if is_resume {
        "what changed before it would pass for somebody's edit"
    } else if merges_cleanly(history, older, &others, newer)? {
        return Ok(());
    } else {
        "a path that changed and changed back would no longer be known"
    };
    found.extend(others.iter().map(|snapshot| (snapshot.id.clone(), reason)));
    Ok(())
}

/// Whether all that changed from neighbour to neighbour also differs between the ends.
fn merges_cleanly(history: &History, older: &Snapshot, others: &[&&Snapshot], newer: &Snapshot) -> Result<bool> {
    let first = history.manifest(&older.id)?;
    let last = history.manifest(&newer.id)?;
    let across = changed(&first, &last);
    let mut previous = first;
    let mut rest = others.iter().map(|snapshot| &snapshot.id).chain([&newer.id]);
    rest.try_fold(true, |clean, id| {
        let next = history.manifest(id)?;
        let clean = clean && changed(&previous, &next).is_subset(&across);
        previous = next;
        Ok(clean)
    })
}

/// The paths at which two snapshots record different things: content, mode, kind, or a gap.
fn changed(older: &Manifest, newer: &Manifest) -> BTreeSet<RelPathBuf> {
    let mut paths = BTreeSet::new();
    let entries: BTreeMap<&RelPathBuf, &Entry> = older.entries.iter().map(|entry| (&entry.path, entry)).collect();
    for entry in &newer.entries {
        if entries.get(&entry.path) != Some(&entry) {
            paths.insert(entry.path.clone());
        }
    }
    paths.extend(
        older.entries.iter().filter(|entry| newer.entry(&entry.path).is_none()).map(|entry| entry.path.clone()),
    );
    for (one, other) in [(older, newer), (newer, older)] {
        paths.extend(one.gaps.iter().filter(|gap| !other.gaps.contains(gap)).map(|gap| gap.path.clone()));
    }
    paths
}
