//! `run-record pause`: pause for a person.

use clap::{ArgGroup, Args};
use workspacetrack::cli::{Cli, Status, input};
use workspacetrack::error::Result;
use workspacetrack::run::document;
use workspacetrack::run::record::outcome;
use workspacetrack::run::transition::Outcome;
use workspacetrack::store::component::Component;

use crate::shared::{self, JSON_BYTES_MAX, RepairArgs, StatusesArgs, TargetArgs};

#[derive(Args)]
#[command(group = ArgGroup::new("telling").args(["force"]))]
pub(crate) struct Options {
    /// The checkpoint, a JSON object; @FILE reads it from a file, - from standard input [default: the stored one]
    #[arg(long, value_name = "JSON")]
    checkpoint: Option<String>,
    /// The interaction that the run waits for [default: the one that the checkpoint names]
    #[arg(long, value_name = "ID")]
    interaction: Option<String>,
    /// Its questions, kept in case its file is lost
    #[arg(long, value_name = "JSON", requires = "interaction")]
    questions: Option<String>,
    /// Why, for people
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    error: String,
    #[command(flatten)]
    statuses: StatusesArgs,
    #[command(flatten)]
    repair: RepairArgs,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let (store, run) = options.target.named(cli)?;
    let checkpoint = shared::object_if_given("the checkpoint", options.checkpoint.as_deref())?;
    let questions = match &options.questions {
        Some(value) => Some(document::given_value("questions", &input::argument(value, JSON_BYTES_MAX)?)?),
        None => None,
    };
    let pointer = match &options.interaction {
        Some(id) => Some((Component::named("interaction id", id)?, questions)),
        None => None,
    };
    let pointer = pointer.as_ref().map(|(id, questions)| (id.as_str(), questions.clone()));
    let said = Outcome { error: options.error.clone(), ..Outcome::default() };
    let expected = options.target.expected(Some(&options.statuses))?;
    let receipt = outcome::pause(&store, &run, checkpoint, pointer, &said, &expected, options.repair.rules())?;
    Ok(shared::tell(&receipt, cli))
}
