//! wt-fsck: names every damage, and mends what can be mended without losing anything.

use std::fs;
use std::os::unix::fs::symlink;

use crate::sandbox::{Sandbox, chmod, oid, put, rm};

/// The findings of a full check, `SEVERITY code` each.
fn findings(box_: &Sandbox) -> Vec<String> {
    let ran = box_.run::<&str>("wt-fsck", &[]);
    assert_eq!(ran.code == 4, ran.out.contains("error\t"), "{ran:?}");
    short(&ran.out)
}

fn short(out: &str) -> Vec<String> {
    let mut lines: Vec<String> = out
        .lines()
        .map(|line| {
            let mut fields = line.split('\t');
            let (severity, what) = (fields.next().unwrap(), fields.next().unwrap());
            assert_eq!(fields.count(), 2, "path and repair: {line}");
            format!("{severity} {}", what.split(':').next().unwrap())
        })
        .collect();
    lines.sort();
    lines
}

/// Two snapshots of two files, a link and rules, labelled `a` and `b`.
fn store() -> (Sandbox, String, String) {
    let box_ = Sandbox::new();
    symlink("target text", box_.workspace().join("l")).unwrap();
    box_.write(".gitignore", b"# rules\n");
    box_.write("same", b"same");
    let a = box_.capture_with("r", Some("a"), "f", b"one");
    let b = box_.capture_with("r", Some("b"), "f", b"two");
    (box_, a, b)
}

fn label(box_: &Sandbox, name: &str) -> Option<String> {
    let index: serde_json::Value =
        serde_json::from_slice(&fs::read(box_.history("r").join("index.json")).unwrap()).unwrap();
    if name == "HEAD" { index["head"].as_str() } else { index["labels"][name].as_str() }.map(str::to_owned)
}

#[test]
fn a_sound_store_has_nothing_to_report() {
    let (box_, ..) = store();
    let before = box_.image();
    let ran = box_.run::<&str>("wt-fsck", &[]);
    assert_eq!(ran.out, "");
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("2 manifests and pins") || ran.err.contains("4 manifests and pins"), "{ran:?}");
    assert_eq!(box_.run("wt-fsck", &["--run", "r", "--quick"]).ok(), "");
    assert_eq!(box_.image(), before);
    let _ = box_.run("wt-fsck", &["--run", "nope"]).exits(2);
    assert_eq!(Sandbox::new().run::<&str>("wt-fsck", &[]).ok(), "", "no store at all");
}

#[test]
fn every_damage_of_an_object_is_found_and_said_whose_it_is() {
    let (box_, ..) = store();
    for (content, spoil) in [(&b"same"[..], &b""[..]), (b"same", b"sam"), (b"same", b"\0\0\0\0"), (b"two", b"owt")]
    {
        let (box_, ..) = store();
        put(&box_.object(content), spoil);
        assert_eq!(findings(&box_), ["error object-damaged"]);
        let ran = box_.run::<&str>("wt-fsck", &[]).exits(4).says("1 errors");
        assert!(ran.out.contains(if content == b"same" { "'same'" } else { "'f'" }), "{ran:?}");
        let quick = box_.run("wt-fsck", &["--quick"]);
        assert_eq!(quick.code == 4, spoil.len() != content.len(), "{quick:?}");
    }
    for content in [&b"one"[..], b"two", b"target text", b"# rules\n"] {
        rm(&box_.object(content));
    }
    assert_eq!(findings(&box_), ["error object-missing"; 4]);
    assert_eq!(short(&box_.run("wt-fsck", &["--quick"]).out).len(), 4);
}

#[test]
fn an_object_that_is_a_directory_or_a_link_is_missing_and_a_stranger() {
    let (box_, ..) = store();
    let path = box_.object(b"same");
    rm(&path);
    symlink("/etc/hosts", &path).unwrap();
    assert_eq!(findings(&box_), ["error object-missing", "warning stranger"]);
    rm(&path);
    fs::DirBuilder::new().create(&path).unwrap();
    assert_eq!(findings(&box_), ["error object-missing", "warning stranger"]);
}

#[test]
fn damage_that_no_snapshot_needs_is_damage_too_for_a_capture_would_trust_it() {
    let (box_, _, b) = store();
    rm(&box_.manifest("r", &b));
    put(&box_.object(b"two"), b"owt");
    let found = findings(&box_);
    assert!(found.contains(&"error object-damaged".to_owned()), "{found:?}");
    assert!(
        found.contains(&"error head-dangling".to_owned()) && found.contains(&"error label-dangling".to_owned())
    );
}

#[test]
fn repair_from_stores_again_what_the_workspace_still_has() {
    let (box_, ..) = store();
    put(&box_.object(b"same"), b"\0\0\0\0");
    put(&box_.object(b"two"), b"");
    rm(&box_.object(b"target text"));
    rm(&box_.object(b"# rules\n"));
    rm(&box_.object(b"one"));
    let workspace = box_.workspace();
    let args = ["--repair-from", workspace.to_str().unwrap()];
    let ran = box_.run("wt-fsck", &args).exits(4).says("stored 4 of 5");
    assert_eq!(short(&ran.out), ["error object-missing"]);
    assert!(ran.out.contains(&oid(b"one")[2..]));
    // What only the first snapshot had is found anywhere, even in a directory that was never captured.
    put(&box_.root().join("backup/deep/x"), b"one");
    let backup = box_.root().join("backup");
    let _ = box_.run("wt-fsck", &["--repair-from", backup.to_str().unwrap()]).ok();
    assert!(findings(&box_).is_empty());
    for content in [&b"one"[..], b"two", b"same", b"target text", b"# rules\n"] {
        assert_eq!(fs::read(box_.object(content)).unwrap(), content);
    }
    let _ = box_.run("wt-fsck", &["--repair-from", "/nowhere"]).exits(2);
}

#[test]
fn a_killed_repair_leaves_objects_whole_old_or_whole_new() {
    let (template, ..) = store();
    for nth in 1.. {
        let box_ = template.copy();
        put(&box_.object(b"same"), b"\0\0\0\0");
        rm(&box_.object(b"two"));
        let workspace = box_.workspace();
        let args = ["--repair-from", workspace.to_str().unwrap()];
        let (_, fired) = box_.disturbed("wt-fsck", &args, &format!("{nth}:kill"));
        let there = fs::read(box_.object(b"same")).unwrap();
        assert!(there == b"same" || there == b"\0\0\0\0");
        let _ = box_.run("wt-fsck", &args).ok();
        if !fired {
            break;
        }
    }
}

#[test]
fn every_damage_of_a_manifest_is_found() {
    let (box_, a, b) = store();
    let path = box_.manifest("r", &b);
    let good = fs::read(&path).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();
    for bad in [
        String::new(),
        "{".into(),
        text.replace(&b, "1-0001"),
        text.replace("\"path\":\"f\"", "\"path\":\"../f\""),
        text.replace("\"path\":\"f\"", "\"path\":\"same\""),
        text.replace(&oid(b"two"), "ABC"),
    ] {
        put(&path, bad.as_bytes());
        let found = findings(&box_);
        assert!(found.contains(&"error manifest-damaged".to_owned()), "{bad}: {found:?}");
    }
    put(&path, text.replace("\"path\":\"f\"", "\"path\":\"zz\"").as_bytes());
    assert_eq!(findings(&box_), ["warning manifest-order"]);
    put(&path, text.replace(&format!("\"parent\":\"{a}\""), "\"parent\":\"1-0001\"").as_bytes());
    assert_eq!(findings(&box_), ["error parent-missing"]);
    put(&path, text.replace(&format!("\"parent\":\"{a}\""), &format!("\"parent\":\"{b}\"")).as_bytes());
    assert_eq!(findings(&box_), ["error parent-cycle", "warning parent-newer"]);
    put(&path, text.replace("\"size\":3", "\"size\":4").as_bytes());
    assert_eq!(findings(&box_), ["error object-damaged"]);
    put(&path, text.replace("\"path\":\"same\"", "\"path\":\"t\"").replace("\"size\":4", "\"size\":5").as_bytes());
    let found = findings(&box_);
    assert!(found.contains(&"error size-differs".to_owned()), "{found:?}");
    put(&path, &good);
    assert!(findings(&box_).is_empty());
}

#[test]
fn pins_are_examined_and_written_again() {
    let (box_, _, b) = store();
    let pin = box_.history("r").join("snapshots").join(format!("pin-{b}.json"));
    rm(&pin);
    assert_eq!(findings(&box_), ["warning pin-incomplete"]);
    let _ = box_.run("wt-fsck", &["--rebuild-index"]).ok();
    assert!(pin.exists() && findings(&box_).is_empty());
    put(&pin, b"{");
    assert_eq!(findings(&box_), ["error pin-damaged"]);
    let extra = oid(b"extra");
    put(&pin, format!("{{ \"{extra}\" ").as_bytes());
    let _ = box_.run("wt-fsck", &["--rebuild-index", "--run", "r"]).ok();
    let text = String::from_utf8(fs::read(&pin).unwrap()).unwrap();
    assert!(text.contains(&extra) && text.contains(&oid(b"target text")), "what it may have named stays pinned");
    put(
        &box_.history("r").join("snapshots/pin-5-0001.json"),
        format!(r#"{{"pin_of":"5-0001","entries":[{{"hash":"{extra}"}}]}}"#).as_bytes(),
    );
    assert!(findings(&box_).contains(&"note pin-alone".to_owned()));
}

#[test]
fn quarantine_lets_prune_work_again_and_keeps_every_object() {
    let (box_, _, b) = store();
    let path = box_.manifest("r", &b);
    let cut = fs::read(&path).unwrap();
    put(&path, &cut[..cut.len() - 2]);
    let _ = box_.run("wt-prune", &["--grace", "0"]).exits(4).says(&b).says("wt-fsck");
    assert!(findings(&box_).contains(&"error manifest-damaged".to_owned()), "not put aside unless asked");
    let ran = box_.run("wt-fsck", &["--quarantine", "--rebuild-index"]).ok();
    assert!(!ran.contains("error"), "{ran}");
    assert!(!path.exists());
    assert!(path.with_file_name(format!("{b}.json.quarantined")).exists());
    let before = box_.objects();
    let _ = box_.run("wt-prune", &["--grace", "0"]).ok();
    assert_eq!(box_.objects(), before, "everything it named is pinned");
    assert!(box_.object(b"two").exists());
    let _ = box_.run("wt-prune", &["--grace", "0"]).ok();
    // An empty one names nothing.
    put(&path, b"");
    let _ = box_.run("wt-fsck", &["--quarantine"]).ok();
    assert!(!path.exists());
}

#[test]
fn what_a_later_version_wrote_is_not_damaged_and_is_never_put_aside() {
    let (box_, _, b) = store();
    let path = box_.manifest("r", &b);
    let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    put(&path, text.replacen('{', r#"{"format_version":2,"#, 1).as_bytes());
    let before = box_.image();
    let ran = box_.run("wt-fsck", &["--quarantine"]).exits(4);
    assert!(short(&ran.out).contains(&"error document-newer".to_owned()), "{ran:?}");
    let _ = box_.run("wt-prune", &["--grace", "0"]).exits(4).says("newer");
    assert_eq!(box_.image(), before);
}

#[test]
fn quarantine_killed_anywhere_loses_nothing_and_a_rerun_finishes() {
    let (template, _, b) = store();
    for nth in 1.. {
        let box_ = template.copy();
        let path = box_.manifest("r", &b);
        let cut = fs::read(&path).unwrap();
        put(&path, &cut[..cut.len() - 2]);
        let args = ["--quarantine", "--rebuild-index"];
        let (_, fired) = box_.disturbed("wt-fsck", &args, &format!("{nth}:kill"));
        let prune = box_.run("wt-prune", &["--grace", "0"]);
        assert!(prune.code == 4 || prune.code == 0, "{prune:?}");
        assert!(box_.object(b"two").exists(), "either the manifest stops prune or the pin keeps the object");
        let _ = box_.run("wt-fsck", &args).ok();
        if !fired {
            break;
        }
    }
}

#[test]
fn a_lost_index_is_made_again_from_the_journal() {
    for spoil in
        [None, Some(&b""[..]), Some(b"{"), Some(b"\0\0\0\0"), Some(b"{\"entries\":{},\"labels\":{\"a\":1}}")]
    {
        let (box_, a, b) = store();
        let path = box_.history("r").join("index.json");
        match spoil {
            None => rm(&path),
            Some(bytes) => put(&path, bytes),
        }
        let found = findings(&box_);
        assert!(found == ["error index-damaged"] || found == ["error index-missing"], "{found:?}");
        if spoil.is_some() {
            let err = box_.run("wt-ls-manifest", &["--run", "r", "HEAD"]).exits(4);
            let _ = err.says("--rebuild-index");
        }
        let _ = box_.run("wt-fsck", &["--run", "r", "--rebuild-index"]).ok();
        assert_eq!(
            (label(&box_, "HEAD"), label(&box_, "a"), label(&box_, "b")),
            (Some(b.clone()), Some(a), Some(b))
        );
        let kept: Vec<_> = box_
            .image()
            .into_iter()
            .filter(|(path, _)| path.to_string_lossy().contains("index.json.broken-"))
            .collect();
        assert_eq!(kept.first().map(|(_, bytes)| bytes.as_slice()), spoil, "the broken one is kept");
        assert!(findings(&box_).iter().all(|finding| finding.starts_with("note")), "{:?}", findings(&box_));
        let next = box_.capture_with("r", Some("c"), "f", b"three");
        assert_eq!(label(&box_, "HEAD"), Some(next));
    }
}

#[test]
fn without_an_index_the_chain_goes_on_where_the_journal_ends() {
    let (box_, a, b) = store();
    rm(&box_.history("r").join("index.json"));
    assert!(box_.run("wt-log", &["--run", "r"]).ok().contains(&a), "readers find it");
    let c = box_.capture_with("r", Some("c"), "f", b"three");
    assert_eq!(
        (label(&box_, "a"), label(&box_, "b"), label(&box_, "HEAD")),
        (Some(a), Some(b.clone()), Some(c.clone()))
    );
    let manifest = fs::read(box_.manifest("r", &c)).unwrap();
    assert!(String::from_utf8(manifest).unwrap().contains(&format!("\"parent\":\"{b}\"")));
    assert!(findings(&box_).is_empty());
}

#[test]
fn without_a_journal_head_and_labels_come_from_the_manifests() {
    let (box_, a, b) = store();
    rm(&box_.history("r").join("labels.log"));
    put(&box_.history("r").join("index.json"), b"broken");
    let _ = box_.run("wt-fsck", &["--rebuild-index"]).ok();
    assert_eq!((label(&box_, "HEAD"), label(&box_, "a"), label(&box_, "b")), (Some(b.clone()), Some(a), Some(b)));
}

#[test]
fn an_index_that_is_right_is_left_alone() {
    let (box_, ..) = store();
    let before = box_.image();
    let ran = box_.run("wt-fsck", &["--run", "r", "--rebuild-index"]);
    assert!(ran.err.contains("as it should be"), "{ran:?}");
    let _ = ran.ok();
    assert_eq!(box_.image(), before);
    let _ = box_.run("wt-fsck", &["--run", "nope", "--rebuild-index"]).exits(2);
    assert!(!box_.runs().join("nope").exists());
}

#[test]
fn dangling_labels_go_and_the_others_stay() {
    let (box_, a, b) = store();
    rm(&box_.manifest("r", &b));
    let found = findings(&box_);
    assert_eq!(found, ["error head-dangling", "error label-dangling", "note pin-alone"]);
    let ran = box_.run("wt-fsck", &["--rebuild-index"]);
    assert!(ran.err.contains("'b'"), "{ran:?}");
    assert_eq!((label(&box_, "HEAD"), label(&box_, "a"), label(&box_, "b")), (Some(a.clone()), Some(a), None));
    assert_eq!(findings(&box_), ["note pin-alone"]);
}

#[test]
fn rebuilding_killed_anywhere_never_leaves_a_run_without_index_and_a_rerun_finishes() {
    let (template, _, b) = store();
    for nth in 1.. {
        let box_ = template.copy();
        let path = box_.history("r").join("index.json");
        put(&path, b"broken");
        let args = ["--run", "r", "--rebuild-index"];
        let (_, fired) = box_.disturbed("wt-fsck", &args, &format!("{nth}:kill"));
        assert!(path.exists(), "a missing index would pass for an empty run");
        let _ = box_.run("wt-fsck", &args).ok();
        assert_eq!(label(&box_, "HEAD").as_ref(), Some(&b));
        if !fired {
            break;
        }
    }
}

#[test]
fn open_modes_temps_and_strangers_are_told_and_are_no_errors() {
    let (box_, a, _) = store();
    chmod(&box_.object(b"same"), "644");
    chmod(&box_.manifest("r", &a), "640");
    chmod(&box_.history("r"), "755");
    put(&box_.store().join("workspace-objects/README"), b"");
    put(&box_.history("r").join("snapshots/.iterion-tmp-1"), b"");
    chmod(&box_.history("r").join("snapshots/.iterion-tmp-1"), "600");
    let found = findings(&box_);
    let expected = ["note temp", "warning mode-open", "warning mode-open", "warning mode-open", "warning stranger"];
    assert_eq!(found, expected);
}

#[test]
fn json_findings_are_objects_and_the_error_comes_last() {
    let (box_, ..) = store();
    rm(&box_.object(b"two"));
    let ran = box_.run("wt-fsck", &["--json"]);
    let lines: Vec<serde_json::Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["code"], "object-missing");
    assert_eq!(lines[0]["oid"], oid(b"two").as_str());
    assert_eq!(lines[1]["summary"]["errors"], 1);
    assert_eq!(lines[2]["error"]["code"], "damaged");
    assert_eq!(ran.code, 4);
}
