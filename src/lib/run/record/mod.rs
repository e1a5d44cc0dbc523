//! `<run>/run.json`, the run's own document: what it is, where it stands, and the checkpoint from which it goes on.
//!
//! Every change goes through [`WriteLock`]: under `.write.lock` the document is read, changed as a tree, numbered and replaced.
//! Nothing of it is lost that the change does not name. Reading takes no lock and heals nothing on the disk.

pub mod checkpoint;
pub mod create;
pub mod delegate;
pub mod fresh;
pub mod heal;
pub mod launch_env;
pub mod list;
pub mod merge;
pub mod name;
pub mod outcome;
pub mod patch;
pub mod preserve;
pub mod routing;
pub mod save;
pub mod schema;
pub mod waits;
pub mod write;

use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use super::document;
use super::events::append;
use super::json::{Json, keys};
use super::status::Status;
use crate::error::{Error, IoContext, Kind, Result};
use crate::store::fsio;
use crate::store::id::RunId;
use crate::store::lock::{Lock, Mode, Patience};
use crate::store::{Store, layout, read_document};
use crate::stream::quote;

/// The version of the document that is written here. A missing one, or 0, reads as this.
pub const FORMAT_VERSION: i64 = 1;
/// So much of a format version that is none is shown.
const VERSION_CHARS_MAX: usize = 32;

/// The members of run.json in the order in which the original declares them, as far as it is known (facts 1).
pub const ORDER: &[&str] = &[
    "format_version",
    "id",
    "name",
    "workflow_name",
    "workflow_hash",
    "artifact_compatibility_revision",
    "file_path",
    "workflow_source",
    "workflow_sources",
    "source_hash",
    "bundle_path",
    "bundle_hash",
    "bundle_name",
    "bundle_version",
    "bundle_workflow",
    "bundle_display_name",
    "preset",
    "extra_skills",
    "status",
    "inputs",
    "iterion_version",
    "runner_version",
    "launch_env",
    "execution_context",
    "admission",
    "source",
    "bot_origin",
    "delegation",
    "parent_run_id",
    "parent_node_id",
    "shard_index",
    "shard_count",
    "shard_label",
    "forked_from",
    "fork_anchor",
    "created_at",
    "updated_at",
    "finished_at",
    "error",
    "failure_code",
    "end_reason",
    "outcome_seq",
    "continuation_state",
    "resume_requires_explicit",
    "checkpoint",
    "deleted_at",
    "cas_version",
    "callback_url",
    "callback_token",
    "callback_answer_node",
    "budget",
    "budget_overrides",
    "budget_raises",
    "loop_overrides",
    "permission_mode",
    "permission_override",
    "permission_grants",
    "model_overrides",
    "fallback",
    "nodes_served",
    "routing_policy",
    "retry_policy",
    "retry_state",
    "output_corrections",
    "output_correction_history",
    "watcher_cursors",
    "await_answers_waits",
    "subbot_children",
    "watched_issue_ids",
    "cred_fingerprints",
    "credential_tiers",
    "skipped_cred_reopens_at",
    "llm_idle_since",
    "work_dir",
    "worktree",
    "worktree_reclaimed",
    "repo_root",
    "base_commit",
    "final_commit",
    "final_branch",
    "final_branch_error",
    "merged_into",
    "merged_commit",
    "merge_strategy",
    "auto_merge",
    "merge_status",
    "merge_claimed_at",
    "pending_merge_message",
    "pending_merge_into",
    "queued_at",
    "started_at",
    "runner_id",
    "queue_msg_id",
    "repo_url",
    "repo_sha",
    "project_path",
    "bot_id",
    "bot_source_tenant",
    "bot_source_tier",
    "key_overrides",
    "secret_overrides",
    "tenant_id",
    "owner_id",
    "attachments",
    "artifact_index",
];

/// How long `.write.lock` is waited for at most; the original waits as long (facts 4.8).
const WRITE_LOCK_WAIT: Duration = Duration::from_secs(10);

/// Reads run.json as it stands.
///
/// # Errors
/// [`Kind::NotFound`] for a run that was deleted or is not there, [`Kind::Damaged`] for what is no JSON object.
pub fn load(store: &Store, run: &RunId) -> Result<Json> {
    store.refuse_deleted(run)?;
    document::read(&layout::run_document(store.root(), run)).map_err(|error| missing(error, store, run))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Json> {
    let json = Json::parse(bytes).map_err(|flaw| Error::damaged(path, format!("not JSON: {flaw}")))?;
    if json.is_object() { Ok(json) } else { Err(Error::damaged(path, "not a JSON object")) }
}

fn missing(error: Error, store: &Store, run: &RunId) -> Error {
    // A file among the runs is none.
    if error.kind() != Kind::NotFound && layout::run(store.root(), run).is_dir() {
        return error;
    }
    store.no_run(run).also("'run-record list' shows the runs of a store")
}

/// The status of a document, if it is one that is known.
#[must_use]
pub fn status(run: &Json) -> Option<Status> {
    Status::parse(&run.text_of("status"))
}

/// The document's revision; a missing one is 0.
#[must_use]
pub fn revision(run: &Json) -> i64 {
    run.get("cas_version").and_then(Json::as_integer).unwrap_or(0)
}

/// How many outcomes the run has had: `outcome_seq`; a missing one is 0.
#[must_use]
pub fn outcomes(run: &Json) -> i64 {
    run.get("outcome_seq").and_then(Json::as_integer).unwrap_or(0)
}

/// The right to write run.json, until it is dropped: `.write.lock` is held and the run is not deleted.
pub struct WriteLock<'s> {
    store: &'s Store,
    run: RunId,
    _lock: Option<Lock>,
}

impl<'s> WriteLock<'s> {
    /// Takes the lock. The run's directory must be there.
    ///
    /// # Errors
    /// [`Kind::NotFound`] for a run that was deleted or has no directory, [`Kind::Conflict`] when the lock was not had.
    pub fn take(store: &'s Store, run: &RunId) -> Result<Self> {
        store.refuse_deleted(run)?;
        let what = format!("the document of run {}", quote::name(run.as_str().as_bytes()));
        let patience = Patience { limit: store.patience().limit.min(WRITE_LOCK_WAIT), ..store.patience() };
        let path = layout::write_lock(store.root(), run);
        if !layout::run(store.root(), run).is_dir() {
            return Err(missing(Error::not_found(""), store, run));
        }
        let lock = Lock::on_file(&path, Mode::Exclusive, &what, patience)?;
        if !lock.as_ref().is_none_or(|lock| lock.is_at(&path)) {
            return Err(missing(Error::not_found(""), store, run));
        }
        // Only under the lock does it stay true.
        store.refuse_deleted(run)?;
        Ok(Self { store, run: run.clone(), _lock: lock })
    }

    /// Reads the document for a change: as [`load`], and strictly, since what is read is written again.
    ///
    /// # Errors
    /// As [`load`]; [`Kind::Damaged`] also for a key given twice and for the document of another run, [`Kind::Refused`] for a
    /// format from the future.
    pub fn read(&self) -> Result<Json> {
        let path = layout::run_document(self.store.root(), &self.run);
        let bytes = read_document(&path).map_err(|error| missing(error, self.store, &self.run))?;
        let json = parse(&path, &bytes)?;
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        if let Ok(Some(key)) = keys::first_duplicate(text) {
            let key = quote::name(key.as_bytes());
            return Err(Error::damaged(&path, format!("the key {key} is given twice, and a write would keep one"))
                .hint("take one of them out by hand"));
        }
        refuse_newer(&json, &self.run)?;
        stranger(&json, &self.run).map_or(Ok(json), Err)
    }

    /// Writes the document with the next revision, which it returns. The events that it follows are made durable first.
    ///
    /// # Errors
    /// [`Kind::Io`]; the old document is whole and in place then.
    pub fn write(&self, json: &mut Json) -> Result<i64> {
        append::ensure_synced(self.store, &self.run)?;
        let next = revision(json).saturating_add(1);
        json.set_in_order("cas_version", Json::integer(next), ORDER);
        tighten(self.store, &self.run)?;
        document::replace(self.store, &layout::run_document(self.store.root(), &self.run), json)?;
        Ok(next)
    }
}

/// A run's directory is private, also one that somebody else made (facts 5).
pub(in crate::run) fn tighten(store: &Store, run: &RunId) -> Result<()> {
    let path = layout::run(store.root(), run);
    let dir = fsio::open_store_dir(&path).on("cannot open", &path)?;
    let stat = rustix::fs::fstat(&dir).on("cannot examine", &path)?;
    if stat.st_mode & 0o777 == fsio::DIR_MODE {
        return Ok(());
    }
    fsio::set_mode(dir.as_fd(), fsio::DIR_MODE, path.as_os_str().as_encoded_bytes())
        .on("cannot make private", &path)
}

/// What is wrong with a document that says it is another run's: it was put here by hand, and a write would make it worse.
#[must_use]
pub fn stranger(document: &Json, run: &RunId) -> Option<Error> {
    let id = document.get("id").and_then(Json::text).filter(|id| *id != run.as_str())?;
    let (own, other) = (quote::name(run.as_str().as_bytes()), quote::name(id.as_bytes()));
    Some(
        Error::new(Kind::Damaged, format!("run.json of run {own} says that it is run {other}"))
            .hint("put the right document there by hand"),
    )
}

/// Refuses to write a document of a newer format (facts 10.9); reading one is allowed.
fn refuse_newer(json: &Json, run: &RunId) -> Result<()> {
    match foreign_format(json) {
        Some(version) => Err(Error::refused(format!(
            "run {} has format version {version}, and this program writes {FORMAT_VERSION}",
            quote::name(run.as_str().as_bytes())
        ))
        .hint("use a newer program for it; reading works")),
        None => Ok(()),
    }
}

/// The format version of a document if it is not one that is understood here, as a person may read it.
#[must_use]
pub fn foreign_format(json: &Json) -> Option<String> {
    json.get("format_version").and_then(|version| foreign_version(&version.compact()))
}

/// The same of the text of the member. Only a whole number up to ours is known: what is larger than any number that fits,
/// has a fraction or is no number at all was written by a program that knows more than this one.
#[must_use]
pub fn foreign_version(text: &str) -> Option<String> {
    let is_known = text == "null" || text.parse::<i64>().is_ok_and(|version| version <= FORMAT_VERSION);
    (!is_known).then(|| quote::masked(text.chars().take(VERSION_CHARS_MAX).collect::<String>().as_bytes()))
}
