//! The commands whose power is cut.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Case, findings, labels};
use crate::sandbox::{Sandbox, age, put, rm};

/// A workspace with everything that a snapshot may hold.
pub(super) fn full() -> Sandbox {
    use std::os::unix::ffi::OsStrExt;
    let box_ = Sandbox::in_memory();
    symlink("target text", box_.workspace().join("l")).unwrap();
    put(&box_.workspace().join(std::ffi::OsStr::from_bytes(b"\xff")), b"raw");
    box_.write(".gitignore", b"# rules\n");
    box_.write("same", b"same");
    box_.write("d/f", b"one");
    box_
}

/// One snapshot `a`, then changes.
fn edited() -> Sandbox {
    let box_ = full();
    box_.capture("r", Some("a"));
    box_.write("d/f", b"two");
    box_.write("new/deep/g", b"three");
    rm(&box_.workspace().join("l"));
    symlink("other target", box_.workspace().join("l")).unwrap();
    age(&box_.workspace());
    box_
}

/// A chain of snapshots under these labels; each holds another content of `f`.
fn chain(labels: &[&str]) -> Sandbox {
    let box_ = Sandbox::in_memory();
    symlink("target text", box_.workspace().join("l")).unwrap();
    for (number, label) in labels.iter().enumerate() {
        box_.capture_with("r", Some(label), "f", format!("content {number}").as_bytes());
    }
    age(&box_.store());
    box_
}

pub(super) fn has_label(label: &'static str) -> impl Fn(&Sandbox) {
    move |box_| assert!(labels(box_).contains_key(label), "label {label} was promised")
}

pub(super) fn the_first_capture() -> Case {
    let box_ = full();
    let script = box_.capture_script("r", Some("a"));
    Case::new(box_, script, has_label("a"))
}

pub(super) fn another_capture() -> Case {
    let box_ = edited();
    // Young objects would be flushed once more, which nothing here can miss.
    age(&box_.store());
    let script = box_.capture_script("r", Some("b"));
    Case { labels: &["a"], ..Case::new(box_, script, has_label("b")) }
}

pub(super) fn a_label() -> Case {
    let script = "wt-label --run r m a && wt-label --run r a HEAD && wt-label --run r --delete b";
    let done = |box_: &Sandbox| {
        let labels = labels(box_);
        assert!(labels.contains_key("m") && !labels.contains_key("b") && labels["m"] < labels["a"]);
    };
    // Run again, m would move too: it is made once.
    let script = script.replace("m a", "m HEAD~1").replace("--delete b", "--delete b || test $? = 2");
    Case { labels: &["a"], ..Case::new(chain(&["a", "b"]), script, done) }
}

/// So many rows that the index has a spare: the first of these labels write all of it, the others its end.
pub(super) fn labels_of_many_files() -> Case {
    let box_ = Sandbox::in_memory();
    let dir = "a-directory-with-a-name-of-forty-letters/".repeat(20);
    for number in 0..280 {
        box_.write(&format!("{dir}versioned-{number}"), b"content");
    }
    // What changed within a tick of the clock is not remembered.
    std::thread::sleep(std::time::Duration::from_millis(30));
    box_.capture("r", Some("a"));
    let size = fs::metadata(box_.history("r").join("index.json")).unwrap().len();
    assert!(size > 256 << 10, "{size} bytes have no spare");
    let script = "for label in m n o; do wt-label --run r $label a || exit; done; wt-label --run r --delete m";
    let done = |box_: &Sandbox| {
        let labels = labels(box_);
        assert!(labels.contains_key("o") && !labels.contains_key("m"));
        assert_eq!(labels["n"], labels["a"]);
        assert_eq!(labels["o"], labels["a"]);
    };
    Case { labels: &["a"], is_large: true, ..Case::new(box_, script, done) }
}

/// Writers that die around the exchange: the next one must not write over what a cut would bring back.
pub(super) fn labels_after_writers_that_were_killed() -> Case {
    let script = "
        for fault in 7 8; do wt-label --run r a-rather-long-name-$fault a || exit; done
        for fault in 7 8; do
            WT_TEST_FAULT=$fault:kill wt-label --run r k$fault a
            wt-label --run r --delete a-rather-long-name-$fault || exit
        done
        wt-label --run r l a";
    let done = Box::new(has_label("l"));
    Case { script: script.to_owned(), done, is_large: false, ..labels_of_many_files() }
}

pub(super) fn a_restore() -> Case {
    let box_ = edited();
    box_.write("gone", b"goes");
    box_.capture("r", Some("b"));
    let script = "wt-restore --run r a >/dev/null";
    let done = |box_: &Sandbox| {
        assert_eq!(box_.run("wt-restore", &["--run", "r", "--dry-run", "a"]).ok(), "", "it was restored");
    };
    Case { labels: &["a", "b"], ..Case::new(box_, script, done) }
}

/// Somebody removed a manifest, as the original does, and flushed nothing.
pub(super) fn a_prune_after_a_removal_that_was_not_flushed() -> Case {
    let box_ = chain(&["a", "b"]);
    box_.capture_with("o", Some("x"), "f", b"of another run");
    age(&box_.store());
    let dir = box_.history("o").join("snapshots");
    let removed = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    let case = Case::new(box_, "wt-prune --grace 0", |_| {});
    // Whoever removed it left its run like that.
    let harmless = &["head-dangling", "label-dangling", "pin-incomplete"];
    Case { removed, labels: &["a", "b"], harmless, ..case }
}

/// The pin of a snapshot that is being forgotten goes before its manifest: alone it would stay for ever.
const FORGETTING: &[&str] = &["pin-incomplete"];

pub(super) fn a_forget_and_a_prune() -> Case {
    let box_ = chain(&["a", "bank:0", "c", "bank:1", "d"]);
    let script = "wt-forget --run r --drop-labels 'bank:*' >/dev/null && wt-prune --grace 0 >/dev/null";
    let done = |box_: &Sandbox| {
        let labels = labels(box_);
        assert!(labels.keys().eq(["a", "c", "d"]), "{labels:?}");
    };
    let ended = |box_: &Sandbox| {
        assert!(!box_.object(b"content 1").exists() && box_.object(b"content 2").exists());
    };
    let case = Case::new(box_, script, done);
    Case { labels: &["a", "c", "d"], harmless: FORGETTING, ended, ..case }
}

pub(super) fn a_forget_of_the_oldest() -> Case {
    let script = "wt-forget --run r --keep-last 2 --drop-labels '*'";
    let done = |box_: &Sandbox| assert!(labels(box_).keys().eq(["c", "d"]));
    Case { labels: &["c", "d"], harmless: FORGETTING, ..Case::new(chain(&["a", "b", "c", "d"]), script, done) }
}

pub(super) fn a_purge() -> Case {
    let box_ = edited();
    box_.capture("r", Some("b"));
    age(&box_.store());
    let done = |box_: &Sandbox| {
        for secret in [&b"one"[..], b"two"] {
            assert!(!box_.object(secret).exists(), "it is gone for good");
        }
        assert!(box_.object(b"three").exists());
    };
    // Run again there may be nothing left that names it, and objects that only a prune finds.
    let script = "wt-purge --yes d || test $? = 2; wt-prune --grace 0 >/dev/null";
    Case { labels: &["a", "b"], ..Case::new(box_, script, done) }
}

/// As our programs leave what they make.
fn make_private(box_: &Sandbox) {
    let status = std::process::Command::new("chmod").args(["-R", "go="]).arg(box_.store()).status();
    assert!(status.unwrap().success());
}

pub(super) fn appended_events() -> Case {
    let box_ = Sandbox::in_memory();
    fs::DirBuilder::new().recursive(true).create(box_.runs().join("r")).unwrap();
    put(&box_.runs().join("r/run.json"), b"{}");
    make_private(&box_);
    let script =
        "printf '{\"type\":\"a\"}\\n{\"type\":\"b\"}\\n' | run-events append --run r --stdin --fsync always";
    let done = |box_: &Sandbox| {
        let seqs = box_.run("run-events", &["cat", "--run", "r", "--format", "{seq}"]).ok();
        let numbers: Vec<usize> = seqs.lines().map(|line| line.parse().unwrap()).collect();
        assert!(numbers.len() >= 2 && numbers.iter().copied().eq(0..numbers.len()), "{seqs}");
    };
    Case::new(box_, script, done)
}

pub(super) fn an_index_that_is_made_again() -> Case {
    let box_ = full();
    box_.capture("r", Some("a"));
    box_.capture_with("r", Some("b"), "d/f", b"two");
    put(&box_.history("r").join("index.json"), b"broken");
    let pin = fs::read_dir(box_.history("r").join("snapshots")).unwrap().map(|entry| entry.unwrap().path());
    rm(&pin.filter(|path| path.to_string_lossy().contains("pin-")).max().unwrap());
    let done = |box_: &Sandbox| assert!(labels(box_).keys().eq(["a", "b"]) && findings(box_, &[]).is_empty());
    Case { is_sound: false, ..Case::new(box_, "wt-fsck --rebuild-index -q", done) }
}

pub(super) fn a_manifest_that_is_put_aside() -> Case {
    let box_ = edited();
    let id = box_.capture("r", Some("b"));
    let path = box_.manifest("r", &id);
    let text = fs::read(&path).unwrap();
    put(&path, &text[..text.len() - 2]);
    age(&box_.store());
    let script = "wt-fsck --quarantine --rebuild-index -q; wt-prune --grace 0";
    let done = |box_: &Sandbox| {
        assert!(labels(box_).keys().eq(["a"]) && findings(box_, &[]).is_empty());
        assert!(box_.object(b"two").exists() && box_.object(b"three").exists(), "what it named stays");
    };
    Case { is_sound: false, labels: &["a"], ..Case::new(box_, script, done) }
}

pub(super) fn objects_that_are_stored_again() -> Case {
    let box_ = full();
    box_.capture("r", Some("a"));
    put(&box_.object(b"same"), b"\0\0\0\0");
    rm(&box_.object(b"one"));
    rm(&box_.object(b"target text"));
    let done = |box_: &Sandbox| assert!(findings(box_, &[]).is_empty());
    Case { is_sound: false, labels: &["a"], ..Case::new(box_, "wt-fsck --repair-from \"$WT_WORKSPACE\"", done) }
}

/// So many files are flushed together with their file system, each disk by itself.
pub(super) fn a_capture_of_many_files() -> Case {
    let box_ = Sandbox::in_memory();
    for number in 0..300 {
        box_.write(&format!("f{number}"), format!("content {number}").as_bytes());
    }
    let capture = box_.capture_script("r", Some("a"));
    Case { is_large: true, ..Case::new(box_, capture, has_label("a")) }
}

pub(super) fn a_restore_of_many_files() -> Case {
    let box_ = Sandbox::in_memory();
    for content in ["a", "b"] {
        for number in 0..300 {
            box_.write(&format!("f{number}"), format!("{content} {number}").as_bytes());
        }
        box_.capture("r", Some(content));
    }
    let done = |box_: &Sandbox| {
        assert_eq!(box_.run("wt-restore", &["--run", "r", "--dry-run", "a"]).ok(), "", "it was restored");
    };
    Case { is_large: true, labels: &["a", "b"], ..Case::new(box_, "wt-restore --run r a >/dev/null", done) }
}

pub(super) fn a_rewind() -> Case {
    let box_ = Sandbox::in_memory();
    put(&box_.runs().join("r/run.json"), br#"{"status":"failed"}"#);
    make_private(&box_);
    for (label, content) in [("pre:n:0", "before"), ("post:n:0", "by the run"), ("pause:n:0", "by the run, too")] {
        box_.write(content, content.as_bytes());
        box_.capture_with("r", Some(label), "f", content.as_bytes());
    }
    age(&box_.store());
    box_.write("mine", b"by a person");
    let script = "wt-rewind --run r --node n >/dev/null";
    let done = |box_: &Sandbox| {
        assert_eq!(fs::read(box_.workspace().join("f")).unwrap(), b"before");
        assert_eq!(fs::read(box_.workspace().join("mine")).unwrap(), b"by a person");
        assert!(labels(box_).keys().any(|label| label.starts_with("rewind-backup:n:")), "{:?}", labels(box_));
        // A hole that a cut left before is told, and is no event.
        let events = box_.run("run-events", &["cat", "--run", "r", "--format", "{type}"]).out;
        assert!(events.contains("run_rewound"), "{events}");
    };
    Case { labels: &["pre:n:0", "post:n:0", "pause:n:0"], ..Case::new(box_, script, done) }
}

/// The document of a run is made and changed; what was told to be so is so.
pub(super) fn the_document_of_a_run() -> Case {
    let script = "run-record create --run r --workflow w >/dev/null || test $? = 6
        run-record set-status failed --code X --run r >/dev/null";
    Case::new(Sandbox::in_memory(), script, |box_| {
        let bytes = fs::read(box_.runs().join("r/run.json")).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((&document["status"], &document["workflow_name"]), (&"failed".into(), &"w".into()));
    })
}

/// What nodes publish and people say, beside the document of the run.
pub(super) fn an_artifact_and_a_message() -> Case {
    let box_ = Sandbox::in_memory();
    let _ = box_.run("run-record", &["create", "--run", "r", "--workflow", "w"]).ok();
    let script = "set -e
        run-artifact write --run r plan '{\"summary\":\"two steps\"}' --version 0 >/dev/null
        run-message queue-once --run r nightly 'The build is red.' >/dev/null || test $? = 1";
    Case::new(box_, script, |box_| {
        let artifact = box_.run("run-artifact", &["latest", "--run", "r", "plan"]);
        assert!(artifact.ok().contains("two steps"));
        let messages = box_.run("run-message", &["list", "--run", "r"]);
        assert!(messages.out.contains("The build is red."), "{messages:?}");
    })
}
