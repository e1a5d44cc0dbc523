//! Lists of runs (facts 2.10, 9 A and O 157).

use serde_json::{Value, json};

use super::{Runs, parse};

fn put(runs: &Runs, id: &str, text: &str) {
    let dir = runs.0.path().join("store/runs").join(id);
    std::fs::create_dir_all(&dir).unwrap();
    crate::sandbox::put(&dir.join("run.json"), text);
}

fn run(id: &str, created: &str, rest: &str) -> String {
    format!(r#"{{"id":"{id}","name":"n-{id}","status":"running","created_at":"{created}"{rest}}}"#)
}

/// A 14, 2.10: in the order of their names, deleted ones hidden, damaged ones shown.
#[test]
fn a_list_shows_all_that_are_there() {
    let runs = Runs::new();
    for id in ["b", "a", "c"] {
        put(&runs, id, &run(id, "2026-01-01T00:00:00Z", ""));
    }
    assert_eq!(runs.record(&["list", "--ids"]).ends(0), "a\nb\nc\n", "r has no document");
    crate::sandbox::put(&runs.0.path().join("store/runs/b/.deleted"), "");
    crate::sandbox::put(&runs.0.path().join("store/runs/file"), "no run");
    put(&runs, "d", "{");
    put(&runs, "e", r#"{"id":"e","name":"n","status":"asleep","error":"\u001b[31m\nred"}"#);
    assert_eq!(runs.record(&["list", "--ids"]).says(3, "run 'd' cannot be read"), "a\nc\ne\n");
    let table = runs.record(&["list"]).ends(3);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 5, "{table}");
    assert!(lines[0].starts_with("ID  STATUS") && lines[3].starts_with("d   damaged"), "{table}");
    assert!(!table.contains('\u{1b}'), "nothing that drives a terminal");
    let rows: Vec<Value> = runs.record(&["list", "--json"]).ends(3).lines().map(parse).collect();
    assert_eq!(rows.iter().map(|row| row["id"].as_str().unwrap()).collect::<Vec<_>>(), ["a", "c", "d", "e"]);
    assert!(rows[2]["damage"].is_string() && rows[0]["revision"] == 0);
    assert_eq!(runs.record(&["list", "--status", "running", "--ids"]).ends(3), "a\nc\n");
    let _ = runs.record(&["list", "--status", "asleep"]).ends(2);
    assert_eq!(runs.record(&["list", "--store", "nowhere", "--ids"]).ends(0), "");
    assert!(!runs.0.path().join("nowhere").exists());
}

/// O 157, O 158.
#[test]
fn reverse_queries_are_in_the_order_of_creation() {
    let runs = Runs::new();
    let by = |issue: &str, schedule: &str, parent: &str| {
        format!(
            r#","source":{{"kind":"dispatcher","issue_id":"{issue}","schedule_id":"{schedule}"}},"parent_run_id":"{parent}""#
        )
    };
    put(&runs, "a", &run("a", "2026-01-03T00:00:00Z", &by("I", "S", "p")));
    put(&runs, "b", &run("b", "2026-01-01T00:00:00.5Z", &by("I", "S", "p")));
    put(&runs, "d", &run("d", "2026-01-01T00:00:00Z", &by("I", "S", "p")));
    put(&runs, "c", &run("c", "2026-01-01T01:00:00+01:00", &by("I", "S", "p")));
    put(&runs, "x", &run("x", "2026-01-01T00:00:00Z", &by("", "", "")));
    put(&runs, "y", &run("y", "2026-01-01T00:00:00Z", ""));
    for query in [["--issue", "I"], ["--schedule", "S"], ["--parent", "p"]] {
        assert_eq!(runs.record(&[&["list", "--ids"][..], &query].concat()).ends(0), "c\nd\nb\na\n", "{query:?}");
        let none = [query[0], "none"];
        assert_eq!(runs.record(&[&["list", "--ids"][..], &none].concat()).ends(0), "");
        let empty = [query[0], ""];
        assert_eq!(runs.record(&[&["list", "--ids"][..], &empty].concat()).ends(0), "");
    }
    assert_eq!(runs.record(&["list", "--ids", "--issue", "I", "--status", "failed"]).ends(0), "");
    put(&runs, "0", "{");
    assert_eq!(runs.record(&["list", "--ids", "--issue", "I"]).says(3, "'0' cannot be read"), "c\nd\nb\na\n");
    let rows: Vec<Value> = runs.record(&["list", "--json", "--issue", "I"]).ends(3).lines().map(parse).collect();
    assert_eq!(rows.last().unwrap()["id"], json!("0"));
}

#[test]
fn the_newest_come_first_where_that_is_asked_for() {
    let runs = Runs::new();
    for (id, day) in [("b", 1), ("a", 2), ("c", 3)] {
        let dir = runs.0.make(id, "finished", "");
        let text = crate::life::document(id, "finished", "")
            .replace("created_at\": \"2020-01-01", &format!("created_at\": \"2020-01-0{day}"));
        std::fs::write(dir.join("run.json"), text).unwrap();
    }
    let ids = |options: &[&str]| runs.record(&[&["list", "--ids"], options].concat()).ends(0);
    assert_eq!(ids(&[]), "a\nb\nc\n");
    assert_eq!(ids(&["--newest"]), "c\na\nb\n");
    assert_eq!(ids(&["--newest", "--limit", "2"]), "c\na\n");
    assert_eq!(ids(&["--limit", "1"]), "a\n");
}
