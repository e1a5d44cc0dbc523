//! `run-record set-status`: let a status follow.

use clap::{ArgGroup, Args};
use workspacetrack::cli::{Cli, Status as Ended};
use workspacetrack::error::Result;
use workspacetrack::run::record::outcome;
use workspacetrack::run::status::Status;

use crate::shared::{self, OutcomeArgs, RepairArgs, StatusesArgs, TargetArgs};

#[derive(Args)]
#[command(group = ArgGroup::new("telling").args(["force"]))]
pub(crate) struct Options {
    /// The status
    #[arg(value_name = "STATUS")]
    status: String,
    #[command(flatten)]
    statuses: StatusesArgs,
    #[command(flatten)]
    outcome: OutcomeArgs,
    #[command(flatten)]
    repair: RepairArgs,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Ended> {
    let (store, run) = options.target.named(cli)?;
    let target = Status::named(&options.status)?;
    let expected = options.target.expected(Some(&options.statuses))?;
    let said = options.outcome.outcome()?;
    let receipt = outcome::set(&store, &run, target, &said, &expected, options.repair.rules())?;
    let is_left_out = options.outcome.warn_of_unused(target, cli);
    let told = shared::tell(&receipt, cli);
    Ok(if is_left_out { Ended::Partial } else { told })
}
