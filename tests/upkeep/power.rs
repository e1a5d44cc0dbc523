//! The power is cut after any effect of any command, and everything that was not flushed may be gone: whatever is left,
//! every promise holds.
//!
//! A command runs once and writes a tape. The tape is played on a simulated disk (`disk`); after every effect, each way
//! in which what is pending may or may not have survived is put back in place of the store. There fsck finds nothing
//! that matters, what labels name restores, and the command run again finishes.
//!
//! To add a command: a [`Case`] and one test that calls [`survives`]. `WT_TEST_ALL=1` examines everything as deeply as a
//! part of it is else.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use workspacetrack::act::fsck::{self, Depth, Severity};
use workspacetrack::store::fsio::Durability;
use workspacetrack::store::lock::Patience;
use workspacetrack::store::{Settings, Store};

use crate::disk::{Disk, Fate};
use crate::sandbox::{Sandbox, age, put, rm};

/// A command that must survive a power cut.
struct Case {
    /// A store and a workspace on a disk that holds all of it.
    sandbox: Sandbox,
    /// Files that somebody removes before, and does not flush that.
    removed: Vec<PathBuf>,
    /// The command, or several.
    script: String,
    /// Labels of run `r` that are there whatever happens.
    labels: &'static [&'static str],
    /// Whether there are so many changes that only some of the states can be looked at.
    is_large: bool,
    /// Whether the store is sound before; else only the command run again makes it so.
    is_sound: bool,
    /// Codes of findings that a cut may leave although they are no notes.
    harmless: &'static [&'static str],
    /// Demands what the command promises once it has ended well, also after a cut.
    done: Box<dyn Fn(&Sandbox)>,
    /// Demands what else is so as long as nothing is cut.
    ended: fn(&Sandbox),
}

impl Case {
    fn new(sandbox: Sandbox, script: impl Into<String>, done: impl Fn(&Sandbox) + 'static) -> Self {
        Self {
            sandbox,
            removed: Vec::new(),
            script: script.into(),
            labels: &[],
            is_large: false,
            is_sound: true,
            harmless: &[],
            done: Box::new(done),
            ended: |_| {},
        }
    }
}

/// The content of every file, link and directory below a workspace but the staging area.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(dir: &Path) -> Tree {
    let mut found = Tree::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name == ".iterion") {
                continue;
            }
            if path.is_symlink() {
                found.insert(path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else if path.is_dir() {
                dirs.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Every path is as in one of the trees.
fn assert_between(now: &Tree, old: &Tree, new: &Tree, what: &str) {
    for path in old.keys().chain(new.keys()).chain(now.keys()) {
        let there = now.get(path);
        let is_whole = there == old.get(path) || there == new.get(path);
        assert!(is_whole, "{what}: {} is neither whole-old nor whole-new: {there:?}", path.display());
    }
}

/// What fsck finds, but for notes.
fn findings(box_: &Sandbox, harmless: &[&str]) -> Vec<String> {
    let patience = Patience { limit: Duration::from_secs(5), notice: |_| {} };
    let store = Store::new(box_.store(), Settings { durability: Durability::Off, patience });
    let report = fsck::check(&store, None, Depth::Full, &|_| {}).unwrap();
    // A line of the journal that was torn is passed over, and was never acknowledged.
    let matters = report
        .findings
        .into_iter()
        .filter(|finding| finding.severity != Severity::Note && finding.code != "journal-line")
        .filter(|finding| !harmless.contains(&finding.code));
    matters.map(|finding| format!("{} {}: {}", finding.code, finding.path.display(), finding.detail)).collect()
}

fn labels(box_: &Sandbox) -> BTreeMap<String, String> {
    let Ok(bytes) = fs::read(box_.history("r").join("index.json")) else { return BTreeMap::new() };
    let index: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    serde_json::from_value(index["labels"].clone()).unwrap_or_default()
}

/// Everything that is left at one cut, and how deeply it is examined.
struct Cut<'c> {
    case: &'c Case,
    what: String,
    ends: (&'c Tree, &'c Tree),
}

impl Cut<'_> {
    fn examine(&self, is_deep: bool) {
        let (box_, what) = (&self.case.sandbox, &self.what);
        assert_between(&tree(&box_.workspace()), self.ends.0, self.ends.1, what);
        if self.case.is_sound {
            let found = findings(box_, self.case.harmless);
            assert!(found.is_empty(), "{what}: {found:#?}");
            let there = labels(box_);
            for label in self.case.labels {
                assert!(there.contains_key(*label), "{what}: label {label} is gone");
            }
            if is_deep {
                self.restore_all(&there);
            }
        }
        if is_deep {
            self.run_again();
            self.restore_all(&labels(box_));
        }
    }

    /// Whatever a label names comes back whole.
    fn restore_all(&self, labels: &BTreeMap<String, String>) {
        let box_ = &self.case.sandbox;
        let snapshots: HashSet<&String> = labels.values().collect();
        for id in snapshots {
            let scratch = box_.root().join("scratch");
            fs::DirBuilder::new().create(&scratch).unwrap();
            let args = ["-C", scratch.to_str().unwrap(), "--run", "r", "--relocate", id];
            let _ = box_.run("wt-restore", &args).ok();
            assert_eq!(box_.run("wt-restore", &args).ok(), "", "{}", self.what);
            rm(&scratch);
        }
    }

    fn run_again(&self) {
        let box_ = &self.case.sandbox;
        let output = box_.shell(&self.case.script).output().unwrap();
        assert!(output.status.success(), "{}: run again: {output:?}", self.what);
        let found = findings(box_, self.case.harmless);
        assert!(found.is_empty(), "{}: after it was run again: {found:#?}", self.what);
        (self.case.done)(box_);
        (self.case.ended)(box_);
    }
}

/// So many of the images at one effect are examined deeply, unless all are.
const DEEP_EVERY: usize = 16;

/// So many effects a tape has at least.
const EFFECTS_MIN: usize = 2;

/// Runs the command once. Returns the disk as it was before, and the tape.
fn record(case: &Case) -> (Disk, Vec<String>) {
    let box_ = &case.sandbox;
    let mut disk = Disk::load(box_.root(), &box_.workspace());
    for path in &case.removed {
        disk.play(&Disk::removal(path));
        rm(path);
    }
    // Beside the sandbox, which is put back again and again.
    let beside = tempfile::tempdir().unwrap();
    let tape = beside.path().join("tape");
    let ran = box_.shell(&case.script).env("WT_FSYNC", "on").env("WT_TEST_TAPE", &tape).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    (case.done)(box_);
    (case.ended)(box_);
    let text = String::from_utf8(fs::read(&tape).unwrap()).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(lines.len() >= EFFECTS_MIN, "{text}");
    (disk, lines)
}

#[track_caller]
fn survives(case: &Case) {
    let box_ = &case.sandbox;
    let all = std::env::var_os("WT_TEST_ALL").is_some();
    let (stride, singles) = if case.is_large { (1024, 2) } else { (1, usize::MAX) };
    let old = tree(&box_.workspace());
    let (mut disk, tape) = record(case);
    let new = tree(&box_.workspace());
    let (mut seen, mut cuts, mut deep) = (HashSet::new(), 0, 0);
    for number in 0..=tape.len() {
        let last = number.checked_sub(1).map_or("", |last| &tape[last]);
        if number > 0 {
            disk.play(last);
        }
        if number % stride != 0 && !last.starts_with("flush") {
            continue;
        }
        for fate in disk.fates(singles) {
            let image = disk.cut(fate);
            if !seen.insert(image.digest()) {
                continue;
            }
            put_back(box_, &image);
            let what = format!("cut after {number} effects ({last}), {fate:?}");
            let is_deep = all || matches!(fate, Fate::Lost | Fate::Kept) || cuts % DEEP_EVERY == 0;
            Cut { case, what, ends: (&old, &new) }.examine(is_deep);
            cuts += 1;
            deep += usize::from(is_deep);
        }
    }
    // What was told to be done is done, whatever happens now.
    for fate in disk.fates(singles) {
        put_back(box_, &disk.cut(fate));
        // Shown only where the demand is not met.
        eprintln!("cut after all was done, {fate:?}");
        (case.done)(box_);
    }
    eprintln!("power: {} effects, {cuts} states, {deep} of them run again, lost: 0", tape.len());
}

fn put_back(box_: &Sandbox, image: &crate::disk::Image<'_>) {
    rm(&box_.store());
    rm(&box_.workspace());
    image.store("s");
    image.store("w");
}

/// A workspace with everything that a snapshot may hold.
fn full() -> Sandbox {
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

fn has_label(label: &'static str) -> impl Fn(&Sandbox) {
    move |box_| assert!(labels(box_).contains_key(label), "label {label} was promised")
}

#[test]
fn the_first_capture() {
    let box_ = full();
    let script = box_.capture_script("r", Some("a"));
    survives(&Case::new(box_, script, has_label("a")));
}

#[test]
fn another_capture() {
    let box_ = edited();
    let script = box_.capture_script("r", Some("b"));
    survives(&Case { labels: &["a"], ..Case::new(box_, script, has_label("b")) });
}

#[test]
fn a_label() {
    let script = "wt-label --run r m a && wt-label --run r a HEAD && wt-label --run r --delete b";
    let done = |box_: &Sandbox| {
        let labels = labels(box_);
        assert!(labels.contains_key("m") && !labels.contains_key("b") && labels["m"] < labels["a"]);
    };
    // Run again, m would move too: it is made once.
    let script = script.replace("m a", "m HEAD~1").replace("--delete b", "--delete b || test $? = 2");
    survives(&Case { labels: &["a"], ..Case::new(chain(&["a", "b"]), script, done) });
}

#[test]
fn a_restore() {
    let box_ = edited();
    box_.write("gone", b"goes");
    box_.capture("r", Some("b"));
    let script = "wt-restore --run r a >/dev/null";
    let done = |box_: &Sandbox| {
        assert_eq!(box_.run("wt-restore", &["--run", "r", "--dry-run", "a"]).ok(), "", "it was restored");
    };
    survives(&Case { labels: &["a", "b"], ..Case::new(box_, script, done) });
}

/// Somebody removed a manifest, as the original does, and flushed nothing.
#[test]
fn a_prune_after_a_removal_that_was_not_flushed() {
    let box_ = chain(&["a", "b"]);
    box_.capture_with("o", Some("x"), "f", b"of another run");
    age(&box_.store());
    let dir = box_.history("o").join("snapshots");
    let removed = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    let case = Case::new(box_, "wt-prune --grace 0", |_| {});
    // Whoever removed it left its run like that.
    let harmless = &["head-dangling", "label-dangling", "pin-incomplete"];
    survives(&Case { removed, labels: &["a", "b"], harmless, ..case });
}

/// The pin of a snapshot that is being forgotten goes before its manifest: alone it would stay for ever.
const FORGETTING: &[&str] = &["pin-incomplete"];

#[test]
fn a_forget_and_a_prune() {
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
    survives(&Case { labels: &["a", "c", "d"], harmless: FORGETTING, ended, ..case });
}

#[test]
fn a_forget_of_the_oldest() {
    let script = "wt-forget --run r --keep-last 2 --drop-labels '*'";
    let done = |box_: &Sandbox| assert!(labels(box_).keys().eq(["c", "d"]));
    survives(&Case {
        labels: &["c", "d"],
        harmless: FORGETTING,
        ..Case::new(chain(&["a", "b", "c", "d"]), script, done)
    });
}

#[test]
fn a_purge() {
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
    survives(&Case { labels: &["a", "b"], ..Case::new(box_, script, done) });
}

/// As our programs leave what they make.
fn make_private(box_: &Sandbox) {
    let status = std::process::Command::new("chmod").args(["-R", "go="]).arg(box_.store()).status();
    assert!(status.unwrap().success());
}

#[test]
fn appended_events() {
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
    survives(&Case::new(box_, script, done));
}

#[test]
fn an_index_that_is_made_again() {
    let box_ = full();
    box_.capture("r", Some("a"));
    box_.capture_with("r", Some("b"), "d/f", b"two");
    put(&box_.history("r").join("index.json"), b"broken");
    let pin = fs::read_dir(box_.history("r").join("snapshots")).unwrap().map(|entry| entry.unwrap().path());
    rm(&pin.filter(|path| path.to_string_lossy().contains("pin-")).max().unwrap());
    let done = |box_: &Sandbox| assert!(labels(box_).keys().eq(["a", "b"]) && findings(box_, &[]).is_empty());
    let mut case = Case::new(box_, "wt-fsck --rebuild-index -q", done);
    case.is_sound = false;
    survives(&case);
}

#[test]
fn a_manifest_that_is_put_aside() {
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
    let mut case = Case { labels: &["a"], ..Case::new(box_, script, done) };
    case.is_sound = false;
    survives(&case);
}

#[test]
fn objects_that_are_stored_again() {
    let box_ = full();
    box_.capture("r", Some("a"));
    put(&box_.object(b"same"), b"\0\0\0\0");
    rm(&box_.object(b"one"));
    rm(&box_.object(b"target text"));
    let done = |box_: &Sandbox| assert!(findings(box_, &[]).is_empty());
    let mut case = Case { labels: &["a"], ..Case::new(box_, "wt-fsck --repair-from \"$WT_WORKSPACE\"", done) };
    case.is_sound = false;
    survives(&case);
}

/// So many files are flushed together with their file system, each disk by itself.
#[test]
fn a_capture_and_a_restore_of_many_files() {
    let box_ = Sandbox::in_memory();
    for number in 0..300 {
        box_.write(&format!("f{number}"), format!("content {number}").as_bytes());
    }
    let capture = box_.capture_script("r", Some("a"));
    survives(&Case { is_large: true, ..Case::new(box_, capture, has_label("a")) });

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
    survives(&Case {
        is_large: true,
        labels: &["a", "b"],
        ..Case::new(box_, "wt-restore --run r a >/dev/null", done)
    });
}

#[test]
fn a_rewind() {
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
    survives(&Case { labels: &["pre:n:0", "post:n:0", "pause:n:0"], ..Case::new(box_, script, done) });
}

/// What a killed program did not flush any more is relied on by the next one, and then the power is cut.
#[test]
fn a_capture_after_one_that_was_killed() {
    let plain = full().capture_script("r", Some("a"));
    for stage in ["wt-hash-object'", "wt-write-manifest'"] {
        let (before, program) = plain.rsplit_once(stage).unwrap();
        let quote = before.rfind('\'').unwrap();
        let (mut number, mut killed) = (0, true);
        while killed {
            number += 1;
            let box_ = full();
            let fault = format!("WT_TEST_FAULT={number}:kill WT_TEST_FIRED=fired ");
            let script = format!("{}{fault}{}{stage}{program}; {plain}", &before[..quote], &before[quote..]);
            let case = Case::new(box_, script, has_label("a"));
            let (mut disk, tape) = record(&case);
            killed = case.sandbox.root().join("fired").exists();
            tape.iter().for_each(|line| disk.play(line));
            for fate in [Fate::Lost, Fate::NamesOnly, Fate::DataOnly] {
                put_back(&case.sandbox, &disk.cut(fate));
                eprintln!("killed at effect {number} of {stage}, {fate:?} of {}", disk.pending());
                (case.done)(&case.sandbox);
                assert!(findings(&case.sandbox, &[]).is_empty(), "{:?}", findings(&case.sandbox, &[]));
            }
        }
        assert!(number > 15, "{number} effects of {stage}");
    }
}
