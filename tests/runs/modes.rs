//! Files are 0600 and directories 0700, whatever umask a writer runs under (facts 5, 10.14).

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::files_deleted::WRITERS;
use crate::life::with_programs;
use crate::sandbox::{Done, Sandbox, run_with};

/// The writers of run.json, of the log of events, and of the rest of a run's life.
const OTHERS: [(&[&str], &str); 18] = [
    (&["run-record", "create", "--run", "r"], ""),
    (&["run-interaction", "ask", "n", "{}", "--id", "i"], ""),
    (&["run-message", "queue", "x", "--id", "m"], ""),
    (&["run-record", "patch", "--set", r#"watched_issue_ids=["i"]"#], ""),
    (&["run-record", "checkpoint", "save"], r#"{"node_id":"n"}"#),
    (&["run-record", "claim-merge"], ""),
    (&["run-events", "append", "--type", "t"], ""),
    (&["run-events", "append", "--type", "t", "--fsync", "each"], ""),
    (&["run-lock", "--pid", "--", "sh", "-c", "cp store/runs/r/.pid pid; stat -c %a store/runs/r/.pid >mode"], ""),
    (&["run-record", "pause", "--force"], ""),
    (&["run-record", "set-status", "failed", "--force"], ""),
    (&["run-route", "claim", "--owner", "o"], ""),
    (&["run-route", "finish", "--seq", "1", "--owner", "o", "--attempt", "1", "--failed", "x"], ""),
    (&["run-route", "watermark", "--set", "now"], ""),
    (&["run-record", "delegate", "--fingerprint", "x"], ""),
    (&["run-record", "set-status", "running", "--force"], ""),
    (&["run-reconcile", "--grace", "0"], ""),
    (&["run-delete", "r"], ""),
];

/// Everything below `dir` that is wider than it may be, or narrower than its owner needs.
fn odd(dir: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        // The sticky bit marks what was not flushed yet (`store::fsio::unsure`).
        let (mode, wanted) = (meta.permissions().mode() & 0o6777, if meta.is_dir() { 0o700 } else { 0o600 });
        if mode != wanted {
            found.push(format!("{mode:o} {}", path.display()));
        }
        if meta.is_dir() {
            odd(&path, found);
        }
    }
}

fn under(sandbox: &Sandbox, umask: &str, line: &[&str], stdin: &str) -> Done {
    let mut command = sandbox.other("sh");
    command.args(["-c", "umask $0; exec \"$@\"", umask]).args(line);
    run_with(with_programs(command), stdin)
}

#[test]
fn no_umask_widens_or_narrows_what_is_written() {
    let [rest @ .., delete] = &OTHERS;
    let [create, ask, message, rest @ ..] = rest;
    for umask in ["000", "022", "077", "0777"] {
        let sandbox = Sandbox::new();
        std::fs::remove_dir_all(sandbox.path().join("store")).unwrap();
        let mut done_count = 0;
        let first = [create, ask, message];
        for (line, stdin) in first.into_iter().chain(&WRITERS).chain(rest).chain([delete]) {
            let done = under(&sandbox, umask, line, stdin);
            // A few come too late in this order: the attachment is removed by then.
            assert!(matches!(done.code, 0..=6), "umask {umask}: {line:?}: {}", done.err);
            done_count += u32::from(done.code == 0);
            let mut found = Vec::new();
            odd(sandbox.path(), &mut found);
            // What the shell of the test wrote itself.
            found.retain(|line| !line.ends_with("/mode") && !line.ends_with("/pid"));
            assert_eq!(found, [""; 0], "umask {umask}: {line:?}: {}", done.err);
        }
        assert!(done_count > 28, "umask {umask}: only {done_count} did anything");
        if umask != "0777" {
            assert_eq!(std::fs::read_to_string(sandbox.path().join("mode")).unwrap(), "600\n", "umask {umask}");
        }
        let left: Vec<_> = std::fs::read_dir(sandbox.path().join("store/runs/r")).unwrap().collect();
        assert_eq!(left.len(), 1, "only the tombstone is left: {left:?}");
    }
}
