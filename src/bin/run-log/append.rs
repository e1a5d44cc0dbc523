//! `run-log append`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::companion::Told;
use workspacetrack::run::console::{self, Allow};
use workspacetrack::run::json::Json;

#[derive(Args)]
pub(crate) struct Options {
    /// Write at this byte of the log; what is there already must be the same
    #[arg(long, value_name = "N")]
    offset: Option<u64>,
    /// With --offset: write over bytes that differ
    #[arg(long, requires = "offset")]
    overwrite: bool,
    /// With --offset: begin behind the end, and leave NUL bytes between
    #[arg(long, requires = "offset")]
    allow_gap: bool,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    // Not the buffered one: what was printed is to be there at once.
    let mut stdin = std::io::stdin().lock();
    let written = match options.offset {
        None => console::append(&store, &run, &mut stdin)?,
        Some(offset) => {
            let allow = Allow { overwrite: options.overwrite, gap: options.allow_gap };
            console::append_at(&store, &run, offset, allow, &mut stdin)?
        }
    };
    let number = |n: u64| Json::integer(i64::try_from(n).unwrap_or(i64::MAX));
    let receipt = Json::object([
        ("offset", number(written.offset)),
        ("bytes", number(written.bytes)),
        ("known", number(written.known)),
        ("size", number(written.size)),
    ]);
    Ok(cli.receipt(receipt, &Told::NotWanted))
}
