//! What must stay although it was chosen, so that authorship says of the rest what it said before.
//!
//! Authorship compares neighbouring boundaries and steps over all other snapshots (design section 6). So the oldest
//! snapshots may go as a whole, and of those between survivors everything that is no boundary; but
//!
//! * a boundary stays: its interval would be merged with the next one;
//! * the newest bank before a `resume:` stays if nothing else shows that the run had stopped: without it the interval
//!   would be undecided, and a person's edits would no longer be known as such.

use std::collections::{BTreeMap, BTreeSet};

use super::survey::{Snapshot, Survey};
use crate::error::Result;
use crate::history::History;
use crate::history::index::Index;
use crate::history::journal::Mark;
use crate::history::label;
use crate::store::id::SnapshotId;

/// Takes what must stay out of `doomed`, with the reasons.
pub(super) fn stays(
    history: &History,
    index: &Index,
    survey: &Survey,
    doomed: &mut BTreeSet<SnapshotId>,
) -> Result<Vec<(SnapshotId, String)>> {
    let journal = history.journal()?;
    // As authorship sees it: a stop that died before the index is none.
    let marks = journal.effective(index);
    let chains = survey.chains();
    let mut kept = Vec::new();
    // Whatever stays may end the oldest prefix earlier, and then what came after it stands between survivors.
    loop {
        let found: BTreeMap<_, _> = chains.iter().flat_map(|chain| judge(chain, &marks, doomed)).collect();
        if found.is_empty() {
            return Ok(kept);
        }
        for (id, reason) in found {
            doomed.remove(&id);
            kept.push((id, reason.to_owned()));
        }
    }
}

fn judge(chain: &[&Snapshot], marks: &[&Mark], doomed: &BTreeSet<SnapshotId>) -> Vec<(SnapshotId, &'static str)> {
    let mut found = Vec::new();
    let mut older: Option<&Snapshot> = None;
    let mut newest_bank: Option<&Snapshot> = None;
    // What no survivor follows shows nothing to anybody; of the head's chain that is never the case.
    let end = chain.iter().rposition(|snapshot| !doomed.contains(&snapshot.id)).map_or(0, |last| last + 1);
    let kept = chain.iter().take(end).skip_while(|snapshot| doomed.contains(&snapshot.id));
    for snapshot in kept.copied() {
        let own = snapshot.own.as_deref().unwrap_or_default();
        if !label::is_boundary(own) {
            if label::is_bank(own) {
                newest_bank = Some(snapshot);
            }
            continue;
        }
        if doomed.contains(&snapshot.id) {
            found.push((snapshot.id.clone(), "it is a boundary between snapshots that stay"));
        }
        let needs_evidence = is_phase(own, &["resume"]) && older.is_some_and(|older| !shows_stop(older, marks));
        if needs_evidence && let Some(bank) = newest_bank.filter(|bank| doomed.contains(&bank.id)) {
            found.push((bank.id.clone(), "it alone shows that the run had stopped"));
        }
        older = Some(snapshot);
        newest_bank = None;
    }
    found
}

/// Whether a mark says that the run stopped at a boundary: its own label, one that points to it, or one that did.
fn shows_stop(snapshot: &Snapshot, marks: &[&Mark]) -> bool {
    let is_stop = |label: &str| is_phase(label, &["pause", "fail"]);
    let was_marked =
        marks.iter().any(|mark| is_stop(&mark.label) && mark.new.as_deref() == Some(snapshot.id.as_str()));
    was_marked || snapshot.labels.iter().chain(&snapshot.own).any(|label| is_stop(label))
}

fn is_phase(label: &str, phases: &[&str]) -> bool {
    label::boundary(label).is_some_and(|mark| phases.contains(&mark.phase))
}
