//! The checkpoint in run.json: the only thing that a run is resumed from (facts 1.6).
//!
//! A published body that is there twice is kept once. In `artifacts` a body is left out
//!
//! * when it equals the newest output of its owner: it is rebuilt from `outputs`;
//! * when it is an older one, and the artifact file that `artifact_revisions` names holds the same: that revision is marked
//!   with `value_from_revision` and the body is rebuilt from the file.
//!
//! What has no owner, or a revision that was not verified, stays. Branches inside `parallel` always keep their bodies, since
//! older programs do not understand owners. Without `artifacts_known` an older program wrote it, and nothing is left out.

use super::schema::{self, CHECKPOINT};
use super::write::{self, Change, Expected, Receipt};
use super::{ORDER, preserve, status};
use crate::error::{Error, Result};
use crate::run::document;
use crate::run::json::Json;
use crate::run::status::Status;
use crate::run::transition;
use crate::store::component::Component;
use crate::store::id::RunId;
use crate::store::{Store, layout};
use crate::stream::quote;

/// Members that every checkpoint has, and what the original writes where there is nothing.
const ALWAYS: [(&str, bool); 6] = [
    ("node_id", true),
    ("interaction_id", true),
    ("outputs", false),
    ("loop_counters", false),
    ("artifact_versions", false),
    ("vars", false),
];

/// Stores a checkpoint; the status stays as it is. A pause pointer is taken out where the status cannot carry one.
///
/// # Errors
/// As [`write::change`].
pub fn save(store: &Store, run: &RunId, new: Json, expected: &Expected) -> Result<Receipt> {
    write::change(store, run, expected, |document, _, _| {
        put(store, run, document, new);
        let may_point = status(document).is_some_and(Status::may_carry_pause_pointer);
        if let Some(checkpoint) = document.get_mut("checkpoint")
            && !may_point
        {
            transition::strip_pause_pointer(checkpoint);
        }
        Ok(Change::Made)
    })
}

/// Puts a checkpoint into a document: completed, with bodies left out that are there already, and with what the stored one
/// has beyond what is known.
pub fn put(store: &Store, run: &RunId, document: &mut Json, mut new: Json) {
    let order = CHECKPOINT.order();
    for (key, is_text) in ALWAYS {
        if new.get(key).is_none() {
            let empty = if is_text { Json::string("") } else { Json::null() };
            new.set_in_order(key, empty, &order);
        }
    }
    elide(store, run, &mut new);
    let merged = match document.get("checkpoint") {
        Some(stored) => preserve::merge(stored, new, CHECKPOINT),
        None => new,
    };
    document.set_in_order("checkpoint", merged, ORDER);
}

/// Sets the pause pointer.
pub fn point(checkpoint: &mut Json, interaction: &str, questions: Option<Json>) {
    let order = CHECKPOINT.order();
    checkpoint.set_in_order("interaction_id", Json::string(interaction), &order);
    match questions {
        Some(questions) => checkpoint.set_in_order("interaction_questions", questions, &order),
        None => {
            checkpoint.remove("interaction_questions");
        }
    }
}

/// The interactions that a run waits for by the pause pointer of its checkpoint, the first one that of the run itself.
#[must_use]
pub fn awaited(run: &Json) -> Vec<String> {
    let paths: [&[&str]; 2] =
        [&["checkpoint", "interaction_id"], &["checkpoint", "parallel", "pending_interaction_id"]];
    let ids = paths.iter().filter_map(|path| run.at(path).and_then(Json::text));
    let mut ids: Vec<String> = ids.filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned).collect();
    ids.dedup();
    ids
}

/// The node at which a checkpoint stands: that of a branch which is paused, else its own.
#[must_use]
pub fn paused_node(checkpoint: &Json) -> String {
    let pending =
        checkpoint.at(&["parallel", "pending_node_id"]).and_then(Json::text).filter(|node| !node.is_empty());
    pending.map_or_else(|| checkpoint.text_of("node_id").into_owned(), std::borrow::Cow::into_owned)
}

/// Leaves out the bodies that can be rebuilt.
pub fn elide(store: &Store, run: &RunId, checkpoint: &mut Json) {
    if checkpoint.get("artifacts_known").and_then(Json::as_boolean) != Some(true) {
        return;
    }
    let bodies = checkpoint.get("artifacts").map(Json::members).unwrap_or_default().to_vec();
    for (alias, body) in bodies {
        let Some(owner) = owner(checkpoint, &alias) else { continue };
        if is_unverified(checkpoint, &alias) {
            continue;
        }
        let is_newest = checkpoint.at(&["outputs", &owner]).is_some_and(|output| output.is_same(&body));
        let is_in_file =
            || matches!(of_revision(store, run, checkpoint, &alias), Ok(stored) if stored.is_same(&body));
        if !is_newest && !is_in_file() {
            continue;
        }
        if let Some(revision) = checkpoint.get_mut("artifact_revisions").and_then(|all| all.get_mut(&alias)) {
            if is_newest {
                revision.remove("value_from_revision");
            } else {
                let order = schema::Shape::order(schema::REVISION);
                revision.set_in_order("value_from_revision", Json::boolean(true), &order);
            }
        }
        if let Some(artifacts) = checkpoint.get_mut("artifacts") {
            artifacts.remove(&alias);
        }
    }
}

/// Puts back the bodies that were left out. Returns what could not be rebuilt, as sentences.
pub fn expand(store: &Store, run: &RunId, checkpoint: &mut Json) -> Vec<String> {
    let mut missing = Vec::new();
    let mut bodies = Vec::new();
    for alias in catalogue(checkpoint) {
        if let Some(body) = checkpoint.at(&["artifacts", &alias]) {
            bodies.push((alias, body.clone()));
            continue;
        }
        match rebuilt(store, run, checkpoint, &alias) {
            Ok(body) => bodies.push((alias, body)),
            Err(why) => {
                missing.push(format!("the body of {} cannot be rebuilt: {why}", quote::name(alias.as_bytes())));
            }
        }
    }
    if !bodies.is_empty() || checkpoint.get("artifacts").is_some() {
        checkpoint.set_in_order("artifacts", Json::Object(bodies), &CHECKPOINT.order());
    }
    missing
}

/// The published names: the owners' and those with a body of their own. An older program recorded neither; then every node
/// that has published stands for its newest output, and no provenance is made up.
fn catalogue(checkpoint: &Json) -> Vec<String> {
    let keys =
        |name: &str| checkpoint.get(name).map(Json::members).unwrap_or_default().iter().map(|(key, _)| key.clone());
    let mut names: Vec<String> = keys("artifact_owners").chain(keys("artifacts")).collect();
    let is_known = checkpoint.get("artifacts_known").and_then(Json::as_boolean) == Some(true);
    if names.is_empty() && !is_known {
        names = keys("artifact_versions").filter(|node| checkpoint.at(&["outputs", node]).is_some()).collect();
    }
    names.sort();
    names.dedup();
    names
}

fn owner(checkpoint: &Json, alias: &str) -> Option<String> {
    let owner = checkpoint.at(&["artifact_owners", alias])?.text()?.into_owned();
    (!owner.is_empty()).then_some(owner)
}

fn is_unverified(checkpoint: &Json, alias: &str) -> bool {
    checkpoint.at(&["artifact_revisions", alias, "unverified"]).and_then(Json::as_boolean) == Some(true)
}

fn rebuilt(store: &Store, run: &RunId, checkpoint: &Json, alias: &str) -> Result<Json> {
    let is_historical =
        checkpoint.at(&["artifact_revisions", alias, "value_from_revision"]).and_then(Json::as_boolean)
            == Some(true);
    if is_historical {
        return of_revision(store, run, checkpoint, alias);
    }
    // A name without an owner is one of an older program's nodes.
    let owner = owner(checkpoint, alias).unwrap_or_else(|| alias.to_owned());
    checkpoint.at(&["outputs", &owner]).cloned().ok_or_else(|| {
        Error::not_found(format!("its owner {} has no output in the checkpoint", quote::name(owner.as_bytes())))
    })
}

/// The body of the artifact file that the revision of a name points to.
fn of_revision(store: &Store, run: &RunId, checkpoint: &Json, alias: &str) -> Result<Json> {
    let none = || Error::not_found("no revision is recorded");
    let revision = checkpoint.at(&["artifact_revisions", alias]).ok_or_else(none)?;
    let producer = Component::named("node id", &revision.text_of("node_id"))?;
    let version =
        revision.get("version").and_then(Json::as_integer).filter(|version| *version >= 0).ok_or_else(none)?;
    let path = layout::artifact(store.root(), run, &producer, version);
    let artifact = document::read(&path)?;
    artifact.get("data").cloned().ok_or_else(|| Error::damaged(&path, "it has no data"))
}
