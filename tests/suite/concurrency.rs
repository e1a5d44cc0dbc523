//! Many processes at once, and locks that somebody else holds.

use crate::sandbox::{Sandbox, Tree};

#[test]
fn twenty_captures_at_once_lose_no_label_and_make_one_chain() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    // A stale walk is a conflict, and begins again.
    let script = "one() { n=0; until stage_ls | stage_hash | stage_write --label L$1 2>>$X/conflicts; do n=$((n+1)); [ $n -lt 200 ]; done; }
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do (echo $i >f$i; one $i) >/dev/null & pids=\"${pids-} $!\"; done
        for pid in $pids; do wait $pid; done";
    sandbox.sh(script).ok();
    let stored = sandbox.stored();
    stored.check();
    let index = stored.index();
    assert_eq!(index.labels.len(), 20);
    let (mut at, mut reached) = (index.head.clone(), 0);
    while !at.is_empty() {
        reached += 1;
        at = stored.manifest(&at).parent;
    }
    assert_eq!(reached, stored.ids().len(), "every manifest is on the one chain");
    assert_eq!(stored.manifest(&index.head).entries.unwrap().len(), 21);
    assert!(stored.temps().is_empty());
}

#[test]
fn runs_of_one_store_do_not_disturb_each_other() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").file("g", "2");
    let script = "for i in 1 2 3 4 5 6 7 8; do (export WT_RUN=run$i; snap capture l; snap capture m) >/dev/null & pids=\"${pids-} $!\"; done
        for pid in $pids; do wait $pid; done";
    sandbox.sh(script).ok();
    for n in 1..=8 {
        let stored = crate::sandbox::Stored::open(&sandbox.s(), &format!("run{n}"));
        stored.check();
        assert_eq!(stored.index().labels.len(), 2);
    }
}

#[test]
fn a_lock_that_is_held_ends_the_wait_with_a_conflict_that_names_it() {
    for (lock, stage) in [
        ("$W", "stage_ls | stage_hash | stage_write"),
        ("$S/workspace-objects/.lock", "echo 2 >f; stage_ls | stage_hash | stage_write"),
        ("$S/runs/run/workspace/.lock", "stage_ls | stage_hash | stage_write --label new"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.file("f", "1");
        sandbox.capture("l");
        let before = Tree::of(&sandbox.s());
        let ran = sandbox.sh(&format!("export WT_LOCK_WAIT=0.2; exec 8<{lock}; flock -x 8; {stage}"));
        let err = ran.err();
        assert_eq!(ran.code, 6, "{lock}: {}", ran.text());
        assert!(err.contains("locked by another process") && err.contains("WT_LOCK_WAIT"), "{lock}: {err}");
        before.assert_same(&Tree::of(&sandbox.s()), lock);
        sandbox.capture("after");
    }
}

#[test]
fn a_wait_that_is_not_short_says_what_it_waits_for() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.capture("l");
    // The lock is let go once the waiting program has said so.
    let script = "mkfifo $X/said; exec 8<$S/runs/run/workspace/.lock; flock -x 8
        (stage_ls | stage_hash | stage_write --label m 2>$X/said >$X/id) 8<&- & pid=$!
        IFS= read -r line <$X/said; exec 8<&-; wait $pid; echo \"$line\"";
    let said = sandbox.sh(script).ok();
    assert!(said.starts_with("waiting for ") && said.contains("another process has locked"), "{said}");
    assert!(sandbox.stored().index().labels.contains_key("m"));
}

#[test]
fn a_strange_engine_at_work_keeps_others_from_its_history() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.capture("l");
    sandbox.sh(": >$S/runs/run/.lock; echo 2 >f").ok();
    let held = |stage: &str| {
        sandbox.sh(&format!("mkfifo $X/up; flock -x $S/runs/run/.lock sh -c 'echo >$X/up; exec sleep 100' & read -r _ <$X/up; rm $X/up; {stage}"))
    };
    let err = held("stage_ls | stage_hash | stage_write --label m").fails(6);
    assert!(err.contains("engine") && err.contains("--while-running"), "{err}");
    assert!(!sandbox.stored().index().labels.contains_key("m"));
    held("stage_ls | stage_hash | stage_write --while-running --label m").ok();
    // An engine's own child is no stranger.
    sandbox.sh("exec 8<$S/runs/run/.lock; flock -x 8; stage_ls | stage_hash | stage_write --label n").ok();
}

#[test]
fn a_tree_that_comes_and_goes_during_captures_is_no_crash() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let script = ": >$X/go; (while [ -e $X/go ]; do mkdir -p a/b/c/d; echo x >a/b/c/d/f; ln -s f a/b/c/l; rm -rf a; done) 2>/dev/null & pid=$!
        for i in 1 2 3 4 5 6 7 8 9 10; do wt-capture -q c$i >/dev/null; done; rm $X/go; wait $pid";
    sandbox.sh(script).ok();
    sandbox.stored().check();
    assert_eq!(sandbox.stored().index().labels.len(), 10);
}
