//! The engine's lock and the lock of the log.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::sandbox::{BIN, Holder, Sandbox, run};

#[test]
fn a_strangers_engine_is_a_conflict() {
    let sandbox = Sandbox::new();
    let engine = Holder::of(&sandbox, ".lock");
    sandbox.run(&["append", "--type", "t"]).says(6, "run 'r' is being executed by an engine").clear();
    sandbox.run_with(&["append", "--stdin"], "{\"type\":\"t\"}\n").says(6, "--while-running").clear();
    assert!(!sandbox.log().exists());
    assert_eq!(sandbox.run(&["append", "--type", "t", "--while-running"]).ends(0), "0\n");
    assert_eq!(sandbox.seqs(&[]), [0], "readers do not care");
    drop(engine);
    assert_eq!(sandbox.append(), 1, "the lock file stays, the lock does not");
    assert!(sandbox.run_dir().join(".lock").exists());
}

#[test]
fn an_engine_does_not_lock_itself_out() {
    let sandbox = Sandbox::new();
    // The process that took the lock has ended; its parent holds it on.
    let mut inherited = sandbox.other("sh");
    inherited.args(["-c", "exec 9>store/runs/r/.lock; flock -n 9; \"$0\" append --type t 9>&-; exit $?", BIN]);
    assert_eq!(run(inherited).ends(0), "0\n");
    // The process that took the lock is the parent.
    let mut parent = sandbox.other("flock");
    parent.args(["store/runs/r/.lock", BIN, "append", "--type", "t"]);
    assert_eq!(run(parent).ends(0), "1\n");
}

#[test]
fn without_an_engine_no_lock_file_is_made() {
    let sandbox = Sandbox::new();
    sandbox.append();
    assert!(!sandbox.run_dir().join(".lock").exists());
}

#[test]
fn waiting_for_the_log_is_bounded() {
    let sandbox = Sandbox::new();
    sandbox.append();
    let other = Holder::of(&sandbox, ".events.lock");
    let mut command = sandbox.command(&["append", "--type", "t"]);
    command.env("WT_LOCK_WAIT", "0.05");
    run(command).says(6, "the event log of run 'r' is locked by another process").clear();
    drop(other);
    assert_eq!(sandbox.append(), 1);
}

/// The run may be deleted while we wait for its lock.
#[test]
fn a_run_deleted_meanwhile_stays_deleted() {
    let sandbox = Sandbox::new();
    let other = Holder::of(&sandbox, ".events.lock");
    let mut waiting =
        sandbox.command(&["append", "--type", "t"]).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // It says that it waits.
    let mut line = String::new();
    BufReader::new(waiting.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("waiting for the event log"), "{line}");
    sandbox.put(".deleted", "");
    drop(other);
    assert_eq!(waiting.wait().unwrap().code(), Some(2));
    assert!(!sandbox.log().exists());
}
