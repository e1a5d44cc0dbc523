//! `run-turn write`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::documents::{self, parse_count};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::companion::Told;
use workspacetrack::run::json::Json;
use workspacetrack::run::turn::{self, Place};
use workspacetrack::store::component::Component;

#[derive(Args)]
pub(crate) struct Options {
    /// The node
    node: String,
    /// The iteration of the node
    #[arg(value_parser = parse_count)]
    iteration: i64,
    /// The turn in the iteration
    #[arg(value_parser = parse_count)]
    turn: i64,
    /// What happened, a JSON object; @FILE reads it from a file, - from standard input
    document: String,
    /// The conversation, a JSON value; @FILE reads it from a file, - from standard input
    #[arg(long, value_name = "JSON")]
    messages: Option<String>,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let place = Place {
        node: Component::for_new("node id", &options.node)?,
        iteration: options.iteration,
        turn: options.turn,
    };
    let given = documents::object("the turn", &options.document)?;
    let messages =
        options.messages.as_deref().map(|json| documents::value("the conversation", json)).transpose()?;
    let json = turn::write(&store, &run, &place, &given, messages.as_ref())?;
    let receipt = Json::object([
        ("node_id", Json::string(&options.node)),
        ("loop_iter", Json::integer(options.iteration)),
        ("turn_index", Json::integer(options.turn)),
        ("written_at", Json::string(&json.text_of("written_at"))),
    ]);
    Ok(cli.receipt(receipt, &Told::NotWanted))
}
