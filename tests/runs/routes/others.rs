//! What other programs make of decisions.

use super::{FILE, claim, claimed, decisions, finish, lapse, with_outcomes};
use crate::sandbox::run;
use crate::shell::{go, json, paths};

/// One line says who acts on the outcome.
#[test]
fn a_run_shows_who_routes_it() {
    let sandbox = with_outcomes(1);
    let shown = |starts: &str| {
        let out = go(&sandbox, &["run-show", "r"]).ends(0);
        let line = out.lines().find(|line| line.starts_with("routing ")).unwrap_or_default().to_owned();
        assert!(line.starts_with(starts) && (starts.is_empty() == line.is_empty()), "{starts:?}: {out}");
    };
    shown("");
    claimed(&sandbox, "a", &[]);
    shown("routing  claimed by a until 20");
    assert_eq!(json(&sandbox, &["run-show", "r", "--json"])["route"]["standing"], "live");
    lapse(&sandbox);
    shown("routing  the claim of a ran out at 2020-01-01T00:00:00Z, attempt 1 of 3");
    claimed(&sandbox, "b", &[]);
    finish(&sandbox, "b", "2", &["--failed", "no slot"]).ends(0).clear();
    shown("routing  b failed in attempt 2 of 3: no slot");
    claimed(&sandbox, "c", &[]);
    finish(&sandbox, "c", "3", &["--failed", "no luck"]).ends(0).clear();
    shown("routing  nobody may claim it again after 3 attempts, the last one by c: no luck");
    // The decision about an earlier outcome says nothing of this one.
    sandbox.put("run.json", r#"{"id":"r","status":"failed","outcome_seq":2}"#);
    shown("");
    claimed(&sandbox, "d", &[]);
    let line = ["run-route", "finish", "--seq", "2", "--owner", "d", "--attempt", "1", "--succeeded"];
    go(&sandbox, &line).ends(0).clear();
    shown("routing  done by d in attempt 1 of 3");
    sandbox.put(FILE, "[]");
    shown("routing  nobody can tell: ");
    let route = &json(&sandbox, &["run-show", "r", "--json"])["route"];
    assert!(route["standing"] == "foreign" && route["reason"].as_str().unwrap().contains("is another program's"));
    sandbox.put(FILE, "{");
    assert!(go(&sandbox, &["run-show", "r"]).ends(3).contains("COULD NOT BE READ"));
}

/// Who routes an outcome works on the run: a clean-up leaves it alone while the lease lasts, and looks again under the lock.
#[test]
fn a_run_that_is_being_routed_is_not_cleaned_away() {
    let sandbox = with_outcomes(1);
    sandbox
        .put("run.json", r#"{"id":"r","status":"finished","outcome_seq":1,"updated_at":"2020-01-01T00:00:00Z"}"#);
    let prune = || sandbox.program(&["run-prune", "--older-than", "1d", "--grace", "0", "-v"]);
    claimed(&sandbox, "a", &[]);
    run(prune()).says(0, "whoever routes its outcome needs it");
    lapse(&sandbox);
    let mut late = prune();
    let program = std::path::Path::new(crate::sandbox::BIN).with_file_name("run-route");
    late.env(
        "WT_TEST_HOOK",
        format!("prune-run=unset WT_TEST_HOOK; {} claim --owner b --run r", program.display()),
    );
    let done = run(late);
    assert!(done.err.contains("has been claimed for routing since it was chosen"), "{} {}", done.code, done.err);
    assert!(sandbox.run_dir().join("run.json").exists());
    sandbox.put(FILE, "{");
    run(prune()).says(3, "not JSON");
    assert!(sandbox.run_dir().join("run.json").exists());
    // Nobody here knows what another program's file says, and a newer one may well say that the run is claimed.
    for file in ["[]", r#"{"mine":1}"#, r#"{"version":2,"decisions":{}}"#] {
        sandbox.put(FILE, file);
        run(prune()).says(3, "run 'r' stays: ").clear();
        run(prune()).says(3, "is another program's").clear();
        assert!(sandbox.run_dir().join("run.json").exists(), "{file}");
    }
    sandbox.put(FILE, decisions(""));
    run(prune()).ends(0).clear();
    assert_eq!(paths(&sandbox), [".deleted"]);
}

/// Nor is it deleted unless that is said.
#[test]
fn a_run_that_is_being_routed_is_deleted_by_force_only() {
    let sandbox = with_outcomes(1);
    claimed(&sandbox, "a", &[]);
    let stays = |code: i32, why: &str| {
        for line in [&["run-delete", "r"][..], &["run-delete", "-n", "r"]] {
            go(&sandbox, line).says(code, why).clear();
        }
        assert!(sandbox.run_dir().join("run.json").exists());
    };
    stays(5, "outcome 1 of run 'r' is claimed by 'a' until 20");
    stays(5, "add --force");
    for (file, code) in [(r#"{"version":2,"decisions":{}}"#, 5), ("{", 4)] {
        sandbox.put(FILE, file);
        stays(code, "--force deletes the run all the same");
    }
    std::fs::remove_file(sandbox.run_dir().join(FILE)).unwrap();
    claimed(&sandbox, "a", &[]);
    lapse(&sandbox);
    go(&sandbox, &["run-delete", "-n", "r"]).ends(0).clear();
    claimed(&sandbox, "b", &[]);
    go(&sandbox, &["run-delete", "--force", "r"]).ends(0).clear();
    assert_eq!(paths(&sandbox), [".deleted"]);
}

/// Who reads what to do next does not take the run out of the hands of whoever claimed its outcome.
#[test]
fn what_to_do_with_a_claimed_run_is_to_wait() {
    let sandbox = with_outcomes(1);
    let posture = || {
        let posture = json(&sandbox, &["run-show", "r", "--json"])["posture"].clone();
        (posture["summary"].as_str().unwrap().to_owned(), posture["next"].to_string())
    };
    for owner in ["a", "b", "c"] {
        claimed(&sandbox, owner, &[]);
        let (summary, next) = posture();
        assert!(summary.contains(&format!("; {owner} has claimed its outcome until 20")), "{summary}");
        assert!(next.contains(&format!("wait for {owner}")) && !next.contains("set-status"), "{next}");
        lapse(&sandbox);
    }
    let (summary, next) = posture();
    assert!(summary.contains("it is up to a person"), "{summary}");
    assert!(next.contains("run-route list") && next.contains("set-status running"), "{next}");
    let shown = go(&sandbox, &["run-show", "r"]).ends(0);
    assert!(shown.contains("the last one by c: ran out at 2020-01-01T00:00:00Z"), "{shown}");
    // A run that goes on again has its outcome behind it.
    sandbox.put(FILE, decisions(""));
    claimed(&sandbox, "d", &[]);
    sandbox.put("run.json", r#"{"id":"r","status":"paused_operator","outcome_seq":1}"#);
    assert!(posture().1.contains("set-status running"));
}

/// Neither program nor script that looks at a whole store is misled by the files.
#[test]
fn the_files_confuse_nobody() {
    let sandbox = with_outcomes(1);
    claimed(&sandbox, "a", &[]);
    go(&sandbox, &["run-route", "watermark", "--set", "now"]).ends(0).clear();
    for line in [
        &["run-record", "list"][..],
        &["run-reconcile", "--all"],
        &["wt-fsck"],
        &["wt-du"],
        &["wt-prune", "--grace", "0"],
    ] {
        let done = go(&sandbox, line);
        assert!(!done.err.contains("route_") && done.code == 0, "{line:?}: {} {}", done.code, done.err);
    }
    assert!(sandbox.path().join("store/route_watermark.json").exists());
    finish(&sandbox, "a", "1", &["--succeeded"]).ends(0).clear();
    go(&sandbox, &["run-delete", "r"]).ends(0).clear();
    assert_eq!(paths(&sandbox), [".deleted"]);
    claim(&sandbox, "b", &["--seq", "1"]).says(2, "was deleted");
}
