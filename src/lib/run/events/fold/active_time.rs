//! How long the run was active: the last `active_ms` that an event carries, else the sum of its executing windows.

use serde::Serialize;

use super::windows::{State, Window, Windows};
use super::{Reducer, row};
use crate::run::events::event::Event;

/// Adds up active time.
#[derive(Debug, Clone, Default)]
pub struct ActiveTime {
    windows: Windows,
    sum_ms: u64,
    carried_ms: Option<u64>,
    any: bool,
}

#[derive(Serialize)]
struct Row {
    active_ms: u64,
    /// `active_ms` or `windows`.
    source: &'static str,
    /// Whether the run executes still; time behind the last event is not counted.
    open: bool,
}

impl ActiveTime {
    fn add(&mut self, window: &Window) {
        if window.state == State::Executing {
            self.any = true;
            self.sum_ms = self.sum_ms.saturating_add(window.ms);
        }
    }
}

impl Reducer for ActiveTime {
    fn apply(&mut self, event: &Event<'_>) -> Option<String> {
        // Zero is how "not known" is written.
        self.carried_ms = event.active_ms.filter(|ms| *ms > 0).or(self.carried_ms);
        for window in self.windows.step(event) {
            self.add(&window);
        }
        None
    }

    fn finish(mut self) -> Vec<String> {
        let rest = std::mem::take(&mut self.windows).rest();
        let open = rest.as_ref().is_some_and(|window| window.state == State::Executing);
        if let Some(window) = &rest {
            self.add(window);
        }
        let found = match self.carried_ms {
            Some(active_ms) => Row { active_ms, source: "active_ms", open },
            None if self.any => Row { active_ms: self.sum_ms, source: "windows", open },
            None => return Vec::new(),
        };
        vec![row(&found)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::events::fold::testing::rows;

    #[test]
    fn the_last_stamp_replaces_the_sum_of_windows() {
        let active = |events: &[&str]| rows(ActiveTime::default(), events);
        assert_eq!(active(&[]), [""; 0]);
        assert_eq!(
            active(&["run_started", "x", "run_paused", "x", "run_resumed", "run_finished"]),
            [r#"{"active_ms":3000,"source":"windows","open":false}"#]
        );
        assert_eq!(
            active(&["run_started", r#"x "active_ms":700"#, r#"x "active_ms":900"#, "x"]),
            [r#"{"active_ms":900,"source":"active_ms","open":true}"#]
        );
    }
}
