//! `run-record save`: put a whole document in place.

use clap::{ArgGroup, Args};
use workspacetrack::cli::{Cli, Status, input};
use workspacetrack::error::Result;
use workspacetrack::run::document;
use workspacetrack::run::record::save;

use crate::shared::{self, JSON_BYTES_MAX, RepairArgs, TargetArgs};

#[derive(Args)]
#[command(group = ArgGroup::new("telling").args(["force"]))]
pub(crate) struct Options {
    #[command(flatten)]
    repair: RepairArgs,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let (store, run) = options.target.named(cli)?;
    let bytes = input::read_all(input::stdin(), "standard input", JSON_BYTES_MAX)?;
    let submitted = document::given("the document", &bytes)?;
    let receipt = save::save(&store, &run, submitted, &options.target.expected(None)?, options.repair.rules())?;
    Ok(shared::tell(&receipt, cli))
}
