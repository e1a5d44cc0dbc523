//! `run-plan` and `run-tool` (facts 4.4, 4.5, cases K 123 to 127).

use std::process::Stdio;

use serde_json::json;

use crate::sandbox::{Sandbox, run, run_with};
use crate::shell::{events, feed, go, json, stored, with_status};

const A: &str = r#"[{"content":"a","status":"pending"}]"#;
const B: &str = r#"[{"content":"a","status":"completed","priority":"high"}]"#;

/// K 123, 122.
#[test]
fn the_same_todos_make_no_new_plan() {
    let sandbox = with_status("running");
    let write = |node: &str, todos: &str| {
        let receipt =
            json(&sandbox, &["run-plan", "write", node, todos, "--iteration", "2", "--tool", "TodoWrite"]);
        (receipt["seq"].as_i64().unwrap(), receipt["new"].as_bool().unwrap())
    };
    assert_eq!(write("n", A), (1, true));
    assert_eq!(
        write("m", r#" [ { "status" : "pending", "id": "", "content": "\u0061" } ] "#),
        (1, false),
        "of another node, in other words"
    );
    assert_eq!(write("n", B), (2, true));
    assert_eq!(write("n", A), (3, true), "A, B, A are three");
    let text = String::from_utf8(std::fs::read(sandbox.run_dir().join("plans/0002.json")).unwrap()).unwrap();
    assert!(
        text.starts_with(
            "{\n  \"seq\": 2,\n  \"node_id\": \"n\",\n  \"iteration\": 2,\n  \"tool\": \"TodoWrite\",\n  \"ts\": \""
        ),
        "{text}"
    );
    assert!(text.ends_with("\"priority\": \"high\"\n    }\n  ]\n}"), "{text}");
    assert_eq!(
        events(&sandbox, "*"),
        [1, 2, 3]
            .map(|seq| format!("plan_written n {{\"seq\":{seq},\"node_id\":\"n\",\"iteration\":2,\"count\":1}}"))
    );
    assert_eq!(json(&sandbox, &["run-plan", "show", "--json"])["seq"], 3);
    assert_eq!(json(&sandbox, &["run-plan", "show", "1", "--json"])["seq"], 1);
    go(&sandbox, &["run-plan", "show", "4"]).says(2, "no plan 4");
    go(&sandbox, &["run-plan", "write", "n", "{}"]).says(2, "not an array");
}

/// K 125 (facts 10.33).
#[test]
fn plans_go_by_number_also_above_9999() {
    let sandbox = Sandbox::new();
    std::fs::DirBuilder::new().create(sandbox.run_dir().join("plans")).unwrap();
    for seq in ["0002", "9999", "10000"] {
        sandbox.put(
            &format!("plans/{seq}.json"),
            format!("{{\"seq\":{},\"todos\":{B}}}", seq.trim_start_matches('0')),
        );
    }
    for other in ["7.json", "00011.json", "x.json", ".0003.json"] {
        sandbox.put(&format!("plans/{other}"), "{}");
    }
    assert_eq!(json(&sandbox, &["run-plan", "write", "n", B])["seq"], 10000, "compared with the last by number");
    assert_eq!(json(&sandbox, &["run-plan", "write", "n", A])["seq"], 10001);
    sandbox.put("plans/9999.json", "{");
    let list = go(&sandbox, &["run-plan", "list"]).says(3, "plan 9999 is left out");
    let seqs: Vec<_> = list.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(seqs, ["2", "10000", "10001"]);
    // What cannot be read is not the same.
    sandbox.put("plans/10001.json", "{");
    assert_eq!(json(&sandbox, &["run-plan", "write", "n", A])["seq"], 10002);
}

fn payload(sandbox: &Sandbox, bytes: &[u8]) -> serde_json::Value {
    let out = feed(sandbox, &["run-tool", "put", "tu", "output"], bytes).ends(0);
    serde_json::from_str(&out).unwrap()
}

/// K 127.
#[test]
fn a_body_stays_in_the_event_up_to_4096_bytes() {
    let sandbox = with_status("running");
    assert_eq!(payload(&sandbox, b""), json!({}));
    let text = "x".repeat(4096);
    assert_eq!(payload(&sandbox, text.as_bytes()), json!({ "output": text }));
    assert!(!sandbox.run_dir().join("tools").exists());
    feed(&sandbox, &["run-tool", "put", "tu", "input", "--run", "q"], "x").ends(0).clear();
    assert!(!sandbox.path().join("store/runs/q").exists(), "nothing is made for what is not stored");
    let longer = "x".repeat(4097);
    let said = payload(&sandbox, longer.as_bytes());
    assert_eq!(said, json!({"output_preview": text, "output_size": 4097, "output_ref": "tu"}));
    assert_eq!(go(&sandbox, &["run-tool", "get", "tu", "output"]).ends(0), longer);
}

/// K 126 (facts 10.27).
#[test]
fn a_preview_ends_with_a_character() {
    let sandbox = Sandbox::new();
    for shift in 0..4 {
        let text = format!("{}{}", "x".repeat(shift), "\u{1f600}".repeat(2000));
        let said = payload(&sandbox, text.as_bytes());
        let preview = said["output_preview"].as_str().unwrap();
        assert!(text.starts_with(preview) && preview.len() > 4092 && preview.len() <= 4096, "{shift}");
        assert_eq!(said["output_size"], text.len());
    }
    // Bytes that are no text would not survive in the event.
    let said = payload(&sandbox, b"\xff\xfe\0");
    assert_eq!((&said["output_size"], &said["output_ref"]), (&json!(3), &json!("tu")));
    assert_eq!(std::fs::read(sandbox.run_dir().join("tools/tu/output")).unwrap(), b"\xff\xfe\0");
}

/// K 124.
#[test]
fn a_part_of_a_body_is_given_out() {
    let sandbox = Sandbox::new();
    feed(&sandbox, &["run-tool", "put", "tu", "input", "--threshold", "4"], "0123456789").ends(0).clear();
    let get = |more: &[&str]| go(&sandbox, &[&["run-tool", "get", "tu", "input"], more].concat()).ends(0);
    assert_eq!(get(&["--offset", "3", "--limit", "4"]), "3456");
    assert_eq!(get(&["--offset", "-5", "--limit", "2"]), "01");
    assert_eq!(get(&["--offset", "8", "--limit", "0"]), "89");
    assert_eq!(get(&["--offset", "10"]), "");
    assert_eq!(get(&["--offset", "99", "--size"]), "{\"offset\":10,\"bytes\":0,\"total\":10,\"eof\":true}\n");
    assert_eq!(get(&["--limit", "4", "--size"]), "{\"offset\":0,\"bytes\":4,\"total\":10,\"eof\":false}\n");
    go(&sandbox, &["run-tool", "get", "tu", "output"]).says(2, "no output of the tool call 'tu'");
    go(&sandbox, &["run-tool", "get", "tu", "meta"]).ends(2).clear();
    go(&sandbox, &["run-tool", "put", "../tu", "input"]).says(2, "tool use id");
    feed(&sandbox, &["run-tool", "put", "tu", "input", "--threshold", "4"], "another").ends(0).clear();
    assert_eq!(get(&[]), "another", "whole old or whole new");
}

/// K 128: where the file cannot be written the event holds what fits.
#[test]
fn a_body_that_cannot_be_stored_is_rescued() {
    let text = format!("{}\u{e9}", "x".repeat((1 << 20) - 1));
    let long = format!("{text}{}", "y".repeat(300_000));
    let mut rescued = 0;
    for nth in 1.. {
        let sandbox = Sandbox::new();
        let fired = sandbox.path().join("fired");
        let mut command = sandbox.program(&["run-tool", "put", "tu", "input"]);
        command.env("WT_TEST_FAULT", format!("{nth}:ENOSPC")).env("WT_TEST_FIRED", &fired).env("WT_FSYNC", "on");
        let done = run_with(command, &long);
        if !fired.exists() {
            done.ends(0).clear();
            break;
        }
        if done.code == 0 {
            continue;
        }
        let said: serde_json::Value = serde_json::from_str(&done.says(3, "the body is not stored")).unwrap();
        assert_eq!(said["input_size"], long.len());
        assert_eq!(said["input"].as_str().unwrap(), &long[..(1 << 20) - 1], "cut before the character");
        assert!(said.get("input_ref").is_none());
        let left: Vec<_> =
            crate::shell::paths(&sandbox).into_iter().filter(|path| path.starts_with(".upload")).collect();
        assert!(left.is_empty(), "{left:?}");
        rescued += 1;
    }
    assert!(rescued >= 6, "{rescued}");
}

/// A reader that goes away is told by the code, and nothing else is wrong.
#[test]
fn a_body_of_megabytes_is_streamed() {
    let sandbox = Sandbox::new();
    let mut put = sandbox.program(&["run-tool", "put", "tu", "output"]);
    let mut bytes = std::process::Command::new("sh")
        .args(["-c", "yes 0123456 | head -c 20000000"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    put.stdin(bytes.stdout.take().unwrap());
    let out = put.output().unwrap();
    bytes.wait().unwrap();
    assert!(String::from_utf8(out.stdout).unwrap().contains("\"output_size\":20000000"));
    assert_eq!(std::fs::metadata(sandbox.run_dir().join("tools/tu/output")).unwrap().len(), 20_000_000);
    assert_eq!(stored_len(&sandbox), 20_000_000);
}

fn stored_len(sandbox: &Sandbox) -> u64 {
    let done = run(sandbox.program(&["run-tool", "get", "tu", "output", "--size"])).ends(0);
    serde_json::from_str::<serde_json::Value>(&done).unwrap()["total"].as_u64().unwrap()
}

#[test]
fn a_plan_of_the_original_is_read() {
    let sandbox = Sandbox::new();
    std::fs::DirBuilder::new().create(sandbox.run_dir().join("plans")).unwrap();
    sandbox.put(
        "plans/0001.json",
        "{\"seq\":1,\"node_id\":\"n\",\"todos\":[{\"content\":\"a\",\"status\":\"pending\",\"new\":1.0}]}",
    );
    let same = r#"[{"content":"a","status":"pending","new":1.0}]"#;
    assert_eq!(json(&sandbox, &["run-plan", "write", "n", same])["new"], false);
    assert_eq!(json(&sandbox, &["run-plan", "write", "n", &same.replace("1.0", "1")])["new"], true);
    assert_eq!(stored(&sandbox, "plans/0002.json")["todos"][0]["new"], 1);
}
