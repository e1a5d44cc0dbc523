//! What the fuzzers begin with, and everything one step away from it, is checked in every run of the tests: each seed whole,
//! its beginnings, and its bytes made others, all of them in a short seed and a few hundred in a long one. The checks are those of the fuzzers (`fuzz/checks`).
#![allow(clippy::cast_possible_truncation, clippy::naive_bytecount, reason = "the checks look at a few kilobytes")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

#[path = "../../fuzz/checks/event_backwards.rs"]
mod event_backwards;
#[path = "../../fuzz/checks/event_lines.rs"]
mod event_lines;
#[path = "../../fuzz/checks/index.rs"]
mod index;
#[path = "../../fuzz/checks/manifest.rs"]
mod manifest;
#[path = "../../fuzz/checks/rules.rs"]
mod rules;
#[path = "../../fuzz/checks/run_document.rs"]
mod run_document;
#[path = "../../fuzz/checks/scratch.rs"]
mod scratch;
#[path = "../../fuzz/checks/stream.rs"]
mod stream;

/// Places in a seed at which something happens, at most.
const PLACES: usize = 200;
/// Bytes that end, open or widen something in one of the formats.
const BYTES: [u8; 5] = *b"\0\"\n9\xff";

fn replay(kind: &str, check: fn(&[u8])) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(kind);
    let mut tried = 0_usize;
    for seed in std::fs::read_dir(&seeds).unwrap() {
        let seed = std::fs::read(seed.unwrap().path()).unwrap();
        let mut one = |input: &[u8]| {
            let done = catch_unwind(AssertUnwindSafe(|| check(input)));
            assert!(done.is_ok(), "{kind}: fails on {:?}", String::from_utf8_lossy(input));
            tried += 1;
        };
        one(&seed);
        for at in (0..seed.len()).step_by(seed.len().div_ceil(PLACES).max(1)) {
            one(&seed[..at]);
            for byte in BYTES {
                let mut changed = seed.clone();
                changed[at] = byte;
                one(&changed);
            }
        }
    }
    assert!(tried > 100, "{kind}: {tried} inputs are no corpus");
}

#[test]
fn event_lines_hold() {
    replay("event", event_lines::check);
}

#[test]
fn event_logs_hold_backwards() {
    replay("event", event_backwards::check);
}

#[test]
fn indexes_and_journals_hold() {
    replay("index", index::check);
    std::fs::remove_dir_all(scratch::store("index").1).unwrap();
}

#[test]
fn manifests_and_pins_hold() {
    replay("manifest", manifest::check);
}

#[test]
fn rules_hold() {
    replay("rules", rules::check);
}

#[test]
fn run_documents_hold() {
    replay("run", run_document::check);
    std::fs::remove_dir_all(scratch::store("run_document").1).unwrap();
}

#[test]
fn streams_hold() {
    replay("stream", stream::check);
}
