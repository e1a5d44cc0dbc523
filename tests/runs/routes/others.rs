//! What other programs make of decisions.

use super::{claim, claimed, with_outcomes};
use crate::shell::{go, paths};

/// Neither program nor script that looks at a whole store is misled by the files.
#[test]
fn the_files_confuse_nobody() {
    let sandbox = with_outcomes(1);
    claimed(&sandbox, "a", &[]);
    go(&sandbox, &["run-route", "watermark", "--set", "now"]).ends(0).clear();
    for line in [
        &["run-record", "list"][..],
        &["run-reconcile", "--all"],
        &["wt-fsck"],
        &["wt-du"],
        &["wt-prune", "--grace", "0"],
    ] {
        let done = go(&sandbox, line);
        assert!(!done.err.contains("route_") && done.code == 0, "{line:?}: {} {}", done.code, done.err);
    }
    assert!(sandbox.path().join("store/route_watermark.json").exists());
    go(&sandbox, &["run-delete", "r"]).ends(0).clear();
    assert_eq!(paths(&sandbox), [".deleted"]);
    claim(&sandbox, "b", &["--seq", "1"]).says(2, "was deleted");
}
