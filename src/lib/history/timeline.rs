//! [`Timeline`]: which nodes were at work, and which were paused, while one boundary led to the next.
//!
//! ```text
//! journal     pre:a   pre:b   pause:a   post:b   resume:a   post:a
//! a           |---------------|                  |----------|
//! b                   |-----------------|
//! ```
//!
//! An engine that executes one node after the other needs none of this: between two boundaries one node ran, or the run
//! stood still. Where the branches of a fan-out mark their nodes, too, what lies between two boundaries may be of
//! several, and a pause of one says nothing of the others. The order of marks in the label journal shows it.
//!
//! A node that begins and never ends proves nothing: routers and nodes that ask a person mark no end (facts 2.6). It was
//! surely at work if a mark of its own follows, or if a node that had begun before it was still at work behind its
//! beginning.
//! A rewind finds nothing at work, so all that is open is closed by its bank.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::History;
use super::index::Index;
use super::journal::{HEAD, Mark};
use super::label;
use crate::error::Result;
use crate::store::id::SnapshotId;

/// One execution of a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Execution {
    /// The node.
    pub node: String,
    /// The iteration.
    pub iteration: u64,
}

impl std::fmt::Display for Execution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.node, self.iteration)
    }
}

/// What went on until a snapshot was made, apart from the execution that its boundary is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meanwhile {
    /// What surely was at work.
    pub at_work: BTreeSet<Execution>,
    /// What was paused all the while.
    pub paused: BTreeSet<Execution>,
    /// What began last of all that may have been at work; it may have ended without a mark.
    pub last_begun: Option<Execution>,
    /// Whether an execution came back that was at work, as far as marks say, and only another one had stopped.
    pub only_others_stopped: bool,
}

/// A mark of the journal that tells of executions.
enum Step {
    Begin(Execution),
    Pause(Execution),
    End(Execution),
    Rewind,
    Other,
}

impl Step {
    fn of(mark: &Mark) -> Self {
        if mark.new.is_none() {
            return Self::Other;
        }
        if mark.label.starts_with("rewind-backup:") {
            return Self::Rewind;
        }
        let Some(boundary) = label::boundary(&mark.label) else { return Self::Other };
        let execution = Execution { node: boundary.node.to_owned(), iteration: boundary.iteration };
        match boundary.phase {
            "pre" | "resume" => Self::Begin(execution),
            "pause" => Self::Pause(execution),
            _ => Self::End(execution),
        }
    }

    fn execution(&self) -> Option<&Execution> {
        match self {
            Self::Begin(execution) | Self::Pause(execution) | Self::End(execution) => Some(execution),
            Self::Rewind | Self::Other => None,
        }
    }
}

/// An execution that has begun and has not ended.
struct Open {
    began_at: usize,
    /// Whether something shows that it is at work and has not ended without a mark.
    is_sure: bool,
}

/// The order of boundaries of a run.
#[derive(Debug, Default)]
pub struct Timeline {
    meanwhile: HashMap<SnapshotId, Meanwhile>,
    /// From its beginning to its last end or pause, by places in the journal; only those that have both.
    spans: BTreeMap<Execution, (usize, usize)>,
    unended: Vec<Execution>,
}

impl History {
    /// Reads the order of boundaries from the label journal. A history of the original has none, and then nothing is known.
    ///
    /// # Errors
    /// Those of [`History::journal`].
    pub fn timeline(&self, index: &Index) -> Result<Timeline> {
        Ok(Timeline::of(&self.journal()?.effective(index)))
    }
}

impl Timeline {
    /// Replays the marks of a journal.
    #[must_use]
    pub fn of(marks: &[&Mark]) -> Self {
        let steps: Vec<Step> = marks.iter().map(|mark| Step::of(mark)).collect();
        let goes_on = goes_on(&steps);
        let mut timeline = Self::default();
        let mut open: BTreeMap<&Execution, Open> = BTreeMap::new();
        let mut paused: BTreeMap<&Execution, usize> = BTreeMap::new();
        let mut first_begun: HashMap<&Execution, usize> = HashMap::new();
        let mut last_stop = None;
        for (at, (mark, step)) in marks.iter().zip(&steps).enumerate() {
            if mark.label == HEAD {
                continue;
            }
            // Whoever is still marking was at work all along: what began meanwhile runs beside it.
            if let Step::Pause(execution) | Step::End(execution) = step
                && let Some(own) = open.get(execution).map(|open| open.began_at)
            {
                open.values_mut().filter(|other| other.began_at > own).for_each(|other| other.is_sure = true);
            }
            if let Some(id) = mark.new.as_deref().and_then(SnapshotId::parse) {
                let own = step.execution();
                let last_stop = last_stop.filter(|_| mark.label.starts_with("resume:"));
                timeline.meanwhile.entry(id).or_insert_with(|| meanwhile(&open, &paused, own, last_stop));
            }
            if let Some(execution) = step.execution() {
                paused.remove(execution);
                open.remove(execution);
            }
            last_stop = match step {
                Step::Pause(execution) => Some(execution),
                Step::End(execution) if mark.label.starts_with("fail:") => Some(execution),
                _ => None,
            };
            match step {
                Step::Begin(execution) => {
                    let is_sure = goes_on.get(at).copied().unwrap_or_default();
                    open.insert(execution, Open { began_at: at, is_sure });
                    if mark.label.starts_with("pre:") {
                        first_begun.insert(execution, at);
                    } else {
                        first_begun.entry(execution).or_insert(at);
                    }
                }
                Step::Pause(execution) => {
                    paused.insert(execution, at);
                    if let Some(begin) = first_begun.get(execution) {
                        timeline.spans.insert(execution.clone(), (*begin, at));
                    }
                }
                Step::End(execution) => {
                    if let Some(begin) = first_begun.remove(execution) {
                        timeline.spans.insert(execution.clone(), (begin, at));
                    }
                }
                Step::Rewind => {
                    open.clear();
                    paused.clear();
                    first_begun.clear();
                }
                Step::Other => {}
            }
        }
        let sure = open.iter().filter(|(_, open)| open.is_sure).map(|(execution, _)| *execution);
        // Behind its beginning there is nothing but banks. A rewind closes it, but does not show whose the rest is.
        let last = steps.iter().rev().find(|step| step.execution().is_some());
        let last = last.and_then(|step| if let Step::Begin(execution) = step { Some(execution) } else { None });
        let unended: BTreeSet<&Execution> = sure.chain(last).collect();
        timeline.unended = unended.into_iter().cloned().collect();
        timeline
    }

    /// The executions that may be at work behind the last mark: those that surely were, and one that is the last to have
    /// begun. Another that began and has no mark since may be a router, which marks no end.
    #[must_use]
    pub fn unended(&self) -> &[Execution] {
        &self.unended
    }

    /// What went on until a snapshot was made; nothing where the journal does not tell.
    #[must_use]
    pub fn until(&self, snapshot: &SnapshotId) -> Meanwhile {
        self.meanwhile.get(snapshot).cloned().unwrap_or_default()
    }

    /// The executions that ran at the same time as this one, for a part of it or longer.
    #[must_use]
    pub fn beside(&self, execution: &Execution) -> BTreeSet<Execution> {
        let Some((begin, end)) = self.spans.get(execution) else { return BTreeSet::new() };
        let others = self.spans.iter().filter(|(other, _)| *other != execution);
        others.filter(|(_, span)| span.0 < *end && *begin < span.1).map(|(other, _)| other.clone()).collect()
    }
}

fn meanwhile(
    open: &BTreeMap<&Execution, Open>,
    paused: &BTreeMap<&Execution, usize>,
    own: Option<&Execution>,
    last_stop: Option<&Execution>,
) -> Meanwhile {
    let others = || open.iter().filter(|(execution, _)| Some(**execution) != own);
    Meanwhile {
        at_work: others().filter(|(_, open)| open.is_sure).map(|(execution, _)| (*execution).clone()).collect(),
        paused: paused.keys().filter(|execution| Some(**execution) != own).map(|it| (*it).clone()).collect(),
        last_begun: others().max_by_key(|(_, open)| open.began_at).map(|(execution, _)| (*execution).clone()),
        only_others_stopped: own.is_some_and(|own| open.contains_key(own) && last_stop.is_some_and(|it| it != own)),
    }
}

/// For each place, whether the execution that begins there marks something again before a rewind.
fn goes_on(steps: &[Step]) -> Vec<bool> {
    let mut marked: BTreeSet<&Execution> = BTreeSet::new();
    let mut found = vec![false; steps.len()];
    for (step, found) in steps.iter().zip(&mut found).rev() {
        match (step, step.execution()) {
            (Step::Rewind, _) => marked.clear(),
            (_, Some(execution)) => *found = !marked.insert(execution),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each word is a label, and each makes a snapshot of its own, numbered from 1.
    fn timeline(labels: &str) -> Timeline {
        let mark = |(at, label): (usize, &str)| Mark {
            seq: at as u64,
            time: String::new(),
            label: label.to_owned(),
            old: None,
            new: Some(SnapshotId::new(at as u64 + 1, 1).to_string()),
        };
        let marks: Vec<Mark> = labels.split(' ').enumerate().map(mark).collect();
        Timeline::of(&marks.iter().collect::<Vec<_>>())
    }

    fn until(labels: &str, number: u64) -> (String, String, bool) {
        let found = timeline(labels).until(&SnapshotId::new(number, 1));
        let names = |set: BTreeSet<Execution>| set.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        (names(found.at_work), names(found.paused), found.only_others_stopped)
    }

    fn expect(labels: &str, number: u64, at_work: &str, paused: &str) {
        assert_eq!(until(labels, number), (at_work.into(), paused.into(), false), "{labels}");
    }

    #[test]
    fn one_node_after_the_other_is_alone() {
        expect("pre:a:0 post:a:0 pre:b:0 pause:b:0 resume:b:0 post:b:0", 5, "", "");
        expect("pre:b:0 resume:b:0 post:b:0", 2, "", "");
        // A node that asks a person marks no end.
        expect("pre:ask:0 pause:ask:0 resume:ask:0 pre:b:0 pause:b:0 resume:b:0", 6, "", "");
        assert!(timeline("pre:a:0 post:a:0 pre:b:0 post:b:0").beside(&of("a", 0)).is_empty());
    }

    #[test]
    fn a_node_whose_end_follows_was_at_work_while_another_paused() {
        expect("pre:a:0 pre:b:0 pause:a:0 resume:a:0 post:b:0", 4, "b:0", "");
        expect("pre:b:0 pre:a:0 pause:a:0 resume:a:0 pause:b:0", 4, "b:0", "");
        // Another iteration is another execution.
        expect("pre:a:0 pre:a:1 pause:a:0 resume:a:0 post:a:1", 4, "a:1", "");
        expect("pre:a:0 pre:b:0 pause:a:0 pause:b:0 resume:a:0", 5, "", "b:0");
        expect("pre:a:0 pre:b:0 pause:a:0 rewind-backup:a:0 resume:a:0 post:b:0", 5, "", "");
    }

    #[test]
    fn a_node_that_began_within_another_runs_beside_it() {
        expect("pre:a:0 pre:b:0 pause:a:0 resume:a:0", 4, "b:0", "");
        expect("pre:b:0 pre:a:0 pause:a:0 resume:a:0", 4, "", "");
    }

    #[test]
    fn a_pause_lasts_until_the_node_comes_back() {
        expect("pre:a:0 pre:b:0 pause:a:0 post:b:0", 4, "", "a:0");
        expect("pre:a:0 pre:b:0 pause:a:0 resume:a:0 post:b:0", 5, "a:0", "");
        expect("pre:a:0 pause:a:0 rewind-backup:a:0 pre:b:0", 4, "", "");
    }

    #[test]
    fn what_has_no_mark_of_its_own_has_not_stopped_with_another() {
        let only_others = |labels: &str, number| until(labels, number).2;
        assert!(only_others("pre:a:0 pre:b:0 pause:a:0 resume:b:0", 4));
        assert!(only_others("pre:a:0 pre:b:0 fail:a:0 resume:b:0", 4));
        assert!(!only_others("pre:a:0 pre:b:0 pause:b:0 pause:a:0 resume:b:0", 5));
        assert!(!only_others("pre:a:0 pre:b:0 pause:a:0 bank:0 resume:b:0", 5));
    }

    #[test]
    fn what_never_ended_is_known_where_the_history_stops() {
        let unended =
            |labels: &str| timeline(labels).unended().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        for (labels, expected) in [
            ("pre:a:0", "a:0"),
            ("pre:a:0 bank:0", "a:0"),
            ("pre:a:0 rewind-backup:a:0", "a:0"),
            ("pre:a:0 pause:a:0 resume:a:0", "a:0"),
            ("pre:a:0 post:a:0", ""),
            ("pre:a:0 fail:a:0", ""),
            ("pre:a:0 pause:a:0", ""),
            ("pre:a:0 post:a:0 gate:0", ""),
            // What marks again behind the beginning of another was at work all the while, and so is the other.
            ("pre:a:0 pre:b:0 post:a:0", "b:0"),
            // A router marks no end.
            ("pre:router:0 pre:b:0 post:b:0", ""),
            ("pre:router:0 pre:b:0", "b:0"),
        ] {
            assert_eq!(unended(labels), expected, "{labels}");
        }
    }

    #[test]
    fn overlapping_executions_are_found() {
        let found = timeline("pre:a:0 pre:b:0 post:a:0 pre:c:0 post:b:0 post:c:0");
        assert_eq!(found.beside(&of("a", 0)), BTreeSet::from([of("b", 0)]));
        assert_eq!(found.beside(&of("b", 0)), BTreeSet::from([of("a", 0), of("c", 0)]));
    }

    fn of(node: &str, iteration: u64) -> Execution {
        Execution { node: node.to_owned(), iteration }
    }
}
