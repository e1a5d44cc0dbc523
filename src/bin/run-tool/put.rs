//! `run-tool put`.

use clap::Args;
use workspacetrack::cli::args::{HistoryArgs, parse_size};
use workspacetrack::cli::{Cli, Status, input};
use workspacetrack::error::Result;
use workspacetrack::run::tool::{self, INLINE_BYTES_MAX};
use workspacetrack::store::component::Component;

use crate::Body;

#[derive(Args)]
pub(crate) struct Options {
    /// The tool use id of the call
    id: String,
    /// Which body
    #[arg(value_enum)]
    body: Body,
    /// Content up to this many bytes stays in the event
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value_t = INLINE_BYTES_MAX)]
    threshold: u64,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let id = Component::for_new("tool use id", &options.id)?;
    let put = tool::put(&store, &run, &id, options.body.body(), options.threshold, &mut input::stdin())?;
    cli.out.line(put.payload.compact().as_bytes());
    match put.lost {
        None => Ok(Status::Done),
        Some(error) => {
            cli.warn(format_args!("the body is not stored, and the event holds what fits: {error}"));
            Ok(Status::Partial)
        }
    }
}
