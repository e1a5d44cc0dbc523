//! Every writer on run directories written by hand: an old one, one with everything, one of a newer writer. What was not asked
//! for stays, byte for byte, whatever lies beside it.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use std::collections::BTreeMap;
use std::path::Path;

use workspacetrack::run::json::Json;

use crate::fixtures::{ALL, differences, stored};
use crate::sandbox::{Sandbox, run_with};

/// The files of a run but for locks, with their content.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![dir.to_owned()];
    while let Some(dir_now) = pending.pop() {
        for entry in std::fs::read_dir(&dir_now).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                pending.push(path);
            } else if !name.ends_with("lock") {
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// A file that a writer may change, and in it the members; none for a new one, and for a log, which may only grow.
type Change = (&'static str, &'static [&'static str]);

/// What every write of run.json brings along.
const STAMPS: [&str; 2] = ["updated_at", "cas_version"];
/// What a status brings along.
const STATUS: [&str; 11] = [
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

/// Checks that only these files changed, and only in these members.
#[track_caller]
fn judge(what: &str, before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>, changes: &[Change]) {
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for name in names {
        let (old, new) = (before.get(name), after.get(name));
        if old == new {
            continue;
        }
        let change = changes.iter().find(|(path, _)| name == path || path.ends_with('/') && name.starts_with(path));
        let (_, members) = change.unwrap_or_else(|| panic!("{what}: {name} changed"));
        let Some(old) = old else { continue };
        let new = new.map(Vec::as_slice).unwrap_or_default();
        if *members == ["gone"] {
            assert!(new.is_empty(), "{what}: {name} is still there");
        } else if matches!(name.as_str(), "events.jsonl" | "user_messages.jsonl" | "run.log") {
            assert!(new.starts_with(old) && new.len() > old.len(), "{what}: {name} was rewritten");
        } else {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let allowed: Vec<&str> = members.iter().chain(&STAMPS).copied().collect();
            let found = differences(&text(old), &text(new), &allowed);
            let is_bracket = |line: &str| line[1..].chars().all(|c| matches!(c, ' ' | '{' | '}' | '[' | ']' | ','));
            let found: Vec<_> = found.iter().filter(|line| !is_bracket(line)).collect();
            assert!(found.is_empty(), "{what}: {name}: {found:?}");
        }
    }
}

/// A writer: in which fixtures it has something to do, its words, its input, and what it may change.
struct Writer(&'static [&'static str], &'static [&'static str], &'static str, &'static [Change]);

const EVENTS: Change = ("events.jsonl", &[]);
const ATTACHED: &[&str] =
    &["attachments", "n9", "name", "original_filename", "mime", "size", "sha256", "created_at", "storage_ref"];

const WRITERS: &[Writer] = &[
    Writer(
        &ALL,
        &["run-record", "patch", "--set", "runner_version=\"9\""],
        "",
        &[("run.json", &["runner_version"])],
    ),
    Writer(
        &ALL,
        &["run-record", "set-status", "running", "--force"],
        "",
        &[
            (
                "run.json",
                &[
                    "status",
                    "error",
                    "failure_code",
                    "end_reason",
                    "continuation_state",
                    "finished_at",
                    "interaction_id",
                    "interaction_questions",
                    "approved",
                    "await_answers_waits",
                    "resume_requires_explicit",
                    "recovery_pause",
                    "recovery_code",
                ],
            ),
            EVENTS,
        ],
    ),
    Writer(
        &ALL,
        &["run-record", "pause", "--force", "--interaction", "i9", "--questions", "{\"k\":1}"],
        "",
        &[
            (
                "run.json",
                &[
                    "status",
                    "error",
                    "failure_code",
                    "end_reason",
                    "continuation_state",
                    "finished_at",
                    "interaction_id",
                    "interaction_questions",
                    "approved",
                    "await_answers_waits",
                    "k",
                ],
            ),
            EVENTS,
        ],
    ),
    Writer(
        &ALL,
        &["run-record", "fail", "--resumable", "--force", "--error", "e", "--code", "C"],
        "",
        &[("run.json", &STATUS), EVENTS],
    ),
    Writer(
        &["newer", "full"],
        &["run-record", "fail", "--at-launch", "--error", "e", "--force"],
        "",
        &[("run.json", &STATUS), EVENTS],
    ),
    Writer(&ALL, &["run-record", "claim-merge"], "", &[("run.json", &["merge_status", "merge_claimed_at"])]),
    Writer(
        &["full"],
        &["run-record", "update-merge", "skipped", "--expect", "pending"],
        "",
        &[(
            "run.json",
            &[
                "merge_status",
                "merge_claimed_at",
                "merged_into",
                "merged_commit",
                "merge_strategy",
                "pending_merge_message",
                "pending_merge_into",
            ],
        )],
    ),
    Writer(
        &["newer", "old"],
        &["run-record", "update-merge", "skipped", "--expect", ""],
        "",
        &[(
            "run.json",
            &[
                "merge_status",
                "merge_claimed_at",
                "merged_into",
                "merged_commit",
                "merge_strategy",
                "pending_merge_message",
                "pending_merge_into",
            ],
        )],
    ),
    Writer(&["old"], &["run-record", "delegate", "--fingerprint", "f"], "", &[]),
    Writer(
        &ALL,
        &["run-artifact", "write", "inspect", "{\"z\":1}", "--publish", "p"],
        "",
        &[("run.json", &["artifact_index", "inspect"]), EVENTS],
    ),
    Writer(
        &ALL,
        &["run-artifact", "write", "another", "{\"z\":1}"],
        "",
        &[("run.json", &["artifact_index", "another"])],
    ),
    Writer(&ALL, &["run-artifact", "reindex"], "", &[("run.json", &["artifact_index", "inspect"])]),
    Writer(&ALL, &["run-artifact", "files-dir"], "", &[]),
    Writer(
        &ALL,
        &["run-interaction", "ask", "n", "{\"q\":1}", "--id", "q9"],
        "",
        &[("interactions/q9.json", &[]), EVENTS],
    ),
    Writer(
        &["newer"],
        &["run-interaction", "answer", "newer_ask", "{\"z\":1}"],
        "",
        &[("interactions/newer_ask.json", &["answered_at", "answers", "z"]), EVENTS],
    ),
    Writer(
        &["newer"],
        &["run-interaction", "turn", "newer_ask", "human", "--content", "c"],
        "",
        &[("interactions/newer_ask.json", &["role", "content", "at"]), EVENTS],
    ),
    Writer(
        &["newer"],
        &["run-interaction", "retire", "newer_ask"],
        "",
        &[("interactions/newer_ask.json", &["retired_at"])],
    ),
    Writer(
        &["full"],
        &["run-interaction", "answer", "full_gate", "{\"z\":1}"],
        "",
        &[("interactions/full_gate.json", &["answered_at", "answers", "z"]), EVENTS],
    ),
    Writer(&ALL, &["run-attachment", "add", "n9=-"], "bytes", &[("attachments/n9/", &[]), ("run.json", ATTACHED)]),
    Writer(
        &["newer"],
        &["run-attachment", "reindex"],
        "",
        &[(
            "run.json",
            &[
                "x_first",
                "1.0",
                "original_filename",
                "mime",
                "size",
                "sha256",
                "created_at",
                "storage_ref",
                "x_sidecar",
                "n",
            ],
        )],
    ),
    Writer(
        &["newer"],
        &["run-attachment", "remove", "a"],
        "",
        &[("attachments/a/", &["gone"]), ("run.json", &["attachments", "a", "name", "x_att"])],
    ),
    Writer(&ALL, &["run-plan", "write", "n", "[{\"content\":\"z\",\"status\":\"pending\"}]"], "", &[EVENTS]),
    Writer(&ALL, &["run-tool", "put", "t9", "output", "--threshold", "0"], "bytes", &[("tools/t9/", &[])]),
    Writer(
        &["newer", "full"],
        &["run-message", "queue", "z", "--id", "m9"],
        "",
        &[("user_messages.jsonl", &[]), EVENTS],
    ),
    Writer(
        &["newer"],
        &["run-message", "deliver", "msg_1_cccccccccccc"],
        "",
        &[("user_messages.jsonl", &[]), EVENTS],
    ),
    Writer(
        &["full"],
        &["run-message", "cancel", "msg_2_bbbbbbbbbbbb"],
        "",
        &[("user_messages.jsonl", &[]), EVENTS],
    ),
    Writer(
        &["full"],
        &["run-message", "consume", "msg_1_aaaaaaaaaaaa"],
        "",
        &[("user_messages.jsonl", &[]), EVENTS],
    ),
    Writer(
        &ALL,
        &["run-turn", "write", "inspect", "0", "7", "{\"backend\":\"b\"}", "--messages", "[]"],
        "",
        &[
            ("turns/inspect/0/7.json", &[]),
            ("turns/inspect/0/7.messages.json", &[]),
            ("turns/inspect/index.json", &[]),
        ],
    ),
    Writer(&ALL, &["run-log", "append"], "bytes", &[("run.log", &[])]),
    Writer(&ALL, &["run-events", "append", "--type", "t"], "", &[EVENTS]),
    // The process that an old file names is not there; the new one has ended as well.
    Writer(&ALL, &["run-lock", "--pid", "--", "true"], "", &[(".pid", &["gone"])]),
];

#[test]
fn no_writer_changes_what_it_was_not_asked_for() {
    for Writer(ids, line, stdin, changes) in WRITERS {
        for id in *ids {
            let sandbox = stored();
            let before = files(&sandbox.dir_of(id));
            let mut command = sandbox.program(line);
            command.env("WT_RUN", id);
            let what = format!("{line:?} on {id}");
            let done = run_with(command, stdin);
            assert!(done.code == 0, "{what}: {} {}", done.code, done.err);
            let after = files(&sandbox.dir_of(id));
            let new: Vec<Change> = match line[1] {
                // The next numbers are other ones in each.
                "write" if line[0] == "run-artifact" => vec![("artifacts/", &["no old one"])],
                "write" if line[0] == "run-plan" => vec![("plans/", &["no old one"])],
                _ => Vec::new(),
            };
            judge(&what, &before, &after, &[*changes, &new].concat());
            for other in ALL.iter().filter(|other| *other != id) {
                assert_eq!(files(&sandbox.dir_of(other)), files(&stored().dir_of(other)), "{what}: {other}");
            }
        }
    }
}

/// A line of a log is taken over with what nobody knows in it.
#[test]
fn a_step_of_a_message_keeps_the_members_of_a_newer_writer() {
    let sandbox = stored();
    let deliver = ["run-message", "deliver", "msg_1_cccccccccccc", "--run", "newer"];
    sandbox.call(&deliver).ends(0);
    let log = std::fs::read_to_string(sandbox.dir_of("newer").join("user_messages.jsonl")).unwrap();
    assert!(log.lines().last().unwrap().contains("\"x_message\":1.0"), "{log}");
}

/// The document as a writer saves it that knows nothing of what begins with `x_`; payloads are its own affair.
fn as_an_older_writer_has_it(json: &Json) -> Json {
    match json {
        Json::Object(members) => {
            Json::object(members.iter().filter(|(key, _)| !key.starts_with("x_")).map(|(key, value)| {
                let is_payload = matches!(key.as_str(), "inputs" | "outputs");
                (key.clone(), if is_payload { value.clone() } else { as_an_older_writer_has_it(value) })
            }))
        }
        Json::Array(elements) => Json::Array(elements.iter().map(as_an_older_writer_has_it).collect()),
        Json::Scalar(_) => json.clone(),
    }
}

fn printed(sandbox: &Sandbox, line: &[&str]) -> Json {
    Json::parse(sandbox.call(line).ends(0).as_bytes()).unwrap()
}

/// Whole documents, saved by a writer that does not know what a newer one has put in.
#[test]
fn an_older_writer_saves_document_and_checkpoint_and_loses_nothing() {
    for id in ALL {
        let sandbox = stored();
        let before = files(&sandbox.dir_of(id));
        let mut older = as_an_older_writer_has_it(&printed(&sandbox, &["run-record", "get", "--run", id]));
        assert!(!older.compact().contains("x_last"));
        older.set("runner_version", Json::string("9"));
        let save = |line: &[&str], json: &Json| run_with(sandbox.program(line), json.compact()).ends(0);
        save(&["run-record", "save", "--run", id], &older);
        // What reading puts right is saved so: a name, and the form of `fallback`; a status takes what it cannot carry.
        let healed: &[&str] = match id {
            "old" => &[
                "name",
                "fallback",
                "backend",
                "model",
                "finished_at",
                "error",
                "merge_claimed_at",
                "format_version",
                "runner_version",
            ],
            "full" => &["runner_version", "await_answers_waits", "finished_at", "failure_code", "end_reason"],
            _ => &["runner_version"],
        };
        judge(&format!("save {id}"), &before, &files(&sandbox.dir_of(id)), &[("run.json", healed)]);

        let sandbox = stored();
        let mut older =
            as_an_older_writer_has_it(&printed(&sandbox, &["run-record", "checkpoint", "get", "--run", id]));
        older.set("node_id", Json::string("elsewhere"));
        let line = ["run-record", "checkpoint", "save", "--run", id];
        run_with(sandbox.program(&line), older.compact()).ends(0);
        judge(
            &format!("checkpoint save {id}"),
            &before,
            &files(&sandbox.dir_of(id)),
            &[("run.json", &["node_id"])],
        );
    }
    // The judge is no yes-man.
    let sandbox = stored();
    let before = files(&sandbox.dir_of("newer"));
    let text = sandbox.text_of("newer").replace("\"x_parallel\": 1,", "");
    std::fs::write(sandbox.dir_of("newer").join("run.json"), text).unwrap();
    let after = files(&sandbox.dir_of("newer"));
    assert!(std::panic::catch_unwind(|| judge("", &before, &after, &[("run.json", &["node_id"])])).is_err());
}
