//! [`Sandbox`]: a scratch directory in which the programs run with a cleared environment.
//!
//! ```text
//! <scratch>/        T   owned by the user that the programs run as
//! ├── w/            W   the workspace, where commands start
//! ├── s/            S   the store; made by the first program that writes
//! ├── home/             HOME, and ITERION_HOME below it
//! └── side/         X   files of the test itself: traces, saved streams, marks of hooks
//! ```
//!
//! When the suite runs as root, programs run as an unprivileged user all the same: root can read and write everything,
//! and would see half of the behaviour. What a run said comes back as one [`Ran`], which must be looked at.

pub(crate) mod call;
pub(crate) mod faults;
pub(crate) mod fixture;
pub(crate) mod programs;
pub(crate) mod stored;
pub(crate) mod tree;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub(crate) use call::{Call, Ran};
pub(crate) use stored::Stored;
pub(crate) use tree::Tree;

/// The user that programs run as when the suite itself runs as root; it needs no entry anywhere.
pub(crate) const USER: u32 = 64_021;

/// Memory where there is enough of it, else the place for temporary files: flushing is most of the time otherwise.
/// `WT_TEST_DIR` names another place, to see the suite on another file system.
fn scratch_place() -> PathBuf {
    const ENOUGH_BYTES: u64 = 2 << 30;
    let memory = Path::new("/dev/shm");
    let has_room = rustix::fs::statvfs(memory).is_ok_and(|room| room.f_bavail * room.f_frsize >= ENOUGH_BYTES);
    match std::env::var_os("WT_TEST_DIR") {
        Some(named) => named.into(),
        None if has_room => memory.to_owned(),
        None => std::env::temp_dir(),
    }
}

/// A scratch directory with a workspace, a place for a store, and nothing else of this machine.
pub(crate) struct Sandbox {
    dir: TempDir,
    root: PathBuf,
    env: Vec<(String, OsString)>,
}

impl Sandbox {
    /// An empty workspace and no store yet.
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("wt-suite-").tempdir_in(scratch_place()).unwrap();
        let root = dir.path().canonicalize().unwrap();
        let sandbox = Self { dir, root, env: Vec::new() };
        fixture::own(sandbox.t());
        for name in ["w", "home", "side"] {
            std::fs::create_dir(sandbox.t().join(name)).unwrap();
            fixture::own(&sandbox.t().join(name));
        }
        sandbox
    }

    /// A sandbox for the cases: files above 1 MiB are gaps.
    pub(crate) fn with_a_small_cap() -> Self {
        let mut sandbox = Self::new();
        sandbox.set("ITERION_WORKSPACE_MAX_FILE_MB", "1");
        sandbox
    }

    /// The scratch directory.
    pub(crate) fn t(&self) -> &Path {
        &self.root
    }

    /// The workspace.
    pub(crate) fn w(&self) -> PathBuf {
        self.root.join("w")
    }

    /// The store.
    pub(crate) fn s(&self) -> PathBuf {
        self.root.join("s")
    }

    /// A file of the test itself, outside of workspace and store.
    pub(crate) fn x(&self, name: &str) -> PathBuf {
        self.root.join("side").join(name)
    }

    /// Sets a variable for every later call.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.push((name.to_owned(), value.into()));
    }

    /// Begins a call, to be given an environment or input before it runs.
    pub(crate) fn call(&self) -> Call<'_> {
        Call::new(self)
    }

    /// Runs a shell script in the workspace, with the `snap` tool of the prelude at hand.
    pub(crate) fn sh(&self, script: &str) -> Ran {
        self.call().sh(script)
    }

    /// Runs one program in the workspace.
    pub(crate) fn run(&self, argv: &[&str]) -> Ran {
        self.call().run(argv)
    }

    /// Captures the workspace under a label and returns the snapshot's id.
    pub(crate) fn capture(&self, label: &str) -> String {
        self.call().env("LABEL", label).sh(r#"snap capture "$LABEL""#).ok()
    }

    /// The workspace as it is now.
    pub(crate) fn tree(&self) -> Tree {
        Tree::of(&self.w())
    }

    /// The run's part of the store, read by code of the tests and not by ours.
    pub(crate) fn stored(&self) -> Stored {
        Stored::open(&self.s(), "run")
    }

    fn base_env(&self) -> Vec<(String, OsString)> {
        let mut env: Vec<(String, OsString)> = vec![
            ("PATH".into(), programs::search_path().clone()),
            ("LANG".into(), "C.UTF-8".into()),
            ("LC_ALL".into(), "C.UTF-8".into()),
            ("HOME".into(), self.t().join("home").into()),
            ("ITERION_HOME".into(), self.t().join("home/.iterion").into()),
            ("TMPDIR".into(), self.t().join("side").into()),
            ("WT_STORE".into(), self.s().into()),
            ("WT_RUN".into(), "run".into()),
            ("WT_FSYNC".into(), "off".into()),
            ("T".into(), self.t().into()),
            ("W".into(), self.w().into()),
            ("S".into(), self.s().into()),
            ("X".into(), self.t().join("side").into()),
        ];
        env.extend(self.env.iter().cloned());
        env
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // Directories that a test made unreadable would outlive a suite that is not run as root.
        if !programs::is_root() {
            let _ = std::process::Command::new("chmod").args(["-R", "u+rwX"]).arg(self.dir.path()).status();
        }
    }
}
