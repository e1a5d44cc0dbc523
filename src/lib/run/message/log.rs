//! The log of messages: read whole, judged as event logs are, and added to in one write that is on the disk before it counts.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::error::{Error, IoContext, Kind, Result};
use crate::run::events::damage::{Tally, Verdict};
use crate::run::events::lines::{Content, End, Lines, Tail};
use crate::run::events::{LINE_BYTES_MAX, bare_line, source};
use crate::run::json::Json;
use crate::run::line_log;
use crate::store::fsio::{self, Durability};
use crate::store::id::RunId;
use crate::store::{Store, layout};

/// The messages of a run, each in its last state.
pub struct Log {
    path: PathBuf,
    /// In the order in which their ids first appear.
    states: Vec<Json>,
    place: HashMap<String, usize>,
    /// Lines that are no records: where, and why.
    damages: Vec<(u64, String)>,
    tally: Tally,
}

impl Log {
    /// Reads the log; a missing one is empty.
    ///
    /// # Errors
    /// [`Kind::Damaged`] when so much of it is damaged that the states of messages cannot be told, [`Kind::Io`].
    pub fn read(store: &Store, run: &RunId) -> Result<Self> {
        let path = layout::messages(store.root(), run);
        let mut log = Self {
            path: path.clone(),
            states: Vec::new(),
            place: HashMap::new(),
            damages: Vec::new(),
            tally: Tally::default(),
        };
        let Some(file) = source::open(&path)? else { return Ok(log) };
        let mut lines = Lines::new(&file, 0);
        while let Some(piece) = lines.next(Tail::Emit).on("cannot read", &path)? {
            match piece.content {
                Content::Line(line, end) => log.line(piece.number, bare_line(line), end),
                Content::Hole(len) => log.damages.push((piece.number, format!("{len} NUL bytes"))),
                Content::TooLong(len, _) => log.bad(piece.number, format!("{len} bytes are too many")),
            }
        }
        if log.tally.verdict() == Verdict::Corrupt {
            return Err(Error::damaged(
                &path,
                format!("{} lines are bad, {} are messages", log.tally.bad + log.tally.healed, log.tally.events),
            )
            .hint("mend the file by hand, or move it away: the messages in it are lost then"));
        }
        Ok(log)
    }

    fn line(&mut self, number: u64, line: &[u8], end: End) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match Json::parse(line) {
            Ok(json) if !json.text_of("id").is_empty() => {
                self.tally.events += 1;
                self.put(json);
            }
            // Nobody was told that it is there.
            _ if end == End::Eof => self.tally.torn_tail = true,
            _ if is_cut_short(line) => {
                self.tally.healed += 1;
                self.damages
                    .push((number, "the beginning of a message, left by a write that was cut short".into()));
            }
            Ok(_) => self.bad(number, "not a message".into()),
            Err(flaw) => self.bad(number, flaw),
        }
    }

    fn bad(&mut self, number: u64, why: String) {
        self.tally.bad += 1;
        self.tally.losses += 1;
        self.damages.push((number, why));
    }

    fn put(&mut self, json: Json) {
        let id = json.text_of("id").into_owned();
        let next = self.states.len();
        let place = *self.place.entry(id).or_insert(next);
        match self.states.get_mut(place) {
            Some(state) => *state = json,
            None => self.states.push(json),
        }
    }

    /// The last state of a message.
    #[must_use]
    pub fn state_of(&self, id: &str) -> Option<Json> {
        self.states.get(*self.place.get(id)?).cloned()
    }

    /// All messages in their last state, in the order in which they were sent.
    pub fn states(&self) -> impl Iterator<Item = &Json> {
        self.states.iter()
    }

    /// What is wrong with the log, by the number of the line.
    #[must_use]
    pub fn damages(&self) -> &[(u64, String)] {
        &self.damages
    }

    /// Whether a record may be missing.
    #[must_use]
    pub fn has_losses(&self) -> bool {
        self.tally.losses > 0
    }

    /// Adds a record. The caller holds the lock of the run's documents. Unlike an event, a message that may not be on the
    /// disk is not sent: it is taken back.
    ///
    /// # Errors
    /// [`Kind::Limit`] for one above the limit of a line, [`Kind::Io`]; the log is as it was then.
    pub fn append(&mut self, store: &Store, json: &Json) -> Result<()> {
        let mut line = json.compact().into_bytes();
        line.push(b'\n');
        if line.len() > LINE_BYTES_MAX {
            return Err(Error::limit(format!("message of {} bytes is above the limit", line.len()))
                .hint("put the large part into a file, and refer to it"));
        }
        let (file, opened) = line_log::open(&self.path)?;
        let len = source::len(&file).on("cannot examine", &self.path)?;
        if !line_log::is_terminated(&file, len).on("cannot read", &self.path)? {
            line.insert(0, b'\n');
        }
        line_log::append(&file, &self.path, &line, len)?;
        if store.durability() == Durability::Flushed
            && let Err(error) = line_log::flush(&file, &self.path, opened)
        {
            let is_last = source::len(&file).is_ok_and(|now| now == len + line.len() as u64);
            let taken_back =
                is_last && fsio::truncate(&file, len, self.path.as_os_str().as_encoded_bytes()).is_ok();
            let error = error.with_kind(Kind::Io);
            return Err(if taken_back { error } else { error.also("the message may have been sent all the same") });
        }
        self.put(json.clone());
        Ok(())
    }
}

/// Whether a line is the beginning of a JSON text.
fn is_cut_short(line: &[u8]) -> bool {
    match std::str::from_utf8(line) {
        Err(error) => error.error_len().is_none(),
        Ok(text) => serde_json::from_str::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof()),
    }
}
