//! `run-artifact write` and `reindex`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::documents::{self, CompanionArgs, parse_count, worse};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::run::access::Indexed;
use workspacetrack::run::artifact::{self, Draft};
use workspacetrack::run::companion::Told;
use workspacetrack::run::json::Json;
use workspacetrack::store::component::Component;

#[derive(Args)]
pub(crate) struct Options {
    /// The node that publishes
    node: String,
    /// What it publishes, a JSON object; @FILE reads it from a file, - from standard input
    #[arg(value_name = "DATA")]
    data: String,
    /// The version [default: the next one]
    #[arg(long = "version", value_name = "N", value_parser = parse_count)]
    number: Option<i64>,
    /// A label, as often as you like
    #[arg(long = "label", value_name = "TEXT")]
    labels: Vec<String>,
    /// The contract, a JSON object; @FILE reads it from a file, - from standard input
    #[arg(long, value_name = "JSON")]
    contract: Option<String>,
    /// The name under which it is published: an event tells of it
    #[arg(long, value_name = "NAME")]
    publish: Option<String>,
    #[command(flatten)]
    event: CompanionArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    if options.publish.is_none() && (options.event.no_event || options.event.engine.while_running) {
        return Err(Error::usage("--no-event and --while-running say something only together with --publish")
            .hint("an artifact that is not published has no event"));
    }
    let (store, run) = cli.env.run_store(&options.run)?;
    let draft = Draft {
        node: Component::for_new("node id", &options.node)?,
        version: options.number,
        data: documents::object("the data", &options.data)?,
        labels: options.labels.clone(),
        contract: options.contract.as_deref().map(|text| documents::object("the contract", text)).transpose()?,
        publish: options.publish.clone(),
    };
    let written = artifact::write(&store, &run, &draft, options.event.companion())?;
    let receipt = Json::object([
        ("node_id", Json::string(&options.node)),
        ("version", Json::integer(written.version)),
        ("new", Json::boolean(written.is_new)),
        ("written_at", Json::string(&written.written_at)),
    ]);
    let again = match options.number {
        Some(_) => "the same command again".to_owned(),
        None => format!("the same command with --version {}", written.version),
    };
    let told = cli.receipt_with(receipt, &written.told, &again);
    Ok(worse(told, cli.unindexed(written.unindexed.as_ref(), "run-artifact reindex")))
}

#[derive(Args)]
pub(crate) struct ReindexOptions {
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn reindex(options: &ReindexOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    workspacetrack::run::record::load(&store, &run)?;
    let (nodes, indexed) = artifact::reindex(&store, &run)?;
    let receipt = Json::object([
        ("nodes", Json::integer(i64::try_from(nodes).unwrap_or(i64::MAX))),
        ("changed", Json::boolean(indexed == Indexed::Changed)),
    ]);
    Ok(cli.receipt(receipt, &Told::NotWanted))
}
