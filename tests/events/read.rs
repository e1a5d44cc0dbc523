//! What readers see: ranges, filters, forms, and every prefix of a log.

use crate::sandbox::{Sandbox, add, event, events, put};

/// G 79.
#[test]
fn a_run_without_a_log_has_no_events() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["cat"]).ends(0), "");
    assert_eq!(sandbox.run(&["tail"]).ends(0), "");
    sandbox.run(&["check"]).says(0, "clean, 0 events").clear();
    sandbox.run(&["fold", "executions"]).ends(1).clear();
    for command in ["cat", "check", "tail"] {
        sandbox.run(&[command, "--run", "nobody"]).says(2, "there is no run 'nobody'").clear();
    }
}

/// G 83.
#[test]
fn one_bad_line_is_passed_over_and_named() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), format!("{}oops\n{}", events(2), event(2)));
    let offset = events(2).len();
    let done = sandbox.run(&["cat", "--format", "{seq}"]);
    assert_eq!(done.says(3, &format!("line 3, byte {offset}: not-json")), "0\n1\n2\n");
}

/// G 85.
#[test]
fn a_log_of_bad_lines_only_is_an_error() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), "{\"a\n{\"b\n{\"c\nx\n[]\n");
    sandbox.run(&["cat"]).says(4, "corrupt").clear();
    sandbox.run(&["fold", "costs"]).says(4, "corrupt").clear();
}

/// G 87.
#[test]
fn ranges_are_half_open() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(5));
    for (args, seqs) in [
        (&["--from", "1", "--to", "3"][..], &[1, 2][..]),
        (&["--limit", "2"], &[0, 1]),
        (&["--limit", "0"], &[]),
        (&["--from", "10"], &[]),
        (&["--from", "2"], &[2, 3, 4]),
        (&["--from", "3", "--to", "2"], &[]),
        (&["--last", "2"], &[3, 4]),
        (&["--last", "0"], &[]),
        (&["--last", "99"], &[0, 1, 2, 3, 4]),
        (&["--last", "2", "--to", "3"], &[1, 2]),
        (&["--from", "1", "--limit", "2"], &[1, 2]),
    ] {
        assert_eq!(sandbox.seqs(args), seqs, "{args:?}");
    }
}

#[test]
fn events_are_selected_by_type_node_branch_and_time() {
    let sandbox = Sandbox::new();
    let line = |seq: u64, rest: &str| format!("{{\"seq\":{seq},\"run_id\":\"r\",{rest}}}\n");
    put(
        &sandbox.log(),
        [
            line(0, r#""timestamp":"2026-01-01T00:00:00Z","type":"run_started""#),
            line(1, r#""timestamp":"2026-01-01T00:00:01Z","type":"node_started","node_id":"a","branch_id":"x""#),
            line(2, r#""timestamp":"2026-01-01T00:00:02Z","type":"node_started","node_id":"b""#),
            line(3, r#""timestamp":"2026-01-01T00:00:03Z","type":"tool_error","node_id":"b","branch_id":"""#),
        ]
        .concat(),
    );
    for (args, seqs) in [
        (&["--type", "node_*"][..], &[1, 2][..]),
        (&["--type", "run_*", "--type", "*_error"], &[0, 3]),
        (&["--node", "b"], &[2, 3]),
        (&["--branch", "x"], &[1]),
        (&["--branch", "main"], &[0, 2, 3]),
        (&["--since", "2026-01-01T00:00:02Z"], &[2, 3]),
        (&["--since", "5s"], &[]),
        (&["--type", "node_*", "--last", "1"], &[2]),
        (&["--type", "node_*", "--limit", "1"], &[1]),
    ] {
        assert_eq!(sandbox.seqs(args), seqs, "{args:?}");
    }
    sandbox.run(&["cat", "--since", "soon"]).says(2, "'soon' is not a time").clear();
    sandbox.run(&["cat", "--format", "{nope}"]).says(2, "unknown name 'nope'").clear();
    sandbox.run(&["cat", "--format", "x", "--human"]).says(2, "cannot be used with").clear();
    sandbox.run(&["cat", "--last", "1", "--limit", "1"]).says(2, "cannot be used with").clear();
}

/// G 91.
#[test]
fn unknown_types_and_keys_and_the_text_of_numbers_pass_through() {
    let sandbox = Sandbox::new();
    let odd = r#"{"seq":0,"type":"of_2040","run_id":"r","data":{"n":9007199254740993,"deep":{"?":[1.00,1e2]}},"new":{"a":null} }"#;
    put(&sandbox.log(), format!("{odd}\n"));
    assert_eq!(sandbox.run(&["cat"]).ends(0), format!("{odd}\n"));
    let piped = sandbox.run_with(&["append", "--stdin", "--run", "r"], format!("{odd}\n")).ends(0);
    assert_eq!(piped, "1\n");
    let copy = sandbox.run(&["cat", "--from", "1", "--format", "{data} {data.n}"]).ends(0);
    assert_eq!(copy, "{\"n\":9007199254740993,\"deep\":{\"?\":[1.00,1e2]}} 9007199254740993\n");
}

/// H 113.
#[test]
fn byte_order_mark_carriage_returns_and_blank_lines_are_tolerated() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), format!("\u{feff}{}\n\r\n{}", event(0).replace('\n', "\r\n"), event(1)));
    assert_eq!(sandbox.run(&["cat"]).ends(0), events(2));
    assert_eq!(sandbox.append(), 2);
    assert!(!sandbox.log_text().lines().last().unwrap().contains('\r'));
    let found = sandbox.run(&["check"]).ends(4);
    assert!(found.contains("line 1, byte 0: byte-order-mark") && found.contains("line 1, byte 0: carriage-return"));
}

#[test]
fn a_key_given_twice_is_warned_about_on_read() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), r#"{"seq":0,"type":"t","run_id":"r","data":{"a":1,"b":{"c":1,"c":2}}}"#.to_owned() + "\n");
    let out = sandbox.run(&["cat"]).says(0, "duplicate-key: key 'c' is given twice");
    assert_eq!(out.lines().count(), 1);
}

/// Every byte prefix of a log with text of several bytes a character: `cat` gives the whole events of that prefix, `append`
/// works, and `check` then reports just the healed fragment.
#[test]
fn every_prefix_can_be_read_and_healed() {
    let line = |seq: u64, text: &str| {
        format!("{{\"seq\":{seq},\"type\":\"\u{e9}\u{2014}t\",\"run_id\":\"r\",\"data\":{{\"x\":\"{text}\"}}}}\n")
    };
    let log = [line(0, "\u{1f600}"), line(1, "\u{62a5}\u{e9}"), line(2, "z\\u00e9")].concat().into_bytes();
    let ends: Vec<usize> = (0..log.len()).filter(|at| log[*at] == b'\n').collect();
    let sandbox = Sandbox::new();
    for cut in 0..=log.len() {
        put(&sandbox.log(), &log[..cut]);
        // An event is whole with its last brace; its newline may be missing.
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let torn = cut > 0 && log[cut - 1] != b'\n' && !ends.contains(&cut);
        let printed = sandbox.run(&["cat"]).ends(0);
        assert_eq!(
            printed.as_bytes(),
            log.get(..ends.get(whole.wrapping_sub(1)).map_or(0, |end| end + 1)).unwrap()
        );
        assert_eq!(sandbox.append(), whole as u64, "cut at {cut}");
        let found = sandbox.run(&["check"]);
        if torn {
            let begin = if whole == 0 { 0 } else { ends[whole - 1] + 1 };
            let place = format!("line {}, byte {begin}: healed-tail: ", whole + 1);
            let out = found.ends(3);
            assert!(out.starts_with(&place) && out.lines().count() == 1, "cut at {cut}: {out}");
        } else {
            assert_eq!(found.ends(0), "", "cut at {cut}");
        }
    }
}

/// H 105: the last line may be of any length and any character may lie at the edge of a block.
#[test]
fn the_last_number_is_found_behind_text_of_any_length() {
    let sandbox = Sandbox::new();
    for (seq, len) in [(0_u64, 4_090_usize), (1, 65_530), (2, 65_536), (3, 131_072), (4, 1_000_000)] {
        for shift in 0..4_u64 {
            let data = format!(
                "{{\"x\":\"{}{}\"}}",
                "a".repeat(usize::try_from(shift).unwrap()),
                "\u{2014}".repeat(len / 3)
            );
            let out = sandbox.run_with(&["append", "--type", "t", "--data", "-"], data).ends(0);
            assert_eq!(out.trim().parse::<u64>().unwrap(), seq * 4 + shift);
        }
    }
    sandbox.run(&["check"]).ends(0).clear();
}

#[test]
fn the_middle_of_a_log_is_found_whatever_damage_lies_about() {
    let sandbox = Sandbox::new();
    let filler = "x".repeat(3000);
    for seq in 0..200 {
        add(&sandbox.log(), format!("{{\"seq\":{seq},\"type\":\"t\",\"run_id\":\"r\",\"f\":\"{filler}\"}}\n"));
        if seq % 10 == 3 {
            add(&sandbox.log(), ["oops\n".as_bytes(), &[0; 5000], b"{\"seq\":1,\"type\"\n"].concat());
        }
    }
    for from in [0, 1, 99, 100, 104, 199] {
        assert_eq!(
            sandbox.seqs(&["--from", &from.to_string(), "--limit", "3"]),
            (from..200).take(3).collect::<Vec<_>>()
        );
    }
    assert_eq!(sandbox.seqs(&["--from", "200"]), [0; 0]);
    assert_eq!(sandbox.seqs(&["--last", "2"]), [198, 199]);
}

#[test]
fn a_person_sees_colours_only_when_asked_or_on_a_terminal() {
    let sandbox = Sandbox::new();
    sandbox.run(&["append", "--type", "run_failed", "--data", r#"{"error":"no \u001b[2J disk"}"#]).ends(0).clear();
    let plain = sandbox.run(&["cat", "--human"]).ends(0);
    assert!(plain.contains("run_failed") && plain.contains(r"error='no \x1b[2J disk'"), "{plain}");
    assert!(!plain.contains('\x1b'));
    assert!(sandbox.run(&["cat", "--human", "--color", "always"]).ends(0).contains("\x1b[1;31mrun_failed"));
    assert!(sandbox.run(&["cat"]).ends(0).starts_with('{'));
}
