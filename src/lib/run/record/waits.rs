//! Whether a run waits for a person somewhere below it (`HasBlockingHumanWait`, facts 2.11).

use std::collections::{HashSet, VecDeque};

use super::status;
use crate::clock;
use crate::error::Result;
use crate::run::json::Json;
use crate::run::status::Status;
use crate::store::Store;
use crate::store::id::RunId;
use crate::stream::quote;

/// So many runs are looked at; a tree that is larger counts as waiting.
pub const RUNS_MAX: usize = 256;

/// Whether a tree of runs waits, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// It does not.
    None,
    /// This run does, for this reason.
    Blocking {
        /// The run that was found.
        run: String,
        /// Why it counts.
        reason: String,
    },
}

/// Looks through a run and its synchronous children, breadth first. A running run waits while one of its waits has not
/// expired, a child also while it is paused. The pause of the root itself is no evidence. What cannot be read, and a tree of
/// too many runs, counts as waiting.
///
/// # Errors
/// Those of reading the root.
pub fn blocking(store: &Store, root: &RunId, now_ns: u64) -> Result<Wait> {
    let mut document = super::load(store, root)?;
    let mut id = root.as_str().to_owned();
    let mut seen = HashSet::from([id.clone()]);
    let mut queue = VecDeque::new();
    loop {
        let is_root = id == root.as_str();
        if let Some(reason) = reason(&document, is_root, now_ns) {
            return Ok(Wait::Blocking { run: id, reason });
        }
        for (_, child) in document.get("subbot_children").map(Json::members).unwrap_or_default() {
            let child = child.text().unwrap_or_default().into_owned();
            if seen.insert(child.clone()) {
                queue.push_back(child);
            }
        }
        if seen.len() > RUNS_MAX {
            let reason = format!("the tree has more than {RUNS_MAX} runs");
            return Ok(Wait::Blocking { run: id, reason });
        }
        let Some(next) = queue.pop_front() else { return Ok(Wait::None) };
        match RunId::named(&next).and_then(|run| super::load(store, &run)) {
            Ok(read) => (document, id) = (read, next),
            Err(error) => return Ok(Wait::Blocking { run: next, reason: format!("it cannot be read: {error}") }),
        }
    }
}

fn reason(run: &Json, is_root: bool, now_ns: u64) -> Option<String> {
    let status = status(run);
    if !is_root && let Some(status) = status.filter(|status| status.is_paused()) {
        return Some(format!("it is {status}"));
    }
    if status != Some(Status::Running) {
        return None;
    }
    run.get("await_answers_waits").map(Json::members).unwrap_or_default().iter().find_map(|(token, wait)| {
        let until = wait.text_of("until");
        // A time that cannot be read may be one that is still to come.
        let is_live = clock::parse_rfc3339(&until).is_none_or(|ns| ns > i128::from(now_ns));
        let token = quote::name(token.as_bytes());
        is_live.then(|| {
            format!("wait {token} of node {} lasts until {until}", quote::name(wait.text_of("node_id").as_bytes()))
        })
    })
}
