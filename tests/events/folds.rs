//! Reducers over a log and at the end of a pipe. Section Q of the facts; the letter of section 6 is in the unit tests.

use crate::sandbox::{Sandbox, add};

fn rows(out: &str) -> Vec<serde_json::Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn deploy(sandbox: &Sandbox, node: &str, output: &str) {
    let data = format!("{{\"output\":{output}}}");
    sandbox.run(&["append", "--type", "node_finished", "--node", node, "--data", &data]).ends(0).clear();
}

const TRACE: &str =
    r#"{"verifiable":true,"pushed":true,"image_from_repo":true,"built_from_head":true,"commit":"gate"}"#;

/// Q 163, 165, 167, 171.
#[test]
fn a_deployment_is_one_report_of_delivery_and_trace() {
    let sandbox = Sandbox::new();
    deploy(&sandbox, "deploy_trace", TRACE);
    sandbox.run(&["fold", "deployment"]).ends(1).clear();
    deploy(&sandbox, "deploy", r#"{"deployed_url":"https://a","deployed":true,"healthy":true,"commit":"c"}"#);
    deploy(&sandbox, "deploy_trace", TRACE);
    let report = &rows(&sandbox.run(&["fold", "deployment"]).ends(0))[0];
    assert_eq!((report["node_id"].as_str(), report["commit"].as_str()), (Some("deploy"), Some("gate")));
    assert_eq!(report["trace"]["node_id"], "deploy_trace");
    for fact in ["verifiable", "pushed", "image_from_repo", "built_from_head"] {
        assert_eq!(report["trace"][fact], true, "{fact}");
    }
    deploy(&sandbox, "deploy_trace", r#"{"verifiable":false,"pushed":true}"#);
    let report = &rows(&sandbox.run(&["fold", "deployment"]).ends(0))[0];
    assert_eq!((&report["trace"]["verifiable"], &report["trace"]["pushed"]), (&false.into(), &true.into()));
    let other = Sandbox::new();
    deploy(&other, "deploy", r#"{"deployed_url":"","deployed":false,"notes":" no quota "}"#);
    let report = &rows(&other.run(&["fold", "deployment"]).ends(0))[0];
    assert_eq!((&report["deployed"], &report["notes"]), (&false.into(), &" no quota ".into()));
    assert!(report.get("trace").is_none() && report.get("url").is_none());
}

/// Q 169: what run.json says does not matter here. Q 175: an event that was applied is passed over.
#[test]
fn only_the_events_count_and_each_once() {
    let sandbox = Sandbox::new();
    deploy(&sandbox, "d", r#"{"deployed_url":"one"}"#);
    sandbox.put("run.json", r#"{"format_version":1,"status":"finished"}"#);
    let old = sandbox.log_text().replace("one", "old");
    deploy(&sandbox, "d", r#"{"deployed_url":"two"}"#);
    add(&sandbox.log(), old);
    let done = sandbox.run(&["fold", "deployment"]).says(3, "duplicate-seq");
    assert_eq!(rows(&done)[0]["url"], "two");
}

/// Q 173, in our terms: from a log or from a pipe, the report is the same.
#[test]
fn every_reducer_can_sit_at_the_end_of_a_pipe() {
    let sandbox = Sandbox::new();
    let input = [
        r#"{"type":"run_started","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"type":"node_started","node_id":"a","timestamp":"2026-01-01T00:00:01Z","data":{"iteration":0}}"#,
        r#"{"type":"node_finished","node_id":"a","timestamp":"2026-01-01T00:00:03Z","data":{"_tokens":3,"_cost_usd":0.1,"output":{"deployed_url":"u","_model":"m"}}}"#,
        r#"{"type":"run_paused","timestamp":"2026-01-01T00:00:04Z"}"#,
        r#"{"type":"run_resumed","timestamp":"2026-01-01T00:00:10Z"}"#,
        r#"{"type":"run_finished","timestamp":"2026-01-01T00:00:11Z"}"#,
    ]
    .join("\n");
    sandbox.run_with(&["append", "--stdin"], input).ends(0).clear();
    let log = sandbox.run(&["cat"]).ends(0);
    for name in ["active-time", "deployment", "executions", "costs", "windows"] {
        let direct = sandbox.run(&["fold", name]).ends(0);
        let piped = sandbox.run_with(&["fold", name, "--stdin"], &log).ends(0);
        assert_eq!(direct, piped, "{name}");
        assert!(!direct.is_empty());
    }
    let active = sandbox.run(&["fold", "active-time"]).ends(0);
    assert_eq!(active, "{\"active_ms\":5000,\"source\":\"windows\",\"open\":false}\n");
    let windows = rows(&sandbox.run(&["fold", "windows"]).ends(0));
    let states: Vec<_> =
        windows.iter().map(|row| (row["state"].as_str().unwrap(), row["ms"].as_u64().unwrap())).collect();
    assert_eq!(states, [("executing", 4000), ("stopped", 6000), ("executing", 1000)]);
    // A selection of events is no damaged log.
    let some = sandbox.run(&["cat", "--type", "node_*"]).ends(0);
    let costs = sandbox.run_with(&["fold", "costs", "--stdin"], some).ends(0);
    assert_eq!(rows(&costs)[1]["total"]["tokens"], 3);
    sandbox.run(&["fold", "costs", "--stdin", "--run", "r"]).says(2, "cannot be used with").clear();
}

/// T of section 3.6.
#[test]
fn a_rewind_drops_the_executions_of_its_nodes() {
    let sandbox = Sandbox::new();
    let input = [
        r#"{"type":"node_started","node_id":"a"}"#,
        r#"{"type":"node_finished","node_id":"a"}"#,
        r#"{"type":"node_started","node_id":"b","branch_id":"x","data":{"iteration_path":"l=2"}}"#,
        r#"{"type":"run_rewound","data":{"dropped_nodes":["a"]}}"#,
    ]
    .join("\n");
    sandbox.run_with(&["append", "--stdin"], input).ends(0).clear();
    let left = rows(&sandbox.run(&["fold", "executions"]).ends(0));
    assert_eq!(left.len(), 1);
    assert_eq!((&left[0]["id"], &left[0]["status"]), (&"exec:x:b:l=2".into(), &"running".into()));
}
