//! Promise 4: a truncated or failed pipeline never becomes a snapshot.

use crate::sandbox::{Sandbox, Tree};

/// A workspace with one snapshot and edits since then.
fn edited() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("a", "1");
    sandbox.capture("first");
    sandbox.file("a", "22").file("b", "3");
    sandbox
}

/// The same, with the streams of a capture saved beside it.
fn prepared() -> Sandbox {
    let sandbox = edited();
    sandbox.sh("stage_ls >$X/ls; stage_hash <$X/ls >$X/hashed; test -s $X/hashed").ok();
    sandbox
}

/// The run's history, without what a lock or a harmless look changes.
fn history(sandbox: &Sandbox) -> Tree {
    Tree::of(&sandbox.s().join("runs"))
}

#[test]
fn a_stream_cut_at_any_byte_changes_nothing() {
    let sandbox = prepared();
    let before = history(&sandbox);
    let script = r#"size=$(stat -c %s $X/hashed); n=0
        while [ $n -lt $size ]; do
          code=0; head -c $n $X/hashed | wt-write-manifest -z --label cut >$X/out 2>$X/err || code=$?
          if [ $code -ne 4 ] || [ -s $X/out ]; then echo "cut at $n: exit $code"; cat $X/err; exit 1; fi
          n=$((n + 1))
        done; echo $size"#;
    let size: usize = sandbox.sh(script).ok().parse().unwrap();
    assert!(size > 300, "there was something to cut");
    before.assert_same(&history(&sandbox), "streams cut at every byte");
    sandbox.sh("wt-write-manifest -z --label whole <$X/hashed").ok();
}

#[test]
fn a_hashing_stage_passes_a_broken_stream_on_as_failed() {
    let sandbox = prepared();
    let script = r#"size=$(stat -c %s $X/ls); n=0
        while [ $n -lt $size ]; do
          code=0; head -c $n $X/ls | stage_hash >$X/out 2>$X/err || code=$?
          last=$(tr '\0' '\n' <$X/out | tail -n 1)
          case "$code $last" in "4 #fail 4 "*) ;; *) echo "cut at $n: exit $code, $last"; exit 1 ;; esac
          n=$((n + 5))
        done"#;
    sandbox.sh(script).ok();
}

#[test]
fn a_stage_that_is_killed_takes_the_capture_with_it_in_every_shell() {
    let sandbox = prepared();
    let before = history(&sandbox);
    for shell in [&["dash"][..], &["bash"], &["busybox", "sh"]] {
        if sandbox.call().run(&["sh", "-c", &format!("command -v {}", shell[0])]).code != 0 {
            eprintln!("SKIPPED: {} is not installed", shell[0]);
            continue;
        }
        for pipe in [
            "dies ls | stage_hash | stage_write --label l",
            "stage_ls | dies hashed | stage_write --label l",
            "true | stage_hash | stage_write --label l",
            "stage_ls | true | stage_write --label l",
            "wt-no-such-program | stage_hash | stage_write --label l",
            "stage_ls | wt-no-such-program | stage_write --label l",
        ] {
            // The middle of the saved stream comes through, then the stage is killed.
            let script = format!("dies() {{ sh -c 'head -c 250 $X/$1; kill -9 $$' dies $1; }}\n{pipe}");
            sandbox.call().shell(shell).sh(&script).fails(4);
        }
    }
    before.assert_same(&history(&sandbox), "killed stages");
    sandbox.capture("next");
    sandbox.stored().check();
}

#[test]
fn a_stage_killed_at_any_effect_is_no_snapshot() {
    let pipe = "stage_ls | WT_TEST_FAULT=$FAULT stage_hash | stage_write --label l";
    let effects = crate::sandbox::faults::at_every_effect("kill", edited, pipe, |number, sandbox, ran| {
        assert_eq!(ran.code, 4, "effect {number}: {}", ran.text());
        assert_eq!(sandbox.stored().ids().len(), 1, "effect {number}");
        sandbox.stored().check();
    });
    assert!(effects > 0);
}

#[test]
fn the_code_of_the_stage_that_failed_reaches_the_end() {
    let sandbox = prepared();
    for (pipe, code) in [
        ("stage_ls -C /nonexistent | stage_hash | stage_write", 2),
        ("stage_ls --max-files 1 | stage_hash | stage_write", 7),
        ("stage_ls -C / | stage_hash | stage_write", 5),
        ("stage_ls | stage_hash --max-new-bytes 0 | stage_write", 0),
        ("echo more >c; stage_ls | stage_hash --max-new-bytes 1 | stage_write", 7),
        ("stage_ls | WT_TEST_FAULT=1:ENOSPC stage_hash | stage_write", 8),
        ("stage_ls >$X/l; echo x >.gitignore; stage_hash <$X/l | stage_write", 6),
    ] {
        let ran = sandbox.sh(pipe);
        assert_eq!(ran.code, code, "{pipe}\n{}", ran.text());
    }
}

#[test]
fn text_after_the_end_and_a_second_stream_are_broken() {
    let sandbox = prepared();
    let before = history(&sandbox);
    sandbox.sh("cat $X/hashed $X/hashed | wt-write-manifest -z --label l").fails(4);
    sandbox.sh("(cat $X/hashed; echo junk) | wt-write-manifest -z --label l").fails(4);
    sandbox.sh("(cat $X/hashed; printf 'f0644 - - - - -\\tx\\0') | wt-write-manifest -z --label l").fails(4);
    // The right stream in the wrong framing.
    sandbox.sh("wt-write-manifest --label l <$X/hashed").fails(4);
    before.assert_same(&history(&sandbox), "broken streams");
}

#[test]
fn a_reader_that_goes_away_does_not_make_half_a_snapshot() {
    let sandbox = prepared();
    // The middle stage finishes its work although nobody takes its stream.
    // A pipe whose reader is gone before the stage begins.
    let script = "mkfifo $X/pipe; (exec 3<>$X/pipe 4>$X/pipe 3<&-
        stage_hash <$X/ls >&4 && echo 0 || echo $?)";
    assert_eq!(sandbox.sh(script).ok(), "141");
    assert_eq!(sandbox.stored().ids().len(), 1);
    assert!(sandbox.stored().temps().is_empty());
}
