//! A restore gives back exactly the state that was captured, and says what it did.

use super::restore_destroys_nothing::rules;
use crate::sandbox::{Sandbox, Tree};

rules! {
a_restore_of_what_is_there_does_and_says_nothing: r#"
    echo committed >f; snap capture old >/dev/null; echo dirty >f
    snap capture pre >/dev/null; snap capture post >/dev/null
    out=$(snap restore pre | grep -v '^bank') || true
    test -z "$out"; test "$(cat f)" = dirty"#

a_restore_can_be_undone_and_its_bank_is_listed: r#"
    echo 1 >f; snap capture p >/dev/null; echo 2 >f; echo n >new
    bank=$(snap restore p | sed -n 's/^bank //p'); test "$(cat f)" = 1
    snap restore "$bank" >/dev/null; test "$(cat f new)" = "$(printf '2\nn')"
    snap list | grep "$bank" | grep -q bank"#

deletions_and_returns_work_in_both_directions_again_and_again: r#"
    echo k >keep; echo d >gone; snap capture p0 >/dev/null; rm gone; snap capture p1 >/dev/null
    for again in 1 2 3; do
        snap restore p0 >/dev/null; test "$(cat gone)" = d
        snap restore p1 >/dev/null; not test -e gone; test -e keep
    done"#

the_state_at_the_target_counts_and_not_one_step: r#"
    echo 0 >f1; echo 0 >f2; snap capture p0 >/dev/null; echo 1 >f1; snap capture p1 >/dev/null
    echo 2 >f2; snap capture p2 >/dev/null; echo 3 >f1; snap capture p3 >/dev/null
    snap restore p0 >/dev/null; test "$(cat f1 f2)" = "$(printf '0\n0')"
    snap restore p2 >/dev/null; test "$(cat f1 f2)" = "$(printf '1\n2')""#

names_are_bytes_from_end_to_end: r#"
    n1=$(printf '\346\212\245.txt'); n2=$(printf 'caf\303\251'); n3=$(printf 'bad\377name'); n4=$(printf 'bad\376name'); n5='bad\377name'
    for n in "$n1" "$n2" "$n3" "$n4" "$n5"; do printf 'before %s\n' "$n" >"$n"; done; snap capture p >/dev/null
    rm "$n4"; for n in "$n1" "$n2" "$n3" "$n5"; do echo after >"$n"; done; snap restore p >/dev/null
    for n in "$n1" "$n2" "$n3" "$n4" "$n5"; do test "$(cat "$n")" = "before $n"; done"#

modes_are_content: r#"
    printf '#!/bin/sh\n' >run.sh; chmod 755 run.sh; snap capture p >/dev/null
    rm run.sh; snap restore p >/dev/null; test "$(stat -c %a run.sh)" = 755
    chmod 644 run.sh; snap capture q >/dev/null
    test "$(snap restore p | grep -v bank)" = 'chmod run.sh'; test "$(stat -c %a run.sh)" = 755"#

set_user_id_is_never_recorded_and_never_made: r#"
    echo x >f; chmod 4755 f; snap capture p >/dev/null; rm f; snap restore p >/dev/null; test "$(stat -c %a f)" = 755"#

empty_directories_come_back_and_new_ones_go: r#"
    mkdir -p need/me; chmod 700 need/me; echo 1 >a; snap capture p >/dev/null
    rmdir need/me need; mkdir -p extra/x other/y/z; echo y >extra/x/f; snap restore p >/dev/null
    not test -e extra; not test -e other; test "$(stat -c %a need/me)" = 700"#

a_directory_still_hands_its_group_down_to_what_comes_back: r#"
    mkdir pkg; chmod g+s pkg; if chgrp 4321 pkg 2>/dev/null && chmod g+s pkg; then
        mkdir -p pkg/sub/deep; echo x >pkg/sub/deep/f; snap capture p >/dev/null; rm -r pkg/sub; snap restore p >/dev/null
        test "$(stat -c %g pkg/sub pkg/sub/deep)" = "$(printf '4321\n4321')"; test "$(cat pkg/sub/deep/f)" = x
    fi"#

directories_that_a_restore_empties_go_with_their_parents: r#"
    echo 1 >f; snap capture p >/dev/null; mkdir -p a/b a/c; echo x >a/b/x; echo y >a/c/y; snap restore p >/dev/null
    test "$(ls)" = f"#

a_rename_by_case_alone_is_taken_back: r#"
    echo body >Hello.txt; snap capture p >/dev/null; mv Hello.txt hello.txt
    snap restore p >/dev/null; test "$(ls)" = Hello.txt; test "$(cat Hello.txt)" = body"#

a_file_that_became_a_directory_and_the_reverse_are_turned_back_and_banked: r#"
    echo 1 >x; mkdir -p y/z; echo 2 >y/z/f; snap capture p >/dev/null
    rm x; mkdir -p x/deep; echo n >x/deep/n; rm -r y; echo file >y
    bank=$(snap restore p | sed -n 's/^bank //p'); test "$(cat x y/z/f)" = "$(printf '1\n2')"
    snap restore "$bank" >/dev/null; test "$(cat x/deep/n y)" = "$(printf 'n\nfile')""#

a_file_where_a_grandparent_is_needed_is_no_obstacle: r#"
    mkdir -p a/b/c; echo 1 >a/b/c/f; echo 1 >first; snap capture p >/dev/null
    rm -r a; echo file >a; rm first; snap restore p >/dev/null; test "$(cat a/b/c/f first)" = "$(printf '1\n1')""#

links_are_recorded_by_their_text: r#"
    ln -s target l; ln -s /nope d; ln -s l2 l2; snap capture p >/dev/null; rm l d; ln -sfn other l2; echo f >l
    snap restore p >/dev/null; test "$(readlink l) $(readlink d) $(readlink l2)" = 'target /nope l2'"#

read_only_files_and_directories_are_lifted_and_put_back: r#"
    mkdir d; echo 1 >d/f; echo 1 >d/gone; chmod 444 d/f; chmod 555 d; snap capture p >/dev/null
    chmod 755 d; chmod 644 d/f; echo 2 >d/f; rm d/gone; echo n >d/new; chmod 444 d/f; chmod 555 d
    snap restore p >/dev/null; test "$(cat d/f d/gone)" = "$(printf '1\n1')"; not test -e d/new
    test "$(stat -c %a d d/f)" = "$(printf '555\n444')""#

a_directory_of_its_own_mode_keeps_it: r#"
    mkdir d; echo 1 >d/f; chmod 750 d; snap capture p >/dev/null; echo 2 >d/f; chmod 711 d
    snap restore p >/dev/null; test "$(stat -c %a d)" = 711"#

a_name_that_nobody_gave_is_an_error: r#"
    echo 1 >f; snap capture p >/dev/null; code=0; snap restore never-taken >/dev/null 2>$X/e || code=$?
    test $code -eq 2; grep -q never-taken $X/e; not grep -q '^bank' $X/e; test "$(snap list | wc -l)" = 1"#

side_files_of_a_later_program_go_and_are_banked: r#"
    echo 1 >db; snap capture p >/dev/null; echo 2 >db; echo j >db-journal
    bank=$(snap restore p | sed -n 's/^bank //p'); not test -e db-journal; test "$(cat db)" = 1
    snap show "$bank" | grep -qx db-journal"#

a_scope_means_whole_components: r#"
    mkdir a ab; echo 1 >a/f; echo 1 >ab/f; echo 1 >a.txt; snap capture p >/dev/null
    for f in a/f ab/f a.txt; do echo 2 >$f; done
    snap restore p --only a >/dev/null; test "$(cat a/f ab/f a.txt)" = "$(printf '1\n2\n2')"
    snap restore p --only a.txt >/dev/null; test "$(cat ab/f a.txt)" = "$(printf '2\n1')""#

a_scope_is_literal_and_not_a_pattern: r#"
    echo 1 >'*'; echo 1 >a; snap capture p >/dev/null; echo 2 >'*'; echo 2 >a
    snap restore p --only '*' >/dev/null; test "$(cat '*' a)" = "$(printf '1\n2')""#

a_scope_that_left_the_workspace_is_refused: r#"
    echo 1 >f; snap capture p >/dev/null; echo 2 >f; snap capture q >/dev/null
    for bad in ../x /etc/passwd a/../f . ''; do
        code=0; printf '%s\n\n' "$bad" | wt-restore --paths-from-stdin p >/dev/null 2>&1 || code=$?
        test -n "$bad" -a $code -eq 2 -o -z "$bad" -a $code -ne 0; test "$(cat f)" = 2
    done"#

an_id_means_the_same_wherever_labels_move: r#"
    echo 1 >f; a=$(snap capture pre); echo 2 >f; snap capture pre >/dev/null; snap restore "$a" >/dev/null
    test "$(cat f)" = 1; snap show "$a" | grep -qx f"#

hostile_git_variables_have_no_effect: r#"
    git init -q; export GIT_DIR=/nonexistent GIT_INDEX_FILE=/nonexistent/i GIT_WORK_TREE=/; echo 1 >f
    snap capture p >/dev/null; echo 2 >f; snap restore p >/dev/null; test "$(cat f)" = 1"#

the_store_needs_nothing_of_the_project: r#"
    git init -q; git config user.email x@y; git config user.name x; echo 1 >f; git add f; git commit -qm 1; snap capture p >/dev/null
    rm -rf .git; echo 2 >f; snap restore p >/dev/null; test "$(cat f)" = 1"#

restores_work_where_captures_are_switched_off: r#"
    echo 1 >f; snap capture p >/dev/null; echo 2 >f; snap capture q >/dev/null
    export ITERION_WORKSPACE_TRACK=off; wt-restore p >/dev/null; test "$(cat f)" = 1
    echo unknown >f; wt-undo p >/dev/null 2>&1 || test $? -eq 3; test "$(cat f)" = unknown"#

rules_that_reach_below_excluded_directories_hold_for_a_restore: r#"
    mkdir -p runs/r1/exports runs/_archived/x/exports
    for f in runs/r1/exports/a.mp4 runs/r1/raw.bin runs/_archived/x/exports/b.mp4; do echo 1 >$f; done
    printf 'runs/**\n!runs/**/exports/*.mp4\nruns/_archived/**\n' >.iterionignore; snap capture p >/dev/null
    test "$(snap show p)" = "$(printf '.iterionignore\nruns/r1/exports/a.mp4')"
    rm -r runs/r1/exports; snap restore p >/dev/null; test -e runs/r1/exports/a.mp4; test -e runs/r1/raw.bin; test -e runs/_archived/x/exports/b.mp4"#

oversized_files_are_gaps_at_every_capture: r#"
    head -c 2000000 /dev/zero >big; echo 1 >a; snap capture p >/dev/null 2>&1; echo 2 >a; snap capture q >/dev/null 2>&1
    snap restore p >/dev/null 2>&1; snap capture r >/dev/null 2>&1; test "$(stat -c %s big)" = 2000000
    for l in p q r; do snap show $l >$X/l; not grep -qx big $X/l; snap skipped $l | grep -qx big; done"#

an_object_lost_in_a_power_cut_is_found_and_stored_again: r#"
    echo 1 >f; snap capture p >/dev/null; object=$(echo 1 | object_of); : >"$object"
    not snap verify 2>/dev/null >/dev/null; touch f; snap capture q >/dev/null; snap verify >/dev/null
    echo 2 >f; snap restore p >/dev/null; test "$(cat f)" = 1"#

a_sparse_file_comes_back_with_its_bytes: r#"
    truncate -s 900000 s; printf x | dd of=s bs=1 seek=500000 conv=notrunc 2>/dev/null; sum=$(sha256sum <s)
    snap capture p >/dev/null; rm s; snap restore p >/dev/null; test "$(sha256sum <s)" = "$sum""#

a_snapshot_is_there_for_a_fresh_process: r#"
    echo 1 >f; snap capture p >/dev/null; echo 2 >f; snap capture q >/dev/null
    env -i PATH="$PATH" WT_STORE="$S" WT_RUN=run wt-restore -C "$W" p >/dev/null; test "$(cat f)" = 1"#
}

#[test]
fn everything_comes_back_byte_for_byte_and_the_second_time_nothing_is_done() {
    let sandbox = Sandbox::new();
    sandbox.everything();
    sandbox.capture("p");
    let captured = sandbox.tree();
    sandbox.sh("find . -mindepth 1 -delete; mkdir names; echo x >link; mkdir twin; echo 1 >twin/x").ok();
    let edited = sandbox.tree();
    let bank = sandbox.sh("snap restore p | sed -n 's/^bank //p'").ok();
    captured.assert_same(&sandbox.tree().without(&[".iterion"]), "restored");
    let before = Tree::with_stat(&sandbox.w());
    assert_eq!(sandbox.run(&["wt-restore", "-q", "p"]).quietly_ok(), "");
    before.assert_same(&Tree::with_stat(&sandbox.w()), "a second restore");
    sandbox.call().env("BANK", &bank).sh("snap restore $BANK >/dev/null").ok();
    edited.assert_same(&sandbox.tree().without(&[".iterion"]), "undone");
    sandbox.stored().check();
    assert!(!sandbox.path(".iterion").exists(), "nothing is left in the project");
}

#[test]
fn the_report_is_json_where_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.file("w", "1").file("d", "1").file("c", "1").file(b"\xff", "1");
    sandbox.capture("p");
    sandbox.sh("echo 22 >w; rm d; echo n >new; chmod 600 c; rm \"$(printf '\\377')\"").ok();
    sandbox.capture("q");
    sandbox.file("w", "unknown");
    let out = sandbox.run(&["wt-restore", "--json", "p"]).exits(3);
    let lines: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, lines) = lines.split_last().unwrap();
    let of = |path: &str| lines.iter().find(|line| line["path"] == path).unwrap();
    assert_eq!((of("c")["action"].as_str(), of("d")["action"].as_str()), (Some("chmod"), Some("write")));
    assert_eq!(
        (of("new")["action"].as_str(), of("new")["displaced"].as_str()),
        (Some("delete"), Some(crate::sandbox::stored::oid("n\n").as_str()))
    );
    assert_eq!((of("w")["action"].as_str(), of("w")["reason"].as_str()), (Some("keep"), Some("unbanked")));
    assert!(lines.iter().any(|line| line["path_b64"] == "/w==" && line["action"] == "write"));
    let counts = &summary["summary"];
    assert_eq!(
        (&counts["written"], &counts["deleted"], &counts["chmodded"], &counts["kept"]),
        (&2.into(), &1.into(), &1.into(), &1.into())
    );
}
