//! `run-record`: the document of a run, its status, its checkpoint.

mod checkpoint;
mod create;
mod delegate;
mod fail;
mod get;
mod list;
mod merge;
mod page;
mod patch;
mod pause;
mod save;
mod set_status;
mod shared;
mod waits;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use workspacetrack::cli;

/// The command line: one of many.
#[derive(Args)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a run
    Create(create::Options),
    /// Print the document, or what a JSON pointer names in it
    Get(get::Options),
    /// List the runs of a store
    List(list::Options),
    /// Set the status
    SetStatus(set_status::Options),
    /// Put a whole document from standard input in place
    Save(save::Options),
    /// Set members that change while a run lives
    Patch(patch::Options),
    /// Print or store the checkpoint
    Checkpoint(checkpoint::Options),
    /// Pause for a person
    Pause(pause::Options),
    /// Fail
    Fail(fail::Options),
    /// Claim the merge of the result
    ClaimMerge(merge::Claim),
    /// Write what came of a merge
    UpdateMerge(merge::Update),
    /// Make a worker for a run that failed
    Delegate(delegate::Options),
    /// Say whether the run or one below it waits for a person
    Waits(waits::Options),
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Create(options) => create::run(&options, cli),
        Command::Get(options) => get::run(&options, cli),
        Command::List(options) => list::run(&options, cli),
        Command::SetStatus(options) => set_status::run(&options, cli),
        Command::Save(options) => save::run(&options, cli),
        Command::Patch(options) => patch::run(&options, cli),
        Command::Checkpoint(options) => checkpoint::run(&options, cli),
        Command::Pause(options) => pause::run(&options, cli),
        Command::Fail(options) => fail::run(&options, cli),
        Command::ClaimMerge(options) => merge::claim(&options, cli),
        Command::UpdateMerge(options) => merge::update(&options, cli),
        Command::Delegate(options) => delegate::run(&options, cli),
        Command::Waits(options) => waits::run(&options, cli),
    })
}
