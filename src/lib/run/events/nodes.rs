//! What the log says of nodes that began and of runs that stopped: [`last_start`] and [`Stops`].

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde_json::value::RawValue;

use super::event::string;
use super::lines::Tail;
use super::scan::{Found, Scan};
use super::source;
use crate::clock;
use crate::error::Result;
use crate::store::id::RunId;
use crate::store::{Store, layout};

/// The last start of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// The kind of the node, or empty.
    pub kind: String,
    /// Whether neither its end nor that of the run follows.
    pub is_open: bool,
}

/// Reads the log of a run; `None` where it does not say that the node began. Damage is passed over: this only explains.
///
/// # Errors
/// [`crate::error::Kind::Io`], [`crate::error::Kind::Damaged`] for a log that is no file.
pub fn last_start(store: &Store, run: &RunId, node: &str) -> Result<Option<Start>> {
    let Some(file) = source::open(&layout::events(store.root(), run))? else { return Ok(None) };
    let mut last: Option<Start> = None;
    let _ = Scan::whole(file).run(Tail::Emit, |found| {
        if let Found::Event(event, _) = found {
            match (&*event.kind, event.node_id == node) {
                ("node_started", true) => {
                    let data = event.data.as_ref().map(|data| data.get()).unwrap_or_default();
                    let data: HashMap<String, &RawValue> = serde_json::from_str(data).unwrap_or_default();
                    let kind = data.get("kind").and_then(|kind| string(kind)).unwrap_or_default().into_owned();
                    last = Some(Start { kind, is_open: true });
                }
                ("node_finished", true)
                | ("run_finished" | "run_failed" | "run_cancelled" | "run_interrupted" | "run_rewound", _) => {
                    if let Some(start) = &mut last {
                        start.is_open = false;
                    }
                }
                _ => {}
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(last)
}

/// When nodes began and when the run stopped.
#[derive(Debug, Default)]
pub struct Stops {
    /// Nanoseconds since the epoch, and what happened then; in the order of the log.
    marks: Vec<(i128, Turn)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// A node began.
    Starts,
    /// The run stopped, and said so itself.
    Stops,
    /// Somebody else found that it had stopped.
    IsFoundDead,
}

impl Stops {
    /// Reads the log of a run; damage, and events without a time, are passed over.
    ///
    /// # Errors
    /// As [`last_start`].
    pub fn read(store: &Store, run: &RunId) -> Result<Self> {
        let mut marks = Vec::new();
        let Some(file) = source::open(&layout::events(store.root(), run))? else { return Ok(Self { marks }) };
        let _ = Scan::whole(file).run(Tail::Emit, |found| {
            if let Found::Event(event, _) = found {
                let stops = match &*event.kind {
                    "node_started" => Some(Turn::Starts),
                    "run_paused" | "run_failed" | "run_cancelled" => Some(Turn::Stops),
                    "run_interrupted" => Some(Turn::IsFoundDead),
                    _ => None,
                };
                marks.extend(stops.and_then(|stops| Some((clock::parse_rfc3339(&event.timestamp)?, stops))));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Self { marks })
    }

    /// Whether the log shows that the run stopped in a span of time before any node began in it. A stop behind a start shows
    /// nothing: the node may have worked before (facts W42).
    #[must_use]
    pub fn show_a_stop(&self, from_ns: u64, until_ns: u64) -> bool {
        self.first_within(from_ns, until_ns).is_some_and(|turn| turn != Turn::Starts)
    }

    /// Whether the log shows that the run itself stopped since then, before any node began. That it was found dead shows
    /// nothing: it may have worked until it died.
    #[must_use]
    pub fn show_an_orderly_stop_since(&self, from_ns: u64) -> bool {
        self.first_within(from_ns, u64::MAX) == Some(Turn::Stops)
    }

    fn first_within(&self, from_ns: u64, until_ns: u64) -> Option<Turn> {
        let (from, until) = (i128::from(from_ns), i128::from(until_ns));
        self.marks.iter().find(|(time, _)| from < *time && *time < until).map(|(_, turn)| *turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_counts_only_if_no_node_began_before_it() {
        use Turn::{IsFoundDead, Starts};
        let marks = vec![(10, Starts), (20, Turn::Stops), (30, IsFoundDead), (40, Starts), (50, Turn::Stops)];
        let stops = Stops { marks };
        for (from, until, shown) in
            [(0, 60, false), (10, 25, true), (10, 20, false), (25, 60, true), (30, 60, false), (50, 60, false)]
        {
            assert_eq!(stops.show_a_stop(from, until), shown, "{from} {until}");
        }
        for (from, shown) in [(0, false), (10, true), (20, false), (30, false), (40, true), (50, false)] {
            assert_eq!(stops.show_an_orderly_stop_since(from), shown, "{from}");
        }
    }
}
