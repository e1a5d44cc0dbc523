//! What the environment says, and how options and environment become a workspace, a store and a run.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::args::{HistoryArgs, RootArgs, RunArgs, StoreArgs, WorkspaceArgs};
use crate::error::{Error, Kind, Result};
use crate::history::History;
use crate::store::fsio::Durability;
use crate::store::id::RunId;
use crate::store::lock::{Mode, Patience};
use crate::store::seam;
use crate::store::{Settings, Store, layout};
use crate::stream::quote;
use crate::tree::root::{InheritedLock, Workspace};

/// How long a lock is waited for unless `WT_LOCK_WAIT` says otherwise.
const LOCK_WAIT_SECONDS: f64 = 60.0;

/// The environment variables that the programs read; an empty one counts as not set.
pub struct Environment {
    program: &'static str,
    /// A store that nobody named, while a directory above the workspace has one, and that directory.
    below_another: RefCell<Option<(Store, PathBuf)>>,
}

impl Environment {
    pub(super) fn read(program: &'static str) -> Self {
        Self { program, below_another: RefCell::default() }
    }

    /// The value of a variable that is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).filter(|value| !value.is_empty())
    }

    /// All variables that are text, for the one program that records some of them.
    #[must_use]
    pub fn variables(&self) -> Vec<(String, String)> {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        };
        std::env::vars_os().filter_map(text).collect()
    }

    /// Whether captures are switched off (`ITERION_WORKSPACE_TRACK`, facts 2.5).
    #[must_use]
    pub fn captures_are_off(&self) -> bool {
        self.get("ITERION_WORKSPACE_TRACK").is_some_and(|value| {
            let value = value.to_string_lossy().trim().to_ascii_lowercase();
            matches!(value.as_str(), "off" | "0" | "false" | "no")
        })
    }

    /// The largest file that is captured, bytes. A value that is not a whole number of MiB above 0 counts as not set, as
    /// in the original (facts 2.2).
    #[must_use]
    pub fn max_file_bytes(&self) -> Option<u64> {
        let text = self.get("ITERION_WORKSPACE_MAX_FILE_MB")?;
        text.to_str()?.trim().parse::<u64>().ok().filter(|megabytes| *megabytes > 0)?.checked_mul(1 << 20)
    }

    /// Flushing and lock waits.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a value that cannot be understood.
    pub fn settings(&self) -> Result<Settings> {
        let durability = match self.get("WT_FSYNC").as_deref().map(OsStr::as_bytes) {
            None | Some(b"on") => Durability::Flushed,
            Some(b"off") => Durability::Off,
            Some(other) => {
                return Err(Error::usage(format!("WT_FSYNC is {}", quote::name(other))).hint("set it to on or off"));
            }
        };
        let seconds = match self.get("WT_LOCK_WAIT") {
            None => LOCK_WAIT_SECONDS,
            Some(text) => text
                .to_str()
                .and_then(|text| text.trim().parse::<f64>().ok())
                .filter(|seconds| (0.0..=1e6).contains(seconds))
                .ok_or_else(|| {
                    Error::usage(format!("WT_LOCK_WAIT is {}", quote::name(text.as_bytes())))
                        .hint("set it to a number of seconds")
                })?,
        };
        Ok(Settings {
            durability,
            patience: Patience { limit: Duration::from_secs_f64(seconds), notice: super::say },
        })
    }

    /// The workspace lock that `wt-lock` holds for us (`WT_LOCK_FD=<number>:<s or x>`), or that a script wants held on a
    /// descriptor that it opened (`<number>:<s or x>?`).
    #[must_use]
    pub fn inherited_lock(&self) -> Option<InheritedLock> {
        let value = self.get("WT_LOCK_FD")?;
        let (fd, mode) = value.to_str()?.split_once(':')?;
        let (mode, is_due) = match mode {
            "s" => (Mode::Shared, false),
            "x" => (Mode::Exclusive, false),
            "s?" => (Mode::Shared, true),
            "x?" => (Mode::Exclusive, true),
            _ => return None,
        };
        Some(InheritedLock { fd: fd.parse().ok().filter(|fd| *fd >= 0)?, mode, is_due })
    }

    fn home(&self) -> Option<PathBuf> {
        self.get("HOME").map(PathBuf::from)
    }

    fn iterion_home(&self) -> Option<PathBuf> {
        self.get("ITERION_HOME").map(PathBuf::from).or_else(|| Some(self.home()?.join(".iterion")))
    }

    /// The path of the workspace that the options name, which need not exist.
    #[must_use]
    pub fn workspace_path(&self, args: &WorkspaceArgs) -> PathBuf {
        args.workspace
            .clone()
            .or_else(|| self.get("WT_WORKSPACE").map(PathBuf::from))
            .unwrap_or_else(|| PathBuf::from("."))
    }

    /// Opens the workspace that the options name.
    ///
    /// # Errors
    /// As [`Workspace::open`], and [`Kind::Refused`] for a root that nobody means.
    pub fn workspace(&self, args: &WorkspaceArgs, root: RootArgs) -> Result<Workspace> {
        let workspace = Workspace::open(&self.workspace_path(args))?;
        if !root.yes_this_root && self.get("WT_YES_THIS_ROOT").is_none() {
            workspace.refuse_unlikely(self.home().as_deref(), self.iterion_home().as_deref())?;
        }
        Ok(workspace)
    }

    /// Names the store: `--store`, `WT_STORE`, `.iterion` of the workspace if it is a store, else the one of this
    /// workspace below `ITERION_HOME` or `~/.iterion` (design section 5).
    ///
    /// # Errors
    /// [`Kind::NotFound`] when nothing names one.
    pub fn store(&self, args: &StoreArgs, workspace: &Path) -> Result<Store> {
        let settings = self.settings()?;
        if let Some(named) = args.store.clone().or_else(|| self.get("WT_STORE").map(PathBuf::from)) {
            return Ok(Store::new(std::path::absolute(&named).unwrap_or(named), settings));
        }
        let workspace = std::path::absolute(workspace).unwrap_or_else(|_| workspace.to_owned());
        let workspace = workspace.canonicalize().unwrap_or(workspace);
        let store = Store::new(self.store_of(&workspace)?, settings);
        if !store.root().exists() {
            let has_runs = |above: &&Path| {
                self.store_of(above).is_ok_and(|root| {
                    std::fs::read_dir(layout::runs(&root)).is_ok_and(|mut runs| runs.next().is_some())
                })
            };
            let above = workspace.ancestors().skip(1).find(has_runs).map(Path::to_owned);
            *self.below_another.borrow_mut() = above.map(|above| (store.clone(), above));
        }
        Ok(store)
    }

    /// The store that this process made for a directory below another one that has a store, and that directory. A store
    /// is never inherited (facts 4.10), but who begins one there has most often only forgotten where he stands.
    pub(super) fn store_made_below_another(&self) -> Option<(PathBuf, PathBuf)> {
        let found = self.below_another.borrow();
        let (store, above) = found.as_ref().filter(|(store, _)| store.is_made_here())?;
        Some((store.root().to_owned(), above.clone()))
    }

    /// Where the store of a workspace lies if nobody names it.
    fn store_of(&self, workspace: &Path) -> Result<PathBuf> {
        let embedded = workspace.join(layout::PROJECT_DIR);
        if ["runs", "dispatcher", ".iterion-store"].iter().any(|mark| embedded.join(mark).exists()) {
            return Ok(embedded);
        }
        let home = self.iterion_home().ok_or_else(|| {
            Error::not_found(format!("{} cannot tell where the store is: HOME is not set", self.program))
                .hint("name the store with --store or WT_STORE")
        })?;
        let flat: Vec<u8> = workspace
            .as_os_str()
            .as_bytes()
            .iter()
            .map(|byte| if matches!(byte, b'/' | b'\\' | b':') { b'-' } else { *byte })
            .collect();
        Ok(home.join("projects").join(OsString::from_vec(flat)))
    }

    /// The run that the options name, if they name one.
    ///
    /// # Errors
    /// [`Kind::Usage`] when it cannot be a run id.
    pub fn run_if_named(&self, args: &RunArgs) -> Result<Option<RunId>> {
        let Some(named) = args.run.clone().or_else(|| self.get("WT_RUN")) else { return Ok(None) };
        RunId::of_os(&named).map(Some)
    }

    /// The run that the options name.
    ///
    /// # Errors
    /// [`Kind::Usage`] when they name none, or what cannot be one.
    pub fn run(&self, args: &RunArgs) -> Result<RunId> {
        self.run_if_named(args)?
            .ok_or_else(|| Error::new(Kind::Usage, "no run is named").hint("name it with --run or WT_RUN"))
    }
}

impl Environment {
    /// The history that the options name; neither workspace nor store need exist.
    ///
    /// # Errors
    /// As [`Environment::store`] and [`Environment::run`].
    pub fn history(&self, args: &HistoryArgs) -> Result<History> {
        let (store, run) = self.run_store(args)?;
        Ok(History::new(&store, run))
    }

    /// The run that the options name, and its store; neither need exist.
    ///
    /// # Errors
    /// As [`Environment::store`] and [`Environment::run`].
    pub fn run_store(&self, args: &HistoryArgs) -> Result<(Store, RunId)> {
        let store = self.store(&args.store, &self.workspace_path(&args.workspace))?;
        Ok((store, self.run(&args.run)?))
    }
}

/// Lets this process have as many files open as it may: a deep tree needs one for each level.
pub(super) fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let own = getrlimit(Resource::Nofile);
    let _ = OPEN_FILES.set(own);
    // Where that is not allowed, the old limit serves all but the deepest trees.
    let _ = setrlimit(Resource::Nofile, rustix::process::Rlimit { current: own.maximum, ..own });
}

/// Puts the limit back for a program that this process becomes: it may not be made for so many.
pub(super) fn restore_open_files() {
    if let Some(own) = OPEN_FILES.get() {
        let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, *own);
    }
}

static OPEN_FILES: std::sync::OnceLock<rustix::process::Rlimit> = std::sync::OnceLock::new();

/// Reads what a test wants the seam to do: `WT_TEST_FAULT=<n>:<kill or errno name>`, `WT_TEST_FIRED`, `WT_TEST_TRACE`,
/// `WT_TEST_TAPE`, `WT_TEST_LOCKS=<errno name>`, `WT_TEST_HOOK=<moment>=<command>`,
/// `WT_TEST_FILE_SYSTEM=<magic number, hexadecimal>`, `WT_TEST_NO_INODE=1`. Release builds ignore all of it.
pub(super) fn arm_seam() {
    if !cfg!(debug_assertions) {
        return;
    }
    let text = |name: &str| std::env::var(name).ok();
    let fault = text("WT_TEST_FAULT").and_then(|value| {
        let (nth, what) = value.split_once(':')?;
        let fault = match what {
            "kill" => seam::Fault::Kill,
            "ENOSPC" => seam::Fault::Fail(rustix::io::Errno::NOSPC),
            "EIO" => seam::Fault::Fail(rustix::io::Errno::IO),
            "EEXIST" => seam::Fault::Fail(rustix::io::Errno::EXIST),
            "EACCES" => seam::Fault::Fail(rustix::io::Errno::ACCESS),
            "EMFILE" => seam::Fault::Fail(rustix::io::Errno::MFILE),
            _ => return None,
        };
        Some((nth.parse().ok()?, fault))
    });
    let hooks = text("WT_TEST_HOOK")
        .and_then(|value| value.split_once('=').map(|(name, command)| (name.to_owned(), command.to_owned())))
        .into_iter()
        .collect::<Vec<_>>();
    let path = |name: &str| text(name).map(PathBuf::from);
    let (fired, trace, tape) = (path("WT_TEST_FIRED"), path("WT_TEST_TRACE"), path("WT_TEST_TAPE"));
    let locks = text("WT_TEST_LOCKS").map(|what| match &*what {
        "ENOLCK" => rustix::io::Errno::NOLCK,
        _ => rustix::io::Errno::OPNOTSUPP,
    });
    let file_system = text("WT_TEST_FILE_SYSTEM").and_then(|magic| u32::from_str_radix(&magic, 16).ok());
    let no_inode = text("WT_TEST_NO_INODE").is_some();
    if fault.is_some()
        || no_inode
        || trace.is_some()
        || tape.is_some()
        || locks.is_some()
        || file_system.is_some()
        || !hooks.is_empty()
    {
        seam::arm(seam::Plan { fault, fired, trace, tape, locks, hooks, file_system, no_inode });
    }
}
