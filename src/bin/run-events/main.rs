//! `run-events`: the append-only event log of a run.

mod append;
mod cat;
mod check;
mod fold;
mod page;
mod show;
mod tail;

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Kind, Result};
use workspacetrack::run::events::damage::{Cause, Damage, Tally, Verdict, Weight};
use workspacetrack::run::events::source;
use workspacetrack::store::id::RunId;
use workspacetrack::store::{Store, layout};

/// The command line: one of five.
#[derive(Args)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Append one event from options, or many from standard input
    Append(append::Options),
    /// Print events
    Cat(cat::Options),
    /// Print the last events, and those that come
    Tail(tail::Options),
    /// Name every damage of the log
    Check(check::Options),
    /// Reduce the log to what it says about one thing
    Fold(fold::Options),
}

/// Which log.
#[derive(Args)]
struct LogArgs {
    #[command(flatten)]
    run: HistoryArgs,
}

impl LogArgs {
    fn named(&self, cli: &Cli) -> Result<(Store, RunId)> {
        cli.env.run_store(&self.run)
    }

    /// The log's path and the open log; none for a run without events. A run that is not there is an error.
    fn open(&self, cli: &Cli) -> Result<(PathBuf, Option<File>, RunId)> {
        let (store, run) = self.named(cli)?;
        let path = layout::events(store.root(), &run);
        let file = source::open(&path)?;
        let dir = layout::run(store.root(), &run);
        if file.is_none() && !dir.is_dir() {
            return Err(store.no_run(&run));
        }
        Ok((path, file, run))
    }
}

/// Tells of a damage as a reader does: what an append that was cut short left behind is no loss, and a torn tail is only
/// somebody who writes just now.
fn warn_of(cli: &Cli, damage: &Damage) {
    match damage.cause {
        Cause::TornTail | Cause::CarriageReturn | Cause::ByteOrderMark => {
            if cli.verbose() {
                cli.warn(damage);
            }
        }
        _ => cli.warn(damage),
    }
}

/// How a reader ends: in 3 when something it was asked for is missing, in 4 when the log is no audit any more.
fn ended(tally: &Tally) -> Result<Status> {
    match tally.verdict() {
        Verdict::Corrupt => Err(Error::new(
            Kind::Damaged,
            format!(
                "the event log is corrupt: {} lines are bad, {} are events",
                tally.bad + tally.healed,
                tally.events
            ),
        )
        .hint("'run-events check' names each of them")),
        Verdict::Damaged if tally.losses > 0 => Ok(Status::Partial),
        _ => Ok(Status::Done),
    }
}

/// Whether a damage means that something is missing.
fn is_loss(damage: &Damage) -> bool {
    damage.cause.weight() == Weight::Loss
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, |args: CommandLine, cli| match args.command {
        Command::Append(options) => append::run(&options, cli),
        Command::Cat(options) => cat::run(&options, cli),
        Command::Tail(options) => tail::run(&options, cli),
        Command::Check(options) => check::run(&options, cli),
        Command::Fold(options) => fold::run(&options, cli),
    })
}
