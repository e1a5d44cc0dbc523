//! `run-route`: facts 9 E, case 71, and what a registry has to withstand.

mod file;
mod list;
mod others;
mod untold;
mod watermark;

use serde_json::{Value, json};

use crate::files_race::{PROCESSES, at_once, codes, one_of_eight, words};
use crate::sandbox::{Done, Sandbox};
use crate::shell::{feed, go, paths, stored};

const FILE: &str = "route_decisions.json";
const PAST: &str = "2020-01-01T00:00:00Z";

/// A run that has had so many outcomes.
pub(crate) fn with_outcomes(count: i64) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.put(
        "run.json",
        format!(
            r#"{{"format_version":1,"id":"r","status":"failed_resumable","outcome_seq":{count},"cas_version":3}}"#
        ),
    );
    sandbox
}

fn claim(sandbox: &Sandbox, owner: &str, more: &[&str]) -> Done {
    go(sandbox, &[&["run-route", "claim", "--owner", owner], more].concat())
}

#[track_caller]
fn claimed(sandbox: &Sandbox, owner: &str, more: &[&str]) -> Value {
    serde_json::from_str(&claim(sandbox, owner, more).ends(0)).unwrap()
}

fn finish(sandbox: &Sandbox, owner: &str, attempt: &str, how: &[&str]) -> Done {
    let line = ["run-route", "finish", "--seq", "1", "--owner", owner, "--attempt", attempt];
    go(sandbox, &[&line[..], how].concat())
}

/// The lease of outcome 1 runs out, as the clock would let it.
fn lapse(sandbox: &Sandbox) {
    let mut json = stored(sandbox, FILE);
    json["decisions"]["1"]["lease_until"] = json!(PAST);
    sandbox.put(FILE, json.to_string());
}

fn text(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.run_dir().join(FILE)).unwrap()
}

/// A file with these decisions.
fn decisions(entries: &str) -> String {
    format!(r#"{{"version":1,"decisions":{{{entries}}}}}"#)
}

/// Case 71: claimed twice, the second is refused; also by the same owner, who may be two processes.
#[test]
fn an_outcome_is_claimed_once() {
    let sandbox = with_outcomes(2);
    let decision = claimed(&sandbox, "a", &[]);
    assert_eq!(
        (&decision["run_id"], &decision["outcome_seq"], &decision["state"], &decision["attempts"]),
        (&json!("r"), &json!(2), &json!("claimed"), &json!(1))
    );
    assert_eq!(stored(&sandbox, FILE), json!({"version": 1, "decisions": {"2": decision}}));
    assert!(!text(&sandbox).ends_with('\n'), "as the documents of the original");
    let before = text(&sandbox);
    for owner in ["b", "a"] {
        claim(&sandbox, owner, &["--seq", "2"]).says(6, "outcome 2 of run 'r' is claimed by 'a' until ");
        let error = json_error(&claim(&sandbox, owner, &["--json"]));
        assert_eq!((&error["state"], &error["attempts"]), (&json!("claimed"), &json!(1)));
    }
    assert_eq!(text(&sandbox), before);
    // The other outcome is another decision, and the lease is as long as it was asked for.
    let decision = claimed(&sandbox, "b", &["--seq", "1", "--lease", "1h"]);
    let ns = |key: &str| workspacetrack::clock::parse_rfc3339(decision[key].as_str().unwrap()).unwrap();
    assert_eq!(ns("lease_until") - ns("updated_at"), 3_600_000_000_000);
}

fn json_error(done: &Done) -> Value {
    serde_json::from_str::<Value>(&done.out).unwrap()["error"].clone()
}

/// Case 71: the lease ran out, claim again; three attempts, no more.
#[test]
fn a_lease_that_ran_out_is_taken_over_and_three_attempts_are_all() {
    let sandbox = with_outcomes(1);
    let first = claimed(&sandbox, "a", &[]);
    lapse(&sandbox);
    let second = claimed(&sandbox, "b", &[]);
    assert_eq!((&second["attempts"], &second["created_at"]), (&json!(2), &first["created_at"]));
    claim(&sandbox, "c", &[]).ends(6).clear();
    finish(&sandbox, "b", "2", &["--failed", "no slot"]).ends(0).clear();
    assert_eq!(claimed(&sandbox, "c", &[])["attempts"], 3);
    claim(&sandbox, "d", &[]).says(6, "is claimed by 'c'");
    lapse(&sandbox);
    for end in [None, Some("no luck")] {
        if let Some(error) = end {
            finish(&sandbox, "c", "3", &["--failed", error]).ends(0).clear();
        }
        let before = text(&sandbox);
        let how = if end.is_some() { "the last one failed" } else { "attempts failed, and the last lease ran out" };
        claim(&sandbox, "d", &[]).says(6, "was claimed 3 times, which is all, the last time by 'c'");
        claim(&sandbox, "d", &[]).says(6, how);
        assert_eq!(text(&sandbox), before);
    }
    // Where nothing failed, nothing is said to have.
    sandbox.put(FILE, decisions(""));
    for owner in ["a", "b", "c"] {
        claimed(&sandbox, owner, &[]);
        lapse(&sandbox);
    }
    let done = claim(&sandbox, "d", &[]);
    assert!(done.err.contains("all 3 leases ran out") && done.err.contains("by hand"), "{}", done.err);
    assert!(!done.err.contains("failed"), "{}", done.err);
    done.ends(6).clear();
    // The next outcome begins anew.
    sandbox.put("run.json", r#"{"id":"r","status":"failed","outcome_seq":2}"#);
    assert_eq!(claimed(&sandbox, "d", &[])["attempts"], 1);
}

/// Who lost the claim to somebody else finishes nothing, also where that one has the same name.
#[test]
fn only_the_holder_of_a_claim_finishes_it() {
    let sandbox = with_outcomes(1);
    finish(&sandbox, "a", "1", &["--succeeded"]).says(6, "outcome 1 of run 'r' is not claimed");
    assert!(!sandbox.run_dir().join(FILE).exists());
    claimed(&sandbox, "a", &[]);
    lapse(&sandbox);
    claimed(&sandbox, "a", &[]);
    let before = text(&sandbox);
    for (owner, attempt) in [("a", "1"), ("a", "3"), ("b", "2")] {
        for how in [&["--succeeded"][..], &["--failed", "x"]] {
            finish(&sandbox, owner, attempt, how).says(6, "was claimed by 'a' in attempt 2, not by ");
        }
    }
    assert_eq!(text(&sandbox), before);
    // Late, but nobody has taken it over.
    lapse(&sandbox);
    let done = |attempt: &str, how: &[&str]| finish(&sandbox, "a", attempt, how);
    let result = ["--succeeded", "--result", r#"{"action":"resume","n":1.50}"#];
    assert!(done("2", &result).ends(0).contains(r#""result":{"action":"resume","n":1.50}"#));
    assert_eq!(stored(&sandbox, FILE)["decisions"]["1"]["state"], "succeeded");
    // The same again, and something else.
    let before = text(&sandbox);
    assert!(before.contains("\"n\": 1.50") && !before.contains("lease_until"), "{before}");
    assert!(done("2", &result).ends(0).contains(r#""new":false"#));
    done("2", &["--succeeded"]).says(6, "it has succeeded");
    done("2", &["--failed", "x"]).says(6, "it has succeeded");
    claim(&sandbox, "b", &[]).says(6, "was routed by 'a'");
    assert_eq!(text(&sandbox), before);
}

/// A failure is told again without harm, until somebody has claimed the outcome again.
#[test]
fn a_failure_may_be_told_twice() {
    let sandbox = with_outcomes(1);
    claimed(&sandbox, "a", &[]);
    for new in [true, false] {
        let told: Value = serde_json::from_str(&finish(&sandbox, "a", "1", &["--failed", "x"]).ends(0)).unwrap();
        assert_eq!(
            (&told["new"], &told["last_error"], &told["state"]),
            (&json!(new), &json!("x"), &json!("failed"))
        );
    }
    assert_eq!(claimed(&sandbox, "a", &[])["last_error"], "x");
    finish(&sandbox, "a", "1", &["--failed", "x"]).ends(6).clear();
}

/// Eight processes claim at once, the first time and after a lease ran out.
#[test]
fn of_many_who_claim_one_does() {
    let sandbox = with_outcomes(1);
    for attempts in 1..=3 {
        let outputs = at_once(&sandbox, ".write.lock", PROCESSES, |number| {
            words(&["run-route", "claim", "--owner", &format!("w{number}")])
        });
        assert_eq!(codes(&outputs), one_of_eight(6));
        let winner = outputs.iter().position(|output| output.status.success()).unwrap();
        let decision = &stored(&sandbox, FILE)["decisions"]["1"];
        assert_eq!(
            (&decision["attempts"], &decision["lease_owner"]),
            (&json!(attempts), &json!(format!("w{winner}")))
        );
        lapse(&sandbox);
    }
    let outputs = at_once(&sandbox, ".write.lock", PROCESSES, |_| words(&["run-route", "claim", "--owner", "w"]));
    assert_eq!(codes(&outputs), [6; PROCESSES]);
}

#[test]
fn an_outcome_that_the_run_has_not_reached_is_not_claimed() {
    let sandbox = with_outcomes(2);
    claim(&sandbox, "a", &["--seq", "3"]).says(2, "run 'r' has no outcome 3: it has had 2");
    go(&sandbox, &["run-route", "finish", "--seq", "3", "--owner", "a", "--attempt", "1", "--succeeded"])
        .says(2, "run 'r' has no outcome 3: it has had 2");
    claim(&sandbox, "a", &["--seq", "0"]).ends(2).clear();
    sandbox.put("run.json", r#"{"id":"r","status":"running"}"#);
    claim(&sandbox, "a", &[]).says(2, "run 'r' has had no outcome yet");
    sandbox.put("run.json", r#"{"id":"q","outcome_seq":1}"#);
    claim(&sandbox, "a", &[]).says(4, "says that it is run 'q'");
    assert_eq!(paths(&sandbox), ["run.json"]);
    for line in [
        &["run-route", "claim", "--owner", "a", "--run", "none"][..],
        &["run-route", "finish", "--seq", "1", "--owner", "a", "--attempt", "1", "--succeeded", "--run", "none"],
    ] {
        go(&sandbox, line).says(2, "there is no run 'none'");
        assert!(!sandbox.path().join("store/runs/none").exists());
    }
}

#[test]
fn names_leases_and_reports_have_bounds() {
    let sandbox = with_outcomes(2);
    for (owner, lease, code) in [
        ("", "1m", 2),
        ("a\nb", "1m", 2),
        (&*"x".repeat(257), "1m", 2),
        ("a", "0", 2),
        ("a", "604801", 2),
        ("a", "18446744073709551615d", 2),
        ("a", "-1s", 2),
        (&*"x".repeat(256), "604800", 0),
    ] {
        claim(&sandbox, owner, &["--lease", lease, "--seq", "2"]).ends(code).clear();
    }
    claimed(&sandbox, "a", &["--lease", "1", "--seq", "1"]);
    lapse(&sandbox);
    let line =
        ["run-route", "finish", "--seq", "1", "--owner", "a", "--attempt", "1", "--succeeded", "--result", "-"];
    let result = |len: usize| format!("{{\"x\":\"{}\"}}", "y".repeat(len - 8));
    feed(&sandbox, &line, result((1 << 20) + 1)).says(7, "more than 1048576 bytes");
    feed(&sandbox, &line, "[]").says(2, "cannot read the result as a JSON object; write one as").clear();
    finish(&sandbox, "a", "1", &["--succeeded", "--result", "@/nope"])
        .says(2, "behind @ stands the name of a file");
    feed(&sandbox, &line, r#"{"a":1,"a":2}"#).says(2, "given twice");
    feed(&sandbox, &line, result(1 << 20)).ends(0).clear();
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let sandbox = with_outcomes(1);
    claimed(&sandbox, "a", &[]);
    let before = text(&sandbox);
    for how in [
        &[][..],
        &["--succeeded", "--failed", "x"],
        &["--failed", "x", "--result", "{}"],
        &["--result", "{}"],
        &["--failed"],
    ] {
        finish(&sandbox, "a", "1", how).ends(2).clear();
    }
    go(&sandbox, &["run-route", "list", "--all", "--run", "r"]).ends(2).clear();
    go(&sandbox, &["run-route", "list", "--state", "live"]).ends(2).clear();
    assert_eq!(text(&sandbox), before);
}
