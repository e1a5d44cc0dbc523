//! Making a run: the whole first document in one exclusive write (facts 1.7). Two that make the same id are told apart by the
//! file system; the run of the one that came first stays as it is.

use std::path::Path;

use super::write::{Receipt, exists_already};
use super::{FORMAT_VERSION, ORDER, fresh, name, routing, save};
use crate::clock;
use crate::error::{Error, Fact, Result};
use crate::run::document;
use crate::run::json::Json;
use crate::run::status::Status;
use crate::store::fsio::{self, document::Published};
use crate::store::id::RunId;
use crate::store::lock::{Lock, Mode};
use crate::store::{Store, layout};
use crate::stream::quote;

/// A run that is to be made.
#[derive(Debug, Clone, Default)]
pub struct Creation {
    /// The declared workflow.
    pub workflow_name: String,
    /// Launch inputs, an object.
    pub inputs: Option<Json>,
    /// `launch_env`.
    pub launch_env: Option<Json>,
    /// The build that launches it.
    pub iterion_version: String,
    /// The run that it is a child of, and the node of that which waits for it.
    pub parent: Option<(RunId, String)>,
    /// It waits in a queue instead of running.
    pub is_queued: bool,
    /// The source file.
    pub file_path: String,
    /// The bot it was queued for.
    pub bot_id: String,
    /// The link of a worker to the failed run.
    pub delegation: Option<Json>,
    /// What the launch has to say besides: members of run.json that are neither named above nor the store's.
    pub launch: Option<Json>,
}

/// Members that no launch may set: what the options say, and what is the store's own.
const NOT_OF_A_LAUNCH: [&str; 26] = [
    "format_version",
    "id",
    "status",
    "created_at",
    "updated_at",
    "finished_at",
    "cas_version",
    "outcome_seq",
    "continuation_state",
    "error",
    "failure_code",
    "end_reason",
    "resume_requires_explicit",
    "checkpoint",
    "deleted_at",
    "queued_at",
    "launch_env",
    "parent_run_id",
    "parent_node_id",
    "delegation",
    "inputs",
    "await_answers_waits",
    "merge_claimed_at",
    "retry_state",
    "attachments",
    "artifact_index",
];

/// Makes a run.
///
/// # Errors
/// [`crate::error::Kind::Conflict`] when there is one of this id, [`crate::error::Kind::Refused`] for ids and members of newer formats,
/// [`crate::error::Kind::Usage`] for members that no launch may set; nothing is made then.
pub fn create(store: &Store, run: &RunId, creation: &Creation) -> Result<Receipt> {
    store.refuse_deleted(run)?;
    fresh::named(run.as_str())?;
    fresh::refuse_case_twin(store, run)?;
    if let Some((parent, _)) = &creation.parent {
        parent.refuse_reserved().map_err(|error| error.while_doing("a child of such a run is one itself"))?;
    }
    publish(store, run, first_document(run, creation)?)
}

/// Looks whether a run could begin so. Makes nothing.
///
/// # Errors
/// As [`create`] for members.
pub fn check(run: &RunId, creation: &Creation) -> Result<()> {
    first_document(run, creation).map(drop)
}

fn first_document(run: &RunId, creation: &Creation) -> Result<Json> {
    let mut document = Json::Object(Vec::new());
    for (key, value) in creation.launch.as_ref().map(Json::members).unwrap_or_default() {
        document.set_in_order(key, value.clone(), ORDER);
        if NOT_OF_A_LAUNCH.contains(&key.as_str()) {
            return Err(Error::usage(format!("a launch does not set '{key}'"))
                .hint("take it out; 'run-record create --help' shows what is set by options"));
        }
    }
    save::refuse_native(&document)?;
    routing::seal(&mut document)?;
    let mut set = |key: &str, value: Option<Json>| {
        if let Some(value) = value {
            document.set_in_order(key, value, ORDER);
        }
    };
    let text = |text: &str| (!text.is_empty()).then(|| Json::string(text));
    set("id", text(run.as_str()));
    set("workflow_name", text(&creation.workflow_name));
    set("file_path", text(&creation.file_path));
    set("bot_id", text(&creation.bot_id));
    set("iterion_version", text(&creation.iterion_version));
    set("inputs", creation.inputs.clone());
    set("launch_env", creation.launch_env.clone());
    set("delegation", creation.delegation.clone());
    if let Some((parent, node)) = &creation.parent {
        set("parent_run_id", text(parent.as_str()));
        set("parent_node_id", text(node));
    }
    let status = if creation.is_queued { Status::Queued } else { Status::Running };
    set("status", text(status.as_str()));
    let now = Json::string(&clock::rfc3339(clock::now_ns()));
    if creation.is_queued {
        set("queued_at", Some(now.clone()));
    }
    set("created_at", Some(now));
    if document.get("workflow_name").is_none() {
        // The original writes it also where it is empty.
        document.set_in_order("workflow_name", Json::string(""), ORDER);
    }
    Ok(document)
}

/// Publishes a first document, completed: name, times, version and revision.
///
/// # Errors
/// [`crate::error::Kind::Conflict`] when there is a run of this id; it stays as it is.
pub fn publish(store: &Store, run: &RunId, mut document: Json) -> Result<Receipt> {
    complete(run, &mut document);
    let dir = layout::run(store.root(), run);
    let is_ours = rustix::fs::lstat(&dir).is_err();
    let take_back_empty = |_: &Error| {
        if is_ours {
            // It is empty, or somebody else's by now and stays.
            let _ = fsio::document::remove_dir(&dir);
        }
    };
    store.create_dir(&dir).inspect_err(take_back_empty)?;
    let what = format!("the document of run {}", quote::name(run.as_str().as_bytes()));
    let lock_path = layout::write_lock(store.root(), run);
    let lock = Lock::on_file(&lock_path, Mode::Exclusive, &what, store.patience()).inspect_err(take_back_empty)?;
    if !lock.as_ref().is_none_or(|lock| lock.is_at(&lock_path)) {
        return Err(Error::conflict(format!("{what} could not be made by another process at the same time"))
            .hint("run the command again"));
    }
    // Only under the lock does it stay true.
    store.refuse_deleted(run)?;
    super::tighten(store, run)?;
    let published = document::create(store, &layout::run_document(store.root(), run), &document);
    if published.is_err() && is_ours {
        take_back(&dir, &lock_path);
    }
    match published? {
        Published::New => {
            Ok(Receipt { run: run.clone(), changed: true, document, event_seq: None, event_failure: None })
        }
        Published::Exists => Err(exists(store, run)),
    }
}

/// Takes back a directory in which no document came to be, unless something else did. The lock in it is held; whoever
/// waits for it finds that it has gone.
fn take_back(dir: &Path, lock_path: &Path) {
    let Ok(mut entries) = std::fs::read_dir(dir) else { return };
    let is_only_lock = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| Some(&*entry.file_name()) == lock_path.file_name())
    };
    if entries.all(is_only_lock) {
        // What cannot be taken back stays: a directory without a document, which everybody understands.
        let _ = fsio::document::remove(lock_path).and_then(|()| fsio::document::remove_dir(dir));
    }
}

fn exists(store: &Store, run: &RunId) -> Error {
    match super::load(store, run) {
        Ok(stored) => exists_already(&stored),
        // Whatever is wrong with it, it is there.
        Err(_) => Error::conflict(format!("run {} exists already", quote::name(run.as_str().as_bytes())))
            .with_fact("status", Fact::Text(String::new())),
    }
    .hint("choose another id, or leave it out to have one made")
}

fn complete(run: &RunId, document: &mut Json) {
    let now = Json::string(&clock::rfc3339(clock::now_ns()));
    if document.text_of("name").is_empty() {
        // At once, so that all who read it see one name (facts 10.31).
        let name = name::friendly(&document.text_of("file_path"), run.as_str());
        document.set_in_order("name", Json::string(&name), ORDER);
    }
    if document.get("format_version").and_then(Json::as_integer).unwrap_or(0) == 0 {
        document.set_in_order("format_version", Json::integer(FORMAT_VERSION), ORDER);
    }
    let created = document.get("created_at").filter(|time| !time.is_zero()).cloned();
    let updated = created.clone().unwrap_or_else(|| now.clone());
    document.set_in_order("created_at", created.unwrap_or_else(|| now.clone()), ORDER);
    document.set_in_order("updated_at", updated, ORDER);
    document.set_in_order("cas_version", Json::integer(1), ORDER);
}
