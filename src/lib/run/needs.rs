//! [`Needs`]: which runs others still need, so that nobody cleans them away.
//!
//! A run that may go on reads its children, what it was forked from, and the run whose failure it works on; an assistant
//! reads the runs that it watches or has a mission for. A run that has finished or failed for good needs nothing.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};

use super::document;
use super::json::Json;
use super::record;
use super::status::Status;
use crate::error::Result;
use crate::store::id::RunId;
use crate::store::{Store, layout};
use crate::stream::quote;

/// Who needs whom.
#[derive(Debug, Default)]
pub struct Needs {
    /// By the run that needs: those that it needs.
    of: HashMap<RunId, Vec<RunId>>,
    /// Those that somebody other than a run needs, and for what.
    watched: HashMap<RunId, &'static str>,
    /// By run: those that it names, whether it needs them or not.
    named_by: HashMap<RunId, Vec<RunId>>,
    /// Runs whose documents cannot be understood, with their bytes where those can be had.
    unreadable: Vec<(OsString, Option<Vec<u8>>)>,
}

impl Needs {
    /// Begins with what assistants need.
    ///
    /// # Errors
    /// [`crate::error::Kind::Damaged`] for a ledger that cannot be understood: what it names is not known then.
    pub fn of_assistants(store: &Store) -> Result<Self> {
        let mut needs = Self::default();
        let ledgers = [
            (layout::watches(store.root()), "watches", "a watch", &["resolved", "stopped"][..]),
            (
                layout::missions(store.root()),
                "missions",
                "a mission",
                &["completed", "expired", "stopped", "exhausted"],
            ),
        ];
        for (path, member, what, over) in ledgers {
            let Some(ledger) = document::read_if_there(&path)? else { continue };
            for (_, entry) in ledger.get(member).map(Json::members).unwrap_or_default() {
                if over.contains(&&*entry.text_of("state")) {
                    continue;
                }
                for key in ["target_run_id", "assistant_run_id"] {
                    needs.watched.extend(run_in(entry, &[key]).map(|run| (run, what)));
                }
            }
        }
        Ok(needs)
    }

    /// Takes in the document of a run.
    pub fn add(&mut self, run: &RunId, json: &Json) {
        let paths: [&[&str]; 4] = [
            &["parent_run_id"],
            &["forked_from"],
            &["delegation", "source_run_id"],
            &["execution_context", "lineage", "root_run_id"],
        ];
        let mut needed: Vec<RunId> = paths.into_iter().filter_map(|path| run_in(json, path)).collect();
        let children = json.get("subbot_children").map(Json::members).unwrap_or_default();
        needed.extend(children.iter().filter_map(|(_, child)| RunId::named(&child.text()?).ok()));
        needed.retain(|other| other != run);
        self.named_by.insert(run.clone(), needed.clone());
        if !matches!(record::status(json), Some(Status::Finished | Status::Failed)) {
            self.of.insert(run.clone(), needed);
        }
    }

    /// Takes in that somebody who routes an outcome of a run is at work on it.
    pub fn add_routed(&mut self, run: &RunId) {
        self.watched.insert(run.clone(), "whoever routes its outcome");
    }

    /// Takes in a run whose document cannot be understood. Nobody can say whether it may go on and what it needs then, so
    /// that is taken to be all that its bytes name, and all that name it; without its bytes, everything.
    pub fn add_unreadable(&mut self, name: &OsStr, bytes: Option<Vec<u8>>) {
        self.unreadable.push((name.to_owned(), bytes));
    }

    fn may_need(&self, (name, bytes): &(OsString, Option<Vec<u8>>), other: &RunId) -> bool {
        let Some(bytes) = bytes else { return true };
        let quoted = Json::string(other.as_str()).compact();
        self.named_by.get(other).is_some_and(|named| named.iter().any(|run| run.as_str() == name.as_os_str()))
            || bytes.windows(quoted.len()).any(|window| window == quoted.as_bytes())
    }

    /// Takes those out of `doomed` that others need which stay, and says of each by whom it is needed.
    pub fn spare(&self, doomed: &mut BTreeSet<RunId>) -> Vec<(RunId, String)> {
        let mut spared = Vec::new();
        for (run, what) in &self.watched {
            if doomed.remove(run) {
                spared.push((run.clone(), (*what).to_owned()));
            }
        }
        for unreadable in &self.unreadable {
            let needed: Vec<RunId> = doomed.iter().filter(|run| self.may_need(unreadable, run)).cloned().collect();
            for run in needed {
                doomed.remove(&run);
                let name = quote::masked(unreadable.0.as_encoded_bytes());
                spared.push((run, format!("run {name}, which cannot be read,")));
            }
        }
        // Each run that is spared may need others.
        loop {
            let before = spared.len();
            for (run, needed) in self.of.iter().filter(|(run, _)| !doomed.contains(run)).collect::<Vec<_>>() {
                spared.extend(
                    needed
                        .iter()
                        .filter(|other| doomed.remove(other))
                        .map(|other| (other.clone(), format!("run {run}"))),
                );
            }
            if spared.len() == before {
                spared.sort();
                return spared;
            }
        }
    }
}

fn run_in(json: &Json, path: &[&str]) -> Option<RunId> {
    RunId::named(&json.at(path)?.text()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> RunId {
        RunId::named(text).unwrap()
    }

    fn spared(documents: &[(&str, &str)], doomed: &[&str]) -> Vec<String> {
        let mut needs = Needs::default();
        for (run, json) in documents {
            needs.add(&id(run), &Json::parse(json.as_bytes()).unwrap());
        }
        let mut doomed = doomed.iter().map(|run| id(run)).collect();
        needs.spare(&mut doomed).into_iter().map(|(run, why)| format!("{run}: {why}")).collect()
    }

    #[test]
    fn what_may_go_on_keeps_what_it_needs_and_what_that_needs() {
        let documents = [
            ("paused", r#"{"status":"paused_operator","parent_run_id":"parent","subbot_children":{"k":"child"}}"#),
            ("parent", r#"{"status":"cancelled","forked_from":"origin"}"#),
            ("origin", r#"{"status":"finished","parent_run_id":"root"}"#),
            ("root", r#"{"status":"finished"}"#),
            ("child", r#"{"status":"finished"}"#),
        ];
        assert_eq!(
            spared(&documents, &["parent", "origin", "root", "child"]),
            ["child: run paused", "origin: run parent", "parent: run paused"]
        );
        assert_eq!(spared(&documents, &["paused", "parent", "origin", "child"]), [""; 0], "all go together");
    }

    #[test]
    fn what_has_ended_needs_nothing_and_nobody_needs_itself() {
        let ended = [
            ("a", r#"{"status":"failed","parent_run_id":"b"}"#),
            ("c", r#"{"status":"running","forked_from":"c"}"#),
        ];
        assert_eq!(spared(&ended, &["b", "c"]), [""; 0]);
        let worker = [("w", r#"{"status":"running","delegation":{"source_run_id":"s"}}"#)];
        assert_eq!(spared(&worker, &["s"]), ["s: run w"]);
    }
}
