//! `run-turn`: what the agents of a run did turn by turn.

mod page;
mod show;
mod write;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use workspacetrack::cli;

/// The command line: one of four.
#[derive(Args)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a turn, and the conversation up to then
    Write(write::Options),
    /// Print a turn, or its conversation
    Read(show::ReadOptions),
    /// Print the latest turn of a node, or its conversation
    Latest(show::LatestOptions),
    /// List turns
    List(show::ListOptions),
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Write(options) => write::run(&options, cli),
        Command::Read(options) => show::read(&options, cli),
        Command::Latest(options) => show::latest(&options, cli),
        Command::List(options) => show::list(&options, cli),
    })
}
