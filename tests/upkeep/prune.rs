//! wt-prune: removes what nothing names, and nothing else whatever happens.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::sandbox::{Sandbox, age, chmod, is_root, oid, put, rm};

const NOW: [&str; 2] = ["--grace", "0"];

/// A run `r` with two snapshots, then a forgotten one: its manifest is gone, head and label point to the others.
fn store_with_garbage() -> Sandbox {
    let box_ = Sandbox::new();
    box_.capture_with("r", Some("a"), "f", b"one");
    let two = box_.capture_with("r", Some("b"), "f", b"two");
    box_.capture_with("other", Some("x"), "f", b"three");
    rm(&box_.manifest("r", &two));
    box_
}

#[test]
fn live_objects_stay_and_those_of_a_removed_run_go() {
    let box_ = Sandbox::new();
    box_.write("a", b"a");
    box_.write("b", b"b");
    box_.capture("r", Some("l"));
    assert_eq!(box_.run("wt-prune", &NOW).ok(), "");
    assert_eq!(box_.objects(), 2, "two files, and no rules where there is no rules file");
    rm(&box_.runs().join("r"));
    let removed = box_.run("wt-prune", &NOW);
    assert_eq!(removed.lines().len(), 2, "{removed:?}");
    assert!(removed.out.contains(&format!("remove {} 1", oid(b"a"))));
    assert_eq!(box_.objects(), 0);
    let pool = box_.store().join("workspace-objects");
    assert_eq!(fs::read_dir(&pool).unwrap().count(), 1, "only the lock is left, no empty shard");
}

#[test]
fn links_raw_names_and_rules_keep_their_objects() {
    use std::os::unix::ffi::OsStrExt;
    let box_ = Sandbox::new();
    symlink("target text", box_.workspace().join("l")).unwrap();
    put(&box_.workspace().join(std::ffi::OsStr::from_bytes(b"\xff")), b"raw");
    box_.write(".gitignore", b"# rules\n");
    let id = box_.capture("r", None);
    // Only the manifest itself speaks for them now, not the pin that the original needs.
    rm(&box_.history("r").join("snapshots").join(format!("pin-{id}.json")));
    assert_eq!(box_.run("wt-prune", &NOW).ok(), "");
    for content in [&b"target text"[..], b"raw", b"# rules\n"] {
        assert!(box_.object(content).exists(), "{content:?}");
    }
}

#[test]
fn the_original_which_reads_only_entries_finds_every_hash_in_manifests_or_pins() {
    let box_ = Sandbox::new();
    symlink("target text", box_.workspace().join("l")).unwrap();
    box_.write(".gitignore", b"# rules\n");
    box_.write("f", b"f");
    box_.capture("r", None);
    let mut marked = Vec::new();
    for entry in fs::read_dir(box_.history("r").join("snapshots")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let document: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            marked.extend(
                document["entries"].as_array().unwrap().iter().map(|e| e["hash"].as_str().unwrap().to_owned()),
            );
        }
    }
    for content in [&b"target text"[..], b"# rules\n", b"f"] {
        assert!(marked.contains(&oid(content)), "{content:?}");
    }
}

/// The original's prune, without its grace: it marks `entries[].hash` of every `*.json` and takes away all else.
fn prune_as_the_original(box_: &Sandbox) {
    let mut marked = std::collections::HashSet::new();
    for run in fs::read_dir(box_.runs()).unwrap() {
        let Ok(documents) = fs::read_dir(run.unwrap().path().join("workspace/snapshots")) else { continue };
        for path in documents
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
        {
            let document: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            let entries = document["entries"].as_array().cloned().unwrap_or_default();
            marked.extend(entries.iter().map(|entry| entry["hash"].as_str().unwrap().to_owned()));
        }
    }
    for shard in fs::read_dir(box_.store().join("workspace-objects")).unwrap().map(|entry| entry.unwrap()) {
        let Ok(objects) = fs::read_dir(shard.path()) else { continue };
        for object in objects.map(|entry| entry.unwrap()) {
            let name = [shard.file_name(), object.file_name()].map(|name| name.into_string().unwrap()).concat();
            if !marked.contains(&name) {
                rm(&object.path());
            }
        }
    }
}

#[test]
fn a_store_that_the_original_prunes_too_keeps_everything_after_each_of_our_clean_ups() {
    use std::os::unix::ffi::OsStrExt;
    let box_ = Sandbox::new();
    box_.write(".gitignore", b"# rules\n");
    for (number, label) in ["pre:n:0", "bank:0", "post:n:0", "mine"].into_iter().enumerate() {
        symlink(format!("target {number}"), box_.workspace().join(format!("l{number}"))).unwrap();
        put(&box_.workspace().join(std::ffi::OsStr::from_bytes(b"\xff")), format!("raw {number}").as_bytes());
        box_.capture_with("r", Some(label), "f", format!("{number}").as_bytes());
    }
    let secret = oid(b"2");
    let steps = [
        vec!["wt-forget", "--run", "r", "bank:0"],
        vec!["wt-purge", "--yes", secret.as_str()],
        vec!["wt-fsck", "--run", "r", "--rebuild-index"],
        vec!["wt-prune", "--grace", "0"],
    ];
    for step in steps {
        let _ = box_.run(step[0], &step[1..]).ok();
        prune_as_the_original(&box_);
        assert_eq!(box_.run::<&str>("wt-fsck", &[]).ok(), "", "after {step:?}");
    }
    for content in [&b"target 0"[..], b"target 3", b"raw 3", b"raw 0", b"3", b"# rules\n"] {
        assert!(box_.object(content).exists(), "{}", String::from_utf8_lossy(content));
    }
}

#[test]
fn dry_run_and_real_run_print_the_same_and_the_dry_run_changes_nothing() {
    let box_ = store_with_garbage();
    put(&box_.store().join("workspace-objects/.obj-1"), b"half");
    put(&box_.history("r").join(".iterion-tmp-1"), b"half a document");
    put(&box_.history("r").join("snapshots/.iterion-tmp-2"), b"half a manifest");
    let run = box_.history("r").parent().unwrap().to_owned();
    for place in
        ["../../.iterion-tmp-3", ".iterion-tmp-4", "turns/n/0/.iterion-tmp-5", "interactions/.iterion-tmp-6"]
    {
        put(&run.join(place), b"half a document");
    }
    // What tools wrote is theirs.
    put(&run.join("artifact_files/.iterion-tmp-7"), b"whole");
    let before = box_.image();
    let dry = box_.run("wt-prune", &["--grace", "0", "--dry-run"]).ok();
    assert_eq!(box_.image(), before);
    let real = box_.run("wt-prune", &NOW).ok();
    assert_eq!(dry, real);
    assert_eq!(real.lines().count(), 8, "{real}");
    assert!(run.join("artifact_files/.iterion-tmp-7").exists());
    assert!(real.contains(&format!("remove {} 3", oid(b"two"))));
    assert_eq!(box_.run("wt-prune", &NOW).ok(), "", "nothing is left to do");
}

#[test]
fn the_grace_protects_what_is_young() {
    let box_ = store_with_garbage();
    put(&box_.store().join("workspace-objects/.obj-1"), b"half");
    assert_eq!(box_.run::<&str>("wt-prune", &[]).ok(), "");
    age(&box_.object(b"two"));
    let removed = box_.run::<&str>("wt-prune", &[]).ok();
    assert_eq!(removed, format!("remove {} 3\n", oid(b"two")));
    age(&box_.store().join("workspace-objects/.obj-1"));
    assert_eq!(box_.run("wt-prune", &["--grace", "4d"]).ok(), "");
    assert_eq!(box_.run("wt-prune", &["--grace", "2d"]).ok(), "remove workspace-objects/.obj-1 4\n");
    // An index that has not changed for that long needs no spare.
    put(&box_.history("r").join(".index-spare"), b"the one before");
    assert_eq!(box_.run::<&str>("wt-prune", &[]).ok(), "");
    age(&box_.history("r").join(".index-spare"));
    assert_eq!(box_.run::<&str>("wt-prune", &[]).ok(), "remove runs/r/workspace/.index-spare 14\n");
    for bad in ["", "-1", "1w", "h", "1.5h", "99999999999999999999d"] {
        let _ = box_.run("wt-prune", &["--grace", bad]).exits(2);
    }
}

#[test]
fn one_document_that_cannot_be_read_stops_it_with_nothing_removed() {
    let hash = oid(b"zzz");
    let template = store_with_garbage();
    for bad in [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        r#"{"id":"1-0001"}"#.to_owned(),
        r#"{"id":"1-0001","entries":[{"path":"a","hash":"ABC","mode":420,"size":1}]}"#.to_owned(),
        format!(
            r#"{{"id":"1-0001","entries":[{{"path":"a","hash":"{hash}","mode":420,"size":1}}],"format_version":2}}"#
        ),
        r#"{"pin_of":"1-0001","entries":[{"path":"a"}]}"#.to_owned(),
    ] {
        for name in ["1-0001.json", "pin-1-0001.json", "stray.json"] {
            let box_ = template.copy();
            put(&box_.history("other").join("snapshots").join(name), bad.as_bytes());
            let before = box_.image();
            let _ = box_.run("wt-prune", &NOW).exits(4).says(name).says("nothing is removed");
            assert_eq!(box_.image(), before);
        }
    }
}

#[test]
fn a_document_that_is_a_directory_or_leads_nowhere_stops_it() {
    let box_ = store_with_garbage();
    let path = box_.history("other").join("snapshots/1-0001.json");
    fs::DirBuilder::new().create(&path).unwrap();
    let _ = box_.run("wt-prune", &NOW).exits(4).says("1-0001.json");
    rm(&path);
    symlink("/nowhere", &path).unwrap();
    let _ = box_.run("wt-prune", &NOW).exits(4).says("1-0001.json");
    rm(&path);
    assert!(box_.object(b"two").exists());
    let _ = box_.run("wt-prune", &NOW).ok();
    assert!(!box_.object(b"two").exists());
}

#[test]
fn a_directory_of_manifests_that_cannot_be_listed_stops_it() {
    if is_root() {
        eprintln!("SKIPPED: permissions do not bind root");
        return;
    }
    let box_ = store_with_garbage();
    let dir = box_.history("other").join("snapshots");
    chmod(&dir, "000");
    let _ = box_.run("wt-prune", &NOW).exits(4).says("snapshots");
    chmod(&dir, "700");
    assert!(box_.object(b"two").exists());
}

#[test]
fn a_run_behind_a_link_counts_and_one_that_is_not_mounted_stops_it() {
    let box_ = store_with_garbage();
    let (run, away) = (box_.runs().join("other"), box_.root().join("disk"));
    assert!(Command::new("mv").arg(&run).arg(&away).status().unwrap().success());
    symlink(&away, &run).unwrap();
    let _ = box_.run("wt-prune", &NOW).ok();
    assert!(box_.object(b"three").exists(), "a linked run is a run");
    let elsewhere = box_.root().join("unmounted");
    assert!(Command::new("mv").arg(&away).arg(&elsewhere).status().unwrap().success());
    let _ = box_.run("wt-prune", &NOW).exits(4).says("other");
    assert!(box_.object(b"three").exists());
    // The same for a link inside the run.
    rm(&run);
    fs::DirBuilder::new().create(&run).unwrap();
    symlink(away.join("workspace"), run.join("workspace")).unwrap();
    let _ = box_.run("wt-prune", &NOW).exits(4).says("other");
    assert!(box_.object(b"three").exists());
}

#[test]
fn a_run_of_any_name_counts_and_so_does_one_without_a_document() {
    use std::os::unix::ffi::OsStrExt;
    let box_ = store_with_garbage();
    let odd = box_.runs().join(std::ffi::OsStr::from_bytes(b".odd \xff\n"));
    assert!(Command::new("mv").arg(box_.runs().join("other")).arg(&odd).status().unwrap().success());
    fs::DirBuilder::new().create(box_.runs().join("empty")).unwrap();
    put(&box_.runs().join("a file"), b"");
    let _ = box_.run("wt-prune", &NOW).ok();
    assert!(box_.object(b"three").exists());
}

#[test]
fn without_runs_nothing_is_removed() {
    let box_ = store_with_garbage();
    rm(&box_.runs());
    assert_eq!(box_.run("wt-prune", &NOW).ok(), "");
    assert_eq!(Sandbox::new().run("wt-prune", &NOW).ok(), "", "no store at all");
}

#[test]
fn the_workspace_need_not_be_there() {
    let box_ = store_with_garbage();
    rm(&box_.workspace());
    let _ = box_.run("wt-prune", &NOW).ok();
    assert!(box_.object(b"one").exists() && !box_.object(b"two").exists());
}

#[test]
fn strangers_in_the_pool_are_named_and_stay() {
    let box_ = store_with_garbage();
    let pool = box_.store().join("workspace-objects");
    let (doomed, rest) = (oid(b"dir"), oid(b"link"));
    put(&pool.join("README"), b"hello");
    put(&pool.join("aa"), b"a file with the name of a shard");
    put(&pool.join("AB/upper"), b"");
    put(&pool.join("O.tmp123"), b"");
    put(&pool.join("bb/short"), b"");
    fs::DirBuilder::new().recursive(true).create(pool.join(&doomed[..2]).join(&doomed[2..])).unwrap();
    fs::DirBuilder::new().recursive(true).create(pool.join(&rest[..2])).unwrap();
    symlink("/etc/hosts", pool.join(&rest[..2]).join(&rest[2..])).unwrap();
    fs::DirBuilder::new().create(pool.join(".obj-dir")).unwrap();
    age(&pool);
    let ran = box_.run("wt-prune", &NOW);
    assert_eq!(ran.out, format!("remove {} 3\n", oid(b"two")));
    for name in ["README", "aa", "AB", "O.tmp123", "bb/short", &doomed[2..], &rest[2..], ".obj-dir"] {
        assert!(ran.err.contains(name), "{name} in {}", ran.err);
    }
    assert!(pool.join("bb/short").exists() && pool.join("README").exists() && pool.join(".obj-dir").exists());
    assert!(pool.join(&rest[..2]).join(&rest[2..]).is_symlink());
}

#[test]
fn a_snapshot_that_appears_after_the_mark_keeps_its_objects() {
    for moment in ["prune-planned", "prune-slice"] {
        let box_ = store_with_garbage();
        // The content of the forgotten snapshot comes back, and a run that did not exist.
        box_.write("f", b"two");
        let hook = format!("{moment}={}", box_.capture_script("new", Some("l")));
        let ran = box_.hooked("wt-prune", &NOW, &hook);
        assert!(!ran.err.contains("error"), "{ran:?}");
        assert!(box_.object(b"two").exists(), "{moment}");
        let id = fs::read_dir(box_.history("new").join("snapshots")).unwrap().count();
        assert!(id > 0);
    }
}

#[test]
fn an_object_used_after_the_plan_stays_although_nothing_names_it_yet() {
    let box_ = store_with_garbage();
    age(&box_.store().join("workspace-objects"));
    put(&box_.root().join("again"), b"two");
    let hook = format!(
        "prune-planned='{}' -w '{}'",
        env!("CARGO_BIN_EXE_wt-hash-object"),
        box_.root().join("again").display()
    );
    let ran = box_.hooked::<&str>("wt-prune", &[], &hook);
    assert!(ran.ok().contains(&oid(b"two")), "only the id that the hook printed");
    assert!(box_.object(b"two").exists());
}

#[test]
fn a_document_that_appears_and_cannot_be_read_stops_the_sweep() {
    let box_ = store_with_garbage();
    let bad = box_.history("other").join("snapshots/9-0001.json");
    let _ = box_.hooked("wt-prune", &NOW, &format!("prune-planned=echo '{{' > '{}'", bad.display())).exits(4);
    assert!(box_.object(b"two").exists());
}

#[test]
fn killed_or_failing_anywhere_it_removes_only_garbage_and_a_rerun_finishes() {
    let template = store_with_garbage();
    put(&template.store().join("workspace-objects/.obj-1"), b"half");
    put(&template.history("r").join(".iterion-tmp-1"), b"half");
    for fault in ["kill", "ENOSPC", "EIO", "EACCES", "EMFILE"] {
        for nth in 1.. {
            let box_ = template.copy();
            let (ran, fired) = box_.disturbed("wt-prune", &NOW, &format!("{nth}:{fault}"));
            if !fired {
                assert!(nth > 3, "the seam sees every removal");
                assert_eq!(ran.code, 0);
                break;
            }
            assert!(box_.object(b"one").exists() && box_.object(b"three").exists());
            let _ = box_.run("wt-prune", &NOW).ok();
            assert!(
                !box_.object(b"two").exists() && box_.object(b"one").exists() && box_.object(b"three").exists()
            );
            assert_eq!(box_.run("wt-prune", &NOW).ok(), "");
        }
    }
}

#[test]
fn a_locked_pool_is_waited_for_and_reported() {
    let box_ = store_with_garbage();
    let lock = fs::File::open(box_.store().join("workspace-objects/.lock")).unwrap();
    lock.lock_shared().unwrap();
    let _ = box_.impatient("wt-prune", &NOW).exits(6).says("the object pool");
    assert!(box_.object(b"two").exists());
    assert!(!box_.run("wt-prune", &["--grace", "0", "--dry-run"]).ok().is_empty(), "a dry run waits for nobody");
}

#[test]
fn json_lines_say_what_went_and_what_was_read() {
    let box_ = store_with_garbage();
    put(&box_.store().join("workspace-objects/.obj-1"), b"half");
    let out = box_.run("wt-prune", &["--grace", "0", "--json"]).ok();
    let lines: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.contains(&serde_json::json!({"action": "remove", "oid": oid(b"two"), "size": 3})));
    assert!(
        lines.contains(&serde_json::json!({"action": "remove", "path": "workspace-objects/.obj-1", "size": 4}))
    );
    let summary = &lines.last().unwrap()["summary"];
    assert_eq!((&summary["removed"], &summary["bytes"]), (&2.into(), &7.into()));
}
