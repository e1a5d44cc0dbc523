//! `run-record waits`: whether the run or one below it waits for a person.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::clock;
use workspacetrack::error::Result;
use workspacetrack::run::json::Json;
use workspacetrack::run::record::waits::{self, Wait};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let (store, run) = cli.env.run_store(&options.run)?;
    let wait = waits::blocking(&store, &run, clock::now_ns())?;
    let json = match &wait {
        Wait::None => Json::object([("waits", Json::boolean(false))]),
        Wait::Blocking { run, reason } => Json::object([
            ("waits", Json::boolean(true)),
            ("run", Json::string(run)),
            ("reason", Json::string(reason)),
        ]),
    };
    cli.out.line(json.compact().as_bytes());
    Ok(if wait == Wait::None { Status::No } else { Status::Done })
}
