//! What the programs share that read and write the documents of a run: receipts, documents, bodies, and events that go along.

use clap::Args;

use super::args::{EngineArgs, HistoryArgs};
use super::{Cli, Status, input};
use crate::error::{Error, Result};
use crate::run::access;
use crate::run::companion::{Companion, Told};
use crate::run::document;
use crate::run::json::Json;
use crate::store::Store;
use crate::store::id::RunId;
use crate::stream::quote;

/// Largest JSON text that a program takes, in bytes.
const JSON_BYTES_MAX: u64 = 64 << 20;

/// Whether an event goes with the change.
#[derive(Args, Debug, Clone, Copy)]
pub struct CompanionArgs {
    /// Append no event
    #[arg(long)]
    pub no_event: bool,
    /// Beside whom.
    #[command(flatten)]
    pub engine: EngineArgs,
}

impl CompanionArgs {
    /// What was asked for.
    #[must_use]
    pub fn companion(self) -> Companion {
        if self.no_event {
            Companion::Suppressed
        } else {
            Companion::Wanted { while_running: self.engine.while_running }
        }
    }
}

/// Reads a number that counts: 0 or more.
///
/// # Errors
/// A sentence for the person.
pub fn parse_count(text: &str) -> Result<i64, String> {
    text.parse().ok().filter(|number| *number >= 0).ok_or_else(|| "a whole number from 0 on is needed".to_owned())
}

/// A JSON object that an argument gives: its text, `@FILE` or `-`.
///
/// # Errors
/// As [`document::given`] and [`input::argument`].
pub fn object(what: &str, argument: &str) -> Result<Json> {
    document::given(what, &input::argument(argument, JSON_BYTES_MAX)?)
}

/// Any JSON value that an argument gives.
///
/// # Errors
/// As [`object`].
pub fn value(what: &str, argument: &str) -> Result<Json> {
    document::given_value(what, &input::argument(argument, JSON_BYTES_MAX)?)
}

/// A text that an argument gives.
///
/// # Errors
/// [`crate::error::Kind::Usage`] for what is not UTF-8; as [`input::argument`].
pub fn text(what: &str, argument: &str) -> Result<String> {
    let bytes = input::argument(argument, JSON_BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|_| Error::usage(format!("{what} is not UTF-8")))
}

impl Cli {
    /// The run that the options name, to be read: it is there, and a newer format is told.
    ///
    /// # Errors
    /// [`crate::error::Kind::NotFound`] for a run that is not there or was deleted.
    pub fn run_to_read(&mut self, args: &HistoryArgs) -> Result<(Store, RunId)> {
        self.out.only_reads();
        let (store, run) = self.env.run_store(args)?;
        if access::reading(&store, &run)? {
            let name = quote::name(run.as_str().as_bytes());
            self.warn(format_args!("run {name} was written by a newer program; what is new in it is passed over"));
        }
        Ok((store, run))
    }

    /// Prints a document, or the part of it that a JSON pointer names: as it is stored, or in one line with `--json`.
    ///
    /// # Errors
    /// [`crate::error::Kind::NotFound`] when the pointer names nothing.
    pub fn document(&mut self, json: &Json, pointer: Option<&str>) -> Result<Status> {
        let part = json.pointer(pointer.unwrap_or_default()).ok_or_else(|| {
            Error::not_found(format!("the document has no {}", quote::name(pointer.unwrap_or_default().as_bytes())))
                .hint("a pointer is written /member/member, with the number of an element of an array")
        })?;
        self.json_value(part);
        Ok(Status::Done)
    }

    /// Prints a value: indented, or in one line with `--json`; on a terminal what could not be seen is escaped.
    pub fn json_value(&mut self, value: &Json) {
        let bytes = if self.json() { value.compact().into_bytes() } else { value.indented() };
        match std::str::from_utf8(&bytes) {
            Ok(text) if self.is_terminal() => self.out.line(quote::visible_json(text).as_bytes()),
            _ => self.out.line(&bytes),
        }
    }

    /// Prints the receipt of a change, one line of JSON, with the number of its event; says what is wrong with that. Only
    /// for a command that, given again, makes up for its event and changes nothing else.
    pub fn receipt(&mut self, receipt: Json, told: &Told) -> Status {
        self.receipt_with(receipt, told, "the same command again")
    }

    /// The same, for a command that has to be given otherwise, lest it changes something twice: `again` says how.
    pub fn receipt_with(&mut self, mut receipt: Json, told: &Told, again: &str) -> Status {
        let (seq, trouble) = match told {
            Told::NotWanted => (None, None),
            Told::Yes(seq) => (Some(seq), None),
            Told::Unsynced(seq, error) => {
                (Some(seq), Some((error, "its event is written, but may not be on the disk".to_owned())))
            }
            Told::Failed(error) => (None, Some((error, format!("its event is missing; {again} adds it")))),
        };
        if let Some(seq) = seq {
            receipt.set("event", Json::integer(i64::try_from(*seq).unwrap_or(i64::MAX)));
        }
        self.out.line(receipt.compact().as_bytes());
        match trouble {
            None => Status::Done,
            Some((error, what)) => {
                self.warn(format_args!("the change is made, but {what}: {error}"));
                Status::Partial
            }
        }
    }

    /// Says that the index in run.json is behind what was written.
    pub fn unindexed(&self, error: Option<&Error>, mend: &str) -> Status {
        match error {
            None => Status::Done,
            Some(error) => {
                self.warn(format_args!("written, but run.json does not list it; '{mend}' mends that: {error}"));
                Status::Partial
            }
        }
    }

    /// Says it where there is no store: a list of its runs is empty then, and most often another one was meant.
    pub fn note_missing(&self, store: &Store) {
        if !store.root().is_dir() {
            let root = quote::path(store.root());
            self.note(format!(
                "there is no store {root}; name the project with -C or the store with --store, or see wt(7)"
            ));
        }
    }

    /// Says that something could not be read and is left out.
    pub fn left_out(&self, what: impl std::fmt::Display, error: &Error) -> Status {
        self.warn(format_args!("{what} is left out: {error}"));
        Status::Partial
    }
}

/// Both ends of a program that can end in part.
#[must_use]
pub fn worse(one: Status, other: Status) -> Status {
    if one == Status::Partial || other == Status::Partial { Status::Partial } else { one }
}
