//! Eight processes do the same at the same time. All are held at a lock until all are there.

use std::collections::BTreeSet;
use std::process::{Child, Output, Stdio};

use crate::sandbox::Sandbox;
use crate::shell::{events, feed, go, with_status};

pub(crate) const PROCESSES: usize = 8;

/// Starts a command for each number while `lock` is held, lets go, and waits for all.
pub(crate) fn at_once(
    sandbox: &Sandbox,
    lock: &str,
    count: usize,
    line: impl Fn(usize) -> Vec<String>,
) -> Vec<Output> {
    let path = sandbox.run_dir().join(lock);
    std::fs::DirBuilder::new().recursive(true).create(path.parent().unwrap()).unwrap();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.lock().unwrap();
    let started: Vec<Child> = (0..count)
        .map(|number| {
            let line = line(number);
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let mut command = sandbox.program(&line);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    drop(file);
    started.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

pub(crate) fn codes(outputs: &[Output]) -> Vec<i32> {
    let mut codes: Vec<_> = outputs.iter().map(|output| output.status.code().unwrap()).collect();
    codes.sort_unstable();
    codes
}

pub(crate) fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

pub(crate) fn one_of_eight(other: i32) -> Vec<i32> {
    let mut codes = vec![other; PROCESSES];
    codes[0] = 0;
    codes
}

/// I 109, also where all answer the same.
#[test]
fn one_answer_wins() {
    for same in [false, true] {
        let sandbox = with_status("running");
        go(&sandbox, &["run-interaction", "ask", "n", "{}", "--id", "i"]).ends(0).clear();
        let outputs = at_once(&sandbox, "interactions/.answer.lock", PROCESSES, |number| {
            let number = if same { 0 } else { number };
            words(&["run-interaction", "answer", "i", &format!("{{\"by\":{number}}}")])
        });
        assert_eq!(codes(&outputs), one_of_eight(6));
        let winner = outputs.iter().position(|output| output.status.success()).unwrap();
        let stored = go(&sandbox, &["run-interaction", "show", "i", "/answers/by"]).ends(0);
        assert_eq!(stored.trim(), if same { 0 } else { winner }.to_string());
        assert_eq!(events(&sandbox, "human_answers_recorded").len(), 1);
    }
}

/// K 129.
#[test]
fn one_message_is_queued_once_and_delivered_once() {
    let sandbox = with_status("running");
    let outputs = at_once(&sandbox, ".user_messages_insert_once.lock", PROCESSES, |number| {
        words(&["run-message", "queue-once", "m", &format!("by {number}")])
    });
    assert_eq!(codes(&outputs), one_of_eight(1));
    assert_eq!(events(&sandbox, "user_message_queued").len(), 1);
    for (command, event) in [("deliver", "user_message_delivered"), ("consume", "user_message_consumed")] {
        let outputs = at_once(&sandbox, ".write.lock", PROCESSES, |_| words(&["run-message", command, "m"]));
        assert_eq!(codes(&outputs), one_of_eight(6));
        assert_eq!(events(&sandbox, event).len(), 1);
    }
    let log = std::fs::read(sandbox.run_dir().join("user_messages.jsonl")).unwrap();
    assert_eq!(String::from_utf8(log).unwrap().lines().count(), 3);
}

/// H 107.
#[test]
fn no_version_is_given_twice_and_none_is_lost() {
    let sandbox = with_status("running");
    for round in 0..5 {
        let outputs = at_once(&sandbox, ".write.lock", PROCESSES, |number| {
            words(&["run-artifact", "write", "n", &format!("{{\"by\":\"{round}-{number}\"}}"), "--publish", "p"])
        });
        assert_eq!(codes(&outputs), [0; PROCESSES]);
    }
    let list = go(&sandbox, &["run-artifact", "list", "n"]).ends(0);
    let versions: Vec<usize> = list.lines().map(|line| line.split('\t').nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(versions, (0..5 * PROCESSES).collect::<Vec<_>>());
    let by: BTreeSet<String> = versions
        .iter()
        .map(|version| go(&sandbox, &["run-artifact", "read", "n", &version.to_string(), "/data/by"]).ends(0))
        .collect();
    assert_eq!(by.len(), 5 * PROCESSES);
    let told: BTreeSet<_> = events(&sandbox, "artifact_written").into_iter().collect();
    assert_eq!(told.len(), 5 * PROCESSES);
    let run = crate::shell::stored(&sandbox, "run.json");
    assert_eq!(run["artifact_index"]["n"], 5 * PROCESSES - 1);
    assert_eq!(run["cas_version"], 3 + 5 * PROCESSES);
}

/// K 121.
#[test]
fn plans_of_many_writers_are_all_there() {
    let sandbox = with_status("running");
    let todos = |what: usize| format!("[{{\"content\":\"{what}\",\"status\":\"pending\"}}]");
    let outputs =
        at_once(&sandbox, ".write.lock", PROCESSES, |number| words(&["run-plan", "write", "n", &todos(number)]));
    assert_eq!(codes(&outputs), [0; PROCESSES]);
    let contents: BTreeSet<String> = (1..=PROCESSES)
        .map(|seq| {
            crate::shell::stored(&sandbox, &format!("plans/{seq:04}.json"))["todos"][0]["content"].to_string()
        })
        .collect();
    assert_eq!(contents.len(), PROCESSES);
    let outputs = at_once(&sandbox, ".write.lock", PROCESSES, |_| words(&["run-plan", "write", "n", &todos(99)]));
    let new =
        outputs.iter().filter(|output| String::from_utf8_lossy(&output.stdout).contains("\"new\":true")).count();
    assert_eq!((new, codes(&outputs)), (1, vec![0; PROCESSES]));
    assert_eq!(events(&sandbox, "plan_written").len(), PROCESSES + 1);
}

/// J 123: limits hold for all together.
#[test]
fn attachments_of_many_writers_keep_the_limits() {
    let sandbox = with_status("running");
    for number in 0..PROCESSES {
        crate::sandbox::put(&sandbox.path().join(format!("f{number}")), format!("content {number}"));
    }
    let outputs = at_once(&sandbox, ".write.lock", PROCESSES, |number| {
        words(&["run-attachment", "add", &format!("f{number}"), "--max-files", "3"])
    });
    assert_eq!(codes(&outputs), [0, 0, 0, 7, 7, 7, 7, 7]);
    let listed = go(&sandbox, &["run-attachment", "list"]).ends(0);
    assert_eq!(listed.lines().count(), 3);
    let outputs = at_once(&sandbox, ".write.lock", PROCESSES, |number| {
        words(&["run-attachment", "add", &format!("same=f{number}")])
    });
    assert_eq!(codes(&outputs), one_of_eight(6));
    assert_eq!(crate::shell::stored(&sandbox, "run.json")["attachments"].as_object().unwrap().len(), 4);
    let left: Vec<_> =
        crate::shell::paths(&sandbox).into_iter().filter(|path| path.starts_with(".upload")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// G 99: appends of many writers do not mix.
#[test]
fn what_many_append_to_the_log_is_all_there() {
    let sandbox = with_status("running");
    std::thread::scope(|scope| {
        for number in 0..PROCESSES {
            let sandbox = &sandbox;
            scope.spawn(move || {
                feed(sandbox, &["run-log", "append"], format!("{number}\n").repeat(500)).ends(0).clear();
            });
        }
    });
    let log = go(&sandbox, &["run-log", "read"]).ends(0);
    for number in 0..PROCESSES {
        assert_eq!(log.lines().filter(|line| *line == number.to_string()).count(), 500);
    }
    assert_eq!(log.len(), PROCESSES * 1000);
}
