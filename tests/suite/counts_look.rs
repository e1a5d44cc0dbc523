//! What a dry run, a comparison and the look of a restore cost: counted by strace, where it is installed and allowed.

use super::counts_capture::{CAPTURE, FILES, calls, count, settled};
use crate::sandbox::Sandbox;

/// The snapshots of the run are listed, and a restore looks for what one that was killed left: two calls for a directory.
const OTHER_LISTINGS: usize = 6;

const LOOKS: [&str; 3] = ["wt-restore -q -n first", "wt-restore -q first", "wt-diff first"];

fn listings(sandbox: &Sandbox, command: &str) -> Option<usize> {
    Some(count(&calls(sandbox, command)?, |call| call.contains("getdents")))
}

#[test]
fn a_look_lists_no_directory_that_is_as_it_was_and_examines_each_file_once() {
    let sandbox = settled();
    for look in LOOKS {
        let Some(calls) = calls(&sandbox, look) else { return };
        let of_files = |call: &str| call.contains("\"versioned-") || call.contains("/versioned-");
        let listings = count(&calls, |call| call.contains("getdents"));
        assert!(listings <= OTHER_LISTINGS, "{look}: {listings}");
        assert_eq!(count(&calls, |call| of_files(call) && call.contains("stat")), FILES, "{look}");
        assert_eq!(count(&calls, |call| of_files(call) && call.contains("open")), 0, "{look}");
    }
}

#[test]
fn a_look_lists_what_changed_and_what_hides_something() {
    let sandbox = settled();
    let before = LOOKS.map(|look| listings(&sandbox, look));
    sandbox.sh("touch d3/passing; rm d3/passing").ok();
    // A directory that is listed is read to its end.
    for (look, before) in LOOKS.iter().zip(before) {
        let (Some(before), Some(now)) = (before, listings(&sandbox, look)) else { return };
        assert_eq!(now, before + 2, "{look}");
    }
    sandbox.file(".gitignore", "*.log\n").file("d5/left.log", "left out\n");
    for label in ["fourth", "fifth"] {
        sandbox.settle().call().env("LABEL", label).sh(CAPTURE).ok();
    }
    let [dry, _, diff] = before.map(Option::unwrap);
    assert_eq!(listings(&sandbox, "wt-restore -q -n fifth"), Some(dry + 2), "what is left out is not remembered");
    assert_eq!(listings(&sandbox, "wt-diff fifth"), Some(diff), "what is left out is not asked for");
}
