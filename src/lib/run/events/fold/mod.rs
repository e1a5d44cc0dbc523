//! Reducers over the stream of events: each a pure function of the events it was given, in one pass.
//!
//! They see no file, no clock and no terminal, so the same events give the same rows whether they come from a log, a pipe
//! or a test. An event whose number is not above the last one applied is passed over (facts 3.6).

pub mod active_time;
pub mod costs;
pub mod decimal;
pub mod deployment;
pub mod executions;
pub mod windows;

use serde::Serialize;

use super::event::Event;

/// Reduces events to rows, which are JSON objects.
pub trait Reducer {
    /// Takes an event in; may give a row that no later event can change.
    fn apply(&mut self, event: &Event<'_>) -> Option<String>;

    /// The rows that are left at the end.
    fn finish(self) -> Vec<String>;
}

/// Feeds a reducer with events in the order of their numbers.
#[derive(Debug, Clone)]
pub struct Fold<R> {
    reducer: R,
    last_seq: Option<u64>,
}

impl<R: Reducer> Fold<R> {
    /// Begins with no event applied.
    pub fn new(reducer: R) -> Self {
        Self { reducer, last_seq: None }
    }

    /// Applies an event, unless it was applied before.
    pub fn apply(&mut self, event: &Event<'_>) -> Option<String> {
        if self.last_seq.is_some_and(|last| event.seq <= last) {
            return None;
        }
        self.last_seq = Some(event.seq);
        self.reducer.apply(event)
    }

    /// The rows that are left.
    pub fn finish(self) -> Vec<String> {
        self.reducer.finish()
    }
}

/// A row as a line of JSON.
fn row(value: &impl Serialize) -> String {
    // Rows are plain structs of strings, numbers and lists, which always can be written.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod testing {
    use super::{Event, Fold, Reducer};

    /// All rows for events given as `type members...`, numbered and timed by the second from 0.
    pub(super) fn rows(reducer: impl Reducer, events: &[&str]) -> Vec<String> {
        let mut fold = Fold::new(reducer);
        let mut rows = Vec::new();
        for (seq, event) in events.iter().enumerate() {
            let (kind, members) = event.split_once(' ').unwrap_or((event, ""));
            let comma = if members.is_empty() { "" } else { "," };
            let timestamp = format!("2026-01-01T00:{:02}:{:02}Z", seq / 60, seq % 60);
            let line =
                format!("{{\"seq\":{seq},\"timestamp\":\"{timestamp}\",\"type\":\"{kind}\"{comma}{members}}}");
            rows.extend(fold.apply(&Event::parse(line.as_bytes()).unwrap()));
        }
        rows.extend(fold.finish());
        rows
    }
}
