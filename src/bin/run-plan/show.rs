//! `run-plan list` and `show`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::run::json::Json;
use workspacetrack::run::plan;

#[derive(Args)]
pub(crate) struct ListOptions {
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn list(options: &ListOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.run_to_read(&options.run)?;
    let mut status = Status::Done;
    for seq in plan::list(&store, &run)? {
        match plan::read(&store, &run, seq) {
            Err(error) => status = cli.left_out(format_args!("plan {seq}"), &error),
            Ok(json) if cli.json() => cli.out.line(json.compact().as_bytes()),
            Ok(json) => {
                let todos = json.get("todos").map(Json::elements).unwrap_or_default();
                let done = todos.iter().filter(|todo| todo.text_of("status") == "completed").count();
                let node = json.text_of("node_id");
                let fields =
                    [&seq.to_string(), &*json.text_of("ts"), &*node, &format!("{done}/{} done", todos.len())]
                        .map(|field| cli.field(field));
                cli.out.line(fields.join("\t").as_bytes());
            }
        }
    }
    Ok(status)
}

#[derive(Args)]
pub(crate) struct ShowOptions {
    /// The number of the snapshot [default: the last one]
    #[arg(value_parser = workspacetrack::cli::documents::parse_count)]
    seq: Option<i64>,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn show(options: &ShowOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.run_to_read(&options.run)?;
    let seq = match options.seq {
        Some(seq) => seq,
        None => *plan::list(&store, &run)?.last().ok_or_else(|| Error::not_found("the run has no plans"))?,
    };
    cli.document(&plan::read(&store, &run, seq)?, None)
}
