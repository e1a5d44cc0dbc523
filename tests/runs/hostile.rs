//! Broken promises that were found by trying to break them: bytes of others removed through links, a change that is denied or
//! made twice, runs that are made, deleted or passed over where they must not be, and programs that do not end.

use std::os::unix::fs::symlink;

use crate::files_deleted::WRITERS;
use crate::sandbox::{Holder, Sandbox, put, run_with};
use crate::shell::{feed, go, paths, run_json, stored, with_status};

/// A directory of somebody else that looks like an attachment.
fn elsewhere(sandbox: &Sandbox) -> std::path::PathBuf {
    let dir = sandbox.path().join("elsewhere");
    std::fs::create_dir(&dir).unwrap();
    put(&dir.join("meta.json"), r#"{"name":"x","original_filename":"precious"}"#);
    put(&dir.join("precious"), "p");
    std::fs::create_dir(dir.join("sub")).unwrap();
    put(&dir.join("sub/deep"), "d");
    dir
}

fn is_whole(dir: &std::path::Path) -> bool {
    ["meta.json", "precious", "sub/deep"].iter().all(|name| dir.join(name).is_file())
}

#[test]
fn removing_an_attachment_removes_nothing_behind_a_link() {
    for args in [&["x"][..], &["--all"]] {
        let sandbox = with_status("running");
        feed(&sandbox, &["run-attachment", "add", "y=-"], "bytes").ends(0).clear();
        let dir = elsewhere(&sandbox);
        let link = sandbox.run_dir().join("attachments/x");
        symlink(&dir, &link).unwrap();
        go(&sandbox, &[&["run-attachment", "remove"], args].concat()).ends(0).clear();
        assert!(is_whole(&dir), "{args:?}");
        assert!(link.symlink_metadata().is_err(), "{args:?}: the link is gone");
    }
}

#[test]
fn an_attachment_is_not_put_behind_a_link() {
    let sandbox = with_status("running");
    feed(&sandbox, &["run-attachment", "add", "y=-"], "bytes").ends(0).clear();
    let dir = sandbox.path().join("empty");
    std::fs::create_dir(&dir).unwrap();
    symlink(&dir, sandbox.run_dir().join("attachments/x")).unwrap();
    feed(&sandbox, &["run-attachment", "add", "x=-"], "bytes").says(5, "is a symbolic link");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
    assert!(sandbox.run_dir().join("attachments/x").is_symlink());
}

/// Directories and links in it go too, and what the links point to stays.
#[test]
fn whatever_lies_in_an_attachments_directory_goes_with_it() {
    let sandbox = with_status("running");
    feed(&sandbox, &["run-attachment", "add", "x=-"], "bytes").ends(0).clear();
    let dir = elsewhere(&sandbox);
    let own = sandbox.run_dir().join("attachments/x");
    std::fs::create_dir_all(own.join("sub/deeper")).unwrap();
    put(&own.join("sub/deeper/f"), "f");
    symlink(&dir, own.join("link")).unwrap();
    go(&sandbox, &["run-attachment", "remove", "x"]).ends(0).clear();
    assert!(!own.exists());
    assert!(is_whole(&dir));
    assert!(stored(&sandbox, "run.json").get("attachments").is_none());
}

/// Exit 4 says that nothing was changed, so a change whose event cannot even be looked for is no such failure.
#[test]
fn a_change_beside_an_unreadable_log_is_owned_to() {
    let sandbox = with_status("running");
    go(&sandbox, &["run-interaction", "ask", "n", "{}", "--id", "i", "--no-event"]).ends(0).clear();
    go(&sandbox, &["run-message", "queue", "x", "--id", "m", "--no-event"]).ends(0).clear();
    std::fs::create_dir(sandbox.log()).unwrap();
    go(&sandbox, &["run-interaction", "answer", "i", r#"{"a":1}"#]).says(3, "its event is missing");
    go(&sandbox, &["run-message", "deliver", "m"]).says(3, "its event is missing");
    std::fs::remove_dir(sandbox.log()).unwrap();
    go(&sandbox, &["run-interaction", "answer", "i", r#"{"a":1}"#]).ends(0).clear();
    go(&sandbox, &["run-message", "deliver", "m"]).ends(0).clear();
    let log = sandbox.log_text();
    assert_eq!(
        (log.matches("human_answers_recorded").count(), log.matches("user_message_delivered").count()),
        (1, 1)
    );
}

/// The way out that a warning names adds the event and nothing else.
#[test]
fn making_up_for_an_event_changes_nothing_twice() {
    let cases: [&[&str]; 3] = [
        &["run-interaction", "turn", "i", "human", "--content", "x"],
        &["run-message", "queue", "x"],
        &["run-artifact", "write", "n", "{}", "--publish", "p"],
    ];
    for line in cases {
        let sandbox = with_status("running");
        go(&sandbox, &["run-interaction", "ask", "n", "{}", "--id", "i", "--no-event"]).ends(0).clear();
        std::fs::create_dir(sandbox.log()).unwrap();
        let done = go(&sandbox, line);
        let advice = done.err.split_once("the same command with ").expect("an option is named").1;
        let advice: Vec<&str> = advice.split(' ').take(2).collect();
        assert_eq!(done.code, 3, "{line:?}");
        std::fs::remove_dir(sandbox.log()).unwrap();
        let before = (paths(&sandbox), documents(&sandbox));
        go(&sandbox, &[line, &advice].concat()).ends(0).clear();
        assert_eq!(sandbox.log_text().lines().count(), 1, "{line:?}");
        std::fs::remove_file(sandbox.log()).unwrap();
        assert_eq!((paths(&sandbox), documents(&sandbox)), before, "{line:?} {advice:?}");
    }
}

/// The interaction and the messages as they are stored.
fn documents(sandbox: &Sandbox) -> Vec<Option<Vec<u8>>> {
    let names = ["interactions/i.json", "user_messages.jsonl", "run.json"];
    names.iter().map(|name| std::fs::read(sandbox.run_dir().join(name)).ok()).collect()
}

/// 10.1, 10.10: an id under which no run is made is none under which another writer makes the directory of one.
#[test]
fn no_writer_makes_a_run_that_create_refuses() {
    let ids = [
        ("pc1_x", 5),
        ("pc12_", 5),
        ("R", 5),
        ("\u{435}", 2),
        ("a\u{200b}b", 2),
        ("\u{ff0e}\u{ff0e}", 2),
        ("x ", 2),
    ];
    let others: [&[&str]; 3] =
        [&["run-record", "create"], &["run-events", "append", "--type", "x"], &["run-lock", "--", "true"]];
    for (id, code) in ids {
        let sandbox = with_status("running");
        let makers = WRITERS.iter().filter(|(line, _)| line.len() > 1);
        for (line, stdin) in makers.map(|(line, stdin)| (*line, *stdin)).chain(others.map(|line| (line, ""))) {
            let is_create = line == ["run-record", "create"];
            let mut command =
                if is_create { sandbox.program(&[line, &["--run", id]].concat()) } else { sandbox.program(line) };
            command.env("WT_RUN", id);
            let done = run_with(command, stdin);
            let runs: Vec<_> = std::fs::read_dir(sandbox.path().join("store/runs")).unwrap().collect();
            assert_eq!(runs.len(), 1, "{id} {line:?}");
            let is_maker =
                ["create", "append", "--", "write", "add", "files-dir"].iter().any(|word| line.contains(word));
            if is_maker {
                assert_eq!(done.code, code, "{id} {line:?}: {}", done.err);
            }
        }
    }
    // What is there goes on.
    let sandbox = with_status("running");
    std::fs::create_dir(sandbox.path().join("store/runs/pc1_x")).unwrap();
    let mut command = sandbox.program(&["run-log", "append"]);
    command.env("WT_RUN", "pc1_x");
    run_with(command, "x").ends(0).clear();
}

/// 10.1: nor does a program of the history, which makes the directory of a run by its first capture or label.
#[test]
fn no_capture_makes_a_run_of_a_reserved_family() {
    let sandbox = with_status("running");
    let bin = std::path::Path::new(crate::sandbox::BIN).parent().unwrap().to_owned();
    let porcelain = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("porcelain");
    let path = format!("{}:{}:/usr/bin:/bin", bin.display(), porcelain.display());
    std::fs::create_dir(sandbox.path().join("ws")).unwrap();
    put(&sandbox.path().join("ws/f"), "f");
    let sh = |run: &str, script: &str| {
        let mut command = sandbox.other("sh");
        command.args(["-c", script]).env("PATH", &path).env("WT_RUN", run).env("WT_WORKSPACE", "ws");
        crate::sandbox::run(command)
    };
    let pipeline =
        "wt-ls-files -z --records | wt-hash-object -w -z --stdin-records | wt-write-manifest -z --label l";
    let id = sh("r", pipeline).ends(0);
    let label = format!("wt-label l {}", id.trim());
    let runs = || std::fs::read_dir(sandbox.path().join("store/runs")).unwrap().count();
    let makers = [pipeline, "wt-capture -q l", "wt-bank -q", "wt-boundary pre n 0", "wt-run-node n -- true"];
    for script in makers.into_iter().chain([&*label]) {
        for run in ["pc1_x", "pc22_"] {
            let done = sh(run, script);
            assert_eq!(runs(), 1, "{run}: {script}: {}", done.err);
            assert_ne!(done.code, 0, "{run}: {script}");
            if script != label {
                assert!(done.err.contains("is of the family 'pc<digits>_'"), "{script}: {}", done.err);
            }
        }
    }
    sh("pc1_x", pipeline).ends(5).clear();
    // One that is there is written and read as any other.
    std::fs::create_dir(sandbox.path().join("store/runs/pc1_x")).unwrap();
    sh("pc1_x", pipeline).ends(0).clear();
    assert!(sh("pc1_x", "wt-log").ends(0).contains('l'));
}

/// A name that turns the text around is shown as what it is to a person, and goes through a pipe as it is.
#[test]
fn what_is_not_seen_is_data_in_a_pipe_and_shown_on_a_terminal() {
    let sandbox = with_status("running");
    let name = "a\u{202e}b\u{200b}c";
    for line in [
        &["run-message", "queue", name, "--id", "m"][..],
        &["run-interaction", "ask", name, "{}", "--id", "i"],
        &["run-artifact", "write", name, "{}", "--label", name],
        &["run-turn", "write", name, "0", "0", "{}"],
        &["run-plan", "write", name, "[]"],
        &["run-events", "append", "--type", "t", "--node", name],
    ] {
        go(&sandbox, line).ends(0).clear();
    }
    feed(&sandbox, &["run-attachment", "add", &format!("{name}=-")], "x").ends(0).clear();
    go(&sandbox, &["run-record", "fail", "--resumable"]).ends(0).clear();
    go(&sandbox, &["run-route", "claim", "--owner", name]).ends(0).clear();
    for line in [
        &["run-message", "list"][..],
        &["run-route", "list"],
        &["run-interaction", "list"],
        &["run-artifact", "list"],
        &["run-artifact", "labels", name],
        &["run-turn", "list"],
        &["run-plan", "list"],
        &["run-attachment", "list"],
        &["run-events", "cat", "--format", "{node}"],
    ] {
        assert!(go(&sandbox, line).ends(0).contains(name), "{line:?}");
        let words: Vec<_> = line.iter().map(|word| format!("'{word}'")).collect();
        let mut script = sandbox.other("script");
        script.args(["-qec", &words.join(" "), "/dev/null"]);
        let done = crate::sandbox::run(crate::life::with_programs(script));
        if done.code != 0 {
            eprintln!("left out: no terminal can be made here: {}", done.err);
            return;
        }
        assert!(done.out.contains("a\\u{202e}b\\u{200b}c") && !done.out.contains(name), "{line:?}: {}", done.out);
    }
    // A document is the same value on both, and its raw bytes in a pipe.
    let shown = "run-artifact read \"$NAME\" 0; run-plan show; run-record get /error";
    go(&sandbox, &["run-record", "fail", "--resumable", "--error", &format!("{name}\u{9b}2J")]).ends(0).clear();
    let mut script = sandbox.other("script");
    script.args(["-qec", shown, "/dev/null"]).env("NAME", name);
    let done = crate::sandbox::run(crate::life::with_programs(script));
    assert!(done.out.contains("a\\u202eb\\u200bc") && done.out.contains("\\u009b2J"), "{}", done.out);
    assert!(!done.out.contains(name) && !done.out.contains('\u{9b}'), "{}", done.out);
    assert!(go(&sandbox, &["run-record", "get", "/error"]).ends(0).contains(&format!("{name}\u{9b}2J")));
    go(&sandbox, &["run-interaction", "show", name]).says(2, "'a\\u{202e}b\\u{200b}c'");
}

/// `--force` deletes what nobody executes; the lock is not the only sign of an engine.
#[test]
fn force_deletes_no_run_that_is_executed_without_its_lock() {
    let mut sleeper = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    for document in [run_json("running"), run_json("queued"), "{".to_owned()] {
        let sandbox = with_status("running");
        sandbox.put("run.json", document);
        sandbox.put(".pid", format!("{}\n", sleeper.id()));
        let before = paths(&sandbox);
        go(&sandbox, &["run-delete", "--force", "r"]).says(6, "is being executed: process");
        assert_eq!(paths(&sandbox), before);
        std::fs::remove_file(sandbox.run_dir().join(".pid")).unwrap();
        go(&sandbox, &["run-delete", "--force", "r"]).ends(0).clear();
    }
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    // A child that its parent waits for.
    let sandbox = with_status("running");
    let child = sandbox.path().join("store/runs/child");
    std::fs::create_dir(&child).unwrap();
    put(&child.join("run.json"), r#"{"id":"child","status":"running","parent_run_id":"r","parent_node_id":"n"}"#);
    let engine = Holder::of(&sandbox, ".lock");
    go(&sandbox, &["run-delete", "--force", "child"]).says(6, "run r waits for it");
    assert!(child.join("run.json").is_file());
    drop(engine);
    go(&sandbox, &["run-delete", "--force", "child"]).ends(0).clear();
}

/// What a run needs whose document is damaged nobody knows, so what it may need stays.
#[test]
fn what_a_damaged_run_may_need_is_not_cleaned_away() {
    let sandbox = with_status("paused_operator");
    let runs = sandbox.path().join("store/runs");
    let ended = |id: &str, more: &str| {
        std::fs::create_dir(runs.join(id)).unwrap();
        let text = format!(r#"{{"id":"{id}","status":"finished","updated_at":"2020-01-01T00:00:00Z"{more}}}"#);
        put(&runs.join(id).join("run.json"), text);
    };
    ended("named", "");
    ended("child", r#","parent_run_id":"r""#);
    ended("free", "");
    let torn = r#"{"id":"r","status":"paused_operator","forked_from":"named","checkpoint":{"#;
    sandbox.put("run.json", torn);
    let done = go(&sandbox, &["run-prune", "--older-than", "0", "-v"]);
    assert!(done.err.contains("named stays: run r, which cannot be read"), "{}", done.err);
    assert!(done.err.contains("child stays: run r, which cannot be read"), "{}", done.err);
    assert_eq!(done.code, 3);
    let is_there = |id: &str| runs.join(id).join("run.json").is_file();
    assert_eq!([is_there("named"), is_there("child"), is_there("free")], [true, true, false]);
    // Once it can be read, what it says counts.
    sandbox.put("run.json", r#"{"id":"r","status":"finished","updated_at":"2020-01-01T00:00:00Z"}"#);
    go(&sandbox, &["run-prune", "--older-than", "0"]).ends(0).clear();
    assert!(!is_there("named") && !is_there("child"));
}

/// A run that is left out is named, whatever the reason.
#[test]
fn no_run_is_passed_over_in_silence() {
    let sandbox = with_status("finished");
    let odd = sandbox.path().join("store/runs/-x");
    std::fs::create_dir(&odd).unwrap();
    put(&odd.join("run.json"), run_json("running"));
    go(&sandbox, &["run-reconcile", "--all"]).says(3, "run '-x' is left alone");
    go(&sandbox, &["run-record", "list"]).says(3, "run '-x' cannot be read");
    std::fs::remove_dir_all(&odd).unwrap();
    go(&sandbox, &["run-reconcile", "--all"]).ends(0).clear();
}

/// A run whose document and log say no time at all stops nobody, and is nobody's for ever.
#[test]
fn a_run_without_any_time_is_judged() {
    for (document, log) in
        [("", ""), (r#","created_at":"junk""#, "junk\n"), ("", "{\"seq\":0,\"timestamp\":\"x\"}\n")]
    {
        let sandbox = with_status("running");
        sandbox.put("run.json", format!(r#"{{"id":"r","status":"running"{document}}}"#));
        if !log.is_empty() {
            sandbox.put("events.jsonl", log);
        }
        let shown = go(&sandbox, &["run-show", "r"]);
        assert!(shown.out.contains("orphaned"), "{}{}", shown.out, shown.err);
        assert_eq!(go(&sandbox, &["run-reconcile", "--all"]).ends(0), "orphaned\tr\tnobody executes it\n");
        assert_eq!(stored(&sandbox, "run.json")["status"], "failed_resumable");
    }
}

/// The highest number is followed by none, and not searched for one for ever.
#[test]
fn where_numbers_end_writers_end_too() {
    let sandbox = with_status("running");
    for dir in ["plans", "artifacts/n"] {
        std::fs::create_dir_all(sandbox.run_dir().join(dir)).unwrap();
        sandbox.put(&format!("{dir}/9223372036854775807.json"), "{}");
    }
    go(&sandbox, &["run-plan", "write", "n", r#"[{"content":"c","status":"pending"}]"#])
        .says(7, "has the highest number that there is");
    go(&sandbox, &["run-artifact", "write", "n", "{}"]).says(7, "has the highest number that there is");
}
