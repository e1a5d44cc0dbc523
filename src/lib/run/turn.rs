//! `turns/<node>/<iteration>/<turn>.json`: what one turn of a node's agent did, and beside it the conversation up to then
//! (facts 4.10).
//!
//! ```text
//! {run_id, node_id, loop_iter, turn_index, backend, model?, finish_reason?, tool_calls?, text_digest?, usage, session_id?,
//!  terminated_background?, messages_ref?, git_ref?, written_at}
//! ```
//!
//! A turn may be written again: a node that is executed anew counts from 0. `index.json` holds the latest turn once more. The
//! facts give it the members of a turn and say nothing else of it: no reader here relies on it, each write makes it true
//! again, and one that has other members is left alone.

use super::access::{Writing, components, numbers};
use super::document;
use super::json::Json;
use crate::clock;
use crate::error::{Error, Result};
use crate::store::component::Component;
use crate::store::fsio::document as stored;
use crate::store::id::RunId;
use crate::store::{Store, layout};
use crate::stream::quote;

/// The members in the order in which they are written.
const ORDER: &[&str] = &[
    "run_id",
    "node_id",
    "loop_iter",
    "turn_index",
    "backend",
    "model",
    "finish_reason",
    "tool_calls",
    "text_digest",
    "usage",
    "session_id",
    "terminated_background",
    "messages_ref",
    "git_ref",
    "written_at",
];

/// Which turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The node.
    pub node: Component,
    /// The iteration of the node.
    pub iteration: i64,
    /// The turn in it.
    pub turn: i64,
}

/// Writes a turn, and its conversation if there is one. What says where the turn is and when it was written is set here,
/// whatever `given` says.
///
/// # Errors
/// Those of [`Writing::begin`].
pub fn write(store: &Store, run: &RunId, place: &Place, given: &Json, messages: Option<&Json>) -> Result<Json> {
    let Place { node, iteration, turn } = place;
    let mut json = Json::object([
        ("run_id", Json::string(run.as_str())),
        ("node_id", Json::string(node.as_str())),
        ("loop_iter", Json::integer(*iteration)),
        ("turn_index", Json::integer(*turn)),
    ]);
    for (key, value) in given.members() {
        if !matches!(
            key.as_str(),
            "run_id" | "node_id" | "loop_iter" | "turn_index" | "messages_ref" | "written_at"
        ) {
            json.set_in_order(key, value.clone(), ORDER);
        }
    }
    if messages.is_some() {
        let reference = format!("{iteration}/{turn}{}", layout::TURN_MESSAGES_SUFFIX);
        json.set_in_order("messages_ref", Json::string(&reference), ORDER);
    }
    json.set_in_order("written_at", Json::string(&clock::rfc3339(clock::now_ns())), ORDER);
    let writing = Writing::begin(store, run)?;
    let conversation = layout::turn_messages(store.root(), run, node, *iteration, *turn);
    // The conversation first: a turn never names one that is not there.
    if let Some(messages) = messages {
        document::replace(store, &conversation, messages)?;
    }
    document::replace(store, &layout::turn(store.root(), run, node, *iteration, *turn), &json)?;
    if messages.is_none() && conversation.exists() {
        stored::remove(&conversation)?;
    }
    let newest = latest(store, run, node)?;
    if newest == *place {
        write_index(store, run, node, &json)?;
    } else if let Ok(newest) = read(store, run, &newest) {
        write_index(store, run, node, &newest)?;
    }
    drop(writing);
    Ok(json)
}

/// Brings the index up to date, unless what is there is in another form: whoever wrote that knows what it is for.
fn write_index(store: &Store, run: &RunId, node: &Component, json: &Json) -> Result<()> {
    let path = layout::turn_index(store.root(), run, node);
    match document::read_value_if_there(&path) {
        Ok(Some(index)) if index.get("turn_index").is_none() || index.is_same(json) => Ok(()),
        _ => document::replace(store, &path, json),
    }
}

/// Reads a turn.
///
/// # Errors
/// [`crate::error::Kind::NotFound`], [`crate::error::Kind::Damaged`].
pub fn read(store: &Store, run: &RunId, place: &Place) -> Result<Json> {
    let path = layout::turn(store.root(), run, &place.node, place.iteration, place.turn);
    document::read_if_there(&path)?.ok_or_else(|| {
        Error::not_found(format!(
            "node {} has no turn {} in iteration {}",
            quote::name(place.node.as_str().as_bytes()),
            place.turn,
            place.iteration
        ))
        .at(path)
        .hint("'run-turn list' shows those that there are")
    })
}

/// The conversation of a turn, as it is stored.
///
/// # Errors
/// As [`read`].
pub fn messages(store: &Store, run: &RunId, place: &Place) -> Result<Vec<u8>> {
    let path = layout::turn_messages(store.root(), run, &place.node, place.iteration, place.turn);
    match crate::store::read_document(&path) {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(error) if error.kind() == crate::error::Kind::NotFound => {
            read(store, run, place)?;
            Err(Error::not_found("the turn was written without its conversation").at(path))
        }
        Err(error) => Err(error),
    }
}

/// The turns of a node: iterations ascending, and the turns in each.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn list(store: &Store, run: &RunId, node: &Component) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    for iteration in numbers(&layout::turns_of(store.root(), run, node), "", |number| number.to_string())? {
        let dir = layout::turns_of_iteration(store.root(), run, node, iteration);
        for turn in numbers(&dir, ".json", |number| number.to_string())? {
            places.push(Place { node: node.clone(), iteration, turn });
        }
    }
    Ok(places)
}

/// The latest turn of a node: the highest iteration that has one, and the highest turn in it.
///
/// # Errors
/// [`crate::error::Kind::NotFound`] where there is none.
pub fn latest(store: &Store, run: &RunId, node: &Component) -> Result<Place> {
    list(store, run, node)?.pop().ok_or_else(|| {
        Error::not_found(format!("node {} has no turns", quote::name(node.as_str().as_bytes())))
            .hint("'run-turn list' shows the nodes that have some")
    })
}

/// The nodes that have turns, sorted.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn nodes(store: &Store, run: &RunId) -> Result<Vec<Component>> {
    components(&layout::turns(store.root(), run), "")
}
