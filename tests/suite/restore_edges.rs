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
}
