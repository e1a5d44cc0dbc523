//! The deployment report: cases Q, each through the commands, and the better rule of facts 10.23 in `run-show`.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, put};

/// A log of `node_finished` events: node and output; the rest as given.
fn log(sandbox: &Sandbox, events: &[(&str, Value)]) {
    let lines = events.iter().enumerate().map(|(seq, (node, output))| {
        let event = match output.get("type") {
            Some(_) => output.clone(),
            None => json!({"type": "node_finished", "node_id": node, "data": {"output": output}}),
        };
        let mut event = event;
        event["seq"] = event.get("seq").cloned().unwrap_or_else(|| seq.into());
        event["timestamp"] = "2026-01-01T00:00:00Z".into();
        event["run_id"] = "r".into();
        format!("{event}\n")
    });
    put(&sandbox.log(), lines.collect::<String>());
}

fn report(events: &[(&str, Value)]) -> Option<Value> {
    let sandbox = Sandbox::new();
    log(&sandbox, events);
    let done = sandbox.run(&["fold", "deployment"]);
    if done.code == 1 {
        assert_eq!(done.out, "");
        return None;
    }
    Some(serde_json::from_str(&done.ends(0)).unwrap())
}

fn delivery() -> (&'static str, Value) {
    (
        "deploy",
        json!({"deployed_url": " https://app ", "deployed": true, "healthy": true, "commit": "own", "notes": " n "}),
    )
}

fn trace(verifiable: bool) -> (&'static str, Value) {
    let output = json!({"verifiable": verifiable, "pushed": true, "image_from_repo": true, "built_from_head": true, "commit": "gate"});
    ("deploy_trace", output)
}

/// Cases 163 and 164.
#[test]
fn delivery_and_trace_from_two_nodes_are_one_report() {
    let report = report(&[delivery(), trace(true)]).unwrap();
    assert_eq!((&report["node_id"], &report["trace"]["node_id"]), (&"deploy".into(), &"deploy_trace".into()));
    assert_eq!(
        (&report["commit"], &report["url"], &report["notes"]),
        (&"gate".into(), &"https://app".into(), &" n ".into())
    );
    let facts = ["verifiable", "pushed", "image_from_repo", "built_from_head"];
    assert!(facts.iter().all(|fact| report["trace"][fact] == true), "{report}");
}

/// Case 165.
#[test]
fn a_gate_that_could_not_look_is_told_from_one_that_found_nothing_wrong() {
    let unsure = report(&[delivery(), trace(false)]).unwrap();
    assert_eq!((&unsure["trace"]["verifiable"], &unsure["trace"]["pushed"]), (&false.into(), &true.into()));
    assert_ne!(unsure, report(&[delivery(), trace(true)]).unwrap());
    let sandbox = Sandbox::new();
    for (event, words) in
        [(trace(false), "cannot be told: the gate could not look"), (trace(true), "healthy; traceable")]
    {
        log(&sandbox, &[delivery(), event]);
        assert!(sandbox.call(&["run-show", "r"]).out.contains(words), "{words}");
    }
    let mut missing = trace(true);
    missing.1["pushed"] = false.into();
    log(&sandbox, &[delivery(), missing]);
    assert!(sandbox.call(&["run-show", "r"]).out.contains("not traceable: its commit is not pushed"));
}

/// Cases 167 and 168: recognised by the presence of the key, whatever its value.
#[test]
fn a_failed_attempt_is_reported_too() {
    let failed =
        report(&[("deploy", json!({"deployed_url": "", "deployed": false, "notes": "no quota"}))]).unwrap();
    assert_eq!(failed, json!({"node_id": "deploy", "deployed": false, "healthy": false, "notes": "no quota"}));
    let odd = report(&[("deploy", json!({"deployed_url": 7, "deployed": "yes"}))]).unwrap();
    assert_eq!(odd, json!({"node_id": "deploy", "deployed": false, "healthy": false}));
}

/// Case 169: what changes run.json does not change the report.
#[test]
fn the_report_outlives_a_change_of_the_document() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    log(&sandbox, &[delivery(), trace(true)]);
    let show = || {
        serde_json::from_str::<Value>(&sandbox.call(&["run-show", "r", "--json"]).ends(0)).unwrap()["deployment"]
            .clone()
    };
    let before = show();
    assert_eq!(before["commit"], "gate");
    sandbox.make("r", "finished", ",\"final_commit\":\"other\"");
    assert_eq!(show(), before);
}

/// Cases 171 and 172.
#[test]
fn a_trace_alone_is_no_deployment() {
    assert_eq!(report(&[trace(true)]), None);
    assert_eq!(report(&[]), None);
    assert_eq!(report(&[("n", json!({"deployed": true, "healthy": true}))]), None);
    let both = report(&[delivery(), ("gate", json!({"verifiable": true}))]).unwrap();
    assert_eq!(both.get("trace"), None, "a gate states one fact at least");
}

/// Case 173: the same events in another order of keys, with other blanks and escapes, are the same report.
#[test]
fn how_an_event_is_written_does_not_matter() {
    let sandbox = Sandbox::new();
    log(&sandbox, &[delivery()]);
    let plain = sandbox.run(&["fold", "deployment"]).ends(0);
    put(
        &sandbox.log(),
        "{ \"data\" : { \"output\" : {\"notes\":\" n \",\"commit\":\"ow\\u006e\",\"healthy\":true,\"deployed\":true , \
         \"deployed_url\":\" https:\\/\\/app \"} }, \"node_id\":\"deploy\", \"type\":\"node_finished\", \"seq\":0 }\n",
    );
    assert_eq!(sandbox.run(&["fold", "deployment"]).out, plain);
}

/// Cases 174 and 175.
#[test]
fn the_last_of_a_group_wins_and_old_numbers_are_ignored() {
    let again = ("deploy", json!({"deployed_url": "two", "deployed": false}));
    let last = report(&[delivery(), again.clone()]).unwrap();
    assert_eq!((&last["url"], &last["deployed"], last.get("commit")), (&"two".into(), &false.into(), None));
    let late = json!({"type": "node_finished", "seq": 0, "node_id": "deploy", "data": {"output": {"deployed_url": "late"}}});
    let sandbox = Sandbox::new();
    log(&sandbox, &[delivery(), ("", late)]);
    let out = sandbox.run(&["fold", "deployment"]).out;
    assert!(out.contains("https://app") && !out.contains("late"), "{out}");
    for nothing in
        [json!({"type": "node_finished", "data": {"output": {"deployed_url": "u"}}}), json!({"type": "x"})]
    {
        assert_eq!(report(&[("", nothing)]), None);
    }
}

/// Facts 10.23: `run-show` does not lend the verdict on one delivery to the next, nor show what was rewound.
#[test]
fn a_trace_belongs_to_the_delivery_before_it() {
    let sandbox = Sandbox::new();
    let show = |events: &[(&str, Value)]| {
        log(&sandbox, events);
        sandbox.call(&["run-show", "r"]).out
    };
    let stale = show(&[delivery(), trace(true), delivery()]);
    assert!(stale.contains("no gate has looked at it") && stale.contains("commit own"), "{stale}");
    let fresh = show(&[trace(false), delivery(), trace(true)]);
    assert!(fresh.contains("healthy; traceable") && fresh.contains("commit gate"), "{fresh}");
    let rewind = json!({"type": "run_rewound", "data": {"dropped_nodes": ["deploy"]}});
    assert!(!show(&[delivery(), ("", rewind)]).contains("DEPLOYMENT"));
}
