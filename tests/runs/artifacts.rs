//! `run-artifact` (facts 4.1, cases H and B).

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::sandbox::Sandbox;
use crate::shell::{events, feed, go, json, paths, stored, with_status};

/// H 99.
#[test]
fn what_is_written_is_read() {
    let sandbox = with_status("running");
    let contract = r#"{"logical_ref":"a/b","version":0}"#;
    let receipt = json(
        &sandbox,
        &[
            "run-artifact",
            "write",
            "plan",
            r#"{"n":9007199254740993,"t":"<"}"#,
            "--label",
            "a",
            "--label",
            "b",
            "--contract",
            contract,
        ],
    );
    assert_eq!((&receipt["version"], &receipt["new"]), (&json!(0), &json!(true)));
    let text = go(&sandbox, &["run-artifact", "read", "plan", "0"]).ends(0);
    let written_at = receipt["written_at"].as_str().unwrap();
    let expected = format!(
        "{{\n  \"run_id\": \"r\",\n  \"node_id\": \"plan\",\n  \"version\": 0,\n  \"data\": {{\n    \"n\": 9007199254740993,\n    \"t\": \"\\u003c\"\n  }},\n  \"labels\": [\n    \"a\",\n    \"b\"\n  ],\n  \"contract\": {{\n    \"logical_ref\": \"a/b\",\n    \"version\": 0\n  }},\n  \"written_at\": \"{written_at}\"\n}}\n"
    );
    assert_eq!(text, expected);
    assert!(written_at.ends_with('Z') && written_at.starts_with("20"));
    assert_eq!(go(&sandbox, &["run-artifact", "read", "plan", "0", "/data/n"]).ends(0), "9007199254740993\n");
    assert_eq!(go(&sandbox, &["run-artifact", "labels", "plan"]).ends(0), "a\nb\n");
    assert!(events(&sandbox, "*").is_empty(), "only a publication is told");
    let run = std::fs::read(sandbox.run_dir().join("run.json")).unwrap();
    let run = String::from_utf8(run).unwrap();
    assert!(run.contains("\"zz\": 9007199254740993,\n  \"artifact_index\": {\n    \"plan\": 0\n  }\n}"), "{run}");
    assert!(run.contains("\"cas_version\": 4"), "{run}");
}

/// H 101, 103.
#[test]
fn versions_go_by_number() {
    let sandbox = with_status("running");
    for version in ["3", "1", "2", "10"] {
        let data = format!("{{\"v\":{version}}}");
        json(&sandbox, &["run-artifact", "write", "n", &data, "--version", version]);
        if version == "2" {
            assert_eq!(stored(&sandbox, "run.json")["artifact_index"]["n"], 3);
            assert_eq!(go(&sandbox, &["run-artifact", "latest", "n", "/data/v"]).ends(0), "3\n");
        }
    }
    let list = go(&sandbox, &["run-artifact", "list", "n", "--json"]).ends(0);
    let versions: Vec<_> = list
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["version"].clone())
        .collect();
    assert_eq!(versions, [1, 2, 3, 10]);
    assert_eq!(go(&sandbox, &["run-artifact", "list", "other"]).ends(0), "");
    assert_eq!(json(&sandbox, &["run-artifact", "write", "n", "{}"])["version"], 11);
}

/// H 105.
#[test]
fn what_is_not_there_is_said() {
    let sandbox = Sandbox::new();
    go(&sandbox, &["run-artifact", "read", "n", "0"]).says(2, "has no artifact 0");
    go(&sandbox, &["run-artifact", "latest", "n"]).says(2, "has no artifacts");
    go(&sandbox, &["run-artifact", "list", "--run", "q"]).says(2, "there is no run 'q'");
    sandbox.put("run.json", "{\"artifact_index\":{\"n\":7}}");
    go(&sandbox, &["run-artifact", "latest", "n"]).says(2, "has no artifacts");
}

/// H 100 (facts 10.17).
#[test]
fn a_version_is_written_once() {
    let sandbox = with_status("running");
    let write = |data: &str, more: &[&str]| {
        go(&sandbox, &[&["run-artifact", "write", "n", data, "--version", "0", "--publish", "p"], more].concat())
    };
    let first = write(r#"{"a":1,"b":[true]}"#, &["--label", "x"]).ends(0);
    let before = std::fs::read(sandbox.run_dir().join("artifacts/n/0.json")).unwrap();
    let again = write(r#"{"b":[true],"a":1}"#, &["--label", "x"]).ends(0);
    let stamp = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["written_at"].clone();
    assert_eq!(stamp(&first), stamp(&again));
    write(r#"{"a":2,"b":[true]}"#, &["--label", "x"]).says(6, "with other data");
    write(r#"{"a":1,"b":[true]}"#, &["--label", "y"]).says(6, "with other labels");
    write(r#"{"a":1,"b":[true]}"#, &["--label", "x", "--contract", "{\"v\":1}"]).says(6, "with other contract");
    assert_eq!(std::fs::read(sandbox.run_dir().join("artifacts/n/0.json")).unwrap(), before);
    assert_eq!(events(&sandbox, "*"), [r#"artifact_written n {"publish":"p","version":0}"#], "told once");
}

/// H 102: the next version is above the counter of the checkpoint, which a rewind leaves alone.
#[test]
fn the_next_version_is_above_all_that_is_known() {
    let sandbox = Sandbox::new();
    assert_eq!(json(&sandbox, &["run-artifact", "write", "n", "{}"])["version"], 0, "no run.json is needed");
    assert_eq!(json(&sandbox, &["run-artifact", "write", "n", "{}"])["version"], 1, "what is there counts");
    assert!(!sandbox.run_dir().join("run.json").exists());
    sandbox.put("run.json", r#"{"checkpoint":{"artifact_versions":{"n":4}},"artifact_index":{"n":2}}"#);
    assert_eq!(json(&sandbox, &["run-artifact", "write", "n", "{}"])["version"], 4);
    sandbox.put("run.json", r#"{"artifact_index":{"n":8}}"#);
    assert_eq!(json(&sandbox, &["run-artifact", "write", "n", "{}"])["version"], 9);
}

/// H 104.
#[test]
fn the_index_is_made_anew() {
    let sandbox = with_status("failed");
    json(&sandbox, &["run-artifact", "write", "a", "{}"]);
    json(&sandbox, &["run-artifact", "write", "a", "{}"]);
    sandbox.put("run.json", r#"{"artifact_index":{"a":0,"gone":3},"x":1}"#);
    assert_eq!(json(&sandbox, &["run-artifact", "reindex"]), json!({"nodes":1,"changed":true}));
    assert_eq!(stored(&sandbox, "run.json")["artifact_index"], json!({"a":1}));
    assert_eq!(json(&sandbox, &["run-artifact", "reindex"]), json!({"nodes":1,"changed":false}));
    assert_eq!(stored(&sandbox, "run.json")["cas_version"], 1, "nothing changed, nothing written");
    go(&sandbox, &["run-artifact", "reindex", "--run", "q"]).says(2, "no run 'q'");
}

/// H 106: the file is there, only the index is not.
#[test]
fn a_document_that_cannot_be_changed_costs_the_index_only() {
    let sandbox = Sandbox::new();
    sandbox.put("run.json", r#"{"a":1,"a":2}"#);
    go(&sandbox, &["run-artifact", "write", "n", "{}"]).says(3, "run-artifact reindex");
    assert!(sandbox.run_dir().join("artifacts/n/0.json").exists());
    sandbox.put("run.json", r#"{"format_version":2}"#);
    go(&sandbox, &["run-artifact", "write", "n", "{}"]).says(5, "format version 2");
    assert!(!sandbox.run_dir().join("artifacts/n/1.json").exists());
    let read = go(&sandbox, &["run-artifact", "latest", "n", "/version"]);
    assert!(read.err.contains("newer program"), "{}", read.err);
    assert_eq!(read.ends(0), "0\n");
}

/// B 19, 20: nothing is made under a bad name.
#[test]
fn a_bad_name_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    for name in ["../x", "a/b", "a\\b", "..", "", "a\u{7f}", ".hidden", "NUL", "a."] {
        go(&sandbox, &["run-artifact", "write", name, "{}"]).says(2, "node id");
        go(&sandbox, &["run-artifact", "write", "n", "{}", "--run", name]).ends(2).clear();
    }
    for bad in ["[]", "{", "{\"a\":1,\"a\":1}"] {
        go(&sandbox, &["run-artifact", "write", "n", bad]).says(2, "the data");
    }
    go(&sandbox, &["run-artifact", "write", "n", "{}", "--version", "-1"]).ends(2).clear();
    assert!(paths(&sandbox).is_empty(), "{:?}", paths(&sandbox));
    assert_eq!(std::fs::read_dir(sandbox.path().join("store/runs")).unwrap().count(), 1);
}

/// B 21.
#[test]
fn files_are_private_and_a_wide_run_directory_is_tightened() {
    let sandbox = with_status("running");
    std::fs::File::open(sandbox.run_dir()).unwrap().set_permissions(PermissionsExt::from_mode(0o755)).unwrap();
    json(&sandbox, &["run-artifact", "write", "n", "{}"]);
    let mode = |name: &str| std::fs::metadata(sandbox.run_dir().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(""), mode("artifacts"), mode("artifacts/n")], [0o700; 3]);
    assert_eq!([mode("artifacts/n/0.json"), mode("run.json"), mode(".write.lock")], [0o600; 3]);
}

/// B 23.
#[test]
fn a_link_in_place_of_the_files_is_removed_and_its_target_left_alone() {
    let sandbox = Sandbox::new();
    let (dir, elsewhere) = (sandbox.run_dir().join("artifact_files"), sandbox.path().join("elsewhere"));
    std::fs::DirBuilder::new().create(&elsewhere).unwrap();
    crate::sandbox::put(&elsewhere.join("secret"), "s");
    symlink(&elsewhere, &dir).unwrap();
    assert_eq!(go(&sandbox, &["run-artifact", "files"]).ends(0), "");
    go(&sandbox, &["run-artifact", "file", "secret"]).ends(2).clear();
    json(&sandbox, &["run-artifact", "files-dir"]);
    assert!(!std::fs::symlink_metadata(&dir).unwrap().is_symlink() && dir.is_dir());
    assert!(elsewhere.join("secret").exists());
    let mode = || std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o700);
    json(&sandbox, &["run-artifact", "files-dir", "--shared"]);
    assert_eq!(mode(), 0o775);
    let sandbox = Sandbox::new();
    sandbox.put("artifact_files", "x");
    go(&sandbox, &["run-artifact", "files-dir"]).says(4, "not a directory");
}

/// B 25.
#[test]
fn every_path_that_is_not_given_out_looks_alike() {
    let sandbox = Sandbox::new();
    json(&sandbox, &["run-artifact", "files-dir"]);
    let dir = sandbox.run_dir().join("artifact_files");
    std::fs::DirBuilder::new().create(dir.join("a")).unwrap();
    crate::sandbox::put(&dir.join("a/f"), "content");
    crate::sandbox::put(&sandbox.run_dir().join("outside"), "x");
    symlink("../outside", dir.join("link")).unwrap();
    symlink("..", dir.join("up")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, dir.join("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .unwrap();
    assert_eq!(go(&sandbox, &["run-artifact", "file", "a/f"]).ends(0), "content");
    assert_eq!(go(&sandbox, &["run-artifact", "file", "a\\f"]).ends(0), "content");
    for path in [
        "",
        "/etc/passwd",
        "..",
        "a/../../b",
        "..\\outside",
        "a\\..\\..\\outside",
        "../outside",
        "link",
        "up/outside",
        "a",
        "pipe",
        "a//f",
        "./a/f",
        "none",
        "a/f/x",
    ] {
        let done = go(&sandbox, &["run-artifact", "file", path]);
        assert!(done.err.contains("the run has no file"), "{path}: {}", done.err);
        assert_eq!(done.ends(2), "", "{path}");
    }
    assert_eq!(go(&sandbox, &["run-artifact", "files"]).ends(0), "a/f\n");
}

/// H 108: who sends the body through a pipe.
#[test]
fn data_comes_from_a_pipe_or_a_file() {
    let sandbox = Sandbox::new();
    assert!(feed(&sandbox, &["run-artifact", "write", "n", "-"], "{\"p\":1}").ends(0).contains("\"version\":0"));
    sandbox.put("body", "{\"p\":2}");
    let at = format!("@{}", sandbox.run_dir().join("body").display());
    json(&sandbox, &["run-artifact", "write", "n", &at]);
    assert_eq!(go(&sandbox, &["run-artifact", "latest", "n", "/data/p", "--json"]).ends(0), "2\n");
}
