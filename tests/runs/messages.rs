//! `run-message` (facts 4.6, cases K 129 to 132).

use serde_json::json;

use crate::sandbox::{Sandbox, add, run};
use crate::shell::{events, feed, go, json, with_status};

fn log(sandbox: &Sandbox) -> String {
    String::from_utf8(std::fs::read(sandbox.run_dir().join("user_messages.jsonl")).unwrap_or_default()).unwrap()
}

fn say(sandbox: &Sandbox, line: &[&str]) -> crate::sandbox::Done {
    go(sandbox, &[&["run-message"], line].concat())
}

fn ids(sandbox: &Sandbox, line: &[&str]) -> Vec<String> {
    let done = say(sandbox, line);
    assert!(matches!(done.code, 0 | 3), "{}", done.err);
    done.out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

/// K 130: a message goes its way, and each step is told.
#[test]
fn a_message_is_queued_delivered_and_consumed() {
    let sandbox = with_status("running");
    let receipt = json(
        &sandbox,
        &[
            "run-message",
            "queue",
            "look <here>",
            "--id",
            "m",
            "--node",
            "n",
            "--skill",
            "s",
            "--interaction",
            "i",
            "--tenant",
            "t",
        ],
    );
    assert_eq!(receipt, json!({"id":"m","status":"queued","new":true,"event":0}));
    for step in ["deliver", "consume"] {
        say(&sandbox, &[step, "m"]).ends(0).clear();
    }
    let log = log(&sandbox);
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let queued_at = lines[0]["queued_at"].as_str().unwrap();
    assert_eq!(
        log.lines().next().unwrap(),
        format!(
            r#"{{"id":"m","run_id":"r","text":"look \u003chere\u003e","queued_at":"{queued_at}","status":"queued","tenant_id":"t","node_id":"n","skill_refs":["s"],"interaction_id":"i"}}"#
        )
    );
    let last = log.lines().last().unwrap();
    let order =
        ["\"queued_at\"", "\"delivered_at\"", "\"consumed_at\"", "\"status\":\"consumed\"", "\"tenant_id\""];
    assert!(order.map(|key| last.find(key).unwrap()).is_sorted(), "{last}");
    let told: Vec<_> =
        events(&sandbox, "*").iter().map(|event| event.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(told, ["user_message_queued n", "user_message_delivered n", "user_message_consumed n"]);
    let data = events(&sandbox, "user_message_consumed").remove(0);
    let data: serde_json::Value = serde_json::from_str(data.splitn(3, ' ').last().unwrap()).unwrap();
    assert_eq!(
        (&data["id"], &data["text"], &data["status"]),
        (&json!("m"), &json!("look <here>"), &json!("consumed"))
    );
    assert_eq!(data["delivered_at"], lines[1]["delivered_at"]);
}

/// K 128, 132 (facts 10.22): only from the state before.
#[test]
fn a_step_is_made_from_the_state_before_and_once() {
    let sandbox = Sandbox::new();
    say(&sandbox, &["queue", "x", "--id", "a"]).ends(0).clear();
    say(&sandbox, &["consume", "a"]).says(6, "message 'a' is queued: a message must be delivered");
    say(&sandbox, &["cancel", "a"]).ends(0).clear();
    say(&sandbox, &["cancel", "a"]).says(6, "is cancelled");
    say(&sandbox, &["deliver", "a"]).says(6, "is cancelled");
    say(&sandbox, &["queue", "y", "--id", "b"]).ends(0).clear();
    say(&sandbox, &["deliver", "b"]).ends(0).clear();
    let conflict = say(&sandbox, &["cancel", "b", "--json"]).says(6, "is delivered");
    assert!(conflict.contains("\"status\":\"delivered\""), "{conflict}");
    say(&sandbox, &["deliver", "none"]).says(2, "no message 'none'");
    say(&sandbox, &["queue", "x", "--id", "a"]).says(6, "with this id already");
    say(&sandbox, &["queue", "  "]).says(2, "no text");
    say(&sandbox, &["queue", "x", "--id", "a\nb"]).says(2, "control characters");
    assert_eq!(log(&sandbox).lines().count(), 4);
    let made = json(&sandbox, &["run-message", "queue", "x"])["id"].as_str().unwrap().to_owned();
    let parts: Vec<_> = made.split('_').collect();
    assert!(parts[0] == "msg" && parts[1].len() == 19 && parts[2].len() == 12, "{made}");
}

/// K 129.
#[test]
fn once_is_once_whatever_became_of_it() {
    let sandbox = Sandbox::new();
    say(&sandbox, &["queue-once", "a", "x"]).ends(0).clear();
    let second = say(&sandbox, &["queue-once", "a", "x"]).ends(1);
    assert!(second.contains("\"new\":false"), "{second}");
    say(&sandbox, &["deliver", "a"]).ends(0).clear();
    say(&sandbox, &["consume", "a"]).ends(0).clear();
    say(&sandbox, &["queue-once", "a", "another"]).ends(1).clear();
    say(&sandbox, &["queue-once", "", "x"]).says(2, "no id");
    assert_eq!(log(&sandbox).lines().count(), 3);
    assert_eq!(events(&sandbox, "user_message_queued").len(), 1);
}

/// K 131.
#[test]
fn a_node_drains_what_is_for_it_and_for_the_run() {
    let sandbox = Sandbox::new();
    for (id, node) in [("1", "B"), ("2", ""), ("3", "A"), ("4", "A"), ("5", "")] {
        say(&sandbox, &["queue", "x", "--id", id, "--node", node]).ends(0).clear();
    }
    say(&sandbox, &["deliver", "4"]).ends(0).clear();
    assert_eq!(ids(&sandbox, &["pending", "--node", "A"]), ["2", "3", "5"]);
    assert_eq!(ids(&sandbox, &["pending"]), ["1", "2", "3", "5"]);
    assert_eq!(ids(&sandbox, &["list"]), ["1", "2", "3", "4", "5"]);
    // By the time at which they were sent, not by their place.
    add(
        &sandbox.run_dir().join("user_messages.jsonl"),
        "{\"id\":\"0\",\"text\":\"x\",\"status\":\"queued\",\"queued_at\":\"2020-01-01T00:00:00Z\"}\n",
    );
    assert_eq!(ids(&sandbox, &["pending"])[0], "0");
}

/// C 36: the statuses that take messages.
#[test]
fn a_run_that_has_ended_takes_no_messages() {
    for (status, takes) in [
        ("queued", true),
        ("running", true),
        ("paused_waiting_human", true),
        ("paused_operator", true),
        ("failed_resumable", true),
        ("finished", false),
        ("failed", false),
        ("cancelled", false),
        ("odd", false),
    ] {
        let sandbox = with_status(status);
        let done = say(&sandbox, &["queue", "x"]);
        assert_eq!(done.code, if takes { 0 } else { 5 }, "{status}: {}", done.err);
        assert_eq!(say(&sandbox, &["queue-once", "a", "x"]).code, if takes { 0 } else { 5 });
        assert_eq!(log(&sandbox).is_empty(), !takes);
    }
    let sandbox = Sandbox::new();
    sandbox.put("run.json", "{");
    say(&sandbox, &["queue", "x"]).says(4, "not a JSON object");
}

/// K 134: what a killed writer left is isolated.
#[test]
fn a_torn_tail_gets_a_line_of_its_own() {
    let sandbox = Sandbox::new();
    say(&sandbox, &["queue", "x", "--id", "a"]).ends(0).clear();
    let path = sandbox.run_dir().join("user_messages.jsonl");
    add(&path, "{\"id\":\"torn\",\"te");
    assert_eq!(ids(&sandbox, &["list"]), ["a"]);
    say(&sandbox, &["queue", "y", "--id", "b"]).ends(0).clear();
    let done = say(&sandbox, &["list"]);
    assert!(done.says(0, "line 2 of the messages is left out").lines().count() == 2);
    // A record that only lacks its newline counts.
    add(&path, "{\"id\":\"c\",\"status\":\"queued\"}");
    assert_eq!(ids(&sandbox, &["list"]), ["a", "b", "c"]);
    say(&sandbox, &["deliver", "c"]).ends(0).clear();
    assert_eq!(log(&sandbox).lines().count(), 5);
}

/// K 136 (facts 3.3, 10.4).
#[test]
fn a_corrupt_log_is_not_added_to() {
    let sandbox = Sandbox::new();
    let good = |n: usize| {
        (0..n).map(|n| format!("{{\"id\":\"{n}\",\"status\":\"queued\"}}\n")).collect::<Vec<_>>().concat()
    };
    sandbox.put("user_messages.jsonl", format!("{}x\nx\n", good(4)));
    say(&sandbox, &["list"]).says(3, "line 6 of the messages is left out");
    say(&sandbox, &["queue", "x"]).ends(0).clear();
    for corrupt in [
        format!("{}x\nx\n", good(3)),
        "x\n".into(),
        "x\nx\nx\n".into(),
        format!("{}{}", good(300), "[]\n".repeat(101)),
    ] {
        sandbox.put("user_messages.jsonl", &corrupt);
        say(&sandbox, &["list"]).says(4, "lines are bad");
        say(&sandbox, &["queue", "x"]).says(4, "lines are bad");
        say(&sandbox, &["deliver", "0"]).says(4, "lines are bad");
        assert_eq!(log(&sandbox), corrupt);
    }
}

/// K 138: members that nobody knows stay with their message.
#[test]
fn a_record_keeps_what_is_not_known() {
    let sandbox = Sandbox::new();
    sandbox.put("user_messages.jsonl", "{\"id\":\"a\",\"run_id\":\"r\",\"text\":\"x\",\"queued_at\":\"2026-01-01T00:00:00Z\",\"status\":\"queued\",\"x\":1.50}\n");
    say(&sandbox, &["deliver", "a"]).ends(0).clear();
    assert!(log(&sandbox).lines().last().unwrap().ends_with(",\"status\":\"delivered\",\"x\":1.50}"));
}

/// K 140 (facts 4.6): a message that is not on the disk was not sent.
#[test]
fn a_flush_that_fails_takes_the_message_back() {
    let sandbox = Sandbox::new();
    say(&sandbox, &["queue", "x", "--id", "a"]).ends(0).clear();
    let before = log(&sandbox);
    let trace = sandbox.path().join("trace");
    let fault = |nth: usize| {
        let mut command = sandbox.program(&["run-message", "queue", "y", "--id", "b"]);
        command.env("WT_FSYNC", "on").env("WT_TEST_FAULT", format!("{nth}:EIO")).env("WT_TEST_TRACE", &trace);
        run(command)
    };
    // The first flush of the command is that of the messages.
    let nth = (1..20).find(|nth| {
        std::fs::File::create(&trace).unwrap();
        let done = fault(*nth);
        let effects = String::from_utf8(std::fs::read(&trace).unwrap()).unwrap();
        let last = effects.lines().nth(nth - 1).unwrap_or_default().to_owned();
        if last.starts_with("flush ") && last.ends_with("user_messages.jsonl") {
            done.says(8, "cannot flush");
            return true;
        }
        false
    });
    assert!(nth.is_some());
    assert_eq!(log(&sandbox), before);
    assert_eq!(ids(&sandbox, &["list"]), ["a"]);
}

/// A text above what an event repeats is whole in the log.
#[test]
fn a_long_text_is_cut_in_its_event_only() {
    let sandbox = Sandbox::new();
    let text = "\u{e9}".repeat(700_000);
    feed(&sandbox, &["run-message", "queue", "-", "--id", "a"], &text).ends(0).clear();
    assert!(log(&sandbox).contains(&text));
    let event = events(&sandbox, "user_message_queued").remove(0);
    assert!(event.len() > 1 << 20 && event.len() < (1 << 20) + 500);
    feed(&sandbox, &["run-message", "queue", "-", "--id", "b"], "x".repeat(11 << 20)).says(7, "above the limit");
    assert_eq!(ids(&sandbox, &["list"]), ["a"]);
}

/// K 142: whatever many do at the same time, each message goes its way step by step, and each step is told once.
#[test]
fn many_hands_make_only_steps_that_there_are() {
    const HANDS: u64 = 6;
    const STEPS: u64 = 30;
    let sandbox = with_status("running");
    let successes: usize = std::thread::scope(|scope| {
        let hands: Vec<_> = (0..HANDS)
            .map(|hand| {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    // Numbers that look like chance and are the same every time.
                    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(hand + 1);
                    let steps = (0..STEPS).filter(|_| {
                        state =
                            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let id = ["a", "b", "c", "d", "e", "f", "g", "h"][(state >> 33) as usize % 8];
                        let done = match (state >> 40) % 5 {
                            0 => say(sandbox, &["queue", "x", "--id", id]),
                            1 => say(sandbox, &["queue-once", id, "x"]),
                            2 => say(sandbox, &["deliver", id]),
                            3 => say(sandbox, &["consume", id]),
                            _ => say(sandbox, &["cancel", id]),
                        };
                        assert!(matches!(done.code, 0 | 1 | 2 | 6), "{}: {}", done.code, done.err);
                        done.code == 0
                    });
                    steps.count()
                })
            })
            .collect();
        hands.into_iter().map(|hand| hand.join().unwrap()).sum()
    });
    let mut last = std::collections::HashMap::new();
    let mut told = Vec::new();
    for line in log(&sandbox).lines() {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let (id, status) = (json["id"].as_str().unwrap().to_owned(), json["status"].as_str().unwrap().to_owned());
        let before = last.insert(id.clone(), status.clone());
        let step = (before.as_deref(), &*status);
        let is_there = matches!(
            step,
            (None, "queued") | (Some("queued"), "delivered" | "cancelled") | (Some("delivered"), "consumed")
        );
        assert!(is_there, "{id}: {step:?}");
        told.push(format!("user_message_{status} {id}"));
    }
    assert_eq!(told.len(), successes, "each success is one line");
    let events: Vec<_> = events(&sandbox, "user_message_*")
        .iter()
        .map(|event| {
            let data: serde_json::Value = serde_json::from_str(event.splitn(3, ' ').last().unwrap()).unwrap();
            format!("{} {}", event.split(' ').next().unwrap(), data["id"].as_str().unwrap())
        })
        .collect();
    assert_eq!(events, told, "in the same order");
}
