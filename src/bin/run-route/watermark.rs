//! `run-route watermark`.

use workspacetrack::cli::args::{StoreArgs, WorkspaceArgs};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::clock;
use workspacetrack::error::Result;
use workspacetrack::run::json::Json;
use workspacetrack::run::route::watermark;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Set it unless it is set: a time, or now
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    set: Option<u64>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    if options.set.is_none() {
        cli.out.only_reads();
    }
    let store = cli.env.store(&options.store, &cli.env.workspace_path(&options.workspace))?;
    let Some(watermark_ns) = options.set else {
        let Some(json) = watermark::read(&store)? else { return Ok(Status::No) };
        cli.out.line(json.compact().as_bytes());
        return Ok(Status::Done);
    };
    let (mut json, is_new) = watermark::set(&store, watermark_ns)?;
    json.set("new", Json::boolean(is_new));
    cli.out.line(json.compact().as_bytes());
    Ok(if is_new { Status::Done } else { Status::No })
}

/// Reads a time as nanoseconds since the epoch.
fn parse_time(text: &str) -> Result<u64, String> {
    if text == "now" {
        return Ok(clock::now_ns());
    }
    let time = clock::parse_rfc3339(text).and_then(|ns| u64::try_from(ns).ok());
    time.ok_or_else(|| "a time from 1970 on is written as 2026-01-31T12:00:00Z, or is 'now'".to_owned())
}
