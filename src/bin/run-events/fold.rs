//! `run-events fold`: reduce the log to what it says about one thing.

use std::ops::ControlFlow;

use clap::{Args, ValueEnum};
use workspacetrack::cli::{Cli, Status, input};
use workspacetrack::error::Result;
use workspacetrack::run::events::fold::{
    Fold, Reducer, active_time::ActiveTime, costs::Costs, deployment::Deployment, executions::Executions,
    windows::Windows,
};
use workspacetrack::run::events::lines::Tail;
use workspacetrack::run::events::scan::{Found, Scan};
use workspacetrack::run::events::source::{Source, Stream};

use crate::{LogArgs, ended, warn_of};

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// How long the run was active
    ActiveTime,
    /// What the run says it has deployed
    Deployment,
    /// The iterations of nodes and how each ended
    Executions,
    /// Tokens and cost by node and model
    Costs,
    /// When the run executed and when it stood still
    Windows,
}

#[derive(Args)]
pub(crate) struct Options {
    /// What to reduce to
    #[arg(value_enum)]
    name: Name,
    /// Read events from standard input instead of a run's log
    #[arg(long, conflicts_with_all = ["run", "store", "workspace"])]
    stdin: bool,
    #[command(flatten)]
    log: LogArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    match options.name {
        Name::ActiveTime => fold(options, ActiveTime::default(), cli),
        Name::Deployment => fold(options, Deployment::default(), cli),
        Name::Executions => fold(options, Executions::default(), cli),
        Name::Costs => fold(options, Costs::default(), cli),
        Name::Windows => fold(options, Windows::default(), cli),
    }
}

fn fold(options: &Options, reducer: impl Reducer, cli: &mut Cli) -> Result<Status> {
    if options.stdin {
        return reduce(Scan::selected(Stream::new(input::stdin())), reducer, cli);
    }
    match options.log.open(cli)? {
        (_, Some(file), _) => reduce(Scan::whole(file), reducer, cli),
        (_, None, _) => reduce(Scan::whole(&b""[..]), reducer, cli),
    }
}

/// Prints what the reducer makes of the events; 1 when it makes nothing of them.
fn reduce<S: Source>(mut scan: Scan<S>, reducer: impl Reducer, cli: &mut Cli) -> Result<Status> {
    let mut fold = Fold::new(reducer);
    let mut printed = false;
    // Nothing here ends the reading early.
    let _ = scan.run(Tail::Emit, |found| {
        match found {
            Found::Damage(damage) => warn_of(cli, damage),
            Found::Event(event, _) => {
                if let Some(row) = fold.apply(event) {
                    printed = true;
                    cli.out.line(row.clone().as_bytes());
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for row in fold.finish() {
        printed = true;
        cli.out.line(row.clone().as_bytes());
    }
    match ended(scan.tally())? {
        Status::Done if !printed => Ok(Status::No),
        status => Ok(status),
    }
}
