//! `run-tool`: what went into the tools of a run and came out, where it is too long for an event.

mod get;
mod page;
mod put;

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use workspacetrack::cli;
use workspacetrack::run::tool;

/// The command line: one of two.
#[derive(Args)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Store a body from standard input, and print what the event is to say of it
    Put(put::Options),
    /// Give out a stored body, or part of it
    Get(get::Options),
}

#[derive(Clone, Copy, ValueEnum)]
enum Body {
    Input,
    Output,
}

impl Body {
    fn body(self) -> tool::Body {
        match self {
            Self::Input => tool::Body::Input,
            Self::Output => tool::Body::Output,
        }
    }
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Put(options) => put::run(&options, cli),
        Command::Get(options) => get::run(&options, cli),
    })
}
