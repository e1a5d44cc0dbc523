//! Promise 5: objects, then manifest and pins, then journal, then index; at every cut the store is consistent.

use crate::sandbox::faults::at_every_effect;
use crate::sandbox::{Ran, Sandbox, Tree};

/// A workspace with one snapshot and then a change of every kind.
fn edited() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1").file("b", "2").link("l", "x");
    sandbox.sh("WT_FSYNC=on snap capture first").ok();
    sandbox.sh("echo changed >a; rm b; echo new >c; ln -sfn y l; mkdir d; mkfifo p").ok();
    sandbox
}

const HASH: &str = "export WT_FSYNC=on; stage_ls | WT_TEST_FAULT=$FAULT stage_hash | stage_write --label second";
const WRITE: &str =
    "export WT_FSYNC=on; stage_ls | stage_hash >$X/s; WT_TEST_FAULT=$FAULT stage_write --label second <$X/s";

fn consistent(number: u32, sandbox: &Sandbox, tree: &Tree, ran: &Ran) {
    let stored = sandbox.stored();
    stored.check();
    tree.assert_same(&sandbox.tree(), &format!("effect {number}: nothing is left in the project"));
    let index = stored.index();
    // A label never points to what is not there, and never to half of it; the one that was there still is.
    assert!(index.labels.contains_key("first"), "effect {number}");
    let moved = index.labels.get("second").is_some_and(|id| *id == index.head);
    assert!(moved || !index.labels.contains_key("second"), "effect {number}: labels and head move together");
    assert!(ran.code != 0 || moved, "effect {number}: {}", ran.text());
    // The next command works without repair.
    let id = sandbox.capture("next");
    stored.check();
    let index = stored.index();
    assert_eq!((&index.head, &index.labels["next"]), (&id, &id), "effect {number}");
    assert_eq!(stored.manifest(&id).entries.unwrap().len(), 2);
}

#[test]
fn a_kill_at_any_effect_of_a_capture_leaves_a_consistent_store() {
    for script in [HASH, WRITE] {
        let tree = edited().tree();
        let effects = at_every_effect("kill", edited, script, |number, sandbox, ran| {
            assert_ne!(ran.code, 0, "effect {number}");
            consistent(number, sandbox, &tree, &ran);
        });
        assert!(effects >= 10, "{effects} effects of {script}");
    }
}

#[test]
fn a_full_disk_or_a_bad_one_at_any_effect_is_said_and_survived() {
    for (what, script) in [("ENOSPC", HASH), ("ENOSPC", WRITE), ("EIO", HASH), ("EIO", WRITE)] {
        let tree = edited().tree();
        at_every_effect(what, edited, script, |number, sandbox, ran| {
            // Only what is not needed may fail silently: removing a temporary file.
            if ran.code != 0 {
                assert_eq!(ran.code, 8, "{what} at effect {number}: {}", ran.text());
                assert!(ran.err().contains(": error: "), "{what} at effect {number}: {}", ran.text());
                assert!(
                    what != "ENOSPC" || ran.err().contains("free some space"),
                    "effect {number}: {}",
                    ran.text()
                );
                assert!(
                    sandbox.stored().temps().is_empty(),
                    "{what} at effect {number}: temporary files are cleared"
                );
            }
            consistent(number, sandbox, &tree, &ran);
        });
    }
}

/// The traced effects, in order, as `effect name`.
fn trace(sandbox: &Sandbox, stage: &str) -> Vec<String> {
    let script = format!("export WT_FSYNC=on; stage_ls | {stage}");
    sandbox.sh(&script).ok();
    let text = std::fs::read_to_string(sandbox.x("trace")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn position(effects: &[String], wanted: impl Fn(&str) -> bool) -> usize {
    effects.iter().position(|effect| wanted(effect)).unwrap_or_else(|| panic!("not there: {effects:#?}"))
}

#[test]
fn objects_are_flushed_before_they_get_their_names_and_the_names_after() {
    let sandbox = edited();
    let effects = trace(&sandbox, "WT_TEST_TRACE=$X/trace stage_hash | stage_write --label second");
    // An object has no name before it has its own; where a file system cannot do that, it has a temporary one.
    let names = |effect: &str| effect.starts_with("link ") || effect.starts_with("rename ");
    let of_objects = |kind: &str| {
        let of_kind = effects.iter().filter_map(|effect| effect.strip_prefix(kind));
        of_kind.filter(|name| *name == "unnamed" || name.starts_with(".obj-")).count()
    };
    assert!(of_objects("write ") > 0 && of_objects("write ") == of_objects("flush "), "{effects:#?}");
    let first_name = position(&effects, names);
    let last_flush = effects.iter().rposition(|effect| effect.starts_with("flush ")).unwrap();
    let last_rename = effects.iter().rposition(|effect| names(effect)).unwrap();
    assert!(last_flush < first_name, "{effects:#?}");
    let targets = effects.iter().filter(|effect| names(effect)).filter_map(|effect| effect.split(' ').nth(1));
    let shards: Vec<&str> = targets.filter_map(|name| name.get(..2)).collect();
    for shard in shards {
        assert!(effects[last_rename..].contains(&format!("flush-dir {shard}")), "{shard}: {effects:#?}");
    }
    assert!(effects[last_rename..].contains(&"flush-dir the pool".to_owned()), "{effects:#?}");
}

#[test]
fn manifest_then_journal_then_index_each_flushed_before_the_next() {
    let sandbox = edited();
    let effects = trace(&sandbox, "stage_hash | WT_TEST_TRACE=$X/trace stage_write --label second");
    let id = sandbox.stored().index().head;
    let at = |wanted: &str| position(&effects, |effect| effect == wanted);
    let order = [
        format!("flush pin-{id}.json"),
        format!("rename-new pin-{id}.json"),
        format!("flush-dir pin-{id}.json"),
        format!("flush {id}.json"),
        format!("rename-new {id}.json"),
        format!("flush-dir {id}.json"),
        "append labels.log".into(),
        "flush labels.log".into(),
        "flush index.json".into(),
        "rename index.json".into(),
        "flush-dir index.json".into(),
    ];
    let places: Vec<usize> = order.iter().map(|effect| at(effect)).collect();
    assert!(places.is_sorted(), "{effects:#?}");
}

#[test]
fn a_capture_without_a_change_makes_nothing() {
    let sandbox = edited();
    sandbox.settle();
    sandbox.sh("export WT_FSYNC=on; snap capture second; snap capture second").ok();
    for stage in [
        "WT_TEST_TRACE=$X/trace stage_hash | stage_write --label second",
        "stage_hash | WT_TEST_TRACE=$X/trace stage_write --label second",
    ] {
        sandbox.sh(&format!("export WT_FSYNC=on; stage_ls | {stage}")).ok();
    }
    let trace = std::fs::read_to_string(sandbox.x("trace")).unwrap_or_default();
    // Objects made a moment ago may be flushed once more.
    let made: Vec<&str> = trace.lines().filter(|effect| !effect.starts_with("flush")).collect();
    assert!(made.is_empty(), "{made:?}");
}

#[test]
fn a_store_that_cannot_be_written_is_a_clear_error_and_readers_work() {
    let sandbox = edited();
    let close = "find $S -type d -exec chmod 500 {} +; find $S -type f -exec chmod 400 {} +";
    sandbox.sh(close).ok();
    let before = Tree::with_stat(&sandbox.s());
    let err = sandbox.sh("stage_ls | stage_hash | stage_write --label second").fails(8);
    assert!(err.contains("permission denied"), "{err}");
    assert_eq!(sandbox.run(&["wt-ls-manifest", "first"]).ok(), "a\nb");
    sandbox.run(&["wt-cat-object", &crate::sandbox::stored::oid("1")]).ok();
    before.assert_same(&Tree::with_stat(&sandbox.s()), "a closed store");
    sandbox.sh("chmod -R u+w $S; find $S -type f -exec chmod 600 {} +; snap capture second").ok();
    sandbox.stored().check();
}

#[test]
fn a_really_full_disk_is_survived() {
    if !crate::sandbox::programs::is_root() {
        eprintln!("SKIPPED: only root can mount a small file system");
        return;
    }
    let sandbox = edited();
    let user = crate::sandbox::USER;
    // The mount lives in a namespace of its own and goes away with it.
    let script = format!(
        "head -c 300000 /dev/urandom >$W/big; chmod 644 $W/big
        unshare -m sh -c 'mount --make-rprivate / && mkdir $X/small && mount -t tmpfs -o size=256k,mode=700,uid={user},gid={user} none $X/small || exit 99
        cp -a $S $X/small/s; exec setpriv --reuid {user} --regid {user} --clear-groups sh -c \"
        export WT_STORE=$X/small/s; cd $W
        code=0; wt-ls-files -z --records | wt-hash-object -w -z --stdin-records | wt-write-manifest -z -q --label big || code=\\$?
        echo \\$code; wt-ls-manifest first; ls -A \\$WT_STORE/workspace-objects | grep -c obj- || true
        rm big; wt-ls-files -z --records | wt-hash-object -w -z --stdin-records | wt-write-manifest -z -q --label small >/dev/null; wt-ls-manifest small\"'"
    );
    let ran = sandbox.call().as_root().sh(&script);
    if ran.code == 99 || ran.err().contains("unshare:") {
        eprintln!("SKIPPED: this machine does not allow mounts: {}", ran.err());
        return;
    }
    let err = ran.err();
    assert!(err.contains("no space left on device; free some space"), "{}", ran.text());
    assert_eq!(ran.ok(), "8\na\nb\n0\na\nc");
}
