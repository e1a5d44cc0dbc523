//! Facts 9 A and B: making runs, ids, modes, and what a reader sees.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{Runs, parse};
use crate::sandbox::{run, until};

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A 1.
#[test]
fn a_new_run_reads_back() {
    let runs = Runs::new();
    let receipt =
        runs.wrote(&["create", "--workflow", "review", "--inputs", r#"{"scope":"<src>","n":9007199254740993}"#]);
    assert_eq!(receipt, json!({"run":"r","changed":true,"revision":1,"status":"running"}));
    let run = parse(&runs.record(&["get"]).ends(0));
    assert_eq!(run["id"], "r");
    assert_eq!(run["workflow_name"], "review");
    assert_eq!(run["format_version"], 1);
    assert_eq!(run["status"], "running");
    assert_eq!(run["created_at"], run["updated_at"]);
    assert!(
        runs.text().contains("\"scope\": \"\\u003csrc\\u003e\",\n    \"n\": 9007199254740993"),
        "{}",
        runs.text()
    );
    assert!(!runs.text().ends_with('\n'));
}

/// A 1, 1.7: the other variants, each in the first document.
#[test]
fn every_variant_of_creation_is_one_write() {
    let runs = Runs::new();
    runs.wrote(&["create", "--queued", "--file", "/repo/a.bot", "--bot", "b1", "--workflow", "w"]);
    let run = runs.json();
    assert_eq!(
        (&run["status"], &run["file_path"], &run["bot_id"]),
        (&json!("queued"), &json!("/repo/a.bot"), &json!("b1"))
    );
    assert_eq!(run["queued_at"], run["created_at"]);
    let launch = r#"{"source":{"kind":"schedule","schedule_id":"s"},"zz_new":1,"work_dir":"/w"}"#;
    let receipt = runs.wrote(&["create", "--run", "two", "--launch", launch, "--iterion-version", "1.2"]);
    assert_eq!(receipt["revision"], 1);
    let two = parse(&runs.record(&["get", "--run", "two"]).ends(0));
    assert_eq!(
        (&two["source"]["schedule_id"], &two["zz_new"], &two["iterion_version"]),
        (&json!("s"), &json!(1), &json!("1.2"))
    );
    for bad in [r#"{"status":"failed"}"#, r#"{"checkpoint":{}}"#, r#"{"outcome_seq":9}"#, r#"{"a":1,"a":2}"#, "[]"]
    {
        let _ = runs.record(&["create", "--run", "three", "--launch", bad]).ends(2);
    }
    let _ = runs.record(&["create", "--run", "three", "--launch", r#"{"runtime_semantics":"ports-v1"}"#]).ends(5);
    assert!(!runs.0.path().join("store/runs/three").exists());
}

/// A 3, and 1.7: the run of the first stays as it is.
#[test]
fn of_many_that_make_one_run_one_does() {
    let runs = Runs::new();
    let children: Vec<_> = (0..12)
        .map(|number| {
            let mut command = runs.0.program(&["run-record", "create", "--workflow", &number.to_string()]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let codes: Vec<i32> =
        children.into_iter().map(|child| child.wait_with_output().unwrap().status.code().unwrap()).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, 0 | 6)), "{codes:?}");
    let done = runs.unchanged(&["create", "--json"], "", 6);
    let error = parse(&done.out);
    assert_eq!((&error["error"]["revision"], &error["error"]["status"]), (&json!(1), &json!("running")));
}

/// A 5.
#[test]
fn a_child_names_its_parent_from_the_first() {
    let runs = Runs::new();
    runs.wrote(&["create", "--parent", "p", "--parent-node", "n"]);
    assert_eq!(
        (runs.at("/parent_run_id"), runs.at("/parent_node_id"), runs.at("/cas_version")),
        (json!("p"), json!("n"), json!(1))
    );
    let _ = runs.record(&["create", "--run", "c", "--parent", "pc1_x"]).says(5, "family");
}

/// A 7, and 1.11: what is not there and what was deleted.
#[test]
fn a_run_that_is_not_there_is_told() {
    let runs = Runs::new();
    let _ = runs.record(&["get"]).says(2, "there is no run 'r'");
    let _ = runs.record(&["get", "--run", "other"]).says(2, "there is no run 'other'");
    assert!(!runs.0.path().join("store/runs/other").exists());
    runs.0.put(".deleted", "2026-01-01T00:00:00Z\n");
    let _ = runs.record(&["get"]).says(2, "was deleted");
    let _ = runs.record(&["create"]).says(2, "was deleted");
}

/// A 9, A 2, 10.9: unknown members and an unknown status are read; a newer format with a notice, and never written.
#[test]
fn what_is_not_known_is_read() {
    let runs = Runs::with(r#"{"id":"r","name":"n","status":"hibernating","new":{"a":[1]}}"#);
    assert_eq!(parse(&runs.record(&["get"]).ends(0))["new"]["a"][0], 1);
    let _ = runs.unchanged(&["set-status", "running"], "", 5);
    runs.wrote(&["patch", "--set", r#"work_dir="/w""#]);
    assert_eq!(runs.at("/status"), "hibernating");
    let _ = runs.edit(|run| run["work_dir"] = "/x".into()).ends(0);
    assert_eq!((runs.at("/status"), runs.at("/work_dir")), ("hibernating".into(), "/x".into()));
    runs.0.put("run.json", r#"{"format_version":2,"id":"r","name":"n","status":"running"}"#);
    assert_eq!(parse(&runs.record(&["get"]).says(0, "format version 2"))["status"], "running");
    for args in [
        &["set-status", "finished"][..],
        &["patch", "--set", r#"work_dir="/w""#],
        &["pause", "--checkpoint", "{}", "--interaction", "i"],
        &["fail", "--terminal"],
        &["fail", "--at-launch"],
        &["claim-merge"],
    ] {
        let done = runs.unchanged(args, "", 5);
        assert!(done.err.contains("format version 2"), "{}", done.err);
    }
    for version in ["99999999999999999999999", "1e3", "1.5", "\"2\"", "[1]", "true"] {
        runs.0.put("run.json", format!(r#"{{"format_version":{version},"id":"r","name":"n","status":"running"}}"#));
        let _ = runs.record(&["get"]).says(0, "it can be read, not written");
        let _ = runs.unchanged(&["set-status", "finished"], "", 5);
        let _ = runs.unchanged(&["checkpoint", "save"], "{}", 5);
    }
    let _ = runs.unchanged(&["save"], r#"{"format_version":2,"id":"r","status":"running"}"#, 5);
    let _ = runs.unchanged(&["checkpoint", "save"], "{}", 5);
    assert!(runs.events().is_empty());
}

/// A 11, A 13: healed when read, and not on the disk.
#[test]
fn reading_heals_and_writes_nothing() {
    let text = r#"{"id":"r","file_path":"/a.bot","status":"running","failure_code":"X","end_reason":"operator","finished_at":"2026-01-01T00:00:00Z"}"#;
    let runs = Runs::with(text);
    let first = parse(&runs.record(&["get"]).ends(0));
    assert_eq!(first, parse(&runs.record(&["get"]).ends(0)));
    let name = first["name"].as_str().unwrap();
    assert_eq!(name.split('-').count(), 4, "{name}");
    for gone in ["failure_code", "end_reason", "finished_at"] {
        assert_eq!(first.get(gone), None);
    }
    assert_eq!(runs.text(), text);
    assert!(!runs.0.run_dir().join(".write.lock").exists());
    let _ = runs.record(&["create", "--run", "q", "--file", "/a.bot"]).ends(0);
    assert!(
        !parse(&runs.record(&["get", "--run", "q"]).ends(0))["name"].as_str().unwrap().is_empty(),
        "stored at once"
    );
}

/// A 15.
#[test]
fn a_fallback_of_an_older_form_is_read() {
    for (stored, read) in [
        (r#"{"model":"m"}"#, json!([{"model":"m"}])),
        ("null", json!(null)),
        (r#"[{"model":"a"},{"model":"b"}]"#, json!([{"model":"a"},{"model":"b"}])),
    ] {
        let runs = Runs::with(&format!(r#"{{"id":"r","name":"n","status":"running","fallback":{stored}}}"#));
        let run = parse(&runs.record(&["get"]).ends(0));
        assert_eq!(run.get("fallback").cloned().unwrap_or_default(), read, "{stored}");
    }
    for bad in ["7", "\"m\"", "true"] {
        let runs = Runs::with(&format!(r#"{{"id":"r","name":"n","status":"running","fallback":{bad}}}"#));
        let _ = runs.record(&["get"]).says(4, "fallback");
        let _ = runs.unchanged(&["save"], &format!(r#"{{"id":"r","status":"running","fallback":{bad}}}"#), 2);
    }
}

/// A 17; the library's own test looks at a thousand.
#[test]
fn ids_are_made_where_none_is_named() {
    let runs = Runs::new();
    let made: BTreeSet<String> = (0..20)
        .map(|_| parse(&runs.0.sh("run-record create").ends(0))["run"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(made.len(), 20);
    for id in &made {
        assert!(
            id.len() == 36 && id.as_bytes()[14] == b'7' && matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'),
            "{id}"
        );
    }
    let listed = runs.record(&["list", "--ids"]).ends(0);
    assert_eq!(listed.lines().map(str::to_owned).collect::<BTreeSet<_>>(), made);
}

/// B 19.
#[test]
fn an_unsafe_id_leaves_nothing_behind() {
    let runs = Runs::new();
    let before = || std::fs::read_dir(runs.0.path().join("store/runs")).unwrap().count();
    for id in ["../x", "a/b", "a\\b", "..", ".", "", "a\u{1}b", "a\u{7f}", "-x", &"x".repeat(300)] {
        for args in [
            &["create"][..],
            &["get"],
            &["set-status", "running"],
            &["patch", "--set", r#"name="n""#],
            &["pause"],
            &["fail", "--terminal"],
            &["claim-merge"],
            &["delegate", "--fingerprint", "f"],
            &["waits"],
            &["checkpoint", "get"],
        ] {
            let run = format!("--run={id}");
            let _ = runs.record(&[args, &[&run]].concat()).ends(2);
        }
        let run = format!("--run={id}");
        let _ = runs.record_with(&["save", &run], r#"{"id":"r","status":"running"}"#).ends(2);
        let _ = runs.record_with(&["checkpoint", "save", &run], "{}").ends(2);
    }
    for id in ["caf\u{e9}", ".hidden", "a b", "nul", &"x".repeat(129)] {
        let _ = runs.record(&["create", "--run", id]).ends(2);
    }
    for id in ["pc1_", "pc1_x", "pc77_y"] {
        let _ = runs.record(&["create", "--run", id]).ends(5);
        let _ = runs.record_with(&["save", "--run", id], format!(r#"{{"id":"{id}","status":"running"}}"#)).ends(5);
    }
    assert_eq!(before(), 1, "only r is there");
    assert!(!runs.0.path().join("store/x").exists() && !runs.0.path().join("x").exists());
    let _ = runs.record(&["create", "--run", "Mixed"]).ends(0);
    let _ = runs.record(&["create", "--run", "mixed"]).says(5, "only in case");
}

/// B 21.
#[test]
fn everything_is_private() {
    let runs = Runs::new();
    std::fs::set_permissions(runs.0.run_dir(), PermissionsExt::from_mode(0o755)).unwrap();
    runs.wrote(&["create"]);
    assert_eq!((mode(&runs.0.run_dir()), mode(&runs.0.run_dir().join("run.json"))), (0o700, 0o600));
    std::fs::set_permissions(runs.0.run_dir(), PermissionsExt::from_mode(0o755)).unwrap();
    runs.wrote(&["set-status", "failed", "--force"]);
    assert_eq!(mode(&runs.0.run_dir()), 0o700);
    for entry in std::fs::read_dir(runs.0.run_dir()).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
    runs.wrote(&["create", "--run", "new"]);
    assert_eq!(mode(&runs.0.path().join("store/runs/new")), 0o700);
}

/// B 27.
#[test]
fn readers_see_whole_documents_only() {
    let runs = Runs::new();
    runs.wrote(&["create"]);
    runs.0.put(".iterion-tmp-stray", "{\"half\":");
    let path = runs.0.run_dir().join("run.json");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut reads, mut last) = (0, 0);
            while reads < 50 || !done.load(std::sync::atomic::Ordering::SeqCst) {
                let run: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                let revision = run["cas_version"].as_i64().unwrap();
                assert!(revision >= last);
                (reads, last) = (reads + 1, revision);
            }
        });
        for number in 0..50 {
            runs.wrote(&["patch", "--set", &format!(r#"work_dir="/{number}""#)]);
        }
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        reader.join().unwrap();
    });
    until("no temporary file is left", || {
        let names = std::fs::read_dir(runs.0.run_dir()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".iterion-tmp-")).count() == 1
    });
    assert_eq!(runs.at("/cas_version"), 51);
}

/// 1.8 and 10.35.
#[test]
fn the_environment_of_the_launch_is_kept_without_secrets() {
    let runs = Runs::new();
    let mut command = runs.0.program(&["run-record", "create"]);
    command
        .env("ITERION_REGION", "eu")
        .env("ITERION_API_TOKEN", "abc")
        .env("ITERION_PROXY", "http://user:secret@proxy/")
        .env("RESCUE_LEVEL", "2")
        .env("ITERION_EMPTY", "")
        .env("OTHER", "x");
    let _ = run(command).ends(0);
    assert_eq!(
        runs.at("/launch_env"),
        json!({"ITERION_API_TOKEN":"[redacted]","ITERION_PROXY":"[redacted]","ITERION_REGION":"eu","RESCUE_LEVEL":"2"})
    );
    assert!(!runs.text().contains("secret") && !runs.text().contains("abc"));
    let _ = runs.record(&["create", "--run", "plain"]).ends(0);
    assert_eq!(parse(&runs.record(&["get", "--run", "plain"]).ends(0)).get("launch_env"), None);
}

/// `get` with a pointer, and what cannot be read.
#[test]
fn a_pointer_names_a_part() {
    let runs = Runs::with(r#"{"id":"r","name":"n","status":"queued","inputs":{"a/b":[1.50,"x"]}}"#);
    assert_eq!(runs.record(&["get", "/inputs/a~1b/0"]).ends(0), "1.50\n");
    assert_eq!(runs.record(&["get", "/inputs/a~1b/1"]).ends(0), "\"x\"\n");
    assert_eq!(runs.record(&["get", "/inputs/a~1b/1", "--raw"]).ends(0), "x\n");
    assert_eq!(runs.record(&["get", "/inputs", "--json"]).ends(0), "{\"a/b\":[1.50,\"x\"]}\n");
    assert_eq!(runs.record(&["get", "/nothing"]).ends(1), "");
    let _ = runs.record(&["get", "inputs"]).says(2, "begin it with a slash");
    runs.0.put("run.json", r#"{"id":"r","name":"n","status":"queued","a":1,"a":2}"#);
    assert_eq!(runs.record(&["get", "/a"]).says(0, "twice"), "2\n");
    let _ = runs.unchanged(&["set-status", "running"], "", 4);
    for damage in ["", "{", "[]", "{\"id\":\"r\",", "\u{0}\u{0}"] {
        runs.0.put("run.json", damage);
        let _ = runs.record(&["get"]).ends(4);
        let _ = runs.unchanged(&["set-status", "running"], "", 4);
        let _ = runs.unchanged(&["create"], "", 6);
        let _ = runs.unchanged(&["save"], r#"{"id":"r","status":"running"}"#, 4);
    }
}

/// `WT_RUN` is the run that somebody works in; a new one gets an id of its own.
#[test]
fn only_the_option_names_a_new_run() {
    let runs = Runs::new();
    let receipt = parse(&runs.0.sh("WT_RUN=r run-record create").ends(0));
    assert_eq!(receipt["run"].as_str().unwrap().len(), 36, "{receipt}");
    assert!(!runs.0.run_dir().join("run.json").exists());
    assert_eq!(runs.wrote(&["create", "--run", "named"])["run"], "named");
}

/// A run that could not be made leaves no directory behind, and takes none away that was there.
#[test]
fn a_creation_that_fails_leaves_nothing() {
    let mut failed = 0;
    for nth in 1.. {
        let runs = Runs::new();
        let (fired, done) = runs.0.disturbed(&["run-record", "create", "--run", "new"], nth, "ENOSPC");
        if !fired {
            done.ends(0).clear();
            break;
        }
        let dir = runs.0.dir_of("new");
        if done.code != 0 && !dir.join("run.json").exists() {
            failed += 1;
            assert!(!dir.exists(), "at {nth}: {}", done.err);
        }
        let again = Runs::new();
        let (_, done) = again.0.disturbed(&["run-record", "create", "--run", "r"], nth, "ENOSPC");
        assert!(again.0.run_dir().is_dir(), "at {nth}: {}", done.err);
    }
    assert!(failed >= 3, "{failed}");
}
