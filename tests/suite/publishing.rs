//! Dedupe, ids and stale streams: what a complete stream becomes.

use crate::sandbox::Sandbox;

#[test]
fn an_unchanged_workspace_makes_no_second_manifest() {
    let sandbox = Sandbox::new();
    sandbox.everything();
    let first = sandbox.capture("one");
    assert_eq!(sandbox.capture("two"), first);
    let stored = sandbox.stored();
    assert_eq!(stored.ids(), [first.as_str()]);
    assert_eq!(stored.index().labels.values().collect::<Vec<_>>(), [&first, &first]);
    assert_eq!(stored.manifest(&first).label, "one");
}

#[test]
fn times_and_inodes_are_no_change() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").file("g", "2");
    let first = sandbox.capture("l");
    sandbox.sh("touch f; cp g h; mv h g; ln f $X/hard").ok();
    assert_eq!(sandbox.capture("l"), first);
}

#[test]
fn whatever_a_manifest_records_is_a_change() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").file("g", "2").link("l", "a").dir("d").file(b"\xff", "r");
    let mut last = sandbox.capture("l");
    for change in [
        "echo other >f",
        "chmod 600 f",
        "rm g",
        "echo new >n",
        "rm l; ln -s b l",
        "rm l",
        "rmdir d",
        "mkdir e",
        "chmod 700 e",
        "echo more >\"$(printf '\\377')\"",
        "mkfifo gap",
        "rm gap; mkdir gap; chmod 0 gap",
        "echo '*.none' >.gitignore",
        "mv .gitignore .iterionignore",
        "rm -f f; ln -s n f",
    ] {
        sandbox.sh(change).ok();
        let now = sandbox.capture("l");
        assert_ne!(now, last, "{change}");
        assert_eq!(sandbox.stored().manifest(&now).parent, last, "{change}");
        last = now;
    }
    // The cap is part of what a snapshot claims to know.
    let capped = sandbox.sh("stage_ls --max-file-size 999999 | stage_hash | stage_write --label l").ok();
    assert_ne!(capped, last);
    sandbox.sh("chmod 700 gap").ok();
    sandbox.stored().check();
}

#[test]
fn only_head_is_deduped_onto_never_an_older_one() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let first = sandbox.capture("l");
    sandbox.file("f", "2");
    sandbox.capture("l");
    sandbox.file("f", "1");
    let third = sandbox.capture("l");
    assert_ne!(third, first);
    assert_eq!(sandbox.stored().ids().len(), 3);
}

#[test]
fn a_boundary_never_dedupes_onto_a_bank() {
    for boundary in ["pre:n:0", "post:n:0", "fail:n:0", "pause:n:0", "resume:n:0", "gate:3"] {
        for other in ["rewind-backup:n:0", "pre-restore:1-0001:0", "bank:0", "mine"] {
            let sandbox = Sandbox::new();
            sandbox.file("f", "1");
            let bank = sandbox.capture(other);
            let snapshot = sandbox.capture(boundary);
            assert_ne!(snapshot, bank, "{boundary} onto {other}");
            assert_eq!(sandbox.stored().manifest(&snapshot).label, boundary);
            // The other way round nothing is lost.
            assert_eq!(sandbox.capture(other), snapshot, "{other} onto {boundary}");
            assert_eq!(sandbox.capture("resume:m:1"), snapshot, "a boundary onto a boundary");
        }
    }
}

#[test]
fn a_boundary_does_not_dedupe_onto_a_snapshot_without_a_label() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let plain = sandbox.sh("stage_ls | stage_hash | stage_write").ok();
    assert_eq!(sandbox.capture("l"), plain);
    assert_ne!(sandbox.capture("post:n:0"), plain);
}

#[test]
fn dedupe_can_be_switched_off() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let first = sandbox.capture("l");
    let second = sandbox.sh("stage_ls | stage_hash | stage_write --no-dedupe --label l").ok();
    assert_eq!(sandbox.stored().manifest(&second).parent, first);
}

#[test]
fn ids_go_up_whatever_the_clock_says() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.capture("l");
    // Left by a machine whose clock was ahead; no chain reaches it.
    let future = "9000000000000000000-0007";
    let manifest = format!(r#"{{"id":"{future}","created_at":"2255-03-13T16:00:00Z","entries":null}}"#);
    let path = sandbox.stored().manifest_path(future);
    std::fs::write(&path, &manifest).unwrap();
    let mut last = future.to_owned();
    for _ in 0..3 {
        let id = sandbox.sh("stage_ls | stage_hash | stage_write --no-dedupe").ok();
        let number = |id: &str| id.split_once('-').unwrap().0.parse::<u64>().unwrap();
        assert!(number(&id) > number(&last), "{id} is not above {last}");
        last = id;
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), manifest, "the stranger is untouched");
}

#[test]
fn a_walk_from_before_a_newer_snapshot_is_stale() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.capture("one");
    sandbox.file("f", "2");
    sandbox.sh("stage_ls >$X/ls; stage_hash <$X/ls >$X/hashed").ok();
    sandbox.file("f", "3");
    let newest = sandbox.capture("two");
    assert!(sandbox.sh("stage_write --label late <$X/hashed").fails(6).contains("capture again"));
    assert_eq!(sandbox.stored().index().head, newest);
    assert!(!sandbox.stored().index().labels.contains_key("late"));
}

#[test]
fn a_stale_walk_that_saw_the_same_is_no_conflict() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.sh("stage_ls | stage_hash >$X/hashed").ok();
    let newest = sandbox.capture("one");
    assert_eq!(sandbox.sh("stage_write --label late <$X/hashed").ok(), newest);
    assert_eq!(sandbox.stored().index().labels["late"], newest);
}

#[test]
fn the_first_capture_of_two_at_once_wins() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.sh("stage_ls | stage_hash >$X/a; echo 2 >f; stage_ls | stage_hash >$X/b").ok();
    sandbox.sh("stage_write --label b <$X/b").ok();
    sandbox.sh("stage_write --label a <$X/a").fails(6);
}

#[test]
fn rules_that_change_between_walk_and_hash_are_a_conflict() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").file(".gitignore", "x\n");
    for change in ["echo y >.gitignore", "echo z >.iterionignore", "rm .iterionignore .gitignore"] {
        sandbox.sh("stage_ls >$X/ls").ok();
        sandbox.sh(change).ok();
        sandbox.sh("stage_hash <$X/ls | stage_write --label l").fails(6);
    }
    assert!(sandbox.stored().ids().is_empty());
}

#[test]
fn what_moves_between_the_comparison_and_the_lock_is_not_lost() {
    // Whether the index is read or mapped depends on its size.
    for files in [1, 2000] {
        let sandbox = Sandbox::new();
        for number in 0..files {
            sandbox.file(format!("file {number}"), "1");
        }
        sandbox.settle();
        let head = sandbox.capture("first");
        sandbox.capture("first");
        let again = |hook: &str, label: &str| {
            let pipe = "stage_ls | stage_hash | WT_TEST_HOOK=$HOOK stage_write --label $LABEL";
            let hook = format!("before-history-lock={hook} && touch {}", sandbox.x("ran").display());
            let ran = sandbox.call().env("HOOK", hook).env("LABEL", label).sh(pipe);
            assert!(std::fs::remove_file(sandbox.x("ran")).is_ok(), "the comparison found nothing new");
            ran
        };
        assert_eq!(again("wt-label between HEAD", "second").ok(), head);
        let labels = sandbox.stored().index().labels;
        assert_eq!(labels.keys().collect::<Vec<_>>(), ["between", "first", "second"]);
        // The newest snapshot is another one by now, and records something else.
        let change = "unset WT_TEST_HOOK; echo 2 >another; wt-ls-files -z --records |
            wt-hash-object -w -z --stdin-records | wt-write-manifest -z --label newer >$X/newer";
        let ran = again(change, "third");
        assert_eq!(ran.code, 6, "{}", ran.text());
        let labels = sandbox.stored().index().labels;
        assert_eq!(labels.keys().collect::<Vec<_>>(), ["between", "first", "newer", "second"]);
        sandbox.stored().check();
    }
}

#[test]
fn a_purge_between_the_comparison_and_the_lock_is_seen() {
    let sandbox = Sandbox::new();
    // Its time lies ahead: it has no row in the stat cache, and only the manifest tells of it.
    sandbox.file("kept", "1").file("secret", "key").mtime("secret", 4_000_000_000, 5).settle();
    let head = sandbox.capture("first");
    let hook =
        format!("before-history-lock=wt-purge -q --yes secret >$X/purge; touch {}", sandbox.x("ran").display());
    let pipe = "stage_ls | stage_hash >$X/hashed; WT_TEST_HOOK=$HOOK stage_write --label second <$X/hashed";
    let ran = sandbox.call().env("HOOK", hook).sh(pipe);
    assert!(sandbox.x("ran").exists(), "the comparison found nothing new");
    assert_ne!(ran.out(), head, "head does not have the file any more");
    // The content went with the purge, so that the capture has to be made again.
    assert!(ran.fails(4).contains("is not in the pool"));
    assert!(!sandbox.stored().index().labels.contains_key("second"));
}
