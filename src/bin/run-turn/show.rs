//! `run-turn read`, `latest` and `list`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::documents::parse_count;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::json::Json;
use workspacetrack::run::turn::{self, Place};
use workspacetrack::store::Store;
use workspacetrack::store::component::Component;
use workspacetrack::store::id::RunId;

#[derive(Args)]
pub(crate) struct ReadOptions {
    /// The node
    node: String,
    /// The iteration of the node
    #[arg(value_parser = parse_count)]
    iteration: i64,
    /// The turn in the iteration
    #[arg(value_parser = parse_count)]
    turn: i64,
    /// The conversation, as it is stored
    #[arg(long)]
    messages: bool,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn read(options: &ReadOptions, cli: &mut Cli) -> Result<Status> {
    let node = Component::named("node id", &options.node)?;
    let (store, run) = cli.run_to_read(&options.run)?;
    let place = Place { node, iteration: options.iteration, turn: options.turn };
    print(&store, &run, &place, options.messages, cli)
}

#[derive(Args)]
pub(crate) struct LatestOptions {
    /// The node
    node: String,
    /// The conversation, as it is stored
    #[arg(long)]
    messages: bool,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn latest(options: &LatestOptions, cli: &mut Cli) -> Result<Status> {
    let node = Component::named("node id", &options.node)?;
    let (store, run) = cli.run_to_read(&options.run)?;
    let place = turn::latest(&store, &run, &node)?;
    print(&store, &run, &place, options.messages, cli)
}

fn print(store: &Store, run: &RunId, place: &Place, messages: bool, cli: &mut Cli) -> Result<Status> {
    if messages {
        cli.out.write(&turn::messages(store, run, place)?);
        return Ok(Status::Done);
    }
    cli.document(&turn::read(store, run, place)?, None)
}

#[derive(Args)]
pub(crate) struct ListOptions {
    /// The node [default: all]
    node: Option<String>,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn list(options: &ListOptions, cli: &mut Cli) -> Result<Status> {
    let named = options.node.as_deref().map(|node| Component::named("node id", node)).transpose()?;
    let (store, run) = cli.run_to_read(&options.run)?;
    let nodes = named.map_or_else(|| turn::nodes(&store, &run), |node| Ok(vec![node]))?;
    let mut status = Status::Done;
    for node in nodes {
        for place in turn::list(&store, &run, &node)? {
            let Place { node, iteration, turn } = &place;
            match turn::read(&store, &run, &place) {
                Err(error) => {
                    let what = format!("turn {turn} in iteration {iteration} of node {node}");
                    status = cli.left_out(what, &error);
                }
                Ok(json) if cli.json() => cli.out.line(json.compact().as_bytes()),
                Ok(json) => row(&place, &json, cli),
            }
        }
    }
    Ok(status)
}

fn row(place: &Place, json: &Json, cli: &mut Cli) {
    let model = [json.text_of("backend"), json.text_of("model")].join(" ");
    let numbers = [place.iteration.to_string(), place.turn.to_string()];
    let [iteration, turn] = &numbers;
    let fields = [place.node.as_str(), iteration, turn, &json.text_of("written_at"), model.trim()]
        .map(|field| cli.field(field));
    cli.out.line(fields.join("\t").trim_end().as_bytes());
}
