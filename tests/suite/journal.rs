//! The label journal: every change of head and labels, in order, never rewritten.

use crate::sandbox::Sandbox;

#[test]
fn every_move_is_a_line_and_what_did_not_move_is_none() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let first = sandbox.capture("pre:n:0");
    sandbox.capture("post:n:0");
    sandbox.capture("post:n:0");
    sandbox.file("f", "2");
    let second = sandbox.sh("stage_ls | stage_hash | stage_write --label pre:n:0 --label other").ok();
    assert_eq!(
        sandbox.stored().journal(),
        [
            format!("HEAD - {first}"),
            format!("pre:n:0 - {first}"),
            format!("post:n:0 - {first}"),
            format!("HEAD {first} {second}"),
            format!("pre:n:0 {first} {second}"),
            format!("other - {second}"),
        ]
    );
}

#[test]
fn a_line_says_when_and_is_numbered() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let id = sandbox.capture("l");
    let text = std::fs::read_to_string(sandbox.stored().journal_path()).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let time = line["time"].as_str().unwrap().to_owned();
    assert_eq!(
        text.lines().nth(1).unwrap(),
        format!(r#"{{"seq":2,"time":"{time}","label":"l","old":null,"new":"{id}"}}"#)
    );
    assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
}

#[test]
fn a_torn_tail_is_isolated_and_numbering_goes_on() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.capture("a");
    let path = sandbox.stored().journal_path();
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str(r#"{"seq":3,"time":"20"#);
    std::fs::write(&path, &text).unwrap();
    sandbox.capture("b");
    let now = std::fs::read_to_string(&path).unwrap();
    let added = now.strip_prefix(&text).unwrap().strip_prefix('\n').unwrap();
    assert!(added.starts_with(r#"{"seq":3,"#) && added.contains(r#""label":"b""#), "{added}");
}

#[test]
fn a_journal_of_nothing_but_garbage_stops_the_capture_before_labels_move() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.capture("a");
    let index = std::fs::read(sandbox.stored().index_path()).unwrap();
    std::fs::write(sandbox.stored().journal_path(), "garbage\n").unwrap();
    sandbox.sh("stage_ls | stage_hash | stage_write --label b").fails(4);
    assert_eq!(std::fs::read(sandbox.stored().index_path()).unwrap(), index);
}

#[test]
fn numbering_goes_on_in_a_journal_of_any_length() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let id = sandbox.capture("first");
    // Longer than what is read of it, with a tail that nobody can understand and that is longer, too.
    let steps: String = (0..200).map(|number| format!("set\tlabel-{number}\t{id}\n")).collect();
    sandbox.call().stdin(steps).run(&["wt-label", "--stdin"]).ok();
    let path = sandbox.stored().journal_path();
    let last = || -> u64 {
        let text = std::fs::read_to_string(&path).unwrap();
        let mark: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        mark["seq"].as_u64().unwrap()
    };
    let seq = last();
    sandbox.sh("wt-label another HEAD").ok();
    assert_eq!(last(), seq + 1);
    let mut text = std::fs::read(&path).unwrap();
    text.extend_from_slice(&vec![b'x'; 40_000]);
    std::fs::write(&path, text).unwrap();
    sandbox.sh("wt-label a-third HEAD").ok();
    assert_eq!(last(), seq + 2);
}
