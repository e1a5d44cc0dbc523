//! Promise 5 for a restore: each file whole-old or whole-new after any kill or error, and a rerun finishes.

use crate::sandbox::faults::at_every_effect;
use crate::sandbox::{Sandbox, Tree};

/// A captured state `p`, and then an edited state of every kind, banked as `q`.
fn edited() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .file("same", "s")
        .file("content", "old\n")
        .file("mode", "m")
        .file("gone", "g\n")
        .file("deep/er/gone", "g2\n");
    sandbox
        .file("to-dir", "f\n")
        .file("to-file/in", "i\n")
        .link("link", "old")
        .link("to-link", "l")
        .dir("empty")
        .file("ro/f", "1");
    sandbox.sh("chmod 555 ro; snap capture p").ok();
    let edit = "echo new >content; chmod 600 mode; rm gone; rm -r deep; rm to-dir; mkdir -p to-dir/sub; echo x >to-dir/sub/x
        rm -r to-file; echo y >to-file; ln -sfn new link; rm to-link; echo z >to-link; rmdir empty; mkdir -p made/by; echo a >made/by/a
        chmod 755 ro; echo 2 >ro/f; chmod 555 ro; snap capture q";
    sandbox.sh(edit).ok();
    sandbox
}

/// The two trees between which a restore of `p` moves.
fn ends() -> (Tree, Tree) {
    let sandbox = edited();
    let old = sandbox.tree();
    sandbox.sh("wt-restore -q p >/dev/null").ok();
    (old, sandbox.tree())
}

const RESTORE: &str = "WT_TEST_FAULT=$FAULT wt-restore -q p >/dev/null";

#[track_caller]
fn rerun_finishes(sandbox: &Sandbox, new: &Tree, what: &str) {
    sandbox.stored().check();
    sandbox.sh("wt-restore -q p >/dev/null").ok();
    new.assert_same(&sandbox.tree(), &format!("{what}: after a rerun"));
    assert_eq!(sandbox.sh("wt-restore -q p").ok(), "", "{what}: nothing is left to do");
    assert!(sandbox.stored().temps().is_empty(), "{what}");
}

#[test]
fn a_restore_killed_at_any_effect_leaves_whole_files_and_a_rerun_finishes() {
    let (old, new) = ends();
    let effects = at_every_effect("kill", edited, RESTORE, |number, sandbox, ran| {
        let what = format!("killed at effect {number}");
        assert_eq!(ran.code, 137, "{what}: {}", ran.text());
        let now = sandbox.tree();
        let staging: Vec<String> = now.paths().into_iter().filter(|path| path.starts_with(".iterion")).collect();
        let staging: Vec<&str> = staging.iter().map(String::as_str).collect();
        now.clone().without(&staging).assert_between(&old, &new, &what);
        // A capture in this state takes nothing of the staging area.
        let files = sandbox.run(&["wt-ls-files"]).ok();
        assert!(!files.contains(".iterion"), "{what}: {files}");
        rerun_finishes(sandbox, &new, &what);
    });
    assert!(effects > 40, "{effects}");
}

#[test]
fn after_a_kill_the_bank_brings_the_edited_state_back() {
    let (old, _) = ends();
    for number in [5, 20, 35, 45, 60] {
        let sandbox = edited();
        let ran = sandbox.call().env("FAULT", format!("{number}:kill")).sh(RESTORE);
        assert!(matches!(ran.code, 0 | 137), "{}", ran.text());
        sandbox.sh("wt-restore -q q >/dev/null").ok();
        old.assert_same(&sandbox.tree(), &format!("killed at effect {number}, then the bank"));
    }
}

#[test]
fn an_error_at_any_effect_is_said_and_leaves_whole_files() {
    for errno in ["ENOSPC", "EIO"] {
        let (old, new) = ends();
        at_every_effect(errno, edited, RESTORE, |number, sandbox, ran| {
            let what = format!("{errno} at effect {number}");
            assert!(matches!(ran.code, 0 | 3 | 8), "{what}: {}", ran.text());
            let now = sandbox.tree();
            let staging: Vec<String> =
                now.paths().into_iter().filter(|path| path.starts_with(".iterion")).collect();
            let staging: Vec<&str> = staging.iter().map(String::as_str).collect();
            now.clone().without(&staging).assert_between(&old, &new, &what);
            if ran.code == 0 {
                new.assert_same(&now.without(&staging), &format!("{what}: it said that it was done"));
            }
            rerun_finishes(sandbox, &new, &what);
        });
    }
}

#[test]
fn a_name_that_the_disk_takes_for_another_one_is_a_collision_and_the_others_come() {
    let missing = || {
        let sandbox = Sandbox::new();
        sandbox.file("lost/a", "old\n").file("lost/b", "old\n").capture("p");
        sandbox.sh("rm -r lost").ok();
        sandbox
    };
    let sandbox = missing();
    sandbox.sh("WT_TEST_TRACE=$X/trace wt-restore -q p >/dev/null").ok();
    let trace = std::fs::read_to_string(sandbox.x("trace")).unwrap();
    let number = trace.lines().position(|effect| effect == "create b").unwrap() + 1;
    // What a disk says that folds case, to the second of two such names.
    let sandbox = missing();
    let ran = sandbox.call().env("WT_TEST_FAULT", format!("{number}:EEXIST")).run(&["wt-restore", "-q", "p"]);
    assert_eq!(ran.exits(3), "write\tlost/a\nkeep:collision\tlost/b");
    assert_eq!(sandbox.sh("ls lost; ls -A .iterion 2>/dev/null || true").ok(), "a");
}

#[test]
fn nothing_is_swapped_before_everything_is_staged() {
    let sandbox = edited();
    sandbox.sh("WT_TEST_TRACE=$X/trace wt-restore -q p >/dev/null").ok();
    let trace = std::fs::read_to_string(sandbox.x("trace")).unwrap();
    let effects: Vec<&str> = trace.lines().collect();
    let last_write = effects.iter().rposition(|effect| effect.starts_with("write n")).unwrap();
    let first_exchange = effects.iter().position(|effect| effect.starts_with("exchange ")).unwrap();
    assert!(last_write < first_exchange, "{effects:#?}");
}

#[test]
fn staged_content_is_flushed_before_it_is_swapped_in() {
    let sandbox = edited();
    sandbox.sh("export WT_FSYNC=on; WT_TEST_TRACE=$X/trace wt-restore -q p >/dev/null").ok();
    let trace = std::fs::read_to_string(sandbox.x("trace")).unwrap();
    let effects: Vec<&str> = trace.lines().collect();
    let first_exchange = effects.iter().position(|effect| effect.starts_with("exchange ")).unwrap();
    assert!(effects[..first_exchange].iter().any(|effect| effect.starts_with("flush")), "{effects:#?}");
}

#[test]
fn a_workspace_that_cannot_be_written_is_a_clear_error() {
    let sandbox = edited();
    sandbox.sh("chmod 555 .").ok();
    let before = sandbox.tree();
    let ran = sandbox.sh("wt-restore -q p >/dev/null");
    if ran.code == 0 {
        // Directories of one's own can be lifted, the root as well.
        sandbox.sh("test $(stat -c %a .) = 555").ok();
    } else {
        assert!(matches!(ran.code, 3 | 8), "{}", ran.text());
        before.assert_same(&sandbox.tree(), "nothing changed");
    }
    sandbox.sh("chmod 755 .").ok();
}

#[test]
fn a_held_workspace_lock_is_a_conflict() {
    let sandbox = edited();
    let before = Tree::with_stat(&sandbox.w());
    sandbox.sh("export WT_LOCK_WAIT=0.2; exec 8<$W; flock -s 8; wt-restore p").fails(6);
    before.assert_same(&Tree::with_stat(&sandbox.w()), "a restore that did not get the lock");
    sandbox.sh("WT_LOCK_WAIT=5 wt-lock -x -- wt-restore -q p >/dev/null").ok();
}
