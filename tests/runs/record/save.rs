//! Facts 9 D 55-59, E 63-69 and T: whole documents, stale copies, and what survives them.

use serde_json::{Value, json};

use super::{Runs, parse};

/// D 55.
#[test]
fn a_copy_from_before_a_cancel_does_not_undo_it() {
    let runs = Runs::standing("running");
    let copy = runs.record(&["get"]).ends(0);
    runs.wrote(&["set-status", "cancelled", "--end-reason", "operator"]);
    let done = runs.unchanged(&["save", "--json"], &copy, 6);
    let error = &parse(&done.out)["error"];
    assert_eq!(
        (&error["code"], &error["revision"], &error["status"]),
        (&json!("conflict"), &json!(2), &json!("cancelled"))
    );
}

/// D 57, D 58: the first of two wins, and may go on with what it was told.
#[test]
fn of_two_copies_the_first_wins() {
    let runs = Runs::standing("running");
    let mut copy = parse(&runs.record(&["get"]).ends(0));
    copy["work_dir"] = "/a".into();
    let receipt = parse(&runs.record_with(&["save"], copy.to_string()).ends(0));
    let _ = runs.unchanged(&["save"], &copy.to_string(), 6);
    copy["cas_version"] = receipt["revision"].clone();
    copy["work_dir"] = "/b".into();
    let _ = runs.record_with(&["save"], copy.to_string()).ends(0);
    assert_eq!((runs.at("/work_dir"), runs.at("/cas_version")), (json!("/b"), json!(3)));
}

/// D 59.
#[test]
fn a_document_without_a_revision_gets_one() {
    for stored in [
        r#"{"id":"r","name":"n","status":"running"}"#,
        r#"{"id":"r","name":"n","status":"running","cas_version":0}"#,
    ] {
        let runs = Runs::with(stored);
        let _ = runs.record_with(&["save"], stored).ends(0);
        assert_eq!(runs.at("/cas_version"), 1);
        assert!(runs.at("/updated_at").is_string());
        let _ = runs.unchanged(&["save"], stored, 6);
    }
}

/// E 63.
#[test]
fn a_save_to_running_clears_the_cause() {
    let runs = Runs::with(
        r#"{"id":"r","name":"n","status":"failed_resumable","failure_code":"X","end_reason":"e","error":"text","continuation_state":"final","outcome_seq":3,"finished_at":"2026-01-01T00:00:00Z"}"#,
    );
    let _ = runs.edit(|run| run["status"] = "running".into()).ends(0);
    let run = runs.json();
    for gone in ["failure_code", "continuation_state", "end_reason", "finished_at", "error"] {
        assert_eq!(run.get(gone), None, "{gone}");
    }
    assert_eq!(run["outcome_seq"], 3);
    let _ = runs
        .edit(|run| {
            run["status"] = "cancelled".into();
            run["failure_code"] = "INTERRUPTED".into();
            run["outcome_seq"] = 99.into();
        })
        .ends(0);
    assert_eq!(
        (runs.at("/failure_code"), runs.at("/outcome_seq")),
        (json!("INTERRUPTED"), json!(4)),
        "its own code lands"
    );
    assert!(runs.at("/finished_at").is_string());
}

/// E 65.
#[test]
fn a_run_born_through_a_save_has_no_episode() {
    let runs = Runs::new();
    let born = r#"{"id":"r","status":"failed","failure_code":"X","outcome_seq":7,"continuation_state":"final","new":{"a":1},"checkpoint":{"node_id":"n","interaction_id":"i","interaction_questions":{}},"await_answers_waits":{"t":{}}}"#;
    let receipt = parse(&runs.record_with(&["save"], born).ends(0));
    assert_eq!((&receipt["revision"], &receipt["status"]), (&json!(1), &json!("failed")));
    let run = runs.json();
    assert_eq!(
        (run.get("outcome_seq"), run.get("continuation_state"), run.get("await_answers_waits")),
        (None, None, None)
    );
    assert_eq!(
        (&run["failure_code"], &run["new"]["a"], &run["format_version"]),
        (&json!("X"), &json!(1), &json!(1))
    );
    assert_eq!(
        (&run["checkpoint"]["interaction_id"], run["checkpoint"].get("interaction_questions")),
        (&json!(""), None)
    );
    let _ = runs.record_with(&["save", "--run", "s"], r#"{"id":"s","status":"running","cas_version":4}"#).ends(6);
    let _ = runs.record_with(&["save", "--run", "s"], r#"{"id":"t","status":"running"}"#).ends(2);
    let _ = runs.record_with(&["save", "--run", "s"], r#"{"id":"s","status":"asleep"}"#).ends(2);
    let _ = runs.record_with(&["save", "--run", "s"], r#"{"id":"s","status":"running","a":1,"a":2}"#).ends(2);
    let _ = runs.record_with(&["save", "--run", "s"], r#"{"id":"s","status":"running","port_launch":{}}"#).ends(5);
    assert!(!runs.0.path().join("store/runs/s").exists());
}

/// What the original hashes of this policy, written out by hand.
const POLICY: &str = r#"{"version":1,"success_when":"a \u0026\u0026 b","block_when":["c","é"],"merge_into":"main","merge_strategy":"squash","allowed_actions":["merge","resume"],"max_relaunches":2"#;

fn hash_of(tail: &str) -> String {
    use sha2::Digest;
    let digest: [u8; 32] = sha2::Sha256::digest(format!("{POLICY}{tail}")).into();
    hex::encode(digest)
}

fn policy() -> Value {
    let mut policy = parse(&format!("{POLICY}}}"));
    policy["allowed_actions"] = json!(["resume", "merge"]);
    policy["hash"] = hash_of(r#","hash":""}"#).into();
    policy
}

/// E 69.
#[test]
fn a_routing_policy_stays_once_it_is_there() {
    let first = policy();
    for (status, accepted) in [("queued", true), ("running", true), ("finished", false), ("paused_operator", false)]
    {
        let runs = Runs::standing(status);
        let _ = runs.edit(|run| run["routing_policy"] = first.clone()).ends(0);
        assert_eq!(runs.at("/routing_policy"), if accepted { first.clone() } else { Value::Null }, "{status}");
        if accepted {
            let _ = runs.edit(|run| run["routing_policy"] = json!({"version":2})).ends(0);
            assert_eq!(runs.at("/routing_policy"), first);
            let _ = runs.edit(|run| drop(run.as_object_mut().unwrap().remove("routing_policy"))).ends(0);
            assert_eq!(runs.at("/routing_policy"), first);
        }
    }
}

/// Facts 1.3: the hash of a policy is made where it is missing, and a wrong one is refused before it stays for ever.
#[test]
fn the_hash_of_a_routing_policy_is_made_and_checked() {
    let made = hash_of(r#","hash":""}"#);
    for (hash, code) in [
        (None, 0),
        (Some(String::new()), 0),
        (Some(made.clone()), 0),
        // Whether the original leaves an empty hash out is not known.
        (Some(hash_of("}")), 0),
        (Some("0".repeat(64)), 2),
        (Some(made.to_uppercase()), 2),
    ] {
        let mut policy = policy();
        match &hash {
            None => drop(policy.as_object_mut().unwrap().remove("hash")),
            Some(hash) => policy["hash"] = hash.as_str().into(),
        }
        let kept = hash.filter(|hash| !hash.is_empty()).unwrap_or_else(|| made.clone());
        let runs = Runs::standing("running");
        let before = runs.text();
        let _ = runs.edit(|run| run["routing_policy"] = policy.clone()).ends(code);
        if code == 0 {
            assert_eq!(runs.at("/routing_policy/hash"), kept.as_str());
            assert_eq!(runs.at("/routing_policy/allowed_actions"), json!(["resume", "merge"]));
        } else {
            assert_eq!(runs.text(), before);
        }
        let launch = json!({"routing_policy": policy}).to_string();
        let runs = Runs::new();
        let _ = runs.record(&["create", "--launch", &launch]).ends(code);
        let born = json!({"id":"s","status":"queued","routing_policy": policy}).to_string();
        let _ = runs.record_with(&["save", "--run", "s"], born).ends(code);
        if code == 0 {
            assert_eq!(runs.at("/routing_policy/hash"), kept.as_str());
        }
    }
    // How a later version is hashed is not known here, so nothing is refused and nothing made up.
    for hash in [json!("by another rule"), Value::Null] {
        let later = json!({"version": 2, "hash": hash, "later": 1});
        let runs = Runs::standing("running");
        let _ = runs.edit(|run| run["routing_policy"] = later.clone()).ends(0);
        assert_eq!(runs.at("/routing_policy"), later);
    }
    // What a newer program adds is hashed with the rest, or not at all: both may be.
    let longer = hash_of(r#","later":{"x":1},"hash":""}"#);
    for hash in [longer, made] {
        let mut policy = policy();
        policy["later"] = json!({"x":1});
        policy["hash"] = hash.into();
        let runs = Runs::standing("running");
        let _ = runs.edit(|run| run["routing_policy"] = policy).ends(0);
        assert_eq!(runs.at("/routing_policy/later"), json!({"x":1}));
    }
}

/// E 64, 10.6: the graph holds for whole documents as well.
#[test]
fn a_save_follows_the_graph() {
    let runs = Runs::standing("finished");
    let mut document = parse(&runs.record(&["get"]).ends(0));
    document["status"] = "running".into();
    let _ = runs.unchanged(&["save"], &document.to_string(), 5);
    let _ = runs.record_with(&["save", "--force"], document.to_string()).ends(0);
    assert_eq!(runs.events()[0]["data"], json!({"from":"finished","to":"running","revision":1}));
    let _ = runs.unchanged(&["save"], r#"{"id":"r","status":"asleep","cas_version":2}"#, 2);
    let _ = runs.unchanged(&["save"], r#"{"id":"q","status":"running","cas_version":2}"#, 2);
    let _ = runs.unchanged(&["save"], r#"{"id":"r","status":"running","cas_version":"2"}"#, 2);
    let _ = runs.unchanged(&["save"], r#"{"id":"r","status":"running","cas_version":2,"checkpoint":7}"#, 2);
}

/// 2.5.3, 1.6: only a deletion and a rewind take a checkpoint away.
#[test]
fn a_checkpoint_outlives_a_document_without_one() {
    let runs = Runs::standing("failed");
    let before = runs.at("/checkpoint");
    let _ = runs.edit(|run| drop(run.as_object_mut().unwrap().remove("checkpoint"))).ends(0);
    let _ = runs.edit(|run| run["checkpoint"] = Value::Null).ends(0);
    assert_eq!(runs.at("/checkpoint"), before);
}

const EXTENDED: &str = r#"{"id":"r","name":"n","status":"running","x_top":{"deep":[1,{"y":2.50}]},"budget":{"max_tokens":5,"x_b":1},
"checkpoint":{"node_id":"n","x_c":"<c>","outputs":{"a":{"keep":1,"gone":2}},
"selected_incoming":{"g":[{"from":"a","to":"g","x":"A"},{"from":"b","to":"g","x":"B"}]},
"parallel":{"x_p":1,"branches":{"b1":{"branch_id":"b1","x":1},"b2":{"branch_id":"b2","x":2}}}},"inputs":{"deep":{"x":1}},"cas_version":1}"#;

/// An older writer: it knows what the facts know, and drops everything else.
fn older(document: &Value) -> Value {
    let mut document = document.clone();
    document.as_object_mut().unwrap().remove("x_top");
    for (path, key) in [("/budget", "x_b"), ("/checkpoint", "x_c"), ("/checkpoint/parallel", "x_p")] {
        document.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(key);
    }
    for path in [
        "/checkpoint/selected_incoming/g/0",
        "/checkpoint/selected_incoming/g/1",
        "/checkpoint/parallel/branches/b1",
        "/checkpoint/parallel/branches/b2",
    ] {
        document.pointer_mut(path).unwrap().as_object_mut().unwrap().remove("x");
    }
    document
}

/// T 197, T 198, T 201.
#[test]
fn an_older_writer_loses_nothing() {
    let runs = Runs::with(EXTENDED);
    let mut document = older(&runs.json());
    document["checkpoint"]["selected_incoming"]["g"].as_array_mut().unwrap().reverse();
    let _ = runs.record_with(&["save"], document.to_string()).ends(0);
    let run = runs.json();
    assert_eq!(run["x_top"], json!({"deep":[1,{"y":2.5}]}));
    assert!(
        runs.text().contains("\"y\": 2.50") && runs.text().contains("\"x_c\": \"\\u003cc\\u003e\""),
        "as it was written"
    );
    assert_eq!((&run["budget"]["x_b"], &run["checkpoint"]["parallel"]["x_p"]), (&json!(1), &json!(1)));
    assert_eq!(
        run["checkpoint"]["selected_incoming"]["g"],
        json!([{"from":"b","to":"g","x":"B"},{"from":"a","to":"g","x":"A"}])
    );
    let _ = runs.unchanged(&["save"], &document.to_string(), 6);
    // The same rules hold for a checkpoint alone.
    let mut checkpoint = older(&runs.json())["checkpoint"].clone();
    checkpoint["node_id"] = "m".into();
    let _ = runs.record_with(&["checkpoint", "save"], checkpoint.to_string()).ends(0);
    let after = runs.json();
    assert_eq!((&after["checkpoint"]["x_c"], &after["checkpoint"]["node_id"]), (&json!("<c>"), &json!("m")));
    assert_eq!(after["checkpoint"]["parallel"], run["checkpoint"]["parallel"]);
}

/// T 199, T 200.
#[test]
fn what_is_deleted_takes_its_extensions_along() {
    let runs = Runs::with(EXTENDED);
    let mut document = older(&runs.json());
    document["checkpoint"]["parallel"]["branches"].as_object_mut().unwrap().remove("b1");
    document["checkpoint"]["selected_incoming"]["g"][0]["condition"] = "changed".into();
    document.as_object_mut().unwrap().remove("budget");
    let _ = runs.record_with(&["save"], document.to_string()).ends(0);
    let run = runs.json();
    assert_eq!(run["checkpoint"]["parallel"]["branches"], json!({"b2":{"branch_id":"b2","x":2}}));
    assert_eq!(run["checkpoint"]["selected_incoming"]["g"][0], json!({"from":"a","to":"g","condition":"changed"}));
    assert_eq!(run.get("budget"), None);
}

/// T 203, T 202 and rule 8.5: payloads are taken literally.
#[test]
fn payloads_are_exactly_what_was_submitted() {
    let runs = Runs::with(EXTENDED);
    let mut document = older(&runs.json());
    document["inputs"] = json!({"$set":{"a.b":"$where"},"deep":{}});
    document["checkpoint"]["outputs"] = json!({"a":{"keep":1}});
    let _ = runs.record_with(&["save"], document.to_string()).ends(0);
    assert_eq!(runs.at("/inputs"), document["inputs"]);
    assert_eq!(runs.at("/checkpoint/outputs"), json!({"a":{"keep":1}}));
}

/// A document that says it is another run's is not written, by whatever writer, and a person is told.
#[test]
fn a_document_of_another_run_is_left_alone() {
    let runs = Runs::with(r#"{"id":"q","name":"n","status":"running"}"#);
    let _ = runs.unchanged(&["set-status", "finished"], "", 4);
    let _ = runs.unchanged(&["save"], r#"{"id":"r","status":"running"}"#, 4);
    let before = runs.text();
    let call = |line: &[&str]| crate::sandbox::run(runs.0.program(line));
    let _ = call(&["run-artifact", "write", "n", "{}"]).says(3, "says that it is run 'q'");
    let _ = call(&["run-reconcile"]).says(4, "says that it is run 'q'");
    let shown = call(&["run-show", "r"]).ends(3);
    assert!(shown.contains("says that it is run 'q'"), "{shown}");
    assert_eq!(runs.text(), before);
    assert!(runs.events().is_empty());
}
