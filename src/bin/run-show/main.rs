//! `run-show`: everything about a run on one screen.

mod page;
mod screen;
mod snapshots;
mod text;

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Kind, Result};
use workspacetrack::run::events::follow::watch::{Wake, Watch};
use workspacetrack::run::json::Json;
use workspacetrack::run::overview::{self, Events, Log, Wanted};
use workspacetrack::store::id::RunId;
use workspacetrack::store::{Store, layout};
use workspacetrack::stream::quote;

#[derive(clap::Args)]
struct Args {
    /// The run, where neither --run nor `$WT_RUN` names it
    #[arg(value_name = "RUN", conflicts_with = "run")]
    named: Option<OsString>,
    #[command(flatten)]
    run: HistoryArgs,
    /// Show so many of the last events
    #[arg(long, value_name = "N", default_value_t = 8)]
    events: usize,
    /// Leave out nodes, sums and deployment: all that needs the whole log of events
    #[arg(long)]
    brief: bool,
    /// Show it again whenever it has changed
    #[arg(short, long)]
    watch: bool,
}

fn main() -> ExitCode {
    cli::main(&page::PAGE, run)
}

fn run(mut args: Args, cli: &mut Cli) -> Result<Status> {
    if args.named.is_some() {
        args.run.run.run = args.named.take();
    }
    let (store, run) = cli.env.run_store(&args.run).map_err(|error| match error.kind() {
        Kind::Usage if args.run.run.run.is_none() && cli.env.get("WT_RUN").is_none() => {
            error.hint("name it behind 'run-show'; 'run-record list' shows the runs of a store")
        }
        _ => error,
    })?;
    let options = options(&args.run, &run);
    let wanted = Wanted { options: &options };
    let mut log = Log::new(&store, &run, args.events);
    let mut look = || {
        let events = if args.brief { Events::Last(args.events) } else { Events::All(&mut log) };
        look(&store, &run, &wanted, events)
    };
    if !args.watch {
        let (report, status) = look()?;
        show(&report, cli);
        return Ok(status);
    }
    let watch = Watch::new();
    let mut known = None;
    loop {
        watch.arm(&layout::events(store.root(), &run));
        watch.arm(&layout::run_document(store.root(), &run));
        let (report, status) = look()?;
        // How long ago something was is not a change by itself.
        if known.as_ref() != Some(&report) {
            if cli.is_terminal() {
                cli.out.write(b"\x1b[H\x1b[2J");
            } else if known.is_some() && !cli.json() {
                cli.out.line(b"");
            }
            show(&report, cli);
            cli.out.flush();
            known = Some(report);
        }
        let stdout = std::io::stdout();
        if watch.wait(Some(stdout.as_fd())) == Wake::ReaderGone {
            cli.out.reader_is_gone();
            return Ok(status);
        }
    }
}

/// How commands that are proposed name the run and its store, if that was named here.
fn options(args: &HistoryArgs, run: &RunId) -> String {
    let mut options = String::new();
    let places = [("-C", &args.workspace.workspace), ("--store", &args.store.store)];
    for (option, path) in places {
        if let Some(path) = path {
            options.extend([" ", option, " ", &quote::shell_word(&path.to_string_lossy())]);
        }
    }
    options + &format!(" --run {}", quote::shell_word(run.as_str()))
}

/// The whole report, which is the same for people and machines.
fn look(store: &Store, run: &RunId, wanted: &Wanted<'_>, events: Events<'_>) -> Result<(Json, Status)> {
    let mut found = overview::of(store, run, wanted, events)?;
    if let Some(snapshots) = snapshots::section(store, run, &mut found.problems) {
        found.json.set("snapshots", snapshots);
    }
    let status = if found.problems.is_empty() { Status::Done } else { Status::Partial };
    found.json.set("problems", Json::strings(&found.problems));
    Ok((found.json, status))
}

fn show(report: &Json, cli: &mut Cli) {
    if cli.json() {
        cli.out.line(report.compact().as_bytes());
        return;
    }
    let columns = if cli.is_terminal() { screen::columns() } else { None };
    let columns = columns.or_else(|| {
        let text = cli.env.get("COLUMNS")?;
        std::str::from_utf8(text.as_bytes()).ok()?.parse().ok()
    });
    for line in text::screen(report).lines(columns) {
        cli.out.line(line.as_bytes());
    }
}

/// A sentence for an error among the problems.
fn sentence(error: &Error) -> String {
    error.to_string()
}
