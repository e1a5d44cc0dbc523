//! What `run-events` costs against what one would otherwise do: `cargo bench --bench events`.
//!
//! Prints ratios; times alone say more about the machine. `EVENTS_BENCH_MB` sets the size of the large log (default 1024).
#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on is none")]
#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;

const BIN: &str = env!("CARGO_BIN_EXE_run-events");

fn event(seq: u64) -> String {
    let text = "what the agent said \u{2014} and why, ".repeat(8);
    format!(
        "{{\"seq\":{seq},\"timestamp\":\"2026-01-01T00:00:00.123456789Z\",\"type\":\"node_finished\",\"run_id\":\"r\",\
         \"node_id\":\"n{}\",\"data\":{{\"_cost_usd\":0.0125,\"_tokens\":{},\"output\":{{\"_model\":\"m{}\",\"text\":\"{text}\",\
         \"list\":[1,2.50,true,null,{{\"k\":\"v\"}}]}}}},\"log_offset\":{}}}\n",
        seq % 20,
        seq % 5000,
        seq % 3,
        seq * 80
    )
}

fn make_log(path: &Path, bytes: u64) -> u64 {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let (mut written, mut seq) = (0, 0);
    while written < bytes {
        let line = event(seq);
        out.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
        seq += 1;
    }
    out.flush().unwrap();
    seq
}

fn run_events(store: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(BIN);
    command.env_clear().env("WT_STORE", store).env("WT_RUN", "r").args(args).stdout(Stdio::null());
    command
}

/// The shortest of three runs.
fn best(mut run: impl FnMut() -> Command) -> Duration {
    (0..3)
        .map(|_| {
            let begun = Instant::now();
            assert!(run().status().unwrap().success());
            begun.elapsed()
        })
        .min()
        .unwrap()
}

/// The least processor time of three runs, in steps of 10 ms: on a busy machine it says more than the clock.
fn least_cpu(mut run: impl FnMut() -> Command) -> Duration {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    (0..3)
        .map(|_| {
            let mut child = run().spawn().unwrap();
            let pid = rustix::process::Pid::from_child(&child);
            // It has ended, but its entry is still there to be read.
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
            let stat = std::fs::read(format!("/proc/{}/stat", child.id())).unwrap();
            let stat = String::from_utf8_lossy(&stat).into_owned();
            let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
            assert!(child.wait().unwrap().success());
            let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
            Duration::from_millis(ticks * 10)
        })
        .min()
        .unwrap()
}

/// The most memory that a command ever had, in KiB.
fn peak_kib(mut command: Command) -> u64 {
    let mut child = command.spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let status = String::from_utf8_lossy(&status);
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = peak.max(line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

fn ratio(what: &str, ours: Duration, theirs: Duration, against: &str) {
    println!(
        "{what:<44} {:>9.3} ms   {:>6.2} x {against} ({:.3} ms)",
        ours.as_secs_f64() * 1e3,
        ours.as_secs_f64() / theirs.as_secs_f64(),
        theirs.as_secs_f64() * 1e3
    );
}

/// The same bytes by plain appends under flock.
fn plain_appends(dir: &Path, lines: &[String], flush: bool) -> Duration {
    let begun = Instant::now();
    let lock = File::create(dir.join("plain.lock")).unwrap();
    let mut log = OpenOptions::new().append(true).create(true).open(dir.join("plain.jsonl")).unwrap();
    for line in lines {
        rustix::fs::flock(lock.as_fd(), FlockOperation::LockExclusive).unwrap();
        log.write_all(line.as_bytes()).unwrap();
        rustix::fs::flock(lock.as_fd(), FlockOperation::Unlock).unwrap();
        if flush {
            log.sync_data().unwrap();
        }
    }
    begun.elapsed()
}

fn appends(store: &Path) {
    let lines: Vec<String> = (0..200).map(event).collect();
    let begun = Instant::now();
    for line in &lines {
        let mut child = run_events(&store.join("one"), &["append", "--stdin", "--fsync", "off"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    let ours = begun.elapsed();
    let begun = Instant::now();
    for line in &lines {
        let mut shell = Command::new("flock");
        shell.current_dir(store).args(["shell.lock", "sh", "-c", "cat >>shell.jsonl"]).stdin(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        child.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    ratio("append, a process an event (200)", ours, begun.elapsed(), "flock sh -c 'cat >>'");

    let lines: Vec<String> = (0..20_000).map(event).collect();
    for (fsync, count, flush) in [("off", 20_000, false), ("batch", 20_000, false), ("always", 500, true)] {
        let lines = &lines[..count];
        let begun = Instant::now();
        let mut child = run_events(&store.join(fsync), &["append", "--stdin", "--fsync", fsync])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(lines.concat().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let ours = begun.elapsed();
        let theirs = plain_appends(store, lines, flush);
        let against = if flush { "flock, >>, fdatasync in one process" } else { "flock and >> in one process" };
        ratio(&format!("append --stdin --fsync {fsync} ({count})"), ours, theirs, against);
    }
}

fn main() {
    let mb: u64 = std::env::var("EVENTS_BENCH_MB").ok().and_then(|mb| mb.parse().ok()).unwrap_or(1024);
    let dir = tempfile::tempdir_in(".").unwrap();
    let store = dir.path();
    for run in ["small", "large"] {
        std::fs::DirBuilder::new().recursive(true).create(store.join(run).join("runs/r")).unwrap();
    }
    appends(store);

    let log = |run: &str| store.join(run).join("runs/r/events.jsonl");
    let small = make_log(&log("small"), 10 << 20);
    let large = make_log(&log("large"), mb << 20);
    println!("logs: {small} events in 10 MiB, {large} events in {mb} MiB");
    let from = |run: &'static str, count: u64| {
        let seq = (count - 5).to_string();
        best(|| run_events(&store.join(run), &["cat", "--from", &seq]))
    };
    ratio("cat --from near the end of the large log", from("large", large), from("small", small), "the small log");
    let last = |run: &'static str| best(|| run_events(&store.join(run), &["cat", "--last", "5"]));
    ratio("cat --last 5 of the large log", last("large"), last("small"), "the small log");

    let wc = least_cpu(|| {
        let mut command = Command::new("wc");
        command.arg("-l").arg(log("large")).stdout(Stdio::null());
        command
    });
    for args in [&["cat"][..], &["check"], &["cat", "--type", "run_*"], &["fold", "costs"], &["fold", "executions"]]
    {
        let ours = least_cpu(|| run_events(&store.join("large"), args));
        ratio(&format!("{} of the large log, cpu", args.join(" ")), ours, wc, "wc -l");
    }
    for name in ["active-time", "deployment", "executions", "costs", "windows"] {
        let peak = |run: &str| peak_kib(run_events(&store.join(run), &["fold", name]));
        println!(
            "memory of fold {name}: {} KiB for the small log, {} KiB for the large one",
            peak("small"),
            peak("large")
        );
    }
}
