//! What may lie in `runs/` beside runs: damaged, deleted by half, linked, foreign, of somebody else. Nothing is passed over in
//! silence, nothing is taken for a run that is none, and what one of them may need is not cleaned away.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use crate::life::{document, names, tree};
use crate::sandbox::{Done, Sandbox, put, run};

/// A store with one of each. `good` and `linked` have ended; `live` runs.
fn furnished() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::remove_dir(sandbox.run_dir()).unwrap();
    let runs = sandbox.store().join("runs");
    sandbox.make("good", "finished", "");
    sandbox.make("live", "running", "");
    put(&sandbox.make("torn", "finished", "").join("run.json"), "{\"status\":");
    put(&sandbox.make("empty", "finished", "").join("run.json"), "");
    put(&sandbox.make("list", "finished", "").join("run.json"), "[]");
    std::fs::create_dir(runs.join("bare")).unwrap();
    put(&sandbox.make("deleted", "finished", "").join(".deleted"), "2026-01-01T00:00:00Z\n");
    std::fs::create_dir_all(runs.join("half/artifacts/n")).unwrap();
    put(&runs.join("half/.deleted"), "2026-01-01T00:00:00Z\n");
    put(&runs.join("half/run.log"), "left");
    put(&runs.join("file"), "no directory");
    assert!(std::process::Command::new("mkfifo").arg(runs.join("pipe")).status().unwrap().success());
    std::fs::remove_file(sandbox.make("pipe-inside", "finished", "").join("run.json")).unwrap();
    let inside = runs.join("pipe-inside/run.json");
    assert!(std::process::Command::new("mkfifo").arg(inside).status().unwrap().success());
    let elsewhere = sandbox.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    put(&elsewhere.join("run.json"), document("linked", "finished", ""));
    symlink(&elsewhere, runs.join("linked")).unwrap();
    for name in [&b"-dash"[..], b"raw\xff", b"new\nline"] {
        let dir = runs.join(OsStr::from_bytes(name));
        std::fs::create_dir(&dir).unwrap();
        put(&dir.join("run.json"), document("x", "finished", ""));
    }
    sandbox.make(".hidden", "finished", "");
    sandbox
}

const UNREADABLE: [&str; 7] = ["-dash", "empty", "list", "new\\x0aline", "pipe-inside", "raw\\xff", "torn"];

#[track_caller]
fn names_all(done: &Done) {
    for name in UNREADABLE {
        assert!(done.err.contains(&format!("run '{name}'")), "{name}: {}", done.err);
    }
    for hidden in ["'deleted'", "'half'", "'file'", "'pipe'"] {
        assert!(!done.err.contains(hidden), "{hidden}: {}", done.err);
    }
}

#[test]
fn lists_and_scans_name_everything_and_end() {
    let sandbox = furnished();
    let before = tree_without_pipes(&sandbox);
    let listed = sandbox.call(&["run-record", "list", "--ids"]);
    names_all(&listed);
    assert_eq!(listed.ends(3), ".hidden\ngood\nlinked\nlive\n");
    let rows = sandbox.call(&["run-record", "list", "--json"]).ends(3);
    let damaged: Vec<_> = rows
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|row| row["damage"].is_string())
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(damaged, ["-dash", "empty", "list", "new\nline", "pipe-inside", "raw\\xff", "torn"]);
    let scanned = sandbox.call(&["run-reconcile", "--all", "--dry-run"]);
    names_all(&scanned);
    assert_eq!(scanned.ends(3), "orphaned\tlive\tnobody executes it\n");
    let pruned = sandbox.call(&["run-prune", "--dry-run", "--older-than", "0"]);
    names_all(&pruned);
    assert_eq!(pruned.ends(3), "", "a pipe cannot be read, so it may need everything");
    for (run, code) in
        [("torn", 3), ("pipe-inside", 3), ("linked", 0), ("bare", 0), ("half", 2), ("file", 2), ("pipe", 2)]
    {
        let done = sandbox.call(&["run-show", run]);
        assert_eq!(done.code, code, "{run}: {}{}", done.out, done.err);
    }
    for (run, code, said) in [
        ("half", 2, "was deleted"),
        ("bare", 2, "there is no run 'bare'"),
        ("file", 2, "there is no run 'file'"),
        ("pipe", 2, "there is no run 'pipe'"),
        ("pipe-inside", 4, "not a regular file"),
        ("torn", 4, "not JSON"),
    ] {
        sandbox.call(&["run-record", "get", "--run", run]).says(code, said);
    }
    assert_eq!(tree_without_pipes(&sandbox), before, "nothing is changed by looking");
    // Without what cannot be read at all, the others go, each as it is.
    std::fs::remove_dir_all(sandbox.dir_of("pipe-inside")).unwrap();
    let pruned = sandbox.call(&["run-prune", "--older-than", "0"]);
    assert!(pruned.err.contains("run 'linked'") || pruned.err.contains("symbolic link"), "{}", pruned.err);
    let out = pruned.ends(3);
    let gone: Vec<_> = out.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
    assert_eq!(gone, [".hidden", "good"]);
    assert!(sandbox.path().join("elsewhere/run.json").is_file(), "what is behind a link stays");
    assert_eq!(
        sandbox.names_of("half"),
        [".deleted", "artifacts", "run.log"],
        "a tombstone stays until it is asked for"
    );
    assert_eq!(sandbox.call(&["run-delete", "half"]).ends(0), "finished half\n");
    assert_eq!(sandbox.names_of("half"), [".deleted"]);
}

/// As `tree`, which reads files, for a store with pipes in it.
fn tree_without_pipes(sandbox: &Sandbox) -> Vec<String> {
    let script = "cd store && find . ! -type p -printf '%p %y %m %s %T@ %l\\n' | sort";
    sandbox.sh(script).ends(0).lines().map(str::to_owned).collect()
}

/// A run on a disk that is not mounted is one all the same: it is named, and what it may need stays.
#[test]
fn a_run_that_cannot_be_reached_is_not_a_run_that_is_not_there() {
    let sandbox = Sandbox::new();
    std::fs::remove_dir(sandbox.run_dir()).unwrap();
    sandbox.make("good", "finished", "");
    let link = sandbox.store().join("runs/away");
    symlink(sandbox.path().join("not/mounted"), &link).unwrap();
    for line in [
        &["run-record", "get", "--run", "away"][..],
        &["run-record", "set-status", "finished", "--run", "away"],
        &["run-show", "away"],
        &["run-artifact", "list", "--run", "away"],
        &["run-events", "cat", "--run", "away"],
    ] {
        sandbox.call(line).says(8, "cannot reach the run");
    }
    assert_eq!(sandbox.call(&["run-record", "list", "--ids"]).says(3, "run 'away' cannot be read"), "good\n");
    sandbox.call(&["run-reconcile", "--all"]).says(3, "run 'away' is left alone: cannot reach the run");
    sandbox.call(&["run-route", "list", "--all"]).says(3, "cannot reach the run");
    let done = sandbox.call(&["run-prune", "--older-than", "0", "-v"]);
    assert!(done.err.contains("good stays: run away, which cannot be read, needs it"), "{}", done.err);
    assert_eq!(done.says(3, "run 'away' stays: cannot reach the run"), "");
    assert!(sandbox.dir_of("good").join("run.json").is_file());
    std::fs::remove_file(&link).unwrap();
    assert!(sandbox.call(&["run-prune", "--older-than", "0"]).ends(0).starts_with("delete\tgood"));
}

/// What a directory needs that no command can name is read all the same.
#[test]
fn a_foreign_directory_may_need_runs_too() {
    let sandbox = Sandbox::new();
    std::fs::remove_dir(sandbox.run_dir()).unwrap();
    sandbox.make("good", "finished", "");
    sandbox.make("needed", "finished", "");
    let foreign = sandbox.store().join("runs/-x");
    std::fs::create_dir(&foreign).unwrap();
    put(&foreign.join("run.json"), document("-x", "paused_operator", ",\"forked_from\":\"needed\""));
    let done = sandbox.call(&["run-prune", "--older-than", "0", "-v"]);
    assert!(done.err.contains("needed stays: run -x, which cannot be read, needs it"), "{}", done.err);
    assert!(done.ends(3).starts_with("delete\tgood"));
    assert!(sandbox.dir_of("needed").join("run.json").is_file());
}

/// Runs of another user, seen by one who may not look into them.
#[test]
fn what_another_user_keeps_to_himself_is_named_and_stays() {
    let sandbox = Sandbox::new();
    std::fs::remove_dir(sandbox.run_dir()).unwrap();
    for id in ["dir", "doc", "log", "lock", "good"] {
        sandbox.make(id, if id == "log" { "running" } else { "finished" }, "");
    }
    std::fs::create_dir(sandbox.path().join("hidden")).unwrap();
    std::fs::rename(sandbox.make("behind", "finished", ""), sandbox.path().join("hidden/behind")).unwrap();
    symlink(sandbox.path().join("hidden/behind"), sandbox.dir_of("behind")).unwrap();
    put(&sandbox.dir_of("log").join("events.jsonl"), "");
    let script = "chmod 755 . && chown -R 1234:1234 store && cd store/runs &&
        chown root . && chmod 1777 . &&
        chown root dir && chmod 700 dir && chown root doc/run.json && chmod 600 doc/run.json &&
        chown root log/events.jsonl && chmod 600 log/events.jsonl && chown root ../../hidden && chmod 700 ../../hidden";
    let mut shell = sandbox.other("sh");
    shell.args(["-ec", script]);
    if run(shell).code != 0 {
        eprintln!("left out: files cannot be given to another user here");
        return;
    }
    let stranger = |line: &[&str]| {
        let mut command = sandbox.other("setpriv");
        command.args(["--reuid", "1234", "--regid", "1234", "--clear-groups", "--"]).args(line);
        run(crate::life::with_programs(command))
    };
    if stranger(&["true"]).code != 0 || stranger(&["run-record", "--version"]).code != 0 {
        eprintln!("left out: no other user can be taken on here, or may not start our programs");
        return;
    }
    let before = tree(&sandbox.store());
    let listed = stranger(&["run-record", "list", "--ids"]);
    for id in ["behind", "dir", "doc"] {
        assert!(listed.err.contains(&format!("run '{id}' cannot be read")), "{}", listed.err);
    }
    assert_eq!(listed.ends(3), "good\nlock\nlog\n");
    for (id, code) in [("dir", 3), ("doc", 3), ("log", 3), ("behind", 8), ("good", 0)] {
        let done = stranger(&["run-show", id]);
        assert_eq!(done.code, code, "{id}: {}{}", done.out, done.err);
        let lines: Vec<&str> = done.out.lines().filter(|line| line.contains("permission denied")).collect();
        let unique: std::collections::BTreeSet<_> = lines.iter().collect();
        assert_eq!(lines.len(), unique.len(), "{id}: named once each");
    }
    let scanned = stranger(&["run-reconcile", "--all", "-n"]);
    for id in ["behind", "dir", "doc", "log"] {
        assert!(scanned.err.contains(&format!("run '{id}'")), "{}", scanned.err);
    }
    scanned.ends(3);
    assert_eq!(stranger(&["run-prune", "--older-than", "0"]).ends(3), "", "nobody knows what they need");
    stranger(&["run-delete", "dir"]).ends(8);
    assert_eq!(tree(&sandbox.store()), before);
    assert_eq!(names(&sandbox.store().join("runs")).len(), 6);
}
