//! Run directories written by hand from the fact sheet: they load, list, show, and survive a write unchanged except for what
//! was asked.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use std::path::{Path, PathBuf};

use workspacetrack::run::record::ORDER;

use crate::life::tree;
use crate::sandbox::Sandbox;

pub(crate) const ALL: [&str; 3] = ["full", "newer", "old"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A store with copies of all.
pub(crate) fn stored() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::remove_dir(sandbox.run_dir()).unwrap();
    ALL.iter().for_each(|id| copy(&fixtures().join(id), &sandbox.dir_of(id)));
    sandbox
}

/// The lines that differ, less those about `allowed` members.
pub(crate) fn differences(before: &str, after: &str, allowed: &[&str]) -> Vec<String> {
    let extra = |these: &str, those: &str, mark: char| {
        let mut left: Vec<&str> = those.lines().collect();
        let mut found = Vec::new();
        for line in these.lines() {
            match left.iter().position(|other| other.trim_end_matches(',') == line.trim_end_matches(',')) {
                Some(place) => drop(left.remove(place)),
                None if allowed.iter().any(|key| line.trim_start().starts_with(&format!("\"{key}\""))) => {}
                None => found.push(format!("{mark}{line}")),
            }
        }
        found
    };
    [extra(before, after, '-'), extra(after, before, '+')].concat()
}

#[test]
fn the_full_one_has_every_member_in_the_order_of_the_format() {
    let text = std::fs::read_to_string(fixtures().join("full/run.json")).unwrap();
    let members: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next()).collect();
    // A file says that its run was deleted, not a member.
    let all: Vec<&str> = ORDER.iter().copied().filter(|key| *key != "deleted_at").collect();
    assert_eq!(members, all);
}

#[test]
fn they_load_list_and_show_and_reading_changes_nothing() {
    let sandbox = stored();
    let before = tree(&sandbox.store());
    let listed = sandbox.call(&["run-record", "list", "--ids"]).ends(0);
    assert_eq!(listed.lines().collect::<Vec<_>>(), ALL);
    for (id, status) in [("full", "paused_waiting_human"), ("newer", "running"), ("old", "failed_resumable")] {
        assert_eq!(sandbox.call(&["run-record", "get", "/status", "--raw", "--run", id]).ends(0).trim(), status);
        sandbox.run(&["check", "--run", id]).ends(0);
        let shown = sandbox.call(&["run-show", id]).ends(0);
        assert!(shown.contains(status) && shown.contains("WHAT TO DO") && shown.contains("NODES"), "{shown}");
        let json: serde_json::Value =
            serde_json::from_str(&sandbox.call(&["run-show", id, "--json"]).ends(0)).unwrap();
        assert_eq!((json["run"].as_str(), json["problems"].as_array().map(Vec::len)), (Some(id), Some(0)));
    }
    for line in [
        &["run-artifact", "list", "inspect", "--run", "full"][..],
        &["run-interaction", "list", "--pending", "--run", "full"],
        &["run-attachment", "list", "--run", "full"],
        &["run-plan", "list", "--run", "full"],
        &["run-message", "pending", "--run", "full"],
        &["run-turn", "list", "inspect", "--run", "full"],
    ] {
        let out = sandbox.call(line).ends(0);
        assert!(!out.is_empty(), "{line:?}");
    }
    sandbox.call(&["run-reconcile", "--all", "-n"]).ends(0);
    assert_eq!(tree(&sandbox.store()), before);
}

#[test]
fn a_write_changes_what_was_asked_and_nothing_else() {
    let stamps = ["updated_at", "cas_version"];
    for id in ALL {
        let sandbox = stored();
        let before = sandbox.text_of(id);
        sandbox.call(&["run-record", "patch", "--set", "runner_version=\"9.9\"", "--run", id]).ends(0);
        let after = sandbox.text_of(id);
        assert_eq!(differences(&before, &after, &[&stamps[..], &["runner_version"]].concat()), [""; 0], "{id}");
        assert!(after.contains("\"runner_version\": \"9.9\"") && !after.ends_with('\n'));
        // What a status brings along, and no more.
        let sandbox = stored();
        sandbox.call(&["run-record", "set-status", "cancelled", "--run", id]).ends(0);
        let after = sandbox.text_of(id);
        let moved = [
            "status",
            "error",
            "failure_code",
            "end_reason",
            "outcome_seq",
            "continuation_state",
            "finished_at",
            "await_answers_waits",
            "interaction_id",
            "interaction_questions",
            "approved",
        ];
        let found = differences(&before, &after, &[&stamps[..], &moved].concat());
        let found: Vec<_> = found.iter().filter(|line| !matches!(line[1..].trim(), "}" | "},")).collect();
        assert!(found.is_empty(), "{id}: {found:?}");
    }
}

#[test]
fn an_orphan_of_a_newer_writer_keeps_all_that_nobody_knows() {
    let sandbox = stored();
    let (before, log) =
        (sandbox.text_of("newer"), std::fs::read(sandbox.dir_of("newer").join("events.jsonl")).unwrap());
    sandbox.call(&["run-reconcile", "--all"]).ends(0);
    let after = sandbox.text_of("newer");
    let asked = ["status", "updated_at", "cas_version", "finished_at", "error", "failure_code", "outcome_seq"];
    assert_eq!(differences(&before, &after, &asked), [""; 0]);
    let log_now = std::fs::read(sandbox.dir_of("newer").join("events.jsonl")).unwrap();
    assert!(log_now.starts_with(&log) && log_now.len() > log.len());
    for kept in ["12345678901234567890.50", "1E400", "\\u003ckept\\u003e", "\"x_parallel\": 1", "-0.0", "0.10"] {
        assert!(after.contains(kept), "{kept}");
    }
}

/// Facts 10.9: a newer format is read with a notice, and never written.
#[test]
fn a_newer_format_is_shown_and_not_written() {
    let sandbox = stored();
    let newer = sandbox.text_of("newer").replace("\"format_version\": 1", "\"format_version\": 2");
    crate::sandbox::put(&sandbox.dir_of("newer").join("run.json"), &newer);
    let before = tree(&sandbox.dir_of("newer"));
    let shown = sandbox.call(&["run-show", "newer"]).ends(3);
    assert!(shown.contains("format version 2") && shown.contains("NODES"), "{shown}");
    sandbox.call(&["run-reconcile", "--run", "newer"]).ends(5);
    sandbox.call(&["run-delete", "newer"]).ends(5);
    let after: Vec<_> = tree(&sandbox.dir_of("newer")).into_iter().filter(|line| !line.contains("lock ")).collect();
    let before: Vec<_> = before.into_iter().filter(|line| !line.contains("lock ")).collect();
    assert_eq!(after, before);
}

#[test]
fn a_deletion_takes_everything_of_any_of_them() {
    let sandbox = stored();
    for id in ALL {
        sandbox.call(&["run-delete", "--force", id]).ends(0);
        assert_eq!(sandbox.names_of(id), [".deleted"]);
    }
}
