//! `interactions/<id>.json`: a question to people, and their answer (facts 4.2).
//!
//! ```text
//! {id, run_id, node_id, kind?, requested_at, answered_at?, questions?, answers?, turns?, tenant_id?, retired_at?}
//! ```
//!
//! An interaction is open until it is answered or retired; both happen once. Of many who answer at the same time one wins:
//! `.answer.lock` is held from the look at the interaction until its event is in the log.

use std::time::Duration;

use super::access::{Writing, components};
use super::companion::{self, Companion, Told};
use super::document;
use super::json::Json;
use super::record::{self, checkpoint};
use super::status::Status;
use crate::clock;
use crate::error::{Error, Fact, Kind, Result};
use crate::store::component::Component;
use crate::store::fsio::document::Published;
use crate::store::id::RunId;
use crate::store::lock::{Lock, Mode, Patience};
use crate::store::{Store, layout};
use crate::stream::quote;

/// The members in the order in which the original writes them.
pub const ORDER: &[&str] = &[
    "id",
    "run_id",
    "node_id",
    "kind",
    "requested_at",
    "answered_at",
    "questions",
    "answers",
    "turns",
    "tenant_id",
    "retired_at",
];
/// How long `.answer.lock` is waited for at most; the original waits as long.
const ANSWER_LOCK_WAIT: Duration = Duration::from_secs(2);

/// What an interaction asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskKind {
    /// The run waits; the answers become the node's output.
    Blocking,
    /// The run goes on; somebody picks the answers up.
    Async,
    /// The run waits for answers to earlier questions.
    Await,
    /// The run waits after a failure; the answer only acknowledges.
    Recovery,
}

impl AskKind {
    /// The text in the document; a blocking one has none.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blocking => "",
            Self::Async => "async",
            Self::Await => "await",
            Self::Recovery => "recovery",
        }
    }
}

/// Where an interaction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It waits for an answer.
    Open,
    /// It has one.
    Answered,
    /// Nobody wants one any more.
    Retired,
}

impl State {
    /// The state of a document.
    #[must_use]
    pub fn of(interaction: &Json) -> Self {
        let is_set = |key: &str| interaction.get(key).is_some_and(|time| !time.is_zero());
        if is_set("retired_at") {
            Self::Retired
        } else if is_set("answered_at") {
            Self::Answered
        } else {
            Self::Open
        }
    }

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Retired => "retired",
        }
    }
}

/// What became of a change.
pub struct Changed {
    /// The interaction as it is stored.
    pub json: Json,
    /// Whether it was changed now, and not before.
    pub is_new: bool,
    /// What became of the event.
    pub told: Told,
}

/// A question.
pub struct Question {
    /// Its id.
    pub id: Component,
    /// The node that asks.
    pub node: Component,
    /// What it asks for.
    pub kind: AskKind,
    /// The questions, an object.
    pub questions: Json,
    /// The tenant, or empty.
    pub tenant: String,
}

/// The id that an engine gives: `<run>_<node>`, with the iteration behind it where that is above 0.
#[must_use]
pub fn default_id(run: &RunId, node: &Component, iteration: i64) -> String {
    if iteration > 0 { format!("{run}_{node}_{iteration}") } else { format!("{run}_{node}") }
}

/// Asks. The same question again is a success as long as it is open.
///
/// # Errors
/// [`crate::error::Kind::Conflict`] when the id is taken by another one; those of [`Writing::begin`].
pub fn ask(store: &Store, run: &RunId, question: &Question, companion: Companion) -> Result<Changed> {
    companion.allow(store, run)?;
    let writing = Writing::begin(store, run)?;
    let path = layout::interaction(store.root(), run, &question.id);
    let wanted = form(run, question, &clock::rfc3339(clock::now_ns()));
    let is_new = document::create(store, &path, &wanted)? == Published::New;
    let json = if is_new { wanted } else { document::read(&path)? };
    drop(writing);
    let differs = |key: &&str| {
        let member = |json: &Json| json.get(key).cloned().unwrap_or_default();
        let (stored, wanted) = (member(&json), member(&form(run, question, "")));
        !(stored.is_same(&wanted) || stored.is_zero() && wanted.is_zero())
    };
    if State::of(&json) != State::Open || ["node_id", "kind", "questions"].iter().any(differs) {
        return Err(Error::conflict(format!(
            "there is another interaction {} ({}, asked at {} by node {})",
            quote::name(question.id.as_str().as_bytes()),
            State::of(&json).as_str(),
            json.text_of("requested_at"),
            quote::name(json.text_of("node_id").as_bytes())
        ))
        .at(path)
        .hint("give this one another id with --id, or --iteration"));
    }
    let told = companion.tell(store, run, &asked(&json), &json.text_of("requested_at"));
    Ok(Changed { json, is_new, told })
}

fn form(run: &RunId, question: &Question, now: &str) -> Json {
    let mut json = Json::object([
        ("id", Json::string(question.id.as_str())),
        ("run_id", Json::string(run.as_str())),
        ("node_id", Json::string(question.node.as_str())),
    ]);
    let mut put = |key: &str, value: Json| {
        if !value.is_zero() {
            json.set(key, value);
        }
    };
    put("kind", Json::string(question.kind.as_str()));
    put("requested_at", Json::string(now));
    put("questions", question.questions.clone());
    put("tenant_id", Json::string(&question.tenant));
    json
}

fn asked(json: &Json) -> super::events::draft::Draft {
    let is_async = json.text_of("kind") == AskKind::Async.as_str();
    let data = vec![
        ("interaction_id", Json::string(&json.text_of("id"))),
        ("questions", json.get("questions").cloned().unwrap_or_default()),
        ("async", if is_async { Json::boolean(true) } else { Json::null() }),
    ];
    companion::event("human_input_requested", &json.text_of("node_id"), data)
}

/// The interaction that a run waits for, as its checkpoint repeats it in case that the file is lost (facts 4.2); `None` where
/// it waits for no such one.
#[must_use]
pub fn of_pause(store: &Store, run: &RunId, id: &Component) -> Option<Json> {
    let document = record::load(store, run).ok()?;
    let waits = record::status(&document).is_some_and(Status::is_paused);
    if !waits || !checkpoint::awaited(&document).iter().any(|awaited| awaited == id.as_str()) {
        return None;
    }
    let pointer = document.get("checkpoint")?;
    let is_own = pointer.text_of("interaction_id") == id.as_str();
    let of_branch = || pointer.at(&["parallel", "pending_interaction_questions"]);
    let questions = if is_own { pointer.get("interaction_questions") } else { of_branch() };
    let node = if is_own { pointer.text_of("node_id").into_owned() } else { checkpoint::paused_node(pointer) };
    let is_recovery = pointer.get("recovery_pause").and_then(Json::as_boolean) == Some(true);
    let kind = if is_recovery { AskKind::Recovery } else { AskKind::Blocking };
    let mut json = Json::object([
        ("id", Json::string(id.as_str())),
        ("run_id", Json::string(run.as_str())),
        ("node_id", Json::string(&node)),
    ]);
    for (key, value) in [
        ("kind", Json::string(kind.as_str())),
        // Since when it waits is the nearest to when it was asked.
        ("requested_at", Json::string(&document.text_of("updated_at"))),
        ("questions", questions.cloned().unwrap_or_default()),
        ("tenant_id", Json::string(&document.text_of("tenant_id"))),
    ] {
        if !value.is_zero() {
            json.set(key, value);
        }
    }
    Some(json)
}

/// Reads an interaction, or makes it up from the pause that names it.
fn read_or_restore(store: &Store, run: &RunId, id: &Component) -> Result<Json> {
    match read(store, run, id) {
        Err(error) if error.kind() == Kind::NotFound && store.refuse_deleted(run).is_ok() => {
            of_pause(store, run, id).ok_or(error)
        }
        other => other,
    }
}

/// Answers. Where the file is lost of an interaction that the run waits for, it is made anew. An answer that was stored without its event, because its writer died in between, is completed by the same
/// answer given again.
///
/// # Errors
/// [`crate::error::Kind::NotFound`]; [`crate::error::Kind::Conflict`] when it is answered or retired, or the lock was not
/// had in time; those of [`Writing::begin`].
pub fn answer(store: &Store, run: &RunId, id: &Component, answers: &Json, companion: Companion) -> Result<Changed> {
    companion.allow(store, run)?;
    read_or_restore(store, run, id)?;
    store.create_dir(&layout::interactions(store.root(), run))?;
    let _lock = answer_lock(store, run)?;
    let writing = Writing::begin(store, run)?;
    let mut json = read_or_restore(store, run, id)?;
    let is_new = State::of(&json) == State::Open;
    if is_new {
        json.set_in_order("answered_at", Json::string(&clock::rfc3339(clock::now_ns())), ORDER);
        json.set_in_order("answers", answers.clone(), ORDER);
        document::replace(store, &layout::interaction(store.root(), run, id), &json)?;
    }
    drop(writing);
    let (event, since) = (answered(&json), json.text_of("answered_at").into_owned());
    let is_same = json.get("answers").is_some_and(|stored| stored.is_same(answers));
    let is_final = State::of(&json) != State::Answered || !is_same;
    // A log that cannot be read is no reason to fail where the answer is on the disk now: telling it says what is wrong.
    if !is_new && (is_final || companion.is_told(store, run, &event, &since)?) {
        return Err(closed(&json, id));
    }
    let told = companion.tell(store, run, &event, &since);
    Ok(Changed { json, is_new, told })
}

fn answered(json: &Json) -> super::events::draft::Draft {
    let (id, node) = (json.text_of("id"), json.text_of("node_id"));
    let id = ("interaction_id", Json::string(&id));
    if json.text_of("kind") == AskKind::Async.as_str() {
        let data = vec![id, ("node_id", Json::string(&node)), ("async", Json::boolean(true))];
        companion::event("interaction_answered", &node, data)
    } else {
        let answers = json.get("answers").cloned().unwrap_or_default();
        companion::event("human_answers_recorded", &node, vec![id, ("answers", answers)])
    }
}

fn closed(json: &Json, id: &Component) -> Error {
    let state = State::of(json);
    let since = json.text_of(if state == State::Retired { "retired_at" } else { "answered_at" }).into_owned();
    let id = quote::name(id.as_str().as_bytes());
    Error::conflict(format!("interaction {id} was {} at {since}", state.as_str()))
        .with_fact("state", Fact::Text(state.as_str().to_owned()))
        .hint("'run-interaction show' prints it; nothing was changed")
}

fn answer_lock(store: &Store, run: &RunId) -> Result<Option<Lock>> {
    store.refuse_deleted(run)?;
    let patience = Patience { limit: store.patience().limit.min(ANSWER_LOCK_WAIT), ..store.patience() };
    let what = format!("the interactions of run {}", quote::name(run.as_str().as_bytes()));
    Lock::on_file(&layout::answer_lock(store.root(), run), Mode::Exclusive, &what, patience)
}

/// A turn of a conversation about an interaction.
pub struct Turn {
    /// `companion` or `human`.
    pub role: String,
    /// What was said, or empty.
    pub content: String,
    /// What was decided.
    pub verdict: Option<Json>,
    /// So many turns must be there before, where it is said.
    pub expected: Option<usize>,
    /// Whether the interaction is opened again where it was answered.
    pub reopens: bool,
}

/// Appends a turn. With an expected number of turns, the same turn again only makes up for a missing event.
///
/// # Errors
/// [`crate::error::Kind::Conflict`] when the interaction is closed, or has another number of turns; those of
/// [`Writing::begin`].
pub fn turn(store: &Store, run: &RunId, id: &Component, turn: &Turn, companion: Companion) -> Result<Changed> {
    companion.allow(store, run)?;
    read(store, run, id)?;
    let _lock = answer_lock(store, run)?;
    let writing = Writing::begin(store, run)?;
    let mut json = read(store, run, id)?;
    let mut turns = json.get("turns").map(Json::elements).unwrap_or_default().to_vec();
    let is_there = turn.expected.is_some_and(|expected| turns.len() == expected + 1)
        && turns.last().is_some_and(|last| is_same_turn(last, turn));
    if !is_there {
        if let Some(expected) = turn.expected.filter(|expected| *expected != turns.len()) {
            let count = turns.len();
            let id = quote::name(id.as_str().as_bytes());
            return Err(Error::conflict(format!("interaction {id} has {count} turns, not {expected}"))
                .hint("'run-interaction show' prints them"));
        }
        match State::of(&json) {
            State::Open => {}
            State::Answered if turn.reopens => {
                json.remove("answered_at");
                json.remove("answers");
            }
            _ => return Err(closed(&json, id)),
        }
        turns.push(turn_json(turn, &clock::rfc3339(clock::now_ns())));
        json.set_in_order("turns", Json::Array(turns.clone()), ORDER);
        document::replace(store, &layout::interaction(store.root(), run, id), &json)?;
    }
    drop(writing);
    let data = vec![
        ("interaction_id", Json::string(id.as_str())),
        ("role", Json::string(&turn.role)),
        ("turn", Json::integer(i64::try_from(turns.len()).unwrap_or(i64::MAX))),
    ];
    let event = companion::event("review_turn", &json.text_of("node_id"), data);
    let since = turns.last().map(|turn| turn.text_of("at").into_owned()).unwrap_or_default();
    let told = companion.tell(store, run, &event, &since);
    Ok(Changed { json, is_new: !is_there, told })
}

fn turn_json(turn: &Turn, now: &str) -> Json {
    let mut json = Json::object([("role", Json::string(&turn.role))]);
    if !turn.content.is_empty() {
        json.set("content", Json::string(&turn.content));
    }
    if let Some(verdict) = &turn.verdict {
        json.set("verdict", verdict.clone());
    }
    json.set("at", Json::string(now));
    json
}

fn is_same_turn(stored: &Json, turn: &Turn) -> bool {
    let mut stored = stored.clone();
    stored.set("at", Json::null());
    let mut wanted = turn_json(turn, "");
    wanted.set("at", Json::null());
    stored.is_same(&wanted)
}

/// Retires an interaction: it is neither open nor answered any more. It may be retired already.
///
/// # Errors
/// [`crate::error::Kind::NotFound`]; those of [`Writing::begin`].
pub fn retire(store: &Store, run: &RunId, id: &Component) -> Result<Changed> {
    read(store, run, id)?;
    let _lock = answer_lock(store, run)?;
    let writing = Writing::begin(store, run)?;
    let mut json = read(store, run, id)?;
    let is_new = State::of(&json) != State::Retired;
    if is_new {
        json.set_in_order("retired_at", Json::string(&clock::rfc3339(clock::now_ns())), ORDER);
        document::replace(store, &layout::interaction(store.root(), run, id), &json)?;
    }
    drop(writing);
    Ok(Changed { json, is_new, told: Told::NotWanted })
}

/// Reads an interaction.
///
/// # Errors
/// [`crate::error::Kind::NotFound`], [`crate::error::Kind::Damaged`].
pub fn read(store: &Store, run: &RunId, id: &Component) -> Result<Json> {
    store.refuse_deleted(run)?;
    let path = layout::interaction(store.root(), run, id);
    document::read_if_there(&path)?.ok_or_else(|| {
        Error::not_found(format!("there is no interaction {}", quote::name(id.as_str().as_bytes())))
            .at(path)
            .hint("'run-interaction list' shows those that there are")
    })
}

/// The ids of all interactions, sorted.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn ids(store: &Store, run: &RunId) -> Result<Vec<Component>> {
    components(&layout::interactions(store.root(), run), ".json")
}
