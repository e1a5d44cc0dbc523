//! Takes back what a run did since a node began, and only that.
//!
//! One process holds the workspace lock from the first look to the last change; the parts are `history::pivot`,
//! `history::authorship`, `act::bank`, `act::restore`, and `act::rewind`, which joins them.

mod other;
mod page;
mod report;

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use workspacetrack::act::bank;
use workspacetrack::act::capture::{self, LabelWish};
use workspacetrack::act::restore::Place;
use workspacetrack::act::rewind::event::{self, Extra, Told};
use workspacetrack::act::rewind::{self, Evidence, Extent, Findings, Prepared, Request};
use workspacetrack::cli::args::{LimitArgs, RootArgs, RunArgs, StoreArgs, WorkspaceArgs, ZeroOutArgs};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::history::History;
use workspacetrack::history::manifest::Manifest;
use workspacetrack::run::events::append::{Sync, Synced, Writer};
use workspacetrack::run::events::draft::Draft;
use workspacetrack::run::events::nodes::Stops;
use workspacetrack::run::standstill::{Finished, Standstill};
use workspacetrack::store::id::{Label, RunId, SnapshotId};
use workspacetrack::store::lock::Mode;
use workspacetrack::stream::quote;
use workspacetrack::tree::root::InheritedLock;

use page::PAGE;

#[derive(Clone, Copy, ValueEnum)]
enum RestoreScope {
    /// What the run produced
    Produced,
    /// The whole tree
    Full,
    /// Nothing: only check, and append the event
    None,
}

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["node", "list_snapshots", "restore_snapshot"]))]
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    root: RootArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    zero: ZeroOutArgs,
    /// The node to go back to before
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// The iteration, or the last one before it that has a boundary [default: the last one]
    #[arg(long, value_name = "I", requires = "node", conflicts_with_all = ["list_snapshots", "restore_snapshot"])]
    iter: Option<u64>,
    /// What to restore
    #[arg(long, value_name = "SCOPE", value_enum, default_value = "produced", conflicts_with_all = ["list_snapshots", "restore_snapshot"])]
    restore_scope: RestoreScope,
    /// Leave this path, and what lies below it, as it is
    #[arg(long, value_name = "PATH", conflicts_with = "list_snapshots")]
    protect: Vec<PathBuf>,
    /// Leave a path that no longer is as the newest boundary recorded it
    #[arg(long, requires = "node", conflicts_with_all = ["list_snapshots", "restore_snapshot"])]
    keep_edited: bool,
    /// Change nothing unless nothing has to be left out
    #[arg(long, conflicts_with = "list_snapshots")]
    all_or_nothing: bool,
    /// Say what would be done; no bank, no event, nothing changed
    #[arg(short = 'n', long, conflicts_with = "list_snapshots")]
    dry_run: bool,
    /// Members to add to the event's data, a JSON object
    #[arg(long, value_name = "JSON", requires = "node", conflicts_with_all = ["list_snapshots", "restore_snapshot"])]
    event_data: Option<String>,
    /// List the snapshots of the run, as wt-log does
    #[arg(long, conflicts_with_all = ["zero", "max_files", "max_file_size", "yes_this_root"])]
    list_snapshots: bool,
    /// Bank, then restore the whole tree of this snapshot, as wt-undo does
    #[arg(long, value_name = "SNAPSHOT", conflicts_with_all = ["zero", "max_files", "max_file_size"])]
    restore_snapshot: Option<String>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let run = cli.env.run(&args.run)?;
    match (&args.node, &args.restore_snapshot) {
        (Some(node), _) => rewind_to(&args, cli, node, run),
        (None, Some(snapshot)) => other::restore_snapshot(&args, cli, snapshot, &run),
        (None, None) => other::list_snapshots(&args, cli, &run),
    }
}

/// What is asked, as the library wants it.
fn request(args: &Args, cli: &Cli, node: &str) -> Request {
    Request {
        node: node.to_owned(),
        iteration: args.iter,
        extent: match args.restore_scope {
            RestoreScope::Produced => Extent::Produced,
            RestoreScope::Full => Extent::Full,
            RestoreScope::None => Extent::None,
        },
        protect: args.protect.clone(),
        keep_edited: args.keep_edited,
        all_or_nothing: args.all_or_nothing,
        dry_run: args.dry_run,
        cap_bytes: args.limits.limits(&cli.env).cap_bytes,
    }
}

fn rewind_to(args: &Args, cli: &mut Cli, node: &str, run: RunId) -> Result<Status> {
    let extra = args.event_data.as_deref().map(Extra::parse).transpose()?.unwrap_or_default();
    let workspace = cli.env.workspace(&args.workspace, args.root)?;
    let store = cli.env.store(&args.store, workspace.path())?;
    let history = History::new(&store, run.clone());
    let request = request(args, cli, node);
    let is_changing = !args.dry_run && request.extent != Extent::None;
    if is_changing && cli.env.captures_are_off() {
        return Err(Error::refused("captures are off (ITERION_WORKSPACE_TRACK), so no bank can be taken")
            .hint("switch them on for this command; nothing was changed"));
    }
    Label::named(&format!("rewind-backup:{node}:0"))?;
    let standstill = Standstill::of(&store, &run, Finished::Refused)?;
    let inherited = cli.env.inherited_lock();
    let lock = workspace.lock(Mode::Exclusive, inherited, store.patience())?;
    let own =
        lock.own_descriptor().map(|fd| InheritedLock { fd: fd.as_raw_fd(), mode: Mode::Exclusive, is_due: false });
    let place = Place { workspace: &workspace, history: &history, inherited_lock: own.or(inherited) };
    let index = history.index()?;
    let stops = Stops::read(&store, &run)?;
    let evidence = Evidence {
        between: &|older, newer| stops.show_a_stop(older.id.unix_ns(), newer.id.unix_ns()),
        since: &|boundary| stops.show_an_orderly_stop_since(boundary.id.unix_ns()),
    };
    let prepared = rewind::prepare(&place, &index, &request, &evidence)?;
    let sync = Sync::of(&store);
    let mut events = Writer::new(&store, &run, sync, false)?;
    let mut told = Told {
        from_node: standstill.node.as_deref(),
        to_node: node,
        extent: request.extent,
        target: &prepared.pivot.target,
        bank: None,
        skip_reason: None,
        findings: &Findings::default(),
    };
    let mut draft = Draft { kind: "run_rewound".into(), node_id: node.to_owned(), ..Draft::default() };
    draft.set_data(&event::data(&told, &extra))?;
    let found = prepared.pivot.iteration;
    if let Some(wanted) = args.iter.filter(|wanted| *wanted != found) {
        let node = quote::name(node.as_bytes());
        cli.warn(format!(
            "there is no iteration {wanted} of node {node}; going back to {found}, the last one before it"
        ));
    }
    if prepared.pivot.is_shared {
        cli.warn(format!("the node ran more than once since '{}': all of it is taken back", prepared.pivot.label));
    }

    let bank = if is_changing { Some(take_bank(args, cli, &place, node)?) } else { None };
    let undo = bank.as_ref().map(|bank| undo_command(args, &run, &bank.id));
    let (report, findings) = if request.extent == Extent::None {
        (None, Findings::default())
    } else {
        let outcome = rewind::carry_out(&place, &index, &request, &prepared, bank.as_ref());
        if let (Err(_), Some(undo)) = (&outcome, &undo) {
            cli.note(format!("this brings back what was there: {undo}"));
        }
        let (report, findings) = outcome?;
        (Some(report), findings)
    };
    let skip_reason = skip_reason(&request, &prepared, &findings);
    told.bank = bank.as_ref().map(|bank| &bank.id);
    told.skip_reason = skip_reason.as_deref();
    told.findings = &findings;
    let mut is_complete = report.as_ref().is_none_or(|report| !report.left_something_out());
    if !args.dry_run {
        draft.set_data(&event::data(&told, &extra))?;
        is_complete &= append(cli, &mut events, &draft);
    }
    // Where nothing was changed there is nothing to undo.
    let undo = undo.filter(|_| report.as_ref().is_some_and(report::has_changed));
    report::print(args, cli, report.as_ref(), &told, undo.as_deref());
    report::explain(args, cli, report.as_ref(), &prepared, &told, undo.as_deref(), &run);
    if let Some(status) = standstill.status.as_deref().filter(|_| !args.dry_run) {
        report::say_what_the_record_needs(args, cli, &run, status);
    }
    Ok(if is_complete { Status::Done } else { Status::Partial })
}

/// Captures the workspace and prints the id before anything is changed.
fn take_bank(args: &Args, cli: &mut Cli, place: &Place<'_>, node: &str) -> Result<Manifest> {
    let request = capture::Request {
        labels: vec![LabelWish::Next(format!("rewind-backup:{node}"))],
        parent: None,
        dedupe: true,
        relocate: false,
        while_running: false,
    };
    let bank = bank::take(place, args.limits.limits(&cli.env), &request)?;
    for warning in &bank.warnings {
        cli.warn(warning);
    }
    let id = &bank.captured.manifest.id;
    if cli.json() {
        cli.out.line(format!("{{\"bank\":\"{id}\"}}").as_bytes());
    } else {
        report::item(args, cli, "bank", id.as_str().as_bytes());
    }
    cli.out.flush();
    Ok(bank.captured.manifest)
}

fn skip_reason(request: &Request, prepared: &Prepared, findings: &Findings) -> Option<String> {
    if request.extent == Extent::None {
        return Some("the restore scope is none".into());
    }
    let label = quote::name(prepared.pivot.label.as_bytes());
    let reason = if findings.since_unended.is_empty() {
        format!("the run changed nothing since {label}")
    } else {
        format!("no boundary shows what the run changed since {label}")
    };
    prepared.is_empty(request.extent).then_some(reason)
}

/// Whether it went in, and is on the disk. The rewind is done all the same.
fn append(cli: &Cli, events: &mut Writer<'_>, draft: &Draft) -> bool {
    let appended = events.batch().and_then(|mut batch| {
        let receipt = batch.append(draft);
        let synced = batch.finish();
        receipt.map(|_| synced)
    });
    match appended {
        Ok(Synced::Yes) => return true,
        Ok(Synced::Failed(error)) => {
            cli.warn(format!("{error}: the event 'run_rewound' is written, but may not be on the disk"));
        }
        Err(error) => cli.warn(format!("the event 'run_rewound' is missing: {error}")),
    }
    false
}

/// The options that name workspace, store and run as this command line does.
fn common_options(args: &Args, run: &RunId) -> String {
    let mut words = Vec::new();
    for (option, path) in [("-C", &args.workspace.workspace), ("--store", &args.store.store)] {
        if let Some(path) = path {
            words.extend([option.into(), quote::shell_word(&path.to_string_lossy()).into_owned()]);
        }
    }
    words.extend(["--run".into(), quote::shell_word(run.as_str()).into_owned()]);
    words.join(" ")
}

fn undo_command(args: &Args, run: &RunId, bank: &SnapshotId) -> String {
    format!("wt-undo {} {bank}", common_options(args, run))
}
