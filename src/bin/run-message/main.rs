//! `run-message`: what operators say to a run.

mod change;
mod page;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use workspacetrack::cli;
use workspacetrack::run::message::State;

/// The command line: one of seven.
#[derive(Args)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Send a message
    Queue(change::QueueOptions),
    /// Send a message unless its id was ever seen
    QueueOnce(change::OnceOptions),
    /// Say that an agent has been given a message
    Deliver(change::AdvanceOptions),
    /// Say that an agent has taken in a message that was delivered
    Consume(change::AdvanceOptions),
    /// Take a message back that was not delivered yet
    Cancel(change::AdvanceOptions),
    /// List the messages that wait
    Pending(show::PendingOptions),
    /// List all messages with their states
    List(show::ListOptions),
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Queue(options) => change::queue(&options, cli),
        Command::QueueOnce(options) => change::queue_once(&options, cli),
        Command::Deliver(options) => change::advance(&options, State::Delivered, cli),
        Command::Consume(options) => change::advance(&options, State::Consumed, cli),
        Command::Cancel(options) => change::advance(&options, State::Cancelled, cli),
        Command::Pending(options) => show::pending(&options, cli),
        Command::List(options) => show::list(&options, cli),
    })
}
