//! `user_messages.jsonl`: what operators say to a run (facts 4.6).
//!
//! ```text
//! {id, run_id, text, queued_at, delivered_at?, consumed_at?, cancelled_at?, status, tenant_id?, node_id?, skill_refs?,
//!  interaction_id?}\n
//! ```
//!
//! A log of transitions: each line is the whole record, and the last line of an id is its state. `queued` becomes
//! `delivered` and then `consumed`, or `cancelled`. Each transition is told by an event with it, under the same lock, so that of
//! many who make the same one a single one succeeds.
//!
//! * [`log`]: lines to records, and the one way to add one.

pub mod log;

use std::time::Duration;

use super::access::{self, Writing};
use super::companion::{self, Companion, Told};
use super::events::draft::Draft as EventDraft;
use super::json::Json;
use super::status::Status as RunStatus;
use crate::clock;
use crate::error::{Error, Fact, Result};
use crate::store::id::RunId;
use crate::store::lock::{Lock, Mode, Patience};
use crate::store::{Store, fsio, layout};
use crate::stream::quote;
use log::Log;

/// The members in the order in which the original writes them.
const ORDER: &[&str] = &[
    "id",
    "run_id",
    "text",
    "queued_at",
    "delivered_at",
    "consumed_at",
    "cancelled_at",
    "status",
    "tenant_id",
    "node_id",
    "skill_refs",
    "interaction_id",
];
/// How long the lock of `queue-once` is waited for at most; the original waits as long.
const ONCE_LOCK_WAIT: Duration = Duration::from_secs(2);
/// Longest text that an event repeats, in bytes.
const EVENT_TEXT_BYTES_MAX: usize = 1 << 20;
/// Longest id, in bytes.
const ID_BYTES_MAX: usize = 256;

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It waits for the run.
    Queued,
    /// An agent has been given it.
    Delivered,
    /// An agent has taken it in.
    Consumed,
    /// It was taken back.
    Cancelled,
}

impl State {
    /// The text in the record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Delivered => "delivered",
            Self::Consumed => "consumed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The member that says since when.
    #[must_use]
    pub fn stamp(self) -> &'static str {
        match self {
            Self::Queued => "queued_at",
            Self::Delivered => "delivered_at",
            Self::Consumed => "consumed_at",
            Self::Cancelled => "cancelled_at",
        }
    }

    /// The state that must be left for this one.
    fn before(self) -> Self {
        match self {
            Self::Consumed => Self::Delivered,
            _ => Self::Queued,
        }
    }

    /// The type of the event that tells of it.
    fn event(self) -> &'static str {
        match self {
            Self::Queued => "user_message_queued",
            Self::Delivered => "user_message_delivered",
            Self::Consumed => "user_message_consumed",
            Self::Cancelled => "user_message_cancelled",
        }
    }
}

/// A message that is to be sent.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Its id; one is made where it is empty.
    pub id: String,
    /// What is said.
    pub text: String,
    /// The node it is for, or empty for the run.
    pub node: String,
    /// Skills it refers to.
    pub skills: Vec<String>,
    /// The interaction it is about, or empty.
    pub interaction: String,
    /// The tenant, or empty.
    pub tenant: String,
}

/// What became of it.
pub struct Changed {
    /// The record as it is stored.
    pub json: Json,
    /// Whether it was changed now, and not before.
    pub is_new: bool,
    /// What became of the event.
    pub told: Told,
}

/// Whether an id that was seen before is a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// It is, unless the event of the same message is missing.
    Conflict,
    /// It is not: nothing is written then.
    Fine,
}

/// Sends a message.
///
/// # Errors
/// [`crate::error::Kind::Refused`] when the run takes none, [`crate::error::Kind::Conflict`] for an id that was seen before;
/// those of [`Writing::begin`].
pub fn queue(store: &Store, run: &RunId, draft: &Draft, repeat: Repeat, companion: Companion) -> Result<Changed> {
    check(draft)?;
    companion.allow(store, run)?;
    let _once = match repeat {
        Repeat::Conflict => None,
        Repeat::Fine => {
            access::prepare(store, run)?;
            once_lock(store, run)?
        }
    };
    let writing = Writing::begin(store, run)?;
    refuse_closed(store, run)?;
    let mut log = Log::read(store, run)?;
    if let Some(stored) = log.state_of(&draft.id).filter(|_| !draft.id.is_empty()) {
        let is_same = stored.text_of("text") == *draft.text && stored.text_of("node_id") == *draft.node;
        let (event, since) = (told_of(&stored, State::Queued), stored.text_of("queued_at").into_owned());
        let is_queued = stored.text_of("status") == State::Queued.as_str();
        let completes = is_queued && is_same && !companion.is_told(store, run, &event, &since)?;
        let told = if completes { companion.tell(store, run, &event, &since) } else { Told::NotWanted };
        if !completes && repeat == Repeat::Conflict {
            return Err(conflict(&stored, "there is a message with this id already"));
        }
        return Ok(Changed { json: stored, is_new: false, told });
    }
    let json = form(run, draft, &clock::rfc3339(clock::now_ns()))?;
    log.append(store, &json)?;
    let told = companion.tell(store, run, &told_of(&json, State::Queued), &json.text_of("queued_at"));
    drop(writing);
    Ok(Changed { json, is_new: true, told })
}

fn check(draft: &Draft) -> Result<()> {
    if draft.text.trim().is_empty() {
        return Err(Error::usage("the message has no text"));
    }
    if draft.id.len() > ID_BYTES_MAX || draft.id.chars().any(char::is_control) {
        let shown: String = draft.id.chars().take(64).collect();
        return Err(Error::usage(format!(
            "message id {} has control characters or more than {ID_BYTES_MAX} bytes",
            quote::name(shown.as_bytes())
        )));
    }
    Ok(())
}

fn form(run: &RunId, draft: &Draft, now: &str) -> Result<Json> {
    let mut json = Json::Object(Vec::new());
    let id = if draft.id.is_empty() { fresh_id()? } else { draft.id.clone() };
    let texts = [
        ("id", &*id),
        ("run_id", run.as_str()),
        ("text", &draft.text),
        ("queued_at", now),
        ("status", State::Queued.as_str()),
        ("tenant_id", &draft.tenant),
        ("node_id", &draft.node),
        ("interaction_id", &draft.interaction),
    ];
    for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        json.set_in_order(key, Json::string(text), ORDER);
    }
    if !draft.skills.is_empty() {
        json.set_in_order("skill_refs", Json::strings(&draft.skills), ORDER);
    }
    Ok(json)
}

/// `msg_<unix nanoseconds>_<12 hex digits>`.
fn fresh_id() -> Result<String> {
    let mut tail = [0; 6];
    fsio::fill_random(&mut tail).map_err(|cause| Error::io("cannot make", "a message id", &cause))?;
    Ok(format!("msg_{}_{}", clock::now_ns(), hex::encode(tail)))
}

/// A run that has ended takes no messages; one without run.json takes them.
fn refuse_closed(store: &Store, run: &RunId) -> Result<()> {
    let Some(head) = access::head(store, run)? else { return Ok(()) };
    if RunStatus::parse(&head.status).is_some_and(RunStatus::accepts_messages) {
        return Ok(());
    }
    let (run, status) = (quote::name(run.as_str().as_bytes()), quote::name(head.status.as_bytes()));
    Err(Error::refused(format!("run {run} is {status}, and takes no messages"))
        .hint("a run takes them while it is queued, running, paused or resumable after a failure"))
}

fn once_lock(store: &Store, run: &RunId) -> Result<Option<Lock>> {
    let patience = Patience { limit: store.patience().limit.min(ONCE_LOCK_WAIT), ..store.patience() };
    let what = format!("the messages of run {}", quote::name(run.as_str().as_bytes()));
    Lock::on_file(&layout::messages_once_lock(store.root(), run), Mode::Exclusive, &what, patience)
}

/// Brings a message into a state.
///
/// # Errors
/// [`crate::error::Kind::NotFound`]; [`crate::error::Kind::Conflict`] when it is in no state to go there from; those of
/// [`Writing::begin`].
pub fn advance(store: &Store, run: &RunId, id: &str, target: State, companion: Companion) -> Result<Changed> {
    companion.allow(store, run)?;
    access::reading(store, run)?;
    let writing = Writing::begin(store, run)?;
    let mut log = Log::read(store, run)?;
    let Some(mut json) = log.state_of(id) else {
        return Err(Error::not_found(format!("there is no message {}", quote::name(id.as_bytes())))
            .hint("'run-message list' shows those that there are"));
    };
    let status = json.text_of("status").into_owned();
    let is_new = status == target.before().as_str();
    if is_new {
        json.set_in_order(target.stamp(), Json::string(&clock::rfc3339(clock::now_ns())), ORDER);
        json.set_in_order("status", Json::string(target.as_str()), ORDER);
        log.append(store, &json)?;
    }
    let (event, since) = (told_of(&json, target), json.text_of(target.stamp()).into_owned());
    // A log that cannot be read is no reason to fail where the state is on the disk now: telling it says what is wrong.
    if !is_new && (status != target.as_str() || companion.is_told(store, run, &event, &since)?) {
        let wanted = target.before().as_str();
        return Err(conflict(&json, &format!("a message must be {wanted} to become {}", target.as_str())));
    }
    let told = companion.tell(store, run, &event, &since);
    drop(writing);
    Ok(Changed { json, is_new, told })
}

fn conflict(stored: &Json, why: &str) -> Error {
    let status = stored.text_of("status");
    let id = quote::name(stored.text_of("id").as_bytes());
    Error::conflict(format!("message {id} is {}: {why}", quote::masked(status.as_bytes())))
        .with_fact("status", Fact::Text(status.into_owned()))
        .hint("'run-message list' shows all; nothing was changed")
}

/// The event of a transition.
fn told_of(json: &Json, state: State) -> EventDraft {
    let member = |key: &'static str| (key, json.get(key).cloned().unwrap_or_default());
    let text = json.text_of("text");
    let mut cut = text.len().min(EVENT_TEXT_BYTES_MAX);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let data = vec![
        member("id"),
        ("text", Json::string(text.get(..cut).unwrap_or_default())),
        ("status", Json::string(state.as_str())),
        member("queued_at"),
        member("delivered_at"),
        member("consumed_at"),
        member("cancelled_at"),
    ];
    companion::event(state.event(), &json.text_of("node_id"), data)
}

/// The messages that wait for a node: those to the run and those to the node, in the order in which they were sent. No node
/// takes all.
#[must_use]
pub fn pending<'l>(log: &'l Log, node: &str) -> Vec<&'l Json> {
    let mut waiting: Vec<&Json> = log
        .states()
        .filter(|json| json.text_of("status") == State::Queued.as_str())
        .filter(|json| node.is_empty() || json.text_of("node_id").is_empty() || json.text_of("node_id") == *node)
        .collect();
    waiting.sort_by_key(|json| clock::parse_rfc3339(&json.text_of("queued_at")));
    waiting
}
