//! What the run's history says: its newest snapshots, and the banks from which something can be brought back.

use std::ops::ControlFlow;

use workspacetrack::history::History;
use workspacetrack::history::label::is_bank;
use workspacetrack::history::log::{Row, Which};
use workspacetrack::run::json::Json;
use workspacetrack::store::Store;
use workspacetrack::store::id::RunId;

/// So many of the newest snapshots are read.
const SHOWN: usize = 3;

/// The section; `None` for a run without a history.
pub(crate) fn section(store: &Store, run: &RunId, problems: &mut Vec<String>) -> Option<Json> {
    let history = History::new(store, run.clone());
    let index = match history.index() {
        Ok(index) => index,
        Err(error) => {
            problems.push(crate::sentence(&error));
            return None;
        }
    };
    let head = index.head.as_ref()?;
    let mut section = Json::object([("head", Json::string(head.as_str()))]);
    match history.snapshot_ids() {
        Ok(ids) => section.set("count", Json::integer(i64::try_from(ids.len()).unwrap_or(i64::MAX))),
        Err(error) => problems.push(crate::sentence(&error)),
    }
    let mut newest = Vec::new();
    let listed = history.log(&index, Which::Chain, |row| {
        newest.push(entry(&row, &index.labels_of(&row.id), problems));
        if newest.len() < SHOWN { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if let Err(error) = listed {
        problems.push(crate::sentence(&error));
    }
    section.set("newest", Json::Array(newest));
    let banks = index.labels.iter().filter(|(label, _)| is_bank(label));
    let banks: Vec<_> = banks.map(|(label, id)| (label.clone(), Json::string(id))).collect();
    if !banks.is_empty() {
        section.set("banks", Json::Object(banks));
    }
    Some(section)
}

fn entry(row: &Row, labels: &[&str], problems: &mut Vec<String>) -> Json {
    let mut entry = Json::object([("id", Json::string(row.id.as_str())), ("labels", Json::strings(labels))]);
    match &row.summary {
        Ok(summary) => {
            entry.set("created_at", Json::string(&summary.created_at));
            for (key, number) in [("files", summary.files), ("bytes", summary.bytes), ("gaps", summary.gaps)] {
                entry.set(key, Json::integer(i64::try_from(number).unwrap_or(i64::MAX)));
            }
        }
        Err(error) => problems.push(crate::sentence(error)),
    }
    entry
}
