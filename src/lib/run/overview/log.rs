//! [`Log`]: what the event log of a run says. Nodes, sums and deployment need the whole log, so whoever looks again and again
//! keeps it and reads on where the last look ended.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::first_row;
use super::nodes::Nodes;
use crate::error::{IoContext, Result};
use crate::run::events::damage::{Tally, Verdict, Weight};
use crate::run::events::event::Event;
use crate::run::events::filter::Filter;
use crate::run::events::fold::Fold;
use crate::run::events::fold::active_time::ActiveTime;
use crate::run::events::fold::deployment::Deployment;
use crate::run::events::follow::{Follow, News};
use crate::run::events::lines::Tail;
use crate::run::events::scan::{Found, Scan};
use crate::run::events::{bisect, source};
use crate::run::json::Json;
use crate::store::id::RunId;
use crate::store::{Store, layout};

/// The log of a run, as far as it was read.
pub struct Log {
    path: PathBuf,
    last_max: usize,
    follow: Follow,
    seen: Seen,
}

/// What was read.
#[derive(Clone)]
struct Seen {
    nodes: Nodes,
    active: Fold<ActiveTime>,
    deployment: Fold<Deployment>,
    last: VecDeque<Json>,
    damaged: u64,
    first_damage: String,
}

impl Log {
    /// Nothing is read yet. The last `last_max` events are kept.
    #[must_use]
    pub fn new(store: &Store, run: &RunId, last_max: usize) -> Self {
        Self::of(layout::events(store.root(), run), last_max)
    }

    fn of(path: PathBuf, last_max: usize) -> Self {
        let seen = Seen {
            nodes: Nodes::default(),
            active: Fold::new(ActiveTime::default()),
            deployment: Fold::new(Deployment::tied()),
            last: VecDeque::new(),
            damaged: 0,
            first_damage: String::new(),
        };
        Self { follow: Follow::from_start(&path), path, last_max, seen }
    }

    /// Reads what has come since the last look, and puts what the log says into `all`. A log that is not the one of the last
    /// look any more is read anew. What is wrong with it goes to `problem`.
    pub(super) fn put(&mut self, run: &Json, all: &mut Json, problem: &mut dyn FnMut(String)) {
        let read_on = self.read_on().and_then(|is_same| {
            if is_same {
                return Ok(());
            }
            *self = Self::of(std::mem::take(&mut self.path), self.last_max);
            self.read_on().map(drop)
        });
        if let Err(error) = read_on {
            problem(error.to_string());
        }
        let mut now = self.seen.clone();
        let mut tally = self.follow.tally();
        // A line without its newline counts as it stands, and is read again when there is more.
        if let Some((file, offset)) = self.follow.rest() {
            let mut scan = Scan::from(file, offset);
            let read = scan.run(Tail::Emit, |found| {
                now.take(&found, self.last_max);
                Ok(ControlFlow::Continue(()))
            });
            if let Err(error) = read {
                problem(error.to_string());
            }
            let rest = scan.tally();
            let tally = tally.get_or_insert_default();
            tally.events += rest.events;
            tally.last_seq = tally.last_seq.max(rest.last_seq);
        }
        now.put(run, tally, all, problem);
    }

    /// `false` where the log did what a log must not, so that what was read may be gone.
    fn read_on(&mut self) -> Result<bool> {
        let mut is_same = true;
        let (seen, last_max) = (&mut self.seen, self.last_max);
        let _ = self.follow.drain(|news| {
            match news {
                News::Notice(_) => is_same = false,
                News::Found(found) => seen.take(&found, last_max),
            }
            Ok(if is_same { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(is_same)
    }
}

impl Seen {
    fn take(&mut self, found: &Found<'_>, last_max: usize) {
        match found {
            Found::Damage(damage) if damage.cause.weight() == Weight::Loss => {
                self.damaged += 1;
                if self.damaged == 1 {
                    self.first_damage = damage.to_string();
                }
            }
            Found::Damage(_) => {}
            Found::Event(event, _) => {
                self.nodes.apply(event);
                self.active.apply(event);
                self.deployment.apply(event);
                keep(&mut self.last, event, last_max);
            }
        }
    }

    fn put(self, run: &Json, tally: Option<Tally>, all: &mut Json, problem: &mut dyn FnMut(String)) {
        if self.damaged > 0 {
            let more = if self.damaged > 1 { format!(", and {} more", self.damaged - 1) } else { String::new() };
            problem(format!(
                "the event log is damaged: {}{more}; 'run-events check' names all of it",
                self.first_damage
            ));
        }
        if tally.is_some_and(|tally| tally.verdict() == Verdict::Corrupt) {
            problem("the event log is corrupt: what is told from it is not the whole".into());
        }
        let (rows, totals) = self.nodes.finish(run, self.active);
        all.set("totals", totals);
        all.set("nodes", Json::Array(rows));
        if let Some(report) = first_row(self.deployment) {
            all.set("deployment", report);
        }
        let mut events = Json::object([("last", Json::Array(self.last.into()))]);
        if let Some(tally) = tally {
            events.set("count", number(tally.events));
            set_last_seq(&mut events, &tally);
        }
        all.set("events", events);
    }
}

/// The last events alone, without a look at what lies before them.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub(super) fn only_last(path: &Path, last_max: usize) -> Result<Json> {
    let mut last = VecDeque::new();
    let mut events = Json::object::<&str>([]);
    if let Some(file) = source::open(path)? {
        let len = source::len(&file).on("cannot examine", path)?;
        let wanted = u64::try_from(last_max.max(1)).unwrap_or(u64::MAX);
        let begin = bisect::offset_of_last(&file, len, Tail::Emit, &Filter::default(), wanted);
        let mut scan = Scan::from(&file, begin.on("cannot read", path)?);
        let _ = scan.run(Tail::Emit, |found| {
            if let Found::Event(event, _) = found {
                keep(&mut last, event, last_max);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        set_last_seq(&mut events, scan.tally());
    }
    events.set("last", Json::Array(last.into()));
    Ok(events)
}

fn keep(last: &mut VecDeque<Json>, event: &Event<'_>, last_max: usize) {
    if last_max == 0 {
        return;
    }
    if last.len() >= last_max {
        last.pop_front();
    }
    last.extend(Json::parse(event.line).ok());
}

fn set_last_seq(events: &mut Json, tally: &Tally) {
    if let Some(seq) = tally.last_seq {
        events.set("last_seq", number(seq));
    }
}

fn number(n: u64) -> Json {
    Json::integer(i64::try_from(n).unwrap_or(i64::MAX))
}
