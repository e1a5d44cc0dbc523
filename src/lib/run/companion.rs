//! The event that goes with a change of another file of the run, so that the audit stream tells of it.
//!
//! The change comes first: who hears of it finds it. A writer that died between the two is made up for by running it again,
//! which is why an event is appended only if the log does not have it yet. An event that cannot be appended undoes nothing,
//! and is never passed over in silence.

use super::events::append::{Sync, Synced, Writer};
use super::events::backwards::Backwards;
use super::events::draft::Draft;
use super::events::event::Event;
use super::events::{bare_line, source};
use super::json::Json;
use crate::clock;
use crate::error::{Error, IoContext, Result};
use crate::store::engine_lock::refuse_foreign_engine;
use crate::store::id::RunId;
use crate::store::{Store, layout};

/// So many bytes of the log are searched at most; what lies before them is taken to have been told.
const SEARCH_BYTES_MAX: u64 = 64 << 20;
/// A clock that was set back between a change and its event does no harm up to this.
const CLOCK_SLACK_NS: i128 = 60_000_000_000;

/// Whether a change is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Companion {
    /// It is, also beside a stranger's engine where `while_running` says so.
    Wanted {
        /// The switch `--while-running`.
        while_running: bool,
    },
    /// It is not.
    Suppressed,
}

/// What became of the event.
#[derive(Debug)]
#[must_use]
pub enum Told {
    /// It was not wanted.
    NotWanted,
    /// It is in the log under this number, and was there before if so.
    Yes(u64),
    /// It is in the log, but perhaps not on the disk.
    Unsynced(u64, Error),
    /// It could not be appended.
    Failed(Error),
}

impl Companion {
    /// Refuses a change whose event could not be told. To be asked before anything is changed.
    ///
    /// # Errors
    /// [`crate::error::Kind::Conflict`] beside a stranger's engine.
    pub fn allow(self, store: &Store, run: &RunId) -> Result<()> {
        match self {
            Self::Wanted { while_running } => refuse_foreign_engine(store, run, while_running),
            Self::Suppressed => Ok(()),
        }
    }

    /// Appends the event unless it is in the log already. `since` is when the change was made, as it is written; the log
    /// is searched back to then.
    pub fn tell(self, store: &Store, run: &RunId, event: &Draft, since: &str) -> Told {
        let Self::Wanted { while_running } = self else { return Told::NotWanted };
        match append_once(store, run, event, while_running, since, is_same_as(event)) {
            Ok((seq, None)) => Told::Yes(seq),
            Ok((seq, Some(error))) => Told::Unsynced(seq, error),
            Err(error) => Told::Failed(error),
        }
    }

    /// Whether the log has the event; where events are not wanted it counts as told.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn is_told(self, store: &Store, run: &RunId, event: &Draft, since: &str) -> Result<bool> {
        match self {
            Self::Suppressed => Ok(true),
            Self::Wanted { .. } => Ok(find_last(store, run, since, is_same_as(event))?.is_some()),
        }
    }
}

/// An event about a node with these data; members whose value is null are left out.
#[must_use]
pub fn event(kind: &str, node: &str, data: Vec<(&str, Json)>) -> Draft {
    let data = data.into_iter().filter(|(_, value)| !value.is_null());
    Draft {
        kind: kind.to_owned(),
        node_id: node.to_owned(),
        data: Json::object(data).compact(),
        ..Draft::default()
    }
}

/// Whether an event is this one.
fn is_same_as(wanted: &Draft) -> impl Fn(&Event<'_>) -> bool {
    let data = Json::parse_text(&wanted.data).unwrap_or_default();
    move |event| {
        event.kind == wanted.kind
            && event.node_id == wanted.node_id
            && event.data.and_then(|raw| Json::of_raw(raw).ok()).unwrap_or_default().is_same(&data)
    }
}

/// Appends an event unless the log has one that `is_it`; gives its number, and what kept it from the disk.
fn append_once(
    store: &Store,
    run: &RunId,
    event: &Draft,
    while_running: bool,
    since: &str,
    is_it: impl Fn(&Event<'_>) -> bool,
) -> Result<(u64, Option<Error>)> {
    let mut writer = Writer::new(store, run, Sync::of(store), while_running)?;
    let mut batch = writer.batch()?;
    // Under the lock of the log, so that of two who make up for the same event one does.
    let appended = match find_last(store, run, since, is_it)? {
        Some(seq) => Ok(seq),
        None => batch.append(event).map(|receipt| receipt.seq),
    };
    // An event that was found is flushed as well: whoever appended it may have died before.
    let synced = batch.finish();
    let seq = appended?;
    Ok(match synced {
        Synced::Yes => (seq, None),
        Synced::Failed(error) => (seq, Some(error)),
    })
}

/// Tells of a change of run.json while its lock is held, by an event that is known by some members of its data.
pub struct Teller<'s> {
    store: &'s Store,
    run: RunId,
    /// The number of the event that was appended or found.
    pub seq: Option<u64>,
    /// What kept it from the disk.
    pub failure: Option<Error>,
}

impl<'s> Teller<'s> {
    /// Nothing is told yet.
    #[must_use]
    pub fn new(store: &'s Store, run: &RunId) -> Self {
        Self { store, run: run.clone(), seq: None, failure: None }
    }

    /// Appends an event unless one of its type is there that agrees with all of `mark` in its data. It could not be there
    /// before `since`, a time as it is written; where that says nothing, the log is searched as far as it ever is.
    ///
    /// # Errors
    /// What keeps it from being appended. A flush that fails is no error but [`Teller::failure`].
    pub fn tell(&mut self, kind: &str, data: &Json, mark: &[&str], since: &str, wanted: Companion) -> Result<()> {
        let Companion::Wanted { while_running } = wanted else { return Ok(()) };
        let is_told = |event: &Event<'_>| {
            event.kind == kind
                && event.data.and_then(|raw| Json::of_raw(raw).ok()).is_some_and(|told| agree(data, &told, mark))
        };
        let draft = Draft { kind: kind.to_owned(), data: data.compact(), ..Draft::default() };
        let (seq, failure) = append_once(self.store, &self.run, &draft, while_running, since, is_told)?;
        self.seq = Some(seq);
        self.failure = failure.or(self.failure.take());
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

/// Looks for an event from the end of the log back to `since`, a time as it is written; gives its number.
///
/// # Errors
/// [`crate::error::Kind::Io`].
fn find_last(store: &Store, run: &RunId, since: &str, is_it: impl Fn(&Event<'_>) -> bool) -> Result<Option<u64>> {
    let path = layout::events(store.root(), run);
    let Some(file) = source::open(&path)? else { return Ok(None) };
    let len = source::len(&file).on("cannot examine", &path)?;
    let since = clock::parse_rfc3339(since).map(|ns| ns - CLOCK_SLACK_NS);
    search(&file, len, since, is_it).on("cannot read", &path)
}

fn search(
    file: &std::fs::File,
    len: u64,
    since: Option<i128>,
    is_it: impl Fn(&Event<'_>) -> bool,
) -> std::io::Result<Option<u64>> {
    let mut walk = Backwards::new(file, len)?;
    let mut line = Vec::new();
    while let Some(span) = walk.previous()? {
        if span.start < len.saturating_sub(SEARCH_BYTES_MAX) {
            break;
        }
        let Some(bytes) = walk.read(span, &mut line)? else { continue };
        let Ok(event) = Event::parse(bare_line(bytes)) else { continue };
        if is_it(&event) {
            return Ok(Some(event.seq));
        }
        let before = |since: i128| clock::parse_rfc3339(&event.timestamp).is_some_and(|ns| ns < since);
        if since.is_some_and(before) {
            break;
        }
    }
    Ok(None)
}
