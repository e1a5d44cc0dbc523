//! `plans/<number>.json`: what an agent meant to do, each time it changed its mind (facts 4.4).
//!
//! ```text
//! {seq, node_id, iteration, tool?, ts, todos: [{content, status, active_form?, priority?, id?}]}
//! ```
//!
//! The number has four digits or more, so the order is that of the numbers and not of the names. Todos that are the same as
//! in the snapshot before make no new one, whichever node wrote it.

use super::access::{self, Writing, numbers};
use super::companion::{self, Companion, Told};
use super::document;
use super::json::Json;
use crate::clock;
use crate::error::{Error, Result};
use crate::store::component::Component;
use crate::store::fsio::document::Published;
use crate::store::id::RunId;
use crate::store::{Store, layout};
use crate::stream::quote;

/// The members of a todo in the order in which the original writes them.
const TODO_ORDER: [&str; 5] = ["content", "status", "active_form", "priority", "id"];
/// What a todo may be.
const STATUSES: [&str; 3] = ["pending", "in_progress", "completed"];

/// A snapshot that is to be written.
pub struct Draft {
    /// The node whose agent plans.
    pub node: Component,
    /// The iteration of the node.
    pub iteration: i64,
    /// The tool with which the plan was given.
    pub tool: String,
    /// The todos, brought into form by [`todos`].
    pub todos: Json,
}

/// What became of it.
pub struct Written {
    /// The snapshot that holds the todos.
    pub seq: i64,
    /// Whether it was written now.
    pub is_new: bool,
    /// How many todos it has.
    pub count: usize,
    /// What became of the event.
    pub told: Told,
}

/// Brings todos into the form of the original: known members in their order, empty optional ones left out, unknown ones
/// behind them.
///
/// # Errors
/// [`crate::error::Kind::Usage`] for what is no list of todos.
pub fn todos(given: &Json) -> Result<Json> {
    let Json::Array(items) = given else {
        return Err(Error::usage("the todos are not an array").hint("give [{\"content\":...,\"status\":...}, ...]"));
    };
    let todo = |(number, item): (usize, &Json)| {
        let wrong = |what: &str| Error::usage(format!("todo {}: {what}", number + 1));
        if item.get("content").and_then(Json::text).is_none() {
            return Err(wrong("content is not a string"));
        }
        let status = item.text_of("status");
        if !STATUSES.contains(&&*status) {
            let status = quote::name(status.as_bytes());
            return Err(wrong(&format!("status is {status}, and not pending, in_progress or completed")));
        }
        Ok(in_order(item))
    };
    Ok(Json::Array(items.iter().enumerate().map(todo).collect::<Result<_>>()?))
}

fn in_order(todo: &Json) -> Json {
    let known = TODO_ORDER.into_iter().filter_map(|key| {
        let value = todo.get(key)?;
        let needed = matches!(key, "content" | "status");
        (needed || !value.is_zero()).then(|| (key.to_owned(), value.clone()))
    });
    let unknown = todo.members().iter().filter(|(key, _)| !TODO_ORDER.contains(&key.as_str())).cloned();
    Json::Object(known.chain(unknown).collect())
}

/// Writes a snapshot unless the todos are those of the one before.
///
/// # Errors
/// Those of [`Writing::begin`]; nothing is written then.
pub fn write(store: &Store, run: &RunId, draft: &Draft, companion: Companion) -> Result<Written> {
    companion.allow(store, run)?;
    let writing = Writing::begin(store, run)?;
    let newest = list(store, run)?.last().copied();
    // One that cannot be read is not the same.
    let before = newest.and_then(|seq| Some((seq, read(store, run, seq).ok()?)));
    if let Some((seq, before)) = before
        && is_same(before.get("todos"), &draft.todos)
    {
        drop(writing);
        let told = tell(store, run, seq, &before, companion);
        return Ok(Written { seq, is_new: false, count: draft.todos.elements().len(), told });
    }
    let now = clock::rfc3339(clock::now_ns());
    let mut seq = newest.unwrap_or(0).saturating_add(1);
    let snapshot = loop {
        let json = form(draft, seq, &now);
        let path = layout::plan(store.root(), run, seq);
        match document::create(store, &path, &json)? {
            Published::New => break json,
            Published::Exists => seq = access::number_after(seq, &path)?,
        }
    };
    drop(writing);
    let told = tell(store, run, seq, &snapshot, companion);
    Ok(Written { seq, is_new: true, count: draft.todos.elements().len(), told })
}

/// Whether both programs would write the same text for them.
fn is_same(a: Option<&Json>, b: &Json) -> bool {
    let form = |todos: Option<&Json>| {
        Json::Array(todos.map(Json::elements).unwrap_or_default().iter().map(in_order).collect())
    };
    form(a).is_same(&form(Some(b)))
}

fn form(draft: &Draft, seq: i64, now: &str) -> Json {
    let mut json = Json::object([
        ("seq", Json::integer(seq)),
        ("node_id", Json::string(draft.node.as_str())),
        ("iteration", Json::integer(draft.iteration)),
    ]);
    if !draft.tool.is_empty() {
        json.set("tool", Json::string(&draft.tool));
    }
    json.set("ts", Json::string(now));
    json.set("todos", draft.todos.clone());
    json
}

/// The event of a snapshot, which says what the snapshot says.
fn tell(store: &Store, run: &RunId, seq: i64, snapshot: &Json, companion: Companion) -> Told {
    let node = snapshot.text_of("node_id");
    let count = i64::try_from(snapshot.get("todos").map(Json::elements).unwrap_or_default().len()).unwrap_or(0);
    let data = vec![
        ("seq", Json::integer(seq)),
        ("node_id", Json::string(&node)),
        ("iteration", Json::integer(snapshot.get("iteration").and_then(Json::as_integer).unwrap_or(0))),
        ("count", Json::integer(count)),
    ];
    companion.tell(store, run, &companion::event("plan_written", &node, data), &snapshot.text_of("ts"))
}

/// The numbers of the snapshots that are there, ascending.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn list(store: &Store, run: &RunId) -> Result<Vec<i64>> {
    numbers(&layout::plans(store.root(), run), ".json", |seq| format!("{seq:04}"))
}

/// Reads a snapshot.
///
/// # Errors
/// [`crate::error::Kind::NotFound`], [`crate::error::Kind::Damaged`].
pub fn read(store: &Store, run: &RunId, seq: i64) -> Result<Json> {
    let path = layout::plan(store.root(), run, seq);
    document::read_if_there(&path)?.ok_or_else(|| {
        Error::not_found(format!("the run has no plan {seq}"))
            .at(path)
            .hint("'run-plan list' shows those that there are")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn todos_have_the_form_of_the_original() {
        let given = r#"[{"x":1,"status":"pending","id":"7","priority":"","content":"a"}]"#;
        assert_eq!(
            todos(&tree(given)).unwrap().compact(),
            r#"[{"content":"a","status":"pending","id":"7","x":1}]"#
        );
        for (bad, why) in [
            ("{}", "not an array"),
            ("[1]", "todo 1: content"),
            (r#"[{"content":"a","status":"done"}]"#, "status is 'done'"),
            (r#"[{"content":"a"}]"#, "status is ''"),
        ] {
            assert!(todos(&tree(bad)).unwrap_err().to_string().contains(why), "{bad}");
        }
    }
}
