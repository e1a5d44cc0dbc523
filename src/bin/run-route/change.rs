//! `run-route claim` and `finish`.

use std::time::Duration;

use clap::{Args, value_parser};
use workspacetrack::cli::args::{HistoryArgs, parse_duration};
use workspacetrack::cli::{Cli, Status, documents};
use workspacetrack::error::Result;
use workspacetrack::run::json::Json;
use workspacetrack::run::route::{self, End, Held, Wanted};

#[derive(Args)]
pub(crate) struct ClaimOptions {
    /// The outcome [default: the present one of the run]
    #[arg(long, value_name = "N", value_parser = value_parser!(i64).range(1..))]
    seq: Option<i64>,
    /// Who claims it
    #[arg(long, value_name = "NAME")]
    owner: String,
    /// How long nobody else may; s, m, h and d are understood
    #[arg(long, value_name = "SPAN", value_parser = parse_duration, default_value = "10m")]
    lease: Duration,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn claim(options: &ClaimOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let wanted = Wanted { outcome: options.seq, owner: options.owner.clone(), lease: options.lease };
    let json = route::claim(&store, &run, &wanted)?;
    cli.out.if_lost(route::may_stand(&run, &json));
    cli.out.line(json.compact().as_bytes());
    Ok(Status::Done)
}

#[derive(Args)]
pub(crate) struct FinishOptions {
    /// The outcome
    #[arg(long, value_name = "N", value_parser = value_parser!(i64).range(1..))]
    seq: i64,
    /// Who claimed it
    #[arg(long, value_name = "NAME")]
    owner: String,
    /// Which attempt the claim was: `attempts` as `claim` printed it
    #[arg(long, value_name = "N", value_parser = value_parser!(i64).range(1..))]
    attempt: i64,
    #[command(flatten)]
    end: EndArgs,
    /// What was done, a JSON object; @FILE reads it from a file, - from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "failed")]
    result: Option<String>,
    #[command(flatten)]
    run: HistoryArgs,
}

/// One of both.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct EndArgs {
    /// It was done: nobody claims the outcome again
    #[arg(long)]
    succeeded: bool,
    /// It was not done, and why: the outcome may be claimed again while attempts are left
    #[arg(long, value_name = "ERROR")]
    failed: Option<String>,
}

pub(crate) fn finish(options: &FinishOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let end = match &options.end.failed {
        Some(error) => End::Failed(error.clone()),
        None => {
            End::Succeeded(options.result.as_deref().map(|json| documents::object("the result", json)).transpose()?)
        }
    };
    let held = Held { outcome: options.seq, owner: options.owner.clone(), attempt: options.attempt };
    let (mut json, is_new) = route::finish(&store, &run, &held, &end)?;
    json.set("new", Json::boolean(is_new));
    cli.out.line(json.compact().as_bytes());
    Ok(Status::Done)
}
