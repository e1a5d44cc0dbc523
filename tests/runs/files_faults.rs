//! Every effect of every writer fails or is the last one, once: nothing is half there, and the same command again ends where
//! an undisturbed one ends, with one event.

use crate::sandbox::{Sandbox, run_with};
use crate::shell::{events, feed, go, paths, with_status};

/// A writer, and what it leaves when it is done.
struct Case<'c> {
    /// What is done before.
    before: &'c [&'c [&'c str]],
    line: &'c [&'c str],
    stdin: &'c str,
    /// How a second run may end, when the first one had done all but say so.
    again: &'c [i32],
    /// The type of its event, if it has one.
    event: &'c str,
    /// A reader, and what must stand in its output at the end; nothing where that is empty.
    check: (&'c [&'c str], &'c str),
    /// So many effects are reached at least.
    effects: usize,
}

fn begun(case: &Case<'_>) -> Sandbox {
    let sandbox = with_status("running");
    for line in case.before {
        feed(&sandbox, line, "bytes").ends(0).clear();
    }
    sandbox
}

fn survives(case: &Case<'_>) {
    for fault in ["kill", "ENOSPC", "EIO"] {
        let mut reached = 0;
        for nth in 1.. {
            let sandbox = begun(case);
            let fired = sandbox.path().join("fired");
            let told_before = events(&sandbox, case.event).len();
            let mut command = sandbox.program(case.line);
            command
                .env("WT_TEST_FAULT", format!("{nth}:{fault}"))
                .env("WT_TEST_FIRED", &fired)
                .env("WT_FSYNC", "on");
            let done = run_with(command, case.stdin);
            let what = format!("{:?}, {fault} at {nth}", case.line);
            if !fired.exists() {
                done.ends(0).clear();
                break;
            }
            reached = nth;
            // What removes things gets by on a full disk.
            let gets_by = fault == "ENOSPC" && case.line.contains(&"remove");
            assert!(done.code != 0 || gets_by, "{what} was not told");
            whole(&sandbox, &what);
            let again = feed(&sandbox, case.line, case.stdin);
            assert!(
                again.code == 0 || case.again.contains(&again.code),
                "{what}, again: {} {}",
                again.code,
                again.err
            );
            let (line, expected) = case.check;
            let checked = go(&sandbox, line);
            let is_right =
                if expected.is_empty() { checked.out.is_empty() } else { checked.out.contains(expected) };
            assert!(checked.code == 0 && is_right, "{what}: {} {}", checked.out, checked.err);
            if !case.event.is_empty() {
                assert_eq!(events(&sandbox, case.event).len(), told_before + 1, "{what}");
            }
        }
        assert!(reached >= case.effects, "{:?}: {fault} reached only {reached} effects", case.line);
    }
}

/// Every document is whole, and no temporary file looks like one.
fn whole(sandbox: &Sandbox, what: &str) {
    for path in paths(sandbox) {
        let name = path.rsplit('/').next().unwrap();
        if name != "_meta.json"
            && std::path::Path::new(name).extension().is_some_and(|extension| extension == "json")
        {
            let bytes = std::fs::read(sandbox.run_dir().join(&path)).unwrap();
            assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok(), "{what}: {path} is not whole");
            assert!(!name.starts_with('.'), "{what}: {path}");
        }
    }
}

#[test]
fn artifacts() {
    let write = ["run-artifact", "write", "n", r#"{"a":1}"#, "--version", "3", "--publish", "p"];
    survives(&Case {
        before: &[],
        line: &write,
        stdin: "",
        again: &[],
        event: "artifact_written",
        check: (&["run-artifact", "latest", "n", "/data", "--json"], "{\"a\":1}\n"),
        effects: 12,
    });
    survives(&Case {
        before: &[&["run-artifact", "write", "n", "{}"]],
        line: &["run-artifact", "files-dir"],
        stdin: "",
        again: &[],
        event: "",
        check: (&["run-artifact", "files"], ""),
        effects: 1,
    });
}

#[test]
fn questions_and_answers() {
    let ask: &[&str] = &["run-interaction", "ask", "n", "{\"q\":1}", "--id", "i"];
    survives(&Case {
        before: &[],
        line: ask,
        stdin: "",
        again: &[],
        event: "human_input_requested",
        check: (&["run-interaction", "show", "i", "/questions", "--json"], "{\"q\":1}\n"),
        effects: 10,
    });
    survives(&Case {
        before: &[ask],
        line: &["run-interaction", "answer", "i", "{\"a\":1}"],
        stdin: "",
        again: &[6],
        event: "human_answers_recorded",
        check: (&["run-interaction", "show", "i", "/answers", "--json"], "{\"a\":1}\n"),
        effects: 8,
    });
    survives(&Case {
        before: &[ask],
        line: &["run-interaction", "turn", "i", "human", "--content", "x", "--expect", "0"],
        stdin: "",
        again: &[],
        event: "review_turn",
        check: (&["run-interaction", "show", "i", "/turns/0/content"], "\"x\"\n"),
        effects: 8,
    });
    survives(&Case {
        before: &[ask],
        line: &["run-interaction", "retire", "i"],
        stdin: "",
        again: &[],
        event: "",
        check: (&["run-interaction", "list", "--pending"], ""),
        effects: 5,
    });
}

#[test]
fn attachments() {
    let add: &[&str] = &["run-attachment", "add", "a=-"];
    survives(&Case {
        before: &[],
        line: add,
        stdin: "content",
        again: &[],
        event: "",
        check: (&["run-attachment", "open", "a"], "content"),
        effects: 15,
    });
    survives(&Case {
        before: &[add],
        line: &["run-attachment", "remove", "a"],
        stdin: "",
        again: &[],
        event: "",
        check: (&["run-attachment", "list"], ""),
        effects: 9,
    });
    survives(&Case {
        before: &[],
        line: &["run-attachment", "add", "a=-", "--filename", "meta.json"],
        stdin: "content",
        again: &[],
        event: "",
        check: (&["run-attachment", "open", "a"], "content"),
        effects: 15,
    });
}

/// A file that was added is mirrored, also when the writer died before that and the command is run again.
#[test]
fn the_mirror_is_made_up_for() {
    for nth in 1.. {
        let sandbox = with_status("running");
        let fired = sandbox.path().join("fired");
        let mut command = sandbox.program(&["run-attachment", "add", "a=-"]);
        command.env("WT_TEST_FAULT", format!("{nth}:kill")).env("WT_TEST_FIRED", &fired);
        let _ = run_with(command, "content");
        if !fired.exists() {
            break;
        }
        feed(&sandbox, &["run-attachment", "add", "a=-"], "content").ends(0).clear();
        let mirrored = crate::shell::stored(&sandbox, "run.json")["attachments"]["a"].clone();
        assert_eq!(mirrored, crate::shell::stored(&sandbox, "attachments/a/meta.json"), "kill at {nth}");
    }
}

#[test]
fn the_key_to_sign_with() {
    survives(&Case {
        before: &[&["run-attachment", "add", "a=-"]],
        line: &["run-attachment", "presign", "a"],
        stdin: "",
        again: &[],
        event: "",
        check: (&["run-attachment", "open", "a"], "bytes"),
        effects: 5,
    });
}

#[test]
fn plans() {
    survives(&Case {
        before: &[&["run-plan", "write", "n", "[]"]],
        line: &["run-plan", "write", "n", r#"[{"content":"a","status":"pending"}]"#],
        stdin: "",
        again: &[],
        event: "plan_written",
        check: (&["run-plan", "list"], "\n2\t"),
        effects: 7,
    });
}

#[test]
fn messages() {
    let queue: &[&str] = &["run-message", "queue", "x", "--id", "m"];
    for (before, line, event, again, state) in [
        (&[][..], queue, "user_message_queued", &[6][..], "\tqueued\t"),
        (&[], &["run-message", "queue-once", "m", "x"], "user_message_queued", &[1], "\tqueued\t"),
        (&[queue], &["run-message", "deliver", "m"], "user_message_delivered", &[6], "\tdelivered\t"),
        (&[queue], &["run-message", "cancel", "m"], "user_message_cancelled", &[6], "\tcancelled\t"),
    ] {
        survives(&Case {
            before,
            line,
            stdin: "",
            again,
            event,
            check: (&["run-message", "list"], state),
            effects: 4,
        });
    }
}

/// A claim whose writer was killed is held all the same, until its lease runs out.
#[test]
fn routes() {
    let fail: &[&str] = &["run-record", "fail", "--resumable"];
    let claim: &[&str] = &["run-route", "claim", "--owner", "o"];
    let finish = ["run-route", "finish", "--seq", "1", "--owner", "o", "--attempt", "1"];
    survives(&Case {
        before: &[fail],
        line: claim,
        stdin: "",
        again: &[6],
        event: "",
        check: (&["run-route", "list"], "r\t1\tclaimed\t1\t"),
        effects: 5,
    });
    for (end, told) in [(&["--succeeded"][..], "r\t1\tsucceeded\t1\t"), (&["--failed", "x"], "r\t1\tfailed\t1\t")] {
        survives(&Case {
            before: &[fail, claim],
            line: &[&finish[..], end].concat(),
            stdin: "",
            again: &[],
            event: "",
            check: (&["run-route", "list"], told),
            effects: 5,
        });
    }
    survives(&Case {
        before: &[],
        line: &["run-route", "watermark", "--set", "2026-01-01T00:00:00Z"],
        stdin: "",
        again: &[1],
        event: "",
        check: (&["run-route", "watermark"], "\"watermark\":\"2026-01-01T00:00:00Z\""),
        effects: 5,
    });
}

#[test]
fn tool_bodies_turns_and_the_log() {
    survives(&Case {
        before: &[],
        line: &["run-turn", "write", "n", "0", "0", "{}", "--messages", "[1]"],
        stdin: "",
        again: &[],
        event: "",
        check: (&["run-turn", "latest", "n", "--messages"], "[\n  1\n]"),
        effects: 15,
    });
    survives(&Case {
        before: &[],
        line: &["run-tool", "put", "t", "input", "--threshold", "2"],
        stdin: "content",
        again: &[],
        event: "",
        check: (&["run-tool", "get", "t", "input"], "content"),
        effects: 8,
    });
    survives(&Case {
        before: &[&["run-log", "append", "--offset", "0"]],
        line: &["run-log", "append", "--offset", "5"],
        stdin: " and more",
        again: &[],
        event: "",
        check: (&["run-log", "read"], "bytes and more"),
        effects: 2,
    });
}
