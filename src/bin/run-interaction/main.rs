//! `run-interaction`: questions of a run to people, and their answers.

mod change;
mod page;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use workspacetrack::cli;

/// The command line: one of six.
#[derive(Args)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Ask
    Ask(change::AskOptions),
    /// Answer; of many who answer one wins
    Answer(change::AnswerOptions),
    /// Append a turn of a conversation
    Turn(change::TurnOptions),
    /// Retire a question: nobody wants an answer any more
    Retire(change::RetireOptions),
    /// Print an interaction
    Show(show::ShowOptions),
    /// List interactions
    List(show::ListOptions),
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Ask(options) => change::ask(&options, cli),
        Command::Answer(options) => change::answer(&options, cli),
        Command::Turn(options) => change::turn(&options, cli),
        Command::Retire(options) => change::retire(&options, cli),
        Command::Show(options) => show::show(&options, cli),
        Command::List(options) => show::list(&options, cli),
    })
}
