//! `run-message queue`, `queue-once`, `deliver`, `consume` and `cancel`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::documents::{self, CompanionArgs};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::json::Json;
use workspacetrack::run::message::{self, Changed, Draft, Repeat, State};
use workspacetrack::stream::quote;

/// What is sent.
#[derive(Args)]
struct MessageArgs {
    /// The text; @FILE reads it from a file, - from standard input
    text: String,
    /// For one node only
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    node: String,
    /// A skill that it refers to, as often as you like
    #[arg(long = "skill", value_name = "REF")]
    skills: Vec<String>,
    /// The interaction that it is about
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    interaction: String,
    /// The tenant
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    tenant: String,
    #[command(flatten)]
    event: CompanionArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

impl MessageArgs {
    fn queue(&self, id: String, repeat: Repeat, cli: &mut Cli) -> Result<(Changed, Status)> {
        let (store, run) = cli.env.run_store(&self.run)?;
        let draft = Draft {
            id,
            text: documents::text("the text", &self.text)?,
            node: self.node.clone(),
            skills: self.skills.clone(),
            interaction: self.interaction.clone(),
            tenant: self.tenant.clone(),
        };
        let changed = message::queue(&store, &run, &draft, repeat, self.event.companion())?;
        let again = if draft.id.is_empty() {
            let id = changed.json.text_of("id");
            format!("the same command with --id {}", quote::shell_word(&id))
        } else {
            SAME.to_owned()
        };
        let status = receipt(&changed, &again, cli);
        Ok((changed, status))
    }
}

#[derive(Args)]
pub(crate) struct QueueOptions {
    /// The id [default: one that nobody has]
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    id: String,
    #[command(flatten)]
    message: MessageArgs,
}

pub(crate) fn queue(options: &QueueOptions, cli: &mut Cli) -> Result<Status> {
    Ok(options.message.queue(options.id.clone(), Repeat::Conflict, cli)?.1)
}

#[derive(Args)]
pub(crate) struct OnceOptions {
    /// The id
    id: String,
    #[command(flatten)]
    message: MessageArgs,
}

pub(crate) fn queue_once(options: &OnceOptions, cli: &mut Cli) -> Result<Status> {
    if options.id.is_empty() {
        return Err(workspacetrack::error::Error::usage("the message has no id"));
    }
    let (changed, status) = options.message.queue(options.id.clone(), Repeat::Fine, cli)?;
    Ok(if changed.is_new { status } else { Status::No })
}

#[derive(Args)]
pub(crate) struct AdvanceOptions {
    /// The message
    id: String,
    #[command(flatten)]
    event: CompanionArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn advance(options: &AdvanceOptions, target: State, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let changed = message::advance(&store, &run, &options.id, target, options.event.companion())?;
    Ok(receipt(&changed, SAME, cli))
}

/// What makes up for an event that is missing, where the command changes nothing the second time.
const SAME: &str = "the same command again";

fn receipt(changed: &Changed, again: &str, cli: &mut Cli) -> Status {
    let receipt = Json::object([
        ("id", Json::string(&changed.json.text_of("id"))),
        ("status", Json::string(&changed.json.text_of("status"))),
        ("new", Json::boolean(changed.is_new)),
    ]);
    cli.receipt_with(receipt, &changed.told, again)
}
