//! When the run executed and when it stood still (facts 3.6).
//!
//! An executing window is opened by `run_started` or `run_resumed` and closed by `run_paused`, `run_failed`, `run_cancelled`,
//! `run_interrupted` or `run_finished`. An opening inside a window means that the process died without a mark: the window then
//! ends with the last event before it. A row is given as soon as its window is closed, so memory does not grow.

use serde::Serialize;

use super::{Reducer, row};
use crate::clock;
use crate::run::events::event::Event;
use crate::run::events::vocabulary::{Turn, turn};

/// What a run did in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It executed.
    Executing,
    /// It stood still.
    Stopped,
}

/// A moment in the log.
#[derive(Debug, Clone)]
struct Moment {
    seq: u64,
    timestamp: String,
    kind: String,
}

impl Moment {
    fn of(event: &Event<'_>) -> Self {
        Self {
            seq: event.seq,
            timestamp: event.timestamp.clone().into_owned(),
            kind: event.kind.clone().into_owned(),
        }
    }
}

/// An interval of one state.
#[derive(Debug, Serialize)]
pub struct Window {
    /// What the run did.
    pub state: State,
    /// When it began.
    pub from: String,
    /// When it ended; null for one that is open.
    pub to: Option<String>,
    /// How long it was, in milliseconds; for an open one up to the last event. 0 where the clock went back.
    pub ms: u64,
    /// The number of the event that began it.
    pub from_seq: u64,
    /// The number of the event that ended it.
    pub to_seq: Option<u64>,
    /// The type of the event that began it.
    pub opened_by: String,
    /// The type of the event that ended it; null where the process died without a mark, and for an open window.
    pub closed_by: Option<String>,
}

impl Window {
    fn closed(state: State, from: &Moment, to: &Moment, marked: bool) -> Self {
        Self {
            to: Some(to.timestamp.clone()),
            to_seq: Some(to.seq),
            closed_by: marked.then(|| to.kind.clone()),
            ..Self::open(state, from, to)
        }
    }

    fn open(state: State, from: &Moment, last: &Moment) -> Self {
        let ns = |moment: &Moment| clock::parse_rfc3339(&moment.timestamp);
        let ms = ns(from).zip(ns(last)).map_or(0, |(from, to)| (to - from).max(0) / 1_000_000);
        Self {
            state,
            from: from.timestamp.clone(),
            to: None,
            ms: u64::try_from(ms).unwrap_or(u64::MAX),
            from_seq: from.seq,
            to_seq: None,
            opened_by: from.kind.clone(),
            closed_by: None,
        }
    }
}

/// Finds the windows of a run.
#[derive(Debug, Clone, Default)]
pub struct Windows {
    /// The state the run is in, since when, and whether it may go on by itself.
    current: Option<(State, Moment, Turn)>,
    last: Option<Moment>,
}

impl Windows {
    /// Takes an event in; gives the windows that it closes, at most two.
    pub fn step(&mut self, event: &Event<'_>) -> Vec<Window> {
        let now = Moment::of(event);
        let mut closed = Vec::new();
        match (turn(&event.kind), self.current.take()) {
            (None, current) => self.current = current,
            (Some(Turn::Opens), current) => {
                match current {
                    Some((State::Executing, from, _)) => {
                        let died = self.last.clone().unwrap_or_else(|| from.clone());
                        closed.push(Window::closed(State::Executing, &from, &died, false));
                        closed.push(Window::closed(State::Stopped, &died, &now, true));
                    }
                    Some((State::Stopped, from, _)) => {
                        closed.push(Window::closed(State::Stopped, &from, &now, true));
                    }
                    None => {}
                }
                self.current = Some((State::Executing, now.clone(), Turn::Opens));
            }
            (Some(turn), Some((State::Executing, from, _))) => {
                closed.push(Window::closed(State::Executing, &from, &now, true));
                self.current = Some((State::Stopped, now.clone(), turn));
            }
            // A stop in a stop, as a pause that is then cancelled: what began first goes on.
            (Some(turn), Some((State::Stopped, from, _))) => self.current = Some((State::Stopped, from, turn)),
            (Some(turn), None) => self.current = Some((State::Stopped, now.clone(), turn)),
        }
        self.last = Some(now);
        closed
    }

    /// The window that is open at the end; none for a run that has ended.
    #[must_use]
    pub fn rest(self) -> Option<Window> {
        match (self.current, self.last) {
            (Some((state, from, turn)), Some(last)) if turn != Turn::Ends => {
                Some(Window::open(state, &from, &last))
            }
            _ => None,
        }
    }
}

impl Reducer for Windows {
    fn apply(&mut self, event: &Event<'_>) -> Option<String> {
        let rows: Vec<String> = self.step(event).iter().map(row).collect();
        (!rows.is_empty()).then(|| rows.join("\n"))
    }

    fn finish(self) -> Vec<String> {
        self.rest().iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::events::event::Event;
    use crate::run::events::fold::testing::rows;

    fn windows(events: &[&str]) -> Vec<(State, u64, Option<u64>, u64, bool)> {
        let mut windows = Windows::default();
        let mut found = Vec::new();
        for (seq, kind) in events.iter().enumerate() {
            let line =
                format!("{{\"seq\":{seq},\"type\":\"{kind}\",\"timestamp\":\"2026-01-01T00:00:{seq:02}Z\"}}");
            found.extend(windows.step(&Event::parse(line.as_bytes()).unwrap()));
        }
        found.extend(windows.rest());
        found.iter().map(|w| (w.state, w.from_seq, w.to_seq, w.ms, w.closed_by.is_some())).collect()
    }

    #[test]
    fn windows_are_opened_and_closed_by_what_the_facts_say() {
        use State::{Executing, Stopped};
        assert_eq!(windows(&["run_started", "x", "run_finished"]), [(Executing, 0, Some(2), 2000, true)]);
        assert_eq!(
            windows(&["run_started", "run_paused", "x", "run_resumed", "x"]),
            [
                (Executing, 0, Some(1), 1000, true),
                (Stopped, 1, Some(3), 2000, true),
                (Executing, 3, None, 1000, false)
            ]
        );
        assert_eq!(
            windows(&["run_started", "x", "run_resumed", "run_failed"]),
            [
                (Executing, 0, Some(1), 1000, false),
                (Stopped, 1, Some(2), 1000, true),
                (Executing, 2, Some(3), 1000, true)
            ]
        );
        assert_eq!(
            windows(&["run_started", "run_interrupted", "run_cancelled"]),
            [(Executing, 0, Some(1), 1000, true)]
        );
        assert_eq!(windows(&["x"]), []);
    }

    #[test]
    fn a_row_says_what_began_and_ended_it() {
        assert_eq!(
            rows(Windows::default(), &["run_started", "run_failed"]),
            [concat!(
                r#"{"state":"executing","from":"2026-01-01T00:00:00Z","to":"2026-01-01T00:00:01Z","ms":1000,"#,
                r#""from_seq":0,"to_seq":1,"opened_by":"run_started","closed_by":"run_failed"}"#
            )]
        );
    }
}
