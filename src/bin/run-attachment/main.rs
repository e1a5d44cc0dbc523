//! `run-attachment`: files that people and tools gave to a run.

mod add;
mod link;
mod page;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use workspacetrack::cli;

/// The command line: one of seven.
#[derive(Args)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Add files, all or none
    Add(add::Options),
    /// List attachments
    List(show::ListOptions),
    /// Give out the bytes of an attachment
    Open(show::OpenOptions),
    /// Remove attachments
    Remove(add::RemoveOptions),
    /// Make the mirror in run.json say what is there
    Reindex(add::ReindexOptions),
    /// Make a link that is good for a while
    Presign(link::PresignOptions),
    /// Tell whether a link is good
    Verify(link::VerifyOptions),
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Add(options) => add::run(&options, cli),
        Command::List(options) => show::list(&options, cli),
        Command::Open(options) => show::open(&options, cli),
        Command::Remove(options) => add::remove(&options, cli),
        Command::Reindex(options) => add::reindex(&options, cli),
        Command::Presign(options) => link::presign(&options, cli),
        Command::Verify(options) => link::verify(&options, cli),
    })
}
