//! `run-route`: agree on who acts on the outcomes of runs.

mod change;
mod list;
mod page;
mod watermark;

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
    /// Claim an outcome of a run for a while
    Claim(change::ClaimOptions),
    /// Say what came of a claim, and let it go
    Finish(change::FinishOptions),
    /// List who claimed which outcome and what came of it, the newest first
    List(list::Options),
    /// Print the watermark of the store, or set it once and for all
    Watermark(watermark::Options),
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Claim(options) => change::claim(&options, cli),
        Command::Finish(options) => change::finish(&options, cli),
        Command::List(options) => list::run(&options, cli),
        Command::Watermark(options) => watermark::run(&options, cli),
    })
}
