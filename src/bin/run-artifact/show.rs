//! `run-artifact read`, `latest`, `list` and `labels`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::documents::parse_count;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::artifact;
use workspacetrack::run::json::Json;
use workspacetrack::store::component::Component;

#[derive(Args)]
pub(crate) struct ReadOptions {
    /// The node
    node: String,
    /// The version
    #[arg(value_name = "VERSION", value_parser = parse_count)]
    number: i64,
    /// A JSON pointer to the part that is wanted, such as /data/summary
    pointer: Option<String>,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn read(options: &ReadOptions, cli: &mut Cli) -> Result<Status> {
    let node = Component::named("node id", &options.node)?;
    let (store, run) = cli.run_to_read(&options.run)?;
    cli.document(&artifact::read(&store, &run, &node, options.number)?, options.pointer.as_deref())
}

#[derive(Args)]
pub(crate) struct LatestOptions {
    /// The node
    node: String,
    /// A JSON pointer to the part that is wanted
    pointer: Option<String>,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn latest(options: &LatestOptions, cli: &mut Cli) -> Result<Status> {
    let node = Component::named("node id", &options.node)?;
    let (store, run) = cli.run_to_read(&options.run)?;
    cli.document(&artifact::latest(&store, &run, &node)?, options.pointer.as_deref())
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
    let nodes = named.map_or_else(|| artifact::nodes(&store, &run), |node| Ok(vec![node]))?;
    let mut status = Status::Done;
    for node in nodes {
        for version in artifact::versions(&store, &run, &node)? {
            match artifact::read(&store, &run, &node, version) {
                Ok(json) => row(&node, version, &json, cli),
                Err(error) => status = cli.left_out(format_args!("artifact {version} of node {node}"), &error),
            }
        }
    }
    Ok(status)
}

fn row(node: &Component, version: i64, json: &Json, cli: &mut Cli) {
    let labels = json.get("labels").cloned().unwrap_or_default();
    let written_at = json.text_of("written_at");
    if cli.json() {
        let mut row = Json::object([
            ("node_id", Json::string(node.as_str())),
            ("version", Json::integer(version)),
            ("written_at", Json::string(&written_at)),
        ]);
        if !labels.is_zero() {
            row.set("labels", labels);
        }
        cli.out.line(row.compact().as_bytes());
        return;
    }
    let labels: Vec<_> = labels.elements().iter().filter_map(|label| label.text().map(String::from)).collect();
    let fields =
        [node.as_str(), &version.to_string(), &written_at, &labels.join(",")].map(|field| cli.field(field));
    cli.out.line(fields.join("\t").trim_end().as_bytes());
}

#[derive(Args)]
pub(crate) struct LabelsOptions {
    /// The node
    node: String,
    /// The version [default: the latest one]
    #[arg(value_name = "VERSION", value_parser = parse_count)]
    number: Option<i64>,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn labels(options: &LabelsOptions, cli: &mut Cli) -> Result<Status> {
    let node = Component::named("node id", &options.node)?;
    let (store, run) = cli.run_to_read(&options.run)?;
    let json = match options.number {
        Some(version) => artifact::read(&store, &run, &node, version)?,
        None => artifact::latest(&store, &run, &node)?,
    };
    let labels = json.get("labels").cloned().unwrap_or_default();
    if cli.json() {
        cli.out.line(Json::Array(labels.elements().to_vec()).compact().as_bytes());
    } else {
        for label in labels.elements().iter().filter_map(Json::text) {
            let label = cli.field(&label);
            cli.out.line(label.as_bytes());
        }
    }
    Ok(Status::Done)
}
