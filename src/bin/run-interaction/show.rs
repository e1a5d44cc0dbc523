//! `run-interaction show` and `list`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::clock;
use workspacetrack::error::Result;
use workspacetrack::run::interaction::{self, State};
use workspacetrack::run::json::Json;
use workspacetrack::store::component::Component;

#[derive(Args)]
pub(crate) struct ShowOptions {
    /// The interaction
    id: String,
    /// A JSON pointer to the part that is wanted, such as /answers
    pointer: Option<String>,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn show(options: &ShowOptions, cli: &mut Cli) -> Result<Status> {
    let id = Component::named("interaction id", &options.id)?;
    let (store, run) = cli.run_to_read(&options.run)?;
    cli.document(&interaction::read(&store, &run, &id)?, options.pointer.as_deref())
}

#[derive(Args)]
pub(crate) struct ListOptions {
    /// Only those that wait for an answer
    #[arg(long, conflicts_with = "answered")]
    pending: bool,
    /// Only those that were answered
    #[arg(long)]
    answered: bool,
    /// Only questions that do not stop the run
    #[arg(long = "async")]
    is_async: bool,
    /// Only those of one node
    #[arg(long, value_name = "ID")]
    node: Option<String>,
    #[command(flatten)]
    run: HistoryArgs,
}

impl ListOptions {
    fn wants(&self, json: &Json) -> bool {
        let state = State::of(json);
        let is_state = match (self.pending, self.answered) {
            (true, _) => state == State::Open,
            (_, true) => state == State::Answered,
            _ => true,
        };
        let is_kind = !self.is_async || json.text_of("kind") == "async";
        let is_node = self.node.as_deref().is_none_or(|node| json.text_of("node_id") == node);
        is_state && is_kind && is_node
    }
}

pub(crate) fn list(options: &ListOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.run_to_read(&options.run)?;
    let (mut found, mut status) = (Vec::new(), Status::Done);
    for id in interaction::ids(&store, &run)? {
        match interaction::read(&store, &run, &id) {
            Ok(json) if options.wants(&json) => found.push(json),
            Ok(_) => {}
            Err(error) => status = cli.left_out(format_args!("interaction {id}"), &error),
        }
    }
    if options.pending || options.answered || options.is_async {
        // Who asked first is answered first; the ids, by which they came, decide where the times are the same.
        found.sort_by_key(|json| clock::parse_rfc3339(&json.text_of("requested_at")));
    }
    for json in found {
        if cli.json() {
            cli.out.line(json.compact().as_bytes());
            continue;
        }
        let kind = match &*json.text_of("kind") {
            "" => "blocking".to_owned(),
            kind => kind.to_owned(),
        };
        let fields = [
            &*json.text_of("id"),
            State::of(&json).as_str(),
            &kind,
            &json.text_of("node_id"),
            &json.text_of("requested_at"),
        ]
        .map(|field| cli.field(field));
        cli.out.line(fields.join("\t").as_bytes());
    }
    Ok(status)
}
