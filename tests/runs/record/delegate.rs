//! Workers for failed runs (facts 1.1).

use serde_json::json;

use super::{Runs, STATUSES, parse};

const FAILED: &str = r#"{"id":"r","name":"n","status":"failed","bot_origin":{"kind":"git","repo_url":"u","repo_root":"/secret","connection_id":"c"}}"#;

/// By sha256sum: printf '%s' 'r:episode' | sha256sum | cut -c1-24
const PREFIX: &str = "repair-7a2a5c93b62cc132733ebb81-";

#[test]
fn the_id_follows_from_the_failure_and_the_attempt() {
    let runs = Runs::with(FAILED);
    let dry = parse(&runs.record(&["delegate", "--fingerprint", "episode", "--dry-run"]).ends(0));
    assert_eq!(dry["worker"], format!("{PREFIX}1"));
    assert_eq!(
        dry["delegation"],
        json!({"source_run_id":"r","kind":"run_failure","episode_fingerprint":"episode","attempt":1})
    );
    assert_eq!(dry["bot_origin"], json!({"kind":"git","repo_url":"u"}), "what is of this host stays here");
    let made = parse(&runs.record(&["delegate", "--fingerprint", "episode", "--workflow", "repair"]).ends(0));
    let worker = made["worker"].as_str().unwrap();
    assert_eq!(
        (&dry["worker"], &made["status"], &made["revision"]),
        (&json!(worker), &json!("running"), &json!(1))
    );
    let document = parse(&runs.record(&["get", "--run", worker]).ends(0));
    assert_eq!((&document["delegation"], &document["workflow_name"]), (&dry["delegation"], &json!("repair")));
    assert_eq!(runs.text(), FAILED, "the failed run is not touched");
    let done = runs.record(&["delegate", "--fingerprint", "episode", "--json"]);
    assert_eq!(parse(&done.ends(6))["error"]["worker"], worker);
    let _ = runs.record(&["delegate", "--fingerprint", "other", "--dry-run"]).ends(0);
    let _ = runs.record(&["set-status", "failed", "--run", worker]).ends(0);
    let second = parse(&runs.record(&["delegate", "--fingerprint", "episode", "--queued"]).ends(0));
    assert_eq!((&second["worker"], &second["status"]), (&json!(format!("{PREFIX}2")), &json!("queued")));
}

#[test]
fn only_failures_are_delegated() {
    for status in STATUSES {
        let runs = Runs::standing(status);
        let may = matches!(status, "failed" | "failed_resumable");
        assert_eq!(runs.record(&["delegate", "--fingerprint", "f"]).code, if may { 0 } else { 5 }, "{status}");
    }
    let runs = Runs::with(FAILED);
    let _ = runs.record(&["delegate", "--fingerprint", ""]).ends(2);
    let _ = runs.record(&["delegate", "--fingerprint", "f", "--run", "none"]).ends(2);
}

/// Replicas that race for one failure make one worker.
#[test]
fn of_many_that_delegate_one_makes_the_worker() {
    let runs = Runs::with(FAILED);
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = runs.0.program(&["run-record", "delegate", "--fingerprint", "episode"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let codes: Vec<_> =
        children.into_iter().map(|child| child.wait_with_output().unwrap().status.code().unwrap()).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, 0 | 6)), "{codes:?}");
    assert_eq!(runs.record(&["list", "--ids"]).ends(0), format!("r\n{PREFIX}1\n"));
}

/// An earlier worker that nobody can read may be at it; one that was deleted has had its attempt.
#[test]
fn an_earlier_worker_counts_whatever_became_of_it() {
    let runs = Runs::with(FAILED);
    let dir = runs.0.path().join("store/runs").join(format!("{PREFIX}3"));
    std::fs::create_dir_all(&dir).unwrap();
    let dry = |code: i32| runs.record(&["delegate", "--fingerprint", "episode", "--dry-run"]).ends(code);
    assert_eq!(parse(&dry(0))["delegation"]["attempt"], 1, "a directory without a document is no run");
    crate::sandbox::put(&dir.join(".deleted"), "2026-01-01T00:00:00Z\n");
    assert_eq!(parse(&dry(0))["delegation"]["attempt"], 4);
    std::fs::rename(dir.join(".deleted"), dir.join("run.json")).unwrap();
    dry(4);
    crate::sandbox::put(&dir.join("run.json"), r#"{"id":"x","status":"hibernating"}"#);
    dry(6);
}
