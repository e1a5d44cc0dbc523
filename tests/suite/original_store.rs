//! A store that the Go original wrote: it loads, lists, takes captures, and what it wrote stays readable for it.

use std::collections::BTreeMap;

use crate::sandbox::fixture::own;
use crate::sandbox::{Sandbox, Stored, Tree};

/// A sandbox whose store is a copy of the original's, and a workspace like the one it was taken from.
fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::new();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/original-store");
    let store = sandbox.s();
    // git keeps neither 0600 nor 0700.
    let script = format!(
        "cp -r {fixture} {0}; find {0} -type d -exec chmod 700 {{}} +; find {0} -type f -exec chmod 600 {{}} +",
        store.display()
    );
    assert!(std::process::Command::new("sh").args(["-c", &script]).status().unwrap().success());
    for path in Tree::of(&store).paths().iter().chain([&String::new()]) {
        own(&store.join(path));
    }
    sandbox.set("WT_RUN", "run_fx");
    sandbox
}

fn stored(sandbox: &Sandbox) -> Stored {
    Stored::open(&sandbox.s(), "run_fx")
}

#[test]
fn it_is_whole_by_our_own_reading() {
    stored(&sandbox()).check();
}

#[test]
fn every_snapshot_of_it_is_listed() {
    let sandbox = sandbox();
    let stored = stored(&sandbox);
    for id in stored.ids() {
        let manifest = stored.manifest(&id);
        let files: Vec<String> = manifest.entries.unwrap().into_iter().map(|entry| entry.path).collect();
        assert_eq!(sandbox.run(&["wt-ls-manifest", &id]).quietly_ok(), files.join("\n"));
        let gaps: Vec<String> = manifest.skipped.iter().map(|path| format!("skipped\t{path}")).collect();
        assert_eq!(sandbox.run(&["wt-ls-manifest", "--gaps", &id]).quietly_ok(), gaps.join("\n"));
    }
    for label in [
        "pre:implement:0",
        "post:implement:0",
        "pause:review:0",
        "resume:review:0",
        "post:review:0",
        "post:ship:0",
        "HEAD",
    ] {
        sandbox.run(&["wt-ls-manifest", label]).quietly_ok();
    }
    assert_eq!(sandbox.run(&["wt-ls-manifest", "--run", "run_two", "HEAD"]).code, 0);
}

#[test]
fn every_object_of_it_reads_and_verifies() {
    let sandbox = sandbox();
    let objects: Vec<String> = stored(&sandbox).objects().into_iter().collect();
    assert!(objects.len() >= 14);
    for id in &objects {
        sandbox.run(&["wt-cat-object", id]).quietly_ok();
    }
}

#[test]
fn further_captures_join_its_chain_and_leave_what_it_wrote() {
    let sandbox = sandbox();
    let stored = stored(&sandbox);
    let before = Tree::of(&sandbox.s());
    let (old_ids, old_index) = (stored.ids(), stored.index());
    sandbox.file("note.md", "changed\n").file("new & <file>.txt", "n\n").link("link", "note.md");
    let id = sandbox.capture("pre:next:0");
    assert_eq!(stored.manifest(&id).parent, old_index.head);
    assert!(old_ids.iter().all(|old| *old < id));
    let now = Tree::of(&sandbox.s());
    for path in before.paths().iter().filter(|path| !path.ends_with("index.json")) {
        before.only(path).assert_same(&now.only(path), "what the original wrote");
    }
    stored.check();
    let index = stored.index();
    for (label, target) in &old_index.labels {
        assert_eq!(&index.labels[label], target);
    }
    assert_eq!(index.head, id);
    // The strict shapes of the original: our additions stand beside them, never inside of `entries` and `skipped`.
    let json = stored.manifest_json(&id);
    for entry in json["entries"].as_array().unwrap() {
        let members: Vec<&String> = entry.as_object().unwrap().keys().collect();
        assert_eq!(
            members.iter().map(|member| member.as_str()).collect::<std::collections::BTreeSet<_>>(),
            ["hash", "mode", "path", "size"].into()
        );
    }
}

#[test]
fn its_stat_cache_is_no_proof_and_its_rows_get_our_members() {
    let sandbox = sandbox();
    // The very size and time of its row, and other bytes.
    let row = stored(&sandbox).index().entries["empty.txt"].clone();
    sandbox.file("empty.txt", "").mtime("empty.txt", row.mod_nano / 1_000_000_000, row.mod_nano % 1_000_000_000);
    let size = usize::try_from(stored(&sandbox).index().entries["docs/intro.md"].size).unwrap();
    let row = stored(&sandbox).index().entries["docs/intro.md"].clone();
    let other = "x".repeat(size);
    sandbox.file("docs/intro.md", &other).mtime(
        "docs/intro.md",
        row.mod_nano / 1_000_000_000,
        row.mod_nano % 1_000_000_000,
    );
    sandbox.settle();
    let id = sandbox.capture("l");
    let entries: BTreeMap<String, String> =
        stored(&sandbox).manifest(&id).entries.unwrap().into_iter().map(|entry| (entry.path, entry.hash)).collect();
    assert_eq!(entries["docs/intro.md"], crate::sandbox::stored::oid(&other));
    let text = std::fs::read_to_string(stored(&sandbox).index_path()).unwrap();
    assert!(text.contains("\"ctime_nano\"") && text.contains("\"ino\""), "{text}");
}

#[test]
fn it_says_no_root_so_that_any_workspace_may_go_on() {
    let sandbox = sandbox();
    sandbox.file("f", "1");
    let id = sandbox.capture("l");
    assert_eq!(stored(&sandbox).manifest_json(&id)["workspace"], sandbox.w().to_str().unwrap());
}

#[test]
fn every_snapshot_of_it_is_restored_and_undone() {
    let sandbox = sandbox();
    let stored = stored(&sandbox);
    sandbox.file("mine.txt", "mine\n").link("link", "mine.txt");
    for id in stored.ids() {
        let manifest = stored.manifest(&id);
        let bank = sandbox.call().env("ID", &id).sh("snap restore $ID | sed -n 's/^bank //p'").ok();
        for entry in manifest.entries.unwrap() {
            let bytes = std::fs::read(sandbox.path(&entry.path)).unwrap();
            assert_eq!(crate::sandbox::stored::oid(bytes), entry.hash, "{id}: {}", entry.path);
        }
        // It knows nothing of links.
        assert!(sandbox.path("link").is_symlink(), "{id}");
        sandbox.call().env("BANK", &bank).sh("snap restore $BANK >/dev/null").ok();
        assert_eq!(std::fs::read(sandbox.path("mine.txt")).unwrap(), b"mine\n");
    }
    stored.check();
    sandbox.run(&["wt-fsck", "-q"]).ok();
}
