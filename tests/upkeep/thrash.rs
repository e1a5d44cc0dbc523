//! Everything at once for a while, with programs that are killed and stopped at random; then everything must still be
//! there.
//!
//! `WT_TEST_SEED=n` tries another course. The long version: `cargo test --test upkeep -- --ignored thrash`, for
//! `WT_TEST_SECONDS` (600 unless set).

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::sandbox::{Sandbox, rm};

const RUNS: [&str; 3] = ["one", "two", "three"];

/// The `SplitMix64` generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

#[derive(Default)]
struct Tally {
    done: AtomicUsize,
    killed: AtomicUsize,
    stopped: AtomicUsize,
}

/// Runs a shell command in a process group of its own; now and then it is stopped for a while, or killed.
fn disturb(box_: &Sandbox, command: &str, random: &mut Random, tally: &Tally) {
    let mut child = box_.shell(command);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
    let group = Pid::from_child(&child);
    match random.below(6) {
        0 => {
            std::thread::sleep(Duration::from_millis(random.below(60)));
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
            tally.killed.fetch_add(1, Ordering::Relaxed);
        }
        1 => {
            std::thread::sleep(Duration::from_millis(random.below(30)));
            let _ = kill_process_group(group, Signal::STOP);
            std::thread::sleep(Duration::from_millis(random.below(120)));
            // A process that is being forked meanwhile may stop after the others went on.
            while child.try_wait().unwrap().is_none() {
                let _ = kill_process_group(group, Signal::CONT);
                std::thread::sleep(Duration::from_millis(20));
            }
            tally.stopped.fetch_add(1, Ordering::Relaxed);
        }
        _ => {}
    }
    assert_ne!(child.wait().unwrap().code(), Some(127), "the shell finds the program: {command}");
    tally.done.fetch_add(1, Ordering::Relaxed);
}

/// Changes the tree of a run, captures it, moves labels, restores.
fn live(box_: &Sandbox, run: &str, random: &mut Random, tally: &Tally) {
    let dir = box_.root().join(run);
    let file = dir.join(format!("d{}/f{}", random.below(3), random.below(6)));
    match random.below(8) {
        0 => rm(&file),
        1 => rm(file.parent().unwrap()),
        // Contents come back again and again, so that captures rely on objects that a prune is about to take.
        _ => crate::sandbox::put(&file, format!("content {}", random.below(12)).as_bytes()),
    }
    let workspace = format!("WT_WORKSPACE='{}'; export WT_WORKSPACE; ", dir.display());
    let label = ["pre:n:0", "post:n:0", "bank:0", "mine", "gate:0"][usize::try_from(random.below(5)).unwrap()];
    let command = match random.below(5) {
        0 => format!("wt-label --run {run} moved HEAD~1"),
        1 => format!("wt-restore --run {run} HEAD~{}", random.below(3)),
        2 => box_.capture_script(run, None),
        _ => box_.capture_script(run, Some(label)),
    };
    disturb(box_, &format!("{workspace}{command}"), random, tally);
}

fn upkeep(box_: &Sandbox, random: &mut Random, tally: &Tally) {
    let run = RUNS[usize::try_from(random.below(3)).unwrap()];
    let command = match random.below(6) {
        0 => format!("wt-forget --run {run} --keep-last {} --drop-labels '*'", 2 + random.below(4)),
        1 => format!("wt-forget --run {run} --drop-labels 'bank:*'"),
        2 => "wt-fsck".to_owned(),
        3 => "wt-prune --grace 1".to_owned(),
        _ => "wt-prune --grace 0".to_owned(),
    };
    disturb(box_, &command, random, tally);
}

fn thrash(length: Duration) {
    let seed = std::env::var("WT_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_129);
    let box_ = Sandbox::new();
    for run in RUNS {
        crate::sandbox::put(&box_.root().join(run).join("start"), run.as_bytes());
    }
    let tally = Tally::default();
    let end = Instant::now() + length;
    std::thread::scope(|scope| {
        for (number, run) in (1..).zip(RUNS) {
            let (box_, tally) = (&box_, &tally);
            scope.spawn(move || {
                let mut random = Random(seed + number);
                while Instant::now() < end {
                    live(box_, run, &mut random, tally);
                }
            });
        }
        let mut random = Random(seed);
        while Instant::now() < end {
            upkeep(&box_, &mut random, &tally);
        }
    });
    let check = box_.run::<&str>("wt-fsck", &[]);
    assert_eq!(check.code, 0, "seed {seed}: {check:?}");
    let mut restored = 0;
    for run in RUNS {
        restored += restore_all(&box_, run, seed);
    }
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    eprintln!(
        "thrash: seed {seed}, {} s, {} programs, {} killed, {} stopped, {restored} snapshots restored, lost: 0",
        length.as_secs(),
        count(&tally.done),
        count(&tally.killed),
        count(&tally.stopped),
    );
}

/// Restores every snapshot that is left, and asks again: nothing may be left to do.
fn restore_all(box_: &Sandbox, run: &str, seed: u64) -> usize {
    let dir = box_.root().join(run);
    let (dir, mut restored) = (dir.to_str().unwrap().to_owned(), 0);
    let snapshots = box_.history(run).join("snapshots");
    let Ok(listed) = fs::read_dir(&snapshots) else { return 0 };
    let ids: Vec<String> = listed
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| !name.starts_with("pin-"))
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    // What is there now must not be in the way.
    let workspace = format!("WT_WORKSPACE='{dir}'; export WT_WORKSPACE; ");
    let banked =
        box_.shell(&format!("{workspace}{}", box_.capture_script(run, Some("bank:last")))).output().unwrap();
    assert!(banked.status.success(), "seed {seed}: {banked:?}");
    for id in ids {
        let args = ["-C", dir.as_str(), "--run", run, id.as_str()];
        let first = box_.run("wt-restore", &args);
        assert_eq!(first.code, 0, "seed {seed}, {run} {id}: {first:?}");
        let again = box_.run("wt-restore", &args);
        assert!(again.code == 0 && again.out.is_empty(), "seed {seed}, {run} {id}: {again:?}");
        restored += 1;
    }
    restored
}

#[test]
fn nothing_is_lost_in_a_short_thrash() {
    thrash(Duration::from_secs(6));
}

#[test]
#[ignore = "minutes long; run by hand"]
fn nothing_is_lost_in_a_long_thrash() {
    let seconds = std::env::var("WT_TEST_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    thrash(Duration::from_secs(seconds));
}
