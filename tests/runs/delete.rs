//! `run-delete`: cases N, and the promise that nothing outside of a run's directory is removed.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::life::{names, tree};
use crate::sandbox::{Sandbox, put, run};

/// A run with one of everything in its directory, and links to a tree outside. Gives that tree.
fn furnished(sandbox: &Sandbox, status: &str) -> PathBuf {
    let dir = sandbox.make("r", status, "");
    let outside = sandbox.path().join("outside");
    std::fs::create_dir_all(outside.join("deep/er")).unwrap();
    put(&outside.join("deep/er/precious"), "precious");
    put(&outside.join("linked"), "linked");
    for name in ["artifacts/n", "workspace/snapshots", "artifact_files/a/b/c/d", "closed"] {
        std::fs::create_dir_all(dir.join(name)).unwrap();
    }
    for name in
        ["events.jsonl", "run.log", ".pid", ".events.lock", "artifacts/n/0.json", "artifact_files/a/b/c/d/x"]
    {
        put(&dir.join(name), "x");
    }
    symlink(&outside, dir.join("attachments")).unwrap();
    symlink(outside.join("deep"), dir.join("artifact_files/a/link")).unwrap();
    symlink(outside.join("linked"), dir.join("artifact_files/a/b/file-link")).unwrap();
    symlink("/", dir.join("artifact_files/root")).unwrap();
    std::fs::hard_link(outside.join("linked"), dir.join("hard")).unwrap();
    put(&dir.join("closed/x"), "x");
    std::fs::set_permissions(dir.join("closed"), std::fs::Permissions::from_mode(0o000)).unwrap();
    outside
}

#[test]
fn a_run_goes_and_its_tombstone_stays() {
    for status in ["finished", "failed", "failed_resumable", "cancelled"] {
        let sandbox = Sandbox::new();
        let outside = furnished(&sandbox, status);
        let before = tree(&outside);
        assert_eq!(sandbox.call(&["run-delete", "r"]).ends(0), "deleted r\n", "{status}");
        assert_eq!(sandbox.names_of("r"), [".deleted"]);
        assert_eq!(tree(&outside), before, "nothing outside has changed");
        let tombstone = sandbox.run_dir().join(".deleted");
        let text = std::fs::read_to_string(&tombstone).unwrap();
        assert!(text.starts_with("20") && text.ends_with("Z\n"), "{text}");
        assert_eq!(std::fs::metadata(&tombstone).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            sandbox.call(&["run-delete", "r", "--json"]).ends(0),
            "{\"action\":\"finished\",\"run\":\"r\"}\n"
        );
        assert_eq!(std::fs::read_to_string(&tombstone).unwrap(), text, "the time is that of the deletion");
    }
}

/// Case 150: idempotent, also for a run that is not there, of which nothing is made.
#[test]
fn a_run_that_is_not_there_is_no_error_and_gets_no_tombstone() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.call(&["run-delete", "nobody"]).ends(0), "absent nobody\n");
    let nowhere = sandbox.path().join("nowhere");
    sandbox.call(&["run-delete", "--store", nowhere.to_str().unwrap(), "nobody"]).ends(0);
    assert!(!nowhere.exists());
    for id in ["../r", "a/b", "..", "", "-x"] {
        sandbox.call(&["run-delete", "--", "r", id]).ends(2);
    }
    assert_eq!(names(&sandbox.store().join("runs")), ["r"]);
    assert!(!sandbox.run_dir().join(".deleted").exists(), "a bad name among others leaves all of them");
}

/// Case 151.
#[test]
fn only_a_run_that_has_ended_may_go() {
    let sandbox = Sandbox::new();
    for (status, code, why) in [
        ("running", 5, "run 'r' is running; stop it first; if its process has died, 'run-reconcile'"),
        ("queued", 5, "is queued, and may go on"),
        ("paused_waiting_human", 5, "may go on"),
        ("paused_operator", 5, "may go on"),
        ("dreaming", 5, "the status 'dreaming', which is not known here"),
    ] {
        sandbox.make("r", status, "");
        let before = tree(&sandbox.run_dir());
        sandbox.call(&["run-delete", "r"]).says(code, why);
        std::fs::remove_file(sandbox.run_dir().join(".lock")).unwrap();
        std::fs::remove_file(sandbox.run_dir().join(".write.lock")).unwrap();
        assert_eq!(tree(&sandbox.run_dir()), before, "{status}");
    }
    put(&sandbox.run_dir().join("run.json"), "{\"format_version\":2,\"status\":\"finished\"}");
    sandbox.call(&["run-delete", "r"]).says(5, "format version 2");
    put(&sandbox.run_dir().join("run.json"), "{\"status\":");
    sandbox.call(&["run-delete", "r"]).says(4, "--force deletes it all the same");
    std::fs::remove_file(sandbox.run_dir().join("run.json")).unwrap();
    sandbox.call(&["run-delete", "r"]).says(5, "has no document");
    sandbox.make("s", "finished", "");
    let done = sandbox.call(&["run-delete", "r", "s"]);
    assert_eq!(done.ends(3), "deleted s\n", "of several the others go");
    assert_eq!(sandbox.call(&["run-delete", "--force", "r"]).ends(0), "deleted r\n");
}

/// Case 152: a lock that is held is beyond force.
#[test]
fn a_run_that_is_executed_stays() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "finished", "");
    let engine = sandbox.engine("r", &[]);
    for force in [&[][..], &["--force"]] {
        sandbox
            .call(&[&["run-delete"], force, &["r"]].concat())
            .says(6, &format!("held by process {}", engine.child.id()));
        assert!(!sandbox.run_dir().join(".deleted").exists());
    }
    drop(engine);
    // A resume between the look and the tombstone finds the lock held.
    let resume = "run-lock --run r -- touch resumed || echo $? > code";
    sandbox.hooked(&["run-delete", "r"], "delete-decided", resume).ends(0);
    assert_eq!(std::fs::read_to_string(sandbox.path().join("code")).unwrap(), "6\n");
    assert!(!sandbox.path().join("resumed").exists());
    assert_eq!(sandbox.names_of("r"), [".deleted"]);
}

/// A command of every writer of a run.
const WRITERS: [&str; 25] = [
    "run-record create --run r",
    "run-record set-status cancelled --force",
    "run-record patch --set 'name=\"x\"'",
    "echo '{}' | run-record checkpoint save",
    "echo '{\"id\":\"r\",\"status\":\"failed\"}' | run-record save",
    "run-record pause --checkpoint '{}'",
    "run-record fail --terminal",
    "run-record claim-merge",
    "run-events append --type t",
    "run-artifact write n '{}'",
    "run-artifact reindex",
    "run-artifact files-dir",
    "run-interaction ask n '{\"q\":\"?\"}'",
    "run-interaction answer i '{}'",
    "echo x > x && run-attachment add x",
    "run-message queue x",
    "run-message queue-once m x",
    "run-plan write n '[]'",
    "echo x | run-tool put t input",
    "run-turn write n 0 0 '{}'",
    "run-route claim --owner o",
    "run-route finish --seq 1 --owner o --attempt 1 --succeeded",
    "echo x | run-log append",
    "run-lock --pid -- true",
    "run-reconcile --run r",
];

/// Case 149: late writers are refused, and make nothing anew.
#[test]
fn a_late_writer_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "finished", "");
    sandbox.call(&["run-delete", "r"]).ends(0);
    let capture =
        "wt-ls-files -z --records | wt-hash-object -w -z --stdin-records | wt-write-manifest -z --label l";
    for script in WRITERS.into_iter().chain([capture]) {
        let mut command = sandbox.other("sh");
        command.args(["-c", script]).env("WT_YES_THIS_ROOT", "1");
        let done = run(crate::life::with_programs(command));
        assert!(done.err.contains("was deleted"), "{script}: {} {}", done.code, done.err);
        done.ends(2);
        assert_eq!(sandbox.names_of("r"), [".deleted"], "{script}");
    }
}

/// Case 149, forced: a writer that has looked for the tombstone, and not yet taken its lock, when the run goes.
#[test]
fn a_writer_that_has_looked_is_refused_under_its_lock() {
    for writer in WRITERS {
        for moment in ["before-write-lock", "run-lock-opened"] {
            let sandbox = Sandbox::new();
            sandbox.make("r", "finished", "");
            let mut command = sandbox.other("sh");
            // The deletion waits for those that hold another lock already, so nobody waits for it here.
            let delete = "unset WT_TEST_HOOK; run-delete r > gone 2>&1 & \
                          while kill -0 $! && [ ! -e store/runs/r/.deleted ]; do sleep 0.01; done";
            command.args(["-c", writer]).env("WT_TEST_HOOK", format!("{moment}={delete}"));
            let done = run(crate::life::with_programs(command));
            if !sandbox.path().join("gone").exists() {
                continue;
            }
            let said = || std::fs::read_to_string(sandbox.path().join("gone")).unwrap();
            crate::sandbox::until(writer, || !said().is_empty());
            assert_eq!(said(), "deleted r\n", "{writer}");
            assert_ne!(done.code, 0, "{writer}: {}", done.out);
            assert_eq!(sandbox.names_of("r"), [".deleted"], "{writer}: {}", done.err);
        }
    }
}

/// Writers that had looked before the tombstone was there.
#[test]
fn what_is_written_meanwhile_goes_too() {
    let sandbox = Sandbox::new();
    furnished(&sandbox, "finished");
    let write =
        "mkdir -p store/runs/r/plans && echo x > store/runs/r/plans/0001.json && echo x > store/runs/r/run.json";
    for moment in ["delete-tombstoned", "tree-aside"] {
        sandbox.hooked(&["run-delete", "r"], moment, write).ends(0);
        assert_eq!(sandbox.names_of("r"), [".deleted"], "{moment}");
        assert!(
            sandbox
                .call(&["run-delete", "--prune-tombstones", "--older-than", "0"])
                .ends(0)
                .contains("forgotten r")
        );
        furnished(&sandbox, "finished");
    }
    // One that never ends is not waited for.
    let done = sandbox.hooked(&["run-delete", "r"], "tree-aside*", write);
    done.says(6, "the run is deleted; running the command again");
    assert_eq!(sandbox.call(&["run-delete", "r"]).ends(0), "finished r\n");
    assert_eq!(sandbox.names_of("r"), [".deleted"]);
}

/// An appender that holds its lock is waited for; it has looked before.
#[test]
fn an_append_that_has_begun_is_whole_or_refused() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "finished", "");
    let delete = "run-delete r > deleted 2>&1 & while [ ! -e store/runs/r/.deleted ]; do sleep 0.01; done";
    sandbox.hooked(&["run-events", "append", "--type", "t"], "events-numbered", delete).ends(0);
    crate::sandbox::until("it is deleted", || sandbox.names_of("r") == [".deleted"]);
}

#[test]
fn a_directory_that_is_a_link_is_left_alone() {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.path().join("elsewhere");
    std::fs::rename(sandbox.run_dir(), &elsewhere).unwrap();
    put(&elsewhere.join("run.json"), crate::life::document("r", "finished", ""));
    symlink(&elsewhere, sandbox.run_dir()).unwrap();
    let before = tree(&elsewhere);
    for force in [&[][..], &["--force"]] {
        sandbox.call(&[&["run-delete"], force, &["r"]].concat()).says(5, "is a symbolic link");
    }
    assert_eq!(tree(&elsewhere), before);
    put(&elsewhere.join(".deleted"), "x");
    sandbox.call(&["run-delete", "r"]).says(5, "is a symbolic link");
    sandbox.call(&["run-delete", "--prune-tombstones", "--older-than", "0"]).says(3, "is a symbolic link");
    assert!(elsewhere.join("run.json").exists());
}

/// A mount of the same file system cannot be told by device numbers.
#[test]
fn what_is_mounted_in_the_directory_is_left_alone() {
    let sandbox = Sandbox::new();
    let dir = sandbox.make("r", "finished", "");
    let outside = sandbox.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    put(&outside.join("precious"), "precious");
    for place in ["mounted", "artifacts/n/mounted"] {
        std::fs::create_dir_all(dir.join(place)).unwrap();
        let script = format!(
            "mount --bind '{0}' '{1}' || exit 77; run-delete r; code=$?; run-delete r; umount '{1}' 2> /dev/null; exit $code",
            outside.display(),
            dir.join(place).display()
        );
        let mut command = sandbox.other("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", &script]);
        let done = run(crate::life::with_programs(command));
        if done.code == 77 || done.err.contains("unshare: ") {
            eprintln!("left out: no mounts here: {}", done.err);
            return;
        }
        assert!(done.err.contains("something is mounted there"), "{place}: {}", done.err);
        done.ends(8);
        assert_eq!(names(&outside), ["precious"], "{place}");
        assert_eq!(sandbox.call(&["run-delete", "r"]).ends(0), "finished r\n");
        assert_eq!(sandbox.names_of("r"), [".deleted"]);
        sandbox.call(&["run-delete", "--prune-tombstones", "--older-than", "0"]).ends(0);
        sandbox.make("r", "finished", "");
    }
}

#[test]
fn a_directory_as_deep_as_can_be_goes() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "finished", "");
    // Far deeper than a path may be long, and than files may be open.
    let script = "cd store/runs/r; path=$(printf 'd/%.0s' $(seq 1000)); for i in 1 2 3; do mkdir -p $path && cd -P $path; done; echo x > x";
    sandbox.sh(script).ends(0);
    sandbox.sh("ulimit -n 40; run-delete r").ends(0);
    assert_eq!(sandbox.names_of("r"), [".deleted"]);
}

/// `PruneDeletionMarkers`: at or before the cutoff, and the id is free again.
#[test]
fn tombstones_are_forgotten_when_they_are_old() {
    let sandbox = Sandbox::new();
    for id in ["r", "s"] {
        sandbox.make(id, "finished", "");
        sandbox.call(&["run-delete", id]).ends(0);
    }
    put(&sandbox.dir_of("s").join("late.json"), "x");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 86_400);
    std::fs::File::options()
        .write(true)
        .open(sandbox.dir_of("s").join(".deleted"))
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    let prune = |options: &[&str]| sandbox.call(&[&["run-delete", "--prune-tombstones"], options].concat()).ends(0);
    assert_eq!(prune(&["-n"]), "forget s\n");
    assert_eq!(names(&sandbox.store().join("runs")), ["r", "s"]);
    assert_eq!(prune(&[]), "forgotten s\n");
    assert_eq!(names(&sandbox.store().join("runs")), ["r"]);
    assert_eq!(prune(&["--older-than", "0"]), "forgotten r\n");
    assert_eq!(names(&sandbox.store().join("runs")), [""; 0]);
    sandbox.call(&["run-events", "append", "--run", "s", "--type", "t"]).ends(0);
}

/// Killed anywhere, or with a disk that is full or broken anywhere, a rerun finishes; nothing outside is touched.
#[test]
fn any_effect_may_fail_or_be_the_last() {
    for fault in ["kill", "ENOSPC", "EIO"] {
        let mut reached = 0;
        for nth in 1.. {
            let sandbox = Sandbox::new();
            let outside = furnished(&sandbox, "finished");
            let before = tree(&outside);
            let document = sandbox.text_of("r");
            let (fired, done) = sandbox.disturbed(&["run-delete", "r"], nth, fault);
            assert_eq!(tree(&outside), before, "{fault} at {nth}");
            if !fired {
                assert_eq!(done.ends(0), "deleted r\n");
                break;
            }
            reached = nth;
            // A disk that was full only once may have had room again.
            let is_done = done.code == 0 && sandbox.names_of("r") == [".deleted"];
            assert!(done.code != 0 || fault == "ENOSPC" && is_done, "{fault} at {nth} was not told");
            let is_deleted = sandbox.run_dir().join(".deleted").exists();
            if !is_deleted {
                assert_eq!(sandbox.text_of("r"), document, "{fault} at {nth}");
                assert!(sandbox.run_dir().join("artifact_files/a/b/c/d/x").exists(), "{fault} at {nth}");
            }
            assert_eq!(sandbox.run(&["append", "--type", "t"]).code == 0, !is_deleted, "{fault} at {nth}");
            let again = sandbox.call(&["run-delete", "r"]).ends(0);
            assert_eq!(again, if is_deleted { "finished r\n" } else { "deleted r\n" }, "{fault} at {nth}");
            assert_eq!(sandbox.names_of("r"), [".deleted"], "{fault} at {nth}");
            assert_eq!(tree(&outside), before, "{fault} at {nth}");
        }
        assert!(reached >= 20, "{fault} reached only {reached} effects");
    }
}

#[test]
fn forgetting_may_end_anywhere_too() {
    for fault in ["kill", "ENOSPC", "EIO"] {
        let mut reached = 0;
        for nth in 1.. {
            let sandbox = Sandbox::new();
            sandbox.make("r", "finished", "");
            sandbox.call(&["run-delete", "r"]).ends(0);
            put(&sandbox.run_dir().join("late"), "x");
            let forget = ["run-delete", "--prune-tombstones", "--older-than", "0"];
            let (fired, done) = sandbox.disturbed(&forget, nth, fault);
            if !fired {
                assert_eq!(done.ends(0), "forgotten r\n");
                break;
            }
            reached = nth;
            let is_done = done.code == 0 && names(&sandbox.store().join("runs")).is_empty();
            assert!(done.code != 0 || fault == "ENOSPC" && is_done, "{fault} at {nth} was not told");
            sandbox.call(&forget).ends(0);
            assert_eq!(names(&sandbox.store().join("runs")), [""; 0], "{fault} at {nth}");
        }
        assert!(reached >= 5, "{fault} reached only {reached} effects");
    }
}

#[test]
fn a_dry_run_deletes_nothing_and_refuses_what_would_be() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "finished", "");
    sandbox.make("busy", "running", "");
    sandbox.make("gone", "finished", "");
    sandbox.call(&["run-delete", "gone"]).ends(0);
    let before = tree(&sandbox.store());
    for flag in ["-n", "--dry-run"] {
        let said = sandbox.call(&["run-delete", flag, "r", "gone", "nobody"]).ends(0);
        assert_eq!(said, "delete r\nfinish gone\nabsent nobody\n");
        sandbox.call(&["run-delete", flag, "busy"]).ends(5);
        assert_eq!(sandbox.call(&["run-delete", flag, "--force", "busy"]).ends(0), "delete busy\n");
    }
    assert_eq!(tree(&sandbox.store()), before);
    let _held = sandbox.engine("r", &[]);
    sandbox.call(&["run-delete", "-n", "r"]).ends(6);
}

/// Deleting is how room is made: it needs none, neither a block nor an inode, whatever locks are there already.
#[test]
fn a_run_is_deleted_where_no_block_or_inode_is_free() {
    for command in ["run-delete r", "run-prune --older-than 0 --grace 0"] {
        for (options, locks) in [
            ("size=256k", ""),
            ("size=1m,nr_inodes=64", ""),
            ("size=1m,nr_inodes=64", ".lock"),
            ("size=1m,nr_inodes=64", ".write.lock"),
            ("size=1m,nr_inodes=64", ".lock .write.lock .events.lock"),
        ] {
            let sandbox = Sandbox::new();
            sandbox.make("r", "finished", "");
            std::fs::create_dir_all(sandbox.run_dir().join("artifacts/n/deep")).unwrap();
            std::fs::create_dir_all(sandbox.run_dir().join("plans")).unwrap();
            put(&sandbox.run_dir().join("run.log"), "x".repeat(9000));
            put(&sandbox.run_dir().join("artifacts/n/0.json"), "{}");
            for name in [".lock", ".write.lock", ".events.lock"] {
                let _ = std::fs::remove_file(sandbox.run_dir().join(name));
            }
            locks.split_whitespace().for_each(|name| put(&sandbox.run_dir().join(name), "7 host\n"));
            let disk = sandbox.path().join("disk");
            std::fs::create_dir(&disk).unwrap();
            let script = format!(
                "mount -t tmpfs -o {options} none '{0}' || exit 77; cp -a store '{0}/s'; export WT_STORE='{0}/s' WT_FSYNC=on
                 dd if=/dev/zero of='{0}/fill' bs=4k 2> /dev/null
                 case {options} in *inodes*) i=0; while touch '{0}/fill'$i 2> /dev/null; do i=$((i+1)); done;; esac
                 echo x 2> /dev/null > '{0}/more' && echo not full
                 {command}; code=$?; ls -A '{0}/s/runs/r'; cat '{0}/s/runs/r/.deleted'; exit $code",
                disk.display()
            );
            let mut shell = sandbox.other("unshare");
            shell.args(["--mount", "--map-root-user", "sh", "-c", &script]);
            let done = run(crate::life::with_programs(shell));
            if done.code == 77 || done.err.contains("unshare: ") {
                eprintln!("left out: no mounts here: {}", done.err);
                return;
            }
            let out = done.ends(0);
            let lines: Vec<_> = out.lines().collect();
            assert!(lines.len() == 3 && lines[0].starts_with("delete") && lines[1] == ".deleted", "{out}");
            assert!(lines[2].starts_with("20") && lines[2].ends_with('Z'), "{options} {locks}: {out}");
        }
    }
}

/// As above, killed or failing at any effect: on a disk where every file that is to be made fails.
#[test]
fn without_an_inode_any_effect_may_be_the_last() {
    for fault in ["kill", "EIO"] {
        let mut reached = 0;
        for nth in 1.. {
            let sandbox = Sandbox::new();
            sandbox.make("r", "finished", "");
            std::fs::create_dir_all(sandbox.run_dir().join("artifacts/n/deep")).unwrap();
            put(&sandbox.run_dir().join("artifacts/n/deep/x"), "x");
            let document = sandbox.text_of("r");
            let mut command = sandbox.program(&["run-delete", "r"]);
            let fired = sandbox.path().join("fired");
            command.env("WT_TEST_FAULT", format!("{nth}:{fault}")).env("WT_TEST_FIRED", &fired);
            command.env("WT_TEST_NO_INODE", "1");
            let done = run(command);
            if !fired.exists() {
                assert_eq!(done.ends(0), "deleted r\n");
                break;
            }
            reached = nth;
            let is_deleted = sandbox.run_dir().join(".deleted").exists();
            if !is_deleted {
                assert_eq!(sandbox.text_of("r"), document, "{fault} at {nth}");
                assert!(sandbox.run_dir().join("artifacts/n/deep/x").exists(), "{fault} at {nth}");
            }
            let again = sandbox.call(&["run-delete", "r"]).ends(0);
            assert_eq!(again, if is_deleted { "finished r\n" } else { "deleted r\n" }, "{fault} at {nth}");
            assert_eq!(sandbox.names_of("r"), [".deleted"], "{fault} at {nth}");
        }
        assert!(reached >= 10, "{fault} reached only {reached} effects");
    }
}
