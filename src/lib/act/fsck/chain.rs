//! The links between snapshots: every parent is there, older, and no chain returns to itself.

use std::collections::HashSet;

use super::documents::Snapshots;
use super::index::Reached;
use super::{Report, Severity};

/// Snapshots from which no chain is known to start do not matter to anybody: a forget that was cut off left them.
pub(super) fn check(snapshots: &Snapshots, reached: &Reached, report: &mut Report) {
    for (id, parent) in &snapshots.parents {
        let Some(parent) = parent else { continue };
        let path = snapshots.path(id);
        if snapshots.damaged.contains(parent) {
            let detail = format!("its parent '{parent}' cannot be read, so the chain ends here");
            report.add(Severity::Warning, "parent-damaged", path, detail, "repair or put aside the parent");
        } else if !snapshots.parents.contains_key(parent) {
            let detail = format!("its parent '{parent}' is not there, so the chain ends here");
            let repair = "nothing brings it back; wt-log --all shows what the chain does not reach";
            let severity = if reached.has(id) { Severity::Error } else { Severity::Note };
            report.add(severity, "parent-missing", path, detail, repair);
        } else if parent >= id {
            let detail = format!("its parent '{parent}' is not older than it");
            report.add(Severity::Warning, "parent-newer", path, detail, "nothing to do");
        }
    }
    // Whoever was walked over once leads to no cycle that was not found then.
    let mut done = HashSet::new();
    for start in snapshots.parents.keys() {
        let mut walked = HashSet::new();
        let mut next = Some(start);
        while let Some(id) = next.filter(|id| !done.contains(*id)) {
            if !walked.insert(id) {
                let detail = "the chain of parents returns to it";
                report.add(
                    Severity::Error,
                    "parent-cycle",
                    snapshots.path(id),
                    detail,
                    "wt-fsck --quarantine cannot help; restore this file from a backup",
                );
                break;
            }
            next = snapshots.parents.get(id).and_then(Option::as_ref);
        }
        done.extend(walked);
    }
}
