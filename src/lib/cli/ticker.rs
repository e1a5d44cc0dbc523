//! Progress for a person who waits: on a terminal only, a few times a second, and gone when the work is done.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::Cli;

/// Nothing is shown for work that takes less.
const SILENT: Duration = Duration::from_millis(700);
/// How often the line is written over.
const EVERY: Duration = Duration::from_millis(200);

/// A line on standard error that says how far the work is. Several threads may tell it.
pub struct Ticker {
    program: &'static str,
    state: Option<Mutex<State>>,
}

struct State {
    due: Instant,
    is_shown: bool,
}

impl Ticker {
    /// Begins with nothing shown; silent with `-q`, and where standard error is no terminal.
    #[must_use]
    pub fn new(cli: &Cli) -> Self {
        let shows = !cli.quiet() && std::io::stderr().is_terminal();
        let state = shows.then(|| Mutex::new(State { due: Instant::now() + SILENT, is_shown: false }));
        Self { program: cli.page.name, state }
    }

    /// Shows a state of the work, if the last one has stood long enough.
    pub fn tell(&self, words: impl FnOnce() -> String) {
        // A thread that finds the line in use has nothing important to say.
        let Some(Ok(mut state)) = self.state.as_ref().map(Mutex::try_lock) else { return };
        let now = Instant::now();
        if now >= state.due {
            state.due = now + EVERY;
            state.is_shown = true;
            let _ = write!(std::io::stderr(), "\r{}: {}\x1b[K", self.program, words());
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some(Ok(state)) = self.state.as_ref().map(Mutex::try_lock)
            && state.is_shown
        {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
