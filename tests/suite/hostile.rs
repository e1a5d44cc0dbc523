//! What a hostile project, a strange store or somebody quick can try, and what must come of it: no byte is lost.

use crate::restore_destroys_nothing::rules;
use crate::sandbox::Sandbox;

rules! {
a_planted_staging_directory_is_not_believed: r#"
    echo 1 >f; mkdir .git; echo c >.git/config; wt-capture -q p >/dev/null
    echo precious >f; mkdir -p .iterion/restore-1-1 .iterion/restore-notes .iterion-tmp-restore-x
    printf 'workspacetrack restore 1\nbeside f\nbeside .git\nlift 55 .\n' >.iterion/restore-1-1/journal
    echo mine >.iterion/restore-1-1/n1; echo notes >.iterion/restore-notes/n; echo x >.iterion-tmp-restore-x/y
    mode=$(stat -c %a .)
    wt-restore -q --protect f p >/dev/null 2>$X/err || true
    test "$(cat f)" = precious; test "$(cat .git/config)" = c; test "$(stat -c %a .)" = "$mode"
    test "$(cat .iterion/restore-notes/n)" = notes; test "$(cat .iterion-tmp-restore-x/y)" = x
    test "$(wt-cat-object "$(echo mine | sha256sum | cut -c 1-64)")" = mine"#

a_pool_that_lies_in_the_workspace_is_never_versioned: r#"
    mkdir objs; mkdir -p "$S/runs"; ln -s "$PWD/objs" "$S/workspace-objects"
    echo 1 >f; wt-capture -q p >/dev/null; echo 2 >f; wt-capture -q q >/dev/null; echo 3 >f
    wt-undo -q p >/dev/null; test "$(cat f)" = 1
    for text in 1 2 3; do wt-cat-object -e "$(echo $text | sha256sum | cut -c 1-64)"; done
    wt-fsck -q >/dev/null; test -z "$(wt-ls-files | grep objs)""#

a_pool_behind_a_link_is_not_pruned: r#"
    echo 1 >f; wt-capture -q p >/dev/null; touch -d '-2 days' "$S"/workspace-objects/*/*
    mkdir -p $X/evil/runs; ln -s "$S/workspace-objects" $X/evil/
    code=0; wt-prune -q --store $X/evil >/dev/null 2>&1 || code=$?; test $code -eq 5
    wt-fsck -q >/dev/null"#

taking_a_restore_back_keeps_what_was_written_meanwhile: r#"
    echo 1 >a; wt-capture -q p >/dev/null; echo 2 >a; echo 2 >zz; wt-capture -q q >/dev/null
    code=0; WT_TEST_HOOK="before-remove=echo userdata >a; echo uz >zz" wt-restore -q --all-or-nothing p >/dev/null 2>&1 || code=$?
    test $code -eq 5; test "$(cat zz)" = uz
    test "$(cat a)" = userdata || wt-cat-object -e "$(echo userdata | sha256sum | cut -c 1-64)""#

what_is_saved_on_the_way_out_of_a_refusal_is_named: r#"
    echo 1 >a; wt-capture -q p >/dev/null; echo 2 >a; echo 2 >zz; wt-capture -q q >/dev/null
    code=0; WT_TEST_HOOK="before-remove=echo userdata >a; echo uz >zz" wt-restore -q --all-or-nothing p >/dev/null 2>$X/err || code=$?
    test $code -eq 5; grep -q "wt-cat-object $(echo userdata | sha256sum | cut -c 1-64)" $X/err"#

a_save_with_the_old_times_below_a_directory_that_goes_is_not_lost: r#"
    echo file >d; wt-capture -q p >/dev/null; rm d; mkdir d; echo AAAA >d/f; wt-capture -q q >/dev/null
    hook="touch -r d/f $X/ref; echo BBBB >d/f; touch -r $X/ref d/f"
    WT_TEST_HOOK="before-swap=$hook" wt-restore -q p >/dev/null 2>&1 || true
    test "$(cat d/f 2>/dev/null)" = BBBB || wt-cat-object -e "$(echo BBBB | sha256sum | cut -c 1-64)""#

a_save_with_the_old_times_just_before_the_exchange_is_not_lost: r#"
    echo AAAA >f; wt-capture -q p >/dev/null; echo CCCC >f; wt-capture -q q >/dev/null
    hook="touch -r f $X/ref; echo BBBB >f; touch -r $X/ref f"
    WT_TEST_HOOK="before-exchange=$hook" wt-restore -q p >/dev/null 2>&1 || true
    test "$(cat f)" = BBBB || wt-cat-object -e "$(echo BBBB | sha256sum | cut -c 1-64)""#

a_directory_moved_away_is_not_written_into: r#"
    mkdir d; echo 1 >d/f; wt-capture -q p >/dev/null; echo 2 >d/f; wt-capture -q q >/dev/null
    WT_TEST_HOOK="before-swap=mv d $X/moved; mkdir d; echo user >d/f" wt-restore -q p >/dev/null 2>&1 || true
    test "$(cat $X/moved/f)" = 2; test "$(cat d/f)" = user"#

a_protection_through_a_link_protects_what_it_leads_to: r#"
    mkdir real; ln -s real link; echo 1 >real/f; wt-capture -q p >/dev/null; echo 2 >real/f; wt-capture -q q >/dev/null
    wt-restore -q --protect link/f p >/dev/null; test "$(cat real/f)" = 2"#

a_root_that_was_made_writable_is_put_back_after_a_kill: r#"
    echo 1 >f; wt-capture -q p >/dev/null; echo 2 >f; wt-capture -q q >/dev/null; chmod 555 .
    WT_TEST_HOOK='before-swap=kill -9 $PPID' wt-restore -q p >/dev/null 2>&1 || true
    wt-restore -q p >/dev/null; test "$(cat f)" = 1; test "$(stat -c %a .)" = 555; chmod 755 ."#

a_parent_that_vanishes_keeps_only_its_own_paths: r#"
    mkdir d; echo 1 >d/f; echo 1 >z; wt-capture -q p >/dev/null; rm d/f; echo 2 >z; wt-capture -q q >/dev/null
    code=0; WT_TEST_HOOK="before-swap=rm -r d; mkdir d; chmod 700 d" wt-restore -q p >/dev/null 2>&1 || code=$?
    test "$(cat z)" = 1; test $code -eq 0 || test $code -eq 3"#

a_lock_file_that_is_a_fifo_is_not_waited_for: r#"
    echo 1 >f; wt-capture -q p >/dev/null
    run=$(dirname "$(find "$S/runs" -name index.json)"); rm -f "$run/.lock"; mkfifo "$run/.lock"
    timeout 20 wt-capture -q q >/dev/null 2>&1 || test $? -ne 124"#

a_record_of_what_is_never_versioned_is_refused: r#"
    mkdir .git; echo x >.git/config; id=$(wt-hash-object -w .git/config)
    code=0; printf 'f0644 %s 2 - - -\t.git/config\n' "$id" | wt-write-manifest --allow-unterminated >/dev/null 2>&1 || code=$?
    test $code -eq 2"#

an_edit_after_a_killed_restore_is_not_cleared_away: r#"
    echo 1 >f; wt-capture -q p >/dev/null; echo 2 >f; wt-capture -q q >/dev/null
    WT_TEST_HOOK='before-swap=kill -9 $PPID' wt-restore -q p >/dev/null 2>&1 || true
    echo edit >f; code=0; wt-restore -q p >/dev/null 2>&1 || code=$?
    test $code -eq 3; test "$(cat f)" = edit; not test -e .iterion"#
}
