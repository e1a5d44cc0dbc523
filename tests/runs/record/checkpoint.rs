//! The checkpoint: what is left out of it and put back (facts 1.6), and 2.4 `SaveCheckpoint`.

use serde_json::{Value, json};

use super::{Runs, parse};

fn artifact(runs: &Runs, node: &str, version: u32, data: &str) {
    let dir = runs.0.run_dir().join("artifacts").join(node);
    std::fs::create_dir_all(&dir).unwrap();
    crate::sandbox::put(
        &dir.join(format!("{version}.json")),
        format!(r#"{{"run_id":"r","node_id":"{node}","version":{version},"data":{data}}}"#),
    );
}

const FULL: &str = r#"{"node_id":"n","interaction_id":"","outputs":{"inspect":{"summary":"new"},"b":{"v":1}},"loop_counters":null,
"artifact_versions":{"inspect":3},"artifacts":{"now":{"summary":"new"},"then":{"summary":"old"},"odd":{"summary":"lost"},
"unsure":{"summary":"new"},"free":{"x":1}},"artifact_owners":{"now":"inspect","then":"inspect","odd":"inspect","unsure":"inspect"},
"artifacts_known":true,"artifact_revisions":{"now":{"node_id":"inspect","version":2},"then":{"node_id":"inspect","version":1},
"odd":{"node_id":"inspect","version":9},"unsure":{"node_id":"inspect","version":2,"unverified":true}},"artifact_revisions_known":true,"vars":null,
"parallel":{"branches":{"x":{"branch_id":"x","outputs":{"b":{"v":1}},"artifacts":{"p":{"v":1}},"artifact_owners":{"p":"b"}}}}}"#;

/// The rules of compaction, 1 to 5 and 7.
#[test]
fn bodies_that_are_there_twice_are_kept_once() {
    let runs = Runs::standing("running");
    artifact(&runs, "inspect", 1, r#"{"summary":"old"}"#);
    let _ = runs.record_with(&["checkpoint", "save"], FULL).ends(0);
    let stored = runs.at("/checkpoint");
    assert_eq!(stored["artifacts"], json!({"odd":{"summary":"lost"},"unsure":{"summary":"new"},"free":{"x":1}}));
    assert_eq!(
        stored["artifact_revisions"]["then"],
        json!({"node_id":"inspect","version":1,"value_from_revision":true})
    );
    assert_eq!(stored["artifact_revisions"]["now"], json!({"node_id":"inspect","version":2}));
    assert_eq!(stored["parallel"]["branches"]["x"]["artifacts"], json!({"p":{"v":1}}), "branches keep theirs");
    let before = runs.text();
    let mut expanded = parse(&runs.record(&["checkpoint", "get", "--expand"]).ends(0));
    assert_eq!(expanded["artifacts"], parse(FULL)["artifacts"]);
    assert_eq!(runs.text(), before, "reading writes nothing");
    // Saved again it is compact again.
    let _ = runs.record_with(&["checkpoint", "save"], expanded.to_string()).ends(0);
    assert_eq!(runs.at("/checkpoint"), stored);
    // A historical name whose value is the newest again needs no file any more.
    expanded["outputs"]["inspect"] = json!({"summary":"old"});
    let _ = runs.record_with(&["checkpoint", "save"], expanded.to_string()).ends(0);
    assert_eq!(runs.at("/checkpoint/artifact_revisions/then"), json!({"node_id":"inspect","version":1}));
    assert_eq!(runs.at("/checkpoint/artifacts/now"), json!({"summary":"new"}), "version 2 is in no file");
}

/// A body is left out only if the file holds the same; what cannot be put back is named.
#[test]
fn no_body_is_lost() {
    let runs = Runs::standing("running");
    artifact(&runs, "inspect", 1, r#"{"summary":"other"}"#);
    let _ = runs.record_with(&["checkpoint", "save"], FULL).ends(0);
    assert_eq!(runs.at("/checkpoint/artifacts/then"), json!({"summary":"old"}));
    artifact(&runs, "inspect", 1, r#"{"summary":"old"}"#);
    let _ = runs.record_with(&["checkpoint", "save"], FULL).ends(0);
    assert_eq!(runs.at("/checkpoint/artifacts/then"), Value::Null);
    crate::sandbox::put(&runs.0.run_dir().join("artifacts/inspect/1.json"), "{");
    let out = runs.record(&["checkpoint", "get", "--expand"]).says(3, "'then' cannot be rebuilt");
    assert_eq!(parse(&out)["artifacts"]["now"], json!({"summary":"new"}), "the others are there");
    let way_out = FULL.replace(r#""node_id":"inspect","version":1"#, r#""node_id":"../../x","version":1"#);
    let _ = runs.record_with(&["checkpoint", "save"], way_out).ends(0);
    assert_eq!(runs.at("/checkpoint/artifacts/then"), json!({"summary":"old"}));
}

/// Rule 6: an older program's checkpoint.
#[test]
fn without_the_marks_nothing_is_left_out_or_made_up() {
    let runs = Runs::standing("running");
    let old = r#"{"node_id":"n","outputs":{"a":{"v":1},"b":{"v":2}},"artifact_versions":{"a":1}}"#;
    let _ = runs.record_with(&["checkpoint", "save"], old).ends(0);
    let expanded = parse(&runs.record(&["checkpoint", "get", "--expand"]).ends(0));
    assert_eq!(expanded["artifacts"], json!({"a":{"v":1}}));
    assert_eq!(
        (expanded.get("artifact_owners"), expanded.get("artifact_revisions"), expanded.get("artifacts_known")),
        (None, None, None)
    );
    let unmarked = FULL.replace("\"artifacts_known\":true,", "");
    let _ = runs.record_with(&["checkpoint", "save"], unmarked).ends(0);
    assert_eq!(runs.at("/checkpoint/artifacts"), parse(FULL)["artifacts"]);
    let empty = r#"{"node_id":"n","outputs":{"a":{"v":1}},"artifact_versions":{"a":1},"artifacts_known":true}"#;
    let _ = runs.record_with(&["checkpoint", "save"], empty).ends(0);
    let expanded = parse(&runs.record(&["checkpoint", "get", "--expand"]).ends(0));
    assert_eq!(expanded.get("artifacts"), None, "known to be empty");
}

/// 1.6: six members are always there, as the original writes them.
#[test]
fn a_checkpoint_has_its_six_members() {
    let runs = Runs::with(r#"{"id":"r","name":"n","status":"running"}"#);
    assert_eq!(runs.record(&["checkpoint", "get"]).ends(1), "");
    let _ = runs.record_with(&["checkpoint", "save"], r#"{"backend_name":"b"}"#).ends(0);
    assert_eq!(
        runs.record(&["checkpoint", "get", "--json"]).ends(0),
        "{\"node_id\":\"\",\"interaction_id\":\"\",\"outputs\":null,\"loop_counters\":null,\"artifact_versions\":null,\"vars\":null,\"backend_name\":\"b\"}\n"
    );
    assert_eq!((runs.at("/status"), runs.at("/cas_version")), (json!("running"), json!(1)));
    for bad in ["", "[]", "null", "{", r#"{"a":1,"a":2}"#] {
        let _ = runs.unchanged(&["checkpoint", "save"], bad, 2);
    }
    let _ = runs.unchanged(&["checkpoint", "save", "--expect-revision", "9"], "{}", 6);
}
