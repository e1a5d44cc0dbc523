//! A network disk without a lock service: whoever needs a lock says so, and changes nothing.

use std::fs;

use crate::sandbox::{Ran, Sandbox, age, put};

fn without_locks(box_: &Sandbox, script: &str, errno: &str) -> Ran {
    let output = box_.shell(script).env("WT_TEST_LOCKS", errno).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

/// A run with garbage, a damaged object, a label, a parked engine and an event.
fn store() -> Sandbox {
    let box_ = Sandbox::new();
    put(&box_.runs().join("r/.lock"), b"");
    put(&box_.runs().join("r/run.json"), br#"{"status":"failed"}"#);
    box_.capture_with("r", Some("pre:n:0"), "f", b"one");
    box_.capture_with("r", Some("bank:0"), "f", b"two");
    box_.capture_with("r", Some("post:n:0"), "f", b"three");
    let _ = box_.run("run-events", &["append", "--run", "r", "--type", "t"]).ok();
    put(&box_.object(b"garbage"), b"garbage");
    age(&box_.store());
    box_.write("f", b"changed");
    box_.write("g", b"new");
    box_
}

const CHANGING: [&str; 14] = [
    "wt-ls-files -z --records --run r >records; wt-hash-object -w -z --stdin-records --run r <records >hashed",
    "wt-hash-object -w w/g",
    "wt-ls-files --records --run r | sed 's/ - / /' >/dev/null; wt-label --run r x pre:n:0",
    "wt-label --run r --delete bank:0",
    "wt-restore --run r pre:n:0",
    "wt-rewind --run r --node n",
    "wt-prune --grace 0",
    "wt-forget --run r --drop-labels 'bank:*'",
    "wt-forget --store-max-bytes 0 --drop-labels '*'",
    "wt-purge --yes f",
    "wt-fsck --run r --rebuild-index",
    "run-events append --run r --type t",
    "wt-lock -x -- true",
    "wt-lock -s -- true",
];

const LOOKING: [&str; 10] = [
    "wt-log --run r",
    "wt-label --run r --list",
    "wt-ls-manifest --run r HEAD",
    "wt-diff --run r pre:n:0 HEAD",
    "wt-authorship --run r --from pre:n:0",
    "wt-du",
    "wt-fsck --quick",
    "wt-prune --grace 0 --dry-run",
    "wt-forget --run r --dry-run bank:0",
    "run-events cat --run r",
];

#[test]
fn whoever_needs_a_lock_says_what_is_wrong_and_changes_nothing() {
    for errno in ["ENOLCK", "EOPNOTSUPP"] {
        let box_ = store();
        let (before, workspace) = (box_.image(), fs::read(box_.workspace().join("f")).unwrap());
        for script in CHANGING {
            let ran = without_locks(&box_, script, errno);
            assert!(matches!(ran.code, 6 | 8), "{script}: {ran:?}");
            assert!(ran.err.contains("supports no locks"), "{script}: {ran:?}");
            assert_eq!(box_.image(), before, "{script}");
            assert_eq!(fs::read(box_.workspace().join("f")).unwrap(), workspace, "{script}");
        }
    }
    // With locks each of them has something to do.
    for script in CHANGING {
        let box_ = store();
        let ran = box_.shell(script).output().unwrap();
        assert!(matches!(ran.status.code(), Some(0 | 3)), "{script}: {ran:?}");
    }
}

#[test]
fn whoever_only_looks_needs_no_lock() {
    let box_ = store();
    for script in LOOKING {
        let ran = without_locks(&box_, script, "ENOLCK");
        assert_eq!(ran.code, 0, "{script}: {ran:?}");
    }
}

#[test]
fn a_capture_without_locks_leaves_no_trace() {
    let box_ = store();
    let before = box_.image();
    let ran = without_locks(&box_, &box_.capture_script("r", Some("x")), "ENOLCK");
    assert!(matches!(ran.code, 6 | 8) && ran.err.contains("supports no locks"), "{ran:?}");
    assert_eq!(box_.image(), before);
}
