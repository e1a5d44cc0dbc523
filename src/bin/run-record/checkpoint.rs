//! `run-record checkpoint`: print or store the checkpoint.

use clap::{Args, Subcommand};
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status, input};
use workspacetrack::error::Result;
use workspacetrack::run::document;
use workspacetrack::run::record::{checkpoint, heal};

use crate::get::PointerArgs;
use crate::shared::{self, JSON_BYTES_MAX, StatusesArgs, TargetArgs};

#[derive(Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print it, or what a JSON pointer names in it
    Get(Get),
    /// Store one from standard input
    Save(Save),
}

#[derive(Args)]
struct Get {
    #[command(flatten)]
    what: PointerArgs,
    /// With the bodies of artifacts that were left out
    #[arg(long)]
    expand: bool,
    /// Print only the node at which the run stands
    #[arg(long, conflicts_with_all = ["expand", "pointer", "raw"])]
    paused_node: bool,
    #[command(flatten)]
    run: HistoryArgs,
}

#[derive(Args)]
struct Save {
    #[command(flatten)]
    statuses: StatusesArgs,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    match &options.command {
        Command::Get(options) => get(options, cli),
        Command::Save(options) => save(options, cli),
    }
}

fn get(options: &Get, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let (store, run) = cli.env.run_store(&options.run)?;
    let healed = heal::load(&store, &run)?;
    healed.notices.iter().for_each(|notice| cli.warn(notice));
    let Some(mut json) = healed.json.get("checkpoint").filter(|json| json.is_object()).cloned() else {
        return Ok(Status::No);
    };
    if options.paused_node {
        cli.out.line(checkpoint::paused_node(&json).as_bytes());
        return Ok(Status::Done);
    }
    let missing = if options.expand { checkpoint::expand(&store, &run, &mut json) } else { Vec::new() };
    missing.iter().for_each(|what| cli.warn(what));
    match options.what.print(&json, cli)? {
        Status::Done if !missing.is_empty() => Ok(Status::Partial),
        status => Ok(status),
    }
}

fn save(options: &Save, cli: &mut Cli) -> Result<Status> {
    let (store, run) = options.target.named(cli)?;
    let bytes = input::read_all(input::stdin(), "standard input", JSON_BYTES_MAX)?;
    let new = document::given("the checkpoint", &bytes)?;
    let receipt = checkpoint::save(&store, &run, new, &options.target.expected(Some(&options.statuses))?)?;
    Ok(shared::tell(&receipt, cli))
}
