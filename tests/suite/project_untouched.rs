//! Promise 1: nothing is written into the project by a capture.

use crate::sandbox::{Sandbox, Tree};

#[test]
fn a_capture_leaves_no_trace_in_the_project() {
    let sandbox = Sandbox::new();
    sandbox
        .everything()
        .fifo("fifo")
        .socket("socket")
        .file("locked/in", "x")
        .mode("locked", 0)
        .file("closed", "x")
        .mode("closed", 0);
    let before = Tree::with_stat(&sandbox.w());
    sandbox.capture("one");
    sandbox.run(&["wt-ls-files"]).ok();
    sandbox.run(&["wt-ls-manifest", "one"]).ok();
    sandbox.capture("two");
    before.assert_same(&Tree::with_stat(&sandbox.w()), "two captures");
}

#[test]
fn git_sees_nothing_of_a_capture() {
    let sandbox = Sandbox::new();
    let setup = "git init -q; git config user.email x@y; git config user.name x
        echo 1 >f; git add f; git commit -qm 1; echo 2 >f; git stash -q; echo 3 >g; git add g; echo 4 >h";
    sandbox.sh(setup).ok();
    let before = Tree::with_stat(&sandbox.w());
    // Whatever the environment says of a repository is none of our business.
    let hostile = "export GIT_DIR=/nonexistent GIT_INDEX_FILE=/nonexistent/i GIT_WORK_TREE=/; snap capture l";
    let id = sandbox.sh(hostile).ok();
    before.assert_same(&Tree::with_stat(&sandbox.w()), "a capture of a repository");
    let entries = sandbox.stored().manifest(&id).entries.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(), ["f", "g", "h"]);
}

#[test]
fn a_git_file_of_a_submodule_is_left_out_like_a_git_directory() {
    let sandbox = Sandbox::new();
    sandbox
        .file("sub/.git", "gitdir: ../.git/modules/sub\n")
        .file("sub/f", "1")
        .file("a/.iterion/x", "1")
        .file(".git", "x");
    sandbox.capture("l");
    assert_eq!(sandbox.run(&["wt-ls-manifest", "l"]).ok(), "sub/f");
}

#[test]
fn a_failed_capture_leaves_no_trace_either() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1").file("b", "2");
    let before = Tree::with_stat(&sandbox.w());
    sandbox.sh("stage_ls --max-files 1 | stage_hash | stage_write --label l").fails(7);
    sandbox.sh("stage_ls | stage_hash --max-new-bytes 1 | stage_write --label l").fails(7);
    sandbox
        .sh("mkdir $X/ro; chmod 555 $X/ro; export WT_STORE=$X/ro/s; stage_ls | stage_hash | stage_write --label l")
        .fails(8);
    before.assert_same(&Tree::with_stat(&sandbox.w()), "three captures that failed");
}
