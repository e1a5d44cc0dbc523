//! `run-record` and everything about run.json. Case numbers are those of the fact sheet, section 9.

mod between;
mod checkpoint;
mod counting;
mod create;
mod delegate;
mod faults;
mod guard;
mod list;
mod merge;
mod model;
mod order;
mod patch;
mod save;
mod status;

use serde_json::Value;

use crate::sandbox::{Done, Sandbox, run, run_with};

/// The statuses in the order of the facts.
pub(crate) const STATUSES: [&str; 8] = [
    "queued",
    "running",
    "paused_waiting_human",
    "paused_operator",
    "finished",
    "failed",
    "failed_resumable",
    "cancelled",
];

/// A scratch store whose run is `r`.
pub(crate) struct Runs(pub(crate) Sandbox);

impl Runs {
    /// A store without run.json.
    pub(crate) fn new() -> Self {
        Self(Sandbox::new())
    }

    /// A store whose run has this document.
    pub(crate) fn with(document: &str) -> Self {
        let runs = Self::new();
        runs.0.put("run.json", document);
        runs
    }

    /// A store whose run is in this status, and has a checkpoint.
    pub(crate) fn standing(status: &str) -> Self {
        Self::with(&format!(
            r#"{{"format_version":1,"id":"r","name":"n","status":"{status}","checkpoint":{{"node_id":"n","interaction_id":"","outputs":{{"n":{{"v":1}}}},"loop_counters":null,"artifact_versions":null,"vars":null}},"cas_version":1}}"#
        ))
    }

    pub(crate) fn record(&self, args: &[&str]) -> Done {
        run(self.0.program(&[&["run-record"], args].concat()))
    }

    pub(crate) fn record_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Done {
        run_with(self.0.program(&[&["run-record"], args].concat()), stdin)
    }

    /// The receipt of a writer that must have succeeded.
    #[track_caller]
    pub(crate) fn wrote(&self, args: &[&str]) -> Value {
        parse(&self.record(args).ends(0))
    }

    /// The text of run.json.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(std::fs::read(self.0.run_dir().join("run.json")).unwrap()).unwrap()
    }

    /// run.json, read by a parser that is not ours.
    pub(crate) fn json(&self) -> Value {
        parse(&self.text())
    }

    /// A member by its JSON pointer; null where it is not there.
    pub(crate) fn at(&self, pointer: &str) -> Value {
        self.json().pointer(pointer).cloned().unwrap_or_default()
    }

    /// Saves what `edit` makes of the document that `get` prints.
    pub(crate) fn edit(&self, edit: impl FnOnce(&mut Value)) -> Done {
        let mut document = parse(&self.record(&["get"]).ends(0));
        edit(&mut document);
        self.record_with(&["save"], document.to_string())
    }

    /// The types of the events in the log.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = std::fs::read(self.0.log()).map(|bytes| String::from_utf8(bytes).unwrap()).unwrap_or_default();
        text.lines().map(parse).collect()
    }

    /// That a command changes nothing and ends so.
    #[track_caller]
    pub(crate) fn unchanged(&self, args: &[&str], stdin: &str, code: i32) -> Done {
        let before = self.text();
        let done = self.record_with(args, stdin);
        assert_eq!(done.code, code, "{args:?}: {}{}", done.out, done.err);
        assert_eq!(self.text(), before, "{args:?}");
        done
    }
}

#[track_caller]
pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
