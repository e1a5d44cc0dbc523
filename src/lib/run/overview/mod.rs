//! [`of`]: all that a run's directory says of the run, as one JSON object, for whoever has to decide what to do next.
//!
//! Whatever cannot be read is named among the problems and left out; the rest is told all the same. Snapshots are not
//! known here: a program that shows them adds them.

mod log;
mod nodes;
mod posture;

use super::events::fold::{Fold, Reducer};
use super::interaction::{self, State};
use super::json::Json;
use super::liveness::{self, LockIs, Rules, Verdict, judge};
use super::message;
use super::record::{self, checkpoint, heal};
use super::route;
use super::status::Status;
use crate::error::{Kind, Result};
use crate::store::component::Component;
use crate::store::id::RunId;
use crate::store::run_lock;
use crate::store::{Store, layout};
pub use log::Log;
pub use posture::Posture;

/// What was found.
#[derive(Debug)]
pub struct Overview {
    /// The sections.
    pub json: Json,
    /// What could not be read, a sentence each.
    pub problems: Vec<String>,
}

/// How much of the log of events is looked at.
pub enum Events<'a> {
    /// All of it, and what was seen before is not read again.
    All(&'a mut Log),
    /// Only so many of the last ones.
    Last(usize),
}

/// What to look for.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// How the commands that are proposed name run and store: ` --run X`.
    pub options: &'a str,
}

/// The members of run.json that stand at the top.
const HEAD: [&str; 22] = [
    "format_version",
    "name",
    "workflow_name",
    "file_path",
    "bundle_name",
    "preset",
    "bot_id",
    "status",
    "error",
    "failure_code",
    "end_reason",
    "outcome_seq",
    "continuation_state",
    "resume_requires_explicit",
    "created_at",
    "queued_at",
    "started_at",
    "updated_at",
    "finished_at",
    "retry_state",
    "budget",
    "runner_id",
];
/// Those that say to which runs it belongs.
const TREE: [&str; 9] = [
    "parent_run_id",
    "parent_node_id",
    "subbot_children",
    "forked_from",
    "fork_anchor",
    "delegation",
    "shard_index",
    "shard_count",
    "source",
];
/// Those that say where its work is and what became of it.
const WORK: [&str; 17] = [
    "work_dir",
    "worktree",
    "worktree_reclaimed",
    "repo_root",
    "repo_url",
    "base_commit",
    "final_commit",
    "final_branch",
    "final_branch_error",
    "merge_status",
    "merge_claimed_at",
    "merge_strategy",
    "auto_merge",
    "merged_into",
    "merged_commit",
    "pending_merge_into",
    "pending_merge_message",
];

/// How the original writes a time that there is not.
const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Looks at a run.
///
/// # Errors
/// [`crate::error::Kind::NotFound`] for a run that is not there or was deleted. All else is a problem that is named.
pub fn of(store: &Store, run: &RunId, wanted: &Wanted<'_>, events: Events<'_>) -> Result<Overview> {
    store.refuse_deleted(run)?;
    let dir = layout::run(store.root(), run);
    if !dir.is_dir() {
        return Err(store.no_run(run).also("'run-record list' shows the runs of a store"));
    }
    let mut gather = Gather { store, run, problems: Vec::new(), is_damaged: false };
    let json = gather.overview(wanted, events);
    // A file that several sections read is named once.
    let mut named = std::collections::HashSet::new();
    gather.problems.retain(|problem| named.insert(problem.clone()));
    Ok(Overview { json, problems: gather.problems })
}

struct Gather<'a> {
    store: &'a Store,
    run: &'a RunId,
    problems: Vec<String>,
    /// The document is there and cannot be read.
    is_damaged: bool,
}

impl Gather<'_> {
    fn overview(&mut self, wanted: &Wanted<'_>, events: Events<'_>) -> Json {
        let document = self.document();
        let mut all = Json::object([
            ("run", Json::string(self.run.as_str())),
            ("store", Json::string(&self.store.root().to_string_lossy())),
        ]);
        let verdict = self.liveness(document.as_ref(), &mut all);
        let empty = Json::object::<&str>([]);
        let run = document.as_ref().unwrap_or(&empty);
        copy(run, &HEAD, &mut all);
        all.set("revision", Json::integer(record::revision(run)));
        let route = self.route(run);
        if let Some(route) = &route {
            all.set("route", route.clone());
        }
        let pending = self.pending(run);
        let posture = match &document {
            None if !self.is_damaged => Posture::without_document(wanted.options),
            document => Posture::of(document.as_ref(), verdict.as_ref(), &pending, wanted.options).routed(
                run,
                route.as_ref(),
                wanted.options,
            ),
        };
        all.set("posture", posture.json());
        all.set("checkpoint", stand(run));
        all.set("pending", Json::Array(pending));
        if let Some(messages) = self.messages() {
            all.set("messages_pending", messages);
        }
        match events {
            Events::All(log) => log.put(run, &mut all, &mut |problem| self.problems.push(problem)),
            Events::Last(count) => match log::only_last(&layout::events(self.store.root(), self.run), count) {
                Ok(events) => all.set("events", events),
                Err(error) => self.problem(error),
            },
        }
        for (section, keys) in [("tree", &TREE[..]), ("work", &WORK[..])] {
            let mut found = Json::object::<&str>([]);
            copy(run, keys, &mut found);
            if section == "work"
                && let Some(state) = bank_state(run)
            {
                found.set("bank_state", Json::string(state));
            }
            if !found.members().is_empty() {
                all.set(section, found);
            }
        }
        all
    }

    fn problem(&mut self, what: impl std::fmt::Display) {
        self.problems.push(what.to_string());
    }

    fn document(&mut self) -> Option<Json> {
        match heal::load(self.store, self.run) {
            Ok(healed) => {
                self.problems.extend(healed.notices);
                self.problems.extend(record::stranger(&healed.json, self.run).map(|error| error.to_string()));
                Some(healed.json)
            }
            // A history alone is no damage.
            Err(error) if error.kind() == Kind::NotFound => None,
            Err(error) => {
                self.is_damaged = true;
                self.problem(error);
                None
            }
        }
    }

    /// Whether a run that says it is running is executed; of any other one, whether somebody holds its lock all the same.
    fn liveness(&mut self, document: Option<&Json>, all: &mut Json) -> Option<Verdict> {
        if document.and_then(record::status) != Some(Status::Running) {
            match run_lock::holder(self.store, self.run) {
                Ok(Some(holder)) => all.set("lock", Json::string(&format!("held by {holder}"))),
                Ok(None) => {}
                Err(error) => self.problem(error),
            }
            return None;
        }
        let grace = std::time::Duration::from_secs(liveness::GRACE_SECONDS);
        match judge(self.store, self.run, Rules { grace, trust_network: false }, LockIs::Unknown) {
            Ok(verdict) => {
                let (word, detail) = verdict.words();
                all.set(
                    "liveness",
                    Json::object([("verdict", Json::string(word)), ("detail", Json::string(&detail))]),
                );
                Some(verdict)
            }
            Err(error) => {
                self.problem(error);
                None
            }
        }
    }

    /// The open questions, the oldest first.
    fn pending(&mut self, run: &Json) -> Vec<Json> {
        let ids = match interaction::ids(self.store, self.run) {
            Ok(ids) => ids,
            Err(error) => {
                self.problem(error);
                return Vec::new();
            }
        };
        let mut open = Vec::new();
        // One whose file is lost is repeated in the checkpoint, and can be answered all the same.
        let awaited = checkpoint::awaited(run);
        let awaited = awaited.iter().filter_map(|id| Component::named("interaction id", id).ok());
        for id in awaited.filter(|id| !ids.contains(id)) {
            open.extend(interaction::of_pause(self.store, self.run, &id));
        }
        for id in ids {
            match interaction::read(self.store, self.run, &id) {
                Ok(json) if State::of(&json) == State::Open => open.push(json),
                Ok(_) => {}
                Err(error) => self.problem(error),
            }
        }
        open.sort_by_key(|json| crate::clock::parse_rfc3339(&json.text_of("requested_at")));
        open
    }

    /// The decision about the present outcome, and how it stands.
    fn route(&mut self, run: &Json) -> Option<Json> {
        match route::of_outcome(self.store, self.run, record::outcomes(run)) {
            Ok(found) => found.map(|(mut json, standing)| {
                json.set("standing", Json::string(standing.as_str()));
                json
            }),
            // Another program keeps it, and knows what it says.
            Err(error) if error.kind() == Kind::Refused => Some(Json::object([
                ("standing", Json::string("foreign")),
                ("reason", Json::string(&error.to_string())),
            ])),
            Err(error) => {
                self.problem(error);
                None
            }
        }
    }

    /// How many messages of operators wait.
    fn messages(&mut self) -> Option<Json> {
        match message::log::Log::read(self.store, self.run) {
            Ok(log) => {
                if log.has_losses() {
                    self.problem("the log of messages is damaged");
                }
                let waiting = message::pending(&log, "").len();
                (waiting > 0).then(|| count(waiting))
            }
            Err(error) => {
                self.problem(error);
                None
            }
        }
    }
}

/// The first row that a reducer gives at the end.
fn first_row<R: Reducer>(fold: Fold<R>) -> Option<Json> {
    Json::parse(fold.finish().first()?.as_bytes()).ok()
}

fn copy(from: &Json, keys: &[&str], to: &mut Json) {
    for key in keys {
        // The original writes the zero time where others leave the member out (facts 1.4).
        let is_zero = |value: &Json| value.is_zero() || value.text().is_some_and(|text| text == ZERO_TIME);
        if let Some(value) = from.get(key).filter(|value| !is_zero(value)) {
            to.set(key, value.clone());
        }
    }
}

fn count(number: usize) -> Json {
    Json::integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Where the checkpoint stands; null where there is none.
fn stand(run: &Json) -> Json {
    let Some(checkpoint) = run.get("checkpoint").filter(|checkpoint| checkpoint.is_object()) else {
        return Json::null();
    };
    let keys =
        ["node_id", "interaction_id", "interaction_questions", "recovery_pause", "recovery_code", "loop_counters"];
    let mut found = Json::object::<&str>([]);
    copy(checkpoint, &keys, &mut found);
    let paused = checkpoint.at(&["parallel", "pending_node_id"]).filter(|node| !node.is_zero());
    if let Some(node) = paused {
        found.set("pending_node_id", node.clone());
    }
    found
}

/// What became of the branch that keeps the work (facts 1.4).
fn bank_state(run: &Json) -> Option<&'static str> {
    if !run.text_of("final_branch_error").is_empty() {
        return Some("bank_failed");
    }
    (!run.text_of("final_branch").is_empty() && !run.text_of("final_commit").is_empty()).then_some("banked")
}
