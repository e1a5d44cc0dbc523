//! A restore, a dry run and a comparison use what captures saw in directories, and say and do what they would without it.
//!
//! The judge is always the same program without a memory. That the memory was believed is seen from a lie in it; that
//! nothing is destroyed because of it, too.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::dir_cache::{forget_a_name, memory_path};
use super::property::{Edit, apply, edit};
use crate::sandbox::Sandbox;

/// So many directories that it is worth while to remember them.
const DIRS: usize = 20;
/// Sequences of random edits that are tried.
const CASES: u32 = 16;

const DRY: &str = "wt-restore -n --json p; echo $?";
const DIFF: &str = "wt-diff --json p; echo $?";

/// Captures a project at rest, under each of these labels once, so that everything is remembered.
fn remember(sandbox: &Sandbox, labels: &str) {
    for label in labels.split(' ') {
        sandbox.settle().sh(&format!("wt-capture -q {label}")).ok();
    }
}

/// A project at rest, captured as `p`, with everything remembered.
fn settled_with(make: impl Fn(&Sandbox)) -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..DIRS {
        sandbox.file(format!("d{number}/file-a"), "a\n").file(format!("d{number}/deep/file-b"), "b\n");
    }
    sandbox.file("d0/left.log", "log\n").file(".gitignore", "*.log\n*.ign\n");
    make(&sandbox);
    remember(&sandbox, "p q");
    assert!(memory_path(&sandbox).exists());
    sandbox
}

fn settled() -> Sandbox {
    settled_with(|_| ())
}

/// What a command says with the memory, and without one. The memory is as it was afterwards.
fn with_and_without(sandbox: &Sandbox, script: &str) -> (String, String) {
    let said = || {
        let ran = sandbox.sh(script);
        format!("{}\n{}", ran.out(), ran.err())
    };
    let memory = std::fs::read(memory_path(sandbox)).unwrap();
    let with = said();
    assert_eq!(std::fs::read(memory_path(sandbox)).unwrap(), memory, "a look writes nothing");
    let away = sandbox.x("memory");
    std::fs::rename(memory_path(sandbox), &away).unwrap();
    let without = said();
    assert!(!memory_path(sandbox).exists(), "a look writes nothing");
    std::fs::rename(away, memory_path(sandbox)).unwrap();
    (with, without)
}

/// Dry runs and comparisons of `one` say the same with and without the memory, and a restore of it does the same as one
/// of `two`, its twin, which has none. What the dry run says is what comes.
fn assert_agree(one: &Sandbox, two: &Sandbox, what: &str) {
    for look in [DRY, DIFF, "wt-diff --json p -- d3; echo $?", "wt-restore -n --json p d3; echo $?"] {
        let (with, without) = with_and_without(one, look);
        assert_eq!(with, without, "{look}, after {what}");
    }
    let dry = one.run(&["wt-restore", "-q", "-n", "p"]);
    let _ = std::fs::remove_file(memory_path(two));
    let (with, without) = (one.run(&["wt-restore", "-q", "p"]), two.run(&["wt-restore", "-q", "p"]));
    assert_eq!((with.code, with.out(), with.err()), (without.code, without.out(), without.err()), "after {what}");
    assert_eq!((dry.code, dry.out()), (with.code, with.out()), "the dry run, after {what}");
    two.tree().assert_same(&one.tree(), what);
    let (with, without) = with_and_without(one, DRY);
    assert_eq!(with, without, "again, after {what}");
}

#[test]
fn nothing_that_happens_to_a_directory_is_missed() {
    for change in [
        ":",
        "echo new >d3/file-a",
        "echo new >d3/file-a; touch -r d4/file-a d3/file-a",
        "chmod 600 d3/file-a",
        "touch d3/new",
        "rm d3/file-a",
        "rm -r d3",
        "rm -r d3/deep",
        "rm d3/deep/file-b",
        "mv d3/file-a d3/renamed",
        "mkdir d3/empty",
        "mkdir d3/new; touch d3/new/f",
        // What the rules leave out comes, goes, and becomes something else.
        "echo i >d3/i.log",
        "echo i >d3/deep/i.log; rm d3/deep/file-b",
        "mkdir d3/deep/i.log; rm d3/deep/file-b",
        "mkdir d3/deep/i.log; echo x >d3/deep/i.log/x; rm d3/deep/file-b",
        "rm d0/left.log",
        "rm d0/left.log; mkdir d0/left.log; echo x >d0/left.log/x",
        "rm d0/left.log; ln -s ../d1 d0/left.log",
        "rm -r d0/file-a d0/deep",
        "rm -rf d0; echo now a file >d0",
        "rm -r d3; echo now a file >d3",
        "rm d3/file-a; mkdir d3/file-a; echo x >d3/file-a/x",
        "rm d3/file-a; mkdir d3/file-a; echo x >d3/file-a/x.log",
        "rm d3/file-a; mkdir -p d3/file-a/in; echo x >d3/file-a/in/x; echo i >d3/file-a/in/i.log",
        "mkdir d3/.git; touch d3/.git/f",
        // The time of modification is put back; that of the last change cannot be.
        "touch -r d3 $X/then; touch d3/new; touch -r $X/then d3",
        "touch -r d3 $X/then; rm d3/file-a; echo i >d3/i.log; touch -r $X/then d3",
        // Another directory with the same names, and the same time of modification.
        "mkdir other; echo a >other/file-a; cp -r d3/deep other; touch -r d3 other; mv d3 $X; mv other d3",
        "mkdir other; echo z >other/file-a; echo i >other/i.log; touch -r d3 other; mv d3 $X; mv other d3",
        "mv d3 x; mv d4 d3; mv x d4",
        "mv d3 d4/d3",
        // A link takes the place of a directory; what it leads to is not the workspace's.
        "mv d3 $X/d3; ln -s ../side/d3 d3",
        "mv d3 $X/d3; ln -s d4 d3",
        "mv d3/deep $X/deep; ln -s ../../side/deep d3/deep",
        "rm -r d3; mkfifo d3",
        "chmod 500 d3; echo new >d3/deep/file-b",
        // The rules change and nothing else: in place, so that no directory moves.
        "echo '*.log' >.gitignore",
        "echo 'file-b' >.gitignore",
        "echo 'd3/' >>.gitignore",
        "echo 'd3/' >.iterionignore; rm -r d3/deep",
        "echo '!left.log' >>.gitignore",
    ] {
        let (one, two) = (settled(), settled());
        for sandbox in [&one, &two] {
            sandbox.sh(change).ok();
        }
        assert_agree(&one, &two, change);
        for sandbox in [&one, &two] {
            sandbox.sh("chmod -R u+rwx d3 2>/dev/null || :").ok();
        }
    }
}

#[test]
fn any_edits_are_met_as_without_a_memory() {
    let config = Config { cases: CASES, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let edits = || prop::collection::vec(edit(), 1..14);
    let check = |first: &[Edit], second: &[Edit]| {
        let make = || settled_with(|sandbox| first.iter().for_each(|edit| apply(sandbox, edit)));
        let (one, two) = (make(), make());
        for sandbox in [&one, &two] {
            second.iter().for_each(|edit| apply(sandbox, edit));
        }
        assert_agree(&one, &two, &format!("{first:?}, then {second:?}"));
        one.sh("wt-capture -q again").ok();
        one.stored().check();
    };
    runner
        .run(&(edits(), edits()), |(first, second)| {
            check(&first, &second);
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_the_memory_does_not_know_of_is_left_and_never_destroyed() {
    // Both names are there, and the memory knows of one of them only.
    let pair = |sandbox: &Sandbox, dir: &str| {
        sandbox.file(format!("{dir}/File-b"), "B\n").file(format!("{dir}/file-b"), "b\n");
    };
    let lied_to = |make: &dyn Fn(&Sandbox), edit: &str, forgotten: &[&str]| {
        let sandbox = settled_with(|sandbox| {
            pair(sandbox, "pair");
            make(sandbox);
        });
        sandbox.sh(edit).ok();
        remember(&sandbox, "r s");
        forgotten.iter().for_each(|dir| forget_a_name(&sandbox, dir));
        sandbox
    };
    // It is believed: the plan does not know of the file, and leaves it.
    let sandbox = lied_to(&|_| (), ":", &["pair"]);
    assert_eq!(sandbox.run(&["wt-restore", "-q", "-n", "p"]).exits(3), "keep:blocked\tpair/file-b");
    assert_eq!(sandbox.run(&["wt-diff", "p"]).ok(), "D\tpair/file-b");
    // Nothing is put over what the plan did not see.
    let sandbox = lied_to(&|_| (), "echo new >pair/file-b", &["pair"]);
    assert_eq!(sandbox.run(&["wt-restore", "-q", "p"]).exits(3), "keep:blocked\tpair/file-b");
    assert_eq!(sandbox.sh("cat pair/file-b").ok(), "new");
    // A directory that is not as empty as it seems stays.
    let sandbox = lied_to(&|_| (), "mkdir more; echo B >more/File-b; echo b >more/file-b", &["more"]);
    let ran = sandbox.run(&["wt-restore", "-q", "p"]);
    assert_eq!(ran.exits(3), "keep:changed\tmore/\ndelete\tmore/File-b");
    assert_eq!(sandbox.sh("ls more; cat more/file-b").ok(), "file-b\nb");
    // Nor is it taken out whole for a file that stood in its place.
    let turned = "rm turned; mkdir turned; echo B >turned/File-b; echo b >turned/file-b";
    let sandbox = lied_to(
        &|sandbox| {
            sandbox.file("turned", "file\n");
        },
        turned,
        &["turned"],
    );
    let ran = sandbox.run(&["wt-restore", "-q", "p"]).exits(3);
    assert!(ran.contains("keep:changed\tturned"), "{ran}");
    assert_eq!(sandbox.sh("cat turned/File-b turned/file-b").ok(), "B\nb");
    // Without the lie all of it comes.
    std::fs::remove_file(memory_path(&sandbox)).unwrap();
    sandbox.run(&["wt-restore", "-q", "p"]).ok();
    assert_eq!(sandbox.run(&["wt-diff", "p"]).ok(), "");
}

#[test]
fn a_name_that_leads_to_another_entry_is_a_collision() {
    // Two names of one file, of which the walk sees one, are what a disk that folds case shows.
    let make = |sandbox: &Sandbox| {
        sandbox.file("pair/File-b", "b\n");
        sandbox.sh("ln pair/File-b pair/file-b").ok();
    };
    let sandbox = settled_with(make);
    forget_a_name(&sandbox, "pair");
    assert_eq!(sandbox.run(&["wt-restore", "-q", "-n", "p"]).exits(3), "keep:collision\tpair/file-b");
    let sandbox = settled_with(make);
    sandbox.sh("echo new >pair/File-b").ok();
    forget_a_name(&sandbox, "pair");
    let said = "write\tpair/File-b\nkeep:collision\tpair/file-b";
    let ran = sandbox.run(&["wt-restore", "-q", "-n", "--as-if-banked", "p"]);
    assert_eq!(ran.exits(3), said);
}

#[test]
fn a_directory_that_changes_while_the_look_goes_on_is_met_at_the_latest_by_the_swap() {
    let sandbox = settled();
    sandbox.sh("echo new >d7/deep/file-b; wt-capture -q r").ok();
    let hook = |commands: &str| {
        let hook = format!("dir-examined:d7/deep=cd {}/d7/deep; {commands}", sandbox.w().display());
        sandbox.call().env("WT_TEST_HOOK", hook).run(&["wt-restore", "-q", "p"])
    };
    // It was examined, and after that something came into it and its file was saved anew.
    let ran = hook("echo late >late; echo human >tmp-save; mv tmp-save file-b");
    assert_eq!(ran.exits(3), "keep:unbanked\td7/deep/file-b");
    assert_eq!(sandbox.sh("cat d7/deep/file-b d7/deep/late").ok(), "human\nlate");
    // Its file became a directory, or a link that leads out.
    let ran = hook("rm file-b late; mkdir file-b; echo human >file-b/in");
    assert_eq!(ran.exits(3), "keep:blocked\td7/deep/file-b\nkeep:unbanked\td7/deep/file-b/in");
    assert_eq!(sandbox.sh("cat d7/deep/file-b/in").ok(), "human");
    sandbox.sh("echo outside >$X/outside").ok();
    let outside = sandbox.x("outside");
    let ran = hook(&format!("rm -r file-b; ln -s {} file-b", outside.display()));
    assert_eq!(ran.exits(3), "keep:unbanked\td7/deep/file-b");
    assert_eq!(sandbox.sh("cat $X/outside").ok(), "outside");
}
