//! Every path below the store (wt-store(5), facts 1.1). Nothing else builds one.
//!
//! ```text
//! <store>/
//! ├── assistant-run-watches.json         which runs are watched, by the original's assistants
//! ├── assistant-missions.json            what these were told to do
//! ├── route_watermark.json               the time that those who route outcomes agreed on (ours)
//! ├── workspace-objects/                 the pool, shared by all runs
//! │   ├── .lock                          held shared by writers and readers, exclusive by a sweep
//! │   ├── .obj-<unique>                  an object being written
//! │   └── <aa>/<62 hex digits>           one object: raw bytes, named by their SHA-256
//! └── runs/<run>/
//!     ├── .lock                          the engine's, for as long as the run executes
//!     ├── .deleted                       tombstone of a deleted run
//!     ├── .write.lock                    held for each change of run.json
//!     ├── .pid                           the process that executes the run, if it was started apart
//!     ├── run.json                       the run's own document
//!     ├── events.jsonl                   what happened
//!     ├── run.log                        what the run printed
//!     ├── route_decisions.json           who acts on which outcome of the run (ours)
//!     ├── user_messages.jsonl            what operators sent to the run
//!     ├── .user_messages_insert_once.lock   held while a message is added that must not be there yet
//!     ├── artifacts/<node>/<version>.json
//!     ├── artifact_files/                files that tools wrote
//!     ├── interactions/<id>.json         questions to people; `.answer.lock` is held while one is answered
//!     ├── attachments/<name>/            the bytes, and meta.json about them
//!     ├── .upload-<unique>               content that is being measured (ours; the original has it a directory deeper)
//!     ├── plans/<number>.json            four digits or more
//!     ├── tools/<tool use>/input, output
//!     ├── turns/<node>/index.json        the latest turn once more
//!     ├── turns/<node>/<iteration>/<turn>.json, <turn>.messages.json
//!     ├── .events.lock                   held by whoever appends to events.jsonl (ours)
//!     ├── .events.unsynced               there when a flush of events.jsonl failed (ours)
//!     └── workspace/
//!         ├── .lock                      history lock: every change of index and journal
//!         ├── .dirs-seen                 what was in the workspace's directories; may be removed at any time (ours)
//!         ├── .pool-seen                 which objects a capture saw in the pool; may be removed at any time (ours)
//!         ├── .index-spare               the index before the last change; may be removed at any time (ours)
//!         ├── .index-spare-seen          what the two have in common; may be removed at any time (ours)
//!         ├── index.json                 stat cache, labels, head, overflow latch
//!         ├── index.json.broken-<ns>     an index that could not be understood, kept when it was rebuilt (ours)
//!         ├── labels.log                 journal of label and head changes (ours)
//!         └── snapshots/
//!             ├── <id>.json              a manifest
//!             ├── pin-<id>.json          hashes that <id> names outside `entries` (ours)
//!             ├── <name>.quarantined     a document that could not be understood, put aside by request (ours)
//!             └── pin-quarantined-<name>.json   every hash in it (ours)
//! ```

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::component::Component;
use super::id::{ObjectId, RunId, SnapshotId};

/// End of the name of a document that was put aside; no prune reads it, whatever stood before.
pub const QUARANTINE_SUFFIX: &str = ".quarantined";
/// Name of the directory in a workspace that may hold a store, and that holds a restore's staging area.
pub const PROJECT_DIR: &str = ".iterion";
/// Prefix of every temporary file that we or the original leave in a directory.
pub const TEMP_PREFIX: &str = ".iterion-tmp-";
/// Prefix of an object being written, in the pool's root.
pub const OBJECT_TEMP_PREFIX: &str = ".obj-";
/// The names in a run's history that belong there.
pub const HISTORY_NAMES: [&[u8]; 8] = [
    b".dirs-seen",
    SPARE_NAME,
    SPARE_SEEN_NAME,
    b".lock",
    b".pool-seen",
    b"index.json",
    b"labels.log",
    b"snapshots",
];
const SPARE_NAME: &[u8] = b".index-spare";
const SPARE_SEEN_NAME: &[u8] = b".index-spare-seen";
/// Prefix of content that is being measured, in a run's directory.
pub const UPLOAD_PREFIX: &str = ".upload-";
/// Name of the file that says what is known of an attachment.
pub const SIDECAR_NAME: &str = "meta.json";
/// End of the name of a turn's conversation.
pub const TURN_MESSAGES_SUFFIX: &str = ".messages.json";
/// Prefix of the file name of a pin.
pub const PIN_PREFIX: &str = "pin-";

/// The pool's directory.
#[must_use]
pub fn pool(store: &Path) -> PathBuf {
    store.join("workspace-objects")
}

/// The pool's lock file.
#[must_use]
pub fn pool_lock(store: &Path) -> PathBuf {
    pool(store).join(".lock")
}

/// The shard and the file name of an object, relative to the pool: `aa` and 62 digits.
#[must_use]
pub fn object_names(id: ObjectId) -> ([u8; 2], [u8; 62]) {
    let hex = id.hex();
    let (mut shard, mut rest) = ([0; 2], [0; 62]);
    shard.copy_from_slice(&hex[..2]);
    rest.copy_from_slice(&hex[2..]);
    (shard, rest)
}

/// The name of the shard of all ids that begin with this byte.
#[must_use]
pub fn shard_name(shard: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [DIGITS[usize::from(shard >> 4)], DIGITS[usize::from(shard & 15)]]
}

/// The id of the object that has this name in a shard; `None` where the name is not an object's.
#[must_use]
pub fn object_of(shard: u8, name: &[u8]) -> Option<ObjectId> {
    let mut text = [0; 64];
    let (start, rest) = text.split_at_mut(2);
    start.copy_from_slice(&shard_name(shard));
    (name.len() == rest.len()).then(|| rest.copy_from_slice(name))?;
    ObjectId::parse(&text)
}

/// An object's path.
#[must_use]
pub fn object(store: &Path, id: ObjectId) -> PathBuf {
    let hex = id.to_string();
    let (shard, rest) = hex.split_at(2);
    pool(store).join(shard).join(rest)
}

/// The directory of all runs.
#[must_use]
pub fn runs(store: &Path) -> PathBuf {
    store.join("runs")
}

/// The directory of a run's history, for a run directory of any name.
#[must_use]
pub fn history_below(run_dir: &Path) -> PathBuf {
    run_dir.join("workspace")
}

/// A run's own document, for a run directory of any name.
#[must_use]
pub fn document_below(run_dir: &Path) -> PathBuf {
    run_dir.join("run.json")
}

/// Whether a name belongs into the directory of a run's history.
#[must_use]
pub fn is_history_name(name: &[u8]) -> bool {
    HISTORY_NAMES.contains(&name)
}

/// The directory of a run's manifests and pins, for a run directory of any name.
#[must_use]
pub fn snapshots_below(run_dir: &Path) -> PathBuf {
    history_below(run_dir).join("snapshots")
}

/// A run's directory.
#[must_use]
pub fn run(store: &Path, run: &RunId) -> PathBuf {
    runs(store).join(run.as_str())
}

/// The run whose directory a path is, or lies in.
#[must_use]
pub fn run_of(store: &Path, path: &Path) -> Option<RunId> {
    let below = path.strip_prefix(runs(store)).ok()?;
    RunId::named(below.components().next()?.as_os_str().to_str()?).ok()
}

/// The engine's run lock.
#[must_use]
pub fn run_lock(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join(".lock")
}

/// The tombstone of a deleted run.
#[must_use]
pub fn tombstone(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join(".deleted")
}

/// A run's own document.
#[must_use]
pub fn run_document(store: &Path, id: &RunId) -> PathBuf {
    document_below(&run(store, id))
}

/// The lock of everybody who changes a run's document.
#[must_use]
pub fn write_lock(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join(".write.lock")
}

/// Says which process executes a run that was started apart.
#[must_use]
pub fn pid(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join(".pid")
}

/// A run's artifacts, a directory for each node.
#[must_use]
pub fn artifacts(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("artifacts")
}

/// The artifacts of one node.
#[must_use]
pub fn artifacts_of(store: &Path, id: &RunId, node: &Component) -> PathBuf {
    artifacts(store, id).join(node.as_str())
}

/// An artifact.
#[must_use]
pub fn artifact(store: &Path, id: &RunId, node: &Component, version: i64) -> PathBuf {
    artifacts_of(store, id, node).join(format!("{version}.json"))
}

/// The files that tools of a run wrote.
#[must_use]
pub fn artifact_files(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("artifact_files")
}

/// A run's interactions.
#[must_use]
pub fn interactions(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("interactions")
}

/// The lock of everybody who answers an interaction of a run.
#[must_use]
pub fn answer_lock(store: &Path, id: &RunId) -> PathBuf {
    interactions(store, id).join(".answer.lock")
}

/// An interaction.
#[must_use]
pub fn interaction(store: &Path, id: &RunId, interaction: &Component) -> PathBuf {
    interactions(store, id).join(format!("{interaction}.json"))
}

/// A run's attachments, a directory for each.
#[must_use]
pub fn attachments(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("attachments")
}

/// The directory of one attachment.
#[must_use]
pub fn attachment(store: &Path, id: &RunId, name: &Component) -> PathBuf {
    attachments(store, id).join(name.as_str())
}

/// What is known of an attachment, beside its bytes.
#[must_use]
pub fn attachment_sidecar(store: &Path, id: &RunId, name: &Component) -> PathBuf {
    attachment(store, id, name).join(SIDECAR_NAME)
}

/// Where the bytes of an attachment lie, as `storage_ref` names it: relative to the store.
#[must_use]
pub fn attachment_reference(id: &RunId, name: &Component, file: &str) -> String {
    format!("runs/{id}/attachments/{name}/{file}")
}

/// The path at which the original's server offers an attachment; both names escaped already.
#[must_use]
pub fn attachment_url(run: &str, name: &str) -> String {
    format!("/api/runs/{run}/attachments/{name}")
}

/// The key with which links to attachments are signed.
#[must_use]
pub fn signing_key(store: &Path) -> PathBuf {
    store.join(".attachment-signing-key")
}

/// Who watches which run, for the assistants of the original.
#[must_use]
pub fn watches(store: &Path) -> PathBuf {
    store.join("assistant-run-watches.json")
}

/// What assistants have been told to do with which run.
#[must_use]
pub fn missions(store: &Path) -> PathBuf {
    store.join("assistant-missions.json")
}

/// Who acts on which outcome of a run.
#[must_use]
pub fn route_decisions(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("route_decisions.json")
}

/// The time that those who route outcomes agreed on.
#[must_use]
pub fn route_watermark(store: &Path) -> PathBuf {
    store.join("route_watermark.json")
}

/// A run's plans.
#[must_use]
pub fn plans(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("plans")
}

/// A plan.
#[must_use]
pub fn plan(store: &Path, id: &RunId, seq: i64) -> PathBuf {
    plans(store, id).join(format!("{seq:04}.json"))
}

/// The bodies of a run's tool calls, a directory for each.
#[must_use]
pub fn tools(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("tools")
}

/// One body of a tool call: its `input` or its `output`.
#[must_use]
pub fn tool_body(store: &Path, id: &RunId, tool_use: &Component, kind: &str) -> PathBuf {
    tools(store, id).join(tool_use.as_str()).join(kind)
}

/// What a run's nodes did turn by turn, a directory for each node.
#[must_use]
pub fn turns(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("turns")
}

/// The turns of one node, a directory for each iteration.
#[must_use]
pub fn turns_of(store: &Path, id: &RunId, node: &Component) -> PathBuf {
    turns(store, id).join(node.as_str())
}

/// The latest turn of a node once more.
#[must_use]
pub fn turn_index(store: &Path, id: &RunId, node: &Component) -> PathBuf {
    turns_of(store, id, node).join("index.json")
}

/// The turns of one iteration of a node.
#[must_use]
pub fn turns_of_iteration(store: &Path, id: &RunId, node: &Component, iteration: i64) -> PathBuf {
    turns_of(store, id, node).join(iteration.to_string())
}

/// A turn.
#[must_use]
pub fn turn(store: &Path, id: &RunId, node: &Component, iteration: i64, turn: i64) -> PathBuf {
    turns_of_iteration(store, id, node, iteration).join(format!("{turn}.json"))
}

/// The conversation of a turn.
#[must_use]
pub fn turn_messages(store: &Path, id: &RunId, node: &Component, iteration: i64, turn: i64) -> PathBuf {
    turns_of_iteration(store, id, node, iteration).join(format!("{turn}{TURN_MESSAGES_SUFFIX}"))
}

/// The messages of operators to a run.
#[must_use]
pub fn messages(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("user_messages.jsonl")
}

/// The lock of everybody who adds a message that must not be there yet.
#[must_use]
pub fn messages_once_lock(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join(".user_messages_insert_once.lock")
}

/// A run's event log.
#[must_use]
pub fn events(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("events.jsonl")
}

/// The lock of everybody who appends to a run's event log.
#[must_use]
pub fn events_lock(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join(".events.lock")
}

/// The mark that a flush of the event log failed, and that what it holds may not be durable.
#[must_use]
pub fn events_unsynced(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join(".events.unsynced")
}

/// A run's console log, into which events point with `log_offset`.
#[must_use]
pub fn run_log(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("run.log")
}

/// The directory of a run's history.
#[must_use]
pub fn history(store: &Path, id: &RunId) -> PathBuf {
    run(store, id).join("workspace")
}

/// The lock of a run's history.
#[must_use]
pub fn history_lock(store: &Path, id: &RunId) -> PathBuf {
    history(store, id).join(".lock")
}

/// A run's index.
#[must_use]
pub fn index(store: &Path, id: &RunId) -> PathBuf {
    history(store, id).join("index.json")
}

/// What a capture of the run saw in the pool.
#[must_use]
pub fn pool_seen(store: &Path, id: &RunId) -> PathBuf {
    history(store, id).join(".pool-seen")
}

/// What a capture of the run saw in the directories of its workspace.
#[must_use]
pub fn dirs_seen(store: &Path, id: &RunId) -> PathBuf {
    history(store, id).join(".dirs-seen")
}

/// The index before the last change, into which the next one is written (`store::spare`).
#[must_use]
pub fn spare(index: &Path) -> PathBuf {
    index.with_file_name(OsStr::from_bytes(SPARE_NAME))
}

/// Whether a file of this name beside a run's documents is needed by nobody once it is old.
#[must_use]
pub fn may_go(name: &[u8]) -> bool {
    name.starts_with(TEMP_PREFIX.as_bytes()) || [SPARE_NAME, SPARE_SEEN_NAME].contains(&name)
}

/// Whether a directory of this name in a run holds something else than documents of ours: files of tools, which may be called
/// as they like, and the history, which has directories of its own.
#[must_use]
pub fn holds_no_documents(name: &[u8]) -> bool {
    [&b"artifact_files"[..], b"workspace"].contains(&name)
}

/// What an index and its spare have in common.
#[must_use]
pub fn spare_seen(index: &Path) -> PathBuf {
    index.with_file_name(OsStr::from_bytes(SPARE_SEEN_NAME))
}

/// A run's label journal.
#[must_use]
pub fn journal(store: &Path, id: &RunId) -> PathBuf {
    history(store, id).join("labels.log")
}

/// The directory of a run's manifests and pins.
#[must_use]
pub fn snapshots(store: &Path, id: &RunId) -> PathBuf {
    history(store, id).join("snapshots")
}

/// A manifest.
#[must_use]
pub fn manifest(store: &Path, id: &RunId, snapshot: &SnapshotId) -> PathBuf {
    snapshots(store, id).join(format!("{snapshot}.json"))
}

/// The pin that belongs to a manifest.
#[must_use]
pub fn pin(store: &Path, id: &RunId, snapshot: &SnapshotId) -> PathBuf {
    snapshots(store, id).join(format!("{PIN_PREFIX}{snapshot}.json"))
}

/// Where a document that could not be understood is kept when it is made again; never a name that ends in `.json`.
#[must_use]
pub fn broken(document: &Path, unix_ns: u64) -> PathBuf {
    beside(document, &format!(".broken-{unix_ns}"))
}

/// Where a document of a snapshots directory goes when it is put aside.
#[must_use]
pub fn quarantined(document: &Path) -> PathBuf {
    beside(document, QUARANTINE_SUFFIX)
}

/// The pin that keeps alive whatever a document names that was put aside.
#[must_use]
pub fn quarantine_pin(document: &Path) -> PathBuf {
    let mut name = OsString::from(format!("{PIN_PREFIX}quarantined-"));
    name.push(document.file_name().unwrap_or_default());
    document.with_file_name(name)
}

fn beside(document: &Path, suffix: &str) -> PathBuf {
    let mut name = document.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    document.with_file_name(name)
}
