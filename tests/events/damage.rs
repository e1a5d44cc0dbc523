//! Damaged logs (cases H): each damage has its line, byte and cause, and an exit code.

use crate::sandbox::{Sandbox, add, event, events, put};

fn causes(out: &str) -> Vec<(u64, u64, String)> {
    out.lines()
        .filter_map(|line| {
            let found: serde_json::Value = serde_json::from_str(line).unwrap();
            Some((found["line"].as_u64()?, found["offset"].as_u64()?, found["cause"].as_str()?.to_owned()))
        })
        .collect()
}

#[test]
fn check_names_every_damage_with_line_byte_and_cause() {
    let sandbox = Sandbox::new();
    let mut log = Vec::new();
    let mut expected = Vec::new();
    let mut number = 1;
    let mut add_line = |bytes: &[u8], cause: &str| {
        if !cause.is_empty() {
            expected.push((number, log.len() as u64, cause.to_owned()));
        }
        log.extend_from_slice(bytes);
        number += u64::from(bytes.ends_with(b"\n"));
    };
    add_line(event(0).as_bytes(), "");
    add_line(b"oops\n", "not-json");
    add_line(event(1).as_bytes(), "");
    add_line(b"[1]\n", "not-event");
    add_line(event(1).as_bytes(), "duplicate-seq");
    add_line(event(5).as_bytes(), "missing-seq");
    add_line(event(3).as_bytes(), "descending-seq");
    add_line(event(6).replace("\"r\"", "\"q\"").as_bytes(), "foreign-run");
    add_line(&vec![b'x'; 11 * 1024 * 1024], "too-long");
    add_line(b"\n", "");
    add_line(&[0; 1000], "hole");
    add_line(event(7).as_bytes(), "");
    add_line(b"{\"seq\":8,\"\xff\":1}\n", "invalid-utf8");
    add_line(event(8).replace('\n', "\r\n").as_bytes(), "carriage-return");
    add_line(b"{\"seq\":9,\"ty\n", "healed-tail");
    for seq in 9..14 {
        add_line(event(seq).as_bytes(), "");
    }
    add_line(b"{\"seq\":14,\"ty", "torn-tail");
    put(&sandbox.log(), &log);
    let out = sandbox.run(&["check", "--json"]).ends(4);
    assert_eq!(causes(&out), expected);
    assert!(out.contains(r#""verdict":"damaged""#), "{out}");
    // A reader prints what can be read, names what cannot, and says that something is missing.
    let printed = sandbox.run(&["cat", "--format", "{seq}"]).ends(3);
    assert_eq!(printed.lines().count(), 13);
}

#[test]
fn a_torn_tail_alone_ends_in_3_and_widespread_corruption_in_4() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(2) + "{\"seq\":2,");
    sandbox.run(&["check"]).says(3, "torn, 2 events").clear();
    put(&sandbox.log(), events(3) + "x\ny\n");
    sandbox.run(&["check"]).says(4, "corrupt").clear();
    sandbox.run(&["cat"]).says(4, "2 lines are bad, 3 are events").clear();
    put(&sandbox.log(), events(4) + "x\ny\n");
    sandbox.run(&["check"]).says(4, "is damaged").clear();
    sandbox.run(&["cat"]).ends(3).clear();
}

/// H 103.
#[test]
fn an_append_after_a_torn_tail_is_intact_and_no_corruption() {
    let sandbox = Sandbox::new();
    for round in 0..4 {
        assert_eq!(sandbox.append(), round);
        add(&sandbox.log(), format!("{{\"seq\":{},\"ty", round + 1));
    }
    assert_eq!(sandbox.append(), 4);
    assert_eq!(sandbox.run(&["cat", "--format", "{seq}"]).says(0, "healed-tail"), "0\n1\n2\n3\n4\n");
    assert_eq!(sandbox.run(&["check"]).ends(3).lines().count(), 4);
}

/// H 107, the reader's half: what two writers of the original leave behind.
#[test]
fn numbers_given_twice_are_named_and_never_given_again() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), [event(0), event(1), event(2), event(1), event(2)].concat());
    let found = sandbox.run(&["check"]).ends(4);
    assert_eq!(found.matches("duplicate-seq").count(), 2, "{found}");
    assert_eq!(sandbox.append(), 3);
    add(&sandbox.log(), event(1));
    assert_eq!(sandbox.append(), 4, "the last line does not bring a number back");
    sandbox.run(&["cat"]).says(3, "duplicate-seq").clear();
}

/// H 111.
#[test]
fn a_flipped_byte_in_the_middle_is_not_exit_0() {
    let sandbox = Sandbox::new();
    let whole = events(5);
    let line = event(0).len();
    for at in line..2 * line - 1 {
        let mut log = whole.clone().into_bytes();
        log[at] ^= 0x10;
        put(&sandbox.log(), &log);
        let done = sandbox.run(&["check"]);
        // A letter of the time or the type may change into another one: no reader can see that.
        if done.code == 0 {
            let changed = String::from_utf8(log).unwrap();
            let second: serde_json::Value = serde_json::from_str(changed.lines().nth(1).unwrap()).unwrap();
            assert_eq!((second["seq"].as_u64(), second["run_id"].as_str()), (Some(1), Some("r")), "{changed}");
        } else {
            assert!(
                done.out.contains(&format!("line 2, byte {line}: ")) || done.out.contains("line 3"),
                "{}",
                done.out
            );
            assert_eq!(done.code, 4, "{at}: {}", done.out);
        }
    }
}

#[test]
fn a_hole_is_one_damage_and_what_follows_it_is_read() {
    let sandbox = Sandbox::new();
    put(&sandbox.log(), events(2));
    // What a truncation under a writer that does not append leaves behind.
    let file = std::fs::OpenOptions::new().write(true).open(sandbox.log()).unwrap();
    file.set_len(60 * 1024 * 1024).unwrap();
    add(&sandbox.log(), event(2));
    assert_eq!(sandbox.append(), 3, "the number behind a hole is found");
    let found = sandbox.run(&["check"]).ends(4);
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(found.contains("hole: "), "{found}");
    assert_eq!(sandbox.seqs(&[]), [0, 1, 2, 3]);
}
