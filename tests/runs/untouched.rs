//! What the facts name and do not describe is left as it is, whatever writes beside it: the registry of route decisions that
//! the original keeps (case 71), whose place and members nobody has told, and indexes of turns in a form of their own.

use std::os::unix::fs::MetadataExt;

use crate::files_deleted::{WRITERS, full};
use crate::sandbox::{put, run_with};
use crate::shell::{feed, go};

/// Where such a registry may lie, and what it may look like: a document, lines, or a directory of claims. The last two have
/// the names of ours.
const REGISTRIES: [&str; 8] = [
    "route-decisions.json",
    "runs/r/route_decisions.jsonl",
    "runs/r/routes/1.json",
    "runs/r/routes/watermark",
    "runs/r/artifacts/routes.json",
    "routes/r/1.json",
    "runs/r/route_decisions.json",
    "route_watermark.json",
];

#[test]
fn a_registry_of_route_decisions_survives_every_writer() {
    let sandbox = full();
    let store = sandbox.path().join("store");
    let text = "{\"watermark\":1,\"claims\":[{\"run_id\":\"r\",\"outcome_seq\":1,\"state\":\"claimed\",\"attempts\":1}]}\n";
    let state = || {
        REGISTRIES.map(|name| {
            let path = store.join(name);
            let meta = std::fs::metadata(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            (std::fs::read_to_string(&path).unwrap(), meta.ino(), meta.mtime_nsec(), meta.mode())
        })
    };
    for name in REGISTRIES {
        let path = store.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        put(&path, text);
    }
    let before = state();
    for (line, stdin) in WRITERS {
        let _ = feed(&sandbox, line, stdin);
        assert_eq!(state(), before, "{line:?}");
    }
    let checkpoint = r#"{"node_id":"n"}"#;
    let policy = r#"routing_policy={"version":1}"#;
    let others: [(&[&str], &str); 14] = [
        (&["run-record", "checkpoint", "save"], checkpoint),
        (&["run-record", "patch", "--set", r#"watched_issue_ids=["i"]"#], ""),
        (&["run-record", "patch", "--set", policy], ""),
        (&["run-record", "pause"], ""),
        (&["run-record", "set-status", "cancelled"], ""),
        (&["run-record", "set-status", "running"], ""),
        (&["run-record", "fail", "--resumable", "--code", "X"], ""),
        (&["run-record", "claim-merge"], ""),
        (&["run-route", "claim", "--owner", "o"], ""),
        (&["run-route", "watermark", "--set", "now"], ""),
        (&["run-record", "create", "--run", "other"], ""),
        (&["run-events", "append", "--type", "t"], ""),
        (&["run-lock", "--pid", "--", "true"], ""),
        (&["run-reconcile", "--all"], ""),
    ];
    for (line, stdin) in others {
        let _ = feed(&sandbox, line, stdin);
        assert_eq!(state(), before, "{line:?}");
    }
    let saved = go(&sandbox, &["run-record", "get"]).ends(0);
    feed(&sandbox, &["run-record", "save"], saved).ends(0).clear();
    go(&sandbox, &["run-record", "set-status", "finished", "--force", "--run", "other"]).ends(0).clear();
    go(&sandbox, &["run-delete", "other"]).ends(0).clear();
    go(&sandbox, &["run-prune", "--older-than", "1d", "--tombstones", "0", "--grace", "0"]).ends(0).clear();
    go(&sandbox, &["wt-prune", "--grace", "0"]).ends(0).clear();
    assert_eq!(state(), before);
    // Nor is a reader misled by it.
    let shown = go(&sandbox, &["run-show", "r"]);
    assert!(!shown.out.contains("COULD NOT BE READ"), "{}", shown.out);
    go(&sandbox, &["run-route", "list"]).says(3, "is another program's");
    go(&sandbox, &["run-record", "list"]).ends(0).clear();
    go(&sandbox, &["run-artifact", "list"]).ends(0).clear();
}

/// An index of turns that is ours is made again when it is stale, damaged or missing; one in another form stays.
#[test]
fn an_index_of_turns_is_ours_or_left_alone() {
    let sandbox = full();
    let index = sandbox.run_dir().join("turns/n/index.json");
    let write = |turn: &str| {
        let mut command = sandbox.program(&["run-turn", "write", "n", "0", turn, "{\"backend\":\"b\"}"]);
        command.env("WT_RUN", "r");
        run_with(command, "").ends(0).clear();
    };
    let read = || std::fs::read_to_string(&index).unwrap();
    write("0");
    write("1");
    let latest = read();
    assert!(latest.contains("\"turn_index\": 1"), "{latest}");
    // A kill between a turn and the index, a lost index, a torn one: the next write of any turn mends it.
    for damage in [Some(latest.replace("\"turn_index\": 1", "\"turn_index\": 0")), Some("{".into()), None] {
        match damage {
            Some(text) => put(&index, text),
            None => std::fs::remove_file(&index).unwrap(),
        }
        write("0");
        assert_eq!(read(), latest);
    }
    for foreign in ["[{\"loop_iter\":0,\"turns\":2}]", "{\"latest\":{\"loop_iter\":0}}"] {
        put(&index, foreign);
        write("0");
        write("2");
        assert_eq!(read(), foreign);
    }
}
