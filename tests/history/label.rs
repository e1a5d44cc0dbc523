//! `wt-label`.

use std::fs;
use std::io::Read;

use crate::sandbox::Sandbox;

/// Two snapshots, labelled `one` and `two`.
fn two() -> (Sandbox, String, String) {
    let sandbox = Sandbox::new();
    sandbox.write("a", "1");
    let one = sandbox.capture("one");
    sandbox.write("a", "22");
    let two = sandbox.capture("two");
    (sandbox, one, two)
}

#[test]
fn get_prints_the_id_and_ends_in_1_when_there_is_none() {
    let (sandbox, one, two) = two();
    assert_eq!(sandbox.label(&["one"]).ok(), format!("{one}\n"));
    assert_eq!(sandbox.label(&["HEAD"]).ok(), format!("{two}\n"));
    assert_eq!(sandbox.label(&["HEAD~1"]).ok(), format!("{one}\n"));
    for absent in ["three", "HEAD~2", one.as_str()] {
        assert!(sandbox.label(&[absent]).ends(1).out.is_empty());
    }
    assert!(sandbox.label(&["HEAD", "--run", "other"]).ends(1).out.is_empty());
    assert!(sandbox.label(&["x", "--run", "other"]).ends(1).out.is_empty());
    assert!(!sandbox.root.join("store/runs/other").exists(), "a query leaves no trace");
    let json = sandbox.label(&["one", "--json"]).ok();
    assert_eq!(json, format!("{{\"label\":\"one\",\"id\":\"{one}\"}}\n"));
}

#[test]
fn set_takes_every_way_to_name_a_snapshot() {
    let (sandbox, one, two) = two();
    for (name, id) in
        [("HEAD", &two), ("HEAD~1", &one), (&one, &one), ("two", &two), (two.split_once('-').unwrap().0, &two)]
    {
        assert_eq!(sandbox.label(&["x", name]).ok(), "", "{name}");
        assert_eq!(sandbox.label(&["x"]).ok(), format!("{id}\n"), "{name}");
    }
    let json = sandbox.label(&["x", "one", "--json"]).ok();
    assert_eq!(json, format!("{{\"label\":\"x\",\"old\":\"{two}\",\"new\":\"{one}\"}}\n"));
}

#[test]
fn what_is_pointed_to_must_exist() {
    let (sandbox, one, _) = two();
    sandbox.label(&["x", "nope"]).fails(2, "no snapshot or label 'nope'");
    sandbox.label(&["x", "1234567890-0001"]).fails(2, "no snapshot '1234567890-0001'");
    fs::remove_file(sandbox.history().join(format!("snapshots/{one}.json"))).unwrap();
    sandbox.label(&["x", "one"]).fails(2, "has no manifest");
    assert!(sandbox.label(&["x"]).ends(1).out.is_empty());
    sandbox.label(&["x", "HEAD", "--run", "other"]).fails(2, "has no snapshot yet");
    assert!(!sandbox.root.join("store/runs/other").exists(), "a request that fails leaves no trace");
}

#[test]
fn names_that_could_be_mistaken_are_never_set_but_foreign_ones_are_read_and_removed() {
    let (sandbox, one, _) = two();
    for bad in ["", "HEAD", "HEAD~1", "HEADER", "123-4", "a\nb", &"x".repeat(257)] {
        sandbox.label(&[bad, "HEAD"]).fails(2, "label ");
    }
    sandbox.label(&["--", "-x", "HEAD"]).fails(2, "begins with a dash");
    assert!(sandbox.label(&[&"x".repeat(256), "HEAD"]).ok().is_empty());
    let index = sandbox.history().join("index.json");
    let text = fs::read_to_string(&index).unwrap();
    let foreign = text
        .replace("\"labels\":{", &format!("\"labels\":{{\"HEADER\":\"{one}\",\"bad\":\"zz\",\"HEAD\":\"1-1\","));
    fs::write(&index, foreign).unwrap();
    assert_eq!(sandbox.label(&["HEADER"]).ok(), format!("{one}\n"));
    sandbox.label(&["bad"]).fails(4, "no snapshot id");
    assert_eq!(sandbox.label(&["--delete", "HEADER"]).ok(), "");
    assert_eq!(sandbox.label(&["--delete", "bad"]).ok(), "");
    sandbox.label(&["--delete", "HEAD"]).fails(2, "HEAD is no label");
}

#[test]
fn create_and_expect_compare_before_they_set() {
    let (sandbox, one, two) = two();
    assert_eq!(sandbox.label(&["--create", "x", "one"]).ok(), "");
    sandbox.label(&["--create", "x", "two"]).fails(6, "exists and points to");
    sandbox.label(&["--expect", "-", "x", "two"]).fails(6, "exists and points to");
    sandbox.label(&["--expect", &two, "x", "two"]).fails(6, "not to");
    sandbox.label(&["--expect", &two, "y", "two"]).fails(6, "does not exist");
    assert_eq!(sandbox.label(&["x"]).ok(), format!("{one}\n"));
    assert_eq!(sandbox.label(&["--expect", &one, "x", "two"]).ok(), "");
    assert_eq!(sandbox.label(&["--expect", "-", "y", "two"]).ok(), "");
    sandbox.label(&["--expect", "one", "x", "two"]).fails(2, "not a snapshot id");
    sandbox.label(&["--delete", "--expect", &one, "x"]).fails(6, "points to");
    assert_eq!(sandbox.label(&["--delete", "--expect", &two, "x"]).ok(), "");
    sandbox.label(&["--delete", "x"]).fails(2, "has no label 'x'");
    sandbox.label(&["--delete", "--expect", "-", "y"]).fails(2, "must not exist");
}

#[test]
fn list_is_sorted_filtered_and_machine_readable() {
    let (sandbox, one, two) = two();
    sandbox.label(&["pre:a/b:0", "one"]).ok();
    sandbox.label(&["say \"x\"", "one"]).ok();
    assert_eq!(
        sandbox.label(&["--list"]).ok(),
        format!("one\t{one}\npre:a/b:0\t{one}\n\"say \\\"x\\\"\"\t{one}\ntwo\t{two}\n")
    );
    assert_eq!(sandbox.label(&["--list", "pre:*"]).ok(), format!("pre:a/b:0\t{one}\n"));
    assert_eq!(sandbox.label(&["--list", "-z", "say*"]).ok(), format!("say \"x\"\t{one}\0"));
    assert_eq!(
        sandbox.label(&["--list", "t*", "--json"]).ok(),
        format!("{{\"label\":\"two\",\"id\":\"{two}\"}}\n")
    );
    assert_eq!(sandbox.label(&["--list", "no*"]).ok(), "");
    sandbox.label(&["--list", "[x"]).fails(2, "unclosed character class");
}

#[test]
fn next_and_boundary_build_labels() {
    let (sandbox, one, two) = two();
    assert_eq!(sandbox.label(&["--next", "gate"]).ok(), "gate:0\n");
    assert_eq!(sandbox.label(&["--next", "gate:", "HEAD"]).ok(), "gate:0\n");
    assert_eq!(sandbox.label(&["--next", "gate", "one"]).ok(), "gate:1\n");
    assert_eq!(sandbox.label(&["gate:1"]).ok(), format!("{one}\n"));
    sandbox.label(&[&format!("gate:{}", u64::MAX), "one"]).ok();
    sandbox.label(&["--next", "gate", "one"]).fails(7, "last of its kind");
    sandbox.label(&["--next", "HEAD", "one"]).fails(2, "begins with HEAD");

    assert!(sandbox.label(&["--boundary", "pre", "n"]).ends(1).out.is_empty());
    assert_eq!(sandbox.label(&["--boundary", "pre", "n", "HEAD"]).ok(), "");
    assert_eq!(sandbox.label(&["pre:n:0"]).ok(), format!("{two}\n"));
    assert_eq!(sandbox.label(&["--boundary", "--create", "post", "a:b", "12", "one"]).ok(), "");
    assert_eq!(sandbox.label(&["--boundary", "post", "a:b", "12"]).ok(), format!("{one}\n"));
    sandbox.label(&["--boundary", "--create", "post", "a:b", "12", "two"]).fails(6, "exists");
    sandbox.label(&["--boundary", "gate", "n"]).fails(2, "not a phase");
    sandbox.label(&["--boundary", "pre", ""]).fails(2, "no name");
    sandbox.label(&["--boundary", "pre", "n", "01"]).fails(2, "not an iteration");
    sandbox.label(&["--boundary", "pre"]).fails(2, "too few");
}

#[test]
fn a_batch_is_all_or_nothing() {
    let (sandbox, one, two) = two();
    let batch = |text: &str| sandbox.feed("wt-label", &["--stdin"], text.as_bytes());
    let before = fs::read(sandbox.history().join("index.json")).unwrap();
    let journal = fs::read(sandbox.history().join("labels.log")).unwrap();
    for (bad, code, part) in [
        ("set\ta\tHEAD\ncreate\tone\tHEAD\n", 6, "exists"),
        ("set\ta\tHEAD\nset\tb\tnope\n", 2, "nope"),
        ("set\ta\tHEAD\ndelete\tb\n", 2, "has no label"),
        ("set\ta\tHEAD\nset\ta\tone\n", 2, "named twice"),
        ("set\ta\tHEAD\nverify\tone\t-\n", 6, "exists"),
        ("set\ta\tHEAD\nset\tHEAD\tone\n", 2, "begins with HEAD"),
        ("set\ta\tHEAD\nput\tb\tone\n", 2, "not a step"),
        ("set\ta\tHEAD\nset\tb\n", 2, "not a step"),
        ("set a HEAD\n", 2, "not a step"),
        ("set\ta\tHEAD\nset\tb\tHE", 4, "cut short"),
    ] {
        batch(bad).fails(code, part);
        assert_eq!(fs::read(sandbox.history().join("index.json")).unwrap(), before, "{bad}");
        assert_eq!(fs::read(sandbox.history().join("labels.log")).unwrap(), journal, "{bad}");
    }
    sandbox.feed("wt-label", &["--stdin", "--require-end"], b"set\ta\tHEAD\n").fails(4, "end mark");
    assert_eq!(batch("").ok(), "");
    let good = format!(
        "set\ta\tHEAD\nset\tone\ttwo\t{one}\ncreate\t\"q\\\"\"\tone\ndelete\ttwo\t{two}\nverify\tno\t-\n\n"
    );
    let json = sandbox.feed("wt-label", &["--stdin", "--require-end", "--json"], good.as_bytes()).ok();
    assert_eq!(json.lines().count(), 5, "{json}");
    assert_eq!(sandbox.label(&["--list"]).ok(), format!("a\t{two}\none\t{two}\n\"q\\\"\"\t{one}\n"));
    let raw = format!("set\tq\"\tone\0delete\ta\t{two}\0");
    sandbox.feed("wt-label", &["--stdin", "-z"], raw.as_bytes()).ok();
    assert_eq!(sandbox.label(&["--list", "-z"]).ok(), format!("one\t{two}\0q\"\t{two}\0"));
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let (sandbox, ..) = two();
    let modes = ["--delete", "--next", "--boundary", "--list", "--reflog", "--stdin"];
    for (number, a) in modes.iter().enumerate() {
        for b in &modes[number + 1..] {
            sandbox.label(&[a, b, "x"]).fails(2, "cannot be used with");
        }
    }
    for mode in ["--delete", "--next", "--list", "--reflog", "--stdin"] {
        sandbox.label(&["--create", mode, "x"]).fails(2, "cannot be used with");
    }
    for mode in ["--create", "--next", "--list", "--reflog", "--stdin"] {
        sandbox.label(&["--expect", "-", mode, "x"]).fails(2, "cannot be used with");
    }
    sandbox.label(&["--require-end", "x"]).fails(2, "--stdin");
    sandbox.label(&[]).fails(2, "no label is named");
    sandbox.label(&["--create", "x"]).fails(2, "need a snapshot");
    sandbox.label(&["--expect", "-", "x"]).fails(2, "need a snapshot");
    for many in [&["a", "b", "c"][..], &["--stdin", "a"], &["--delete"], &["--list", "a", "b"], &["--next"]] {
        sandbox.label(many).fails(2, "too few or too many");
    }
    sandbox.label(&["x", "--run", "a/b"]).fails(2, "slash");
}

#[test]
fn many_writers_at_once_lose_nothing_and_the_journal_is_complete() {
    let (sandbox, one, two) = two();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let batch =
                |id: &str| (0..5).map(|n| format!("set\tw{writer}:{n}\t{id}\n")).collect::<Vec<_>>().concat();
            let sandbox = &sandbox;
            (writer, batch(&one), batch(&two), sandbox)
        })
        .collect();
    std::thread::scope(|scope| {
        for (writer, first, second, sandbox) in &writers {
            scope.spawn(move || {
                sandbox.feed("wt-label", &["--stdin"], first.as_bytes()).ok();
                sandbox.feed("wt-label", &["--stdin"], second.as_bytes()).ok();
                sandbox.label(&["--next", "n", "HEAD"]).ok();
                sandbox.label(&["--delete", &format!("w{writer}:0")]).ok();
            });
        }
    });
    let index = sandbox.index();
    let labels = index["labels"].as_object().unwrap();
    assert_eq!(labels.len(), 2 + 8 * 4 + 8);
    for n in 0..8 {
        assert!(labels.contains_key(&format!("n:{n}")));
        assert_eq!(labels[&format!("w{n}:4")], two.as_str());
    }
    let reflog = sandbox.label(&["--reflog"]).ok();
    // Two captures made two marks each: head and label.
    assert_eq!(reflog.lines().count(), 4 + 8 * (5 + 5 + 1 + 1));
    let journal = fs::read_to_string(sandbox.history().join("labels.log")).unwrap();
    for (number, line) in journal.lines().enumerate() {
        let mark: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(mark["seq"], number + 1);
    }
    let of_one: Vec<_> = reflog.lines().filter(|line| line.contains("\tw3:0\t")).collect();
    let tails: Vec<_> = of_one.iter().map(|line| line.split_once('\t').unwrap().1.to_owned()).collect();
    assert_eq!(
        tails,
        [format!("w3:0\t{two}\t-"), format!("w3:0\t{one}\t{two}"), format!("w3:0\t-\t{one}")],
        "newest first"
    );
    assert_eq!(sandbox.label(&["--reflog", "w3:0"]).ok().lines().count(), 3);
    assert_eq!(sandbox.label(&["--reflog", "HEAD"]).ok().lines().count(), 2);
    assert_eq!(sandbox.label(&["--reflog", "HEAD", "-z"]).ok().matches('\0').count(), 2);
    assert!(sandbox.label(&["--reflog", "HEAD", "--json"]).ok().contains("\"old\":null"));
}

#[test]
fn damaged_lines_of_the_journal_are_named_and_left_out() {
    let (sandbox, ..) = two();
    let path = sandbox.history().join("labels.log");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{{\"seq\":")).unwrap();
    let said = sandbox.label(&["--reflog"]).ends(3);
    assert_eq!(said.text().lines().count(), 4);
    assert!(said.err.contains("line 5 of the journal"), "{}", said.err);
    // The next change isolates the fragment.
    sandbox.label(&["x", "HEAD"]).ok();
    assert_eq!(sandbox.label(&["--reflog"]).ends(3).text().lines().count(), 5);
}

#[test]
fn a_label_change_keeps_unknown_members_and_the_stat_cache_byte_for_byte() {
    let (sandbox, one, _) = two();
    let path = sandbox.history().join("index.json");
    let rows =
        r#"{ "a":{"size":1,"mod_nano":5,"hash":"","later":[1e400]} ,"b c":{"size":2,"mod_nano":-6,"hash":"x"}}"#;
    let text = format!(r#"{{"zoo":{{"a": [1.50,true]}},"entries":{rows},"head":"{one}","overflowed":true}}"#);
    fs::write(&path, text).unwrap();
    sandbox.label(&["x", "one"]).fails(2, "no snapshot or label");
    sandbox.label(&["x", "HEAD"]).ok();
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.contains(rows), "{after}");
    assert!(after.contains(r#""zoo":{"a": [1.50,true]}"#), "{after}");
    assert!(after.contains(r#""overflowed":true"#), "{after}");
    fs::write(&path, "{").unwrap();
    sandbox.label(&["x", "HEAD"]).fails(4, "wt-fsck");
    sandbox.label(&["x"]).fails(4, "wt-fsck");
}

#[test]
fn an_engine_at_work_keeps_writers_out_but_not_readers() {
    let (sandbox, _, two) = two();
    let lock = sandbox.root.join("store/runs/R/.lock");
    fs::write(&lock, "").unwrap();
    // It must not be an ancestor of the program.
    let mut engine = std::process::Command::new("flock")
        .args([lock.to_str().unwrap(), "-c", "echo ready; cat"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    engine.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    sandbox.label(&["x", "HEAD"]).fails(6, "engine");
    sandbox.label(&["--delete", "one"]).fails(6, "engine");
    assert_eq!(sandbox.label(&["HEAD"]).ok(), format!("{two}\n"));
    assert_eq!(sandbox.label(&["--while-running", "x", "HEAD"]).ok(), "");
    drop(engine.stdin.take());
    engine.wait().unwrap();
    assert_eq!(sandbox.label(&["y", "HEAD"]).ok(), "");
}

#[test]
fn a_deleted_run_is_not_brought_back() {
    let (sandbox, ..) = two();
    fs::write(sandbox.root.join("store/runs/R/.deleted"), "").unwrap();
    sandbox.label(&["x", "HEAD"]).fails(2, "was deleted");
}
