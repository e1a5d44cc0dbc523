//! `run-show`: what it says, on whole runs and on damaged ones.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{Sandbox, event, put, run, until};

fn shown(sandbox: &Sandbox) -> Value {
    let done = sandbox.call(&["run-show", "r", "--json"]);
    assert!(matches!(done.code, 0 | 3), "{}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

/// The commands that it proposes are commands that do what is said.
#[test]
fn what_it_proposes_can_be_done() {
    let sandbox = Sandbox::new();
    sandbox
        .sh("run-record create --run q > x; run-interaction ask gate '{\"it'\\''s\":\"ok?\"}' --run q > x")
        .ends(0);
    sandbox.sh("run-record pause --run q --checkpoint '{\"node_id\":\"gate\"}' --interaction q_gate > x").ends(0);
    let next = |id: &str| {
        let out = sandbox.call(&["run-show", id, "--json"]).ends(0);
        let json: Value = serde_json::from_str(&out).unwrap();
        let steps = json["posture"]["next"].as_array().unwrap().clone();
        steps.iter().map(|step| step["command"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let commands = next("q");
    assert_eq!(commands.len(), 3, "{commands:?}");
    sandbox.sh(&commands[0]).ends(0);
    assert_eq!(next("q").len(), 3, "the question is answered, and shown no more");
    sandbox.sh(&commands[1]).ends(0);
    assert_eq!(sandbox.json_of("q")["status"], "running");
    sandbox.sh(&commands[2].replace("ENGINE", "true")).ends(0);
    // Orphaned, resumed, given up.
    sandbox.make("q", "running", "");
    std::fs::remove_file(sandbox.dir_of("q").join("events.jsonl")).unwrap();
    sandbox.sh(&next("q")[0]).ends(0);
    let commands = next("q");
    sandbox.sh(&commands[0]).ends(0);
    assert_eq!(sandbox.json_of("q")["status"], "running");
    sandbox.sh("run-record fail --resumable --code TIMEOUT --run q").ends(0);
    sandbox.sh(&commands[2]).ends(0);
    assert_eq!(sandbox.json_of("q")["status"], "failed");
}

#[test]
fn nothing_is_changed() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    put(&sandbox.log(), event(0));
    let before = crate::life::tree(sandbox.path());
    let _ = sandbox.call(&["run-show", "r"]);
    assert_eq!(crate::life::tree(sandbox.path()), before);
}

#[test]
fn whether_it_is_executed_is_said() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    let liveness = || shown(&sandbox)["liveness"]["verdict"].as_str().unwrap().to_owned();
    assert_eq!(liveness(), "orphaned");
    let engine = sandbox.engine("r", &[]);
    assert_eq!(liveness(), "live");
    sandbox.make("r", "finished", "");
    assert!(shown(&sandbox)["lock"].as_str().unwrap().contains("held by process"), "although it has ended");
    drop(engine);
    assert_eq!(shown(&sandbox).get("lock"), None);
}

/// Half of a run is better than none.
#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_shown() {
    let sandbox = Sandbox::new();
    sandbox.call(&["run-show", "nobody"]).says(2, "there is no run 'nobody'");
    sandbox.make("r", "failed", "");
    for (name, text, named) in [
        ("run.json", "{\"status\":", "run.json"),
        ("events.jsonl", "{\"seq\":0,\"type\":\"t\"}\nnoise\nnoise\n", "the event log is damaged"),
        ("interactions/i.json", "{", "i.json"),
        ("workspace/index.json", "{", "index.json"),
        ("user_messages.jsonl", "noise\nnoise\n{}\n", "messages"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.make("r", "failed", "");
        std::fs::create_dir_all(sandbox.run_dir().join("interactions")).unwrap();
        std::fs::create_dir_all(sandbox.run_dir().join("workspace")).unwrap();
        put(&sandbox.log(), event(0));
        sandbox.put(name, text);
        let done = sandbox.call(&["run-show", "r"]);
        let (screen, problems) =
            done.out.split_once("COULD NOT BE READ").unwrap_or_else(|| panic!("{name}: {}", done.out));
        assert!(problems.contains(named), "{name}: {problems}");
        assert!(name == "run.json" || screen.contains("failed"), "{name}: {screen}");
        assert!(name == "events.jsonl" || screen.contains("EVENTS"), "{name}: {screen}");
        done.ends(3);
    }
    sandbox.put(".deleted", "");
    sandbox.call(&["run-show", "r"]).says(2, "was deleted");
}

#[test]
fn a_run_cannot_drive_the_terminal() {
    let sandbox = Sandbox::new();
    let hostile = "\\u001b[2J\\u0007\\n\\u009b";
    let more = format!(
        ",\"name\":\"{hostile}\",\"error\":\"{hostile}\",\"work_dir\":\"{hostile}\",\"checkpoint\":{{\"node_id\":\"{hostile}\"}},\
         \"nodes_served\":{{\"{hostile}\":{{\"model\":\"{hostile}\"}}}},\"end_reason\":\"{hostile}\""
    );
    sandbox.make("r", "failed", &more);
    let line = event(0)
        .replace("\"t\"", &format!("\"{hostile}\""))
        .replace("\"r\"", &format!("\"r\",\"node_id\":\"{hostile}\""));
    let started =
        format!("{{\"seq\":1,\"type\":\"node_started\",\"node_id\":\"{hostile}\",\"branch_id\":\"{hostile}\"}}\n");
    let deployed = format!(
        "{{\"seq\":2,\"type\":\"node_finished\",\"node_id\":\"n\",\"data\":{{\"output\":{{\"deployed_url\":\"{hostile}\",\"notes\":\"{hostile}\"}}}}}}\n"
    );
    put(&sandbox.log(), line + &started + &deployed);
    std::fs::create_dir(sandbox.run_dir().join("interactions")).unwrap();
    sandbox.put(
        "interactions/i.json",
        format!("{{\"id\":\"{hostile}\",\"questions\":{{\"{hostile}\":\"{hostile}\"}}}}"),
    );
    let out = sandbox.call(&["run-show", "r"]).out;
    assert!(out.contains("DEPLOYMENT") && out.contains("QUESTIONS"), "{out}");
    assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{out:?}");
}

/// Commands stay whole, whatever the width; all else is cut.
#[test]
fn lines_are_cut_at_the_width() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(200);
    sandbox.make("r", "failed", &format!(",\"error\":\"{long}\",\"checkpoint\":{{\"node_id\":\"{long}\"}}"));
    let mut command = sandbox.program(&["run-show", "r"]);
    command.env("COLUMNS", "40");
    let out = run(command).ends(0);
    let (wide, narrow): (Vec<&str>, Vec<&str>) = out.lines().partition(|line| line.chars().count() > 40);
    assert_eq!(wide, [format!("      wt-rewind -n --node {long} --run r")]);
    assert!(narrow.iter().any(|line| line.ends_with('\u{2026}')), "{out}");
    assert!(sandbox.call(&["run-show", "r"]).out.contains(&format!("{long}\n")), "without a width nothing is");
}

#[test]
fn snapshots_and_banks_are_shown() {
    let sandbox = Sandbox::new();
    let script = "mkdir p; echo x > p/x; \
                  wt-ls-files -C p -z --records | wt-hash-object -C p -w -z --stdin-records | \
                  wt-write-manifest -C p -z --label pre:a:0 --label pre-restore:1:1";
    sandbox.sh(script).ends(0);
    sandbox.make("r", "finished", "");
    let json = shown(&sandbox);
    assert_eq!((&json["snapshots"]["count"], &json["snapshots"]["newest"][0]["files"]), (&1.into(), &1.into()));
    assert_eq!(json["snapshots"]["banks"]["pre-restore:1:1"], json["snapshots"]["head"]);
    assert!(sandbox.call(&["run-show", "r"]).out.contains("bank "));
}

#[test]
fn a_watch_shows_each_change_and_ends_with_its_reader() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    let out = sandbox.path().join("out");
    let mut command = sandbox.program(&["run-show", "r", "--watch", "--json"]);
    let mut watch = command.stdin(Stdio::null()).stdout(std::fs::File::create(&out).unwrap()).spawn().unwrap();
    let lines = || std::fs::read_to_string(&out).unwrap().lines().count();
    until("it is shown", || lines() == 1);
    sandbox.append();
    until("the event is shown", || std::fs::read_to_string(&out).unwrap().contains("\"count\":1"));
    let before = lines();
    sandbox.make("r", "finished", "");
    until("the status is shown", || lines() > before);
    watch.kill().unwrap();
    watch.wait().unwrap();
    sandbox.sh("run-show r --watch | head -n 1").ends(0);
}

/// What is before the last events is not looked at where nobody asked for it, and only once where somebody watches.
#[test]
fn the_log_is_read_no_more_than_is_needed() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    let started =
        r#"{"seq":0,"timestamp":"2026-01-01T00:00:00Z","type":"node_started","run_id":"r","node_id":"n"}"#;
    let many = |from: u64| (from..from + 40_000).map(event).collect::<Vec<_>>().concat();
    put(&sandbox.log(), format!("{started}\nnot an event\n{}", many(1)));
    let whole = sandbox.call(&["run-show", "r", "--json", "--events", "2"]);
    let (whole, code): (Value, _) = (serde_json::from_str(&whole.out).unwrap(), whole.code);
    let brief = sandbox.call(&["run-show", "r", "--json", "--events", "2", "--brief"]).ends(0);
    let brief: Value = serde_json::from_str(&brief).unwrap();
    assert_eq!((code, &whole["nodes"][0]["node"], &whole["events"]["count"]), (3, &"n".into(), &40_001.into()));
    assert_eq!(brief["events"]["last"], whole["events"]["last"]);
    assert_eq!((&brief["events"]["last_seq"], brief["events"].get("count")), (&40_000.into(), None));
    for member in ["nodes", "totals", "deployment"] {
        assert!(brief.get(member).is_none(), "{member}");
    }
    assert!(sandbox.call(&["run-show", "r", "--brief"]).ends(0).contains("EVENTS (the last ones)"));
    // A watch reads each byte once, whatever comes; what is no longer the same log is read anew.
    put(&sandbox.log(), format!("{started}\n{}", many(1)));
    let len = std::fs::metadata(sandbox.log()).unwrap().len();
    let out = sandbox.path().join("out");
    let mut command = sandbox.program(&["run-show", "r", "--watch", "--json", "--events", "1"]);
    let mut watch = command.stdin(Stdio::null()).stdout(std::fs::File::create(&out).unwrap()).spawn().unwrap();
    let shows = |text: &str| {
        until(text, || {
            std::fs::read_to_string(&out).unwrap().lines().last().is_some_and(|line| line.contains(text))
        });
    };
    let read = || {
        let io = std::fs::read_to_string(format!("/proc/{}/io", watch.id())).unwrap();
        io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse::<u64>().unwrap()
    };
    shows("\"last_seq\":40000");
    let before = read();
    assert!(before >= len);
    for seq in 40_001..40_011 {
        crate::sandbox::add(&sandbox.log(), event(seq));
        shows(&format!("\"last_seq\":{seq}"));
    }
    let torn = event(40_011);
    crate::sandbox::add(&sandbox.log(), &torn[..torn.len() - 1]);
    shows("\"last_seq\":40011");
    crate::sandbox::add(&sandbox.log(), "\n");
    crate::sandbox::add(&sandbox.log(), event(40_012));
    shows("\"count\":40013");
    // Twelve looks, less than the log once; the rest is what each look reads beside the log.
    assert!(read() - before < len, "{} bytes were read again, and the log has {len}", read() - before);
    put(&sandbox.log(), format!("{started}\n{}", event(1)));
    shows("\"count\":2");
    std::fs::remove_file(sandbox.log()).unwrap();
    until("nothing", || std::fs::read_to_string(&out).unwrap().lines().last().unwrap().contains("\"nodes\":[]"));
    watch.kill().unwrap();
    watch.wait().unwrap();
}

/// A history that somebody captured without a run is no damage.
#[test]
fn a_directory_without_a_document_is_no_damage() {
    let sandbox = Sandbox::new();
    let shown = sandbox.call(&["run-show", "r"]).ends(0);
    assert!(shown.contains("it has no document") && !shown.contains("COULD NOT BE READ"), "{shown}");
    put(&sandbox.run_dir().join("run.json"), "{\"st");
    let shown = sandbox.call(&["run-show", "r"]).ends(3);
    assert!(shown.contains("run.json cannot be read") && shown.contains("COULD NOT BE READ"), "{shown}");
    let mut command = sandbox.program(&["run-show"]);
    command.env_remove("WT_RUN");
    run(command).says(2, "run-record list");
}
