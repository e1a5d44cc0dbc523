//! Promise 6 and its danger: what is unchanged is not read again, and only what is really unchanged.
//!
//! Whether the cache was believed is seen without looking at system calls: the row is made to name another object that
//! is in the pool. A capture that takes that hash did not read the file.

use crate::sandbox::stored::oid;
use crate::sandbox::{Sandbox, Tree};

/// As long as what it stands for: the size of a cached object is looked at.
const LIE: &str = "the lie\n";

/// Makes the row of `path` name the object of [`LIE`].
fn poison(sandbox: &Sandbox, path: &str) {
    sandbox.call().stdin(LIE).run(&["wt-hash-object", "-w", "--stdin"]).ok();
    let index = sandbox.stored().index_path();
    let text = std::fs::read_to_string(&index).unwrap();
    let hash = &sandbox.stored().index().entries[path].hash;
    std::fs::write(&index, text.replace(hash, &oid(LIE))).unwrap();
}

/// The hash under which a capture records `path`, taken without the checks that a lie about sizes would fail.
fn recorded(sandbox: &Sandbox, path: &str) -> String {
    let stream = sandbox.sh("wt-ls-files --records | wt-hash-object -w --stdin-records").ok();
    let line = stream.lines().find(|line| line.split_once('\t').is_some_and(|(_, name)| name == path)).unwrap();
    line.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn what_did_not_change_is_not_read() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "content\n").settle();
    sandbox.capture("l");
    assert_eq!(recorded(&sandbox, "f"), oid("content\n"));
    poison(&sandbox, "f");
    assert_eq!(recorded(&sandbox, "f"), oid(LIE));
}

#[test]
fn without_a_run_there_is_no_cache() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "content\n").settle();
    sandbox.capture("l");
    poison(&sandbox, "f");
    let stream = sandbox.sh("unset WT_RUN; wt-ls-files --records | wt-hash-object -w --stdin-records").ok();
    assert!(stream.contains(&oid("content\n")) && !stream.contains(&oid(LIE)));
}

#[test]
fn size_time_change_time_and_inode_must_all_be_the_same() {
    for change in [
        "echo other content >f",
        "touch f",
        "chmod 600 f",
        "ln f hard",
        "cp -p f g; mv g f",
        "echo CONTENT >f; touch -d @1700000000 f",
    ] {
        let sandbox = Sandbox::new();
        sandbox.file("f", "content\n").mtime("f", 1_700_000_000, 0).settle();
        sandbox.capture("l");
        poison(&sandbox, "f");
        sandbox.sh(change).ok();
        assert_ne!(recorded(&sandbox, "f"), oid(LIE), "{change}");
    }
}

#[test]
fn a_row_that_lacks_change_time_or_inode_is_no_proof() {
    for member in ["ctime_nano", "ino"] {
        let sandbox = Sandbox::new();
        sandbox.file("f", "content\n").settle();
        sandbox.capture("l");
        poison(&sandbox, "f");
        let path = sandbox.stored().index_path();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(member, "something_else")).unwrap();
        assert_eq!(recorded(&sandbox, "f"), oid("content\n"), "{member}");
    }
}

#[test]
fn a_same_sized_edit_with_the_old_time_is_seen() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "AAAA\n").mtime("f", 1_700_000_000, 0).settle();
    sandbox.capture("l");
    assert!(sandbox.stored().index().entries.contains_key("f"));
    let id = sandbox.sh("echo BBBB >f; touch -d @1700000000 f; snap capture l").ok();
    assert_eq!(sandbox.stored().manifest(&id).entries.unwrap()[0].hash, oid("BBBB\n"));
}

#[test]
fn two_files_that_change_places_change_their_hashes() {
    let sandbox = Sandbox::new();
    sandbox.file("x", "a1\n").file("y", "b2\n").mtime("x", 1_700_000_000, 0).mtime("y", 1_700_000_000, 0).settle();
    sandbox.capture("l");
    let id = sandbox.sh("mv x t; mv y x; mv t y; snap capture l").ok();
    let entries = sandbox.stored().manifest(&id).entries.unwrap();
    assert_eq!((&entries[0].hash, &entries[1].hash), (&oid("b2\n"), &oid("a1\n")));
}

#[test]
fn what_was_touched_a_moment_ago_or_in_the_future_is_not_cached() {
    let sandbox = Sandbox::new();
    sandbox.file("settled", "1").file("future", "2").mtime("future", 4_000_000_000, 5).settle();
    // The walk begins within a tick of this change.
    sandbox.sh("echo 3 >fresh; stage_ls >$X/ls").ok();
    sandbox.sh("stage_hash <$X/ls | stage_write --label l").ok();
    let rows = sandbox.stored().index().entries;
    assert!(rows.contains_key("settled"));
    assert!(!rows.contains_key("future"));
    let fresh = rows.contains_key("fresh");
    // On a slow machine the walk may begin later than a tick after the change; then the row is right.
    let ctime = {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::metadata(sandbox.path("fresh")).unwrap();
        meta.ctime() * 1_000_000_000 + meta.ctime_nsec()
    };
    let start: i64 = sandbox.sh(r"tr '\0' '\n' <$X/ls | sed -n 's/^#start //p'").ok().parse().unwrap();
    assert_eq!(fresh, ctime < start - 20_000_000);
    sandbox.sh("echo X >future; touch -d @4000000000.000000005 future; snap capture l").ok();
    sandbox.stored().check();
}

#[test]
fn a_third_capture_without_edits_writes_nothing_at_all() {
    let sandbox = Sandbox::new();
    sandbox.everything().settle();
    sandbox.capture("l");
    sandbox.capture("l");
    let before = Tree::with_stat(&sandbox.s());
    sandbox.capture("l");
    before.assert_same(&Tree::with_stat(&sandbox.s()), "the store after a capture without a change");
}

#[test]
fn a_change_of_mode_alone_is_a_snapshot_and_no_object() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").settle();
    let first = sandbox.capture("l");
    let objects = sandbox.stored().objects();
    let second = sandbox.sh("chmod 755 f; snap capture l").ok();
    let entry = |id: &str| sandbox.stored().manifest(id).entries.unwrap().remove(0);
    assert_eq!((entry(&first).mode, entry(&second).mode), (0o644, 0o755));
    assert_eq!(entry(&first).hash, entry(&second).hash);
    assert_eq!(sandbox.stored().objects(), objects);
}

#[test]
fn only_what_was_seen_this_time_stays_in_the_cache() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").file("g", "2").settle();
    sandbox.capture("l");
    sandbox.sh("rm g; snap capture l").ok();
    assert_eq!(sandbox.stored().index().entries.keys().collect::<Vec<_>>(), ["f"]);
}

#[test]
fn an_object_that_is_gone_is_stored_again() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "content\n").settle();
    sandbox.capture("l");
    std::fs::remove_file(sandbox.stored().object_of("content\n")).unwrap();
    sandbox.capture("l");
    sandbox.stored().check();
}

#[test]
fn an_object_of_the_wrong_size_is_stored_again() {
    for damage in ["", "conten", "content\ncontent\n"] {
        let sandbox = Sandbox::new();
        sandbox.file("f", "content\n");
        sandbox.capture("l");
        std::fs::write(sandbox.stored().object_of("content\n"), damage).unwrap();
        sandbox.sh("touch f; snap capture l").ok();
        sandbox.stored().check();
    }
}

#[test]
fn names_that_are_not_text_are_read_every_time_and_never_wrong() {
    let sandbox = Sandbox::new();
    sandbox.file(b"\xff", "1").settle();
    let first = sandbox.capture("l");
    assert!(sandbox.stored().index().entries.is_empty());
    assert_eq!(sandbox.capture("l"), first);
}
