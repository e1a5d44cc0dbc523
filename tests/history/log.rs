//! `wt-log`.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Said, Sandbox};

fn log(sandbox: &Sandbox, args: &[&str]) -> Said {
    sandbox.run("wt-log", args)
}

fn rows(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let said = log(sandbox, &[&["--json"], args].concat());
    said.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["id"].as_str().unwrap()).collect()
}

/// Four snapshots: a boundary, a bank, two more.
fn four() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::new();
    let labels = ["pre:n:0", "rewind-backup:n:0", "post:n:0", "pause:n:0"];
    let made = labels.iter().enumerate().map(|(size, label)| {
        sandbox.write("a", "x".repeat(size));
        sandbox.capture(label)
    });
    let made = made.collect();
    (sandbox, made)
}

#[test]
fn lists_the_chain_newest_first_with_all_labels_and_numbers() {
    let (sandbox, made) = four();
    sandbox.label(&["zz", &made[3]]).ok();
    sandbox.label(&["aa", &made[3]]).ok();
    sandbox.label(&["--delete", "post:n:0"]).ok();
    let text = log(&sandbox, &[]).ok();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    for (line, id) in lines.iter().zip(made.iter().rev()) {
        let parts: Vec<_> = line.split("  ").collect();
        assert_eq!(parts[0], id);
        assert!(parts[1].len() == 20 && parts[1].starts_with("20") && parts[1].ends_with('Z'), "{line}");
        assert!(parts[2].ends_with(" ago"), "{line}");
        assert_eq!(parts[3], "1 file");
        assert_eq!(parts[5], "0 gaps");
    }
    assert!(lines[0].contains("  3 bytes  0 gaps  (aa, pause:n:0, zz)"), "{text}");
    assert!(lines[1].ends_with("  2 bytes  0 gaps  [post:n:0]"), "{text}");
    assert!(lines[2].ends_with("  1 byte  0 gaps  (rewind-backup:n:0)  bank"), "{text}");
    let rows = rows(&sandbox, &[]);
    let keys: Vec<_> = rows[0].as_object().unwrap().keys().cloned().collect();
    let mut wanted =
        ["id", "parent", "label", "labels", "created_at", "files", "bytes", "gaps", "bank", "reachable"].to_vec();
    wanted.sort_unstable();
    assert_eq!(
        {
            let mut keys = keys;
            keys.sort_unstable();
            keys
        },
        wanted
    );
    assert_eq!(rows[0]["labels"], serde_json::json!(["aa", "pause:n:0", "zz"]));
    assert_eq!(rows[0]["parent"], made[2].as_str());
    assert_eq!(rows[3]["parent"], Value::Null);
    assert_eq!(rows[2]["bank"], true);
    assert_eq!(
        (&rows[1]["bank"], &rows[1]["reachable"], &rows[1]["bytes"]),
        (&false.into(), &true.into(), &2.into())
    );
}

#[test]
fn gaps_are_counted() {
    let sandbox = Sandbox::new();
    sandbox.write("big", "12345");
    sandbox.write("small", "1");
    sandbox.capture_with(&["--max-file-size", "4"], &["--label", "x"]);
    assert!(log(&sandbox, &[]).ok().contains("  1 file  1 byte  1 gap  (x)"));
}

#[test]
fn labels_and_numbers_limit_the_list() {
    let (sandbox, made) = four();
    assert_eq!(ids(&rows(&sandbox, &["-n", "2"])), [&made[3], &made[2]]);
    assert_eq!(ids(&rows(&sandbox, &["-n", "0"])), [""; 0]);
    assert_eq!(ids(&rows(&sandbox, &["--labels", "p*:n:*"])), [&made[3], &made[2], &made[0]]);
    assert_eq!(ids(&rows(&sandbox, &["--labels", "p*:n:*", "-n", "1"])), [&made[3]]);
    assert_eq!(ids(&rows(&sandbox, &["--labels", "no"])), [""; 0]);
    log(&sandbox, &["--labels", "["]).fails(2, "unclosed");
    log(&sandbox, &["-n", "-1"]).fails(2, "'-1'");
    log(&sandbox, &["--graph", "--json"]).ends(2).err.clear();
    log(&sandbox, &["--graph", "--labels", "x"]).fails(2, "cannot be used with");
}

#[test]
fn an_unreadable_manifest_is_marked_and_the_list_goes_on() {
    let (sandbox, made) = four();
    let path = sandbox.history().join(format!("snapshots/{}.json", made[2]));
    let whole = fs::read(&path).unwrap();
    fs::write(&path, "{").unwrap();
    let said = log(&sandbox, &[]).ends(3);
    let text = said.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(
        lines[1].starts_with(&format!("{}  unreadable: ", made[2])) && lines[1].ends_with("(post:n:0)"),
        "{text}"
    );
    assert!(lines[3].starts_with(&made[0]));
    assert!(said.err.contains("warning: "), "{}", said.err);
    let broken = rows(&sandbox, &[]);
    assert!(broken[1]["unreadable"].as_str().unwrap().contains("not a manifest"));
    assert_eq!(broken[2]["reachable"], Value::Null, "nobody can say");
    assert_eq!(ids(&rows(&sandbox, &["--all"])), [&made[3], &made[2], &made[1], &made[0]]);
    fs::remove_file(&path).unwrap();
    assert_eq!(
        ids(&rows(&sandbox, &["--all"])),
        [&made[3], &made[2], &made[1], &made[0]],
        "it is named by the chain"
    );
    log(&sandbox, &["-q"]).ends(3).err.clear();
    fs::write(&path, whole).unwrap();
    let _ = log(&sandbox, &[]).ok();
}

#[test]
fn a_chain_that_returns_to_itself_ends() {
    let (sandbox, made) = four();
    let path = sandbox.history().join(format!("snapshots/{}.json", made[0]));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen(",\"label\"", &format!(",\"parent\":\"{}\",\"label\"", made[3]), 1)).unwrap();
    let said = log(&sandbox, &[]).ends(3);
    assert!(said.text().contains("the chain of parents returns to it"), "{}", said.text());
    assert_eq!(said.text().lines().count(), 5);
}

#[test]
fn all_shows_what_head_does_not_reach_and_the_graph_where_it_left() {
    let (sandbox, made) = four();
    // Head set back, as an original that lost a race leaves it, and a new snapshot on top of the older one.
    let index = sandbox.history().join("index.json");
    let text = fs::read_to_string(&index).unwrap();
    let back = text.replacen(&format!("\"head\":\"{}\"", made[3]), &format!("\"head\":\"{}\"", made[1]), 1);
    fs::write(&index, back).unwrap();
    sandbox.write("a", "other");
    let new = sandbox.capture("new");
    assert_eq!(ids(&rows(&sandbox, &[])), [&new, &made[1], &made[0]]);
    let all = rows(&sandbox, &["--all"]);
    assert_eq!(ids(&all), [&new, &made[3], &made[2], &made[1], &made[0]]);
    assert_eq!(all[1]["reachable"], false);
    assert!(log(&sandbox, &["--all"]).ok().contains("(pause:n:0)  unreachable\n"));
    let graph = log(&sandbox, &["--all", "--graph"]).ok();
    let beside: Vec<_> =
        graph.lines().map(|line| line.split(|c: char| c.is_ascii_digit()).next().unwrap()).collect();
    assert_eq!(beside, ["* ", "| * ", "| * ", "|/ ".trim_end(), "* ", "* "], "{graph}");
    assert!(log(&sandbox, &["--graph"]).ok().lines().all(|line| line.starts_with("* ")));
}

#[test]
fn a_run_that_is_not_there_is_not_an_empty_one() {
    let sandbox = Sandbox::new();
    log(&sandbox, &[]).fails(2, "no run 'R'");
    fs::create_dir_all(sandbox.root.join("store/runs/R")).unwrap();
    assert_eq!(log(&sandbox, &[]).ok(), "");
    assert!(!sandbox.history().exists(), "a query leaves no trace");
}
