//! `run-plan write`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::documents::{self, CompanionArgs, parse_count};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::json::Json;
use workspacetrack::run::plan::{self, Draft};
use workspacetrack::store::component::Component;

#[derive(Args)]
pub(crate) struct Options {
    /// The node whose agent plans
    node: String,
    /// The todos, a JSON array; @FILE reads it from a file, - from standard input
    todos: String,
    /// The iteration of the node
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "0")]
    iteration: i64,
    /// The tool with which the plan was given
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    tool: String,
    #[command(flatten)]
    event: CompanionArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let draft = Draft {
        node: Component::for_new("node id", &options.node)?,
        iteration: options.iteration,
        tool: options.tool.clone(),
        todos: plan::todos(&documents::value("the todos", &options.todos)?)?,
    };
    let written = plan::write(&store, &run, &draft, options.event.companion())?;
    let receipt = Json::object([
        ("seq", Json::integer(written.seq)),
        ("new", Json::boolean(written.is_new)),
        ("count", Json::integer(i64::try_from(written.count).unwrap_or(i64::MAX))),
    ]);
    Ok(cli.receipt(receipt, &written.told))
}
