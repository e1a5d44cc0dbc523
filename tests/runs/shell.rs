//! Short words for what all tests of the run documents do.

use serde_json::Value;

use crate::sandbox::{Done, Sandbox, run, run_with};

/// Runs one of our programs.
pub(crate) fn go(sandbox: &Sandbox, line: &[&str]) -> Done {
    run(sandbox.program(line))
}

/// Runs one of our programs with input.
pub(crate) fn feed(sandbox: &Sandbox, line: &[&str], stdin: impl AsRef<[u8]>) -> Done {
    run_with(sandbox.program(line), stdin)
}

/// Runs one of our programs, which must succeed, and reads the JSON that it prints.
#[track_caller]
pub(crate) fn json(sandbox: &Sandbox, line: &[&str]) -> Value {
    let out = go(sandbox, line).ends(0);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

/// A JSON document of the run.
#[track_caller]
pub(crate) fn stored(sandbox: &Sandbox, name: &str) -> Value {
    let bytes = std::fs::read(sandbox.run_dir().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_slice(&bytes).unwrap()
}

/// The events of a type, as `TYPE NODE DATA`.
#[track_caller]
pub(crate) fn events(sandbox: &Sandbox, glob: &str) -> Vec<String> {
    let done = go(sandbox, &["run-events", "cat", "--type", glob, "--format", "{type} {node} {data}"]);
    assert!(matches!(done.code, 0 | 3), "{}", done.err);
    done.out.lines().map(str::to_owned).collect()
}

/// A sandbox whose run has this status.
pub(crate) fn with_status(status: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.put("run.json", run_json(status));
    sandbox
}

/// A run.json with a member that nobody knows.
pub(crate) fn run_json(status: &str) -> String {
    format!(
        "{{\n  \"format_version\": 1,\n  \"id\": \"r\",\n  \"status\": \"{status}\",\n  \"cas_version\": 3,\n  \"zz\": 9007199254740993\n}}"
    )
}

/// Every path below the run's directory, but for locks.
pub(crate) fn paths(sandbox: &Sandbox) -> Vec<String> {
    fn walk(dir: &std::path::Path, prefix: &str, found: &mut Vec<String>) {
        let Ok(entries) = std::fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), found);
            }
            if !name.ends_with("lock") {
                found.push(name);
            }
        }
    }
    let mut found = Vec::new();
    walk(&sandbox.run_dir(), "", &mut found);
    found.sort();
    found
}
