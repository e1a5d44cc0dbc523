//! [`Companion`]: the event that goes with a change of run.json.
//!
//! It is appended while the lock of the document is held. A command that was killed between the two is run again: the event
//! that it had appended is found by what it says and not appended twice.

use crate::error::{Error, Result};
use crate::run::companion::find_last;
use crate::run::events::append::{Sync, Synced, Writer};
use crate::run::events::draft::Draft;
use crate::run::events::event::Event;
use crate::run::json::Json;
use crate::store::Store;
use crate::store::id::RunId;

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
        let is_told = |event: &Event<'_>| {
            event.kind == kind
                && event.data.and_then(|raw| Json::of_raw(raw).ok()).is_some_and(|told| agree(data, &told, mark))
        };
        let sync = Sync::of(self.store);
        let mut writer = Writer::new(self.store, &self.run, sync, telling == Telling::WhileRunning)?;
        let mut batch = writer.batch()?;
        // Under the lock of the log, so that of two who make up for the same event one does.
        let found = find_last(self.store, &self.run, since, is_told)?;
        let appended = if let Some(seq) = found {
            Ok(seq)
        } else {
            let draft = Draft { kind: kind.to_owned(), data: data.compact(), ..Draft::default() };
            batch.append(&draft).map(|receipt| receipt.seq)
        };
        // An event that was found is flushed as well: whoever appended it may have died before.
        let synced = batch.finish();
        self.seq = Some(appended?);
        if let Synced::Failed(error) = synced {
            self.failure = Some(error);
        }
        Ok(())
    }
}

/// Whether both have the same members of these names, or both none.
fn agree(data: &Json, told: &Json, mark: &[&str]) -> bool {
    mark.iter().all(|key| match (data.get(key), told.get(key)) {
        (Some(a), Some(b)) => a.is_same(b),
        (a, b) => a.is_none() && b.is_none(),
    })
}
