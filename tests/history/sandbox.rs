//! A scratch workspace and store, and the programs run on them with a cleared environment.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The built program of a name.
macro_rules! programs {
    ($($name:literal),*) => {
        fn program(name: &str) -> &'static str {
            match name {
                $($name => env!(concat!("CARGO_BIN_EXE_", $name)),)*
                _ => panic!("no program {name}"),
            }
        }
    };
}
programs!(
    "wt-ls-files",
    "wt-hash-object",
    "wt-write-manifest",
    "wt-ls-manifest",
    "wt-label",
    "wt-check-ignore",
    "wt-log",
    "wt-diff"
);

/// What a program said, and how it ended.
#[must_use]
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Said {
    /// Demands this exit code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.text(), self.err);
        self
    }

    /// Demands success and returns the output as text.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        self.ends(0).text()
    }

    /// Demands a failure that is one line and says `part`.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, part: &str) {
        let said = self.ends(code);
        assert!(said.err.contains(part), "{}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

pub(crate) struct Sandbox {
    _dir: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("ws")).unwrap();
        Self { _dir: dir, root }
    }

    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join("ws").join(path)
    }

    pub(crate) fn history(&self) -> PathBuf {
        self.root.join("store/runs/R/workspace")
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn remove(&self, path: impl AsRef<Path>) {
        fs::remove_file(self.at(path)).unwrap();
    }

    pub(crate) fn chmod(&self, path: impl AsRef<Path>, mode: u32) {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn command(&self, name: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program(name));
        command.env_clear().env("WT_STORE", self.root.join("store")).env("WT_RUN", "R").env("WT_FSYNC", "off");
        command.env("HOME", &self.root).env("WT_LOCK_WAIT", "20").current_dir(self.root.join("ws"));
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, name: &str, args: &[&str]) -> Said {
        self.feed(name, args, b"")
    }

    pub(crate) fn feed(&self, name: &str, args: &[&str], input: &[u8]) -> Said {
        let mut child = self.command(name, args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A program that does not read its input must not hang us.
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let ended = child.wait_with_output().unwrap();
        let _ = writer.join();
        Said {
            code: ended.status.code().unwrap_or(-1),
            out: ended.stdout,
            err: String::from_utf8_lossy(&ended.stderr).into_owned(),
        }
    }

    /// Captures the workspace and returns the snapshot's id.
    pub(crate) fn capture(&self, label: &str) -> String {
        self.capture_with(&[], &["--label", label])
    }

    pub(crate) fn capture_with(&self, walk: &[&str], publish: &[&str]) -> String {
        let listed = self.run("wt-ls-files", &[&["-z", "--records"], walk].concat()).ends(0);
        let hashed = self.feed("wt-hash-object", &["-w", "-z", "--stdin-records"], &listed.out).ends(0);
        self.feed("wt-write-manifest", &[&["-z", "-q"], publish].concat(), &hashed.out).ok().trim().to_owned()
    }

    pub(crate) fn label(&self, args: &[&str]) -> Said {
        self.run("wt-label", args)
    }

    /// The index, parsed.
    pub(crate) fn index(&self) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.history().join("index.json")).unwrap()).unwrap()
    }
}
