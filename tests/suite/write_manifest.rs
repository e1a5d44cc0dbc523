//! `wt-write-manifest`: labels, parents, reports.

use crate::sandbox::Sandbox;

#[test]
fn one_snapshot_may_get_many_labels_and_the_first_is_its_own() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let id = sandbox
        .sh("stage_ls | stage_hash | stage_write --label a --label b --label-create c --label-next bank")
        .ok();
    let stored = sandbox.stored();
    assert_eq!(stored.manifest(&id).label, "a");
    let labels = stored.index().labels;
    assert_eq!(labels.keys().collect::<Vec<_>>(), ["a", "b", "bank:0", "c"]);
    assert!(labels.values().all(|target| *target == id));
    stored.check();
}

#[test]
fn a_label_moves_and_the_own_label_stays() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let first = sandbox.capture("l");
    sandbox.file("f", "2");
    let second = sandbox.capture("l");
    let stored = sandbox.stored();
    assert_eq!(stored.index().labels["l"], second);
    assert_eq!((stored.manifest(&first).label, stored.manifest(&second).label), ("l".into(), "l".into()));
    assert_eq!(stored.manifest(&second).parent, first);
    assert_eq!(stored.index().head, second);
}

#[test]
fn a_label_to_be_created_must_not_exist() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let first = sandbox.capture("l");
    sandbox.file("f", "2");
    assert!(sandbox.sh("stage_ls | stage_hash | stage_write --label-create l").fails(6).contains("'l'"));
    assert_eq!(sandbox.stored().ids(), [first], "nothing was published");
}

#[test]
fn the_next_number_of_a_family_is_one_above_the_highest() {
    let sandbox = Sandbox::new();
    for (n, wanted) in [(0, "gate:0"), (1, "gate:1")] {
        sandbox.file("f", n.to_string());
        sandbox.sh("stage_ls | stage_hash | stage_write --label-next gate").ok();
        assert!(sandbox.stored().index().labels.contains_key(wanted));
    }
    sandbox.capture("gate:41");
    sandbox.sh("stage_ls | stage_hash | stage_write --label-next gate").ok();
    assert!(sandbox.stored().index().labels.contains_key("gate:42"));
}

#[test]
fn the_parent_that_is_named_must_be_head() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let first = sandbox.capture("a");
    sandbox.file("f", "2");
    let second = sandbox.capture("b");
    sandbox.file("f", "3");
    let script = "stage_ls | stage_hash | stage_write --parent $P";
    sandbox.call().env("P", &first).sh(script).fails(6);
    sandbox.call().env("P", "l").sh(script).fails(2);
    assert_eq!(sandbox.stored().ids().len(), 2);
    let third = sandbox.call().env("P", &second).sh(script).ok();
    assert_eq!(sandbox.stored().manifest(&third).parent, second);
}

#[test]
fn the_report_says_what_was_made() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "12").file("b", "345").fifo("p");
    let script = "stage_ls | stage_hash | wt-write-manifest -z --json --label l";
    let ran = sandbox.sh(script);
    assert_eq!(ran.err(), "wt-write-manifest: warning: not captured: 'p': special\n");
    let first: serde_json::Value = serde_json::from_str(&ran.ok()).unwrap();
    assert_eq!((&first["files"], &first["bytes"], &first["gaps"]), (&2.into(), &5.into(), &1.into()));
    assert_eq!((&first["reused"], &first["labels"][0]), (&false.into(), &"l".into()));
    assert!(first.get("parent").is_none());
    let again: serde_json::Value = serde_json::from_str(&sandbox.sh(script).ok()).unwrap();
    assert_eq!((&again["reused"], &again["id"]), (&true.into(), &first["id"]));
}

#[test]
fn strict_turns_gaps_into_the_exit_code_and_still_captures() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1").fifo("p");
    let id = sandbox.sh("stage_ls | stage_hash | stage_write --strict --label l").exits(3);
    assert_eq!(sandbox.stored().index().labels["l"], id);
    sandbox.sh("rm p; stage_ls | stage_hash | stage_write --strict --label l").ok();
}

#[test]
fn records_that_are_not_hashed_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1");
    assert!(sandbox.sh("stage_ls | stage_write --label l").fails(2).contains("wt-hash-object -w"));
    assert!(sandbox.stored().ids().is_empty());
}

#[test]
fn objects_that_are_not_in_the_pool_are_found_before_anything_is_published() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1");
    // Hashed, but not stored.
    sandbox.sh("stage_ls | wt-hash-object -z --stdin-records | stage_write --label l").fails(4);
    sandbox
        .sh("stage_ls | stage_hash >$X/stream; rm -r $S/workspace-objects/??; stage_write --label l <$X/stream")
        .fails(4);
    // A record that lies about the size.
    sandbox.sh("stage_ls | stage_hash | tr '\\0' '\\n' | sed 's/ 1 / 2 /' >$X/lie; grep -q ' 2 ' $X/lie; wt-write-manifest --label l <$X/lie").fails(4);
    assert!(sandbox.stored().ids().is_empty() && sandbox.stored().index().labels.is_empty());
}

#[test]
fn of_many_objects_the_first_that_is_missing_is_named() {
    let sandbox = Sandbox::new();
    for number in 0..600 {
        sandbox.file(format!("f{number:03}"), format!("content {number}"));
    }
    sandbox.sh("stage_ls | stage_hash >$X/stream").ok();
    for number in [599, 301, 7] {
        std::fs::remove_file(sandbox.stored().object_of(format!("content {number}"))).unwrap();
        let ran = sandbox.sh("stage_write --label l <$X/stream");
        assert!(ran.err().contains(&format!(" of 'f{number:03}' is not in the pool")), "{}", ran.text());
        ran.fails(4);
    }
    assert!(sandbox.stored().ids().is_empty() && sandbox.stored().index().labels.is_empty());
}

#[test]
fn a_switched_off_capture_is_a_note_and_no_store() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1");
    for value in ["off", "0", "false", "no", " OFF "] {
        let ran = sandbox
            .call()
            .env("ITERION_WORKSPACE_TRACK", value)
            .sh("stage_ls | stage_hash | wt-write-manifest -z --label l");
        assert!(ran.err().contains("captures are off"), "{}", ran.text());
        assert_eq!(ran.ok(), "");
        assert!(!sandbox.s().exists(), "{value}");
    }
    sandbox.call().env("ITERION_WORKSPACE_TRACK", "on").sh("stage_ls | stage_hash | stage_write --label l").ok();
    assert_eq!(sandbox.stored().ids().len(), 1);
}

#[test]
fn hand_made_lists_are_taken_where_asked_for_and_cover_what_they_list() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1").file("b", "2");
    let list = "f0644 - - - - -\ta\n";
    sandbox.call().stdin(list).sh("wt-hash-object -w --stdin-records | wt-write-manifest --label l").fails(4);
    let id = sandbox
        .call()
        .stdin(list)
        .sh("wt-hash-object -w --stdin-records --allow-unterminated | wt-write-manifest --label l")
        .ok();
    let manifest = sandbox.stored().manifest_json(&id);
    assert_eq!(manifest["entries"][0]["path"], "a");
    assert!(manifest["coverage"].get("rules").is_none(), "it covers only what it lists");
}
