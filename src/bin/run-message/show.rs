//! `run-message pending` and `list`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::json::Json;
use workspacetrack::run::message;
use workspacetrack::run::message::log::Log;

/// Longest part of a text that a row shows, in characters.
const TEXT_CHARS_MAX: usize = 120;

#[derive(Args)]
pub(crate) struct PendingOptions {
    /// Those for the run, and those for this node [default: all]
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    node: String,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn pending(options: &PendingOptions, cli: &mut Cli) -> Result<Status> {
    let (log, status) = read(&options.run, cli)?;
    message::pending(&log, &options.node).into_iter().for_each(|json| row(json, cli));
    Ok(status)
}

#[derive(Args)]
pub(crate) struct ListOptions {
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn list(options: &ListOptions, cli: &mut Cli) -> Result<Status> {
    let (log, status) = read(&options.run, cli)?;
    log.states().for_each(|json| row(json, cli));
    Ok(status)
}

fn read(args: &HistoryArgs, cli: &mut Cli) -> Result<(Log, Status)> {
    let (store, run) = cli.run_to_read(args)?;
    let log = Log::read(&store, &run)?;
    for (line, why) in log.damages() {
        cli.warn(format_args!("line {line} of the messages is left out: {why}"));
    }
    let status = if log.has_losses() { Status::Partial } else { Status::Done };
    Ok((log, status))
}

fn row(json: &Json, cli: &mut Cli) {
    if cli.json() {
        cli.out.line(json.compact().as_bytes());
        return;
    }
    let text = json.text_of("text");
    let mut shown: String = text.chars().take(TEXT_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    let node = json.text_of("node_id");
    let node = if node.is_empty() { "-" } else { &*node };
    let fields = [&*json.text_of("id"), &*json.text_of("status"), &*json.text_of("queued_at"), node, &shown]
        .map(|field| cli.field(field));
    cli.out.line(fields.join("\t").as_bytes());
}
