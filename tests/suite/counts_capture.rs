//! What a capture without a change costs, and a label: counted, never timed.
//!
//! Writes are counted at the seam, everything else by strace where it is installed and allowed. A limit here is what the
//! design promises (section 9): more is a regression even if every other test passes.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::sandbox::{Ran, Sandbox};

/// Enough for the pool to be remembered and not examined object by object.
pub(super) const FILES: usize = 1200;
const FILES_PER_DIR: usize = 40;
/// What the programs and the shell look at whatever they are asked to do, and one look at each shard of the pool.
const FIXED: usize = 256 + 100;

/// A tree at rest, captured often enough that the next capture has nothing to learn.
pub(super) fn settled() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..FILES {
        sandbox.file(format!("d{}/versioned-{number}", number / FILES_PER_DIR), format!("content {number}\n"));
    }
    sandbox.settle();
    for label in ["first", "second", "third"] {
        sandbox.call().env("LABEL", label).sh(CAPTURE).ok();
        // What is in a directory that changed within a tick is not remembered.
        sandbox.settle();
    }
    sandbox
}

/// A capture as the porcelain makes it: the stages inherit a descriptor on which the first of them takes the lock.
pub(super) const CAPTURE: &str = "sh -c 'exec 9<\"${WT_WORKSPACE:-.}\"; export WT_LOCK_FD=9:s?; wt-ls-files -z --records --dir-cache | wt-hash-object -w -z --stdin-records | wt-write-manifest -z --label \"$LABEL\"'";

/// The effects on the store of a capture under a label.
fn effects(sandbox: &Sandbox, label: &str) -> Vec<String> {
    let trace = sandbox.x("effects");
    let _ = std::fs::remove_file(&trace);
    sandbox.call().env("LABEL", label).env("WT_TEST_TRACE", &trace).sh(CAPTURE).ok();
    let text = std::fs::read_to_string(&trace).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Every system call of a command; `None` where they cannot be seen.
pub(super) fn calls(sandbox: &Sandbox, command: &str) -> Option<Vec<String>> {
    let ran: Ran = sandbox.call().env("LABEL", "fourth").sh(&format!("strace -f -s 300 -o $X/calls {command}"));
    let text = std::fs::read_to_string(sandbox.x("calls")).unwrap_or_default();
    if ran.code != 0 || !text.contains("execve(") {
        eprintln!("SKIPPED: system calls cannot be seen here: {}", ran.text());
        return None;
    }
    // A call that another thread interrupts stands on two lines.
    Some(text.lines().filter(|line| !line.contains("resumed>")).map(str::to_owned).collect())
}

pub(super) fn count(calls: &[String], wanted: impl Fn(&str) -> bool) -> usize {
    calls.iter().filter(|call| wanted(call)).count()
}

#[test]
fn a_capture_without_a_change_writes_one_line_and_the_index() {
    let sandbox = settled();
    let kinds = |effects: &[String]| -> Vec<String> {
        effects.iter().map(|effect| effect.split(' ').next().unwrap().to_owned()).collect()
    };
    let before = sandbox.stored().ids();
    let made = effects(&sandbox, "new");
    assert_eq!(kinds(&made), ["append", "create", "write", "rename"], "{made:#?}");
    assert!(made[0].ends_with("labels.log") && made[3].ends_with("index.json"), "{made:#?}");
    assert!(effects(&sandbox, "new").is_empty(), "the label is there already");
    assert_eq!(sandbox.stored().ids(), before);
}

#[test]
fn a_capture_without_a_change_opens_no_file_and_looks_at_each_once() {
    let sandbox = settled();
    let Some(calls) = calls(&sandbox, CAPTURE) else { return };
    let of_files = |call: &str| call.contains("\"versioned-") || call.contains("/versioned-");
    let is_stat = |call: &str| call.contains("stat");
    assert_eq!(count(&calls, |call| of_files(call) && is_stat(call)), FILES);
    assert_eq!(count(&calls, |call| of_files(call) && call.contains("open")), 0);
    let dirs = FILES.div_ceil(FILES_PER_DIR) + 1;
    let stats = count(&calls, is_stat);
    assert!(stats <= FILES + dirs + FIXED, "{stats} looks for {FILES} files in {dirs} directories");
    let opened = count(&calls, |call| call.contains("openat") && call.contains("O_DIRECTORY"));
    assert!((dirs..dirs + 40).contains(&opened), "{opened} of {dirs} directories opened, for their permissions");
    let listings = count(&calls, |call| call.contains("getdents"));
    assert_eq!(listings, 0, "no directory changed, so none is listed");
    let objects = count(&calls, |call| call.contains("open") && call.contains("workspace-objects/"));
    assert!(objects <= 2, "the pool's lock file and nothing in the pool: {objects}");
    let manifests = count(&calls, |call| call.contains("open") && call.contains("snapshots/"));
    assert_eq!(
        manifests, 2,
        "head's manifest is opened to be compared, and, being small, to see that it is the same"
    );
}

#[test]
fn a_directory_that_changed_is_listed_and_no_other() {
    let sandbox = settled();
    sandbox.sh("touch d3/passing; rm d3/passing").ok();
    sandbox.settle();
    let Some(calls) = calls(&sandbox, CAPTURE) else { return };
    assert_eq!(count(&calls, |call| call.contains("getdents")), 2, "one directory is read to its end");
}

#[test]
fn a_label_writes_one_line_and_the_index_and_reads_no_manifest() {
    let sandbox = settled();
    let Some(calls) = calls(&sandbox, "wt-label alias HEAD") else { return };
    assert_eq!(count(&calls, |call| call.contains("open") && call.contains("snapshots/")), 0);
    assert_eq!(count(&calls, |call| call.contains("rename")), 1);
    let indexes = count(&calls, |call| call.contains("open") && call.contains("index.json"));
    assert_eq!(indexes, 2, "it is read, and, being small, read again to see that it is the same");
    assert_eq!(vectors(&calls), [3], "the rows are written from where they are mapped");
    let total = calls.len();
    assert!(total <= 160, "{total} system calls");
}

#[test]
fn a_changed_file_is_read_once_and_costs_one_object() {
    let sandbox = settled();
    sandbox.file("d3/versioned-130", "changed\n").settle();
    let Some(calls) = calls(&sandbox, CAPTURE) else { return };
    let opened = count(&calls, |call| call.contains("open") && call.contains("versioned-"));
    assert_eq!(opened, 1);
    sandbox.stored().check();
}

#[test]
fn a_new_file_costs_what_reading_and_storing_it_takes() {
    const NEW: usize = 240;
    let sandbox = settled();
    let Some(before) = calls(&sandbox, CAPTURE) else { return };
    for number in 0..NEW {
        sandbox.file(format!("new/{number}"), format!("new content {number}\n"));
    }
    sandbox.settle();
    let Some(after) = calls(&sandbox, CAPTURE) else { return };
    let each = |name: &str| {
        let of_name = |calls: &[String]| count(calls, |call| call.contains(&format!(" {name}(")));
        (of_name(&after) - of_name(&before)) / NEW
    };
    // Opened, examined, read, examined, closed; created, written, linked, closed. Beside that the look of the walk, one
    // whether the pool has it, and one under the pool's lock that it has got it.
    let found = ["openat", "fstat", "read", "write", "linkat", "close", "newfstatat"].map(each);
    assert_eq!(found, [2, 2, 1, 1, 1, 2, 3]);
    // The table of open files is made large enough while there is one thread: later all of them would wait each time.
    let number = |call: &str| call.split_once("F_DUPFD_CLOEXEC, ")?.1.split(')').next()?.parse::<usize>().ok();
    let enlarged = after.iter().position(|call| number(call).is_some_and(|number| number > NEW));
    let created = after.iter().position(|call| call.contains("O_TMPFILE"));
    assert!(enlarged.is_some() && enlarged < created, "{enlarged:?} {created:?}");
    sandbox.stored().check();
}

/// Of each call that writes more than one piece, how many.
fn vectors(calls: &[String]) -> Vec<usize> {
    let pieces = |call: &String| {
        let (_, count) = call.split_once("writev(")?.1.rsplit_once("], ")?;
        count.split([')', ' ']).next()?.parse().ok()
    };
    calls.iter().filter_map(pieces).filter(|count| *count > 1).collect()
}

#[test]
fn a_changed_file_is_written_between_ranges_of_the_old_documents() {
    let sandbox = settled();
    sandbox.file("d3/versioned-130", "changed\n").settle();
    let Some(calls) = calls(&sandbox, CAPTURE) else { return };
    // What is before the list, a range, what is new, a range, what is behind: the manifest, then the index.
    assert_eq!(vectors(&calls), [5, 5]);
    sandbox.stored().check();
    sandbox.sh("rm d3/versioned-130").ok();
    let made = effects(&sandbox, "fifth");
    // The walk remembers the directory anew meanwhile; which of the files made is whose, their names do not tell.
    let of_documents = |made: &&String| !made.starts_with("create ") && !made.ends_with(" .dirs-seen");
    let made: Vec<&str> = made.iter().filter(of_documents).filter_map(|made| made.split(' ').next()).collect();
    let (manifest, index) = (["write", "rename-new"], ["append", "write", "rename"]);
    assert_eq!(made, [&manifest[..], &index[..]].concat(), "nothing of a file that is gone is written");
    sandbox.stored().check();
}

#[test]
fn an_object_that_vanished_from_a_remembered_pool_is_stored_again() {
    let sandbox = settled();
    assert!(sandbox.s().join("runs/run/workspace/.pool-seen").exists());
    for number in [0, 7, FILES - 1] {
        std::fs::remove_file(sandbox.stored().object_of(format!("content {number}\n"))).unwrap();
    }
    sandbox.capture("again");
    sandbox.stored().check();
}

/// Makes the memory of the pool say that a shard is as it is now: what it says of the objects in it is then believed.
fn forge_stamp(memory: &[u8], object: &Path) -> Vec<u8> {
    let shard = object.parent().unwrap();
    let number = usize::from_str_radix(shard.file_name().unwrap().to_str().unwrap(), 16).unwrap();
    let meta = std::fs::metadata(shard).unwrap();
    let times = [(meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec())];
    let mut forged = memory.to_vec();
    let place = &mut forged[80 + number * 32..][..24];
    place[..8].copy_from_slice(&meta.ino().to_le_bytes());
    for (place, (seconds, fraction)) in place[8..].chunks_mut(8).zip(times) {
        place.copy_from_slice(&(seconds * 1_000_000_000 + fraction).to_le_bytes());
    }
    forged
}

#[test]
fn a_memory_of_the_pool_that_is_damaged_or_of_another_pool_is_none() {
    let sandbox = settled();
    let memory = sandbox.s().join("runs/run/workspace/.pool-seen");
    let good = std::fs::read(&memory).unwrap();
    let object = sandbox.stored().object_of("content 5\n");
    let lost = |damage: &dyn Fn(&[u8]) -> Vec<u8>| {
        std::fs::remove_file(&object).unwrap();
        sandbox.settle();
        std::fs::write(&memory, damage(&forge_stamp(&good, &object))).unwrap();
        sandbox.capture("again");
        !object.exists()
    };
    // Any other change shows only that this one would be believed.
    assert!(lost(&<[u8]>::to_vec), "a memory that is right in all else is believed");
    std::fs::write(&object, "content 5\n").unwrap();
    assert!(!lost(&|memory| memory[..memory.len() - 1].to_vec()), "cut short");
    assert!(!lost(&|memory| [memory, b"x"].concat()), "too long");
    assert!(!lost(&|_| Vec::new()), "empty");
    assert!(!lost(&|memory| [&memory[..16], &[b'0'; 48], &memory[64..]].concat()), "another start of the machine");
    assert!(!lost(&|memory| [&memory[..64], &[7; 16], &memory[80..]].concat()), "another pool");
    sandbox.stored().check();
}
