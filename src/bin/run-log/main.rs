//! `run-log`: what a run printed.

mod append;
mod page;
mod show;

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
    /// Append standard input, or write it at an offset
    Append(append::Options),
    /// Print a range of the log
    Read(show::ReadOptions),
    /// Print the log, and what comes
    Follow(show::FollowOptions),
    /// Print the length of the log in bytes
    Size(show::SizeOptions),
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Append(options) => append::run(&options, cli),
        Command::Read(options) => show::read(&options, cli),
        Command::Follow(options) => show::follow(&options, cli),
        Command::Size(options) => show::size(&options, cli),
    })
}
