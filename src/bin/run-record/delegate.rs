//! `run-record delegate`: make a worker for a run that failed.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::record::delegate;

use crate::create::MembersArgs;
use crate::shared;

#[derive(Args)]
pub(crate) struct Options {
    /// Names the failure: the same text for the same failure
    #[arg(long, value_name = "TEXT")]
    fingerprint: String,
    /// Only say which run it would be
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    members: MembersArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let (store, source) = cli.env.run_store(&options.run)?;
    let worker = delegate::admit(&store, &source, &options.fingerprint)?;
    let mut json = worker.envelope();
    let mut status = Status::Done;
    let creation = options.members.creation(cli)?;
    if options.dry_run {
        delegate::check(&worker, creation)?;
    } else {
        let receipt = delegate::create(&store, &worker, creation)?;
        status = shared::event_told(receipt.event_failure.as_ref(), cli);
        for (key, value) in receipt.json().members() {
            json.set(key, value.clone());
        }
    }
    cli.out.line(json.compact().as_bytes());
    Ok(status)
}
