//! Which snapshots are meant: those that were named, those that a policy does not keep, the oldest of too many bytes.

use std::collections::{BTreeSet, HashMap};

use super::survey::{Snapshot, Survey};
use super::{Kept, Policy, Request, named_by, protecting, refusal};
use crate::clock;
use crate::error::{Error, Result};
use crate::history::History;
use crate::history::index::Index;
use crate::store::id::SnapshotId;

/// What was chosen.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) doomed: BTreeSet<SnapshotId>,
    /// Those of them that were named.
    pub(super) named: BTreeSet<SnapshotId>,
    /// What a policy would drop and something protects.
    pub(super) kept: Vec<Kept>,
}

pub(super) fn choose(history: &History, index: &Index, survey: &Survey, request: &Request) -> Result<Chosen> {
    let has_policy = !request.policy.is_empty();
    if !request.named.is_empty() {
        if has_policy || request.bytes_max.is_some() {
            return Err(Error::usage("snapshots are named, and a policy is given too").hint("give one of both"));
        }
        return choose_named(history, index, survey, request);
    }
    if request.bytes_max.is_some() {
        // The oldest go one by one (`shrink`), and a policy only says which never do.
        return Ok(Chosen::default());
    }
    if has_policy {
        return Ok(choose_by(survey, request, &|snapshot, place| {
            !is_kept(&request.policy, snapshot, place, survey)
        }));
    }
    if request.drop_labels.is_empty() {
        return Err(Error::usage("nothing says which snapshots are to go")
            .hint("name them, or say what stays with --keep-last, --keep-within, --keep-labels or --keep-gates"));
    }
    // A forget that was killed has dropped labels of snapshots that are still there, and that no chain reaches.
    Ok(choose_by(survey, request, &|snapshot, place| {
        let own = snapshot.own.iter().filter(|_| place.is_none() && snapshot.labels.is_empty());
        snapshot.labels.iter().chain(own).any(|label| request.drop_labels.iter().any(|glob| glob.matches(label)))
    }))
}

fn choose_named(history: &History, index: &Index, survey: &Survey, request: &Request) -> Result<Chosen> {
    let mut chosen = Chosen::default();
    // A snapshot that was named by its label is asked for by that label.
    let asked: Vec<&str> = request.named.iter().map(String::as_str).collect();
    for name in &request.named {
        let id = history.resolve(index, name)?;
        let snapshot = survey.get(&id).ok_or_else(|| {
            Error::not_found(format!("run '{}' has no snapshot '{id}'", history.run()))
                .hint("'wt-log' lists its snapshots")
        })?;
        if survey.head() == Some(&id) {
            return Err(refusal(history, &id, "it is the newest one"));
        }
        let labels = protecting(&snapshot.labels, &request.drop_labels, &asked);
        if !labels.is_empty() {
            return Err(refusal(history, &id, &named_by(&labels)));
        }
        chosen.named.insert(id.clone());
        chosen.doomed.insert(id);
    }
    Ok(chosen)
}

fn choose_by(survey: &Survey, request: &Request, is_chosen: &dyn Fn(&Snapshot, Option<usize>) -> bool) -> Chosen {
    let mut chosen = Chosen::default();
    let places = places(survey);
    for snapshot in survey.newest_first() {
        if !is_chosen(snapshot, places.get(&snapshot.id).copied()) {
            continue;
        }
        let labels = protecting(&snapshot.labels, &request.drop_labels, &[]);
        let id = snapshot.id.clone();
        if survey.head() == Some(&id) {
            chosen.kept.push(Kept { id, reason: "it is the newest one".into() });
        } else if labels.is_empty() {
            chosen.doomed.insert(id);
        } else {
            chosen.kept.push(Kept { id, reason: named_by(&labels) });
        }
    }
    chosen
}

/// How many snapshots of the chain are newer.
pub(super) fn places(survey: &Survey) -> HashMap<&SnapshotId, usize> {
    survey.chain().rev().enumerate().map(|(place, snapshot)| (&snapshot.id, place)).collect()
}

/// Whether a policy keeps a snapshot; `place` counts from the newest of the chain.
pub(super) fn is_kept(policy: &Policy, snapshot: &Snapshot, place: Option<usize>, survey: &Survey) -> bool {
    let under = |test: &dyn Fn(&str) -> bool| snapshot.labels.iter().chain(&snapshot.own).any(|label| test(label));
    let is_gate = |label: &str| label.starts_with("gate:") && crate::history::label::is_boundary(label);
    let age_ns = clock::now_ns().saturating_sub(snapshot.id.unix_ns());
    survey.head() == Some(&snapshot.id)
        || policy.last.is_some_and(|last| place.is_some_and(|place| place < last))
        || policy.within.is_some_and(|within| u128::from(age_ns) <= within.as_nanos())
        || policy.labels.iter().any(|glob| under(&|label| glob.matches(label)))
        || (policy.gates && under(&is_gate))
}
