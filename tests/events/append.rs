//! What is appended, and what is refused.

use std::os::unix::fs::PermissionsExt;

use workspacetrack::run::events::vocabulary::VOCABULARY;

use crate::sandbox::{Sandbox, put, run};

#[test]
fn an_event_has_number_time_run_and_the_place_in_run_log() {
    let sandbox = Sandbox::new();
    sandbox.put("run.log", "four");
    let args = ["append", "--type", "node_finished", "--node", "a", "--branch", "b", "--active-ms", "7"];
    let data = r#"{"n": 9007199254740993, "f": 1.50}"#;
    assert_eq!(sandbox.run(&[&args[..], &["--data", data]].concat()).ends(0), "0\n");
    let line = sandbox.log_text();
    let (head, rest) = line.split_once(",\"timestamp\":\"").unwrap();
    let (time, rest) = rest.split_once('"').unwrap();
    assert_eq!(head, r#"{"seq":0"#);
    assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    let expected = concat!(
        r#","type":"node_finished","run_id":"r","branch_id":"b","node_id":"a","#,
        r#""data":{"n":9007199254740993,"f":1.50},"log_offset":4,"active_ms":7}"#,
        "\n"
    );
    assert_eq!(rest, expected);
}

#[test]
fn many_events_come_from_standard_input_and_each_is_acknowledged() {
    let sandbox = Sandbox::new();
    let input =
        "\u{feff}{\"type\":\"a\",\"log_offset\":9,\"later\":{\"x\":[1.0]}}\r\n\n{\"type\":\"b\",\"seq\":77}";
    assert_eq!(sandbox.run_with(&["append", "--stdin"], input).ends(0), "0\n1\n");
    let log = sandbox.log_text();
    assert!(log.contains(r#""log_offset":9,"later":{"x":[1.0]}}"#), "{log}");
    assert_eq!(sandbox.seqs(&[]), [0, 1]);
    let acks = sandbox.run_with(&["append", "--stdin", "--json"], "{\"type\":\"c\"}\n").ends(0);
    let ack: serde_json::Value = serde_json::from_str(&acks).unwrap();
    assert_eq!((ack["seq"].as_u64(), ack["offset"].as_u64()), (Some(2), Some(log.len() as u64)));
}

#[test]
fn data_comes_from_a_file_or_standard_input() {
    let sandbox = Sandbox::new();
    put(&sandbox.path().join("d.json"), "{\"a\":\n1}");
    assert_eq!(sandbox.run(&["append", "--type", "t", "--data", "@d.json"]).ends(0), "0\n");
    assert_eq!(sandbox.run_with(&["append", "--type", "t", "--data", "-"], "{\"b\":2}").ends(0), "1\n");
    assert_eq!(sandbox.run(&["cat", "--format", "{data}"]).ends(0), "{\"a\":1}\n{\"b\":2}\n");
    sandbox.run(&["append", "--type", "t", "--data", "@none"]).says(2, "cannot open 'none'").clear();
}

#[test]
fn the_first_refused_event_ends_the_input_and_those_before_it_are_in() {
    let sandbox = Sandbox::new();
    let input = "{\"type\":\"a\"}\n{\"type\":\"b\",\"data\":7}\n{\"type\":\"c\"}\n";
    let out = sandbox.run_with(&["append", "--stdin"], input).says(2, "input line 2: event data is not an object");
    assert_eq!(out, "0\n");
    assert_eq!(sandbox.seqs(&[]), [0]);
}

#[test]
fn what_is_refused_leaves_no_trace() {
    let sandbox = Sandbox::new();
    for (args, code, reason) in [
        (&["--type", "alert"][..], 5, "never persisted"),
        (&["--type", ""], 2, "no type"),
        (&["--type", "a\nb"], 2, "control characters"),
        (&["--type", "t", "--data", "[1]"], 2, "not a JSON object"),
        (&["--type", "t", "--data", "{"], 2, "data is not JSON"),
        (&["--type", "t", "--data", r#"{"a":{"b":1,"b":2}}"#], 2, "'b' twice"),
        (&["--type", "t", "--stdin"], 2, "cannot be used with"),
        (&["--stdin", "--node", "a"], 2, "cannot be used with"),
        (&[], 2, "required"),
        (&["--type", "t", "--fsync", "often"], 2, "invalid value"),
    ] {
        sandbox.run(&[&["append"], args].concat()).says(code, reason).clear();
    }
    for input in ["{\"type\":\"alert\"}", "{\"type\":\"a\",\"Type\":\"b\"}", "\0", "{\"type\":\"\u{7}\"}", "nope"] {
        let done = sandbox.run_with(&["append", "--stdin"], input);
        assert!(matches!(done.code, 2 | 5), "{input}: {}", done.err);
    }
    assert!(!sandbox.log().exists());
}

#[test]
fn a_line_may_have_ten_mebibytes_and_no_byte_more() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.append(), 0);
    let frame = sandbox.run_with(&["append", "--type", "t", "--data", "-"], r#"{"a":""}"#).ends(0);
    assert_eq!(frame, "1\n");
    let log = sandbox.log_text();
    let frame = log.lines().nth(1).unwrap().len() + 1;
    // The time may be written with fewer digits: up to ten bytes of slack on either side.
    let data = |len: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(len));
    let limit = 10 * 1024 * 1024;
    let args = ["append", "--type", "t", "--data", "-"];
    assert_eq!(sandbox.run_with(&args, data(limit - frame - 10)).ends(0), "2\n");
    sandbox.run_with(&args, data(limit - frame + 11)).says(7, "above the limit of 10485759").clear();
    let above = format!("{{\"type\":\"t\",\"x\":\"{}\"}}\n", "x".repeat(limit));
    sandbox.run_with(&["append", "--stdin"], above).says(7, "above the limit").clear();
    assert_eq!(sandbox.seqs(&[]), [0, 1, 2]);
    assert_eq!(sandbox.append(), 3);
    sandbox.run(&["check"]).says(0, "clean, 4 events").clear();
}

/// G 93.
#[test]
fn every_known_type_can_be_appended_and_loads_back() {
    let sandbox = Sandbox::new();
    let names: Vec<&str> = VOCABULARY.iter().flat_map(|(_, types)| types.iter().map(|(name, _)| *name)).collect();
    let input: String = names.iter().map(|name| format!("{{\"type\":\"{name}\"}}\n")).collect::<Vec<_>>().concat();
    sandbox.run_with(&["append", "--stdin"], input).ends(0).clear();
    let types = sandbox.run(&["cat", "--format", "{type}"]).ends(0);
    assert_eq!(types.lines().collect::<Vec<_>>(), names);
    sandbox.run(&["check"]).ends(0).clear();
    // The view for a person has an answer to each.
    assert_eq!(sandbox.run(&["cat", "--human"]).ends(0).lines().count(), names.len());
}

/// G 89.
#[test]
fn an_unsafe_run_id_is_refused_and_nothing_made() {
    let sandbox = Sandbox::new();
    for id in ["../x", "a/b", "a\\b", "..", "", "a\nb", ".", "-x"] {
        let done = sandbox.run(&["append", "--type", "t", &format!("--run={id}")]);
        // An empty one counts as not given by clap's value, so WT_RUN is not asked either.
        assert_eq!(done.code, 2, "{id:?}: {}", done.err);
    }
    assert_eq!(std::fs::read_dir(sandbox.path().join("store/runs")).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(sandbox.run_dir()).unwrap().count(), 0);
}

#[test]
fn run_json_need_not_exist_and_everything_is_private() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["append", "--type", "t", "--run", "new"]).ends(0), "0\n");
    let dir = sandbox.path().join("store/runs/new");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    assert_eq!(mode(&dir.join("events.jsonl")), 0o600);
    assert_eq!(mode(&dir.join(".events.lock")), 0o600);
    let log = sandbox.log();
    put(&log, "");
    std::fs::File::open(&log).unwrap().set_permissions(PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(sandbox.append(), 0);
    assert_eq!(mode(&log), 0o600, "an open log is closed to others");
    let mut narrow = sandbox.other("sh");
    narrow.args(["-c", "umask 777; exec \"$0\" append --type t --run masked", crate::sandbox::BIN]);
    assert_eq!(run(narrow).ends(0), "0\n");
    assert_eq!(mode(&sandbox.path().join("store/runs/masked/events.jsonl")), 0o600);
}

/// N 149.
#[test]
fn a_deleted_run_is_refused_and_stays_deleted() {
    let sandbox = Sandbox::new();
    sandbox.put(".deleted", "");
    sandbox.run(&["append", "--type", "t"]).says(2, "was deleted").clear();
    assert_eq!(std::fs::read_dir(sandbox.run_dir()).unwrap().count(), 1);
}

#[test]
fn a_link_or_a_directory_is_no_log() {
    let sandbox = Sandbox::new();
    put(&sandbox.path().join("elsewhere"), "");
    std::os::unix::fs::symlink(sandbox.path().join("elsewhere"), sandbox.log()).unwrap();
    assert_eq!(sandbox.run(&["append", "--type", "t"]).code, 8);
    assert_eq!(sandbox.run(&["cat"]).code, 4);
    assert_eq!(std::fs::read(sandbox.path().join("elsewhere")).unwrap(), b"");
}

/// I 123: a command that changes things finishes its work even if nobody hears of it.
#[test]
fn an_append_whose_output_is_lost_is_done_and_says_so() {
    let sandbox = Sandbox::new();
    for (redirect, code) in [(">/dev/full", 8), (">&-", 8)] {
        let mut shell = sandbox.other("sh");
        shell.args(["-c", &format!("exec \"$0\" append --type t {redirect}"), crate::sandbox::BIN]);
        run(shell).says(code, "cannot write to standard output").clear();
    }
    assert_eq!(sandbox.seqs(&[]), [0, 1]);
    let mut shell = sandbox.other("sh");
    shell.args(["-c", "exec \"$0\" cat >/dev/full", crate::sandbox::BIN]);
    run(shell).says(8, "cannot write to standard output").clear();
}

#[test]
fn a_subcommand_must_be_named_and_known() {
    let sandbox = Sandbox::new();
    sandbox.run(&[]).says(2, "no subcommand is named").clear();
    sandbox.run(&["bogus"]).says(2, "unrecognized subcommand 'bogus'").clear();
    assert!(sandbox.run(&["--help"]).ends(0).starts_with("append to, read, follow"));
}

#[test]
fn with_json_an_error_is_an_object() {
    let sandbox = Sandbox::new();
    let out = sandbox.run(&["append", "--type", "alert", "--json"]).ends(5);
    let error: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(error["error"]["code"], "refused");
}
