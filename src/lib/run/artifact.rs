//! `artifacts/<node>/<version>.json`: what a node published (facts 4.1).
//!
//! ```text
//! {run_id, node_id, version, data, labels?, contract?, written_at}
//! ```
//!
//! Versions count from 0. A version is written once: the same content again is a success, other content a conflict. The
//! member `artifact_index` of run.json holds the highest version of each node; it only saves a look into the directory.

use super::access::{self, Indexed, Writing, components, numbers};
use super::companion::{self, Companion, Told};
use super::document;
use super::json::Json;
use super::record;
use crate::clock;
use crate::error::{Error, Fact, Result};
use crate::store::component::Component;
use crate::store::fsio::document::Published;
use crate::store::id::RunId;
use crate::store::{Store, layout};
use crate::stream::quote;

/// What makes two artifacts the same, apart from their names.
const CONTENT: [&str; 3] = ["data", "labels", "contract"];

/// An artifact that is to be written.
pub struct Draft {
    /// The node that publishes it.
    pub node: Component,
    /// Its version; the next one if it is not said.
    pub version: Option<i64>,
    /// What is published, an object.
    pub data: Json,
    /// Labels.
    pub labels: Vec<String>,
    /// The contract, an object.
    pub contract: Option<Json>,
    /// The name under which it is published, for the event.
    pub publish: Option<String>,
}

/// What became of it.
pub struct Written {
    /// Its version.
    pub version: i64,
    /// Whether it was not there before.
    pub is_new: bool,
    /// When it was written.
    pub written_at: String,
    /// Why the index in run.json does not have it, if so.
    pub unindexed: Option<Error>,
    /// What became of the event.
    pub told: Told,
}

/// Writes an artifact.
///
/// # Errors
/// [`crate::error::Kind::Conflict`] when the version is there with other content; those of [`Writing::begin`]. Nothing is
/// written then.
pub fn write(store: &Store, run: &RunId, draft: &Draft, companion: Companion) -> Result<Written> {
    if draft.publish.is_some() {
        companion.allow(store, run)?;
    }
    let writing = Writing::begin(store, run)?;
    let mut version = match draft.version {
        Some(version) => version,
        None => next_version(store, run, &draft.node)?,
    };
    let now = clock::rfc3339(clock::now_ns());
    let (is_new, written_at) = loop {
        let json = form(run, draft, version, &now);
        let path = layout::artifact(store.root(), run, &draft.node, version);
        match document::create(store, &path, &json)? {
            Published::New => break (true, now),
            // The original writes without our lock.
            Published::Exists if draft.version.is_none() => version = access::number_after(version, &path)?,
            Published::Exists => break (false, compare(&document::read(&path)?, &json, &path)?),
        }
    };
    let indexed = writing.index(|run_json| raise_index(run_json, &draft.node, version));
    drop(writing);
    let told = match &draft.publish {
        None => Told::NotWanted,
        Some(publish) => {
            let data = vec![("publish", Json::string(publish)), ("version", Json::integer(version))];
            let event = companion::event("artifact_written", draft.node.as_str(), data);
            companion.tell(store, run, &event, &written_at)
        }
    };
    Ok(Written { version, is_new, written_at, unindexed: indexed.err(), told })
}

fn form(run: &RunId, draft: &Draft, version: i64, now: &str) -> Json {
    let mut json = Json::object([
        ("run_id", Json::string(run.as_str())),
        ("node_id", Json::string(draft.node.as_str())),
        ("version", Json::integer(version)),
        ("data", draft.data.clone()),
    ]);
    if !draft.labels.is_empty() {
        json.set("labels", Json::strings(&draft.labels));
    }
    if let Some(contract) = &draft.contract {
        json.set("contract", contract.clone());
    }
    json.set("written_at", Json::string(now));
    json
}

/// When the same artifact was written.
fn compare(stored: &Json, wanted: &Json, path: &std::path::Path) -> Result<String> {
    let written_at = stored.text_of("written_at").into_owned();
    let differing = CONTENT.into_iter().find(|key| match (stored.get(key), wanted.get(key)) {
        (Some(a), Some(b)) => !a.is_same(b),
        (Some(one), None) | (None, Some(one)) => !one.is_zero(),
        (None, None) => false,
    });
    match differing {
        None => Ok(written_at),
        Some(key) => {
            Err(Error::conflict(format!("{} was written at {written_at} with other {key}", quote::path(path)))
                .at(path)
                .with_fact("written_at", Fact::Text(written_at))
                .hint("leave --version out to write the next one: what was published does not change"))
        }
    }
}

/// The version after everything that is known: in the directory, in the index, and in the counter of the checkpoint.
fn next_version(store: &Store, run: &RunId, node: &Component) -> Result<i64> {
    let stored = versions(store, run, node)?.last().map(|highest| highest.saturating_add(1));
    let path = layout::run_document(store.root(), run);
    // A run.json that cannot be read says nothing; the directory does.
    let json = document::read(&path).unwrap_or_default();
    let at = |path: &[&str]| json.at(path).and_then(Json::as_integer);
    let indexed = at(&["artifact_index", node.as_str()]).map(|highest| highest.saturating_add(1));
    let counted = at(&["checkpoint", "artifact_versions", node.as_str()]);
    Ok([stored, indexed, counted].into_iter().flatten().max().unwrap_or(0).max(0))
}

/// Raises the index of a node; whether it had to be.
fn raise_index(run: &mut Json, node: &Component, version: i64) -> bool {
    let mut index = run.get("artifact_index").cloned().unwrap_or_default();
    if index.get(node.as_str()).and_then(Json::as_integer).is_some_and(|known| known >= version) {
        return false;
    }
    index.set(node.as_str(), Json::integer(version));
    run.set_in_order("artifact_index", index, record::ORDER);
    true
}

/// The versions of a node that are there, ascending.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn versions(store: &Store, run: &RunId, node: &Component) -> Result<Vec<i64>> {
    numbers(&layout::artifacts_of(store.root(), run, node), ".json", |version| version.to_string())
}

/// The nodes that have artifacts, sorted.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn nodes(store: &Store, run: &RunId) -> Result<Vec<Component>> {
    let mut nodes = components(&layout::artifacts(store.root(), run), "")?;
    nodes.retain(|node| layout::artifacts_of(store.root(), run, node).is_dir());
    Ok(nodes)
}

/// Reads an artifact.
///
/// # Errors
/// [`crate::error::Kind::NotFound`], [`crate::error::Kind::Damaged`].
pub fn read(store: &Store, run: &RunId, node: &Component, version: i64) -> Result<Json> {
    let path = layout::artifact(store.root(), run, node, version);
    document::read_if_there(&path)?.ok_or_else(|| {
        Error::not_found(format!("node {} has no artifact {version}", quote::name(node.as_str().as_bytes())))
            .at(path)
            .hint("'run-artifact list' shows those that there are")
    })
}

/// Reads the latest artifact of a node: the one that the index names if it can be read, else the highest.
///
/// # Errors
/// As [`read`].
pub fn latest(store: &Store, run: &RunId, node: &Component) -> Result<Json> {
    let run_json = document::read(&layout::run_document(store.root(), run)).unwrap_or_default();
    let indexed = run_json.at(&["artifact_index", node.as_str()]).and_then(Json::as_integer);
    if let Some(Ok(json)) = indexed.map(|version| read(store, run, node, version)) {
        return Ok(json);
    }
    match versions(store, run, node)?.last() {
        Some(highest) => read(store, run, node, *highest),
        None => Err(Error::not_found(format!("node {} has no artifacts", quote::name(node.as_str().as_bytes())))
            .hint("'run-artifact list' shows the nodes that have some")),
    }
}

/// Makes the index in run.json say what is there. Gives the number of nodes.
///
/// # Errors
/// [`crate::error::Kind::NotFound`] where there is no run.json; those of [`Writing::begin`] and [`Writing::index`].
pub fn reindex(store: &Store, run: &RunId) -> Result<(usize, Indexed)> {
    let writing = Writing::begin(store, run)?;
    let mut index = Vec::new();
    for node in nodes(store, run)? {
        if let Some(highest) = versions(store, run, &node)?.last() {
            index.push((node.as_str().to_owned(), Json::integer(*highest)));
        }
    }
    let count = index.len();
    let indexed = writing.index(|json| {
        let rebuilt = Json::Object(index);
        let stored = json.get("artifact_index");
        if stored.map_or(rebuilt.is_zero(), |stored| stored.is_same(&rebuilt)) {
            return false;
        }
        if rebuilt.is_zero() {
            json.remove("artifact_index");
        } else {
            json.set_in_order("artifact_index", rebuilt, record::ORDER);
        }
        true
    })?;
    Ok((count, indexed))
}
