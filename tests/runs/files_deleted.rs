//! N 149: no writer brings a deleted run back, however late it comes; N 150: nor does one of a run from the future write it.

use crate::sandbox::{Holder, Sandbox, run_with};
use crate::shell::{feed, go, paths};

/// Every writer beside run.json, with what it reads.
pub(crate) const WRITERS: [(&[&str], &str); 24] = [
    (&["run-artifact", "write", "n", "{}", "--publish", "p"], ""),
    (&["run-artifact", "reindex"], ""),
    (&["run-artifact", "files-dir"], ""),
    (&["run-interaction", "ask", "n", "{}"], ""),
    (&["run-interaction", "answer", "i", "{}"], ""),
    (&["run-interaction", "turn", "i", "human", "--content", "x"], ""),
    (&["run-interaction", "retire", "i"], ""),
    (&["run-attachment", "add", "a=-"], "bytes"),
    (&["run-attachment", "remove", "a"], ""),
    (&["run-attachment", "reindex"], ""),
    (&["run-attachment", "presign", "a"], ""),
    (&["run-plan", "write", "n", "[]"], ""),
    (&["run-tool", "put", "t", "input"], "x"),
    (&["run-tool", "put", "t", "input", "--threshold", "0"], "x"),
    (&["run-message", "queue", "x"], ""),
    (&["run-message", "queue-once", "m", "x"], ""),
    (&["run-message", "deliver", "m"], ""),
    (&["run-message", "consume", "m"], ""),
    (&["run-message", "cancel", "m"], ""),
    (&["run-turn", "write", "n", "0", "0", "{}", "--messages", "[]"], ""),
    (&["run-route", "claim", "--owner", "o"], ""),
    (&["run-route", "finish", "--seq", "1", "--owner", "o", "--attempt", "1", "--succeeded"], ""),
    (&["run-log", "append"], "x"),
    (&["run-log", "append", "--offset", "0"], "x"),
];

#[test]
fn no_writer_brings_a_deleted_run_back() {
    let sandbox = Sandbox::new();
    sandbox.put(".deleted", "2026-01-01T00:00:00Z\n");
    for (line, stdin) in WRITERS {
        feed(&sandbox, line, stdin).says(2, "run 'r' was deleted");
        assert_eq!(paths(&sandbox), [".deleted"], "{line:?}");
    }
    for line in [
        &["run-artifact", "list"][..],
        &["run-artifact", "latest", "n"],
        &["run-artifact", "files"],
        &["run-interaction", "list"],
        &["run-interaction", "show", "i"],
        &["run-attachment", "list"],
        &["run-attachment", "open", "a"],
        &["run-plan", "list"],
        &["run-tool", "get", "t", "input"],
        &["run-message", "list"],
        &["run-turn", "list"],
        &["run-route", "list"],
        &["run-log", "read"],
        &["run-log", "follow"],
    ] {
        go(&sandbox, line).says(2, "run 'r' was deleted");
    }
}

/// A run that has everything that the writers need.
pub(crate) fn full() -> Sandbox {
    let sandbox = crate::shell::with_status("running");
    go(&sandbox, &["run-interaction", "ask", "n", "{}", "--id", "i", "--no-event"]).ends(0).clear();
    for id in ["m", "d"] {
        go(&sandbox, &["run-message", "queue", "x", "--id", id, "--no-event"]).ends(0).clear();
    }
    feed(&sandbox, &["run-attachment", "add", "a=-"], "bytes").ends(0).clear();
    go(&sandbox, &["run-artifact", "write", "n", "{}"]).ends(0).clear();
    sandbox
}

/// The run is deleted while the writer is on its way to the lock.
#[test]
fn no_writer_brings_back_a_run_that_is_deleted_meanwhile() {
    let mut reached = 0;
    for (line, stdin) in WRITERS {
        let sandbox = full();
        let dir = sandbox.run_dir();
        let hook = format!(
            "before-write-lock=cd '{0}' && : >.deleted && rm -rf [!.]* .upload-* && : >../../../hit",
            dir.display()
        );
        let mut command = sandbox.program(line);
        command.env("WT_TEST_HOOK", hook);
        let done = run_with(command, stdin);
        if !sandbox.path().join("hit").exists() {
            // Presigning writes nothing in the run, and what fits into an event nothing at all.
            assert!(
                line.contains(&"presign") || *line == ["run-tool", "put", "t", "input"],
                "{line:?}: {}",
                done.err
            );
            continue;
        }
        reached += 1;
        assert!(done.err.contains("was deleted") || done.err.contains("there is no run"), "{line:?}: {}", done.err);
        done.ends(2).clear();
        assert_eq!(paths(&sandbox), [".deleted"], "{line:?}");
    }
    assert_eq!(reached, 22);
}

#[test]
fn no_writer_touches_a_run_from_the_future() {
    let sandbox = full();
    sandbox.put("run.json", r#"{"format_version":2,"status":"running"}"#);
    let before = paths(&sandbox);
    for (line, stdin) in WRITERS.iter().filter(|(line, _)| !line.contains(&"presign")) {
        feed(&sandbox, line, stdin).says(5, "format version 2");
        assert_eq!(paths(&sandbox), before, "{line:?}");
    }
    for version in ["99999999999999999999999", "1e3", "1.5", "\"2\"", "[1]"] {
        sandbox.put("run.json", format!(r#"{{"format_version":{version},"status":"running"}}"#));
        for (line, stdin) in WRITERS.iter().filter(|(line, _)| !line.contains(&"presign")) {
            feed(&sandbox, line, stdin).says(5, "format version");
            assert_eq!(paths(&sandbox), before, "{version} {line:?}");
        }
    }
    let done = go(&sandbox, &["run-message", "list"]);
    assert!(done.err.contains("newer program"), "{}", done.err);
    done.ends(0).clear();
}

/// What has an event is not done beside a stranger's engine, unless it is said.
#[test]
fn a_writer_with_an_event_keeps_out_of_an_engines_way() {
    let sandbox = full();
    let engine = Holder::of(&sandbox, ".lock");
    let before = paths(&sandbox);
    let told = WRITERS.iter().filter(|(line, _)| {
        line.contains(&"--publish")
            || matches!(line, ["run-interaction", "ask" | "answer" | "turn", ..] | ["run-plan", ..])
            || matches!(line, ["run-message", ..])
    });
    let mut count = 0;
    for (line, stdin) in told {
        feed(&sandbox, line, stdin).says(6, "is being executed by an engine");
        assert_eq!(paths(&sandbox), before, "{line:?}");
        count += 1;
    }
    assert_eq!(count, 10);
    go(&sandbox, &["run-message", "deliver", "m", "--while-running"]).ends(0).clear();
    go(&sandbox, &["run-message", "deliver", "d", "--no-event"]).ends(0).clear();
    go(&sandbox, &["run-artifact", "write", "n", "{}"]).ends(0).clear();
    drop(engine);
    go(&sandbox, &["run-message", "consume", "m"]).ends(0).clear();
}
