//! The file of decisions: what nobody knows in it, and what is not ours.

use super::{FILE, claim, claimed, decisions, finish, text, with_outcomes};
use crate::shell::go;

/// What a newer program or a person has put there stays where it is.
#[test]
fn what_nobody_knows_survives() {
    let sandbox = with_outcomes(2);
    let written = r#"{
  "z": 1.50,
  "version": 1,
  "decisions": {
    "1": {
      "run_id": "r",
      "more": {
        "n": 9007199254740993
      },
      "outcome_seq": 1,
      "state": "failed",
      "attempts": 1,
      "lease_owner": "a",
      "created_at": "2020-01-01T00:00:00Z",
      "updated_at": "2020-01-01T00:00:00Z",
      "end": "\u00e9"
    },
    "odd": 1
  },
  "after": null
}"#;
    sandbox.put(FILE, written);
    claimed(&sandbox, "b", &["--seq", "2"]);
    claimed(&sandbox, "b", &["--seq", "1"]);
    finish(&sandbox, "b", "2", &["--failed", "x"]).ends(0).clear();
    let now = text(&sandbox);
    for kept in [
        "{\n  \"z\": 1.50,\n",
        "\n      \"more\": {\n        \"n\": 9007199254740993\n      },\n",
        "\n      \"end\": \"\\u00e9\"\n",
        "\n    \"odd\": 1,\n",
        "\n  \"after\": null\n}",
        "\n      \"attempts\": 2,\n      \"lease_owner\": \"b\",\n      \"last_error\": \"x\",\n      \"created_at\": \"2020-",
    ] {
        assert!(now.contains(kept), "{kept:?} is not in {now}");
    }
}

/// The original may have a file of this name, and a newer program may know more than this one.
#[test]
fn a_file_of_another_shape_is_left_alone() {
    let sandbox = with_outcomes(2);
    let entry = r#"{"run_id":"r","outcome_seq":1,"state":"claimed","attempts":1,"lease_owner":"a","lease_until":"2020-01-01T00:00:00Z","created_at":"2020-01-01T00:00:00Z"}"#;
    for (file, code, why) in [
        (String::new(), 4, "not JSON"),
        ("{".into(), 4, "not JSON"),
        (r#"{"version":1,"version":1,"decisions":{}}"#.into(), 4, "is given twice"),
        ("[]".into(), 5, "is another program's"),
        ("{}".into(), 5, "is another program's"),
        (r#"{"watermark":1,"claims":[]}"#.into(), 5, "is another program's"),
        (format!(r#"{{"decisions":{{"1":{entry}}}}}"#), 5, "is another program's"),
        (format!(r#"{{"version":2,"decisions":{{"1":{entry}}}}}"#), 5, "has version 2, and this program knows 1"),
        (format!(r#"{{"version":1.0,"decisions":{{"1":{entry}}}}}"#), 5, "is another program's"),
        (format!(r#"{{"version":1,"decisions":[{entry}]}}"#), 5, "is another program's"),
        (decisions(&format!(r#""1":{}"#, entry.replace("claimed", "odd"))), 4, "decision '1': state"),
        (decisions(&format!(r#""1":{}"#, entry.replace("\"r\"", "\"q\""))), 4, "that of another run"),
        (decisions(&format!(r#""1":{}"#, entry.replace("\"attempts\":1", "\"attempts\":1.5"))), 4, "attempts"),
        (decisions(&format!(r#""1":{}"#, entry.replace("2020-01-01T00:00:00Z", "soon"))), 4, "lease_until"),
        (decisions(r#""1":[]"#), 4, "decision '1'"),
    ] {
        sandbox.put(FILE, &file);
        claim(&sandbox, "b", &["--seq", "1"]).says(code, why);
        finish(&sandbox, "a", "1", &["--succeeded"]).says(code, why);
        go(&sandbox, &["run-route", "list"]).says(3, why);
        assert_eq!(text(&sandbox), file);
        // One that cannot be understood does not keep others from being claimed.
        if file.contains(r#"{"version":1,"decisions":{"1""#) {
            claimed(&sandbox, "b", &["--seq", "2"]);
            assert!(text(&sandbox).contains("\"2\": {"));
        }
    }
}
