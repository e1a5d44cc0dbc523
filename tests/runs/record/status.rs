//! Facts 9 C, D and E through the commands: what a status brings along, who may write it, how episodes are counted.

use serde_json::{Value, json};

use super::{Runs, STATUSES, parse};
use crate::sandbox::Holder;

const POINTER: &str =
    r#"{"node_id":"n","interaction_id":"i","interaction_questions":{"a":"b?"},"outputs":{"n":{"v":1}}}"#;

/// C 29, C 30: a pause is one write, and a second one clears what the first failure left.
#[test]
fn a_pause_stores_checkpoint_and_status_at_once() {
    let runs = Runs::standing("running");
    let receipt = runs.wrote(&["pause", "--checkpoint", POINTER]);
    assert_eq!((&receipt["status"], &receipt["revision"]), (&json!("paused_waiting_human"), &json!(2)));
    assert_eq!(runs.record(&["get", "/checkpoint/interaction_questions/a", "--raw"]).ends(0), "b?\n");
    assert_eq!(runs.at("/checkpoint/outputs/n/v"), 1);
    let runs = Runs::with(
        r#"{"id":"r","name":"n","status":"running","error":"old","end_reason":"x","failure_code":"Y","continuation_state":"final","finished_at":"2026-01-01T00:00:00Z","await_answers_waits":{"t":{"node_id":"n","until":"2099-01-01T00:00:00Z"}},"checkpoint":{"node_id":"n","interaction_id":""}}"#,
    );
    runs.wrote(&["pause", "--interaction", "r_n", "--questions", r#"{"q":1}"#]);
    let run = runs.json();
    for gone in ["error", "end_reason", "failure_code", "continuation_state", "finished_at", "await_answers_waits"]
    {
        assert_eq!(run.get(gone), None, "{gone}");
    }
    assert_eq!(
        (&run["checkpoint"]["interaction_id"], &run["checkpoint"]["interaction_questions"]["q"]),
        (&json!("r_n"), &json!(1))
    );
}

#[test]
fn a_pause_names_what_it_waits_for() {
    let runs = Runs::standing("running");
    let _ = runs.unchanged(&["pause"], "", 2);
    let _ = runs.unchanged(&["pause", "--checkpoint", r#"{"node_id":"n"}"#], "", 2);
    let _ = runs.unchanged(&["pause", "--interaction", "../x"], "", 2);
    let _ = runs.unchanged(&["pause", "--checkpoint", "[]"], "", 2);
    let _ = runs.unchanged(&["pause", "--checkpoint", r#"{"a":1,"a":2}"#], "", 2);
    let parallel = r#"{"parallel":{"pending_branch_id":"b","pending_node_id":"m","pending_interaction_id":"i"}}"#;
    runs.wrote(&["pause", "--checkpoint", parallel]);
    assert_eq!(runs.record(&["checkpoint", "get", "--paused-node"]).ends(0), "m\n");
    let runs = Runs::with(r#"{"id":"r","name":"n","status":"running"}"#);
    let _ = runs.unchanged(&["pause", "--interaction", "i"], "", 2);
    let runs = Runs::standing("finished");
    let _ = runs.unchanged(&["pause", "--force"], "", 2);
    assert!(runs.events().is_empty(), "nothing is told of what was not done");
}

/// C 31, 33 and 34, 37.
#[test]
fn a_failure_has_text_code_and_time() {
    let runs = Runs::standing("running");
    runs.wrote(&["set-status", "failed", "--error", "boom", "--code", "TIMEOUT"]);
    let run = runs.json();
    assert_eq!(
        (&run["status"], &run["error"], &run["failure_code"]),
        (&json!("failed"), &json!("boom"), &json!("TIMEOUT"))
    );
    assert_eq!(run["finished_at"], run["updated_at"]);
    runs.wrote(&["set-status", "failed"]);
    assert_eq!(
        (runs.at("/failure_code"), runs.at("/error"), runs.at("/outcome_seq")),
        (json!("TIMEOUT"), json!("boom"), json!(1)),
        "the same status again"
    );
    runs.wrote(&["set-status", "failed_resumable", "--force"]);
    assert_eq!(
        (runs.at("/failure_code"), runs.at("/error")),
        (json!(null), json!(null)),
        "another failure without a code"
    );
    runs.wrote(&["set-status", "failed_resumable", "--code", "X"]);
    runs.wrote(&["set-status", "running"]);
    assert_eq!((runs.at("/failure_code"), runs.at("/finished_at")), (json!(null), json!(null)));
    let old = Runs::with(r#"{"id":"r","name":"n","status":"failed"}"#);
    assert_eq!(old.record(&["get", "/failure_code"]).ends(1), "");
}

/// C 35: what the table says of each status, seen through the commands. The predicates themselves are tested in the library.
#[test]
fn every_status_carries_what_the_table_says() {
    for (status, cause, pointer, terminal) in [
        ("queued", false, true, false),
        ("running", false, false, false),
        ("paused_waiting_human", false, true, false),
        ("paused_operator", false, true, false),
        ("finished", false, false, true),
        ("failed", true, false, true),
        ("failed_resumable", true, false, true),
        ("cancelled", true, false, true),
    ] {
        let runs = Runs::with(&format!(
            r#"{{"id":"r","name":"n","status":"paused_waiting_human","checkpoint":{POINTER}}}"#
        ));
        let done = runs.record(&[
            "set-status",
            status,
            "--force",
            "--no-event",
            "--code",
            "C",
            "--end-reason",
            "operator",
        ]);
        assert_eq!(done.code, if cause { 0 } else { 3 }, "{status}: {}", done.err);
        let run = runs.json();
        assert_eq!(run.get("failure_code").is_some(), cause, "{status}");
        assert_eq!(run.get("end_reason").is_some(), cause, "{status}");
        assert_eq!(run["checkpoint"]["interaction_id"] == "i", pointer, "{status}");
        assert_eq!(run["checkpoint"].get("interaction_questions").is_some(), pointer, "{status}");
        assert_eq!(run["checkpoint"]["outputs"], json!({"n":{"v":1}}), "{status}");
        assert_eq!(run.get("finished_at").is_some(), terminal, "{status}");
        assert_eq!(run.get("outcome_seq").is_some(), terminal, "{status}");
        assert_eq!(run.get("queued_at").is_some(), status == "queued", "{status}");
    }
}

/// C 36: the graph of 2.2, all of it, and its repair (10.6).
#[test]
fn only_what_the_graph_has_may_follow() {
    let graph = ["XX-X-XXX", "-XXXXXXX", "XXXX---X", "XX-X---X", "----X---", "---X-X--", "XX-X-XXX", "XX-X---X"];
    for (from, row) in STATUSES.into_iter().zip(graph) {
        for (to, allowed) in STATUSES.into_iter().zip(row.chars()) {
            let runs = Runs::standing(from);
            if allowed == 'X' {
                assert_eq!(runs.wrote(&["set-status", to])["status"], to, "{from} {to}");
                assert!(runs.events().is_empty());
                continue;
            }
            let done = runs.unchanged(&["set-status", to, "--json"], "", 5);
            let error = &parse(&done.out)["error"];
            assert_eq!(
                (&error["code"], &error["revision"], &error["status"]),
                (&json!("refused"), &json!(1), &json!(from))
            );
            assert!(runs.events().is_empty(), "{from} {to}");
            let receipt = runs.wrote(&["set-status", to, "--force"]);
            let events = runs.events();
            assert_eq!(events.len(), 1);
            assert_eq!(
                (&events[0]["type"], &events[0]["data"]),
                (&json!("run_status_forced"), &json!({"from":from,"to":to,"revision":1}))
            );
            assert_eq!(receipt["event_seq"], 0);
        }
    }
    let runs = Runs::with(r#"{"id":"r","name":"n","status":"failed"}"#);
    let _ = runs.unchanged(&["set-status", "paused_operator"], "", 5);
    let _ = runs.record(&["set-status", "paused_operator", "--force", "--no-event"]).ends(0);
    assert!(runs.events().is_empty());
    let _ = runs.unchanged(&["set-status", "resting"], "", 2);
}

/// C 39.
#[test]
fn the_paused_node_is_that_of_the_branch_if_there_is_one() {
    for (checkpoint, node) in [
        (r#"{"node_id":"a"}"#, "a"),
        (r#"{"node_id":"a","parallel":{"pending_node_id":"b"}}"#, "b"),
        (r#"{"node_id":"a","parallel":{"router_node_id":"x"}}"#, "a"),
        (r#"{"node_id":"a","parallel":{"pending_node_id":""}}"#, "a"),
    ] {
        let runs = Runs::with(&format!(r#"{{"id":"r","name":"n","status":"running","checkpoint":{checkpoint}}}"#));
        assert_eq!(runs.record(&["checkpoint", "get", "--paused-node"]).ends(0), format!("{node}\n"));
    }
}

/// C 41.
#[test]
fn a_cancelled_run_is_not_failed() {
    let runs = Runs::standing("cancelled");
    for how in ["--resumable", "--terminal", "--at-launch"] {
        let done = runs.unchanged(&["fail", how, "--error", "late"], "", 0);
        assert_eq!(parse(&done.out)["changed"], false);
    }
    let _ = runs.unchanged(&["fail", "--resumable", "--checkpoint", "{}", "--code", "X"], "", 0);
    assert!(runs.events().is_empty());
}

/// C 40, C 43, 2.4: both kinds of failure write the checkpoint along, and the end of a run keeps it.
#[test]
fn a_failure_and_the_end_keep_the_checkpoint() {
    for (how, status) in [("--resumable", "failed_resumable"), ("--terminal", "failed")] {
        let runs = Runs::standing("running");
        runs.wrote(&["fail", how, "--checkpoint", POINTER, "--error", "e", "--code", "TOOL_FAILED_TRANSIENT"]);
        let run = runs.json();
        assert_eq!(
            (&run["status"], &run["failure_code"], &run["outcome_seq"]),
            (&json!(status), &json!("TOOL_FAILED_TRANSIENT"), &json!(1))
        );
        assert_eq!(
            (&run["checkpoint"]["interaction_id"], &run["checkpoint"]["outputs"]["n"]["v"]),
            (&json!(""), &json!(1))
        );
    }
    let runs = Runs::standing("running");
    runs.wrote(&["set-status", "finished"]);
    assert_eq!(runs.record(&["checkpoint", "get", "/outputs/n/v"]).ends(0), "1\n");
    let _ = runs.unchanged(&["fail", "--terminal"], "", 5);
    let _ = runs.unchanged(&["fail"], "", 2);
    let _ = runs.unchanged(&["fail", "--terminal", "--resumable"], "", 2);
}

/// C 45, C 46, C 47, 1.6: the pause pointer, and the mark of a recovery.
#[test]
fn the_pause_pointer_goes_with_the_pause() {
    let runs = Runs::standing("running");
    let recovery =
        POINTER.replace("\"outputs\"", "\"recovery_pause\":true,\"recovery_code\":\"AUTH_FAILED\",\"outputs\"");
    runs.wrote(&["pause", "--checkpoint", &recovery]);
    let paused = runs.text();
    runs.wrote(&["set-status", "cancelled"]);
    assert_eq!(
        (runs.at("/checkpoint/interaction_id"), runs.at("/checkpoint/interaction_questions")),
        (json!(""), json!(null))
    );
    assert_eq!(
        (runs.at("/checkpoint/outputs/n/v"), runs.at("/checkpoint/recovery_code")),
        (json!(1), json!("AUTH_FAILED"))
    );
    runs.0.put("run.json", &paused);
    runs.wrote(&["set-status", "queued"]);
    assert_eq!(
        (runs.at("/checkpoint/interaction_id"), runs.at("/checkpoint/recovery_pause")),
        (json!("i"), json!(true))
    );
    runs.wrote(&["set-status", "running"]);
    assert_eq!(
        (
            runs.at("/checkpoint/interaction_id"),
            runs.at("/checkpoint/recovery_pause"),
            runs.at("/checkpoint/recovery_code")
        ),
        (json!(""), json!(null), json!(null))
    );
    for status in STATUSES {
        let runs = Runs::standing(status);
        let keeps = matches!(status, "queued" | "paused_waiting_human" | "paused_operator");
        let _ = runs.record_with(&["checkpoint", "save"], POINTER).ends(0);
        assert_eq!(runs.at("/checkpoint/interaction_id") == "i", keeps, "{status}");
        let _ = runs.edit(|run| run["checkpoint"] = parse(POINTER)).ends(0);
        assert_eq!(runs.at("/checkpoint/interaction_questions").is_object(), keeps, "{status}");
        assert_eq!(runs.at("/status"), status);
    }
}

/// C 49.
#[test]
fn the_reason_of_an_end_lives_as_long_as_the_end() {
    let runs = Runs::standing("running");
    runs.wrote(&["set-status", "cancelled", "--end-reason", "operator"]);
    assert_eq!(runs.at("/end_reason"), "operator");
    runs.wrote(&["set-status", "running"]);
    assert_eq!(runs.at("/end_reason"), Value::Null);
    runs.wrote(&["set-status", "cancelled"]);
    assert_eq!(runs.at("/end_reason"), Value::Null);
}

/// C 50, 1.2: only running ends the mark of a rewind.
#[test]
fn the_mark_of_a_rewind_goes_when_the_run_runs() {
    let runs = Runs::standing("paused_operator");
    runs.wrote(&["patch", "--set", "resume_requires_explicit=true"]);
    runs.wrote(&["set-status", "queued"]);
    assert_eq!(runs.at("/resume_requires_explicit"), true);
    runs.wrote(&["set-status", "running"]);
    assert_eq!(runs.at("/resume_requires_explicit"), Value::Null);
    let _ = runs.unchanged(&["patch", "--set", "resume_requires_explicit=true"], "", 5);
}

/// D 51, 52: the set of statuses.
#[test]
fn a_status_is_compared_before_it_is_set() {
    let runs = Runs::standing("running");
    let done = runs.unchanged(&["set-status", "finished", "--expect", "failed,queued", "--json"], "", 6);
    assert_eq!(parse(&done.out)["error"]["status"], "running");
    assert_eq!(parse(&done.out)["error"]["revision"], 1);
    let _ = runs.unchanged(&["set-status", "finished", "--expect", ""], "", 2);
    let _ = runs.unchanged(&["set-status", "finished", "--expect", "asleep"], "", 2);
    let _ = runs.unchanged(&["set-status", "finished", "--expect-revision", "2"], "", 6);
    assert_eq!(
        runs.wrote(&["set-status", "finished", "--expect", "queued,running", "--expect-revision", "1"])["changed"],
        true
    );
    for args in [
        &["fail", "--terminal", "--expect", "running"][..],
        &["pause", "--interaction", "i", "--expect", "running"],
        &["patch", "--set", "name=\"x\"", "--expect", "running"],
    ] {
        let _ = runs.unchanged(args, "", 6);
    }
    let _ = runs.unchanged(&["checkpoint", "save", "--expect", "running"], "{}", 6);
}

/// D 53.
#[test]
fn a_status_of_no_run_is_an_error() {
    let runs = Runs::new();
    for args in [
        &["set-status", "failed", "--expect", "running"][..],
        &["set-status", "failed"],
        &["claim-merge"],
        &["fail", "--at-launch"],
    ] {
        let _ = runs.record(args).says(2, "there is no run");
        let _ = runs.record(&[args, &["--run", "none"]].concat()).says(2, "there is no run");
    }
    assert!(!runs.0.path().join("store/runs/none").exists());
    assert!(runs.events().is_empty());
}

/// E 61, 62.
#[test]
fn episodes_are_counted_once_each() {
    let runs = Runs::new();
    runs.wrote(&["create"]);
    let seq = || runs.at("/outcome_seq");
    assert_eq!(seq(), Value::Null);
    runs.wrote(&["set-status", "failed_resumable", "--code", "A"]);
    assert_eq!(seq(), 1);
    runs.wrote(&["set-status", "cancelled"]);
    assert_eq!(seq(), 2);
    runs.wrote(&["set-status", "running"]);
    assert_eq!(seq(), 2);
    runs.wrote(&["set-status", "failed_resumable", "--code", "B"]);
    assert_eq!(seq(), 3);
    let stale = runs.record(&["get"]).ends(0);
    runs.wrote(&["set-status", "failed_resumable", "--continuation", "retry_armed"]);
    assert_eq!(
        (seq(), runs.at("/continuation_state"), runs.at("/failure_code")),
        (json!(3), json!("retry_armed"), json!("B"))
    );
    let _ = runs.unchanged(&["save"], &stale, 6);
    let _ = runs
        .edit(|run| {
            run["outcome_seq"] = 1.into();
            run["continuation_state"] = "final".into();
            run["failure_code"] = "Z".into();
        })
        .ends(0);
    assert_eq!(
        (seq(), runs.at("/continuation_state"), runs.at("/failure_code")),
        (json!(3), json!("retry_armed"), json!("B"))
    );
    let _ = runs.edit(|run| run["status"] = "running".into()).ends(0);
    assert_eq!(
        (seq(), runs.at("/failure_code"), runs.at("/continuation_state")),
        (json!(3), json!(null), json!(null))
    );
    let _ = runs.edit(|run| run["status"] = "finished".into()).ends(0);
    assert_eq!(seq(), 4);
}

/// E 67, 68.
#[test]
fn a_final_outcome_disarms_the_retry() {
    let armed = r#"{"retry_after":"2026-01-01T00:00:00Z","attempts":2,"reason":"window"}"#;
    for (state, left) in [("final", json!({"attempts":2,"reason":"window"})), ("redelivery_pending", parse(armed))]
    {
        let runs = Runs::with(&format!(r#"{{"id":"r","name":"n","status":"running","retry_state":{armed}}}"#));
        runs.wrote(&["set-status", "failed_resumable", "--continuation", state]);
        assert_eq!((runs.at("/continuation_state"), runs.at("/retry_state")), (json!(state), left));
    }
    let runs = Runs::standing("running");
    runs.wrote(&["set-status", "finished", "--continuation", "final"]);
    assert_eq!(runs.at("/retry_state"), Value::Null);
    let _ = runs.unchanged(&["set-status", "finished", "--continuation", "maybe"], "", 2);
}

/// 2.4: `FailQueuedRunIfAttempt`.
#[test]
fn a_lost_delivery_fails_only_the_attempt_it_was() {
    let queued = r#"{"id":"r","name":"n","status":"queued","queued_at":"2026-01-02T00:00:00.5Z","retry_state":{"retry_after":"x","attempts":1}}"#;
    let runs = Runs::with(queued);
    let fail = |time: &'static str| {
        ["fail", "--queued-attempt", time, "--code", "DLQ_PARKED", "--continuation", "final", "--error", "parked"]
    };
    let _ = runs.unchanged(&fail("2026-01-02T00:00:00Z"), "", 6);
    let _ = runs.unchanged(&fail("0001-01-01T00:00:00Z"), "", 2);
    let _ = runs.unchanged(&fail("yesterday"), "", 2);
    runs.wrote(&fail("2026-01-02T00:00:00.5Z"));
    let run = runs.json();
    assert_eq!(
        (&run["status"], &run["failure_code"], &run["continuation_state"], &run["error"]),
        (&json!("failed_resumable"), &json!("DLQ_PARKED"), &json!("final"), &json!("parked"))
    );
    assert_eq!(run["retry_state"], json!({"attempts":1}));
    let _ = runs.unchanged(&fail("2026-01-03T00:00:00Z"), "", 6);
    let runs = Runs::with(r#"{"id":"r","name":"n","status":"queued"}"#);
    runs.wrote(&fail("2026-01-02T00:00:00Z"));
    let runs = Runs::with(r#"{"id":"r","name":"n","status":"queued","queued_at":"lately"}"#);
    let _ = runs.unchanged(&fail("2026-01-02T00:00:00Z"), "", 6);
}

/// 2.4: `FailRunAtLaunch`, once, whatever is run twice.
#[test]
fn a_failed_launch_is_told_once() {
    let runs = Runs::standing("running");
    let args = ["fail", "--at-launch", "--error", "no such model", "--hint", "choose another"];
    let receipt = runs.wrote(&args);
    assert_eq!(
        (&receipt["status"], &receipt["failure_code"], &receipt["event_seq"]),
        (&json!("failed"), &json!("LAUNCH_FAILED"), &json!(0))
    );
    let events = runs.events();
    assert_eq!(events[0]["type"], "run_failed");
    assert_eq!(
        events[0]["data"],
        json!({"error":"no such model","code":"LAUNCH_FAILED","phase":"launch","hint":"choose another","outcome_seq":1})
    );
    let done = runs.unchanged(&args, "", 0);
    assert_eq!((&parse(&done.out)["changed"], runs.events().len()), (&json!(false), 1));
    // The event was not written when the command died: it is made up for.
    runs.0.put("events.jsonl", "");
    let _ = runs.unchanged(&args, "", 0);
    assert_eq!(runs.events().len(), 1);
    runs.0.put("events.jsonl", "");
    let many: Vec<_> = (0..8)
        .map(|_| {
            let mut command = runs.0.program(&[&["run-record"], &args[..]].concat());
            command.stdout(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    many.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    assert_eq!(runs.events().len(), 1, "of many that make up for it one does");
    // The next episode has its own.
    runs.wrote(&["set-status", "queued", "--force", "--no-event"]);
    runs.wrote(&args);
    assert_eq!((runs.events().len(), runs.at("/outcome_seq")), (2, json!(2)));
}

/// An engine that is not ours keeps events out, and so what comes with one; a status alone is not its business.
#[test]
fn no_event_goes_beside_a_strangers_engine() {
    let runs = Runs::standing("running");
    let holder = Holder::of(&runs.0, ".lock");
    let _ = runs.unchanged(&["fail", "--at-launch"], "", 6);
    let _ = runs.unchanged(&["set-status", "queued", "--force"], "", 6);
    assert!(runs.events().is_empty());
    runs.wrote(&["set-status", "paused_operator"]);
    runs.wrote(&["set-status", "finished", "--force", "--while-running"]);
    assert_eq!(runs.events().len(), 1);
    drop(holder);
}

/// No option is passed over where no event is appended.
#[test]
fn what_is_said_of_an_event_needs_one() {
    let runs = Runs::standing("running");
    for option in ["--no-event", "--while-running"] {
        for line in
            [&["set-status", "finished"][..], &["fail", "--terminal"], &["pause", "--interaction", "i"], &["save"]]
        {
            let done = runs.unchanged(&[line, &[option]].concat(), "", 2);
            assert!(done.err.contains("--force"), "{line:?} {option}: {}", done.err);
        }
    }
    runs.wrote(&["fail", "--at-launch", "--no-event"]);
}
