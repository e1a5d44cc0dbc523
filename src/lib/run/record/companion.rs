//! [`Companion`]: the event that goes with a change of run.json.
//!
//! It is appended while the lock of the document is held. A command that was killed between the two is run again: the event
//! that it had appended is found by what it says and not appended twice.

use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::run::events::append::{self, Synced};
use crate::run::events::draft::Draft;
use crate::run::events::lines::Tail;
use crate::run::events::scan::{Found, Scan};
use crate::run::events::source;
use crate::run::json::Json;
use crate::store::id::RunId;
use crate::store::{Store, layout};

/// Whether an event goes with a change, and beside whom it may be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// Not even by request of the change.
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

    /// Appends an event unless one of its type is there that agrees with all of `mark` in its data.
    ///
    /// # Errors
    /// What keeps it from being appended. A flush that fails is no error but [`Companion::failure`].
    pub fn tell(&mut self, kind: &str, data: &Json, mark: &[&str], telling: Telling) -> Result<()> {
        if telling == Telling::Silent {
            return Ok(());
        }
        if let Some(seq) = self.find(kind, data, mark)? {
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

    fn find(&self, kind: &str, data: &Json, mark: &[&str]) -> Result<Option<u64>> {
        let Some(file) = source::open(&layout::events(self.store.root(), &self.run))? else { return Ok(None) };
        let mut found = None;
        // Whatever ends the reading, the answer is in `found`.
        let _ = Scan::whole(file).run(Tail::Hold, |item| {
            if let Found::Event(event, _) = item
                && event.kind == kind
                && let Some(Ok(other)) = event.data.map(Json::of_raw)
                && mark.iter().all(|key| match (data.get(key), other.get(key)) {
                    (Some(a), Some(b)) => a.is_same(b),
                    (a, b) => a.is_none() && b.is_none(),
                })
            {
                found = Some(event.seq);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }
}
