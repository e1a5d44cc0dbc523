//! Facts 9 F: the claim on a merge.

use serde_json::{Value, json};

use super::{Runs, parse};

fn merging(rest: &str) -> Runs {
    Runs::with(&format!(
        r#"{{"id":"r","name":"n","status":"finished","merge_status":"merging"{rest},"cas_version":1}}"#
    ))
}

/// F 73, F 74.
#[test]
fn a_live_claim_is_respected_and_a_stale_one_taken_over() {
    let runs = Runs::standing("finished");
    let token = runs.wrote(&["claim-merge"])["token"].as_str().unwrap().to_owned();
    assert_eq!((runs.at("/merge_status"), runs.at("/merge_claimed_at")), (json!("merging"), json!(token)));
    let done = runs.unchanged(&["claim-merge", "--json"], "", 6);
    assert_eq!(parse(&done.out)["error"]["revision"], 2);
    let _ = runs.unchanged(&["claim-merge", "--stale-before", &token], "", 6);
    let next = runs.wrote(&["claim-merge", "--stale-before", "2200-01-01T00:00:00Z"])["token"]
        .as_str()
        .unwrap()
        .to_owned();
    // Not by their texts: zeros at the end are trimmed.
    let ns = |text: &str| workspacetrack::clock::parse_rfc3339(text).unwrap();
    assert!(ns(&next) > ns(&token), "{next} {token}");
    // The clock of the one before was ahead: the new token is later all the same.
    let runs = merging(r#","merge_claimed_at":"2150-01-01T00:00:00.5Z""#);
    let token = runs.wrote(&["claim-merge", "--stale-before", "2200-01-01T00:00:00Z"])["token"].clone();
    assert_eq!(token, "2150-01-01T00:00:00.501Z");
    for rest in ["", r#","merge_claimed_at":"0001-01-01T00:00:00Z""#, r#","merge_claimed_at":null"#] {
        assert_eq!(merging(rest).wrote(&["claim-merge"])["changed"], true, "{rest}");
    }
    let _ = merging(r#","merge_claimed_at":"lately""#).unchanged(
        &["claim-merge", "--stale-before", "2200-01-01T00:00:00Z"],
        "",
        6,
    );
    let _ = runs.unchanged(&["claim-merge", "--stale-before", "then"], "", 2);
}

/// F 75, F 76.
#[test]
fn only_what_is_not_merged_is_claimed() {
    for (status, may) in [
        ("", true),
        ("pending", true),
        ("failed", true),
        ("skipped", true),
        ("conflicted", true),
        ("merged", false),
        ("odd", false),
    ] {
        let runs = Runs::with(&format!(r#"{{"id":"r","name":"n","status":"finished","merge_status":"{status}"}}"#));
        let done = runs.record(&["claim-merge", "--stale-before", "2200-01-01T00:00:00Z"]);
        assert_eq!(done.code, if may { 0 } else { 6 }, "{status}");
    }
    let runs = Runs::standing("finished");
    let children: Vec<_> = (0..6)
        .map(|_| {
            runs.0
                .program(&["run-record", "claim-merge"])
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let won =
        children.into_iter().filter_map(|mut child| child.wait().unwrap().code()).filter(|code| *code == 0).count();
    assert_eq!(won, 1);
}

/// F 77.
#[test]
fn a_save_from_an_older_copy_keeps_the_claim() {
    let runs = Runs::standing("running");
    let copy = runs.record(&["get"]).ends(0);
    let token = runs.wrote(&["claim-merge"])["token"].clone();
    let mut document = parse(&copy);
    document["cas_version"] = 2.into();
    document["merge_status"] = "pending".into();
    let _ = runs.record_with(&["save"], document.to_string()).ends(0);
    assert_eq!((runs.at("/merge_status"), runs.at("/merge_claimed_at")), (json!("merging"), token));
}

/// 2.8: what came of it.
#[test]
fn the_end_of_a_merge_lets_the_claim_go() {
    let runs = Runs::with(
        r#"{"id":"r","name":"n","status":"finished","merged_into":"old","pending_merge_message":"m","auto_merge":true}"#,
    );
    let token = runs.wrote(&["claim-merge"])["token"].as_str().unwrap().to_owned();
    let _ = runs.unchanged(&["update-merge", "merged", "--token", "2020-01-01T00:00:00Z"], "", 6);
    let _ = runs.unchanged(&["update-merge", "merged", "--expect", "pending,failed"], "", 6);
    for bad in [
        &["update-merge", "merging"][..],
        &["update-merge", "done"],
        &["update-merge", "merged", "--expect", "odd"],
        &["update-merge", "merged", "--token", "x"],
    ] {
        let _ = runs.unchanged(bad, "", 2);
    }
    runs.wrote(&[
        "update-merge",
        "merged",
        "--token",
        &token,
        "--merged-into",
        "main",
        "--merged-commit",
        "c",
        "--strategy",
        "squash",
    ]);
    let run = runs.json();
    assert_eq!(
        (
            &run["merge_status"],
            &run["merged_into"],
            &run["merged_commit"],
            &run["merge_strategy"],
            &run["auto_merge"]
        ),
        (&json!("merged"), &json!("main"), &json!("c"), &json!("squash"), &json!(true))
    );
    assert_eq!(
        (run.get("merge_claimed_at"), run.get("pending_merge_message")),
        (None, None),
        "all of it was written"
    );
    let runs = Runs::standing("finished");
    runs.wrote(&["update-merge", "conflicted", "--expect", "", "--pending-message", "m", "--pending-into", "main"]);
    assert_eq!((runs.at("/pending_merge_into"), runs.at("/merge_claimed_at")), (json!("main"), Value::Null));
    let _ = runs.record(&["update-merge", "merged", "--run", "none"]).ends(2);
}
