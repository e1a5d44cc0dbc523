//! `run-events append`: one event from options, or many from standard input.

use clap::{ArgGroup, Args, ValueEnum};
use serde_json::json;
use workspacetrack::cli::args::EngineArgs;
use workspacetrack::cli::{Cli, Status, input};
use workspacetrack::error::{Error, IoContext, Result};
use workspacetrack::run::events::LINE_BYTES_MAX;
use workspacetrack::run::events::append::{Receipt, Sync, Synced, Writer, flush_had_failed};
use workspacetrack::run::events::draft::{self, Draft};
use workspacetrack::run::events::lines::{Content, Lines, Tail};
use workspacetrack::run::events::source::{Source, Stream};
use workspacetrack::store::fsio::Durability;
use workspacetrack::store::id::RunId;

use crate::LogArgs;

/// So many events are appended under one lock and flushed together.
const BATCH_EVENTS_MAX: usize = 256;

#[derive(Clone, Copy, ValueEnum)]
enum Fsync {
    Always,
    Batch,
    Off,
}

#[derive(Args)]
#[command(group = ArgGroup::new("what").required(true).args(["kind", "stdin"]))]
pub(crate) struct Options {
    /// The type of the one event
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Read events from standard input, a JSON object a line, and acknowledge each
    #[arg(long, conflicts_with_all = ["node", "branch", "data", "active_ms"])]
    stdin: bool,
    /// The node it is about
    #[arg(long, value_name = "ID")]
    node: Option<String>,
    /// The branch it happened in
    #[arg(long, value_name = "ID")]
    branch: Option<String>,
    /// Its data, a JSON object; @FILE reads it from a file, - from standard input
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
    /// How long the run has been active, in milliseconds
    #[arg(long, value_name = "MS")]
    active_ms: Option<u64>,
    /// When events are flushed to the disk [default: batch; off with `WT_FSYNC=off`]
    #[arg(long, value_name = "WHEN", value_enum)]
    fsync: Option<Fsync>,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    log: LogArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let (store, run) = options.log.named(cli)?;
    let sync = match (options.fsync, store.durability()) {
        (Some(Fsync::Always), _) => Sync::Always,
        (Some(Fsync::Batch), _) | (None, Durability::Flushed) => Sync::Batch,
        (Some(Fsync::Off), _) | (None, Durability::Off) => Sync::Off,
    };
    let one = match &options.kind {
        Some(kind) => Some(one(options, kind)?),
        None => None,
    };
    let mut writer = Writer::new(&store, &run, sync, options.engine.while_running)?;
    if flush_had_failed(&store, &run)? {
        cli.warn("an earlier flush of this event log failed: what was written before it may not be on the disk");
    }
    match one {
        Some(draft) => {
            let mut batch = writer.batch()?;
            let appended = batch.append(&draft);
            let synced = batch.finish();
            Ok(acknowledge(&[appended?], synced, cli))
        }
        None => many(&mut writer, &run, sync, cli),
    }
}

/// The event that the options describe.
fn one(options: &Options, kind: &str) -> Result<Draft> {
    let mut draft = Draft {
        kind: kind.to_owned(),
        node_id: options.node.clone().unwrap_or_default(),
        branch_id: options.branch.clone().unwrap_or_default(),
        active_ms: options.active_ms.unwrap_or(0),
        ..Draft::default()
    };
    if let Some(value) = &options.data {
        let bytes = input::argument(value, LINE_BYTES_MAX as u64)?;
        draft.set_data(std::str::from_utf8(&bytes).map_err(|_| Error::usage("data is not UTF-8"))?)?;
    }
    draft.check()?;
    Ok(draft)
}

/// Appends what comes, as long as it comes. Events that are there already share one lock and one flush.
fn many(writer: &mut Writer<'_>, run: &RunId, sync: Sync, cli: &mut Cli) -> Result<Status> {
    let together = if sync == Sync::Always { 1 } else { BATCH_EVENTS_MAX };
    let mut lines = Lines::new(Stream::new(input::stdin()), 0);
    let mut status = Status::Done;
    let mut next = next_draft(&mut lines, run)?;
    while let Some(first) = next.take() {
        let mut batch = writer.batch()?;
        let mut receipts = Vec::new();
        let mut outcome = batch.append(&first).map(|receipt| receipts.push(receipt));
        while outcome.is_ok() && receipts.len() < together && lines.has_line() {
            outcome = match next_draft(&mut lines, run) {
                Ok(Some(draft)) => batch.append(&draft).map(|receipt| receipts.push(receipt)),
                Ok(None) => break,
                Err(error) => Err(error),
            };
        }
        // What went in is acknowledged even if the next one did not.
        let synced = batch.finish();
        if acknowledge(&receipts, synced, cli) == Status::Partial {
            status = Status::Partial;
        }
        outcome?;
        next = next_draft(&mut lines, run)?;
    }
    Ok(status)
}

/// The next event of the input, or none at its end.
fn next_draft<S: Source>(lines: &mut Lines<S>, run: &RunId) -> Result<Option<Draft>> {
    loop {
        let Some(piece) = lines.next(Tail::Emit).on("cannot read", "standard input")? else { return Ok(None) };
        let number = piece.number;
        let parsed = match piece.content {
            Content::Line(line, _) if line.trim_ascii().is_empty() => continue,
            Content::Line(line, _) => Draft::parse(line, run),
            Content::Hole(_) => Err(Error::usage("event has NUL bytes")),
            Content::TooLong(bytes, _) => Err(draft::too_long(bytes)),
        };
        return parsed.map(Some).map_err(|error| error.while_doing(format_args!("input line {number}")));
    }
}

fn acknowledge(receipts: &[Receipt], synced: Synced, cli: &mut Cli) -> Status {
    for receipt in receipts {
        let line = if cli.json() {
            json!({ "seq": receipt.seq, "offset": receipt.offset, "bytes": receipt.bytes }).to_string()
        } else {
            receipt.seq.to_string()
        };
        cli.out.line(line.as_bytes());
    }
    cli.out.flush();
    match synced {
        Synced::Yes => Status::Done,
        Synced::Failed(error) => {
            cli.warn(format_args!("{error}: the event log is written, but may not be on the disk"));
            Status::Partial
        }
    }
}
