//! Promise 2: a restore never destroys bytes that the store holds no copy of.

use crate::sandbox::{Sandbox, Tree};

/// Tests that are a shell script in an empty workspace; every command in it must succeed.
macro_rules! rules {
    ($($name:ident: $script:literal)*) => { $(
        #[test]
        fn $name() {
            Sandbox::with_a_small_cap().sh($script).ok();
        }
    )* };
}
pub(crate) use rules;

rules! {
what_an_outside_process_made_is_in_the_bank_before_it_is_swept: r#"
    echo a >a.txt; snap capture before >/dev/null
    mkdir output; echo results >output/eval.jsonl
    bank=$(snap restore before | sed -n 's/^bank //p'); not test -e output
    snap show "$bank" | grep -qx output/eval.jsonl
    snap restore "$bank" >/dev/null; test "$(cat output/eval.jsonl)" = results"#

a_scoped_restore_leaves_what_is_outside_of_the_scope: r#"
    mkdir src; echo a >src/a; snap capture before >/dev/null
    mkdir output; echo results >output/eval.jsonl; echo b >src/a; echo new >src/new
    snap restore before --only src >/dev/null
    test "$(cat output/eval.jsonl)" = results; test "$(cat src/a)" = a; not test -e src/new"#

a_file_that_grew_above_the_cap_stays_and_is_named: r#"
    echo small >log.txt; snap capture p >/dev/null
    head -c 1500000 /dev/zero | tr '\0' x >log.txt
    code=0; out=$(snap restore p) || code=$?
    test "$(stat -c %s log.txt)" = 1500000; test $code -eq 3; echo "$out" | grep -qx 'keep:oversized log.txt'"#

a_file_above_the_cap_that_the_target_does_not_have_stays_too: r#"
    echo a >a; snap capture p >/dev/null; mkdir d; head -c 1500000 /dev/zero >d/big; echo x >d/small
    code=0; out=$(snap restore p) || code=$?
    test $code -eq 3; test "$(stat -c %s d/big)" = 1500000; not test -e d/small
    echo "$out" | grep -q '^keep:oversized d/big$'"#

force_stores_the_doomed_bytes_first: r#"
    echo small >log.txt; snap capture p >/dev/null
    head -c 1500000 /dev/zero | tr '\0' x >log.txt; hash=$(sha256sum <log.txt | cut -c 1-64)
    snap restore p --force >/dev/null; test "$(cat log.txt)" = small
    wt-cat-object "$hash" | sha256sum | grep -q "^$hash"
    snap prune >/dev/null; wt-cat-object -e "$hash"; snap verify"#

an_unreadable_file_is_never_forced: r#"
    echo a >f; snap capture p >/dev/null; echo secret >f; chmod 0 f
    code=0; out=$(snap restore p --force) || code=$?
    test $code -eq 3; echo "$out" | grep -qx 'keep:unreadable f'; chmod 600 f; test "$(cat f)" = secret"#

rules_of_now_protect_although_the_restore_takes_them_back: r#"
    : >.gitignore; echo a >a.txt; snap capture p >/dev/null
    printf 'local/\n' >.gitignore; mkdir local; echo mine >local/db
    code=0; snap restore p >/dev/null || code=$?
    test "$(cat local/db)" = mine; not test -s .gitignore"#

rules_of_then_protect_although_they_are_gone_now: r#"
    printf 'local/\n' >.gitignore; mkdir local; echo mine >local/db; snap capture p >/dev/null
    : >.gitignore; code=0; snap restore p >/dev/null || code=$?; test "$(cat local/db)" = mine"#

an_ignored_file_that_an_old_snapshot_has_is_not_overwritten: r#"
    echo v1 >cfg; snap capture p >/dev/null; echo cfg >.iterionignore; echo precious >cfg
    code=0; out=$(snap restore p) || code=$?
    if [ "$(cat cfg)" != precious ]; then
        find "$S/workspace-objects" -type f -exec cat {} + | grep -qx precious
    else test $code -eq 3; echo "$out" | grep -q '^keep:.* cfg$'; fi"#

a_snapshot_of_another_workspace_is_refused: r#"
    echo one >a.txt; id=$(snap capture p); mkdir $T/w2; echo other >$T/w2/b.txt
    export WT_WORKSPACE=$T/w2; code=0; wt-restore "$id" 2>$X/err || code=$?
    test $code -eq 5; grep -q -e --relocate $X/err; test "$(cat $T/w2/b.txt)" = other; not test -e $T/w2/a.txt
    code=0; wt-undo "$id" 2>/dev/null || code=$?; test $code -eq 5
    wt-bank -q --json 2>/dev/null && exit 1
    wt-restore --relocate "$id" >/dev/null 2>&1 || test $? -eq 3
    test "$(cat $T/w2/a.txt)" = one; test "$(cat $T/w2/b.txt)" = other"#

what_a_person_edited_after_the_run_stays: r#"
    echo v0 >f; echo v0 >g; snap capture pre >/dev/null; echo agent >f; echo agent >g; snap capture post >/dev/null
    echo human >f
    out=$(snap restore pre --changed-until post)
    test "$(cat f)" = human; test "$(cat g)" = v0; echo "$out" | grep -qx 'keep:edited f'"#

protected_paths_stay_and_a_protection_that_means_nothing_is_an_error: r#"
    echo 1 >f; mkdir d; echo 1 >d/g; snap capture p >/dev/null; echo 2 >f; echo 2 >d/g; echo n >d/new
    out=$(snap restore p --protect d); test "$(cat d/g d/new)" = "$(printf '2\nn')"; test "$(cat f)" = 1
    echo "$out" | grep -q '^keep:protected d'
    echo 2 >f; for bad in /etc ../x "$T" ""; do
        code=0; wt-restore "--protect=$bad" p >/dev/null 2>&1 || code=$?; test $code -eq 2; test "$(cat f)" = 2
    done
    wt-restore -q --protect "$W/f" p >/dev/null; test "$(cat f)" = 2"#

git_keeps_its_refs_its_index_and_its_stash: r#"
    git init -q; git config user.email x@y; git config user.name x
    echo 1 >f; git add f; git commit -qm 1; echo s >f; git stash -q; snap capture p >/dev/null
    echo 2 >f; git commit -qam 2; echo 3 >g; git add g; find .git -type f | sort | xargs sha256sum >$X/before
    snap restore p >/dev/null; test "$(cat f)" = 1
    find .git -type f | sort | xargs sha256sum | diff $X/before -"#

a_git_file_is_left_alone: r#"
    mkdir sub; echo 'gitdir: ../.git/modules/sub' >sub/.git; echo 1 >sub/f; snap capture p >/dev/null
    echo 'gitdir: elsewhere' >sub/.git; echo 2 >sub/f
    snap restore p >/dev/null; test "$(cat sub/f)" = 1; test "$(cat sub/.git)" = 'gitdir: elsewhere'"#

a_link_in_the_place_of_a_file_is_replaced_and_its_target_never_touched: r#"
    echo outside >$X/o; chmod 640 $X/o; echo 1 >f; mkdir d; echo 1 >d/g; snap capture p >/dev/null
    rm f; ln -s $X/o f; rm -r d; mkdir $X/od; echo outside >$X/od/g; ln -s $X/od d
    snap restore p >/dev/null
    test "$(cat $X/o $X/od/g)" = "$(printf 'outside\noutside')"; test "$(stat -c %a $X/o)" = 640
    not test -L f; not test -L d; test "$(cat f d/g)" = "$(printf '1\n1')""#

a_link_that_was_there_at_the_capture_survives: r#"
    ln -s /etc/hosts l; echo 1 >f; snap capture p >/dev/null; echo 2 >f; snap restore p >/dev/null
    test "$(readlink l)" = /etc/hosts"#

a_planted_link_or_an_altered_object_stops_the_restore_before_the_first_change: r#"
    echo 1 >f; echo 1 >g; id=$(snap capture p); echo 2 >f; echo 2 >g; snap capture q >/dev/null; object=$(echo 1 | object_of)
    for plant in 'ln -s $X/stolen' 'cp $X/stolen' 'touch' 'mkdir'; do
        rm -rf "$object"; echo stolen >$X/stolen; eval "$plant \"\$object\""
        code=0; wt-restore "$id" >/dev/null 2>&1 || code=$?
        test $code -eq 4; test "$(cat f g)" = "$(printf '2\n2')"
    done
    rm -rf "$object"; code=0; wt-restore "$id" >/dev/null 2>&1 || code=$?; test $code -eq 4; test "$(cat f)" = 2
    test -z "$(ls -A | grep iterion || ls -A .iterion 2>/dev/null)""#

gaps_stay_where_they_are: r#"
    mkfifo fifo; echo 1 >f; mkdir locked; echo 1 >locked/in; chmod 0 locked; snap capture p >/dev/null 2>&1; rm f
    mkfifo late; snap restore p >/dev/null 2>&1 || test $? -eq 3
    test -p fifo; test -p late; test "$(cat f)" = 1; chmod 700 locked; test "$(cat locked/in)" = 1
    snap restore p >/dev/null 2>&1 || test $? -eq 3; test "$(cat locked/in)" = 1"#

an_unreadable_directory_is_not_emptied_once_it_can_be_read: r#"
    mkdir d; echo 1 >d/f; chmod 0 d; snap capture p >/dev/null 2>&1; chmod 700 d; echo 2 >d/g
    wt-restore p >/dev/null 2>&1 || test $? -eq 3; test -e d/f; test -e d/g"#

without_a_bank_unknown_bytes_are_kept_and_named: r#"
    echo 1 >f; snap capture p >/dev/null; echo unknown >f; echo unknown too >g
    code=0; out=$(wt-restore p 2>/dev/null | tr '\t' ' ') || code=$?
    code=0; wt-restore p >/dev/null 2>&1 || code=$?; test $code -eq 3
    test "$(cat f g)" = "$(printf 'unknown\nunknown too')"
    echo "$out" | grep -qx 'keep:unbanked f'; echo "$out" | grep -qx 'keep:unbanked g'"#

all_or_nothing_changes_nothing_where_something_would_be_left: r#"
    echo 1 >f; echo 1 >g; snap capture p >/dev/null; echo 2 >g; snap capture q >/dev/null; echo unknown >f
    code=0; wt-restore --all-or-nothing p >/dev/null 2>&1 || code=$?
    test $code -eq 5; test "$(cat f g)" = "$(printf 'unknown\n2')"
    snap restore p --all-or-nothing >/dev/null; test "$(cat f g)" = "$(printf '1\n1')""#

a_directory_that_holds_something_ignored_or_uncaptured_is_kept: r#"
    echo '*.log' >.gitignore; echo 1 >f; snap capture p >/dev/null
    mkdir -p a/b c; echo 1 >a/b/x; echo keep >a/b/y.log; mkfifo c/p; echo 1 >c/x
    snap restore p >/dev/null 2>&1 || test $? -eq 3
    test "$(cat a/b/y.log)" = keep; not test -e a/b/x; test -p c/p; not test -e c/x"#

ignored_trees_and_git_are_never_tidied: r#"
    mkdir -p .git/refs/tags cache/tmp; echo cache/ >.gitignore; echo 1 >a; snap capture p >/dev/null
    mkdir -p made/by/agent; echo 2 >a; snap restore p >/dev/null
    test -d .git/refs/tags; test -d cache/tmp; not test -e made"#

an_empty_list_of_paths_does_nothing: r#"
    echo 1 >f; snap capture p >/dev/null; echo 2 >f
    test -z "$(printf '\n' | wt-restore --paths-from-stdin --require-end p)"; test "$(cat f)" = 2
    code=0; printf 'f\n' | wt-restore --paths-from-stdin --require-end p >/dev/null 2>&1 || code=$?
    test $code -eq 4; test "$(cat f)" = 2"#

hard_links_are_never_written_through: r#"
    echo 1 >a; ln a b; snap capture p >/dev/null; echo 2 >a; ln a $X/outside
    snap restore p >/dev/null; test "$(cat a b)" = "$(printf '1\n1')"; test "$(cat $X/outside)" = 2"#

a_store_in_the_workspace_is_no_part_of_a_restore: r#"
    export WT_STORE=$W/x; echo 1 >f; snap capture p >/dev/null; echo 2 >f; echo n >n
    snap restore p >/dev/null; test "$(cat f)" = 1; not test -e n; snap verify; test -d x/runs"#
}

#[test]
fn a_dry_run_prints_the_same_and_changes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.everything();
    sandbox.capture("p");
    sandbox.sh("echo 2 >run.sh; rm -r d1 link; mkdir link; echo n >link/new; chmod 644 secret; ln -sfn x dangling; mkdir -p new/dir").ok();
    sandbox.capture("q");
    let (tree, store) = (Tree::with_stat(&sandbox.w()), Tree::of(&sandbox.s()));
    let said = sandbox.run(&["wt-restore", "-z", "--dry-run", "p"]).stdout;
    tree.assert_same(&Tree::with_stat(&sandbox.w()), "a dry run in the workspace");
    store.assert_same(&Tree::of(&sandbox.s()), "a dry run in the store");
    assert!(!said.is_empty());
    assert_eq!(sandbox.run(&["wt-restore", "-z", "p"]).stdout, said, "the same is done");
}

#[test]
fn nothing_outside_of_the_workspace_changes() {
    let sandbox = Sandbox::new();
    sandbox.everything();
    sandbox.sh("mkdir $T/out; echo 1 >$T/out/f; ln -s ../out outlink; ln -s ../out/f outfile").ok();
    sandbox.capture("p");
    sandbox.sh("rm outlink outfile; mkdir outlink; echo x >outlink/f; echo y >outfile; rm -r d1; ln -s ../out d1; ln -s ../out new").ok();
    let before = Tree::with_stat(&sandbox.t().join("out"));
    sandbox.sh("snap restore p >/dev/null").ok();
    before.assert_same(&Tree::with_stat(&sandbox.t().join("out")), "outside");
}

rules! {
bytes_whose_copy_in_the_pool_is_damaged_are_not_destroyed: r#"
    echo AAAA >f; snap capture p >/dev/null; echo BBBB >f; snap capture q >/dev/null
    object=$(echo BBBB | object_of); echo CCCC >"$object"
    code=0; wt-restore -q p >$X/report || code=$?; test $code -eq 3; test "$(cat f)" = BBBB
    code=0; wt-restore -q --force p >$X/report 2>/dev/null || code=$?; test $code -eq 3; test "$(cat f)" = BBBB
    grep -qx 'keep:damaged	f' $X/report
    wt-fsck -q --repair-from "$W" >/dev/null 2>&1; wt-restore -q p >/dev/null; test "$(cat f)" = AAAA
    wt-restore -q q >/dev/null; test "$(cat f)" = BBBB"#
}
