//! `run-record fail`: the run, its launch, or its delivery has failed.

use clap::{ArgGroup, Args};
use workspacetrack::cli::{Cli, Status as Ended};
use workspacetrack::error::Result;
use workspacetrack::run::record::outcome;
use workspacetrack::run::status::Status;

use crate::shared::{self, OutcomeArgs, RepairArgs, StatusesArgs, TargetArgs};

#[derive(Args)]
#[command(group = ArgGroup::new("how").required(true).args(["resumable", "terminal", "queued_attempt", "at_launch"]))]
#[command(group = ArgGroup::new("telling").multiple(true).args(["force", "at_launch"]))]
pub(crate) struct Options {
    /// It may go on
    #[arg(long)]
    resumable: bool,
    /// It has failed for good
    #[arg(long)]
    terminal: bool,
    /// Its delivery is lost that was published at this time: only if it still is queued since then
    #[arg(long, value_name = "TIME", conflicts_with_all = ["checkpoint", "expect", "force"])]
    queued_attempt: Option<String>,
    /// It could not be launched: failed for good with the code `LAUNCH_FAILED`, and an event `run_failed`
    #[arg(long, conflicts_with_all = ["checkpoint", "code", "end_reason", "continuation"])]
    at_launch: bool,
    /// What to do about a failed launch, for the event
    #[arg(long, value_name = "TEXT", requires = "at_launch", conflicts_with_all = ["resumable", "terminal", "queued_attempt"], default_value = "", hide_default_value = true)]
    hint: String,
    /// The checkpoint, a JSON object; @FILE reads it from a file, - from standard input [default: the stored one]
    #[arg(long, value_name = "JSON")]
    checkpoint: Option<String>,
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
    let expected = options.target.expected(Some(&options.statuses))?;
    let said = options.outcome.outcome()?;
    let rules = options.repair.rules();
    let receipt = if let Some(published) = &options.queued_attempt {
        outcome::fail_queued(&store, &run, published, &said, &expected)?
    } else if options.at_launch {
        outcome::fail_at_launch(&store, &run, &said.error, &options.hint, &expected, rules)?
    } else {
        let target = if options.terminal { Status::Failed } else { Status::FailedResumable };
        let checkpoint = shared::object_if_given("the checkpoint", options.checkpoint.as_deref())?;
        outcome::fail(&store, &run, target, checkpoint, &said, &expected, rules)?
    };
    Ok(shared::tell(&receipt, cli))
}
