//! `run-route list`.

use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::run::json::Json;
use workspacetrack::run::route::decision::{Decision, State};
use workspacetrack::run::route::list::{self, Row};
use workspacetrack::stream::quote;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    run: HistoryArgs,
    /// Those of all runs of the store
    #[arg(long, conflicts_with = "run")]
    all: bool,
    /// Only those in one of these states
    #[arg(long, value_name = "STATE,...", value_delimiter = ',', value_parser = ["claimed", "succeeded", "failed"])]
    state: Vec<String>,
    /// Only the first N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let wanted: Vec<_> = options.state.iter().filter_map(|state| State::parse(state)).collect();
    let (store, run) = if options.all {
        let workspace = cli.env.workspace_path(&options.run.workspace);
        (cli.env.store(&options.run.store, &workspace)?, None)
    } else {
        let (store, run) = cli.run_to_read(&options.run).map_err(|error| match error.kind() {
            workspacetrack::error::Kind::Usage => error.also("take all of them with --all"),
            _ => error,
        })?;
        (store, Some(run))
    };
    if options.all {
        cli.note_missing(&store);
    }
    let mut status = Status::Done;
    let rows = list::list(&store, run.as_ref(), &wanted)?;
    for row in rows.iter().take(options.limit.unwrap_or(usize::MAX)) {
        match &row.content {
            Ok((decision, json)) if cli.json() => cli.out.line(json.compact().as_bytes()),
            Ok((decision, json)) => print(row, decision, json, cli),
            Err(error) => {
                damaged(row, error, cli);
                status = Status::Partial;
            }
        }
    }
    Ok(status)
}

fn print(row: &Row, decision: &Decision, json: &Json, cli: &mut Cli) {
    let (outcome, attempts) = (decision.outcome.to_string(), decision.attempts.to_string());
    let last = match decision.state {
        State::Claimed => format!("until {}", decision.lease_until),
        State::Failed => json.text_of("last_error").into_owned(),
        State::Succeeded => json.get("result").map(Json::compact).unwrap_or_default(),
    };
    let updated = json.text_of("updated_at");
    let (run, state) = (row.run.as_str(), decision.state.as_str());
    let fields =
        [run, &*outcome, state, &*attempts, &*updated, &*decision.owner, &*last].map(|field| cli.field(field));
    cli.out.line(fields.join("\t").trim_end().as_bytes());
}

/// What cannot be understood has a row all the same.
fn damaged(row: &Row, error: &Error, cli: &mut Cli) {
    let outcome = row.outcome.as_deref().unwrap_or("-");
    if cli.json() {
        let mut json = Json::object([("run_id", Json::string(row.run.as_str()))]);
        if let Some(outcome) = &row.outcome {
            json.set("decision", Json::string(outcome));
        }
        json.set("damage", Json::string(&error.to_string()));
        cli.out.line(json.compact().as_bytes());
    } else {
        let fields = [row.run.as_str(), outcome, "damaged"].map(|field| cli.field(field));
        cli.out.line(fields.join("\t").as_bytes());
    }
    cli.warn(format_args!("run {}: {error}", quote::name(row.run.as_str().as_bytes())));
}
