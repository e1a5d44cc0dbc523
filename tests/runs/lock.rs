//! `run-lock`: cases L, and what it promises beside them.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::life::names;
use crate::sandbox::{Sandbox, run, until};

/// Case 134: the command's end is the program's end, whether the program stays or not.
#[test]
fn code_and_signal_of_the_command_are_passed_on() {
    let sandbox = Sandbox::new();
    for pid in [&[][..], &["--pid"]] {
        let ended = |script: &str| sandbox.call(&[&["run-lock"], pid, &["--", "sh", "-c", script]].concat());
        ended("true").ends(0);
        ended("exit 7").ends(7);
        ended("kill -TERM $$").ends(143);
        ended("kill -KILL $$").ends(137);
        assert_eq!(ended("echo \"$WT_RUN\"").ends(0), "r\n");
        sandbox.call(&[&["run-lock"], pid, &["--", "./not-there"]].concat()).says(2, "cannot run './not-there'");
        assert_eq!(sandbox.names_of("r"), [".lock"], "{pid:?}");
    }
}

#[test]
fn who_is_kept_out_learns_by_whom() {
    let sandbox = Sandbox::new();
    let engine = sandbox.engine("r", &["--pid"]);
    let holder = format!("held by process {} on ", engine.child.id());
    sandbox.call(&["run-lock", "--", "true"]).says(6, &holder);
    let error = sandbox.call(&["run-lock", "--json", "--", "true"]).ends(6);
    assert!(error.contains("\"code\":\"conflict\"") && error.contains(".lock"), "{error}");
    // The signature of the last holder is not that of one that does not sign, as the original.
    drop(engine);
    let text = std::fs::read(sandbox.run_dir().join(".lock")).unwrap();
    assert!(String::from_utf8(text).unwrap().contains("\nstart "));
    let script = "flock -x store/runs/r/.lock sh -c 'run-lock -- true || exit 9'";
    let done = sandbox.sh(script);
    assert!(done.err.contains("its lock is held by process") && !done.err.contains(" on "), "{}", done.err);
    done.ends(9);
}

/// A command that the lock's holder has started finds it held like everybody else.
#[test]
fn the_lock_is_not_taken_twice_by_one_engine() {
    let sandbox = Sandbox::new();
    let done = sandbox.sh("run-lock -- sh -c 'run-events append --type run_started && run-lock -- true'");
    done.says(6, "is being executed");
    assert_eq!(sandbox.events_of("r").len(), 1, "but it may write");
}

#[test]
fn a_wait_ends_with_the_lock_or_with_the_time() {
    let sandbox = Sandbox::new();
    let engine = sandbox.engine("r", &[]);
    let mut impatient = sandbox.program(&["run-lock", "--wait", "--", "true"]);
    impatient.env("WT_LOCK_WAIT", "0.1");
    run(impatient).says(6, "is being executed");
    let waiting = sandbox.path().join("waiting");
    let mut patient = sandbox.program(&["run-lock", "--wait", "--", "sh", "-c", "exit 5"]);
    patient.env("WT_TEST_HOOK", format!("run-lock-opened=touch {}", waiting.display()));
    let patient = std::thread::spawn(move || run(patient));
    until("somebody waits", || waiting.exists());
    drop(engine);
    assert_eq!(patient.join().unwrap().code, 5);
}

/// Facts 4.7 with 10.14 and 10.15.
#[test]
fn the_process_is_named_for_as_long_as_the_command_runs() {
    let sandbox = Sandbox::new();
    let out = sandbox.call(&["run-lock", "--pid", "--", "sh", "-c", "echo $PPID; cat store/runs/r/.pid"]).ends(0);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], lines[1], "the first line is the number alone");
    let words: Vec<&str> = lines[2..].iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(words[..2], ["start", "boot"], "{out}");
    let engine = sandbox.engine("r", &["--pid"]);
    let mode = std::fs::metadata(sandbox.run_dir().join(".pid")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(engine);
    for script in ["exit 3", "kill -9 $$"] {
        let _ = sandbox.call(&["run-lock", "--pid", "--", "sh", "-c", script]);
        assert_eq!(sandbox.names_of("r"), [".lock"], "{script}");
    }
    sandbox.call(&["run-lock", "--pid", "--", "./not-there"]).ends(2);
    assert_eq!(sandbox.names_of("r"), [".lock"]);
}

#[test]
fn a_signal_goes_to_the_command_and_the_file_goes_with_it() {
    let sandbox = Sandbox::new();
    let mut engine = sandbox.engine("r", &["--pid"]);
    let pid = rustix::process::Pid::from_child(&engine.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let status = engine.child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    assert_eq!(sandbox.names_of("r"), [".lock"]);
}

/// Case 135, and B 19.
#[test]
fn an_unsafe_id_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    for id in ["../x", "a/b", "a\\b", "..", "", "a\u{7}b"] {
        sandbox.call(&["run-lock", "--run", id, "--pid", "--", "true"]).ends(2);
    }
    assert_eq!(names(&sandbox.store().join("runs")), ["r"]);
    assert_eq!(sandbox.names_of("r"), [""; 0]);
}

#[test]
fn a_deleted_run_is_not_executed_again() {
    let sandbox = Sandbox::new();
    sandbox.put(".deleted", "2026-01-01T00:00:00Z\n");
    sandbox.call(&["run-lock", "--pid", "--", "touch", "ran"]).says(2, "was deleted");
    assert_eq!(sandbox.names_of("r"), [".deleted"]);
    // Between opening the lock file and locking it.
    let sandbox = Sandbox::new();
    let late = ["run-lock", "--pid", "--", "touch", "ran"];
    sandbox.hooked(&late, "run-lock-opened", "run-delete --force r").says(2, "was deleted");
    assert_eq!(sandbox.names_of("r"), [".deleted"]);
    assert!(!sandbox.path().join("ran").exists());
}

#[test]
fn a_lock_that_is_a_link_or_no_file_is_not_taken() {
    let sandbox = Sandbox::new();
    let outside = sandbox.path().join("outside");
    symlink(&outside, sandbox.run_dir().join(".lock")).unwrap();
    sandbox.call(&["run-lock", "--", "true"]).ends(8);
    assert!(!outside.exists());
    std::fs::remove_file(sandbox.run_dir().join(".lock")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(sandbox.run_dir().join(".lock")).status().unwrap().success());
    sandbox.call(&["run-lock", "--", "true"]).says(4, "is no lock file");
}

/// Facts 10.30.
#[test]
fn a_network_file_system_is_said() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.program(&["run-lock", "--", "true"]);
    command.env("WT_TEST_FILE_SYSTEM", "6969");
    run(command).says(0, "lies on NFS");
    assert_eq!(sandbox.call(&["run-lock", "--", "true"]).err, "");
}

/// The command runs with all that was promised, or not at all; what is left keeps nobody out.
#[test]
fn any_effect_may_fail_or_be_the_last() {
    for fault in ["kill", "ENOSPC", "EIO"] {
        let mut reached = 0;
        for nth in 1.. {
            let sandbox = Sandbox::new();
            let ran = sandbox.path().join("ran");
            let script = format!("touch {}", ran.display());
            let line = ["run-lock", "--pid", "--", "sh", "-c", &script];
            let (fired, done) = sandbox.disturbed(&line, nth, fault);
            if !fired {
                done.ends(0);
                break;
            }
            reached = nth;
            match fault {
                "kill" => assert_eq!(done.code, 137, "{nth}"),
                _ => assert_eq!(done.code == 0, ran.exists(), "{fault} at {nth}: {}", done.err),
            }
            assert!(fault == "kill" || !done.err.is_empty(), "{fault} at {nth} was not told");
            sandbox.call(&line).ends(0);
            let left = sandbox.names_of("r");
            let left: Vec<_> = left.iter().filter(|name| !name.starts_with(".iterion-tmp-")).collect();
            assert_eq!(left, [".lock"], "{fault} at {nth}");
        }
        assert!(reached >= 7, "{fault} reached only {reached} effects");
    }
}
