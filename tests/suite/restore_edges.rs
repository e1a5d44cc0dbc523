//! The dry run says what the real run does, what stays is named, and what is not of this run is as it was.

use super::restore_destroys_nothing::rules;
use crate::sandbox::Sandbox;

rules! {
a_directory_that_holds_a_wanted_empty_one_is_not_planned_away: r#"
    mkdir -p d/e; snap capture p >/dev/null; echo x >d/e/x; echo a >d/a; snap capture q >/dev/null
    wt-restore -q -n p >$X/said; printf 'delete\td/a\ndelete\td/e/x\n' | cmp - $X/said
    wt-restore -q --all-or-nothing p >$X/did; cmp $X/said $X/did; test "$(find d)" = "$(printf 'd\nd/e')""#

a_file_where_the_target_had_a_directory_of_gaps_is_named: r#"
    mkdir d; mkfifo d/A; snap capture p >/dev/null 2>&1; rm -r d; echo x >d; snap capture q >/dev/null
    code=0; wt-restore -q p >$X/out || code=$?
    test $code -eq 3; printf 'keep:blocked\td\n' | cmp - $X/out; test "$(cat d)" = x"#

a_file_where_the_target_has_a_directory_out_of_the_scope_is_named: r#"
    mkdir a; echo x >a/x; snap capture p >/dev/null; rm -r a; echo f >a; snap capture q >/dev/null
    code=0; printf 'a\0\0' | wt-restore -q -z --require-end --paths-from-stdin --exact p >$X/out || code=$?
    test $code -eq 3; printf 'keep:blocked\ta\0' | cmp - $X/out; test "$(cat a)" = f
    printf 'a\0\0' | wt-restore -q -z --require-end --paths-from-stdin p >/dev/null; test "$(cat a/x)" = x"#

a_removed_directory_that_is_taken_back_is_the_one_it_was: r#"
    echo 1 >y; snap capture p >/dev/null; mkdir -p m/n; chmod 3710 m; chmod 2555 m/n; mkdir z; chmod 3770 z; echo 2 >y; mkdir zz; echo x >zz/f
    touch -d 2001-01-01 m/n z; snap capture q >/dev/null; stat -c '%n %i %a %u %g %y' m m/n z >$X/before
    code=0; WT_TEST_HOOK='before-remove=echo human >>$W/zz/f' wt-restore -q --all-or-nothing p >/dev/null 2>$X/e || code=$?
    test $code -eq 5; grep -q 'as it was again' $X/e; stat -c '%n %i %a %u %g %y' m/n z >$X/after
    grep -v '^m ' $X/before | cmp - $X/after; test "$(stat -c '%i %a' m)" = "$(sed -n 's/^m \([0-9]* [0-9]*\) .*/\1/p' $X/before)"
    test "$(cat y)" = 2; not test -e .iterion
    wt-capture -q r; wt-restore -q --all-or-nothing p >/dev/null; test "$(ls -A)" = y"#

a_directory_that_somebody_fills_as_it_is_removed_keeps_what_came: r#"
    echo 1 >y; snap capture p >/dev/null; mkdir z; snap capture q >/dev/null
    for how in '' --all-or-nothing; do
        code=0; WT_TEST_HOOK='before-remove-dir=echo human >$W/z/late' wt-restore -q $how p >/dev/null 2>&1 || code=$?
        test $code -eq 3 -o $code -eq 5; test "$(cat z/late)" = human; not test -e .iterion; rm z/late
    done"#

a_read_only_project_directory_of_the_user_stays_as_it_is: r#"
    echo 1 >f; snap capture p >/dev/null; echo 2 >f; snap capture q >/dev/null; mkdir -p .iterion/a; chmod 555 .iterion
    wt-restore -q p >$X/out; printf 'write\tf\n' | cmp - $X/out
    test "$(stat -c %a .iterion)" = 555; test "$(ls -A .iterion)" = a
    n=1; while :; do
        echo 2 >f; rc=0; WT_TEST_FAULT=$n:kill wt-restore -q p >/dev/null || rc=$?; test $rc -ne 0 || break
        test $rc -eq 137; wt-restore -q p >/dev/null; test "$(cat f)" = 1; test "$(ls -A .iterion)" = a; n=$((n + 1))
    done
    test $n -gt 8; chmod 755 .iterion"#

a_read_only_directory_gives_way_to_a_file_and_comes_back: r#"
    echo 1 >d; snap capture p >/dev/null; rm d; mkdir d; echo x >d/f; chmod 555 d; snap capture q >/dev/null
    wt-restore -q -n p >$X/said; wt-restore -q --all-or-nothing p >$X/did; cmp $X/said $X/did
    printf 'write\td\ndelete\td/f\n' | cmp - $X/did; test "$(cat d)" = 1
    mkdir e; chmod 555 e; snap capture r >/dev/null; rmdir e; echo f >e; snap capture s >/dev/null
    wt-restore -q -n r >$X/said; wt-restore -q r >$X/did; cmp $X/said $X/did; test "$(stat -c %a e)" = 555"#

a_read_only_directory_that_changes_meanwhile_stays_read_only: r#"
    echo 1 >d; snap capture p >/dev/null; rm d; mkdir d; echo x >d/f; chmod 555 d; snap capture q >/dev/null
    code=0; WT_TEST_HOOK='before-exchange=echo human >$W/d/f' wt-restore -q p >$X/out || code=$?
    test $code -eq 3; grep -q '^keep:changed' $X/out; test "$(stat -c %a d) $(cat d/f)" = '555 human'; chmod 755 d"#

what_appears_in_the_place_of_a_missing_directory_is_a_change: r#"
    mkdir d; echo 1 >d/f; snap capture p >/dev/null; rm -r d; snap capture q >/dev/null
    for make in 'echo x >$W/d' 'ln -s elsewhere $W/d' 'mkfifo $W/d'; do
        code=0; WT_TEST_HOOK="before-swap=$make" wt-restore -q p >$X/out || code=$?
        test $code -eq 3; printf 'keep:changed\td/f\n' | cmp - $X/out; rm d
    done"#

a_directory_that_is_made_writable_for_a_while_still_hands_its_group_down: r#"
    mkdir d; echo 1 >d/f; chmod 3555 d; snap capture p >/dev/null; echo 2 >d/f; snap capture q >/dev/null
    for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
        echo 2 >d/f; WT_TEST_FAULT=$n:kill wt-restore -q p >/dev/null || true; wt-restore -q p >/dev/null
        test "$(cat d/f) $(stat -c %a d)" = '1 3555'
    done"#

a_project_directory_that_was_there_before_stays: r#"
    echo 1 >f; snap capture p >/dev/null; echo 2 >f; mkdir .iterion
    code=0; wt-restore -q --all-or-nothing p >/dev/null 2>&1 || code=$?; test $code -eq 5; test -d .iterion
    snap capture q >/dev/null; wt-restore -q p >/dev/null; test -d .iterion; test "$(cat f)" = 1"#

an_entry_that_is_ignored_now_is_out_of_reach_below_a_link_or_a_file: r#"
    mkdir c; echo d >c/d; echo n >c/nn; snap capture p >/dev/null
    for make in 'ln -s /etc c' 'echo file >c'; do
        rm -rf c .gitignore; eval "$make"; echo nn >.gitignore; snap capture q >/dev/null
        wt-restore -q -n --force p >$X/said || test $? -eq 3; wt-restore -q --force p >$X/did || test $? -eq 3
        cmp $X/said $X/did; grep -q '^keep:ignored.c/nn$' $X/did; test "$(cat c/d)" = d
    done"#
}
