//! The file limit and its latch.

use crate::sandbox::Sandbox;

fn capture(max: u32) -> String {
    format!("stage_ls --max-files {max} | stage_hash | stage_write --label l")
}

#[test]
fn exactly_as_many_files_as_allowed_are_captured_and_one_more_is_not() {
    let sandbox = Sandbox::new();
    for n in 0..12 {
        sandbox.file(format!("d{}/f{n}", n % 3), "x");
    }
    let err = sandbox.sh(&capture(11)).fails(7);
    assert!(err.contains("more than 11 files") && err.contains(".iterionignore"), "{err}");
    assert!(sandbox.stored().ids().is_empty() && sandbox.stored().index().labels.is_empty());
    let id = sandbox.sh(&capture(12)).ok();
    assert_eq!(sandbox.stored().manifest(&id).entries.unwrap().len(), 12);
}

#[test]
fn what_is_not_captured_does_not_count() {
    let sandbox = Sandbox::new();
    sandbox
        .file("f", "x")
        .file("g.log", "x")
        .file("node_modules/a", "x")
        .file("node_modules/b", "x")
        .file(".gitignore", "*.log\n");
    sandbox.fifo("p1").fifo("p2").link("l1", "x").link("l2", "x").dir("d1").dir("d2").file("big", vec![0; 2000]);
    sandbox.sh("stage_ls --max-files 2 --max-file-size 1000 | stage_hash | stage_write --label l").ok();
}

#[test]
fn the_limit_names_where_the_files_are() {
    let sandbox = Sandbox::new();
    sandbox
        .sh("mkdir src generated; : >src/a; i=0; while [ $i -lt 60 ]; do : >generated/f$i; i=$((i+1)); done")
        .ok();
    assert!(sandbox.sh(&capture(50)).fails(7).contains("'generated'"));
}

#[test]
fn a_failed_capture_latches_and_the_next_whole_one_clears() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1").file("b", "2");
    let first = sandbox.sh(&capture(2)).ok();
    assert!(!sandbox.stored().index().overflowed);
    sandbox.file("c", "3");
    sandbox.sh(&capture(2)).fails(7);
    let index = sandbox.stored().index();
    assert!(index.overflowed, "rewinds must know that snapshots stopped");
    assert_eq!((index.head.as_str(), index.labels["l"].as_str()), (first.as_str(), first.as_str()));
    sandbox.sh(&capture(2)).fails(7);
    // Another run of the same store is not concerned.
    sandbox.sh("export WT_RUN=other; stage_ls | stage_hash | stage_write --label l").ok();
    assert!(sandbox.stored().index().overflowed);
    sandbox.sh(&capture(3)).ok();
    assert!(!sandbox.stored().index().overflowed);
    let text = std::fs::read_to_string(sandbox.stored().index_path()).unwrap();
    assert!(!text.contains("overflowed"), "false is left out, as in the original");
}

#[test]
fn the_latch_is_cleared_by_a_capture_without_a_change_too() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1").file("b", "2");
    let first = sandbox.capture("l");
    sandbox.sh(&capture(1)).fails(7);
    assert!(sandbox.stored().index().overflowed);
    assert_eq!(sandbox.sh(&capture(2)).ok(), first);
    assert!(!sandbox.stored().index().overflowed);
}

#[test]
fn too_much_new_content_latches_as_well() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "12345");
    sandbox.sh("stage_ls | stage_hash --max-new-bytes 4 | stage_write --label l").fails(7);
    assert!(sandbox.stored().index().overflowed);
    sandbox.sh("stage_ls | stage_hash --max-new-bytes 5 | stage_write --label l").ok();
    assert!(!sandbox.stored().index().overflowed);
}

#[test]
fn sizes_are_read_with_and_without_a_suffix() {
    let sandbox = Sandbox::new();
    for (text, cap) in [("0", "0"), ("1024", "1024"), ("1K", "1024"), ("2m", "2097152"), ("3G", "3221225472")] {
        let stream = sandbox.run(&["wt-ls-files", "--records", "--max-file-size", text]).ok();
        assert!(stream.contains(&format!("#cap {cap}\n")), "{text}");
    }
    for bad in ["", "K", "1T", "-1", "1.5M", "0x10", "99999999999999999999", "18446744073709551615K", " 1"] {
        sandbox.run(&["wt-ls-files", &format!("--max-file-size={bad}")]).fails(2);
    }
}
