//! `run-record get`: print the document.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::run::json::Json;
use workspacetrack::run::record::heal;
use workspacetrack::stream::quote;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    what: PointerArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

/// What of a document is printed, and how.
#[derive(Args)]
pub(crate) struct PointerArgs {
    /// A JSON pointer, as in `/checkpoint/node_id` [default: the whole]
    #[arg(value_name = "POINTER", default_value = "", hide_default_value = true)]
    pointer: String,
    /// Print a text without quotes
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

impl PointerArgs {
    /// Prints what the pointer names in `json`.
    pub(crate) fn print(&self, json: &Json, cli: &mut Cli) -> Result<Status> {
        if !self.pointer.is_empty() && !self.pointer.starts_with('/') {
            return Err(Error::usage(format!("{} is not a JSON pointer", quote::name(self.pointer.as_bytes())))
                .hint("begin it with a slash: /checkpoint/node_id"));
        }
        let Some(value) = json.pointer(&self.pointer) else { return Ok(Status::No) };
        match value.text().filter(|_| self.raw) {
            Some(text) if cli.is_terminal() => cli.out.line(quote::masked(text.as_bytes()).as_bytes()),
            Some(text) => cli.out.line(text.as_bytes()),
            None => cli.json_value(value),
        }
        Ok(Status::Done)
    }
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let (store, run) = cli.env.run_store(&options.run)?;
    let healed = heal::load(&store, &run)?;
    healed.notices.iter().for_each(|notice| cli.warn(notice));
    options.what.print(&healed.json, cli)
}
