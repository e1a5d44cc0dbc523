//! What a store keeps, gives back and survives over its life: growth, pruning, many writers, damage.

use super::restore_destroys_nothing::rules;
use crate::sandbox::Sandbox;

rules! {
growth_is_what_changed: r#"
    head -c 900000 /dev/urandom >f; snap capture s0 >/dev/null; a=$(du -sb $S/workspace-objects | cut -f 1)
    for i in 1 2 3 4 5 6 7 8; do echo $i >small; snap capture s$i >/dev/null; done
    b=$(du -sb $S/workspace-objects | cut -f 1); test $((b - a)) -lt 100000"#

what_is_dropped_and_pruned_gives_its_room_back: r#"
    head -c 900000 /dev/urandom >f; snap capture s0 >/dev/null; head -c 900000 /dev/urandom >f; snap capture s1 >/dev/null
    a=$(du -sb $S | cut -f 1); snap drop s0 >/dev/null; snap prune >/dev/null 2>&1
    b=$(du -sb $S | cut -f 1); test $b -lt $((a - 800000)); snap verify"#

a_workspace_that_is_away_loses_nothing: r#"
    echo 1 >f; snap capture p >/dev/null; mv $W $W.away; mkdir $W
    (cd $X; snap prune >/dev/null 2>&1); rmdir $W; mv $W.away $W; cd $W
    echo 2 >f; snap restore p >/dev/null; test "$(cat f)" = 1"#

a_prune_beside_captures_takes_nothing_that_is_used_again: r#"
    head -c 300000 /dev/urandom >blob; cp blob $X/keep; snap capture p >/dev/null; rm blob; snap capture q >/dev/null; snap drop p >/dev/null
    (for i in 1 2 3 4 5 6 7 8 9 10; do echo $i >t; cp $X/keep blob$i; wt-capture -q c$i >/dev/null 2>&1 || true; done) & pid=$!
    for i in 1 2 3 4 5 6 7 8 9 10; do wt-prune --grace 60s >/dev/null 2>&1; done; wait $pid; snap verify"#

the_dry_run_of_a_prune_is_the_prune: r#"
    echo 1 >f; snap capture p >/dev/null; echo 2 >f; snap capture q >/dev/null; snap drop p >/dev/null
    d=$(snap prune --dry-run 2>/dev/null | sort); a=$(snap prune 2>/dev/null | sort); test "$d" = "$a"; test -n "$a""#

strange_files_in_the_pool_disturb_nobody: r#"
    echo 1 >f; snap capture p >/dev/null; cd $S/workspace-objects; mkdir zz; : >README; : >aa; : >.obj-left; : >zz/x; cd $W
    snap list >/dev/null; snap capture q >/dev/null; echo 2 >f; snap restore p >/dev/null; test "$(cat f)" = 1
    snap prune >/dev/null 2>&1 || test $? -eq 3; test -e $S/workspace-objects/README; test -e $S/workspace-objects/zz/x"#

one_damaged_manifest_does_not_hide_the_others: r#"
    echo 1 >f; a=$(snap capture a); echo 2 >f; b=$(snap capture b); echo 3 >f; snap capture c >/dev/null
    : >$S/runs/run/workspace/snapshots/$a.json
    code=0; snap list >$X/list || code=$?; test $code -eq 3; grep -q "$b" $X/list; grep -q "$a" $X/list
    snap restore b >/dev/null; test "$(cat f)" = 2; code=0; snap restore a >/dev/null 2>&1 || code=$?; test $code -eq 4
    code=0; snap prune >/dev/null 2>&1 || code=$?; test $code -eq 4; test "$(cat f)" = 2"#

the_target_and_its_bank_outlive_the_restore: r#"
    echo 1 >f; snap capture oldest >/dev/null; echo 2 >f; snap capture newer >/dev/null; echo 3 >f
    bank=$(snap restore oldest | sed -n 's/^bank //p'); snap prune >/dev/null 2>&1
    test "$(cat f)" = 1; snap restore "$bank" >/dev/null; test "$(cat f)" = 3"#

secrets_can_be_taken_out_of_all_history: r#"
    echo key >.env; echo 1 >f; snap capture p >/dev/null; echo 2 >f; snap capture q >/dev/null; rm .env
    wt-purge --yes .env >/dev/null 2>&1; not grep -rqx key $S; snap verify
    for l in p q; do snap skipped $l | grep -qx .env; done; snap restore p >/dev/null 2>&1; not test -e .env; test "$(cat f)" = 1"#
}

#[test]
fn porcelain_works_in_every_shell() {
    for shell in ["dash", "bash", "busybox sh"] {
        let sandbox = Sandbox::new();
        if sandbox.sh(&format!("command -v {}", shell.split(' ').next().unwrap())).code != 0 {
            eprintln!("SKIPPED: {shell} is not installed");
            continue;
        }
        sandbox.file("-rf", "1\n").file("new\nline", "1\n").file(b"\xff", "1\n").fifo("gap");
        let script = format!(
            "export WT_SHELL='{shell}'; at() {{ name=$1; shift; {shell} \"$(command -v $name)\" \"$@\"; }}
            at wt-capture -q 'my label' >/dev/null; for f in -rf 'new\nline'; do echo 2 >\"./$f\"; done; rm ./-rf
            bank=$(at wt-undo -q 'my label' | sed -n 's/^bank\\t//p'); test \"$(cat ./-rf)\" = 1
            at wt-undo -q \"$bank\" >/dev/null; test ! -e ./-rf; test \"$(at wt-bank -q)\""
        );
        sandbox.sh(&script).ok();
        sandbox.stored().check();
    }
}

#[test]
fn a_failed_stage_of_the_porcelain_is_no_snapshot() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let ran = sandbox.call().env("WT_TEST_FAULT", "3:kill").run(&["wt-capture", "l"]);
    assert_ne!(ran.code, 0, "{}", ran.text());
    assert!(sandbox.stored().index().labels.is_empty());
    sandbox.run(&["wt-capture", "-q", "l"]).quietly_ok();
    sandbox.stored().check();
}
