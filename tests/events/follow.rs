//! `tail -f`: whole lines, once, in order, whatever happens to the file.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use crate::sandbox::{DEADLINE, Sandbox, add, event, events, put, run, until};

/// A running `tail`, whose lines are gathered as they come. It is killed when dropped.
pub(crate) struct Follower {
    child: Child,
    out: Arc<Mutex<Vec<String>>>,
    err: Arc<Mutex<Vec<String>>>,
}

impl Follower {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = gather::<ChildStdout>(child.stdout.take().unwrap());
        let err = gather::<ChildStderr>(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    fn of(sandbox: &Sandbox) -> Self {
        Self::start(sandbox.command(&["tail", "-f", "--from", "0", "--format", "{seq}"]))
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.out.lock().unwrap().clone()
    }

    fn errors(&self) -> String {
        self.err.lock().unwrap().join("\n")
    }

    #[track_caller]
    fn prints(&self, expected: &[&str]) {
        until(&format!("{expected:?}"), || self.lines().len() >= expected.len());
        assert_eq!(self.lines(), expected, "{}", self.errors());
    }

    #[track_caller]
    fn says(&self, text: &str) {
        until(text, || self.errors().contains(text));
    }

    /// How often it has gone to sleep so far.
    fn naps(&self) -> u64 {
        let status = std::fs::read(format!("/proc/{}/status", self.child.id())).unwrap();
        let status = String::from_utf8(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse().unwrap()
    }

    /// Waits until it has looked at the file from beginning to end since now.
    fn looks(&self) {
        let before = self.naps();
        until("a look at the file", || self.naps() >= before + 2);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Does something while it cannot look.
    fn while_stopped(&self, something: impl FnOnce()) {
        self.signal(rustix::process::Signal::STOP);
        until("stopped", || {
            let stat = std::fs::read(format!("/proc/{}/stat", self.child.id())).unwrap();
            String::from_utf8_lossy(&stat).rsplit_once(") ").unwrap().1.starts_with('T')
        });
        something();
        self.signal(rustix::process::Signal::CONT);
    }

    pub(crate) fn ends(&mut self) -> i32 {
        let begun = std::time::Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(begun.elapsed() < DEADLINE, "it does not end: {}", self.errors());
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn gather<R: std::io::Read + Send + 'static>(from: R) -> Arc<Mutex<Vec<String>>> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let gathered = Arc::clone(&lines);
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            gathered.lock().unwrap().push(line.unwrap());
        }
    });
    lines
}

#[test]
fn tail_prints_the_last_ten_or_as_many_as_asked() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(20));
    let count = |args: &[&str]| sandbox.run(&[&["tail"], args].concat()).ends(0).lines().count();
    assert_eq!((count(&[]), count(&["-n", "3"]), count(&["-n", "0"]), count(&["--from", "5"])), (10, 3, 0, 15));
    sandbox.run(&["tail", "-n", "3", "--from", "5"]).says(2, "cannot be used with").clear();
    add(&sandbox.log(), event(20).trim_end());
    assert_eq!(
        sandbox.run(&["tail", "-n", "1", "--format", "{seq}"]).ends(0),
        "19\n",
        "no line without its newline"
    );
}

/// G 95, H 117.
#[test]
fn a_partial_line_is_printed_once_and_only_when_it_is_whole() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), event(0));
    let follower = Follower::of(&sandbox);
    follower.prints(&["0"]);
    let line = event(1);
    for piece in line.as_bytes().chunks(40) {
        add(&sandbox.log(), piece);
        follower.looks();
    }
    follower.prints(&["0", "1"]);
    // A short write that is taken back, and another line in its place.
    add(&sandbox.log(), &line[..30]);
    follower.looks();
    std::fs::OpenOptions::new().write(true).open(sandbox.log()).unwrap().set_len(events(2).len() as u64).unwrap();
    add(&sandbox.log(), event(2));
    follower.prints(&["0", "1", "2"]);
    assert_eq!(follower.errors(), "");
}

#[test]
fn the_log_and_even_the_run_may_come_later() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["tail", "-f", "--run", "later", "--format", "{seq}"]);
    command.env("WT_STORE", sandbox.path().join("new/store"));
    let follower = Follower::start(command);
    follower.looks();
    for _ in 0..2 {
        let mut append = sandbox.command(&["append", "--type", "t", "--run", "later"]);
        append.env("WT_STORE", sandbox.path().join("new/store"));
        crate::sandbox::run(append).ends(0).clear();
    }
    follower.prints(&["0", "1"]);
    assert_eq!(follower.errors().matches("there is no run 'later'").count(), 1);
}

/// H 119: an event between the look and the wait.
#[test]
fn no_wake_up_is_lost() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), event(0));
    put(&sandbox.path().join("next"), event(1));
    let mut command = sandbox.command(&["tail", "-f", "--from", "0", "--format", "{seq}"]);
    command.env("WT_TEST_HOOK", format!("events-drained=cat next >> {}", sandbox.log().display()));
    let follower = Follower::start(command);
    follower.prints(&["0", "1"]);
}

/// H 119: more happens than the kernel remembers.
#[test]
fn an_overflow_of_the_watch_loses_nothing() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), event(0));
    let follower = Follower::of(&sandbox);
    follower.prints(&["0"]);
    let limit = std::fs::read("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = String::from_utf8(limit).unwrap().trim().parse().unwrap();
    follower.while_stopped(|| {
        let noise = sandbox.run_dir().join("noise");
        for _ in 0..limit.min(20_000) {
            put(&noise, "");
            rustix::fs::unlink(&noise).unwrap();
        }
        add(&sandbox.log(), event(1));
    });
    follower.prints(&["0", "1"]);
    assert_eq!(follower.errors(), "");
    add(&sandbox.log(), event(2));
    follower.prints(&["0", "1", "2"]);
}

#[test]
fn waiting_costs_no_time() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(3));
    let follower = Follower::of(&sandbox);
    follower.prints(&["0", "1", "2"]);
    follower.looks();
    let ticks = || {
        let stat = std::fs::read(format!("/proc/{}/stat", follower.child.id())).unwrap();
        let stat = String::from_utf8(stat).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let (naps, before, begun) = (follower.naps(), ticks(), std::time::Instant::now());
    until("some polls", || follower.naps() >= naps + 2);
    assert!(begun.elapsed().as_millis() > 900, "it looks {:?} after it looked", begun.elapsed());
    assert!(ticks() - before <= 1, "{} ticks for two looks", ticks() - before);
}

/// H 115.
#[test]
fn a_log_that_is_cut_is_named() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(3));
    let follower = Follower::of(&sandbox);
    follower.prints(&["0", "1", "2"]);
    let cut = |len: u64| std::fs::OpenOptions::new().write(true).open(sandbox.log()).unwrap().set_len(len).unwrap();
    // To two whole lines and a piece of the third, which is then healed.
    cut(events(2).len() as u64 + 5);
    follower.says("was cut from");
    assert_eq!(sandbox.append(), 2);
    follower.prints(&["0", "1", "2", "2"]);
    follower.says("duplicate-seq: 2 was there before");
    cut(0);
    follower.looks();
    assert_eq!(sandbox.append(), 0);
    follower.prints(&["0", "1", "2", "2", "0"]);
}

#[test]
fn a_log_that_is_cut_and_grows_past_the_old_place_is_named() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(2));
    let follower = Follower::of(&sandbox);
    follower.prints(&["0", "1"]);
    follower.while_stopped(|| put(&sandbox.log(), events(4).replace("\"t\"", "\"other\"")));
    follower.prints(&["0", "1", "0", "1", "2", "3"]);
    follower.says("was overwritten; reading begins again at its start");
}

#[test]
fn a_log_that_is_replaced_is_drained_first() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(2));
    let follower = Follower::of(&sandbox);
    follower.prints(&["0", "1"]);
    let next = sandbox.run_dir().join("next");
    let replace = || rustix::fs::rename(&next, sandbox.log()).unwrap();
    // By a copy of itself that has grown.
    follower.while_stopped(|| {
        put(&next, events(4));
        add(&sandbox.log(), event(2));
        replace();
    });
    follower.says("was replaced; reading goes on at byte");
    follower.prints(&["0", "1", "2", "3"]);
    // By another log.
    follower.while_stopped(|| {
        put(&next, events(2).replace("\"t\"", "\"other\""));
        add(&sandbox.log(), event(4));
        replace();
    });
    follower.prints(&["0", "1", "2", "3", "4", "0", "1"]);
    rustix::fs::unlink(sandbox.log()).unwrap();
    follower.says("was removed; waiting for another one");
    assert_eq!(sandbox.append(), 0);
    follower.prints(&["0", "1", "2", "3", "4", "0", "1", "0"]);
}

#[test]
fn numbers_that_do_not_follow_are_named() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(2));
    let mut follower =
        Follower::start(sandbox.command(&["tail", "--until-done", "--from", "0", "--format", "{seq}"]));
    follower.prints(&["0", "1"]);
    add(&sandbox.log(), event(5));
    follower.prints(&["0", "1", "5"]);
    follower.says("missing-seq: 2 to 4 missing before 5");
    add(&sandbox.log(), event(6).replace("\"t\"", "\"run_finished\""));
    assert_eq!(follower.ends(), 3);
}

#[test]
fn until_done_ends_with_the_run_and_not_with_an_earlier_end() {
    let sandbox = Sandbox::new();
    let types = ["run_started", "run_failed", "run_resumed"];
    for (seq, kind) in (0..).zip(types) {
        add(&sandbox.log(), event(seq).replace("\"t\"", &format!("\"{kind}\"")));
    }
    let mut follower = Follower::start(sandbox.command(&["tail", "--until-done", "-n", "1", "--format", "{type}"]));
    follower.prints(&["run_resumed"]);
    follower.looks();
    sandbox.run(&["append", "--type", "node_started"]).ends(0).clear();
    sandbox.run(&["append", "--type", "run_cancelled"]).ends(0).clear();
    assert_eq!(follower.ends(), 0);
    follower.prints(&["run_resumed", "node_started", "run_cancelled"]);
    // The end may lie before what is printed.
    add(&sandbox.log(), event(5));
    let out = sandbox.run(&["tail", "--until-done", "-n", "1", "--format", "{seq}"]).ends(0);
    assert_eq!(out, "5\n");
}

#[test]
fn it_ends_when_nobody_reads_even_if_nothing_comes() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(1));
    let mut shell = sandbox.other("sh");
    let script = "{ \"$0\" tail -f --from 0; echo $? >status; } | head -n 1";
    shell.args(["-c", script, crate::sandbox::BIN]);
    assert_eq!(crate::sandbox::run(shell).ends(0).lines().count(), 1);
    let status = sandbox.path().join("status");
    until("its end", || std::fs::read(&status).is_ok_and(|code| code == b"141\n"));
}

/// Not every writer of a status appends an event.
#[test]
fn until_done_ends_where_the_document_says_so() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(2));
    sandbox.put("run.json", r#"{"id":"r","status":"running","cas_version":1}"#);
    let mut follower =
        Follower::start(sandbox.command(&["tail", "--until-done", "--from", "0", "--format", "{seq}"]));
    follower.prints(&["0", "1"]);
    follower.looks();
    add(&sandbox.log(), event(2));
    run(sandbox.program(&["run-record", "set-status", "finished"])).ends(0).clear();
    assert_eq!(follower.ends(), 0);
    follower.prints(&["0", "1", "2"]);
    assert_eq!(sandbox.run(&["tail", "--until-done", "-n", "1", "--format", "{seq}"]).ends(0), "2\n");
}

#[test]
fn who_waits_for_a_run_that_is_not_there_is_told() {
    let sandbox = Sandbox::new();
    let absent = ["tail", "--until-done", "--run", "nobody"];
    sandbox.run(&absent).says(2, "there is no run 'nobody'");
    let follower = Follower::start(sandbox.command(&["tail", "-f", "--format", "{seq}", "--run", "nobody"]));
    follower.says("there is no run 'nobody'");
    sandbox.run(&["append", "--type", "t", "--run", "nobody"]).ends(0).clear();
    follower.prints(&["0"]);
    drop(follower);
    // Deleted while somebody waits for its end.
    let mut follower = Follower::start(sandbox.command(&["tail", "--until-done", "--run", "nobody"]));
    follower.looks();
    run(sandbox.program(&["run-delete", "--force", "nobody"])).ends(0).clear();
    assert_eq!(follower.ends(), 2);
}
