//! [`Companion`]: the event that goes with a change of run.json.
//!
//! It is appended while the lock of the document is held. A command that was killed between the two is run again: the event
//! that it had appended is found by what it says and not appended twice.

use std::fs::File;

use crate::clock;
use crate::error::{Error, IoContext, Result};
use crate::run::events::append::{self, Synced};
use crate::run::events::backwards::Backwards;
use crate::run::events::draft::Draft;
use crate::run::events::event::Event;
use crate::run::events::{bare_line, source};
use crate::run::json::Json;
use crate::store::id::RunId;
use crate::store::{Store, layout};

/// A clock that was set back between a change and its event does no harm up to this.
const CLOCK_SLACK_NS: i128 = 60_000_000_000;

/// Whether an event goes with a change, and beside whom it may be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// No event at all.
    Silent,
    /// Not beside an engine that is not our ancestor.
    Alone,
    /// Also beside one.
    WhileRunning,
}

/// Appends events for one change.
pub struct Companion<'s> {
    store: &'s Store,
    run: RunId,
    /// The number of the event that was appended or found.
    pub seq: Option<u64>,
    /// What kept it from the disk.
    pub failure: Option<Error>,
}

impl<'s> Companion<'s> {
    pub(super) fn new(store: &'s Store, run: &RunId) -> Self {
        Self { store, run: run.clone(), seq: None, failure: None }
    }

    /// Appends an event unless one of its type is there that agrees with all of `mark` in its data. It could not be there
    /// before `since`, a time as it is written; where that says nothing, the whole log is searched.
    ///
    /// # Errors
    /// What keeps it from being appended. A flush that fails is no error but [`Companion::failure`].
    pub fn tell(&mut self, kind: &str, data: &Json, mark: &[&str], since: &str, telling: Telling) -> Result<()> {
        if telling == Telling::Silent {
            return Ok(());
        }
        if let Some(seq) = self.find(kind, data, mark, since)? {
            self.seq = Some(seq);
            return Ok(());
        }
        let draft = Draft { kind: kind.to_owned(), data: data.compact(), ..Draft::default() };
        let (receipt, synced) = append::one(self.store, &self.run, &draft, telling == Telling::WhileRunning)?;
        self.seq = Some(receipt.seq);
        if let Synced::Failed(error) = synced {
            self.failure = Some(error);
        }
        Ok(())
    }

    /// Looks from the end of the log back to `since`.
    fn find(&self, kind: &str, data: &Json, mark: &[&str], since: &str) -> Result<Option<u64>> {
        let path = layout::events(self.store.root(), &self.run);
        let Some(file) = source::open(&path)? else { return Ok(None) };
        let len = source::len(&file).on("cannot examine", &path)?;
        let since_ns = clock::parse_rfc3339(since).map(|ns| ns - CLOCK_SLACK_NS);
        let is_told = |event: &Event<'_>| {
            event.kind == kind
                && event.data.and_then(|raw| Json::of_raw(raw).ok()).is_some_and(|told| agree(data, &told, mark))
        };
        search(&file, len, since_ns, is_told).on("cannot read", &path)
    }
}

/// Whether both have the same members of these names, or both none.
fn agree(data: &Json, told: &Json, mark: &[&str]) -> bool {
    mark.iter().all(|key| match (data.get(key), told.get(key)) {
        (Some(a), Some(b)) => a.is_same(b),
        (a, b) => a.is_none() && b.is_none(),
    })
}

fn search(
    file: &File,
    len: u64,
    since_ns: Option<i128>,
    is_told: impl Fn(&Event<'_>) -> bool,
) -> std::io::Result<Option<u64>> {
    let mut walk = Backwards::new(file, len)?;
    let mut line = Vec::new();
    while let Some(span) = walk.previous()? {
        let Some(bytes) = walk.read(span, &mut line)? else { continue };
        let Ok(event) = Event::parse(bare_line(bytes)) else { continue };
        if is_told(&event) {
            return Ok(Some(event.seq));
        }
        let before = |since: i128| clock::parse_rfc3339(&event.timestamp).is_some_and(|ns| ns < since);
        if since_ns.is_some_and(before) {
            break;
        }
    }
    Ok(None)
}
