//! Every effect of every writer fails or kills once: the document is whole, old or new, and the command run again finishes.

use serde_json::Value;

use super::{Runs, parse};
use crate::sandbox::run_with;

/// A writer under test.
struct Case {
    name: &'static str,
    args: &'static [&'static str],
    stdin: &'static str,
    /// The document it begins with; empty for none.
    before: &'static str,
    /// How the command ends when it is run again after it was carried out.
    again: i32,
    /// Events when all is done.
    events: usize,
}

const RUNNING: &str = r#"{"id":"r","name":"n","status":"running","checkpoint":{"node_id":"n","interaction_id":"","outputs":{"n":1},"loop_counters":null,"artifact_versions":null,"vars":null},"x":{"keep":1.0},"cas_version":7}"#;
const FAILED: &str = r#"{"id":"r","name":"n","status":"failed","x":{"keep":1.0},"cas_version":7}"#;

const CASES: [Case; 13] = [
    Case { name: "create", args: &["create", "--workflow", "w"], stdin: "", before: "", again: 6, events: 0 },
    Case {
        name: "set-status",
        args: &["set-status", "failed", "--code", "X"],
        stdin: "",
        before: RUNNING,
        again: 0,
        events: 0,
    },
    Case {
        name: "force",
        args: &["set-status", "queued", "--force", "--expect", "running"],
        stdin: "",
        before: RUNNING,
        again: 6,
        events: 1,
    },
    Case {
        name: "save",
        args: &["save"],
        stdin: r#"{"id":"r","status":"finished","cas_version":7}"#,
        before: RUNNING,
        again: 6,
        events: 0,
    },
    Case {
        name: "born",
        args: &["save"],
        stdin: r#"{"id":"r","status":"running"}"#,
        before: "",
        again: 6,
        events: 0,
    },
    Case {
        name: "patch",
        args: &["patch", "--set", "work_dir=\"/w\""],
        stdin: "",
        before: RUNNING,
        again: 0,
        events: 0,
    },
    Case {
        name: "checkpoint",
        args: &["checkpoint", "save"],
        stdin: r#"{"node_id":"m"}"#,
        before: RUNNING,
        again: 0,
        events: 0,
    },
    Case { name: "pause", args: &["pause", "--interaction", "i"], stdin: "", before: RUNNING, again: 0, events: 0 },
    Case {
        name: "fail",
        args: &["fail", "--resumable", "--error", "e"],
        stdin: "",
        before: RUNNING,
        again: 0,
        events: 0,
    },
    Case {
        name: "launch",
        args: &["fail", "--at-launch", "--error", "e"],
        stdin: "",
        before: RUNNING,
        again: 0,
        events: 1,
    },
    Case { name: "claim", args: &["claim-merge"], stdin: "", before: RUNNING, again: 6, events: 0 },
    Case {
        name: "merge",
        args: &["update-merge", "merged", "--expect", ""],
        stdin: "",
        before: RUNNING,
        again: 6,
        events: 0,
    },
    Case {
        name: "delegate",
        args: &["delegate", "--fingerprint", "f"],
        stdin: "",
        before: FAILED,
        again: 6,
        events: 0,
    },
];

/// The document that the case is about: a worker's, or the run's own.
fn document(runs: &Runs, case: &Case) -> Option<Value> {
    let dir = runs.0.path().join("store/runs");
    let dir = match case.name {
        "delegate" => std::fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.file_name().unwrap().to_string_lossy().starts_with("repair-"))?,
        _ => dir.join("r"),
    };
    Some(parse(&String::from_utf8(std::fs::read(dir.join("run.json")).ok()?).unwrap()))
}

/// Without what depends on the time.
fn timeless(document: Option<Value>) -> Option<Value> {
    let mut document = document?;
    for time in ["created_at", "updated_at", "finished_at", "queued_at", "merge_claimed_at"] {
        if let Some(value) = document.get_mut(time) {
            *value = Value::Null;
        }
    }
    Some(document)
}

fn begin(case: &Case) -> Runs {
    if case.before.is_empty() { Runs::new() } else { Runs::with(case.before) }
}

fn disturbed(runs: &Runs, case: &Case, fault: Option<&str>) -> (bool, i32) {
    let fired = runs.0.path().join("fired");
    let mut command = runs.0.program(&[&["run-record"], case.args].concat());
    command.env("WT_FSYNC", "on").env("WT_TEST_FIRED", &fired);
    if let Some(fault) = fault {
        command.env("WT_TEST_FAULT", fault);
    }
    let done = run_with(command, case.stdin);
    (fired.exists(), done.code)
}

#[test]
fn any_effect_of_any_writer_may_fail_or_be_the_last() {
    let cases: Vec<_> = CASES.iter().collect();
    std::thread::scope(|scope| {
        for part in cases.chunks(5) {
            scope.spawn(move || part.iter().for_each(|case| every_effect(case)));
        }
    });
}

fn every_effect(case: &Case) {
    let undisturbed = begin(case);
    let old = timeless(document(&undisturbed, case));
    assert_eq!(disturbed(&undisturbed, case, None), (false, 0), "{}", case.name);
    let new = timeless(document(&undisturbed, case));
    assert_eq!(disturbed(&undisturbed, case, None), (false, case.again), "{} again", case.name);
    assert_ne!(old, new, "{}", case.name);
    for fault in ["kill", "ENOSPC", "EIO"] {
        let mut reached = 0;
        for nth in 1.. {
            let what = format!("{} with {fault} at {nth}", case.name);
            let runs = begin(case);
            let (fired, code) = disturbed(&runs, case, Some(&format!("{nth}:{fault}")));
            if !fired {
                assert_eq!(code, 0, "{what}");
                break;
            }
            reached = nth;
            assert_ne!(code, 0, "{what} was not told");
            let now = timeless(document(&runs, case));
            assert!(now == old || now == new, "{what}: {now:?}");
            let is_done = now == new;
            let temporary = std::fs::read_dir(runs.0.run_dir())
                .unwrap()
                .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".iterion-tmp-"))
                .count();
            assert!(temporary == 0 || fault == "kill" || temporary == 1, "{what}: {temporary}");
            // Whatever was left, the command run again finishes what is not done.
            let (_, code) = disturbed(&runs, case, Some("9999:kill"));
            assert_eq!(code, if is_done { case.again } else { 0 }, "{what}, again");
            let mut end = timeless(document(&runs, case)).unwrap();
            if is_done && case.again == 0 && !matches!(case.name, "patch" | "launch") {
                // A status that is written again is a write.
                end["cas_version"] = new.as_ref().unwrap()["cas_version"].clone();
            }
            assert_eq!(Some(end), new, "{what}, again");
            assert_eq!(runs.events().len(), case.events, "{what}: an event was lost or told twice");
        }
        assert!(reached >= 4, "{} with {fault} reached only {reached} effects", case.name);
    }
}

/// Facts 3.2 rule 9: a checkpoint is never durable ahead of the events that it follows.
#[test]
fn the_document_waits_for_the_events() {
    let runs = Runs::with(RUNNING);
    runs.0.put("events.jsonl", "{\"seq\":0,\"type\":\"t\",\"run_id\":\"r\"}\n");
    runs.0.put(".events.unsynced", "");
    let case = Case {
        name: "patch",
        args: &["patch", "--set", "work_dir=\"/w\""],
        stdin: "",
        before: RUNNING,
        again: 0,
        events: 1,
    };
    let trace = runs.0.path().join("trace");
    let mut command = runs.0.program(&[&["run-record"], case.args].concat());
    command.env("WT_FSYNC", "on").env("WT_TEST_TRACE", &trace);
    let _ = run_with(command, "").ends(0);
    let trace = std::fs::read(&trace).map(|bytes| String::from_utf8(bytes).unwrap()).unwrap();
    let place = |what: &[&str]| {
        trace
            .lines()
            .position(|line| what.iter().all(|word| line.contains(word)))
            .unwrap_or_else(|| panic!("{what:?} is not in {trace}"))
    };
    assert!(place(&["flush", "events.jsonl"]) < place(&["rename", "run.json"]), "{trace}");
    assert!(!runs.0.run_dir().join(".events.unsynced").exists());
    runs.0.put(".events.unsynced", "");
    let before = runs.text();
    let (fired, code) = disturbed(&runs, &case, Some("1:EIO"));
    // The value is there already, so that another one is needed.
    assert!(!fired && code == 0);
    let other = Case { args: &["patch", "--set", "work_dir=\"/x\""], ..case };
    assert_eq!(disturbed(&runs, &other, Some("1:EIO")), (true, 8));
    assert_eq!(runs.text(), before, "nothing is written while the events cannot be flushed");
    assert_eq!(disturbed(&runs, &other, None).1, 0);
}
