//! `run-interaction ask`, `answer`, `turn` and `retire`.

use clap::{Args, ValueEnum};
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::documents::{self, CompanionArgs, parse_count};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{self, Error, Result};
use workspacetrack::run::interaction::{self, AskKind, Changed, Question, State, Turn};
use workspacetrack::run::json::Json;
use workspacetrack::store::component::Component;

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Blocking,
    Async,
    Await,
    Recovery,
}

impl Kind {
    fn kind(self) -> AskKind {
        match self {
            Self::Blocking => AskKind::Blocking,
            Self::Async => AskKind::Async,
            Self::Await => AskKind::Await,
            Self::Recovery => AskKind::Recovery,
        }
    }
}

#[derive(Args)]
pub(crate) struct AskOptions {
    /// The node that asks
    node: String,
    /// The questions, a JSON object; @FILE reads it from a file, - from standard input
    questions: String,
    /// What becomes of the run meanwhile
    #[arg(long, value_enum, value_name = "KIND", default_value = "blocking")]
    kind: Kind,
    /// The id [default: `RUN_NODE`, or `RUN_NODE_N` in iteration N]
    #[arg(long, value_name = "ID", conflicts_with = "iteration")]
    id: Option<String>,
    /// The iteration of the node, for the id
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "0", hide_default_value = true)]
    iteration: i64,
    /// The tenant
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    tenant: String,
    #[command(flatten)]
    event: CompanionArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn ask(options: &AskOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let node = Component::for_new("node id", &options.node)?;
    let id = options.id.clone().unwrap_or_else(|| interaction::default_id(&run, &node, options.iteration));
    let question = Question {
        id: Component::for_new("interaction id", &id)?,
        node,
        kind: options.kind.kind(),
        questions: documents::object("the questions", &options.questions)
            .map_err(|error| expecting(error, "'{\"approved\":\"Ship it?\"}'"))?,
        tenant: options.tenant.clone(),
    };
    let changed = interaction::ask(&store, &run, &question, options.event.companion())?;
    Ok(receipt(&changed, SAME, cli))
}

#[derive(Args)]
pub(crate) struct AnswerOptions {
    /// The interaction
    id: String,
    /// The answers, a JSON object; @FILE reads it from a file, - from standard input
    answers: String,
    #[command(flatten)]
    event: CompanionArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn answer(options: &AnswerOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let id = Component::named("interaction id", &options.id)?;
    let answers = documents::object("the answers", &options.answers)
        .map_err(|error| expecting(error, "'{\"approved\":true}'"))?;
    let changed = interaction::answer(&store, &run, &id, &answers, options.event.companion())?;
    Ok(receipt(&changed, SAME, cli))
}

#[derive(Clone, Copy, ValueEnum)]
enum Role {
    Companion,
    Human,
}

#[derive(Args)]
#[command(group = clap::ArgGroup::new("said").required(true).multiple(true).args(["content", "verdict"]))]
pub(crate) struct TurnOptions {
    /// The interaction
    id: String,
    /// Who speaks
    #[arg(value_enum)]
    role: Role,
    /// What is said; @FILE reads it from a file, - from standard input
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// What is decided, a JSON value; @FILE reads it from a file, - from standard input
    #[arg(long, value_name = "JSON")]
    verdict: Option<String>,
    /// Only if there are so many turns before it
    #[arg(long, value_name = "N")]
    expect: Option<usize>,
    /// Take back the answer of an interaction that has one, so that it can be answered anew
    #[arg(long)]
    reopen: bool,
    #[command(flatten)]
    event: CompanionArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn turn(options: &TurnOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let id = Component::named("interaction id", &options.id)?;
    let turn = Turn {
        role: match options.role {
            Role::Companion => "companion".to_owned(),
            Role::Human => "human".to_owned(),
        },
        content: options
            .content
            .as_deref()
            .map(|text| documents::text("the content", text))
            .transpose()?
            .unwrap_or_default(),
        verdict: options.verdict.as_deref().map(|json| documents::value("the verdict", json)).transpose()?,
        expected: options.expect,
        reopens: options.reopen,
    };
    let changed = interaction::turn(&store, &run, &id, &turn, options.event.companion())?;
    let turns = turns_of(&changed);
    let again = match options.expect {
        Some(_) => SAME.to_owned(),
        None => format!("the same command with --expect {}", turns.saturating_sub(1)),
    };
    Ok(receipt(&changed, &again, cli))
}

#[derive(Args)]
pub(crate) struct RetireOptions {
    /// The interaction
    id: String,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn retire(options: &RetireOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let id = Component::named("interaction id", &options.id)?;
    Ok(receipt(&interaction::retire(&store, &run, &id)?, SAME, cli))
}

/// What makes up for an event that is missing, where the command changes nothing the second time.
const SAME: &str = "the same command again";

fn turns_of(changed: &Changed) -> usize {
    changed.json.get("turns").map(Json::elements).unwrap_or_default().len()
}

/// Shows the form of what was given in another one.
fn expecting(error: Error, example: &str) -> Error {
    match error.kind() {
        error::Kind::Usage => {
            error.hint(format!("write it like {example}, each key once, or @FILE, or - for standard input"))
        }
        _ => error,
    }
}

fn receipt(changed: &Changed, again: &str, cli: &mut Cli) -> Status {
    let turns = turns_of(changed);
    let mut receipt = Json::object([
        ("id", Json::string(&changed.json.text_of("id"))),
        ("state", Json::string(State::of(&changed.json).as_str())),
        ("new", Json::boolean(changed.is_new)),
    ]);
    if turns > 0 {
        receipt.set("turns", Json::integer(i64::try_from(turns).unwrap_or(i64::MAX)));
    }
    cli.receipt_with(receipt, &changed.told, again)
}
