//! `run-interaction` (facts 4.2, cases I).

use serde_json::json;

use crate::sandbox::Sandbox;
use crate::shell::{events, feed, go, json, stored, with_status};

fn ask(sandbox: &Sandbox, line: &[&str]) -> serde_json::Value {
    json(sandbox, &[&["run-interaction", "ask"], line].concat())
}

/// I 106.
#[test]
fn a_question_has_the_form_of_the_original() {
    let sandbox = with_status("running");
    let receipt = ask(&sandbox, &["review", r#"{"approved":"Ship?"}"#]);
    assert_eq!(receipt, json!({"id":"r_review","state":"open","new":true,"event":0}));
    let document = stored(&sandbox, "interactions/r_review.json");
    let keys: Vec<_> = document.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys.len(), 5, "{keys:?}");
    assert_eq!(document["questions"], json!({"approved":"Ship?"}));
    assert_eq!(ask(&sandbox, &["review", "{\"q\":1}", "--iteration", "2", "--kind", "async"])["id"], "r_review_2");
    assert_eq!(ask(&sandbox, &["gate", r#"{"wait":["a"]}"#, "--kind", "await", "--tenant", "t"])["id"], "r_gate");
    let gate = std::fs::read(sandbox.run_dir().join("interactions/r_gate.json")).unwrap();
    let gate = String::from_utf8(gate).unwrap();
    assert!(gate.starts_with("{\n  \"id\": \"r_gate\",\n  \"run_id\": \"r\",\n  \"node_id\": \"gate\",\n  \"kind\": \"await\",\n  \"requested_at\""), "{gate}");
    assert!(gate.ends_with("\"tenant_id\": \"t\"\n}"), "{gate}");
    assert_eq!(
        events(&sandbox, "human_*"),
        [
            r#"human_input_requested review {"interaction_id":"r_review","questions":{"approved":"Ship?"}}"#,
            r#"human_input_requested review {"interaction_id":"r_review_2","questions":{"q":1},"async":true}"#,
            r#"human_input_requested gate {"interaction_id":"r_gate","questions":{"wait":["a"]}}"#,
        ]
    );
}

/// I 108: the same question again is the same question.
#[test]
fn asking_again_changes_nothing() {
    let sandbox = Sandbox::new();
    ask(&sandbox, &["n", "{\"q\":1}"]);
    let before = std::fs::read(sandbox.run_dir().join("interactions/r_n.json")).unwrap();
    assert_eq!(ask(&sandbox, &["n", "{\"q\":1}"]), json!({"id":"r_n","state":"open","new":false,"event":0}));
    for other in
        [&["n", "{\"q\":2}"][..], &["n", "{\"q\":1}", "--kind", "async"], &["m", "{\"q\":1}", "--id", "r_n"]]
    {
        go(&sandbox, &[&["run-interaction", "ask"], other].concat()).says(6, "another interaction 'r_n'");
    }
    assert_eq!(std::fs::read(sandbox.run_dir().join("interactions/r_n.json")).unwrap(), before);
    go(&sandbox, &["run-interaction", "answer", "r_n", "{}"]).ends(0).clear();
    go(&sandbox, &["run-interaction", "ask", "n", "{\"q\":1}"]).says(6, "answered");
    for (bad, why) in [("x/y", "interaction id"), (".x", "interaction id"), ("", "interaction id")] {
        go(&sandbox, &["run-interaction", "ask", "n", "{}", "--id", bad]).says(2, why);
    }
}

/// I 107, 113.
#[test]
fn what_is_pending_is_listed_oldest_first() {
    let sandbox = Sandbox::new();
    ask(&sandbox, &["n", "{}", "--id", "z", "--kind", "async"]);
    ask(&sandbox, &["m", "{}", "--id", "b", "--kind", "async"]);
    ask(&sandbox, &["n", "{}", "--id", "c", "--kind", "async"]);
    ask(&sandbox, &["n", "{}", "--id", "d", "--kind", "async"]);
    ask(&sandbox, &["n", "{}", "--id", "block"]);
    ask(&sandbox, &["n", "{}", "--id", "a", "--kind", "async"]);
    json(&sandbox, &["run-interaction", "answer", "c", "{}"]);
    assert_eq!(json(&sandbox, &["run-interaction", "retire", "d"]), json!({"id":"d","state":"retired","new":true}));
    assert_eq!(json(&sandbox, &["run-interaction", "retire", "d"])["new"], false);
    let ids = |more: &[&str]| {
        let out = go(&sandbox, &[&["run-interaction", "list"], more].concat()).ends(0);
        out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--pending", "--async"]), ["z", "b", "a"]);
    assert_eq!(ids(&["--pending", "--async", "--node", "n"]), ["z", "a"]);
    assert_eq!(ids(&["--answered", "--async"]), ["c"]);
    assert_eq!(ids(&["--pending"]), ["z", "b", "block", "a"]);
    assert_eq!(ids(&[]), ["a", "b", "block", "c", "d", "z"]);
    sandbox.put("interactions/bad.json", "{");
    let listed = go(&sandbox, &["run-interaction", "list"]);
    assert_eq!(listed.says(3, "interaction bad is left out").lines().count(), 6);
}

/// I 109.
#[test]
fn the_first_answer_stays() {
    let sandbox = Sandbox::new();
    ask(&sandbox, &["n", "{\"q\":1}"]);
    ask(&sandbox, &["n", "{\"q\":1}", "--id", "later", "--kind", "async"]);
    assert!(
        feed(&sandbox, &["run-interaction", "answer", "r_n", "-"], "{\"a\":1}")
            .ends(0)
            .contains("\"state\":\"answered\"")
    );
    let before = std::fs::read(sandbox.run_dir().join("interactions/r_n.json")).unwrap();
    go(&sandbox, &["run-interaction", "answer", "r_n", "{\"a\":2}"]).says(6, "was answered at");
    go(&sandbox, &["run-interaction", "answer", "r_n", "{\"a\":1}"]).says(6, "was answered at");
    assert_eq!(std::fs::read(sandbox.run_dir().join("interactions/r_n.json")).unwrap(), before);
    json(&sandbox, &["run-interaction", "answer", "later", "{\"a\":3}"]);
    go(&sandbox, &["run-interaction", "answer", "none", "{}"]).says(2, "no interaction 'none'");
    json(&sandbox, &["run-interaction", "retire", "later"]);
    let refusal = go(&sandbox, &["run-interaction", "answer", "later", "{}", "--json"]).says(6, "retired");
    assert!(refusal.contains("\"state\":\"retired\""), "{refusal}");
    assert_eq!(
        events(&sandbox, "*answer*"),
        [
            r#"human_answers_recorded n {"interaction_id":"r_n","answers":{"a":1}}"#,
            r#"interaction_answered n {"interaction_id":"later","node_id":"n","async":true}"#,
        ]
    );
}

/// I 110: a review goes on in the same interaction.
#[test]
fn a_review_has_turns() {
    let sandbox = Sandbox::new();
    ask(&sandbox, &["review", "{\"ok\":\"?\"}"]);
    let turn = |more: &[&str]| go(&sandbox, &[&["run-interaction", "turn", "r_review"], more].concat());
    turn(&["companion", "--content", "Run it."]).ends(0).clear();
    turn(&["human", "--verdict", "{\"decision\":\"no\"}", "--expect", "1"]).ends(0).clear();
    turn(&["human", "--verdict", "{\"decision\":\"no\"}", "--expect", "1"]).ends(0).clear();
    turn(&["human", "--content", "else", "--expect", "1"]).says(6, "has 2 turns, not 1");
    turn(&["human"]).ends(2).clear();
    json(&sandbox, &["run-interaction", "answer", "r_review", "{\"ok\":false}"]);
    turn(&["companion", "--content", "again"]).says(6, "answered");
    turn(&["companion", "--content", "again", "--reopen"]).ends(0).clear();
    let document = stored(&sandbox, "interactions/r_review.json");
    assert_eq!(document["turns"].as_array().unwrap().len(), 3);
    assert_eq!(document["turns"][1]["verdict"], json!({"decision":"no"}));
    assert!(document.get("answered_at").is_none() && document.get("answers").is_none());
    json(&sandbox, &["run-interaction", "answer", "r_review", "{\"ok\":true}"]);
    assert_eq!(
        events(&sandbox, "review_turn"),
        [
            r#"review_turn review {"interaction_id":"r_review","role":"companion","turn":1}"#,
            r#"review_turn review {"interaction_id":"r_review","role":"human","turn":2}"#,
            r#"review_turn review {"interaction_id":"r_review","role":"companion","turn":3}"#,
        ]
    );
}

/// I 112: what the original wrote, with members that nobody knows.
#[test]
fn an_answer_keeps_what_it_does_not_know() {
    let sandbox = Sandbox::new();
    std::fs::DirBuilder::new().create(sandbox.run_dir().join("interactions")).unwrap();
    let text = concat!(
        "{\n  \"id\": \"i\",\n  \"run_id\": \"r\",\n  \"node_id\": \"n\",\n  \"requested_at\": \"2026-01-01T00:01:00Z\",\n",
        "  \"answered_at\": null,\n  \"questions\": {},\n  \"answers\": {},\n  \"future\": 1.50,\n  \"tenant_id\": \"\"\n}"
    );
    sandbox.put("interactions/i.json", text);
    json(&sandbox, &["run-interaction", "answer", "i", "{\"x\":1.0}", "--no-event"]);
    let after = String::from_utf8(std::fs::read(sandbox.run_dir().join("interactions/i.json")).unwrap()).unwrap();
    let answered = after.lines().find(|line| line.contains("answered_at")).unwrap();
    let expected = text
        .replace("  \"answered_at\": null,", answered)
        .replace("\"answers\": {}", "\"answers\": {\n    \"x\": 1.0\n  }");
    assert_eq!(after, expected);
    assert!(events(&sandbox, "*").is_empty());
}

/// I 111: an answer is stored and told, and is nobody's output; what the node does next is not decided here.
#[test]
fn an_answer_to_a_recovery_pause_changes_nothing_else() {
    let sandbox = with_status("paused_waiting_human");
    let before = std::fs::read(sandbox.run_dir().join("run.json")).unwrap();
    ask(&sandbox, &["n", "{\"AUTH_FAILED\":\"log in\"}", "--kind", "recovery"]);
    json(&sandbox, &["run-interaction", "answer", "r_n", "{\"ok\":true}"]);
    assert_eq!(stored(&sandbox, "interactions/r_n.json")["kind"], "recovery");
    assert_eq!(std::fs::read(sandbox.run_dir().join("run.json")).unwrap(), before);
    assert!(!sandbox.run_dir().join("artifacts").exists());
    assert_eq!(events(&sandbox, "node_*").len(), 0);
}

/// The checkpoint repeats the question in case that its file is lost (facts 4.2).
#[test]
fn a_lost_interaction_is_answered_from_the_checkpoint() {
    let sandbox = Sandbox::new();
    let pause = |id: &str, more: &str| {
        sandbox.sh(&format!("run-record create --run {id} > x
            run-record pause --run {id} --checkpoint '{{\"node_id\":\"gate\"{more}}}' --interaction {id}_gate --questions '{{\"ship\":\"Ship it?\"}}' > x"))
            .ends(0);
    };
    pause("p", "");
    sandbox.call(&["run-interaction", "answer", "p_other", "{}", "--run", "p"]).ends(2);
    let shown = sandbox.call(&["run-show", "p"]).ends(0);
    let answer = "run-interaction answer p_gate '{\"ship\":\"...\"}' --run p";
    assert!(shown.contains(answer) && shown.contains("Ship it?"), "{shown}");
    sandbox.sh(answer).ends(0).clear();
    let text = std::fs::read(sandbox.path().join("store/runs/p/interactions/p_gate.json")).unwrap();
    let stored: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(stored["questions"], json!({"ship":"Ship it?"}));
    assert_eq!((&stored["node_id"], &stored["answers"]), (&json!("gate"), &json!({"ship":"..."})));
    assert!(stored["requested_at"].is_string() && stored.get("kind").is_none(), "{stored}");
    assert_eq!(sandbox.events_of("p")[0]["type"], "human_answers_recorded");
    sandbox.call(&["run-interaction", "answer", "p_gate", "{}", "--run", "p"]).ends(6);
    let shown = sandbox.call(&["run-show", "p"]).ends(0);
    assert!(shown.contains("run-interaction show p_gate /answers --run p"), "{shown}");
    sandbox.call(&["run-record", "set-status", "running", "--run", "p"]).ends(0).clear();
    // What a run has waited for is not asked any more.
    std::fs::remove_file(sandbox.path().join("store/runs/p/interactions/p_gate.json")).unwrap();
    sandbox.call(&["run-interaction", "answer", "p_gate", "{}", "--run", "p"]).ends(2);
    pause("q", ",\"recovery_pause\":true");
    sandbox.call(&["run-interaction", "answer", "q_gate", "{}", "--run", "q"]).ends(0).clear();
    let text = sandbox.call(&["run-interaction", "show", "q_gate", "/kind", "--run", "q"]).ends(0);
    assert!(text.contains("recovery"), "{text}");
}

/// A run that waits goes on with the answer, or by force (facts 2.2).
#[test]
fn a_run_goes_on_only_with_the_answer() {
    let sandbox = Sandbox::new();
    let start = "run-record create --run p > x; run-interaction ask gate '{\"q\":\"?\"}' --run p > x
        run-record pause --run p --checkpoint '{\"node_id\":\"gate\"}' --interaction p_gate > x";
    sandbox.sh(start).ends(0);
    let before = sandbox.text_of("p");
    let done = sandbox.call(&["run-record", "set-status", "running", "--run", "p"]);
    assert!(
        done.err.contains("'p_gate' has no answer yet") && done.err.contains("run-interaction answer"),
        "{}",
        done.err
    );
    done.ends(5);
    assert_eq!(sandbox.text_of("p"), before);
    sandbox.call(&["run-record", "set-status", "cancelled", "--run", "p"]).ends(0).clear();
    sandbox.sh(&start.replace("run p", "run q").replace("p_gate", "q_gate")).ends(0);
    sandbox.call(&["run-record", "set-status", "running", "--force", "--run", "q"]).ends(0).clear();
}

#[test]
fn what_is_given_in_another_form_is_shown_the_form() {
    let sandbox = Sandbox::new();
    ask(&sandbox, &["n", "{\"q\":1}"]);
    go(&sandbox, &["run-interaction", "answer", "r_n", "yes"]).says(2, "cannot read the answers as JSON");
    go(&sandbox, &["run-interaction", "answer", "r_n", "true"])
        .says(2, "cannot read the answers as a JSON object; write it like '{\"approved\":true}'");
    go(&sandbox, &["run-interaction", "ask", "m", "Ship it?"]).says(2, "like '{\"approved\":\"Ship it?\"}'");
    go(&sandbox, &["run-interaction", "answer", "r_n", "@nowhere"]).says(2, "cannot open 'nowhere'");
}
