//! `run-prune`: which runs go, and that the dry run and the real one are the same.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use crate::life::{document, tree};
use crate::sandbox::{Sandbox, put};

/// A run that was last changed on this day of 2020.
fn changed(sandbox: &Sandbox, id: &str, status: &str, day: u32, more: &str) {
    let dir = sandbox.make(id, status, more);
    let text = document(id, status, more).replace("2020-01-01T", &format!("2020-01-{day:02}T"));
    put(&dir.join("run.json"), text);
}

/// The ids that a real run deletes; a dry run before it says the same and changes nothing.
fn pruned(sandbox: &Sandbox, options: &[&str]) -> String {
    let before = tree(&sandbox.store());
    let dry = sandbox.call(&[&["run-prune", "-n"], options].concat());
    assert_eq!(tree(&sandbox.store()), before, "a dry run changes nothing");
    let real = sandbox.call(&[&["run-prune"], options].concat());
    assert_eq!((dry.code, &dry.out), (real.code, &real.out), "{}", real.err);
    real.out.lines().map(|line| line.split('\t').nth(1).unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn status_age_and_number_decide() {
    let sandbox = Sandbox::new();
    std::fs::remove_dir(sandbox.run_dir()).unwrap();
    let statuses =
        ["finished", "failed", "cancelled", "failed_resumable", "running", "queued", "paused_operator", "odd"];
    for (day, status) in (1..).zip(statuses) {
        changed(&sandbox, &format!("{day}-{status}"), status, day, "");
    }
    assert_eq!(pruned(&sandbox, &["--older-than", "0", "--keep-last", "1"]), "1-finished 2-failed");
    assert_eq!(pruned(&sandbox, &["--older-than", "36500d"]), "");
    assert_eq!(pruned(&sandbox, &["--older-than", "1d"]), "3-cancelled");
    assert_eq!(pruned(&sandbox, &["--keep-last", "0", "--status", "failed_resumable"]), "4-failed_resumable");
    assert_eq!(pruned(&sandbox, &["--older-than", "0"]), "");
    sandbox.call(&["run-prune"]).says(2, "--older-than <AGE>|--keep-last <N>");
    sandbox.call(&["run-prune", "--keep-last", "0", "--status", "running"]).says(2, "has not ended");
    sandbox.call(&["run-prune", "--keep-last", "0", "--status", "done"]).says(2, "no status is called 'done'");
}

/// Case 69 of the workspace facts.
#[test]
fn what_cannot_be_read_is_named_and_stays() {
    let sandbox = Sandbox::new();
    changed(&sandbox, "old", "finished", 1, "");
    put(&sandbox.make("torn", "finished", "").join("run.json"), "{\"status\":\"fini");
    put(&sandbox.make("timeless", "finished", "").join("run.json"), "{\"status\":\"finished\"}");
    std::fs::create_dir(sandbox.store().join("runs/bad\u{7}name")).unwrap();
    let before = ["r", "torn", "timeless"].map(|id| tree(&sandbox.dir_of(id)));
    let done = sandbox.call(&["run-prune", "--older-than", "0"]);
    let bare = "run r has no document, at most a history, and stays; 'run-delete --force r' deletes it";
    for named in [bare, "'torn' stays", "'timeless' stays", "name' stays: its name is no run id"] {
        assert!(done.err.contains(named), "{named}: {}", done.err);
    }
    assert_eq!(done.ends(3), "delete\told\tfinished\t2020-01-01T00:00:00Z\t\n");
    assert_eq!(["r", "torn", "timeless"].map(|id| tree(&sandbox.dir_of(id))), before);
    assert_eq!(sandbox.names_of("old"), [".deleted"]);
}

#[test]
fn what_others_need_stays() {
    let sandbox = Sandbox::new();
    std::fs::remove_dir(sandbox.run_dir()).unwrap();
    for id in ["child", "origin", "watched", "acted-on", "free"] {
        changed(&sandbox, id, "finished", 1, "");
    }
    changed(
        &sandbox,
        "parent",
        "paused_operator",
        1,
        ",\"subbot_children\":{\"k\":\"child\"},\"forked_from\":\"origin\"",
    );
    let watches = r#"{"watches":{"a":{"state":"active","target_run_id":"watched"},"b":{"state":"stopped","target_run_id":"free"}}}"#;
    put(&sandbox.store().join("assistant-run-watches.json"), watches);
    put(
        &sandbox.store().join("assistant-missions.json"),
        r#"{"missions":{"m":{"state":"waiting_human","target_run_id":"acted-on","assistant_run_id":"x"}}}"#,
    );
    let done = sandbox.call(&["run-prune", "--older-than", "0", "-n", "-v"]);
    for reason in [
        "child stays: run parent",
        "origin stays: run parent",
        "watched stays: a watch",
        "acted-on stays: a mission",
    ] {
        assert!(done.err.contains(reason), "{reason}: {}", done.err);
    }
    assert_eq!(pruned(&sandbox, &["--older-than", "0"]), "free");
    changed(&sandbox, "parent", "finished", 1, ",\"subbot_children\":{\"k\":\"child\"},\"forked_from\":\"origin\"");
    put(&sandbox.store().join("assistant-missions.json"), "{");
    sandbox.call(&["run-prune", "--older-than", "0"]).says(4, "assistant-missions.json");
    put(&sandbox.store().join("assistant-missions.json"), "{}");
    assert_eq!(pruned(&sandbox, &["--older-than", "0"]), "acted-on child origin parent");
}

#[test]
fn a_run_that_changed_since_or_is_executed_stays() {
    let sandbox = Sandbox::new();
    changed(&sandbox, "r", "finished", 1, "");
    changed(&sandbox, "s", "failed", 1, "");
    let _engine = sandbox.engine("s", &[]);
    let change =
        "sed 's/\"cas_version\": 3/\"cas_version\": 4/' store/runs/r/run.json > x; mv x store/runs/r/run.json";
    let done = sandbox.hooked(&["run-prune", "--older-than", "0"], "prune-run", change);
    assert!(
        done.err.contains("run 'r' has changed since") && done.err.contains("run 's' is being executed"),
        "{}",
        done.err
    );
    assert_eq!(done.ends(3), "");
    assert!(!sandbox.dir_of("s").join(".deleted").exists() && !sandbox.run_dir().join(".deleted").exists());
}

#[test]
fn objects_that_only_they_needed_go_and_the_summary_counts() {
    let sandbox = Sandbox::new();
    changed(&sandbox, "r", "finished", 1, ",\"name\":\"kind-otter\"");
    changed(&sandbox, "s", "running", 1, "");
    let capture = |id: &str, content: &str| {
        let script = format!(
            "mkdir -p p; echo same > p/same; echo {content} > p/own; export WT_RUN={id}; \
             wt-ls-files -C p -z --records | wt-hash-object -C p -w -z --stdin-records | wt-write-manifest -C p -z --label l"
        );
        sandbox.sh(&script).ends(0);
    };
    capture("r", "one");
    capture("s", "two");
    let line = ["run-prune", "--older-than", "0", "--grace", "0", "--json", "--tombstones", "0"];
    sandbox.make("gone", "finished", "");
    sandbox.call(&["run-delete", "gone"]).ends(0);
    put(&sandbox.dir_of("r").join("workspace/snapshots/.iterion-tmp-1-1"), "x");
    let text = [&line[..5], &["--tombstones", "0", "-n"]].concat();
    let before = tree(&sandbox.store());
    let done = sandbox.call(&text);
    assert!(done.err.contains("would remove 1 objects (4 bytes)"), "{}", done.err);
    let (deleted, forgotten) = done.out.split_once('\n').unwrap();
    assert!(deleted.starts_with("delete\tr\t") && forgotten == "forget\tgone\nforget\tr\n", "{}", done.out);
    let young = sandbox.call(&["run-prune", "--older-than", "0", "-n"]);
    assert!(young.err.contains("would remove 0 objects") && young.err.contains("1h and stay"), "{}", young.err);
    let dry = sandbox.call(&[&line[..], &["-n"]].concat()).ends(0);
    assert_eq!(tree(&sandbox.store()), before);
    let out = sandbox.call(&line).ends(0);
    let (dry, out): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(&dry).unwrap(), serde_json::from_str(&out).unwrap());
    let row = &out["pruned"][0];
    assert_eq!((&row["id"], &row["name"], &row["deleted"]), (&"r".into(), &"kind-otter".into(), &true.into()));
    assert_eq!((&dry["pruned"][0]["id"], &dry["pruned"][0]["deleted"]), (&"r".into(), &false.into()));
    assert!(row["age_seconds"].as_u64().unwrap() > 86_400 * 365 && row["timestamp"] == "2020-01-01T00:00:00Z");
    for (member, value) in [
        ("age_field", serde_json::Value::from("updated_at")),
        ("older_than", "0s".into()),
        ("keep_last", 0.into()),
        ("dry_run", false.into()),
        ("scanned", 2.into()),
        ("pruned_count", 1.into()),
        ("skipped_count", 1.into()),
        ("tombstones_reaped", 2.into()),
        ("tombstones", serde_json::json!(["gone", "r"])),
        ("workspace_objects_pruned", 1.into()),
        ("workspace_bytes_reclaimed", 4.into()),
    ] {
        assert_eq!(out[member], value, "{member}");
    }
    assert_eq!(out["statuses"], serde_json::json!(["finished", "failed", "cancelled"]));
    for member in ["tombstones_reaped", "tombstones", "workspace_objects_pruned", "workspace_bytes_reclaimed"] {
        assert_eq!(dry[member], out[member], "{member}");
    }
    assert!(!sandbox.run_dir().exists(), "the tombstone was old enough too");
    // A sweep that cannot read everything removes nothing, and the runs are gone all the same.
    changed(&sandbox, "r", "finished", 1, "");
    put(&sandbox.dir_of("s").join("workspace/snapshots/1-0001.json"), "{");
    let done = sandbox.call(&["run-prune", "--older-than", "0", "--grace", "0"]);
    assert!(done.err.contains("no object was removed"), "{}", done.err);
    assert!(done.ends(3).starts_with("delete\tr\t"));
}

#[test]
fn any_effect_may_fail_or_be_the_last() {
    for fault in ["kill", "ENOSPC", "EIO"] {
        let mut reached = 0;
        for nth in 1.. {
            let sandbox = Sandbox::new();
            changed(&sandbox, "r", "finished", 1, "");
            changed(&sandbox, "s", "running", 1, "");
            let kept = tree(&sandbox.dir_of("s"));
            let line = ["run-prune", "--older-than", "0"];
            let (fired, done) = sandbox.disturbed(&line, nth, fault);
            if !fired {
                done.ends(0);
                break;
            }
            reached = nth;
            // A disk that was full only once may have had room again.
            let is_done = done.code == 0 && sandbox.names_of("r") == [".deleted"];
            assert!(done.code != 0 || fault == "ENOSPC" && is_done, "{fault} at {nth} was not told");
            assert_eq!(tree(&sandbox.dir_of("s")), kept, "{fault} at {nth}");
            sandbox.call(&line).ends(0);
            sandbox.call(&["run-delete", "r"]).ends(0);
            assert_eq!(sandbox.names_of("r"), [".deleted"], "{fault} at {nth}");
        }
        assert!(reached >= 10, "{fault} reached only {reached} effects");
    }
}

/// A history without a document is nothing that went wrong.
#[test]
fn a_history_alone_is_only_mentioned() {
    let sandbox = Sandbox::new();
    let done = sandbox.call(&["run-prune", "--older-than", "0"]);
    assert!(!done.err.contains("warning") && done.err.contains("run-delete --force r"), "{}", done.err);
    done.ends(0).clear();
    let json = sandbox.call(&["run-prune", "--older-than", "0", "--json"]).ends(0);
    assert!(json.contains("\"no_document\":[\"r\"]") && !json.contains("unreadable"), "{json}");
}

#[test]
fn what_stays_because_of_the_grace_is_said() {
    let sandbox = Sandbox::new();
    sandbox.sh("printf 12345 > f; wt-hash-object -w f > x").ends(0);
    for line in
        [&["run-prune", "--older-than", "0"][..], &["wt-prune"], &["wt-prune", "--dry-run", "--grace", "90m"]]
    {
        let done = sandbox.call(line);
        let grace = if line.len() == 4 { "90m" } else { "1h" };
        let said = format!("1 objects (5 bytes) are younger than --grace {grace} and stay");
        assert!(done.err.contains(&said), "{line:?}: {}", done.err);
        done.ends(0).clear();
    }
    let done = sandbox.call(&["run-prune", "--older-than", "0", "--grace", "0"]);
    assert!(!done.err.contains("younger"), "{}", done.err);
    done.ends(0).clear();
}
