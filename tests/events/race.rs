//! Many writers at once, one of them killed, and one reader.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::follow::Follower;
use crate::sandbox::Sandbox;

const WRITERS: usize = 8;
const EVENTS: usize = 1000;
/// Every so many events one has a megabyte.
const LARGE_EVERY: usize = 400;

/// Feeds one writer; gives the numbers it acknowledged. One that is to be killed is, once it has acknowledged `kill_at`.
fn write(sandbox: &Sandbox, writer: usize, kill_at: Option<usize>) -> Vec<u64> {
    let mut child =
        sandbox.command(&["append", "--stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        for number in 0..EVENTS {
            let large = if number % LARGE_EVERY == writer { "\u{2014}".repeat(333_333) } else { String::new() };
            let line = format!("{{\"type\":\"w{writer}\",\"data\":{{\"n\":{number},\"x\":\"{large}\"}}}}\n");
            // A killed writer reads no more.
            if input.write_all(line.as_bytes()).is_err() {
                break;
            }
        }
    });
    let mut acks = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The last line of a killed writer may be cut; it was not acknowledged then.
        acks.extend(line.parse::<u64>().ok());
        if kill_at == Some(acks.len()) {
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    feeder.join().unwrap();
    assert_eq!(status.success(), kill_at.is_none(), "{status}");
    acks
}

#[test]
fn eight_writers_a_kill_and_a_reader() {
    let sandbox = Sandbox::new();
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    let kill_at = 1 + usize::try_from(nanos).unwrap() / 1000 % 700;
    let mut follower = Follower::start(sandbox.command(&[
        "tail",
        "--until-done",
        "--from",
        "0",
        "--format",
        "{seq} {type} {data.n}",
    ]));
    let acks: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let sandbox = &sandbox;
        let kill = |writer| (writer == WRITERS - 1).then_some(kill_at);
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(sandbox, writer, kill(writer)))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    sandbox.run(&["append", "--type", "run_finished"]).ends(0).clear();
    assert_eq!(follower.ends(), 0, "killed at {kill_at}");
    let tailed = follower.lines();
    let printed = sandbox.run(&["cat", "--format", "{seq} {type} {data.n}"]).ends(0);
    assert!(printed.lines().eq(tailed.iter().map(String::as_str)), "the tail printed each once and in order");

    let mut by_seq = HashMap::new();
    for (expected, line) in (0_u64..).zip(&tailed) {
        let (seq, event) = line.split_once(' ').unwrap();
        assert_eq!(seq.parse(), Ok(expected), "unique and contiguous");
        by_seq.insert(expected, event.to_owned());
    }
    for (writer, acks) in acks.iter().enumerate() {
        assert!(acks.is_sorted());
        let events: Vec<_> = acks.iter().map(|seq| by_seq[seq].clone()).collect();
        let sent: Vec<_> = (0..acks.len()).map(|number| format!("w{writer} {number}")).collect();
        assert_eq!(events, sent, "every acknowledged event is there, in the order in which it was sent");
        assert_eq!(acks.len() == EVENTS, writer != WRITERS - 1, "killed at {kill_at}");
    }
    let code = sandbox.run(&["check"]).code;
    assert!(matches!(code, 0 | 3), "killed at {kill_at}: check ended in {code}");
}

/// G 81.
#[test]
fn many_short_processes_share_one_sequence() {
    let sandbox = Sandbox::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..25).map(|_| sandbox.append()).collect::<Vec<_>>());
        }
    });
    assert_eq!(sandbox.seqs(&[]), (0..200).collect::<Vec<_>>());
    sandbox.run(&["check"]).ends(0).clear();
}

/// H 107.
#[test]
fn two_long_lived_writers_take_turns() {
    let sandbox = Sandbox::new();
    let mut writers: Vec<_> = (0..2)
        .map(|_| {
            let mut child = sandbox
                .command(&["append", "--stdin"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            (child, output)
        })
        .collect();
    for seq in 0..60 {
        let (child, output) = &mut writers[seq % 2];
        child.stdin.as_mut().unwrap().write_all(b"{\"type\":\"t\"}\n").unwrap();
        let mut ack = String::new();
        output.read_line(&mut ack).unwrap();
        assert_eq!(ack, format!("{seq}\n"));
    }
    for (mut child, _) in writers {
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
    sandbox.run(&["check"]).ends(0).clear();
}
