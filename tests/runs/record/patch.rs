//! Facts 9 O: named setters.

use serde_json::{Value, json};

use super::{Runs, parse};

/// O 153, and 154: waits in a node.
#[test]
fn waits_are_set_only_while_running_and_cleared_always() {
    let runs = Runs::standing("running");
    let live = |token: &str| {
        format!(r#"await_answers_waits={{"{token}":{{"node_id":"n","until":"2099-01-01T00:00:00Z"}}}}"#)
    };
    std::thread::scope(|scope| {
        for token in ["a", "b", "c"] {
            let (runs, set) = (&runs, live(token));
            scope.spawn(move || runs.wrote(&["patch", "--set", &set]));
        }
    });
    assert_eq!(runs.at("/await_answers_waits").as_object().unwrap().len(), 3);
    assert_eq!(parse(&runs.record(&["waits"]).ends(0))["run"], "r");
    runs.wrote(&["patch", "--set", r#"await_answers_waits={"a":null,"c":null}"#]);
    assert_eq!(runs.at("/await_answers_waits").as_object().unwrap().keys().collect::<Vec<_>>(), ["b"]);
    for token in ["", "a.b", "$x", "a\\u0000b"] {
        let _ = runs.unchanged(&["patch", "--set", &live(token)], "", 2);
    }
    for wait in [
        r#"{"node_id":"","until":"2099-01-01T00:00:00Z"}"#,
        r#"{"node_id":"n"}"#,
        r#"{"node_id":"n","until":"soon"}"#,
        "7",
    ] {
        let _ = runs.unchanged(&["patch", "--set", &format!(r#"await_answers_waits={{"t":{wait}}}"#)], "", 2);
    }
    let stale = runs.record(&["get"]).ends(0);
    runs.wrote(&["set-status", "paused_operator"]);
    assert_eq!(runs.at("/await_answers_waits"), Value::Null, "a transition clears them");
    let _ = runs.unchanged(&["save"], &stale, 6);
    let _ = runs.unchanged(&["patch", "--set", &live("d")], "", 5);
    runs.0.put("run.json", r#"{"id":"r","name":"n","status":"failed","await_answers_waits":{"t":{}}}"#);
    runs.wrote(&["patch", "--set", r#"await_answers_waits={"t":null}"#]);
    assert_eq!(runs.json().get("await_answers_waits"), None, "clearing is always allowed");
    // Also the way into running clears what somebody left there; the same status again keeps what is live.
    let left = r#"{"t":{"node_id":"n","until":"2099-01-01T00:00:00Z"}}"#;
    runs.0.put("run.json", format!(r#"{{"id":"r","name":"n","status":"queued","await_answers_waits":{left}}}"#));
    runs.wrote(&["set-status", "running"]);
    assert_eq!(runs.json().get("await_answers_waits"), None);
    runs.wrote(&["patch", "--set", &live("t")]);
    runs.wrote(&["set-status", "running"]);
    assert_eq!(runs.at("/await_answers_waits"), parse(left));
}

/// O 153, 2.11: who blocks.
#[test]
fn a_tree_waits_when_somebody_in_it_does() {
    let runs = Runs::new();
    let put = |id: &str, rest: &str| {
        let dir = runs.0.path().join("store/runs").join(id);
        std::fs::create_dir_all(&dir).unwrap();
        crate::sandbox::put(&dir.join("run.json"), format!(r#"{{"id":"{id}","name":"n",{rest}}}"#));
    };
    let blocking = |code: i32| parse(&runs.record(&["waits"]).ends(code));
    put("r", r#""status":"running","await_answers_waits":{"t":{"node_id":"n","until":"2020-01-01T00:00:00Z"}}"#);
    assert_eq!(blocking(1), json!({"waits":false}), "it has expired");
    put("r", r#""status":"paused_waiting_human","subbot_children":{"k":"c"}"#);
    put("c", r#""status":"running","subbot_children":{"k":"r","l":"d"}"#);
    put("d", r#""status":"finished""#);
    assert_eq!(blocking(1)["waits"], false, "the root's own pause is no evidence, and a circle ends");
    put("d", r#""status":"paused_operator""#);
    assert_eq!(blocking(0)["run"], "d");
    put("d", r#""status":"running","await_answers_waits":{"t":{"node_id":"n","until":"2099-01-01T00:00:00Z"}}"#);
    assert_eq!(blocking(0)["run"], "d");
    put("d", r#""status":"failed","await_answers_waits":{"t":{"node_id":"n","until":"2099-01-01T00:00:00Z"}}"#);
    assert_eq!(blocking(1)["waits"], false, "it does not run");
    put("c", r#""status":"running","subbot_children":{"k":"missing"}"#);
    assert_eq!(blocking(0)["run"], "missing");
    put("c", r#""status":"running","subbot_children":{"k":"../x"}"#);
    assert_eq!(blocking(0)["waits"], true);
    let many: Vec<_> = (0..256).map(|n| format!(r#""k{n}":"c{n}""#)).collect();
    put("c", &format!(r#""status":"running","subbot_children":{{{}}}"#, many.join(",")));
    assert!(blocking(0)["reason"].as_str().unwrap().contains("more than 256"));
    let _ = runs.record(&["waits", "--run", "none"]).ends(2);
}

/// O 155, O 156.
#[test]
fn who_served_a_node_is_the_last_one_whole() {
    let runs = Runs::standing("running");
    let set = |entry: &str| format!("nodes_served={{\"n\":{entry}}}");
    runs.wrote(&["patch", "--set", &set(r#"{"backend":"a","model":"m","fingerprint":"anthropic-oauth","new":1}"#)]);
    assert_eq!(runs.at("/nodes_served/n/fingerprint"), "anthropic-oauth");
    runs.wrote(&["patch", "--set", &set(r#"{"backend":"b","fingerprint":"facade:https://u:pw@host/v1?key=k#f"}"#)]);
    assert_eq!(runs.at("/nodes_served/n"), json!({"backend":"b","fingerprint":"facade:https://host/v1"}));
    let _ = runs.unchanged(&["patch", "--set", r#"nodes_served={"":{"backend":"x"}}"#], "", 0);
    let _ = runs.unchanged(&["patch", "--set", r#"nodes_served={"n":7}"#], "", 2);
    let _ = runs.record(&["patch", "--run", "none", "--set", &set("{}")]).ends(2);
}

/// O 157, 158 are in `list`. O 159.
#[test]
fn corrections_and_cursors_come_back_as_they_were() {
    let runs = Runs::standing("running");
    let episode = r#"{"episode_id":"e","node_id":"n","budget":3,"attempts":1,"status":"active","started_at":"2026-01-01T00:00:00Z","x":{"y":1.0}}"#;
    let cursor = r#"{"watcher_id":"w","progress_sequence":9007199254740993,"last_action":"none"}"#;
    runs.wrote(&[
        "patch",
        "--set",
        &format!("output_corrections={{\"k\":{episode}}}"),
        "--set",
        &format!("watcher_cursors={{\"w\":{cursor}}}"),
    ]);
    assert_eq!(runs.at("/cas_version"), 2, "one write");
    assert_eq!(runs.at("/output_corrections/k"), parse(episode));
    assert!(runs.text().contains("9007199254740993") && runs.text().contains("\"y\": 1.0"));
    runs.wrote(&["patch", "--set", r#"output_corrections={"k":{"episode_id":"e","attempts":2}}"#]);
    assert_eq!(runs.at("/output_corrections/k"), json!({"episode_id":"e","attempts":2,"x":{"y":1.0}}));
    runs.wrote(&["patch", "--set", r#"output_corrections={"k":null}"#]);
    assert_eq!(runs.json().get("output_corrections"), None);
    let history = runs.at("/output_correction_history");
    assert_eq!((&history[0]["episode_id"], history[0]["retired_at"].is_string()), (&json!("e"), true));
    runs.wrote(&["patch", "--set", r#"watcher_cursors={"w":null}"#]);
    assert_eq!(runs.json().get("watcher_cursors"), None);
}

/// 1.3: each member by its rule.
#[test]
fn every_setter_has_its_rule() {
    let runs = Runs::standing("running");
    let set = |setting: &str| runs.wrote(&["patch", "--set", setting]);
    set(r#"loop_overrides={"retry":2}"#);
    set(r#"loop_overrides={"retry":"+3","other":1}"#);
    assert_eq!(runs.at("/loop_overrides"), json!({"retry":5,"other":1}));
    set(r#"budget={"max_tokens":10,"max_duration":"1h","x":1}"#);
    set(r#"budget={"max_cost_usd":1.50}"#);
    assert_eq!(runs.at("/budget"), json!({"max_cost_usd":1.5,"x":1}));
    set(r#"budget_raises={"max_tokens":20}"#);
    set(r#"budget_raises={"max_iterations":4}"#);
    assert_eq!(runs.at("/budget_raises"), json!({"max_tokens":20,"max_iterations":4}));
    set(r#"permission_grants={"n":["a","b"]}"#);
    set(r#"permission_grants={"n":["b","c"],"m":["x"]}"#);
    assert_eq!(runs.at("/permission_grants"), json!({"n":["a","b","c"],"m":["x"]}));
    set(r#"watched_issue_ids=["2","1"]"#);
    set(r#"watched_issue_ids=["1","3","3",""]"#);
    assert_eq!(runs.at("/watched_issue_ids"), json!(["2", "1", "3"]));
    set(r#"llm_idle_since="2026-01-01T00:00:00Z""#);
    set(r#"cred_stamp={"fingerprints":["f2","f1"],"tiers":["pool","byok","pool"]}"#);
    assert_eq!(
        (runs.at("/cred_fingerprints"), runs.at("/credential_tiers")),
        (json!(["f2", "f1"]), json!(["byok", "pool"]))
    );
    assert_eq!(runs.json().get("llm_idle_since"), None);
    set(r#"retry_state={"attempts":2,"retry_after":"2026-01-01T00:00:00Z","code":"X"}"#);
    set(r#"retry_state={"retry_after":null,"last_error":"e"}"#);
    assert_eq!(runs.at("/retry_state"), json!({"code":"X","attempts":2,"last_error":"e"}));
    let _ = runs.unchanged(&["patch", "--set", r#"retry_state={"attempts":1}"#], "", 5);
    set(r#"subbot_children={"k":"child-1"}"#);
    set(r#"subbot_children={"k":null,"l":"child-2"}"#);
    assert_eq!(runs.at("/subbot_children"), json!({"l":"child-2"}));
    set("worktree=true");
    set("worktree=false");
    assert_eq!(runs.json().get("worktree"), None);
    set(r#"final_branch="iterion/run/x""#);
    set("final_branch=null");
    assert_eq!(runs.json().get("final_branch"), None);
    for bad in [
        "budget=7",
        r#"budget={"max_tokens":"many"}"#,
        r#"budget={"max_cost_usd":-1}"#,
        r#"loop_overrides={"l":-1}"#,
        r#"loop_overrides={"l":"3"}"#,
        r#"loop_overrides={"l":"+-3"}"#,
        r#"permission_grants={"n":"a"}"#,
        r#"watched_issue_ids="1""#,
        "watched_issue_ids=[1]",
        r#"cred_stamp={"tiers":["gold"]}"#,
        "retry_state=null",
        r#"retry_state={"attempts":null}"#,
        r#"retry_state={"retry_after":"soon"}"#,
        r#"subbot_children={"k":"../x"}"#,
        r#"started_at="noon""#,
        "work_dir=7",
        "worktree=1",
        "output_corrections=null",
        "name",
        "name=x",
        r#"name="a" "b""#,
        r#"nodes_served={"n":{"a":1,"a":2}}"#,
    ] {
        let _ = runs.unchanged(&["patch", "--set", bad], "", 2);
    }
    for (elsewhere, hint) in [
        ("status", "set-status"),
        ("checkpoint", "checkpoint save"),
        ("merge_status", "claim-merge"),
        ("artifact_index", "files"),
        ("id", "store"),
        ("nonsense", "there are"),
    ] {
        assert!(
            runs.unchanged(&["patch", "--set", &format!("{elsewhere}=1")], "", 2).err.contains(hint),
            "{elsewhere}"
        );
    }
    let _ = runs.unchanged(&["patch"], "", 2);
    let revision = runs.at("/cas_version");
    let _ = runs.unchanged(&["patch", "--set", "worktree=false"], "", 0);
    assert_eq!(runs.at("/cas_version"), revision, "nothing to write");
    assert_eq!(runs.record_with(&["patch", "--set", "work_dir=-"], "\"/piped\"").code, 0);
    assert_eq!(runs.at("/work_dir"), "/piped");
}

/// All of them or none.
#[test]
fn settings_are_one_write_or_none() {
    let runs = Runs::standing("running");
    let _ = runs.unchanged(&["patch", "--set", r#"name="x""#, "--set", "worktree=7"], "", 2);
    let listed = runs.record(&["patch", "--setters"]).ends(0);
    assert!(listed.lines().count() > 20 && listed.contains("nodes_served"), "{listed}");
}
