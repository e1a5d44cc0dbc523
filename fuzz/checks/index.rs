//! Index and journal of a run, in a store in memory: whatever they hold, a label can be moved or the reason is told, and
//! nothing else changes.

use workspacetrack::history::History;
use workspacetrack::history::change::Change;
use workspacetrack::history::json;
use workspacetrack::store::id::{RunId, SnapshotId};

pub(crate) fn check(input: &[u8]) {
    let (store, root) = super::scratch::store("index");
    let history = History::new(&store, RunId::named("r").unwrap());
    let dir = root.join("runs/r/workspace");
    // The first line tells how the rest is divided.
    let (index, journal) = match input.iter().position(|byte| *byte == b'\x01') {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, &b""[..]),
    };
    std::fs::write(dir.join("labels.log"), journal).unwrap();
    if index.is_empty() {
        let _ = std::fs::remove_file(dir.join("index.json"));
    } else {
        std::fs::write(dir.join("index.json"), index).unwrap();
    }
    let marks = history.journal().unwrap();
    let Ok(mut read) = history.index() else { return };
    let (head, labels, rows) = (read.head.clone(), read.labels.clone(), read.rows_json().to_vec());
    let _ = read.rows();
    let target = SnapshotId::parse("123-0001").unwrap();
    let change = Change { labels: vec![("new label".into(), Some(target.clone()))], ..Change::default() };
    if history.apply(&mut read, change).is_err() {
        // Only a journal of which nothing can be understood is in the way.
        assert!(marks.marks.is_empty());
        return;
    }
    let again = history.index().expect("what we write we can read");
    assert_eq!(again.head, head);
    assert_eq!(again.rows_json(), rows);
    assert_eq!(again.labels.get("new label").map(String::as_str), Some("123-0001"));
    assert!(labels.iter().all(|(label, id)| label == "new label" || again.labels.get(label) == Some(id)));
    let after = history.journal().unwrap();
    if labels.get("new label").map(String::as_str) != Some("123-0001") {
        assert_eq!(after.targets().get("new label"), Some(&"123-0001"));
        assert_eq!(after.marks.len(), marks.marks.len() + 1);
    }
    let mut text = Vec::new();
    json::push_string(&mut text, &String::from_utf8_lossy(input));
    assert_eq!(serde_json::from_slice::<String>(&text).unwrap(), String::from_utf8_lossy(input));
}
