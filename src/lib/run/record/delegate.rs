//! A worker for a run that failed: which id it gets, and whether there may be one (facts 1.1).
//!
//! The id follows from the failed run, the failure and the number of the attempt, so that two who delegate at once make the
//! same run, and the file system lets one of them win.

use sha2::{Digest, Sha256};

use super::create::{self, Creation};
use super::status;
use super::write::{self, Receipt};
use crate::error::{Error, Fact, Kind, Result};
use crate::run::document;
use crate::run::json::Json;
use crate::run::status::Status;
use crate::store::id::RunId;
use crate::store::{Store, layout};
use crate::stream::quote;

/// The only kind of delegation that there is.
const KIND: &str = "run_failure";
/// Members of `bot_origin` that stay on this host.
const HOST_ONLY: [&str; 2] = ["repo_root", "connection_id"];

/// A worker that may be made.
#[derive(Debug)]
pub struct Worker {
    /// Its id.
    pub id: RunId,
    /// The member `delegation` of its document.
    pub delegation: Json,
    /// Where the failed run's code came from, without what is only of this host.
    pub bot_origin: Option<Json>,
}

impl Worker {
    /// What is handed to the worker.
    #[must_use]
    pub fn envelope(&self) -> Json {
        let mut json =
            Json::object([("worker", Json::string(self.id.as_str())), ("delegation", self.delegation.clone())]);
        if let Some(origin) = &self.bot_origin {
            json.set("bot_origin", origin.clone());
        }
        json
    }
}

/// The id of the worker for the n-th attempt on a failure.
///
/// # Errors
/// [`Kind::Usage`] never, but for what a run id cannot be.
pub fn worker_id(source: &RunId, fingerprint: &str, attempt: u64) -> Result<RunId> {
    RunId::named(&format!("{}{attempt}", prefix(source, fingerprint)))
}

fn prefix(source: &RunId, fingerprint: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(format!("{source}:{fingerprint}")).into();
    let hex = hex::encode(digest);
    format!("repair-{}-", hex.get(..24).unwrap_or(&hex))
}

/// Decides whether a failed run gets another worker, and which.
///
/// # Errors
/// [`Kind::Refused`] for a run that has not failed, [`Kind::Conflict`] while a worker is at it, [`Kind::Damaged`] for an
/// earlier worker that cannot be read: nobody knows whether it is at it.
pub fn admit(store: &Store, source: &RunId, fingerprint: &str) -> Result<Worker> {
    if fingerprint.is_empty() {
        return Err(Error::usage("the failure has no fingerprint").hint("name it with --fingerprint"));
    }
    let failed = super::load(store, source)?;
    if !matches!(status(&failed), Some(Status::Failed | Status::FailedResumable)) {
        return Err(write::refused(&failed, "only a failure is delegated"));
    }
    let mut highest = 0;
    for (attempt, name) in attempts(store, source, fingerprint)? {
        let worker = RunId::named(&name)?;
        match super::load(store, &worker) {
            Ok(run) if !status(&run).is_some_and(Status::is_terminal) => {
                return Err(busy(&run, &worker));
            }
            Ok(_) => {}
            // A deleted worker has had its attempt; a directory without a document is none.
            Err(error) if error.kind() == Kind::NotFound => {
                if layout::tombstone(store.root(), &worker).symlink_metadata().is_err() {
                    continue;
                }
            }
            Err(error) => return Err(error),
        }
        highest = highest.max(attempt);
    }
    let attempt = highest + 1;
    let mut bot_origin = failed.get("bot_origin").cloned();
    if let Some(origin) = &mut bot_origin {
        HOST_ONLY.iter().for_each(|member| drop(origin.remove(member)));
    }
    let delegation = Json::object([
        ("source_run_id", Json::string(source.as_str())),
        ("kind", Json::string(KIND)),
        ("episode_fingerprint", Json::string(fingerprint)),
        ("attempt", Json::integer(i64::try_from(attempt).unwrap_or(i64::MAX))),
    ]);
    Ok(Worker { id: worker_id(source, fingerprint, attempt)?, delegation, bot_origin })
}

fn busy(run: &Json, worker: &RunId) -> Error {
    let name = quote::name(worker.as_str().as_bytes());
    let status = run.text_of("status");
    Error::conflict(format!("worker {name} is at it: it is {}", quote::name(status.as_bytes())))
        .hint("wait until it has ended")
        .with_fact("worker", Fact::Text(worker.as_str().to_owned()))
        .with_fact("revision", Fact::Number(super::revision(run)))
        .with_fact("status", Fact::Text(status.into_owned()))
}

/// The attempts that have a directory, each with its name.
fn attempts(store: &Store, source: &RunId, fingerprint: &str) -> Result<Vec<(u64, String)>> {
    let prefix = prefix(source, fingerprint);
    let names = document::list(&layout::runs(store.root()))?;
    let attempt = |name: String| {
        let number = name.strip_prefix(&prefix)?.parse().ok()?;
        Some((number, name))
    };
    Ok(names.into_iter().filter_map(attempt).collect())
}

/// Looks whether a worker that was admitted could be made so. Makes nothing.
///
/// # Errors
/// As [`create::check`].
pub fn check(worker: &Worker, creation: Creation) -> Result<()> {
    create::check(&worker.id, &Creation { delegation: Some(worker.delegation.clone()), ..creation })
}

/// Makes the run of a worker that was admitted.
///
/// # Errors
/// As [`create::create`]; [`Kind::Conflict`] when another one made it first.
pub fn create(store: &Store, worker: &Worker, creation: Creation) -> Result<Receipt> {
    let creation = Creation { delegation: Some(worker.delegation.clone()), ..creation };
    create::create(store, &worker.id, &creation).map_err(|error| match error.kind() {
        Kind::Conflict => error.with_fact("worker", Fact::Text(worker.id.as_str().to_owned())),
        _ => error,
    })
}
