//! [`plan`]: which runs a store can do without; a value that is shown or carried out (workspace facts 7).
//!
//! A run goes if its status is one of those asked for, it is as old as asked, it is not among the newest that are to be
//! kept, and no run that stays needs it. What cannot be read is named and stays.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use super::delete::{self, Deleted, Unless};
use super::json::Json;
use super::needs::Needs;
use super::roster::{self, Entry};
use super::status::Status;
use super::{record, route};
use crate::clock;
use crate::error::{Error, Kind, Result};
use crate::store::id::RunId;
use crate::store::{Store, layout, read_document, seam};
use crate::stream::quote;

/// Which runs may go.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Only those with one of these statuses; all are terminal.
    pub statuses: Vec<Status>,
    /// Only those that have been as they are for so long.
    pub older_than: Duration,
    /// So many of the newest stay, counted among those with these statuses.
    pub keep_last: u64,
}

/// A run that is to go.
#[derive(Debug, Clone)]
pub struct Doomed {
    /// Its id.
    pub run: RunId,
    /// Its status.
    pub status: Status,
    /// `updated_at`, else `created_at`, as written.
    pub timestamp: String,
    /// How long ago that was.
    pub age: Duration,
    /// `name`, `workflow_name` and `bundle_name`, each perhaps empty.
    pub names: [String; 3],
    revision: i64,
}

/// What a clean-up would do.
#[derive(Debug, Default)]
pub struct Plan {
    /// What is to go, by id.
    pub doomed: Vec<Doomed>,
    /// Runs that were looked at.
    pub scanned: usize,
    /// What could go and is needed, and by whom.
    pub needed: Vec<(RunId, String)>,
    /// Histories without a document; they stay.
    pub bare: Vec<RunId>,
    /// What could not be read, and why; it stays.
    pub unreadable: Vec<(OsString, Error)>,
}

/// Finds out which runs can go. Changes nothing.
///
/// # Errors
/// [`Kind::Io`] when the runs cannot be listed, [`Kind::Damaged`] for a ledger of watches or missions that cannot be read.
pub fn plan(store: &Store, policy: &Policy) -> Result<Plan> {
    let mut needs = Needs::of_assistants(store)?;
    let mut plan = Plan::default();
    let now_ns = i128::from(clock::now_ns());
    let mut candidates = Vec::new();
    for entry in roster::list(store)? {
        let run = match entry {
            Entry::Run(run) => run,
            Entry::Bare(run) => {
                plan.bare.push(run);
                continue;
            }
            Entry::Foreign(name) => {
                let dir = layout::runs(store.root()).join(&name);
                match read_document(&layout::document_below(&dir)) {
                    Err(error) if error.kind() == Kind::NotFound => {}
                    document => needs.add_unreadable(&name, document.ok().map(|bytes| bytes.to_vec())),
                }
                plan.unreadable.push((name, Error::usage("its name is no run id")));
                continue;
            }
            Entry::Unreachable(name, error) => {
                needs.add_unreadable(&name, None);
                plan.unreadable.push((name, error));
                continue;
            }
            Entry::Deleted(_) => continue,
        };
        let json = match record::load(store, &run) {
            Ok(json) => json,
            // Deleted in between.
            Err(error) if error.kind() == Kind::NotFound => continue,
            Err(error) => {
                let bytes =
                    read_document(&layout::run_document(store.root(), &run)).ok().map(|bytes| bytes.to_vec());
                needs.add_unreadable(run.as_str().as_ref(), bytes);
                plan.unreadable.push((run.as_str().into(), error));
                continue;
            }
        };
        plan.scanned += 1;
        needs.add(&run, &json);
        match candidate(&run, &json, policy, now_ns) {
            None => {}
            Some(Ok(doomed)) => candidates.push(doomed),
            Some(Err(why)) => plan.unreadable.push((run.as_str().into(), Error::new(Kind::Damaged, why))),
        }
    }
    // The newest first; of two as old, the one with the greater id.
    candidates.sort_by(|a, b| a.age.cmp(&b.age).then_with(|| b.run.cmp(&a.run)));
    let kept = usize::try_from(policy.keep_last).unwrap_or(usize::MAX).min(candidates.len());
    let mut doomed = candidates.split_off(kept);
    doomed.retain(|doomed| doomed.age >= policy.older_than);
    doomed.retain(|doomed| match route::held(store, &doomed.run) {
        Ok(held) => {
            if held.is_some() {
                needs.add_routed(&doomed.run);
            }
            true
        }
        Err(error) => {
            plan.unreadable.push((doomed.run.as_str().into(), error));
            false
        }
    });
    let mut ids: BTreeSet<RunId> = doomed.iter().map(|doomed| doomed.run.clone()).collect();
    plan.needed = needs.spare(&mut ids);
    doomed.retain(|doomed| ids.contains(&doomed.run));
    doomed.sort_by(|a, b| a.run.cmp(&b.run));
    plan.doomed = doomed;
    Ok(plan)
}

/// A run with one of the statuses; an error for one whose age cannot be told.
fn candidate(run: &RunId, json: &Json, policy: &Policy, now_ns: i128) -> Option<Result<Doomed, String>> {
    let status = record::status(json).filter(|status| policy.statuses.contains(status))?;
    let timestamp = ["updated_at", "created_at"].map(|key| json.text_of(key));
    let timestamp = timestamp.into_iter().find(|text| clock::parse_rfc3339(text).is_some_and(|ns| ns > 0));
    let Some(timestamp) = timestamp else {
        return Some(Err("neither updated_at nor created_at says how old it is".into()));
    };
    let then_ns = clock::parse_rfc3339(&timestamp).unwrap_or(now_ns);
    let age = u64::try_from(now_ns.saturating_sub(then_ns)).unwrap_or(0);
    let names = ["name", "workflow_name", "bundle_name"].map(|key| json.text_of(key).into_owned());
    Some(Ok(Doomed {
        run: run.clone(),
        status,
        timestamp: timestamp.into_owned(),
        age: Duration::from_nanos(age),
        names,
        revision: record::revision(json),
    }))
}

/// Deletes a run of the plan, if it is as it was when the plan was made. `false`: it was deleted by somebody else.
///
/// # Errors
/// Those of [`delete::delete`]; [`Kind::Conflict`] when the run has changed since.
pub fn carry_out(store: &Store, doomed: &Doomed) -> Result<bool> {
    seam::hook("prune-run");
    let unchanged = |json: &Json| {
        let has_stamp = ["updated_at", "created_at"].iter().any(|key| json.text_of(key) == doomed.timestamp);
        let name = quote::name(doomed.run.as_str().as_bytes());
        if record::status(json) != Some(doomed.status) || record::revision(json) != doomed.revision || !has_stamp {
            return Err(Error::conflict(format!("run {name} has changed since it was chosen, and stays")));
        }
        if route::held(store, &doomed.run)?.is_some() {
            return Err(Error::conflict(format!(
                "run {name} has been claimed for routing since it was chosen, and stays"
            )));
        }
        Ok(())
    };
    delete::delete(store, &doomed.run, Unless::Ended, unchanged).map(|deleted| deleted == Deleted::Now)
}
