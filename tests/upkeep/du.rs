//! wt-du: every content is counted once, and what is said to be unique is what goes.

use crate::sandbox::{Sandbox, put, rm};

fn du(box_: &Sandbox, args: &[&str]) -> Vec<String> {
    box_.run("wt-du", args).ok().lines().map(str::to_owned).collect()
}

/// Run `r`: same (100) in both snapshots, f 10 then 20, a copy of same in d/; run `o`: same and own (7).
fn store() -> Sandbox {
    let box_ = Sandbox::new();
    box_.write("same.txt", &[1; 100]);
    box_.write("d/copy.bin", &[1; 100]);
    box_.capture_with("r", Some("a"), "d/e/f.txt", &[2; 10]);
    box_.capture_with("r", Some("b"), "d/e/f.txt", &[3; 20]);
    rm(&box_.workspace().join("d"));
    box_.capture_with("o", Some("x"), "own", &[4; 7]);
    box_
}

#[test]
fn rows_of_every_kind_count_contents_once() {
    let box_ = store();
    assert_eq!(du(&box_, &[]), ["130\t30\t100\tr", "107\t7\t100\to"]);
    assert_eq!(du(&box_, &["--run", "r", "--by", "dir"]), ["130\t30\t100\td", "100\t0\t100\t."]);
    let deep = du(&box_, &["--run", "r", "--by", "dir", "--depth", "2"]);
    assert_eq!(deep, ["100\t0\t100\t.", "100\t0\t100\td", "30\t30\t0\td/e"]);
    let files = du(&box_, &["--run", "r", "--by", "file"]);
    assert_eq!(files, ["100\t0\t100\td/copy.bin", "100\t0\t100\tsame.txt", "30\t30\t0\td/e/f.txt"]);
    assert_eq!(du(&box_, &["--by", "extension"]), ["130\t30\t100\t.txt", "100\t0\t100\t.bin", "7\t7\t0\t(none)"]);
    let snapshots = du(&box_, &["--run", "r", "--by", "snapshot"]);
    assert!(
        snapshots[0].starts_with("120\t20\t100\t") && snapshots[1].starts_with("110\t10\t100\t"),
        "{snapshots:?}"
    );
    let _ = box_.run("wt-du", &["--run", "none"]).exits(2);
    let _ = box_.run("wt-du", &["--growth", "--retention", "--run", "r"]).exits(2);
    assert_eq!(Sandbox::new().run::<&str>("wt-du", &[]).ok(), "");
}

#[test]
fn a_run_that_the_environment_names_does_not_hide_the_others() {
    let box_ = store();
    let told = |args: &[&str]| box_.command("wt-du").args(args).env("WT_RUN", "r").output().unwrap();
    let own = String::from_utf8(told(&[]).stderr).unwrap();
    assert!(own.contains("130 bytes of contents in all, each counted once, in run 'r'"), "{own}");
    let all = told(&["--all-runs"]);
    let said = String::from_utf8(all.stderr).unwrap();
    assert!(all.status.success() && said.contains("137 bytes of contents in all"), "{said}");
    assert_eq!(String::from_utf8(all.stdout).unwrap().lines().count(), 2);
    let _ = box_.run("wt-du", &["--run", "r", "--all-runs"]).exits(2);
    let _ = box_.run("wt-du", &["--all-runs", "--growth"]).exits(2);
}

#[test]
fn growth_is_what_each_snapshot_brought() {
    let box_ = store();
    let growth = du(&box_, &["--run", "r", "--growth"]);
    assert!(growth[0].starts_with("110\t") && growth[0].ends_with("\ta"), "{growth:?}");
    assert!(growth[1].starts_with("20\t") && growth[1].ends_with("\tb"), "{growth:?}");
}

#[test]
fn what_a_choice_would_free_is_what_forget_and_prune_free() {
    let box_ = store();
    let all = du(&box_, &["--run", "r", "--retention"]);
    let choice = all.iter().find(|line| line.contains("--keep-last 1 ")).unwrap();
    assert!(choice.starts_with("10\t1\t"), "{all:?}");
    let _ = box_.run("wt-forget", &["--run", "r", "--keep-last", "1", "--drop-labels", "*"]).ok();
    let ran = box_.run("wt-du", &["--json"]);
    assert!(ran.out.contains(r#""unneeded_objects":1,"unneeded_bytes":10"#), "{ran:?}");
    let _ = box_.run("wt-prune", &["--grace", "0"]).ok();
    assert!(box_.run("wt-du", &["--json"]).ok().contains(r#""unneeded_objects":0"#));
}

#[test]
fn it_warns_changes_nothing_and_names_what_it_could_not_read() {
    let box_ = store();
    let before = box_.image();
    let ran = box_.run("wt-du", &["--warn-bytes", "100"]).exits(0);
    let _ = ran.says("more than 100");
    assert!(!box_.run("wt-du", &["--warn-bytes", "1K"]).err.contains("warning"));
    assert_eq!(box_.image(), before);
    put(&box_.history("o").join("snapshots/1-0001.json"), b"{");
    let _ = box_.run::<&str>("wt-du", &[]).exits(3).says("1-0001.json");
}
