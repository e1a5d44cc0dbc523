//! Lists of decisions.

use serde_json::{Value, json};

use super::{FILE, claimed, decisions, finish, with_outcomes};
use crate::sandbox::{Sandbox, run};
use crate::shell::go;

/// Case 71: listed newest first; what is damaged is shown and hides nothing.
#[test]
fn lists_are_newest_first_and_show_what_is_damaged() {
    let sandbox = with_outcomes(3);
    for seq in ["2", "3", "1"] {
        claimed(&sandbox, "a", &["--seq", seq]).as_object().unwrap();
    }
    assert_eq!(listed(&sandbox, &[], 0), ["r 1 claimed 1", "r 3 claimed 1", "r 2 claimed 1"]);
    finish(&sandbox, "a", "1", &["--failed", "first\nsecond"]).ends(0).clear();
    let line = ["run-route", "finish", "--seq", "3", "--owner", "a", "--attempt", "1", "--succeeded"];
    go(&sandbox, &line).ends(0).clear();
    // What is done with a decision does not move it.
    assert_eq!(listed(&sandbox, &[], 0), ["r 1 failed 1", "r 3 succeeded 1", "r 2 claimed 1"]);
    assert_eq!(listed(&sandbox, &["--state", "failed,claimed"], 0), ["r 1 failed 1", "r 2 claimed 1"]);
    assert_eq!(listed(&sandbox, &["--limit", "1"], 0), ["r 1 failed 1"]);
    // All runs: a newer one, one with a decision that is damaged, one with another program's file, one that was deleted.
    for (id, text) in [
        (
            "new",
            decisions(
                r#""1":{"run_id":"new","outcome_seq":1,"state":"claimed","attempts":2,"lease_owner":"b","lease_until":"2200-01-01T00:00:00Z","created_at":"2100-01-01T00:00:00Z"}"#,
            ),
        ),
        (
            "odd",
            decisions(
                r#""1":{"run_id":"odd","outcome_seq":1,"state":"dreamt","attempts":1,"created_at":"2001-01-01T00:00:00Z"},"2":{"run_id":"odd","outcome_seq":2,"state":"failed","attempts":3,"created_at":"2001-01-01T00:00:00Z"}"#,
            ),
        ),
        ("else", r#"[{"outcome_seq":1}]"#.into()),
        ("gone", decisions("")),
    ] {
        let dir = sandbox.path().join("store/runs").join(id);
        std::fs::create_dir_all(&dir).unwrap();
        crate::sandbox::put(&dir.join(FILE), text);
        crate::sandbox::put(&dir.join(if id == "gone" { ".deleted" } else { "run.json" }), "{}");
    }
    let all = listed(&sandbox, &["--all"], 3);
    assert_eq!(
        all,
        [
            "else - damaged",
            "odd 1 damaged",
            "new 1 claimed 2",
            "r 1 failed 1",
            "r 3 succeeded 1",
            "r 2 claimed 1",
            "odd 2 failed 3"
        ]
    );
    assert_eq!(
        listed(&sandbox, &["--all", "--state", "succeeded"], 3),
        ["else - damaged", "odd 1 damaged", "r 3 succeeded 1"]
    );
    let done = go(&sandbox, &["run-route", "list", "--all", "--json"]);
    let rows: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows[0]["damage"].as_str().unwrap().contains("another program"), "{rows:?}");
    assert_eq!((&rows[1]["run_id"], &rows[1]["decision"]), (&json!("odd"), &json!("1")));
    assert_eq!(rows[3]["last_error"], "first\nsecond");
    done.says(3, "state is not claimed, succeeded or failed");
    go(&sandbox, &["run-route", "list", "--run", "gone"]).says(2, "was deleted");
    go(&sandbox, &["run-route", "list", "--run", "none"]).says(2, "there is no run");
    let mut nobody = sandbox.program(&["run-route", "list"]);
    run(std::mem::replace(nobody.env_remove("WT_RUN"), sandbox.other("true"))).says(2, "--all");
}

/// Run, outcome, state and attempts of each row.
fn listed(sandbox: &Sandbox, more: &[&str], code: i32) -> Vec<String> {
    let out = go(sandbox, &[&["run-route", "list"], more].concat()).ends(code);
    out.lines().map(|line| line.split('\t').take(4).collect::<Vec<_>>().join(" ")).collect()
}
