//! `run-plan`: what the agents of a run meant to do, each time they changed their minds.

mod page;
mod show;
mod write;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use workspacetrack::cli;

/// The command line: one of three.
#[derive(Args)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a snapshot of todos unless they are those of the one before
    Write(write::Options),
    /// List the snapshots
    List(show::ListOptions),
    /// Print a snapshot
    Show(show::ShowOptions),
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Write(options) => write::run(&options, cli),
        Command::List(options) => show::list(&options, cli),
        Command::Show(options) => show::show(&options, cli),
    })
}
