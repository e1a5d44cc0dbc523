//! The iterations of nodes and how each ended (facts 3.6).
//!
//! An execution is `exec:<branch or main>:<node>:<iteration>`. A start that is repeated does not bring back one that has
//! ended, unless the run was resumed after its last event. A rewind removes the executions of the nodes that it dropped.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Reducer, row};
use crate::run::events::event::{Event, integer, string};

/// How an execution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has begun.
    Running,
    /// The run is paused in it.
    Paused,
    /// It is done.
    Finished,
    /// The run or its branch failed in it.
    Failed,
    /// The run was cancelled in it.
    Cancelled,
    /// The process went away in it.
    Interrupted,
    /// Its branch was given up.
    Abandoned,
}

impl Status {
    fn is_live(self) -> bool {
        matches!(self, Self::Running | Self::Paused)
    }
}

#[derive(Debug, Clone, Serialize)]
struct Execution {
    id: String,
    branch: String,
    node: String,
    iteration: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    status: Status,
    starts: u64,
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    first_seq: u64,
    last_seq: u64,
}

/// Follows the executions of a run, in the order in which they began.
#[derive(Debug, Clone, Default)]
pub struct Executions {
    rows: Vec<Execution>,
    by_id: HashMap<String, usize>,
    /// The execution of a branch and node that began last.
    current: HashMap<(String, String), usize>,
    resumed_seq: Option<u64>,
}

fn branch_of(event: &Event<'_>) -> String {
    if event.branch_id.is_empty() { "main".into() } else { event.branch_id.clone().into_owned() }
}

/// The iteration: the path through the loops where there is one, else the number.
fn iteration_of(event: &Event<'_>) -> String {
    let path = event.datum(&["iteration_path"]).and_then(string).filter(|path| !path.is_empty());
    match path {
        Some(path) => path.into_owned(),
        None => event.datum(&["iteration"]).and_then(integer).unwrap_or(0).to_string(),
    }
}

impl Executions {
    fn start(&mut self, event: &Event<'_>, status: Status) {
        let (branch, node, iteration) = (branch_of(event), event.node_id.clone().into_owned(), iteration_of(event));
        let id = format!("exec:{branch}:{node}:{iteration}");
        let place = *self.by_id.entry(id.clone()).or_insert(self.rows.len());
        self.current.insert((branch.clone(), node.clone()), place);
        let resumed = self.resumed_seq;
        match self.rows.get_mut(place) {
            None => self.rows.push(Execution {
                id,
                branch,
                node,
                iteration,
                kind: event.datum(&["kind"]).and_then(string).unwrap_or_default().into_owned(),
                status,
                starts: 1,
                started_at: event.timestamp.clone().into_owned(),
                ended_at: None,
                first_seq: event.seq,
                last_seq: event.seq,
            }),
            Some(row) => {
                row.starts += 1;
                if row.status.is_live() || resumed.is_some_and(|resumed| resumed > row.last_seq) {
                    row.status = status;
                    row.ended_at = None;
                    row.last_seq = event.seq;
                }
            }
        }
    }

    fn finish_node(&mut self, event: &Event<'_>) {
        let key = (branch_of(event), event.node_id.clone().into_owned());
        if !self.current.contains_key(&key) {
            // The log begins in the middle of it.
            self.start(event, Status::Running);
        }
        if let Some(row) = self.current.get(&key).and_then(|place| self.rows.get_mut(*place)) {
            row.end(event, Status::Finished);
        }
    }

    /// Ends what is live and `concerned`.
    fn end_live(&mut self, event: &Event<'_>, status: Status, concerned: impl Fn(&Execution) -> bool) {
        for row in self.rows.iter_mut().filter(|row| row.status.is_live() && concerned(row)) {
            if status.is_live() {
                row.status = status;
                row.last_seq = event.seq;
            } else {
                row.end(event, status);
            }
        }
    }

    fn rewind(&mut self, event: &Event<'_>) {
        let Some(dropped) = event.datum(&["dropped_nodes"]) else { return };
        let Ok(dropped) = serde_json::from_str::<Vec<String>>(RawValue::get(dropped)) else { return };
        self.rows.retain(|row| !dropped.contains(&row.node));
        self.by_id = self.rows.iter().enumerate().map(|(place, row)| (row.id.clone(), place)).collect();
        self.current = self
            .rows
            .iter()
            .enumerate()
            .map(|(place, row)| ((row.branch.clone(), row.node.clone()), place))
            .collect();
    }
}

impl Execution {
    fn end(&mut self, event: &Event<'_>, status: Status) {
        self.status = status;
        self.ended_at = Some(event.timestamp.clone().into_owned());
        self.last_seq = event.seq;
    }
}

impl Reducer for Executions {
    fn apply(&mut self, event: &Event<'_>) -> Option<String> {
        let everywhere = |_: &Execution| true;
        let branch = branch_of(event);
        match &*event.kind {
            "node_started" if !event.node_id.is_empty() => self.start(event, Status::Running),
            "node_finished" if !event.node_id.is_empty() => self.finish_node(event),
            "run_resumed" => self.resumed_seq = Some(event.seq),
            "run_paused" => self.end_live(event, Status::Paused, everywhere),
            "run_failed" => self.end_live(event, Status::Failed, everywhere),
            "run_cancelled" => self.end_live(event, Status::Cancelled, everywhere),
            "run_interrupted" => self.end_live(event, Status::Interrupted, everywhere),
            "branch_abandoned" => self.end_live(event, Status::Abandoned, |row| row.branch == branch),
            "branch_finished"
                if event.datum(&["error"]).and_then(string).is_some_and(|error| !error.is_empty()) =>
            {
                self.end_live(event, Status::Failed, |row| row.branch == branch);
            }
            "run_rewound" => self.rewind(event),
            _ => {}
        }
        None
    }

    fn finish(self) -> Vec<String> {
        self.rows.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::events::fold::testing::rows;

    fn states(events: &[&str]) -> Vec<String> {
        rows(Executions::default(), events)
            .iter()
            .map(|row| {
                let row: serde_json::Value = serde_json::from_str(row).unwrap();
                format!("{} {} {}", row["id"].as_str().unwrap(), row["status"].as_str().unwrap(), row["starts"])
            })
            .collect()
    }

    const START: &str = r#"node_started "node_id":"a","data":{"iteration":1}"#;
    const END: &str = r#"node_finished "node_id":"a""#;

    #[test]
    fn ids_come_from_branch_node_and_iteration() {
        assert_eq!(
            states(&[
                START,
                END,
                r#"node_started "node_id":"b","branch_id":"x","data":{"iteration":7,"iteration_path":"l=1;m=2"}"#,
                r#"node_started "node_id":"c""#,
                r#"node_finished "node_id":"d""#,
            ]),
            [
                "exec:main:a:1 finished 1",
                "exec:x:b:l=1;m=2 running 1",
                "exec:main:c:0 running 1",
                "exec:main:d:0 finished 1"
            ]
        );
    }

    #[test]
    fn a_repeated_start_does_not_bring_back_what_has_ended_unless_resumed() {
        assert_eq!(states(&[START, END, START]), ["exec:main:a:1 finished 2"]);
        assert_eq!(states(&["run_resumed", START, END, START]), ["exec:main:a:1 finished 2"]);
        assert_eq!(states(&[START, END, "run_resumed", START]), ["exec:main:a:1 running 2"]);
        assert_eq!(states(&[START, "run_failed", "run_resumed"]), ["exec:main:a:1 failed 1"]);
        assert_eq!(states(&[START, "run_paused"]), ["exec:main:a:1 paused 1"]);
        assert_eq!(states(&[START, "run_paused", START]), ["exec:main:a:1 running 2"]);
    }

    #[test]
    fn a_rewind_removes_dropped_nodes_and_only_if_it_names_them() {
        let other = r#"node_started "node_id":"b""#;
        assert_eq!(
            states(&[
                START,
                other,
                r#"run_rewound "data":{"dropped_nodes":["a"]}"#,
                r#"node_finished "node_id":"b""#
            ]),
            ["exec:main:b:0 finished 1"]
        );
        for nothing in ["run_rewound", r#"run_rewound "data":{"dropped_nodes":"a"}"#] {
            assert_eq!(states(&[START, nothing]), ["exec:main:a:1 running 1"], "{nothing}");
        }
    }

    #[test]
    fn a_branch_ends_only_its_own() {
        assert_eq!(
            states(&[
                START,
                r#"node_started "node_id":"a","branch_id":"x""#,
                r#"branch_abandoned "branch_id":"x""#
            ]),
            ["exec:main:a:1 running 1", "exec:x:a:0 abandoned 1"]
        );
    }
}
