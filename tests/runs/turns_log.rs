//! `run-turn` (facts 4.10, case P) and `run-log` (facts 4.9, G 97).

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::sandbox::{Sandbox, add, until};
use crate::shell::{feed, go, json, stored};

fn write(sandbox: &Sandbox, line: &[&str]) -> serde_json::Value {
    json(sandbox, &[&["run-turn", "write"], line].concat())
}

/// P 161, 160.
#[test]
fn turns_are_written_read_and_listed() {
    let sandbox = Sandbox::new();
    write(&sandbox, &["n", "0", "1", r#"{"backend":"claw","x":1.50,"usage":{"input_tokens":1}}"#]);
    write(&sandbox, &["n", "0", "0", r#"{"backend":"claw"}"#]);
    let conversation = r#"[{"role":"user","content":"<a>"}]"#;
    write(
        &sandbox,
        &["n", "2", "0", r#"{"model":"m","backend":"b","run_id":"no","turn_index":9}"#, "--messages", conversation],
    );
    write(&sandbox, &["n", "10", "0", r#"{"backend":"b"}"#]);
    write(&sandbox, &["n", "2", "2", r#"{"backend":"b"}"#]);
    let list = go(&sandbox, &["run-turn", "list"]).ends(0);
    let places: Vec<_> = list.lines().map(|line| line.split('\t').take(3).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(places, ["n 0 0", "n 0 1", "n 2 0", "n 2 2", "n 10 0"]);
    assert_eq!(json(&sandbox, &["run-turn", "latest", "n"])["loop_iter"], 10);
    assert_eq!(stored(&sandbox, "turns/n/index.json")["loop_iter"], 10);
    let text = String::from_utf8(std::fs::read(sandbox.run_dir().join("turns/n/2/0.json")).unwrap()).unwrap();
    let start = "{\n  \"run_id\": \"r\",\n  \"node_id\": \"n\",\n  \"loop_iter\": 2,\n  \"turn_index\": 0,\n  \"backend\": \"b\",\n  \"model\": \"m\",\n  \"messages_ref\": \"2/0.messages.json\",\n  \"written_at\": ";
    assert!(text.starts_with(start), "{text}");
    let blob = go(&sandbox, &["run-turn", "read", "n", "2", "0", "--messages"]).ends(0);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&blob).unwrap(), json!([{"role":"user","content":"<a>"}]));
    assert!(go(&sandbox, &["run-turn", "read", "n", "0", "1"]).ends(0).contains("\"x\": 1.50"));
}

/// P 162.
#[test]
fn a_turn_that_is_not_there_is_said() {
    let sandbox = Sandbox::new();
    write(&sandbox, &["n", "0", "0", "{}"]);
    go(&sandbox, &["run-turn", "read", "n", "0", "1"]).says(2, "no turn 1 in iteration 0");
    go(&sandbox, &["run-turn", "read", "n", "0", "0", "--messages"]).says(2, "without its conversation");
    go(&sandbox, &["run-turn", "read", "n", "1", "0", "--messages"]).says(2, "no turn 0 in iteration 1");
    go(&sandbox, &["run-turn", "latest", "m"]).says(2, "has no turns");
    for bad in [&["n", "-1", "0"][..], &["n", "0", "-1"], &["n", "x", "0"], &["../n", "0", "0"]] {
        go(&sandbox, &[&["run-turn", "write"], bad, &["{}"]].concat()).ends(2).clear();
    }
}

/// P 164: a node that is executed anew writes its turns again.
#[test]
fn a_turn_written_again_replaces_the_old_one_and_its_conversation() {
    let sandbox = Sandbox::new();
    write(&sandbox, &["n", "0", "0", "{\"backend\":\"a\"}", "--messages", "[1]"]);
    write(&sandbox, &["n", "0", "0", "{\"backend\":\"b\"}"]);
    assert_eq!(json(&sandbox, &["run-turn", "latest", "n"])["backend"], "b");
    assert!(!sandbox.run_dir().join("turns/n/0/0.messages.json").exists());
    // An index of a kind that we do not know is left alone.
    sandbox.put("turns/n/index.json", "{\"turns\":[]}");
    write(&sandbox, &["n", "0", "1", "{}"]);
    assert_eq!(stored(&sandbox, "turns/n/index.json"), json!({"turns":[]}));
    assert_eq!(json(&sandbox, &["run-turn", "latest", "n"])["turn_index"], 1);
}

fn append(sandbox: &Sandbox, bytes: &str, more: &[&str]) -> crate::sandbox::Done {
    feed(sandbox, &[&["run-log", "append"], more].concat(), bytes)
}

/// G 98.
#[test]
fn a_piece_of_the_log_may_be_sent_twice() {
    let sandbox = Sandbox::new();
    assert_eq!(go(&sandbox, &["run-log", "size"]).ends(0), "0\n");
    assert_eq!(go(&sandbox, &["run-log", "read"]).ends(0), "");
    assert_eq!(append(&sandbox, "hello\n", &[]).ends(0), "{\"offset\":0,\"bytes\":6,\"known\":0,\"size\":6}\n");
    assert_eq!(
        append(&sandbox, "world\n", &["--offset", "6"]).ends(0),
        "{\"offset\":6,\"bytes\":6,\"known\":0,\"size\":12}\n"
    );
    assert_eq!(
        append(&sandbox, "world\n", &["--offset", "6"]).ends(0),
        "{\"offset\":6,\"bytes\":6,\"known\":6,\"size\":12}\n"
    );
    assert_eq!(
        append(&sandbox, "world\nmore", &["--offset", "6"]).ends(0),
        "{\"offset\":6,\"bytes\":10,\"known\":6,\"size\":16}\n"
    );
    append(&sandbox, "World", &["--offset", "6"]).says(6, "other bytes at offset 6");
    append(&sandbox, "x", &["--offset", "17"]).says(5, "gap of NUL bytes");
    append(&sandbox, "x", &["--allow-gap"]).ends(2).clear();
    assert_eq!(go(&sandbox, &["run-log", "read"]).ends(0), "hello\nworld\nmore");
    append(&sandbox, "World", &["--offset", "6", "--overwrite"]).ends(0).clear();
    append(&sandbox, "x", &["--offset", "18", "--allow-gap"]).ends(0).clear();
    assert_eq!(go(&sandbox, &["run-log", "read"]).ends(0), "hello\nWorld\nmore\0\0x");
    let read =
        |from: &str, until: &str| go(&sandbox, &["run-log", "read", "--from", from, "--until", until]).ends(0);
    assert_eq!(read("6", "11"), "World");
    assert_eq!(read("12", "0"), "more\0\0x");
    assert_eq!((read("99", "0"), read("5", "3")), (String::new(), String::new()));
    let mode = std::fs::metadata(sandbox.run_dir().join("run.log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// G 97.
#[test]
fn a_follower_begins_again_when_the_log_gets_shorter() {
    let sandbox = Sandbox::new();
    let path = sandbox.run_dir().join("run.log");
    let out = sandbox.path().join("out");
    let mut follower = sandbox
        .program(&["run-log", "follow"])
        .stdout(std::fs::File::create(&out).unwrap())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let text = || String::from_utf8(std::fs::read(&out).unwrap()).unwrap();
    append(&sandbox, "one\ntwo", &[]).ends(0).clear();
    until("the log was given out", || text() == "one\ntwo");
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    add(&path, "new");
    until("from its start", || text() == "one\ntwonew");
    append(&sandbox, " more", &[]).ends(0).clear();
    until("and what came", || text() == "one\ntwonew more");
    sandbox.put("other", "other");
    std::fs::hard_link(sandbox.run_dir().join("other"), sandbox.run_dir().join("link")).unwrap();
    rustix::fs::rename(sandbox.run_dir().join("other"), &path).unwrap();
    until("of another file", || text() == "one\ntwonew moreother");
    sandbox.put(".deleted", "");
    assert_eq!(follower.wait().unwrap().code(), Some(3));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut follower.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(said.matches("begins again at its start").count(), 2, "{said}");
}
