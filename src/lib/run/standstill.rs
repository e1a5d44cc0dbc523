//! [`Standstill`]: the promise that nobody executes a run, for as long as its workspace is changed under it.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode as FileMode, OFlags};
use rustix::io::{Errno, FdFlags};
use serde::Deserialize;

use crate::error::{Error, IoContext, Kind, Result};
use crate::store::id::RunId;
use crate::store::lock::{self, Mode, try_flock};
use crate::store::{Store, layout, read_document};
use crate::stream::quote;

/// What is said of a run whose document says that it is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// Its history is closed.
    Refused,
    /// It stands still like any other.
    Allowed,
}

/// A run that stands still: the engine's lock is shared by us until this is dropped, so that none can begin.
pub struct Standstill {
    lock: Option<OwnedFd>,
    /// The node at which the run stands, if its document says so.
    pub node: Option<String>,
    /// The status in its document, if it has one.
    pub status: Option<String>,
}

#[derive(Deserialize)]
struct RunJson {
    status: Option<String>,
    checkpoint: Option<CheckpointJson>,
}

#[derive(Deserialize)]
struct CheckpointJson {
    node_id: Option<String>,
}

impl Standstill {
    /// Lets the program that this process becomes next keep the promise: it inherits the lock, as an open file that it need
    /// not know of.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn pass_on(&self) -> Result<()> {
        let Some(lock) = &self.lock else { return Ok(()) };
        rustix::io::fcntl_setfd(lock, FdFlags::empty()).on("cannot pass on", "the engine's lock")
    }

    /// Makes sure of it. A run without a lock file or a document is taken to stand still; neither is made.
    ///
    /// # Errors
    /// [`Kind::Refused`] when anybody holds the engine's lock, also the calling process, or the document says that the run
    /// is running, or finished where that is refused; [`Kind::Damaged`] for a document that cannot be understood.
    pub fn of(store: &Store, run: &RunId, finished: Finished) -> Result<Self> {
        store.refuse_deleted(run)?;
        let name = quote::name(run.as_str().as_bytes());
        let path = layout::run_lock(store.root(), run);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let lock = match rustix::fs::open(&path, flags, FileMode::empty()) {
            Ok(fd) => Some(fd),
            Err(Errno::NOENT | Errno::NOTDIR) => None,
            Err(errno) => return Err(Error::io("cannot examine the engine's lock", &path, &errno.into())),
        };
        if let Some(fd) = &lock
            && !try_flock(fd.as_fd(), Mode::Shared)
                .map_err(|error| lock::failure("cannot examine the engine's lock", &path, &error))?
        {
            return Err(Error::refused(format!("run {name} is being executed: its lock is held"))
                .at(path)
                .hint("stop the run first"));
        }
        let path = layout::run_document(store.root(), run);
        let document = match read_document(&path) {
            Ok(document) => document,
            Err(error) if error.kind() == Kind::NotFound => return Ok(Self { lock, node: None, status: None }),
            Err(error) => return Err(error),
        };
        let json: RunJson = serde_json::from_slice(&document)
            .map_err(|error| Error::damaged(&path, format!("not a run: {error}")))?;
        let status = json.status.unwrap_or_default();
        let word = quote::shell_word(run.as_str());
        let hint = match status.as_str() {
            "running" => format!(
                "stop the run first; if its process has died, 'run-reconcile --run {word} --grace 0s' says so in its record, and \
                 where that cannot tell, 'run-record fail --resumable --run {word}'"
            ),
            "finished" if finished == Finished::Refused => {
                "a finished run is not rewound; wt-undo restores any of its snapshots".to_owned()
            }
            _ => {
                let node =
                    json.checkpoint.and_then(|checkpoint| checkpoint.node_id).filter(|node| !node.is_empty());
                return Ok(Self { lock, node, status: Some(status) });
            }
        };
        Err(Error::refused(format!("run {name} is {status}")).at(path).hint(hint))
    }
}
