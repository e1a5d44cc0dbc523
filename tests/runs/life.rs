//! What the tests of a run's life share: runs of any status and age, engines that hold a lock, and faults one by one.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::sandbox::{Done, Sandbox, run, until};

/// An old document with this status and these further members, which begin with a comma.
pub(crate) fn document(id: &str, status: &str, more: &str) -> String {
    format!(
        "{{\n  \"format_version\": 1,\n  \"id\": \"{id}\",\n  \"workflow_name\": \"w\",\n  \"status\": \"{status}\",\n  \
         \"created_at\": \"2020-01-01T00:00:00Z\",\n  \"updated_at\": \"2020-01-01T00:00:00Z\",\n  \"cas_version\": 3{more}\n}}"
    )
}

impl Sandbox {
    pub(crate) fn store(&self) -> PathBuf {
        self.path().join("store")
    }

    pub(crate) fn dir_of(&self, id: &str) -> PathBuf {
        self.store().join("runs").join(id)
    }

    /// Makes a run with an old document.
    pub(crate) fn make(&self, id: &str, status: &str, more: &str) -> PathBuf {
        let dir = self.dir_of(id);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("run.json"), document(id, status, more)).unwrap();
        dir
    }

    /// Runs one of our programs.
    pub(crate) fn call(&self, line: &[&str]) -> Done {
        run(self.program(line))
    }

    /// Runs a shell script that finds our programs.
    pub(crate) fn sh(&self, script: &str) -> Done {
        let mut command = self.other("sh");
        command.args(["-euc", script]);
        run(with_programs(command))
    }

    /// Calls a program with the n-th effect disturbed; tells whether there was one.
    pub(crate) fn disturbed(&self, line: &[&str], nth: usize, fault: &str) -> (bool, Done) {
        let fired = self.path().join("fired");
        let mut command = self.program(line);
        command.env("WT_TEST_FAULT", format!("{nth}:{fault}")).env("WT_TEST_FIRED", &fired).env("WT_FSYNC", "on");
        let done = run(command);
        let was_there = fired.exists();
        let _ = std::fs::remove_file(fired);
        (was_there, done)
    }

    /// Calls a program while a shell command runs at one of its moments.
    pub(crate) fn hooked(&self, line: &[&str], moment: &str, script: &str) -> Done {
        let mut command = self.program(line);
        // What runs there must not meet itself at the same moment.
        command.env("WT_TEST_HOOK", format!("{moment}=unset WT_TEST_HOOK; {script}"));
        run(with_programs(command))
    }

    /// The document of a run, as it is.
    pub(crate) fn text_of(&self, id: &str) -> String {
        String::from_utf8(std::fs::read(self.dir_of(id).join("run.json")).unwrap()).unwrap()
    }

    pub(crate) fn json_of(&self, id: &str) -> serde_json::Value {
        serde_json::from_str(&self.text_of(id)).unwrap()
    }

    /// The types of a run's events.
    pub(crate) fn events_of(&self, id: &str) -> Vec<serde_json::Value> {
        let text = std::fs::read(self.dir_of(id).join("events.jsonl")).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// The names in a run's directory, sorted.
    pub(crate) fn names_of(&self, id: &str) -> Vec<String> {
        names(&self.dir_of(id))
    }

    /// An engine: it holds the lock of a run until it is dropped.
    pub(crate) fn engine(&self, id: &str, options: &[&str]) -> Engine {
        let held = self.path().join(format!("held-{id}"));
        let _ = std::fs::remove_file(&held);
        // No child but the shell itself: one that is about to end would hold the lock a little longer than the engine.
        let script = format!("echo $$ > '{}'; exec sleep 600", held.display());
        let line = [&["run-lock", "--run", id], options, &["--", "sh", "-c", &script]].concat();
        let mut command = self.program(&line);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let named = || std::fs::read_to_string(&held).unwrap_or_default();
        until("the engine holds its lock", || named().ends_with('\n'));
        let inner = named().trim().parse().unwrap();
        Engine { child, inner }
    }
}

/// Lets a command find our programs by name.
pub(crate) fn with_programs(mut command: Command) -> Command {
    let bin = Path::new(crate::sandbox::BIN).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap();
    command.env("PATH", path);
    command
}

pub(crate) fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A process that holds a run's lock, and the command in it.
pub(crate) struct Engine {
    pub(crate) child: Child,
    pub(crate) inner: i32,
}

impl Engine {
    /// Ends the program that took the lock, as by `kill -9`, and leaves its command.
    pub(crate) fn kill_outer(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn kill_inner(&self) {
        let pid = rustix::process::Pid::from_raw(self.inner).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.kill_inner();
        // The outer one ends with it, or is it; only then is the lock free.
        let _ = self.child.wait();
    }
}

/// Everything below a directory: path, kind, mode and content, one line each.
pub(crate) fn tree(dir: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt;
    let mut lines = Vec::new();
    let mut pending = vec![dir.to_owned()];
    while let Some(path) = pending.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let content = if meta.is_dir() {
            pending.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            String::new()
        } else if meta.is_symlink() {
            std::fs::read_link(&path).unwrap().display().to_string()
        } else {
            String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
        };
        lines.push(format!("{} {:o} {content:?}", path.display(), meta.mode()));
    }
    lines.sort();
    lines
}
