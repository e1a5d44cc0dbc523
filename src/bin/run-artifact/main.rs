//! `run-artifact`: what the nodes of a run published.

mod files;
mod page;
mod show;
mod write;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use workspacetrack::cli;

/// The command line: one of nine.
#[derive(Args)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write an artifact, as the next version or a given one
    Write(write::Options),
    /// Print an artifact
    Read(show::ReadOptions),
    /// Print the latest artifact of a node
    Latest(show::LatestOptions),
    /// List artifacts
    List(show::ListOptions),
    /// Print the labels of an artifact
    Labels(show::LabelsOptions),
    /// Make the index in run.json say what is there
    Reindex(write::ReindexOptions),
    /// Make sure that the directory for files of tools is there
    FilesDir(files::DirOptions),
    /// List the files that tools wrote
    Files(files::ListOptions),
    /// Print a file that a tool wrote
    File(files::FileOptions),
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Write(options) => write::run(&options, cli),
        Command::Read(options) => show::read(&options, cli),
        Command::Latest(options) => show::latest(&options, cli),
        Command::List(options) => show::list(&options, cli),
        Command::Labels(options) => show::labels(&options, cli),
        Command::Reindex(options) => write::reindex(&options, cli),
        Command::FilesDir(options) => files::dir(&options, cli),
        Command::Files(options) => files::list(&options, cli),
        Command::File(options) => files::print(&options, cli),
    })
}
