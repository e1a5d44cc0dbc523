//! The index and the journal of one run, against its manifests.

use std::collections::HashSet;
use std::path::Path;

use super::documents::Snapshots;
use super::{Report, Severity};
use crate::history::History;
use crate::history::index::Index;
use crate::history::journal::HEAD;
use crate::store::id::{Label, SnapshotId};
use crate::store::runs::RunDir;
use crate::store::{Store, layout};
use crate::stream::quote;

/// The snapshots that head or a label leads to; `None` where that is not known.
pub(super) struct Reached(Option<HashSet<SnapshotId>>);

impl Reached {
    pub(super) fn has(&self, id: &SnapshotId) -> bool {
        self.0.as_ref().is_none_or(|reached| reached.contains(id))
    }

    fn from(index: &Index, snapshots: &Snapshots) -> Self {
        let mut reached = HashSet::new();
        let labelled = index.labels.values().filter_map(|id| SnapshotId::parse(id));
        for start in index.head.iter().cloned().chain(labelled) {
            let mut next = Some(start);
            while let Some(id) = next.filter(|id| !reached.contains(id)) {
                next = snapshots.parents.get(&id).cloned().flatten();
                reached.insert(id);
            }
        }
        Self(Some(reached))
    }
}

pub(super) fn check(store: &Store, dir: &RunDir, snapshots: &Snapshots, report: &mut Report) -> Reached {
    let Some(run) = &dir.id else {
        let detail = "no command can name this run, but its objects are kept";
        report.add(Severity::Warning, "run-name", &dir.path, detail, "rename the directory");
        return Reached(None);
    };
    let history = History::new(store, run.clone());
    let rebuild = format!("wt-fsck --run {run} --rebuild-index");
    let path = layout::index(store.root(), run);
    check_journal(&history, &layout::journal(store.root(), run), &rebuild, report);
    let index = match history.index() {
        Ok(index) => index,
        Err(error) => {
            report.add(Severity::Error, "index-damaged", path, error.to_string(), rebuild);
            return Reached(None);
        }
    };
    if index.head.is_some() && std::fs::symlink_metadata(&path).is_err() {
        report_missing(&history, &path, &rebuild, report);
    }
    if let Err(problem) = index.rows() {
        report.add(Severity::Error, "stat-cache-damaged", path.clone(), problem, rebuild.clone());
    }
    check_head(&history, &index, snapshots, &path, &rebuild, report);
    check_labels(&index, snapshots, &path, &rebuild, report);
    Reached::from(&index, snapshots)
}

fn check_labels(index: &Index, snapshots: &Snapshots, path: &Path, rebuild: &str, report: &mut Report) {
    for (label, target) in &index.labels {
        let shown = quote::name(label.as_bytes());
        if !is_there(target, snapshots) {
            let detail = format!("label {shown} points to {}, which is not there", quote::name(target.as_bytes()));
            let repair = format!("wt-label --delete, or {rebuild}");
            report.add(Severity::Error, "label-dangling", path, detail, repair);
        } else if Label::named(label).is_err() {
            let detail = format!("label {shown} could not be made by our commands");
            report.add(Severity::Note, "label-foreign", path, detail, "nothing to do");
        }
    }
}

/// The journal stands in for it. One that holds no more than a first capture wrote may have been cut off before the index.
fn report_missing(history: &History, path: &Path, rebuild: &str, report: &mut Report) {
    let heads =
        history.journal().map_or(0, |journal| journal.marks.iter().filter(|mark| mark.label == HEAD).count());
    let (severity, detail) = if heads > 1 {
        (Severity::Error, "it is lost; head and labels are those of the journal")
    } else {
        (
            Severity::Note,
            "a first capture was cut off before it; the journal tells the rest, and the next capture makes it",
        )
    };
    report.add(severity, "index-missing", path, detail, rebuild);
}

fn is_there(id: &str, snapshots: &Snapshots) -> bool {
    SnapshotId::parse(id).is_some_and(|id| {
        snapshots.parents.contains_key(&id)
            || snapshots.damaged.contains(&id)
            // It was captured since they were listed.
            || std::fs::symlink_metadata(snapshots.path(&id)).is_ok()
    })
}

fn check_head(
    history: &History,
    index: &Index,
    snapshots: &Snapshots,
    path: &Path,
    rebuild: &str,
    report: &mut Report,
) {
    let Some(head) = &index.head else {
        let journal = history.journal().unwrap_or_default();
        // A first capture that was killed leaves a snapshot and no index; nothing was promised then.
        let had_head =
            journal.marks.iter().any(|mark| mark.label == HEAD) || snapshots.parents.values().any(Option::is_some);
        if had_head && !snapshots.parents.is_empty() {
            report.add(Severity::Error, "head-missing", path, "the run has snapshots and no newest one", rebuild);
        } else if let Some(id) = snapshots.parents.keys().next_back() {
            let detail = format!("snapshot '{id}' was never finished, or the index is lost");
            report.add(Severity::Note, "head-missing", path, detail, rebuild);
        }
        return;
    };
    if !is_there(head.as_str(), snapshots) {
        let detail = format!("the newest snapshot '{head}' is not there");
        report.add(Severity::Error, "head-dangling", path, detail, rebuild);
    }
}

fn check_journal(history: &History, path: &Path, rebuild: &str, report: &mut Report) {
    match history.journal() {
        Err(error) => {
            let repair = "move it away; the index still has the labels";
            report.add(Severity::Error, "journal-unreadable", path, error.to_string(), repair);
        }
        Ok(journal) if journal.marks.is_empty() && journal.damaged_lines.len() > usize::from(journal.is_torn) => {
            let detail = "no line of it can be understood, so no label can be moved";
            report.add(Severity::Error, "journal-damaged", path, detail, rebuild);
        }
        Ok(journal) => {
            for line in journal.damaged_lines {
                let detail = format!("line {line} cannot be understood; it is passed over");
                report.add(Severity::Warning, "journal-line", path, detail, "nothing to do");
            }
        }
    }
}
