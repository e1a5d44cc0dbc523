//! What a program says of a file that it is to read and cannot, the same for all: one that is not there or is a directory is a
//! mistake of who named it (2), one that may not be read a failure (8), what is not UTF-8 no text (2).

use std::os::unix::fs::PermissionsExt;

use crate::life::with_programs;
use crate::sandbox::{Sandbox, put, run};
use crate::shell::{feed, go, paths, with_status};

/// Each program that takes the content of FILE, and whether it takes any bytes.
const READERS: [(&[&str], bool); 21] = [
    (&["run-plan", "write", "n", "@FILE"], false),
    (&["run-interaction", "ask", "n", "@FILE"], false),
    (&["run-interaction", "answer", "i", "@FILE"], false),
    (&["run-interaction", "turn", "i", "human", "--content", "@FILE"], false),
    (&["run-interaction", "turn", "i", "human", "--verdict", "@FILE"], false),
    (&["run-message", "queue", "@FILE"], false),
    (&["run-message", "queue-once", "m", "@FILE"], false),
    (&["run-turn", "write", "n", "0", "0", "@FILE"], false),
    (&["run-turn", "write", "n", "0", "0", "{}", "--messages", "@FILE"], false),
    (
        &[
            "run-route",
            "finish",
            "--seq",
            "1",
            "--owner",
            "o",
            "--attempt",
            "1",
            "--succeeded",
            "--result",
            "@FILE",
        ],
        false,
    ),
    (&["run-events", "append", "--type", "t", "--data", "@FILE"], false),
    (&["run-artifact", "write", "n", "@FILE"], false),
    (&["run-artifact", "write", "n", "{}", "--contract", "@FILE"], false),
    (&["run-record", "patch", "--set", "watched_issue_ids=@FILE"], false),
    (&["run-record", "create", "--run", "s", "--inputs", "@FILE"], false),
    (&["run-record", "create", "--run", "s", "--launch", "@FILE"], false),
    (&["run-record", "pause", "--checkpoint", "@FILE"], false),
    (&["run-record", "pause", "--interaction", "i", "--questions", "@FILE"], false),
    (&["run-record", "fail", "--resumable", "--checkpoint", "@FILE"], false),
    (&["run-attachment", "add", "x=FILE"], true),
    (&["wt-hash-object", "FILE"], true),
];

fn scratch() -> Sandbox {
    let sandbox = with_status("running");
    go(&sandbox, &["run-interaction", "ask", "n", "{}", "--id", "i", "--no-event"]).ends(0).clear();
    std::fs::create_dir(sandbox.path().join("directory")).unwrap();
    put(&sandbox.path().join("secret"), "{}");
    std::fs::set_permissions(sandbox.path().join("secret"), std::fs::Permissions::from_mode(0o000)).unwrap();
    put(&sandbox.path().join("bytes"), b"\xff\xfe");
    sandbox
}

#[test]
fn a_file_that_cannot_be_read_is_told_alike_by_all() {
    let sandbox = scratch();
    let before = (paths(&sandbox), std::fs::read(sandbox.run_dir().join("run.json")).unwrap());
    for (line, takes_bytes) in READERS {
        for (file, code, words) in [
            ("missing", 2, "no such file"),
            ("directory", 2, "directory"),
            ("secret", 8, "permission denied"),
            ("bytes", 2, "not UTF-8"),
        ] {
            if file == "bytes" && takes_bytes {
                continue;
            }
            let named: Vec<_> = line.iter().map(|word| word.replace("FILE", file)).collect();
            // Root reads everything, unless it gives that up.
            let mut command = sandbox.other("setpriv");
            let without = "-dac_override,-dac_read_search";
            command.args(["--bounding-set", without, "--inh-caps", without, "--"]).args(&named);
            let done = run(with_programs(command));
            if done.err.contains("setpriv") {
                eprintln!("left out: nothing can be given up here: {}", done.err);
                return;
            }
            assert_eq!(done.code, code, "{named:?}: {}", done.err);
            let program = line[0];
            assert!(done.err.starts_with(&format!("{program}: error: ")), "{named:?}: {}", done.err);
            let is_named = file == "bytes" || done.err.contains(&format!("'{file}'"));
            let is_told =
                done.err.contains(words) || file == "directory" && done.err.contains("not a regular file");
            assert!(is_named && is_told, "{named:?}: {}", done.err);
            let after = (paths(&sandbox), std::fs::read(sandbox.run_dir().join("run.json")).unwrap());
            assert_eq!(after, before, "{named:?}");
            assert!(!sandbox.path().join("store/runs/s").exists(), "{named:?}");
        }
    }
}

#[test]
fn where_a_file_is_to_be_written_a_directory_is_a_mistake() {
    let sandbox = scratch();
    feed(&sandbox, &["run-attachment", "add", "a=-"], "x").ends(0).clear();
    go(&sandbox, &["run-attachment", "open", "a", "-o", "directory"]).says(2, "directory");
    go(&sandbox, &["run-attachment", "open", "a", "-o", "missing/file"]).says(2, "no such file");
    assert_eq!(std::fs::read_dir(sandbox.path().join("directory")).unwrap().count(), 0);
}
