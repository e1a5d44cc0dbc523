//! `wt-hash-object`: ids and storing.

use crate::sandbox::stored::oid;
use crate::sandbox::{Sandbox, Tree};

#[test]
fn ids_are_those_of_sha256sum() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "one\n").file("b", "").file("big", vec![7_u8; 3_000_001]);
    let ours = sandbox.run(&["wt-hash-object", "a", "b", "big"]).quietly_ok();
    assert_eq!(ours, sandbox.sh("sha256sum a b big | cut -c 1-64").ok());
    assert!(!sandbox.s().exists(), "without -w nothing is written");
}

#[test]
fn what_is_stored_comes_back() {
    let sandbox = Sandbox::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(2_500_000).collect();
    for content in [&b""[..], b"x", &bytes] {
        let id = sandbox.call().stdin(content).run(&["wt-hash-object", "-w", "--stdin"]).quietly_ok();
        assert_eq!(id, oid(content));
        assert_eq!(sandbox.run(&["wt-cat-object", &id]).stdout, content);
    }
    sandbox.stored().check();
}

#[test]
fn paths_come_from_standard_input_in_both_forms() {
    let sandbox = Sandbox::new();
    sandbox.everything();
    let script = "(find names -type f -print0; printf '\\0') >$X/raw
        wt-ls-files --end | grep -e '^\"\\?names/' -e '^$' >$X/quoted
        wt-hash-object -z --stdin-paths --require-end <$X/raw | tr '\\0' '\\n' | sort >$X/by-raw
        wt-hash-object --stdin-paths --require-end <$X/quoted | sort >$X/by-quoted
        cmp $X/by-raw $X/by-quoted; wc -l <$X/by-raw";
    assert_eq!(sandbox.sh(script).ok(), crate::sandbox::fixture::odd_names().len().to_string());
}

#[test]
fn a_list_without_its_end_is_refused_where_it_is_required() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1").file("b", "2");
    let ran = sandbox.call().stdin("a\nb\n").run(&["wt-hash-object", "-w", "--stdin-paths", "--require-end"]);
    assert!(ran.fails(4).contains("end mark"));
    assert!(sandbox.stored().objects().is_empty(), "nothing was stored");
    sandbox.call().stdin("a\nb\n\n").run(&["wt-hash-object", "-w", "--stdin-paths", "--require-end"]).quietly_ok();
    sandbox.call().stdin("a\nb\n").run(&["wt-hash-object", "-w", "--stdin-paths"]).quietly_ok();
}

#[test]
fn a_path_of_a_list_may_not_leave_the_workspace() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1");
    for path in ["../side/x", "/etc/passwd", "a/../a", "./a", "a//b"] {
        sandbox.call().stdin(format!("{path}\n\n")).run(&["wt-hash-object", "--stdin-paths"]).fails(2);
    }
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.fifo("fifo").dir("dir").link("to fifo", "fifo");
    sandbox.run(&["wt-hash-object", "nothing here"]).fails(2);
    for name in ["fifo", "dir", "to fifo"] {
        sandbox.run(&["wt-hash-object", name]).fails(2);
    }
}

#[test]
fn one_bad_name_among_good_ones_prints_and_names_nothing_by_halves() {
    let sandbox = Sandbox::new();
    sandbox.file("good", "good\n");
    let ran = sandbox.run(&["wt-hash-object", "-w", "good", "missing"]);
    assert_eq!(ran.out(), "");
    assert!(ran.fails(2).contains("'missing'"));
    assert!(sandbox.stored().objects().is_empty());
    assert!(sandbox.stored().temps().is_empty());
}

#[test]
fn storing_twice_writes_once_and_heals_a_wrong_size() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "content\n");
    let object = sandbox.stored().object_of("content\n");
    sandbox.run(&["wt-hash-object", "-w", "f"]).quietly_ok();
    let before = Tree::with_stat(object.parent().unwrap());
    sandbox.run(&["wt-hash-object", "-w", "f"]).quietly_ok();
    before.assert_same(&Tree::with_stat(object.parent().unwrap()), "the second time");
    std::fs::write(&object, "cont").unwrap();
    sandbox.run(&["wt-hash-object", "-w", "f"]).quietly_ok();
    assert_eq!(std::fs::read(&object).unwrap(), b"content\n");
}

#[test]
fn an_object_that_is_used_again_is_young_again() {
    use std::os::unix::fs::MetadataExt;
    let sandbox = Sandbox::new();
    sandbox.file("f", "content\n");
    sandbox.run(&["wt-hash-object", "-w", "f"]).quietly_ok();
    let object = sandbox.stored().object_of("content\n");
    let touch = format!("touch -d '3 days ago' '{}'", object.display());
    sandbox.sh(&touch).ok();
    let old = std::fs::metadata(&object).unwrap().mtime();
    sandbox.run(&["wt-hash-object", "-w", "f"]).quietly_ok();
    assert!(std::fs::metadata(&object).unwrap().mtime() > old + 200_000, "a sweep would take it");
}

#[test]
fn growth_above_the_limit_stops_and_names_the_directory() {
    let sandbox = Sandbox::new();
    sandbox.file("src/a", "small").file("data/big", vec![1_u8; 60_000]).file("data/bigger", vec![2_u8; 60_000]);
    let capture = "stage_ls | stage_hash --max-new-bytes $LIMIT | stage_write --label l";
    let ran = sandbox.call().env("LIMIT", "100K").sh(capture);
    let err = ran.err();
    assert_eq!(ran.code, 7, "{err}");
    assert!(err.contains("'data'") && err.contains("102400"), "{err}");
    assert!(sandbox.stored().ids().is_empty());
    sandbox.call().env("LIMIT", "120005").sh(capture).ok();
    sandbox.stored().check();
    // Nothing is new now, so that nothing is too much.
    sandbox.call().env("LIMIT", "0").sh(capture).ok();
}
