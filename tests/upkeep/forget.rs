//! wt-forget: removes snapshots and leaves a true history of the rest.

use std::fs;

use crate::sandbox::{Sandbox, put};

const RUN: [&str; 2] = ["--run", "r"];

fn forget(box_: &Sandbox, args: &[&str]) -> crate::sandbox::Ran {
    box_.run("wt-forget", &[&RUN[..], args].concat())
}

/// A chain of one snapshot a label; each changes `f`, so that none is reused.
fn chain(labels: &[&str]) -> (Sandbox, Vec<String>) {
    let box_ = Sandbox::new();
    let mut ids = Vec::new();
    for (number, label) in labels.iter().enumerate() {
        let label = Some(*label).filter(|label| !label.is_empty());
        ids.push(box_.capture_with("r", label, "f", format!("content {number}").as_bytes()));
    }
    (box_, ids)
}

/// The chain from head, newest first.
fn log(box_: &Sandbox) -> Vec<String> {
    let mut chain = Vec::new();
    let mut next = index(box_)["head"].as_str().map(str::to_owned);
    while let Some(id) = next {
        let manifest = fs::read(box_.manifest("r", &id)).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        next = manifest["parent"].as_str().map(str::to_owned);
        chain.push(id);
    }
    chain
}

fn index(box_: &Sandbox) -> serde_json::Value {
    serde_json::from_slice(&fs::read(box_.history("r").join("index.json")).unwrap()).unwrap()
}

fn sound(box_: &Sandbox) {
    let ran = box_.run::<&str>("wt-fsck", &[]);
    assert!(ran.code == 0 && !ran.out.contains("error\t"), "{ran:?}");
}

fn reversed(ids: &[&String]) -> Vec<String> {
    ids.iter().rev().map(|id| (*id).clone()).collect()
}

#[test]
fn a_bank_in_the_middle_goes_and_its_child_gets_the_next_older_one() {
    let (box_, ids) = chain(&["pre:a:0", "bank:0", "post:a:0"]);
    let ran = forget(&box_, &["bank:0"]).ok();
    assert_eq!(ran, format!("forget {} bank:0\nunlabel bank:0\n", ids[1]));
    assert_eq!(log(&box_), reversed(&[&ids[0], &ids[2]]));
    assert!(index(&box_)["labels"]["bank:0"].is_null() && index(&box_)["labels"]["pre:a:0"] == ids[0].as_str());
    assert!(!box_.manifest("r", &ids[1]).exists());
    sound(&box_);
    assert!(box_.run("wt-prune", &["--grace", "0"]).ok().contains("remove"));
    assert!(!box_.object(b"content 1").exists());
    sound(&box_);
    let next = box_.capture_with("r", Some("next"), "f", b"next");
    assert_eq!(log(&box_)[..2], [next, ids[2].clone()]);
}

#[test]
fn the_dry_run_prints_the_same_and_changes_nothing() {
    let (box_, _) = chain(&["pre:a:0", "bank:0", "", "bank:1", "post:a:0"]);
    for args in [&["--drop-labels", "bank:*"][..], &["--keep-last", "1", "--drop-labels", "*"]] {
        let before = box_.image();
        let dry = forget(&box_, &[args, &["--dry-run"]].concat()).ok();
        assert_eq!(box_.image(), before);
        assert!(!dry.is_empty());
        assert_eq!(forget(&box_, args).ok(), dry);
        assert_eq!(forget(&box_, args).ok(), "");
        sound(&box_);
    }
}

#[test]
fn the_newest_snapshot_and_what_a_label_names_stay() {
    let (box_, ids) = chain(&["pre:a:0", "bank:0", "post:a:0"]);
    let before = box_.image();
    let _ = forget(&box_, &["HEAD"]).exits(5).says("newest");
    let _ = forget(&box_, &["HEAD~1"]).exits(5).says("'bank:0'");
    let _ = forget(&box_, &[&ids[1]]).exits(5).says("--drop-labels");
    let _ = forget(&box_, &["bank:0", "HEAD"]).exits(5).says("newest");
    assert_eq!(forget(&box_, &["--keep-last", "1"]).ok(), "");
    let _ = forget(&box_, &["nope"]).exits(2);
    let _ = forget(&box_, &[]).exits(2).says("--keep-last");
    let _ = forget(&box_, &["bank:0", "--keep-last", "1"]).exits(2);
    let _ = box_.run("wt-forget", &["--run", "none", "x"]).exits(2);
    assert_eq!(box_.image(), before);
    assert!(!box_.runs().join("none").exists());
    // A second label is not the one it was asked for by.
    let _ = box_.run("wt-label", &["--run", "r", "mine", "bank:0"]).ok();
    let _ = forget(&box_, &["bank:0"]).exits(5).says("'mine'");
    let _ = forget(&box_, &["bank:0", "--drop-labels", "m*"]).ok();
    assert_eq!(log(&box_).len(), 2);
}

#[test]
fn the_oldest_go_as_a_whole_and_a_boundary_between_survivors_stays() {
    let (box_, ids) = chain(&["pre:a:0", "post:a:0", "pre:b:0", "post:b:0"]);
    let _ = forget(&box_, &[&ids[2], "--drop-labels", "*"]).exits(5).says("boundary");
    let ran = forget(&box_, &["--keep-labels", "pre:b:0", "--drop-labels", "*"]).ok();
    assert_eq!(ran.lines().filter(|line| line.starts_with("forget")).count(), 2);
    assert_eq!(log(&box_), reversed(&[&ids[2], &ids[3]]));
    sound(&box_);

    // A survivor among the oldest makes those after it an interval between survivors.
    let (box_, ids) = chain(&["pre:a:0", "post:a:0", "pre:b:0", "post:b:0"]);
    let ran = forget(&box_, &["--keep-labels", "pre:a:0", "--drop-labels", "*", "-v"]);
    assert!(ran.err.contains("boundary"), "{ran:?}");
    assert_eq!(ran.ok(), "");
    assert_eq!(log(&box_).len(), ids.len());
}

#[test]
fn policies_keep_what_they_say() {
    let labels = ["one", "gate:0", "three", "four", "five"];
    for (args, left) in [
        (&["--keep-last", "2"][..], &[3, 4][..]),
        (&["--keep-last", "99"], &[0, 1, 2, 3, 4]),
        (&["--keep-within", "1h"], &[0, 1, 2, 3, 4]),
        (&["--keep-within", "0"], &[4]),
        (&["--keep-gates"], &[1, 4]),
        // A boundary between two that stay must stay.
        (&["--keep-labels", "t*", "--keep-labels", "on?"], &[0, 1, 2, 4]),
        (&["--keep-gates", "--keep-last", "2"], &[1, 3, 4]),
    ] {
        let (box_, ids) = chain(&labels);
        let _ = forget(&box_, &[args, &["--drop-labels", "*"]].concat()).ok();
        let left: Vec<&String> = left.iter().map(|place| &ids[*place]).collect();
        assert_eq!(log(&box_), reversed(&left), "{args:?}");
        sound(&box_);
    }
}

/// Who changed what from each of these snapshots on.
fn authorship(box_: &Sandbox, ids: &[&String]) -> Vec<String> {
    ids.iter().map(|id| box_.run("wt-authorship", &["--run", "r", "--json", "--from", id]).ok()).collect()
}

#[test]
fn authorship_says_the_same_of_the_rest() {
    let box_ = Sandbox::new();
    let mut ids = Vec::new();
    let labels = ["pre:a:0", "", "bank:0", "post:a:0", "bank:1", "mine", "bank:2", "resume:a:0", "", "post:b:0"];
    for (number, label) in labels.iter().enumerate() {
        let label = Some(*label).filter(|label| !label.is_empty());
        // Every path comes and goes, so that no two neighbours differ alike.
        box_.write(&format!("g{}", number % 3), format!("{number}").as_bytes());
        ids.push(box_.capture_with("r", label, "f", format!("{}", number % 2).as_bytes()));
    }
    let survivors = [&ids[0], &ids[3], &ids[7]];
    let before = authorship(&box_, &survivors);
    let ran = forget(&box_, &["--keep-labels", "[!bm]*:*", "--drop-labels", "*", "-v"]);
    assert!(ran.err.contains(&format!("{} stays: it alone shows", ids[6])), "{ran:?}");
    let _ = ran.ok();
    assert_eq!(log(&box_), reversed(&[&ids[0], &ids[3], &ids[6], &ids[7], &ids[9]]));
    assert_eq!(authorship(&box_, &survivors), before);
    sound(&box_);
}

#[test]
fn the_bank_that_alone_shows_a_stop_stays() {
    let (box_, _) = chain(&["post:a:0", "rewind-backup:a:0", "resume:a:0", "post:b:0"]);
    let _ = forget(&box_, &["rewind-backup:a:0"]).exits(5).says("stopped");
    let (box_, ids) = chain(&["pause:a:0", "rewind-backup:a:0", "resume:a:0", "post:b:0"]);
    let before = authorship(&box_, &[&ids[0]]);
    let _ = forget(&box_, &["rewind-backup:a:0"]).ok();
    assert_eq!(authorship(&box_, &[&ids[0]]), before);
    sound(&box_);
}

#[test]
fn the_oldest_go_until_the_rest_fits() {
    let box_ = Sandbox::new();
    box_.write("same", &[7; 1000]);
    let ids: Vec<String> =
        (0..5).map(|n: u8| box_.capture_with("r", Some(&format!("l{n}")), "f", &[n; 1000])).collect();
    let all = ["--drop-labels", "*"];
    assert_eq!(forget(&box_, &[&all[..], &["--max-bytes", "6000"]].concat()).ok(), "");
    let _ = forget(&box_, &[&all[..], &["--max-bytes", "3500"]].concat()).ok();
    assert_eq!(log(&box_), reversed(&[&ids[3], &ids[4]]));
    sound(&box_);
    let kept = forget(&box_, &["--max-bytes", "2K", "--keep-last", "2", "--drop-labels", "*"]).exits(3);
    let _ = kept.says("3000 bytes");
    let _ = forget(&box_, &["--max-bytes", "2K"]).exits(3).says("protects");
    let _ = forget(&box_, &[&all[..], &["--max-bytes", "0"]].concat()).exits(3);
    assert_eq!(log(&box_), [ids[4].clone()]);
}

#[test]
fn over_all_runs_the_oldest_go_first_whatever_run_they_are_of() {
    let box_ = Sandbox::new();
    let mut of_r = Vec::new();
    for n in 0..3_u8 {
        of_r.push(box_.capture_with("r", Some("l"), "f", &[n; 1000]));
        box_.capture_with("o", Some("l"), "f", &[n + 10; 1000]);
    }
    let args = ["--store-max-bytes", "4000"];
    let dry = box_.run("wt-forget", &[&args[..], &["-n"]].concat()).ok();
    assert_eq!(box_.run("wt-forget", &args).ok(), dry);
    assert_eq!(dry.lines().count(), 2, "one of each run: {dry}");
    assert_eq!(log(&box_), reversed(&[&of_r[1], &of_r[2]]));
    sound(&box_);
    let ran = box_.run("wt-forget", &["--store-max-bytes", "0"]).exits(3);
    assert_eq!(ran.lines().len(), 2);
    let _ = box_.run("wt-forget", &["--store-max-bytes", "0", "--max-bytes", "0", "--run", "r"]).exits(2);
}

/// The original begins a second chain where it cannot read its index; the first one lives on under its labels.
#[test]
fn a_chain_that_head_does_not_reach_stays_as_true_as_the_others() {
    let (box_, ids) = chain(&["pre:a:0", "post:a:0", "resume:b:0", "bank:1", "post:b:0"]);
    put(&box_.history("r").join("index.json"), br#"{"entries":{}}"#);
    crate::sandbox::rm(&box_.history("r").join("labels.log"));
    box_.capture_with("r", Some("pre:z:0"), "f", b"another chain");
    for (label, id) in [("first", &ids[0]), ("last", &ids[4])] {
        let _ = box_.run("wt-label", &["--run", "r", label, id]).ok();
    }
    let told = |box_: &Sandbox| {
        box_.run("wt-authorship", &["--run", "r", "--json", "--from", &ids[0], "--to", &ids[4]]).ok()
    };
    let before = told(&box_);
    let ran = forget(&box_, &["--keep-last", "1", "-v"]);
    assert!(ran.err.contains(&format!("{} stays: it is a boundary", ids[1])), "{ran:?}");
    assert_eq!(told(&box_), before);
    let _ = forget(&box_, &[&ids[2]]).exits(5).says("boundary");
    let _ = forget(&box_, &["--max-bytes", "0"]).exits(3);
    let _ = box_.run("wt-forget", &["--store-max-bytes", "0"]).exits(3);
    assert_eq!(told(&box_), before);
    sound(&box_);
}

#[test]
fn a_snapshot_that_no_chain_reaches_goes_by_policy() {
    let (box_, ids) = chain(&["a", "b"]);
    let text = String::from_utf8(fs::read(box_.manifest("r", &ids[1])).unwrap()).unwrap();
    put(&box_.manifest("r", "99-0001"), text.replace(&ids[1], "99-0001").as_bytes());
    let ran = forget(&box_, &["--keep-last", "5"]).ok();
    assert_eq!(ran, "forget 99-0001 b\n");
    assert_eq!(log(&box_).len(), 2);
}

#[test]
fn unknown_members_and_own_labels_of_survivors_stay() {
    let (box_, ids) = chain(&["a", "bank:0", "c"]);
    let path = box_.manifest("r", &ids[2]);
    let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    put(&path, text.replacen('{', r#"{"later":[1e400,"x"],"#, 1).as_bytes());
    let _ = forget(&box_, &["bank:0"]).ok();
    let now = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    assert_eq!(now, text.replacen('{', r#"{"later":[1e400,"x"],"#, 1).replace(&ids[1], &ids[0]));
}

#[test]
fn a_damaged_manifest_or_index_stops_it() {
    let (box_, ids) = chain(&["a", "bank:0", "c"]);
    let path = box_.manifest("r", &ids[0]);
    let good = fs::read(&path).unwrap();
    put(&path, b"{");
    let before = box_.image();
    let _ = forget(&box_, &["bank:0"]).exits(4);
    assert_eq!(box_.image(), before);
    put(&path, &good);
    put(&box_.history("r").join("index.json"), b"{");
    let _ = forget(&box_, &["bank:0"]).exits(4).says("--rebuild-index");
}

#[test]
fn a_live_engine_is_respected() {
    let (box_, _) = chain(&["a", "bank:0", "c"]);
    put(&box_.runs().join("r/.lock"), b"");
    let lock = fs::File::open(box_.runs().join("r/.lock")).unwrap();
    // The lock must not be ours: a child holds it, and is no ancestor of the program.
    let mut holder = std::process::Command::new("flock")
        .args(["-x", box_.runs().join("r/.lock").to_str().unwrap(), "sleep", "60"])
        .spawn()
        .unwrap();
    while lock.try_lock_shared().is_ok() {
        lock.unlock().unwrap();
        std::thread::yield_now();
    }
    let _ = forget(&box_, &["bank:0"]).exits(6);
    let _ = forget(&box_, &["bank:0", "--dry-run"]).ok();
    let _ = forget(&box_, &["bank:0", "--while-running"]).ok();
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn killed_or_failing_anywhere_the_history_stays_sound_and_a_rerun_finishes() {
    let template = Sandbox::new();
    std::os::unix::fs::symlink("target", template.workspace().join("l")).unwrap();
    let mut ids = Vec::new();
    for (number, label) in ["a", "bank:0", "c", "bank:1", "bank:2", "d"].iter().enumerate() {
        ids.push(template.capture_with("r", Some(label), "f", format!("content {number}").as_bytes()));
    }
    for fault in ["kill", "EIO"] {
        for nth in 1.. {
            let box_ = template.copy();
            let args = ["--run", "r", "--drop-labels", "bank:*", "--drop-labels", "a"];
            let (ran, fired) = box_.disturbed("wt-forget", &args, &format!("{nth}:{fault}"));
            sound(&box_);
            let _ = box_.run("wt-prune", &["--grace", "0"]).ok();
            sound(&box_);
            let _ = box_.run("wt-forget", &args).ok();
            if ran.code == 0 || !fired {
                assert_eq!(log(&box_), reversed(&[&ids[2], &ids[5]]));
            }
            let left = fs::read_dir(box_.history("r").join("snapshots")).unwrap();
            let manifests = left
                .filter(|entry| {
                    let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
                    !name.starts_with("pin-") && name.strip_suffix(".json").is_some()
                })
                .count();
            if !fired {
                assert_eq!(manifests, 2);
                assert!(nth > 10, "the seam sees every step");
                break;
            }
            // What lost its label before it went is found by the next policy.
            let _ = box_.run("wt-forget", &["--run", "r", "--keep-labels", "[cd]"]).ok();
            assert_eq!(log(&box_), reversed(&[&ids[2], &ids[5]]), "{nth}:{fault}");
            sound(&box_);
        }
    }
}
