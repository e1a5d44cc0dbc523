//! [`Authorship`]: which changes the run produced, and which somebody else made while it was parked (design section 6).
//!
//! ```text
//! pre:I:0 --(a)--> pause:I:0 --(n1)--> resume:I:0 --(b)--> post:I:0        own labels of the chain, banks stepped over
//!          produced         parked             produced
//! ```
//!
//! Each pair of neighbouring boundaries contributes the paths that differ between them: to *parked* if the newer one is
//! a `resume:`, which closes a time in which nothing of the run was executing, else to *produced*. It is a union over
//! pairs and not a comparison of the two ends: a file that was changed and changed back was touched.
//!
//! Own labels are read, never the label map: a label that is used again moves, an own label stays. If nothing shows that
//! the run stopped before a `resume:`, its process died without a word, and the pair may be its debris or somebody's
//! edit: it is *undecided*, and said so.
//!
//! The branches of a fan-out run at the same time ([`super::timeline`]). If one node was at work while the run came back at
//! another, what changed is undecided, too; if one was paused while another was at work, the run produced it, and it is
//! *contested*: somebody may have had a part in it. So it is where the run had stopped and went on without a `resume:`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::History;
use super::covers::CoverageRules;
use super::diff::{self, Letter, Side};
use super::index::Index;
use super::journal::Journal;
use super::label::{self, Boundary};
use super::manifest::Manifest;
use super::timeline::{Execution, Meanwhile, Timeline};
use crate::error::{Error, Kind, Result};
use crate::store::id::SnapshotId;
use crate::store::pool::Pool;
use crate::store::relpath::RelPathBuf;

/// Whose changes an interval holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The run's.
    Produced,
    /// Somebody else's, made while the run was parked.
    Parked,
    /// Nobody can tell.
    Undecided,
}

impl Owner {
    /// The word in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Produced => "produced",
            Self::Parked => "parked",
            Self::Undecided => "undecided",
        }
    }
}

/// Two neighbouring boundaries and what changed between them.
#[derive(Debug)]
pub struct Interval {
    /// The boundary it begins with; for the first interval the snapshot that was asked for.
    pub older: SnapshotId,
    /// The own label of that.
    pub older_label: Option<String>,
    /// The boundary it ends with.
    pub newer: SnapshotId,
    /// The own label of that.
    pub newer_label: Option<String>,
    /// Whose changes these are.
    pub owner: Owner,
    /// Why, as a sentence.
    pub reason: String,
    /// Whether somebody else may have had a part in what the run produced here.
    pub is_contested: bool,
    /// The nodes that may have done it: the first is that of the boundary at the end, where it was at work.
    pub nodes: Vec<Execution>,
    /// The paths that differ, sorted, and how.
    pub paths: BTreeMap<RelPathBuf, Letter>,
}

/// Who changed what between two snapshots.
#[derive(Debug, Default)]
pub struct Authorship {
    /// The intervals, oldest first.
    pub intervals: Vec<Interval>,
}

impl Authorship {
    fn paths_of(&self, owner: Owner) -> BTreeSet<&RelPathBuf> {
        self.intervals
            .iter()
            .filter(|interval| interval.owner == owner)
            .flat_map(|interval| interval.paths.keys())
            .collect()
    }

    /// The paths that the run changed, whoever else did.
    #[must_use]
    pub fn produced(&self) -> BTreeSet<&RelPathBuf> {
        self.paths_of(Owner::Produced)
    }

    /// The paths that somebody changed while the run was parked, and the run never did.
    #[must_use]
    pub fn parked(&self) -> BTreeSet<&RelPathBuf> {
        let produced = self.produced();
        self.paths_of(Owner::Parked).into_iter().filter(|path| !produced.contains(*path)).collect()
    }

    /// The paths of which nobody can tell, and that the run did not surely change.
    #[must_use]
    pub fn undecided(&self) -> BTreeSet<&RelPathBuf> {
        let produced = self.produced();
        self.paths_of(Owner::Undecided).into_iter().filter(|path| !produced.contains(*path)).collect()
    }

    /// The paths that the run changed and somebody else may have changed too: a rewind takes both back.
    #[must_use]
    pub fn overlap(&self) -> BTreeSet<&RelPathBuf> {
        let produced = self.produced();
        let others =
            self.intervals.iter().filter(|interval| interval.owner != Owner::Produced || interval.is_contested);
        others.flat_map(|interval| interval.paths.keys()).filter(|path| produced.contains(path)).collect()
    }
}

/// What shows that the run stopped between two snapshots, beside own labels; events of the run, for example.
pub type StopEvidence<'a> = &'a dyn Fn(&Manifest, &Manifest) -> bool;

impl History {
    /// Finds out who changed what from the snapshot `from` to the newest boundary at or before `to` (head unless given).
    ///
    /// # Errors
    /// [`Kind::Refused`] when the chain of `to` does not lead back to `from`: nobody can tell then;
    /// [`Kind::Damaged`] for a manifest in between that cannot be read.
    pub fn authorship(
        &self,
        index: &Index,
        from: &SnapshotId,
        to: Option<&SnapshotId>,
        pool: Option<&Pool>,
        stopped: StopEvidence<'_>,
    ) -> Result<Authorship> {
        let newest = to.cloned().or_else(|| index.head.clone());
        let journal = self.journal()?;
        let stop_marks = stop_marks(index, &journal);
        let timeline = Timeline::of(&journal.effective(index));
        let mut intervals = Vec::new();
        let mut newer: Option<Manifest> = None;
        let mut between = Stands::Goes;
        let mut reached = false;
        for (id, manifest) in self.chain(newest) {
            let manifest = manifest.map_err(|error| error.while_doing("cannot tell who changed what"))?;
            let is_target = id == *from;
            let own = manifest.label.as_deref();
            if !is_target && !own.is_some_and(label::is_boundary) {
                between = between.max(own.and_then(stops).unwrap_or(Stands::Goes));
                continue;
            }
            if let Some(newer) = &newer {
                let mark = stop_marks.get(&id).copied().or_else(|| stops(own?)).unwrap_or(Stands::Goes);
                let meanwhile = timeline.until(&newer.id);
                let mark = if meanwhile.only_others_stopped { Stands::Goes } else { mark };
                let stands = between.max(mark);
                let stands = if stopped(&manifest, newer) { Stands::Stopped } else { stands };
                intervals.push(interval(&manifest, newer, stands, &meanwhile, pool)?);
            }
            between = Stands::Goes;
            newer = Some(manifest);
            if is_target {
                reached = true;
                break;
            }
        }
        if !reached {
            return Err(Error::new(
                Kind::Refused,
                format!("the history of run '{}' does not lead back to snapshot '{from}'", self.run()),
            )
            .hint("name a snapshot of the newest one's chain; 'wt-log' shows it"));
        }
        intervals.reverse();
        Ok(Authorship { intervals })
    }
}

/// What marks say of each snapshot: that the run stood still there, or that it went on from there.
///
/// The journal remembers labels that moved on, and their order: a run that paused and came back without a change has
/// both marks on one snapshot, and if it dies then, nothing shows that it had stopped. Where the journal says nothing,
/// as in a history of the original, a stop is told by own labels and by the label map.
fn stop_marks(index: &Index, journal: &Journal) -> HashMap<SnapshotId, Stands> {
    let mut marks = HashMap::new();
    for (label, id) in &index.labels {
        if let (Some(stands @ (Stands::Banked | Stands::Stopped)), Some(id)) = (stops(label), SnapshotId::parse(id))
        {
            marks.insert(id, stands);
        }
    }
    for mark in &journal.marks {
        let id = mark.new.as_deref().and_then(SnapshotId::parse);
        if let (Some(stops), Some(id)) = (stops(&mark.label), id) {
            marks.insert(id, stops);
        }
    }
    marks
}

/// What a label says of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stands {
    /// It executes.
    Goes,
    /// Somebody took a bank, and may have done it while the run executed.
    Banked,
    /// It stands still.
    Stopped,
}

/// What a label says of the run; other labels than boundaries and banks say nothing.
fn stops(label: &str) -> Option<Stands> {
    if label::is_bank(label) {
        let is_of_a_restore = label.starts_with("rewind-backup:") || label.starts_with("pre-restore:");
        return Some(if is_of_a_restore { Stands::Stopped } else { Stands::Banked });
    }
    let is_stop = || label::boundary(label).is_some_and(|mark| matches!(mark.phase, "pause" | "fail"));
    label::is_boundary(label).then(|| if is_stop() { Stands::Stopped } else { Stands::Goes })
}

fn interval(
    older: &Manifest,
    newer: &Manifest,
    stands: Stands,
    meanwhile: &Meanwhile,
    pool: Option<&Pool>,
) -> Result<Interval> {
    let mark = newer.label.as_deref().and_then(label::boundary);
    let closes_a_stop = mark.is_some_and(|mark| mark.phase == "resume");
    let name = |manifest: &Manifest| manifest.label.clone().unwrap_or_else(|| manifest.id.to_string());
    let (from, until) = (name(older), name(newer));
    let others = |set: &BTreeSet<Execution>| set.first().map(ToString::to_string).unwrap_or_default();
    let is_contested = !closes_a_stop && (stands == Stands::Stopped || !meanwhile.paused.is_empty());
    let (owner, reason) = match (closes_a_stop, stands > Stands::Goes, meanwhile.at_work.is_empty()) {
        (false, _, _) if is_contested && meanwhile.paused.is_empty() => {
            let reason = format!(
                "the run had stopped at '{from}' and was executing at '{until}', but no resume shows since when"
            );
            (Owner::Produced, reason)
        }
        (false, _, _) if is_contested => {
            let paused = others(&meanwhile.paused);
            let reason = format!(
                "the run was executing from '{from}' to '{until}', but '{paused}' was paused, and somebody may have had a part"
            );
            (Owner::Produced, reason)
        }
        (false, _, _) => (Owner::Produced, format!("the run was executing from '{from}' to '{until}'")),
        (true, true, true) => (Owner::Parked, format!("the run was parked from '{from}' to '{until}'")),
        (true, true, false) => {
            let at_work = others(&meanwhile.at_work);
            let reason =
                format!("the run was parked from '{from}' to '{until}', but '{at_work}' was at work all the while");
            (Owner::Undecided, reason)
        }
        (true, false, _) => (
            Owner::Undecided,
            format!(
                "the run came back at '{until}', and nothing shows that it had stopped at '{from}': it may have died at work"
            ),
        ),
    };
    let old = Side { covers: CoverageRules::load(older, pool)?, manifest: older };
    let new = Side { covers: CoverageRules::load(newer, pool)?, manifest: newer };
    let paths = diff::differences(&old, &new)
        .into_iter()
        // Of what lies below a directory that could not be listed nobody knows who wrote it.
        .filter(|difference| !difference.hides_subtree())
        .map(|difference| (difference.path.to_owned(), difference.letter))
        .collect();
    Ok(Interval {
        older: older.id.clone(),
        older_label: older.label.clone(),
        newer: newer.id.clone(),
        newer_label: newer.label.clone(),
        owner,
        reason,
        is_contested,
        nodes: nodes(mark, meanwhile),
        paths,
    })
}

/// Who may have been at work: of what ends, that; before anything begins, whatever began last and has not ended.
fn nodes(mark: Option<Boundary<'_>>, meanwhile: &Meanwhile) -> Vec<Execution> {
    let own = mark.filter(|mark| mark.phase != "pre");
    let own = own.map(|mark| Execution { node: mark.node.to_owned(), iteration: mark.iteration });
    let mut nodes: Vec<Execution> = own.into_iter().chain(meanwhile.at_work.iter().cloned()).collect();
    if nodes.is_empty() {
        nodes.extend(meanwhile.last_begun.clone());
    }
    nodes
}
