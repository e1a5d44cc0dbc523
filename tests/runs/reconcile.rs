//! `run-reconcile`: cases M, and the promise that a live run is never reaped.
#![allow(clippy::disallowed_methods, reason = "a test makes its files with its own hands")]

use std::process::Stdio;

use crate::sandbox::{Sandbox, event, put, run, until};

/// What the program says of each run, without details.
fn verdicts(sandbox: &Sandbox, options: &[&str]) -> String {
    let out = sandbox.call(&[&["run-reconcile", "--all"], options].concat()).ends(0);
    let words = out.lines().map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" "));
    words.collect::<Vec<_>>().join(", ")
}

const CHILD: &str = ",\n  \"parent_run_id\": \"root\",\n  \"parent_node_id\": \"n\"";
const GRANDCHILD: &str = ",\n  \"parent_run_id\": \"child\",\n  \"parent_node_id\": \"n\"";

/// Case 137.
#[test]
fn a_live_process_keeps_its_run_and_its_end_ends_it() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    let mut process = std::process::Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    sandbox.put(".pid", format!("{}\n", process.id()));
    let before = sandbox.text_of("r");
    assert_eq!(verdicts(&sandbox, &[]), "attached r");
    assert_eq!((sandbox.text_of("r"), sandbox.names_of("r")), (before, vec![".pid".into(), "run.json".into()]));
    process.kill().unwrap();
    // It has ended, and its parent has not noticed yet.
    until("it has ended", || {
        std::fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap().contains(") Z ")
    });
    assert_eq!(verdicts(&sandbox, &["--dry-run"]), "orphaned r");
    process.wait().unwrap();
    assert_eq!(verdicts(&sandbox, &[]), "orphaned r");
    assert!(!sandbox.run_dir().join(".pid").exists());
    assert_eq!(
        sandbox.json_of("r")["error"],
        format!("the process {} that executed the run has ended", process.id())
    );
}

/// Case 138: the number of a dead process was given to another one.
#[test]
fn a_process_with_the_same_number_is_another_one() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    // Two that began within one tick of the kernel's clock cannot be told apart.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let began: f64 = stat.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap().parse().unwrap();
    until("another tick", || {
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        uptime.split(' ').next().unwrap().parse::<f64>().unwrap() * 100.0 > began + 1.0
    });
    let engine = sandbox.engine("r", &["--pid"]);
    let named = std::fs::read_to_string(sandbox.run_dir().join(".pid")).unwrap();
    drop(engine);
    let own = std::process::id().to_string();
    let number = named.lines().next().unwrap();
    sandbox.put(".pid", named.replacen(number, &own, 1));
    assert_eq!(verdicts(&sandbox, &["-n"]), "orphaned r", "it began at another time");
    sandbox.put(".pid", format!("{own}\n"));
    assert_eq!(verdicts(&sandbox, &["-n"]), "attached r", "nothing tells them apart");
    sandbox.put(".pid", format!("{own}\nboot another\nhost elsewhere\n"));
    assert_eq!(verdicts(&sandbox, &["-n"]), "orphaned r", "what cannot be seen is left to the lock");
    // Case 133: what names nobody is no process.
    for text in ["", "not-a-number", "0", "-5", "\u{0}"] {
        sandbox.put(".pid", text);
        assert_eq!(verdicts(&sandbox, &["-n"]), "orphaned r", "{text:?}");
    }
    sandbox.put(".pid", format!("  {own}  "));
    assert_eq!(verdicts(&sandbox, &["-n"]), "attached r");
}

/// Case 139.
#[test]
fn an_orphan_is_ended_once_with_one_event() {
    let sandbox = Sandbox::new();
    let more = ",\n  \"outcome_seq\": 4,\n  \"checkpoint\": {\"node_id\": \"n\", \"outputs\": {\"a\": 1.50}},\n  \"later\": [1, 2]";
    sandbox.make("r", "running", more);
    put(&sandbox.log(), event(0));
    let out = sandbox.call(&["run-reconcile", "--json"]).ends(0);
    assert_eq!(
        out,
        "{\"run\":\"r\",\"verdict\":\"orphaned\",\"detail\":\"nobody executes it\",\"done\":true,\"outcome_seq\":5,\"event_seq\":1,\"cas_version\":4}\n"
    );
    let text = sandbox.text_of("r");
    for part in [
        "\"status\": \"failed_resumable\"",
        "\"failure_code\": \"PROCESS_ORPHANED\"",
        "\"outcome_seq\": 5",
        "\"finished_at\": \"",
        "\"cas_version\": 4",
        "1.50",
        "\"later\": [\n",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let events = sandbox.events_of("r");
    assert_eq!(events.len(), 2);
    assert_eq!((&*events[1]["type"].to_string(), events[1]["seq"].as_u64()), ("\"run_interrupted\"", Some(1)));
    let data = &events[1]["data"];
    assert_eq!(
        (&data["source"], &data["code"], &data["outcome_seq"]),
        (&"orphan_reconcile".into(), &"PROCESS_ORPHANED".into(), &5.into())
    );
    assert!(data["reason"].as_str().unwrap().contains("no process executes"));
    assert_eq!(verdicts(&sandbox, &[]), "", "nothing is left to do");
    assert_eq!((sandbox.text_of("r"), sandbox.events_of("r").len()), (text, 2));
}

/// Case 140: both code lines of the original, one rule: the entry is a restart marker too.
#[test]
fn an_orphan_without_a_checkpoint_or_a_log_is_resumable_too() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    assert_eq!(verdicts(&sandbox, &[]), "orphaned r");
    assert_eq!(sandbox.json_of("r")["status"], "failed_resumable");
    assert_eq!(sandbox.events_of("r").len(), 1);
}

/// Case 141, with the freshness of events.
#[test]
fn a_run_that_has_just_shown_itself_is_left_alone() {
    let sandbox = Sandbox::new();
    let now = || sandbox.sh("date -u +%Y-%m-%dT%H:%M:%S.%NZ").ends(0).trim().to_owned();
    let document = crate::life::document("r", "running", "");
    sandbox.put("run.json", document.replacen("2020-01-01T00:00:00Z", &now(), 1));
    assert_eq!(verdicts(&sandbox, &[]), "young r");
    assert_eq!(verdicts(&sandbox, &["--grace", "0"]), "orphaned r");
    // An old run with a new event.
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    sandbox.append();
    let before = sandbox.text_of("r");
    assert_eq!(verdicts(&sandbox, &[]), "young r");
    assert_eq!(sandbox.text_of("r"), before);
    put(&sandbox.log(), event(0).replace("2026-01-01", "2099-01-01"));
    assert_eq!(verdicts(&sandbox, &[]), "young r", "a time in the future");
    put(&sandbox.log(), event(0));
    assert_eq!(verdicts(&sandbox, &[]), "orphaned r", "an old event");
}

/// Case 143.
#[test]
fn children_live_as_long_as_the_run_that_waits_for_them() {
    let sandbox = Sandbox::new();
    sandbox.make("root", "running", "");
    sandbox.make("child", "running", CHILD);
    sandbox.make("grandchild", "running", GRANDCHILD);
    let engine = sandbox.engine("root", &[]);
    for _ in 0..3 {
        assert_eq!(verdicts(&sandbox, &[]), "followed child, followed grandchild, live root");
    }
    drop(engine);
    assert_eq!(verdicts(&sandbox, &[]), "orphaned child, orphaned grandchild, orphaned root");
    for id in ["root", "child", "grandchild"] {
        assert_eq!(
            (sandbox.json_of(id)["status"].as_str(), sandbox.events_of(id).len()),
            (Some("failed_resumable"), 1)
        );
    }
}

/// Case 144: an asynchronous link, a missing ancestor, a circle and an ancestor that cannot be read.
#[test]
fn only_who_is_waited_for_follows() {
    let sandbox = Sandbox::new();
    sandbox.make("root", "running", "");
    sandbox.make("child", "running", ",\"parent_run_id\":\"root\"");
    sandbox.make("lost", "running", ",\"parent_run_id\":\"nobody\",\"parent_node_id\":\"n\"");
    sandbox.make("ring-a", "running", ",\"parent_run_id\":\"ring-b\",\"parent_node_id\":\"n\"");
    sandbox.make("ring-b", "running", ",\"parent_run_id\":\"ring-a\",\"parent_node_id\":\"n\"");
    let _engine = sandbox.engine("root", &[]);
    assert_eq!(
        verdicts(&sandbox, &["-n"]),
        "orphaned child, orphaned lost, orphaned ring-a, orphaned ring-b, live root"
    );
    put(&sandbox.make("torn", "running", "").join("run.json"), "{\"status\":");
    sandbox.make("child", "running", ",\"parent_run_id\":\"torn\",\"parent_node_id\":\"n\"");
    let done = sandbox.call(&["run-reconcile", "--all"]);
    assert!(done.err.contains("run 'child': ") && done.err.contains("run 'torn': "), "{}", done.err);
    assert!(!done.out.contains("child") && done.out.contains("orphaned\tlost"), "{}", done.out);
    assert_eq!(sandbox.json_of("child")["status"], "running");
    done.ends(3);
}

/// Case 145.
#[test]
fn a_watch_tells_changes_and_ends_in_order() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    let engine = sandbox.engine("r", &[]);
    let out = sandbox.path().join("out");
    let mut command = sandbox.program(&["run-reconcile", "--all", "--watch=10ms"]);
    let mut watch = command.stdin(Stdio::null()).stdout(std::fs::File::create(&out).unwrap()).spawn().unwrap();
    let said = || std::fs::read_to_string(&out).unwrap();
    until("it is seen", || said().contains("live\tr"));
    drop(engine);
    until("it is ended", || said().contains("orphaned\tr"));
    sandbox.make("s", "running", "");
    until("a new one is seen", || said().contains("orphaned\ts"));
    let pid = rustix::process::Pid::from_child(&watch);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    assert_eq!(said().lines().count(), 3, "{}", said());
}

/// Case 146: stopped in the middle of a scan, it settles the run at hand and no other; told twice, it ends at once.
#[test]
fn a_watch_that_is_told_to_stop_waits_for_the_run_at_hand_only() {
    for (times, left) in [(1, ["failed_resumable", "running"]), (2, ["running", "running"])] {
        let sandbox = Sandbox::new();
        sandbox.make("a", "running", "");
        sandbox.make("b", "running", "");
        let signal = "kill -TERM $PPID; sleep 0.2;".repeat(times);
        let done = sandbox.hooked(&["run-reconcile", "--all", "--watch=1h"], "reconcile-judged", &signal);
        assert_eq!(done.code, if times == 1 { 0 } else { 143 }, "{}", done.err);
        assert_eq!(["a", "b"].map(|id| sandbox.json_of(id)["status"].as_str().unwrap().to_owned()), left);
    }
}

#[test]
fn the_interval_comes_from_the_environment_and_zero_switches_it_off() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    for (interval, option) in [("0", "--watch"), ("-5s", "--watch"), ("1h", "--watch=0"), ("1h", "--watch=-1s")] {
        let mut command = sandbox.program(&["run-reconcile", "-n", "--all", option]);
        command.env("ITERION_ORPHAN_RECONCILE_INTERVAL", interval);
        run(command).says(0, "looking once");
    }
    sandbox.call(&["run-reconcile", "--all", "--watch=soon"]).says(2, "a span of time is written as");
    // What cannot be read counts as not set: it goes on, until it is told to stop.
    let mut command = sandbox.program(&["run-reconcile", "--all", "--watch"]);
    command.env("ITERION_ORPHAN_RECONCILE_INTERVAL", "soon");
    command.env("WT_TEST_HOOK", "reconcile-explained=kill -TERM $PPID");
    run(command).ends(0);
}

/// Case 147, forced: between the look and the lock.
#[test]
fn what_changes_between_the_look_and_the_lock_stays() {
    let settle = |moment: &str, script: &str| {
        let sandbox = Sandbox::new();
        sandbox.make("r", "running", "");
        sandbox.make("other", "finished", "");
        let out = sandbox.hooked(&["run-reconcile", "--run", "r"], moment, script).ends(0);
        assert_eq!(sandbox.events_of("r").iter().filter(|event| event["type"] == "run_interrupted").count(), 0);
        (
            out.split('\t').next().unwrap_or_default().to_owned(),
            sandbox.json_of("r")["status"].as_str().unwrap().to_owned(),
        )
    };
    let ends = "sed s/other/r/ store/runs/other/run.json > x && mv x store/runs/r/run.json";
    assert_eq!(settle("reconcile-judged", ends), ("idle".into(), "finished".into()));
    let shows_itself = "run-events append --run r --type node_started > x";
    assert_eq!(settle("reconcile-judged", shows_itself), ("young".into(), "running".into()));
    let attaches = "(sleep 20 <&- >&- 2>&- & echo $! > store/runs/r/.pid)";
    assert_eq!(settle("reconcile-judged", attaches), ("attached".into(), "running".into()));
    let begins = "run-lock --run r -- sh -c 'touch held; exec sleep 20' <&- >&- 2>&- & while [ ! -e held ]; do sleep 0.01; done";
    assert_eq!(settle("reconcile-judged", begins), ("live".into(), "running".into()));
    // The status is read again under the lock of the document too.
    assert_eq!(settle("run-lock-opened", ends), ("idle".into(), "finished".into()));
}

/// While an orphan is being ended no engine begins, and of two who end it one does.
#[test]
fn nobody_gets_in_between() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    let begin = "run-lock --run r -- touch ran; echo $? > code";
    sandbox.hooked(&["run-reconcile", "--run", "r"], "reconcile-explained", begin).ends(0);
    assert_eq!(std::fs::read_to_string(sandbox.path().join("code")).unwrap(), "6\n");
    assert!(!sandbox.path().join("ran").exists());
    for (moment, first, second) in
        [("reconcile-judged", "idle\t", "orphaned\t"), ("reconcile-explained", "orphaned\t", "live\t")]
    {
        let sandbox = Sandbox::new();
        sandbox.make("r", "running", "");
        let out =
            sandbox.hooked(&["run-reconcile", "--run", "r"], moment, "run-reconcile --run r > second").ends(0);
        let other = std::fs::read_to_string(sandbox.path().join("second")).unwrap();
        assert!(out.starts_with(first) && other.starts_with(second), "{moment}: {out}{other}");
        assert_eq!(
            (sandbox.events_of("r").len(), sandbox.json_of("r")["outcome_seq"].as_i64()),
            (1, Some(1)),
            "{moment}"
        );
    }
}

/// Case 148: whoever holds the lock is left alone, also one whose `.pid` names a process that is gone.
#[test]
fn a_held_lock_outlives_the_process_that_took_it() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    let mut engine = sandbox.engine("r", &["--pid"]);
    engine.kill_outer();
    assert!(sandbox.run_dir().join(".pid").exists(), "nobody has removed it");
    assert_eq!(verdicts(&sandbox, &[]), "live r");
    assert_eq!(sandbox.json_of("r")["status"], "running");
    engine.kill_inner();
    until("the lock is free", || verdicts(&sandbox, &["-n"]) == "orphaned r");
    assert_eq!(verdicts(&sandbox, &[]), "orphaned r");
    assert!(!sandbox.run_dir().join(".pid").exists());
}

#[test]
fn on_a_network_file_system_a_free_lock_proves_nothing() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    let on_nfs = |options: &[&str]| {
        let mut command = sandbox.program(&[&["run-reconcile", "--all"], options].concat());
        command.env("WT_TEST_FILE_SYSTEM", "6969");
        run(command).ends(0)
    };
    assert_eq!(on_nfs(&[]), "unsure\tr\ton NFS a lock may be held and not be seen\n");
    assert_eq!(sandbox.json_of("r")["status"], "running");
    assert!(on_nfs(&["--trust-locks"]).starts_with("orphaned\tr"));
}

#[test]
fn a_dry_run_says_the_same_and_changes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.make("a", "running", "");
    sandbox.make("b", "paused_operator", "");
    sandbox.put(".pid", "1\nstart 1\n");
    let before = crate::life::tree(&sandbox.store());
    let dry = sandbox.call(&["run-reconcile", "--all", "-v", "--dry-run"]).ends(0);
    assert_eq!(crate::life::tree(&sandbox.store()), before);
    assert_eq!(dry, sandbox.call(&["run-reconcile", "--all", "-v"]).ends(0));
    assert_eq!(dry, "orphaned\ta\tnobody executes it\nidle\tb\tpaused_operator\n");
}

#[test]
fn what_must_not_be_written_is_said() {
    let sandbox = Sandbox::new();
    sandbox.call(&["run-reconcile", "--run", "nobody"]).says(2, "there is no run 'nobody'");
    let mut unnamed = sandbox.program(&["run-reconcile"]);
    unnamed.env_remove("WT_RUN");
    run(unnamed).says(2, "no run is named");
    let newer = sandbox.make("r", "running", "").join("run.json");
    put(&newer, sandbox.text_of("r").replace("\"format_version\": 1", "\"format_version\": 2"));
    sandbox.call(&["run-reconcile"]).says(5, "format version 2");
    assert!(sandbox.events_of("r").is_empty(), "no event without its status");
    sandbox.put(".deleted", "");
    sandbox.call(&["run-reconcile"]).says(2, "was deleted");
    assert_eq!(verdicts(&sandbox, &[]), "");
}

/// Facts 10.29: the event first, and once, whatever happens between the two.
#[test]
fn any_effect_may_fail_or_be_the_last() {
    for fault in ["kill", "ENOSPC", "EIO"] {
        let mut reached = 0;
        for nth in 1.. {
            let sandbox = Sandbox::new();
            sandbox.make("r", "running", ",\n  \"later\": {\"x\": 1.0}");
            sandbox.put(".pid", "1\nstart 1\n");
            let (fired, done) = sandbox.disturbed(&["run-reconcile", "--run", "r"], nth, fault);
            if !fired {
                done.ends(0);
                break;
            }
            reached = nth;
            let is_ended = sandbox.json_of("r")["status"] == "failed_resumable";
            let explained = sandbox.events_of("r").len();
            assert!(explained <= 1 && (!is_ended || explained == 1), "{fault} at {nth}: the event comes first");
            let status = if is_ended { "idle" } else { "orphaned" };
            let out = sandbox.call(&["run-reconcile", "--run", "r"]).ends(0);
            assert!(out.starts_with(status), "{fault} at {nth}: {out}");
            assert_eq!(sandbox.events_of("r").len(), 1, "{fault} at {nth}");
            let json = sandbox.json_of("r");
            assert_eq!(
                (&json["status"], &json["outcome_seq"]),
                (&"failed_resumable".into(), &1.into()),
                "{fault} at {nth}"
            );
            assert!(sandbox.text_of("r").contains("\"x\": 1.0"));
            assert!(!sandbox.run_dir().join(".pid").exists(), "{fault} at {nth}");
            assert!(matches!(sandbox.run(&["check"]).code, 0 | 3), "{fault} at {nth}");
        }
        assert!(reached >= 10, "{fault} reached only {reached} effects");
    }
}

/// An episode that began after the event is another one, and gets its own.
#[test]
fn each_episode_has_its_own_event() {
    let sandbox = Sandbox::new();
    sandbox.make("r", "running", "");
    sandbox.hooked(&["run-reconcile", "--run", "r"], "reconcile-explained", "kill -9 $PPID").ends(137);
    assert_eq!((sandbox.events_of("r").len(), &*sandbox.json_of("r")["status"].to_string()), (1, "\"running\""));
    // An engine that did not care goes on, and dies in its turn.
    let log = sandbox.log_text();
    let resumed = event(1).replace("\"t\"", "\"run_resumed\"");
    put(&sandbox.log(), log + &resumed);
    assert_eq!(verdicts(&sandbox, &[]), "orphaned r");
    assert_eq!(sandbox.events_of("r").len(), 3);
}
