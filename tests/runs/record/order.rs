//! A document with everything survives every writer, byte for byte but for what was asked.

use std::fmt::Write as _;

use super::Runs;

/// Every member that is known, members that nobody knows between them, numbers and escapes in unusual words.
fn everything() -> String {
    let mut text = String::from("{\n");
    for (number, member) in workspacetrack::run::record::ORDER.iter().enumerate() {
        let value = match *member {
            "format_version" => "1".to_owned(),
            "id" => "\"r\"".to_owned(),
            "status" => "\"running\"".to_owned(),
            "cas_version" => "41".to_owned(),
            "created_at" | "updated_at" | "queued_at" | "started_at" => "\"2026-01-01T00:00:00.123Z\"".to_owned(),
            "retry_state" => "{\n    \"retry_after\": \"2026-02-01T00:00:00Z\",\n    \"attempts\": 2,\n    \"x_r\": [\n      1.0,\n      {}\n    ]\n  }".to_owned(),
            "checkpoint" => "{\n    \"node_id\": \"n\",\n    \"interaction_id\": \"\",\n    \"outputs\": {\n      \"n\": {\n        \"big\": 9007199254740993,\n        \"f\": 1.50e+3\n      }\n    },\n    \"x_c\": null,\n    \"loop_counters\": {},\n    \"artifact_versions\": {},\n    \"vars\": {}\n  }".to_owned(),
            "nodes_served" | "await_answers_waits" | "subbot_children" | "loop_overrides" | "artifact_index" => format!("{{\n    \"k{number}\": {{\n      \"x\": \"\\u003cb\\u003e \\u2028 caf\u{e9} \\u00e9\"\n    }}\n  }}"),
            "fallback" => "[\n    {\n      \"model\": \"m\"\n    }\n  ]".to_owned(),
            _ => format!("\"text of {member}\""),
        };
        writeln!(text, "  \"{member}\": {value},").unwrap();
        if number % 9 == 0 {
            writeln!(text, "  \"x_{number}\": {{\n    \"nested\": [\n      {number}.0,\n      null\n    ]\n  }},")
                .unwrap();
        }
    }
    text += "  \"zz_last\": true\n}";
    text
}

/// The lines that differ, without their commas: those of the first, those of the second.
fn differing(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let lines = |text: &str| text.lines().map(|line| line.trim_end_matches(',').to_owned()).collect::<Vec<_>>();
    let (old, new) = (lines(before), lines(after));
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let (mut at_old, mut at_new) = (old.as_slice(), new.as_slice());
    while let (Some(left), Some(right)) = (at_old.first(), at_new.first()) {
        if left == right {
            (at_old, at_new) = (&at_old[1..], &at_new[1..]);
        } else if !at_new.contains(left) {
            gone.push(left.trim().to_owned());
            at_old = &at_old[1..];
        } else {
            come.push(right.trim().to_owned());
            at_new = &at_new[1..];
        }
    }
    gone.extend(at_old.iter().map(|line| line.trim().to_owned()));
    come.extend(at_new.iter().map(|line| line.trim().to_owned()));
    (gone, come)
}

/// Members of the result of a difference: their names.
fn names(lines: &[String]) -> Vec<String> {
    lines.iter().filter_map(|line| Some(line.split_once("\": ")?.0.trim_matches('"').to_owned())).collect()
}

#[test]
fn a_write_changes_what_it_is_about() {
    let everything = everything();
    let always = ["cas_version", "updated_at"];
    for (args, stdin, gone, come) in [
        (&["patch", "--set", "work_dir=\"/new\""][..], None, &["work_dir"][..], &["work_dir"][..]),
        (&["patch", "--set", "retry_state={\"attempts\":3}"], None, &["attempts"], &["attempts"]),
        (&["patch", "--set", "subbot_children={\"new\":\"c1\"}"], None, &[], &["new"]),
        (
            &["set-status", "running"],
            None,
            &["finished_at", "error", "failure_code", "end_reason", "resume_requires_explicit"],
            &[],
        ),
        (
            &["claim-merge", "--stale-before", "2030-01-01T00:00:00Z", "--expect-revision", "41"],
            None,
            &["merge_status", "merge_claimed_at"],
            &["merge_status", "merge_claimed_at"],
        ),
        (
            &["checkpoint", "save"],
            Some(
                r#"{"node_id":"m","outputs":{"n":{"big":9007199254740993,"f":1.50e+3}},"loop_counters":{},"artifact_versions":{},"vars":{}}"#,
            ),
            &["node_id"],
            &["node_id"],
        ),
    ] {
        let text = everything.replace("\"text of merge_status\"", "\"pending\"");
        let runs = Runs::with(&text);
        let done = runs.record_with(args, stdin.unwrap_or_default());
        let _ = done.ends(0);
        let (old, new) = differing(&text, &runs.text());
        let mut expected: Vec<_> = gone.iter().chain(&always).copied().collect();
        let mut found = names(&old);
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{args:?}: {old:?}");
        let mut expected: Vec<_> = come.iter().chain(&always).copied().collect();
        let mut found = names(&new);
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{args:?}: {new:?}");
    }
}

/// What is read and saved again without a change differs only in time and revision.
#[test]
fn a_document_saved_as_it_was_is_the_same() {
    let everything = everything();
    let runs = Runs::with(&everything);
    let _ = runs.record_with(&["save"], &everything).ends(0);
    let (old, new) = differing(&everything, &runs.text());
    let mut found = names(&old);
    found.sort();
    // The causes cannot be carried by a running run.
    assert_eq!(
        found,
        [
            "cas_version",
            "end_reason",
            "error",
            "failure_code",
            "finished_at",
            "resume_requires_explicit",
            "updated_at"
        ]
    );
    assert_eq!(names(&new), ["updated_at", "cas_version"]);
}

/// New members come where the original declares them.
#[test]
fn new_members_stand_in_their_place() {
    let runs = Runs::with(
        r#"{"id":"r","name":"n","x":1,"status":"running","created_at":"2026-01-01T00:00:00Z","bot_id":"b"}"#,
    );
    runs.wrote(&["set-status", "failed", "--error", "e", "--code", "C"]);
    let text = runs.text();
    let keys: Vec<_> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once('"'))
        .map(|(key, _)| key)
        .collect();
    assert_eq!(
        keys,
        [
            "id",
            "name",
            "x",
            "status",
            "created_at",
            "updated_at",
            "finished_at",
            "error",
            "failure_code",
            "outcome_seq",
            "cas_version",
            "bot_id"
        ]
    );
}
