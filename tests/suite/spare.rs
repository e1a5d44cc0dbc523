//! `.index-spare`: an index of some size and the one before take turns, and nobody can tell.
//!
//! What is asked again and again: does the index say what it says where there is no spare, and does whoever holds an older
//! one see it change?

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::sandbox::{Sandbox, faults};

/// So many, and with such long paths, that the index is worth a spare.
const FILES: usize = 280;
const DIR: &str = "a-directory-with-a-name-of-forty-letters/";

fn spare(sandbox: &Sandbox) -> PathBuf {
    sandbox.s().join("runs/run/workspace/.index-spare")
}

fn seen(sandbox: &Sandbox) -> PathBuf {
    sandbox.s().join("runs/run/workspace/.index-spare-seen")
}

fn index(sandbox: &Sandbox) -> PathBuf {
    sandbox.stored().index_path()
}

/// A run whose index has a spare that begins as it does.
fn with_spare() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..FILES {
        sandbox.file(format!("{}versioned-{number}", DIR.repeat(20)), format!("content {number}\n"));
    }
    sandbox.settle();
    sandbox.capture("first");
    sandbox.sh("wt-label one first; wt-label two first").ok();
    assert!(spare(&sandbox).exists() && seen(&sandbox).exists());
    sandbox
}

/// The effects on the index and its companions of a command.
fn effects(sandbox: &Sandbox, script: &str) -> Vec<String> {
    let trace = sandbox.x("effects");
    let _ = std::fs::remove_file(&trace);
    sandbox.call().env("WT_TEST_TRACE", &trace).sh(script).ok();
    let text = std::fs::read_to_string(&trace).unwrap_or_default();
    text.lines().filter(|line| !line.starts_with("append ")).map(str::to_owned).collect()
}

/// The sizes and offsets of what a command wrote at a place of its choice.
fn written_at(sandbox: &Sandbox, script: &str) -> Vec<(u64, usize)> {
    let tape = sandbox.x("tape");
    let _ = std::fs::remove_file(&tape);
    sandbox.call().env("WT_TEST_TAPE", &tape).sh(script).ok();
    let text = std::fs::read_to_string(&tape).unwrap_or_default();
    let place = |line: &str| {
        let words: Vec<&str> = line.strip_prefix("write-at ")?.split(' ').collect();
        Some((words[1].parse().unwrap(), (words[2].len() - 1) / 2))
    };
    text.lines().filter_map(place).collect()
}

/// The index must say that: all rows, and these labels to the only snapshot.
fn check(sandbox: &Sandbox, labels: &[&str]) {
    let stored = sandbox.stored();
    let id = stored.ids().pop().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&std::fs::read(index(sandbox)).unwrap()).unwrap();
    assert_eq!(value["entries"].as_object().unwrap().len(), FILES);
    let expected: BTreeMap<&str, &str> = labels.iter().map(|label| (*label, &*id)).collect();
    assert_eq!(value["labels"], serde_json::to_value(expected).unwrap());
    assert_eq!(value["head"], serde_json::to_value(&id).unwrap());
    let meta = std::fs::metadata(index(sandbox)).unwrap();
    assert_eq!(meta.mode() & 0o7777, 0o600);
    stored.check();
}

#[test]
fn a_label_writes_the_end_of_the_spare_and_nothing_before_it() {
    let sandbox = with_spare();
    let rows = std::fs::read(index(&sandbox)).unwrap();
    let rows_end = String::from_utf8(rows).unwrap().find(",\"head\"").unwrap() as u64;
    for label in ["three", "four"] {
        let written = written_at(&sandbox, &format!("wt-label {label} first"));
        assert!(matches!(*written, [(offset, size)] if offset == rows_end && size < 300), "{written:?}");
    }
    check(&sandbox, &["first", "four", "one", "three", "two"]);
    // A shorter end leaves nothing of the longer one.
    sandbox.sh("wt-label --delete four; wt-label --delete three").ok();
    check(&sandbox, &["first", "one", "two"]);
    let made = effects(&sandbox, "WT_FSYNC=on wt-label three first");
    let kinds: Vec<&str> = made.iter().map(|effect| effect.split(' ').next().unwrap()).collect();
    let expected = ["flush-dir", "write", "flush", "chmod", "exchange", "flush-dir"];
    assert_eq!(kinds[1..7], expected, "what is written over is not the document on the disk any more: {made:?}");
}

#[test]
fn captures_and_labels_take_turns() {
    let sandbox = with_spare();
    sandbox.file(format!("{}versioned-7", DIR.repeat(20)), "changed\n").settle();
    // The beginning of the spare is written over: what was known of it is gone before that.
    let made = effects(
        &sandbox,
        "wt-ls-files -z --records | wt-hash-object -w -z --stdin-records | wt-write-manifest -z --label second",
    );
    let place = |wanted: &str| made.iter().position(|effect| effect == wanted).expect(wanted);
    assert!(place("unlink .index-spare-seen") < place("write .index-spare"), "{made:#?}");
    assert!(place("write .index-spare") < place("exchange index.json"), "{made:#?}");
    assert!(!seen(&sandbox).exists());
    let bytes = |sandbox: &Sandbox| std::fs::read(index(sandbox)).unwrap();
    let captured = bytes(&sandbox);
    sandbox.sh("wt-label x second").ok();
    sandbox.sh("wt-label --delete x").ok();
    assert_eq!(bytes(&sandbox), captured, "the rows are those of the capture");
    sandbox.stored().check();
}

#[test]
fn whoever_has_an_index_open_sees_it_as_it_was() {
    let sandbox = with_spare();
    let before = std::fs::read(index(&sandbox)).unwrap();
    let script =
        "exec 3<$S/runs/run/workspace/index.json; for label in a b c d; do wt-label $label first; done; cat <&3";
    assert_eq!(sandbox.sh(script).ok().into_bytes(), before);
    check(&sandbox, &["a", "b", "c", "d", "first", "one", "two"]);
    // Also who has mapped it and closed the file.
    let script = "
        exec 3<$S/runs/run/workspace/index.json
        python3 -c 'import mmap, os, subprocess, sys
map = mmap.mmap(3, 0, prot=mmap.PROT_READ); os.close(3); before = bytes(map)
for label in \"efgh\": subprocess.run([\"wt-label\", label, \"first\"], check=True)
sys.exit(bytes(map) != before)' || test $? = 127";
    sandbox.sh(script).ok();
}

#[test]
fn a_copy_of_the_store_by_hard_links_stays_as_it_was() {
    let sandbox = with_spare();
    sandbox.sh("cp -al $S $X/copy; cp -a $S $X/judge; wt-label a first; wt-label b first; wt-label c first").ok();
    sandbox.sh("diff -r -x labels.log $X/copy $X/judge").ok();
    check(&sandbox, &["a", "b", "c", "first", "one", "two"]);
}

#[test]
fn an_index_that_somebody_else_wrote_is_the_one_that_counts() {
    let sandbox = with_spare();
    // As the original does, which knows of no spare: another inode, or, by hand, the same.
    for change in [
        "sed 's/versioned-7\"/renamed-777\"/' $I >$X/new; mv $X/new $I",
        "sed 's/renamed-777\"/versioned-7\"/' $I >$X/new; cat $X/new >$I",
    ] {
        sandbox.sh(&format!("I=$S/runs/run/workspace/index.json; {change}")).ok();
        let rows = |bytes: Vec<u8>| serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()["entries"].clone();
        let changed = rows(std::fs::read(index(&sandbox)).unwrap());
        sandbox.sh("wt-label a first; wt-label --delete a").ok();
        assert_eq!(rows(std::fs::read(index(&sandbox)).unwrap()), changed, "after {change}");
    }
}

#[test]
fn nothing_in_place_of_the_spare_or_of_what_is_known_of_it_does_harm() {
    let sandbox = with_spare();
    sandbox.sh("echo precious >$X/precious").ok();
    let mut labels = vec!["first".to_owned(), "one".to_owned(), "two".to_owned()];
    for (number, change) in [
        "rm .index-spare",
        "rm .index-spare-seen",
        "rm .index-spare; ln -s $X/precious .index-spare",
        "rm .index-spare; ln $X/precious .index-spare",
        "rm .index-spare; mkdir -m 700 .index-spare",
        "rm -r .index-spare; mkdir -m 700 .index-spare .index-spare/full",
        "rm -r .index-spare; mkfifo -m 600 .index-spare",
        "umask 077; rm .index-spare; : >.index-spare",
        "echo more >>.index-spare",
        "printf x | dd of=.index-spare bs=1 seek=100 conv=notrunc 2>/dev/null",
        "printf 3 | dd of=.index-spare-seen bs=1 seek=65 conv=notrunc 2>/dev/null",
        "head -c 20 .index-spare-seen >$X/cut; cat $X/cut >.index-spare-seen",
        ": >.index-spare-seen",
        "rm .index-spare-seen; mkdir -m 700 .index-spare-seen",
        "rmdir .index-spare-seen; ln -s $X/precious .index-spare-seen",
        "chmod 400 .index-spare",
        "chmod 000 .index-spare-seen",
        "mv .index-spare x; cp x .index-spare; rm x",
    ]
    .into_iter()
    .enumerate()
    {
        let label = format!("x{number:02}");
        sandbox.sh(&format!("cd $S/runs/run/workspace && {change} && cd $W && wt-label {label} first")).ok();
        labels.push(label);
        labels.sort_unstable();
        check(&sandbox, &labels.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(sandbox.sh("cat $X/precious").ok(), "precious", "{change}");
        sandbox.sh("wt-label --delete none-such || true; wt-label y first; wt-label --delete y").ok();
    }
}

#[test]
fn a_spare_that_goes_while_it_is_written_is_made_anew() {
    let sandbox = with_spare();
    sandbox
        .call()
        .env("WT_TEST_HOOK", "spare-written=rm $S/runs/run/workspace/.index-spare")
        .sh("wt-label a first")
        .ok();
    check(&sandbox, &["a", "first", "one", "two"]);
}

#[test]
fn a_label_that_is_killed_or_fails_anywhere_leaves_the_old_index_or_the_new_one() {
    for (what, script) in
        [("kill", "wt-label a first"), ("kill", "wt-label --delete one"), ("ENOSPC", "wt-label a first")]
    {
        let script = format!("WT_FSYNC=on WT_TEST_FAULT=$FAULT {script}");
        faults::at_every_effect(what, with_spare, &script, |number, sandbox, ran| {
            let labels = sandbox.sh("wt-label --list | cut -f 1 | tr '\n' ' '").ok();
            let is_either = ["first one two ", "a first one two ", "first two "].contains(&&*labels);
            assert!(is_either, "{what} at effect {number}: {labels}\n{}", ran.text());
            // Within the same tick of the clock, too.
            sandbox.sh("wt-label one first; wt-label a first; wt-label b first").ok();
            check(sandbox, &["a", "b", "first", "one", "two"]);
        });
    }
}

#[test]
fn a_purge_leaves_no_spare_that_names_what_went() {
    let sandbox = with_spare();
    sandbox.sh("wt-purge --yes $(cd $W && find . -name versioned-7) && cd $S/runs/run/workspace && ! ls .index* && ! grep -l versioned-7\\\" index.json").ok();
}

#[test]
fn a_purge_leaves_nothing_beside_the_index_of_a_run_that_does_not_name_it_any_more() {
    let sandbox = with_spare();
    let script = "
        wt-label three first; cp $S/runs/run/workspace/.index-spare $X/spare
        rm -r a-directory*; echo small >small; snap capture second >/dev/null
        wt-label four second; test ! -e $S/runs/run/workspace/.index-spare
        wt-forget --drop-labels first one two three first >/dev/null
        cp $X/spare $S/runs/run/workspace/.index-spare; cp $X/spare $S/runs/run/workspace/.iterion-tmp-1
        mkdir -p d; echo secret >d/secret; WT_RUN=other snap capture x >/dev/null
        env -u WT_RUN wt-purge --yes d/secret >/dev/null; ls -A $S/runs/run/workspace";
    let left = sandbox.sh(script).ok();
    assert!(!left.contains("spare") && !left.contains("tmp"), "{left}");
}
