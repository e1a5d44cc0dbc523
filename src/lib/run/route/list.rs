//! [`list`]: decisions, the newest first.

use std::cmp::Reverse;

use super::decision::{Decision, State};
use super::ledger::Ledger;
use crate::error::{Error, Result};
use crate::run::json::Json;
use crate::run::roster::{self, Entry};
use crate::store::Store;
use crate::store::id::RunId;

/// A row of a list.
#[derive(Debug)]
pub struct Row {
    /// The run.
    pub run: RunId,
    /// The outcome as it is written; `None` for a file of which nothing can be told.
    pub outcome: Option<String>,
    /// What the decision says, and how it is stored; or why that cannot be told.
    pub content: Result<(Decision, Json), Error>,
}

/// The decisions of one run, or of all that were not deleted. What cannot be understood comes first and is in every list:
/// nobody can say that it is not meant. Then the newest first, by when they were first claimed.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the runs cannot be listed.
pub fn list(store: &Store, run: Option<&RunId>, states: &[State]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    match run {
        Some(run) => of_run(store, run, &mut rows),
        None => roster::list(store)?.into_iter().for_each(|entry| of_entry(store, entry, &mut rows)),
    }
    let is_wanted = |decision: &Decision| states.is_empty() || states.contains(&decision.state);
    rows.retain(|row| row.content.as_ref().map_or(true, |(decision, _)| is_wanted(decision)));
    // The sort is stable: what is as old stays in the order of the runs.
    rows.sort_by_key(|row| {
        row.content.as_ref().ok().map(|(decision, _)| Reverse((decision.created_ns, decision.outcome)))
    });
    Ok(rows)
}

/// Those of a run that commands can name and that is not deleted.
fn of_entry(store: &Store, entry: Entry, rows: &mut Vec<Row>) {
    match entry {
        Entry::Run(run) | Entry::Bare(run) => of_run(store, &run, rows),
        Entry::Unreachable(name, error) => {
            rows.extend(RunId::of_os(&name).map(|run| Row { run, outcome: None, content: Err(error) }));
        }
        Entry::Deleted(_) | Entry::Foreign(_) => {}
    }
}

fn of_run(store: &Store, run: &RunId, rows: &mut Vec<Row>) {
    match Ledger::read(store, run) {
        Err(error) => rows.push(Row { run: run.clone(), outcome: None, content: Err(error) }),
        Ok(ledger) => rows.extend(ledger.decisions().map(|((key, json), decision)| Row {
            run: run.clone(),
            outcome: Some(key.clone()),
            content: decision.map(|decision| (decision, json.clone())),
        })),
    }
}
