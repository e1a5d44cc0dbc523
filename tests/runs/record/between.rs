//! Cases of facts 9 that are said of every call, and cases between the listed ones: the other side of a rule.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::{Runs, parse};
use crate::files_deleted::WRITERS;
use crate::life::tree;
use crate::sandbox::{run_with, until};

/// A 3, the reader's half: while many make one run a reader finds none or a whole one.
#[test]
fn a_run_that_is_being_made_is_not_there_or_whole() {
    for _ in 0..3 {
        let runs = Runs::new();
        let path = runs.0.run_dir().join("run.json");
        let inputs = format!("{{\"long\":\"{}\"}}", "x".repeat(60_000));
        let (is_looked_for, is_made) = (AtomicBool::new(false), AtomicBool::new(false));
        let line = ["run-record", "create", "--inputs", "-"];
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut absent, mut whole) = (0_u64, 0_u64);
                while !is_made.load(Ordering::SeqCst) || whole == 0 {
                    let Ok(bytes) = std::fs::read(&path) else {
                        absent += 1;
                        is_looked_for.store(true, Ordering::SeqCst);
                        continue;
                    };
                    let run: Value = serde_json::from_slice(&bytes).unwrap();
                    assert_eq!(run["inputs"]["long"].as_str().map(str::len), Some(60_000));
                    whole += 1;
                }
                (absent, whole)
            });
            until("somebody looks", || is_looked_for.load(Ordering::SeqCst));
            let makers: Vec<_> =
                (0..6).map(|_| scope.spawn(|| run_with(runs.0.program(&line), &inputs).code)).collect();
            let codes: Vec<i32> = makers.into_iter().map(|maker| maker.join().unwrap()).collect();
            is_made.store(true, Ordering::SeqCst);
            assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
            let (absent, whole) = reader.join().unwrap();
            assert!(absent > 0 && whole > 0, "{absent} {whole}");
        });
    }
}

/// A 4: a directory that an event or a capture made first is no obstacle, and what is in it stays.
#[test]
fn a_run_may_be_made_around_what_is_there_already() {
    let runs = Runs::new();
    let _ = runs.0.append();
    let before = runs.0.log_text();
    runs.wrote(&["create"]);
    assert_eq!((runs.0.log_text(), runs.at("/status")), (before, json!("running")));
}

/// A 6: the parent need not be here, as where a child is made on another host; it is not made.
#[test]
fn a_parent_need_not_be_here() {
    let runs = Runs::new();
    runs.wrote(&["create", "--parent", "elsewhere"]);
    assert_eq!(runs.at("/parent_run_id"), "elsewhere");
    assert_eq!(runs.record(&["list", "--ids"]).ends(0), "r\n");
    let _ = runs.record(&["create", "--run", "c", "--parent", "../x"]).ends(2);
    let _ = runs.record(&["create", "--run", "c", "--parent-node", "n"]).ends(2);
}

/// A 16: the older form of `fallback` is stored in the new one by who saves what was read, and left alone by who does not.
#[test]
fn an_older_fallback_is_rewritten_only_by_a_save() {
    let old = r#"{"id":"r","name":"n","status":"running","fallback":{"model":"m","x":1.0}}"#;
    let runs = Runs::with(old);
    runs.wrote(&["patch", "--set", "work_dir=\"/w\""]);
    assert_eq!(runs.at("/fallback"), json!({"model":"m","x":1.0}));
    let _ = runs.edit(|run| run["work_dir"] = "/v".into()).ends(0);
    assert_eq!(runs.at("/fallback"), json!([{"model":"m","x":1.0}]));
}

/// A 17.
#[test]
fn a_thousand_ids_are_a_thousand() {
    let runs = Runs::new();
    let script = "i=0; while [ $i -lt 250 ]; do run-record create; i=$((i+1)); done";
    let made: Vec<String> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..4).map(|_| scope.spawn(|| runs.0.sh(script).ends(0))).collect();
        let receipts: Vec<String> = makers.into_iter().map(|maker| maker.join().unwrap()).collect();
        receipts.concat().lines().map(|line| parse(line)["run"].as_str().unwrap().to_owned()).collect()
    });
    assert_eq!((made.len(), made.iter().collect::<BTreeSet<_>>().len()), (1000, 1000));
    for id in &made {
        let shape: Vec<usize> = id.split('-').map(str::len).collect();
        let is_hex = id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
        assert!(shape == [8, 4, 4, 4, 12] && is_hex && id.as_bytes()[14] == b'7', "{id}");
        assert!(matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{id}");
    }
}

/// B 19: any call that takes the id of a run; `create` is in `create`. NUL cannot be given to a program.
#[test]
fn no_call_takes_an_unsafe_id() {
    let runs = Runs::standing("running");
    let mut calls: Vec<(Vec<&str>, &str)> = WRITERS.iter().map(|(line, stdin)| (line.to_vec(), *stdin)).collect();
    for line in [
        &["run-record", "get"][..],
        &["run-record", "set-status", "failed"],
        &["run-record", "patch", "--set", "name=\"x\""],
        &["run-record", "pause", "--interaction", "i"],
        &["run-record", "fail", "--at-launch"],
        &["run-record", "claim-merge"],
        &["run-record", "update-merge", "merged"],
        &["run-record", "waits"],
        &["run-record", "checkpoint", "get"],
        &["run-record", "delegate", "--fingerprint", "f"],
        &["run-events", "append", "--type", "t"],
        &["run-events", "cat"],
        &["run-events", "tail"],
        &["run-events", "check"],
        &["run-events", "fold", "costs"],
        &["run-artifact", "read", "n", "0"],
        &["run-artifact", "file", "f"],
        &["run-interaction", "show", "i"],
        &["run-attachment", "open", "a"],
        &["run-plan", "list"],
        &["run-tool", "get", "t", "input"],
        &["run-message", "pending"],
        &["run-turn", "latest", "n"],
        &["run-log", "read"],
        &["run-route", "list"],
        &["run-show"],
        &["run-reconcile"],
        &["run-lock", "--pid", "--", "true"],
        &["wt-log"],
        &["wt-label", "--list"],
        &["wt-ls-manifest", "HEAD"],
        &["wt-du"],
        &["wt-fsck"],
        &["wt-purge", "--yes", "x"],
        &["wt-forget", "--keep-last", "1"],
        &["wt-gates"],
        &["wt-authorship", "--from", "HEAD"],
        &["wt-attribute", "--node", "n"],
        &["wt-diff", "HEAD", "HEAD"],
        &["wt-rewind", "--node", "n"],
    ] {
        calls.push((line.to_vec(), ""));
    }
    calls.push((vec!["run-record", "save"], r#"{"id":"r","status":"running"}"#));
    calls.push((vec!["run-record", "checkpoint", "save"], "{}"));
    let before = tree(&runs.0.path().join("store"));
    let long = "x".repeat(256);
    for id in ["../x", "a/b", "a\\b", "..", ".", "", "a..b", "a\u{1}b", "a\u{7f}", "a\nb", "-x", &long] {
        let option = format!("--run={id}");
        for (line, stdin) in &calls {
            let at = line.iter().position(|word| *word == "--").unwrap_or(line.len());
            let mut words = line.clone();
            words.insert(at, &option);
            let done = run_with(runs.0.program(&words), stdin);
            assert_eq!(done.code, 2, "{id:?} {line:?}: {}", done.err);
            assert!(done.err.contains("run id"), "{id:?} {line:?}: {}", done.err);
        }
        let done = run_with(runs.0.program(&["run-delete", "--", id]), "");
        assert_eq!(done.code, 2, "{id:?}: {}", done.err);
    }
    assert_eq!(tree(&runs.0.path().join("store")), before);
    assert!(!runs.0.path().join("x").exists());
}

/// C 32: a failure of which nothing is said, and C 42: the same end again is no other episode.
#[test]
fn an_end_may_be_told_without_words_and_twice() {
    let runs = Runs::standing("running");
    runs.wrote(&["fail", "--terminal"]);
    let run = runs.json();
    assert_eq!((&run["status"], run.get("error"), run.get("failure_code")), (&json!("failed"), None, None));
    assert!(run["finished_at"].is_string());
    let runs = Runs::standing("running");
    runs.wrote(&["set-status", "cancelled", "--end-reason", "operator"]);
    let first = runs.at("/finished_at");
    runs.wrote(&["set-status", "cancelled"]);
    assert_eq!(
        (runs.at("/outcome_seq"), runs.at("/end_reason")),
        (json!(1), json!("operator")),
        "nothing was said, so it stays"
    );
    assert!(runs.at("/finished_at").as_str() >= first.as_str());
}

/// D 54: one of several expected statuses; D 56: a copy is stale also where only a revision lies between; D 60: a copy
/// without a revision is not the newest.
#[test]
fn a_copy_is_as_good_as_its_revision() {
    let runs = Runs::standing("running");
    let copy = runs.record(&["get"]).ends(0);
    runs.wrote(&["set-status", "running", "--expect", "queued,running"]);
    let _ = runs.unchanged(&["save"], &copy, 6);
    let mut document = parse(&copy);
    document.as_object_mut().unwrap().remove("cas_version");
    let _ = runs.unchanged(&["save"], &document.to_string(), 6);
    document["cas_version"] = 99.into();
    let _ = runs.unchanged(&["save"], &document.to_string(), 6);
    document["cas_version"] = 2.into();
    let _ = runs.record_with(&["save"], document.to_string()).ends(0);
}

/// E 66: the first end after a birth at the end; E 70: a policy that comes with the end is too late.
#[test]
fn what_comes_after_a_birth_counts() {
    let runs = Runs::new();
    let _ = runs.record_with(&["save"], r#"{"id":"r","status":"failed"}"#).ends(0);
    assert_eq!(runs.json().get("outcome_seq"), None);
    runs.wrote(&["set-status", "cancelled", "--force", "--no-event"]);
    assert_eq!(runs.at("/outcome_seq"), 1);
    let runs = Runs::standing("running");
    let _ = runs
        .edit(|run| {
            run["status"] = "finished".into();
            run["routing_policy"] = json!({"version":1,"success_when":"a"});
        })
        .ends(0);
    assert_eq!(runs.at("/routing_policy/success_when"), "a", "the stored status was still running");
    let _ = runs.edit(|run| run["routing_policy"] = json!({"version":1,"success_when":"b"})).ends(0);
    assert_eq!(runs.at("/routing_policy/success_when"), "a");
}

/// F 78: without a claim the document's own word on its merge is taken.
#[test]
fn a_save_without_a_claim_says_how_the_merge_stands() {
    let runs = Runs::standing("finished");
    let _ = runs.edit(|run| run["merge_status"] = "pending".into()).ends(0);
    assert_eq!(runs.at("/merge_status"), "pending");
    let _ = runs.edit(|run| run["merge_status"] = "skipped".into()).ends(0);
    assert_eq!(runs.at("/merge_status"), "skipped");
}

/// G 80, 84, 86: an empty log, an unfinished line and nothing else, and bad lines with a good one among them.
#[test]
fn a_log_with_little_in_it_is_read() {
    let runs = Runs::new();
    let events = |line: &[&str]| runs.0.run(line);
    runs.0.put("events.jsonl", "");
    assert_eq!(events(&["cat"]).ends(0), "");
    runs.0.put("events.jsonl", "{\"seq\":0,\"ty");
    assert_eq!(events(&["cat"]).ends(0), "", "its writer may still be at it");
    let _ = events(&["check"]).says(3, "torn");
    runs.0.put("events.jsonl", "\n\n");
    assert_eq!(events(&["cat"]).ends(0), "");
    runs.0.put("events.jsonl", "x\n");
    let _ = events(&["cat"]).says(4, "corrupt");
    runs.0.put("events.jsonl", format!("x\n{}", crate::sandbox::event(0)));
    assert_eq!(events(&["cat", "--format", "{seq}"]).ends(3), "0\n");
}

/// O 160: a query by two things takes what is of both.
#[test]
fn two_queries_are_one_narrower_one() {
    let runs = Runs::new();
    for (id, parent, issue) in [("a", "p", "i"), ("b", "p", "j"), ("c", "q", "i")] {
        let launch = format!(r#"{{"source":{{"kind":"dispatcher","issue_id":"{issue}"}}}}"#);
        runs.wrote(&["create", "--run", id, "--parent", parent, "--launch", &launch]);
    }
    let ids = |line: &[&str]| runs.record(&[&["list", "--ids"], line].concat()).ends(0);
    assert_eq!(ids(&["--parent", "p", "--issue", "i"]), "a\n");
    assert_eq!(ids(&["--parent", "q", "--issue", "j"]), "");
    assert_eq!(ids(&["--parent", "p", "--issue", ""]), "");
}

/// T 198: extensions follow equal records one by one, also where two are the same; T 200: a known member that is left out
/// takes all below it along.
#[test]
fn extensions_follow_one_record_each() {
    let stored = r#"{"id":"r","name":"n","status":"running","cas_version":1,"source":{"kind":"schedule","x":1},
        "checkpoint":{"node_id":"n","selected_incoming":{"g":[{"from":"a","to":"g","x":1},{"from":"a","to":"g","x":2},{"from":"b","to":"g","x":3}]}}}"#;
    let runs = Runs::with(stored);
    let mut document = parse(stored);
    document["checkpoint"]["selected_incoming"]["g"] =
        json!([{"from":"b","to":"g"},{"from":"a","to":"g"},{"from":"a","to":"g"},{"from":"a","to":"g"}]);
    document.as_object_mut().unwrap().remove("source");
    let _ = runs.record_with(&["save"], document.to_string()).ends(0);
    let left = runs.at("/checkpoint/selected_incoming/g");
    let extensions: Vec<i64> =
        left.as_array().unwrap().iter().filter_map(|edge| edge.get("x").and_then(Value::as_i64)).collect();
    assert_eq!((left[0]["x"].as_i64(), extensions.len()), (Some(3), 3), "each is given once: {left}");
    assert_eq!(extensions.iter().collect::<BTreeSet<_>>().len(), 3, "{left}");
    assert_eq!(runs.json().get("source"), None);
}
