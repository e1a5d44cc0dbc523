//! Says what is wrong with a store, and mends what can be mended.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;

use workspacetrack::act::fsck::{self, Depth, Finding, Report, quarantine, repair};
use workspacetrack::cli::args::{EngineArgs, RunArgs, StoreArgs, WorkspaceArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::ticker::Ticker;
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Kind, Result};
use workspacetrack::history::History;
use workspacetrack::history::json;
use workspacetrack::store::Store;
use workspacetrack::store::id::RunId;
use workspacetrack::stream::quote;
use workspacetrack::tree::root::Workspace;

static PAGE: Page = Page {
    name: "wt-fsck",
    about: "examine a store, and mend what can be mended",
    synopsis: &["[--quick] [--run ID]", "[--quarantine] [--rebuild-index] [--repair-from WORKSPACE] [--run ID]"],
    description: "Looks at everything in a store, or at one run and what it needs: names and modes, every manifest and pin, the \
        links between snapshots, index and journal against manifests, and every object against its name, which means reading \
        all of them; `--quick` looks only at their sizes. It changes nothing and needs no lock, so it may run beside \
        anything.\n\n\
        The repairs are done first, in this order, and what is then still wrong is reported. `--quarantine` puts damaged \
        manifests and pins aside, which lets wt-prune(1) work again, and pins every object that they may name, so that \
        nothing is lost by it. `--rebuild-index` makes labels, newest snapshot and pins again from manifests and the label \
        journal, in the run that `--run` names or in every run that needs it; an index that is replaced is kept beside it. \
        `--repair-from` stores damaged and missing objects again whose content some file below a directory still has.",
    output: "A line for each finding, the worst first: `SEVERITY`, what it is, the path and the repair, separated by tabs. \
        SEVERITY is `error` (something is lost or a command will fail), `warning`, or `note`; what it is begins with a stable \
        word and a colon. With `--json` an object with `severity`, `code`, `detail`, `path`, `repair` and perhaps `oid`, and at \
        the end one with `summary`. Repairs that were done are told on standard error.",
    exit: &[
        (0, "no errors"),
        (2, "no such run"),
        (4, "something is damaged or missing"),
        (6, "an engine is at work in a run to be rebuilt, or a lock was not had in time"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME", "WT_FSYNC", "WT_LOCK_WAIT"],
    examples: &[
        Example { text: "A quick look:", script: "wt-fsck --quick" },
        Example { text: "Heal the pool from the workspace:", script: "wt-fsck --repair-from ." },
    ],
    see_also: &["wt-prune(1)", "wt-log(1)", "wt-label(1)", "wt-store(5)"],
    effect: Effect::Changes,
};

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// Do not read objects, only look at their sizes
    #[arg(long)]
    quick: bool,
    /// Put damaged manifests and pins aside and keep what they may name
    #[arg(long)]
    quarantine: bool,
    /// Make index and pins again from manifests and journal
    #[arg(long)]
    rebuild_index: bool,
    /// Store damaged and missing objects again from the files below this directory
    #[arg(long, value_name = "WORKSPACE")]
    repair_from: Option<PathBuf>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    if args.engine.while_running && !args.rebuild_index {
        return Err(Error::usage("--while-running is of use only together with --rebuild-index")
            .hint("add that, or leave it out"));
    }
    let store = cli.env.store(&args.store, &cli.env.workspace_path(&args.workspace))?;
    let run = cli.env.run_if_named(&args.run)?;
    let source = args.repair_from.as_deref().map(Workspace::open).transpose()?;
    let depth = if args.quick { Depth::Quick } else { Depth::Full };
    let ticker = Ticker::new(cli);
    let check = |depth| {
        fsck::check(&store, run.as_ref(), depth, &|progress: fsck::Progress| {
            ticker.tell(|| format!("{} of {} objects read", progress.done, progress.all));
        })
    };
    if args.quarantine {
        put_aside(cli, &store, &check(Depth::Quick)?)?;
    }
    if args.rebuild_index {
        let runs = match &run {
            Some(run) => vec![run.clone()],
            None => fsck::runs_to_rebuild(&store, &check(Depth::Quick)?),
        };
        for run in runs {
            rebuild(cli, &store, &run, args.engine.while_running)?;
        }
    }
    let mut report = check(depth)?;
    if let Some(source) = source.filter(|_| !report.wanted.is_empty()) {
        let healed = repair::from_workspace(&store, &source, &report.wanted)?;
        cli.note(format!("stored {} of {} damaged or missing objects again", healed.len(), report.wanted.len()));
        report.findings.retain(|finding| finding.object.is_none_or(|id| !healed.contains(&id)));
    }
    drop(ticker);
    for finding in &report.findings {
        write_finding(cli, finding);
    }
    finish(cli, &store, &report)
}

fn put_aside(cli: &Cli, store: &Store, report: &Report) -> Result<()> {
    for finding in
        report.findings.iter().filter(|finding| matches!(finding.code, "manifest-damaged" | "pin-damaged"))
    {
        match quarantine::put_aside(store, &finding.path) {
            Ok(put) => cli.note(format!(
                "{} is now {}; {} objects that it may name are pinned",
                quote::path(&put.document),
                quote::path(&put.aside),
                put.pinned
            )),
            // What cannot be put aside stays a finding; the others are not held up by it.
            Err(error) if error.kind() == Kind::Damaged => cli.warn(error),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn rebuild(cli: &Cli, store: &Store, run: &RunId, while_running: bool) -> Result<()> {
    let rebuilt = History::new(store, run.clone()).rebuild(while_running)?;
    for error in &rebuilt.unread {
        cli.warn(error);
    }
    for label in &rebuilt.dropped {
        cli.warn(format!("label {} points to nothing that can be read and is gone", quote::name(label.as_bytes())));
    }
    for pin in &rebuilt.pins {
        cli.note(format!("wrote {} again", quote::path(pin)));
    }
    if !rebuilt.is_written {
        cli.note(format!("the index of run '{run}' is as it should be"));
        return Ok(());
    }
    let head = rebuilt.head.map_or_else(|| "none".into(), |head| head.to_string());
    let kept = rebuilt.kept.map(|kept| format!("; the old one is {}", quote::path(kept))).unwrap_or_default();
    cli.note(format!("made the index of run '{run}' again: head {head}, {} labels{kept}", rebuilt.labels));
    Ok(())
}

fn write_finding(cli: &mut Cli, finding: &Finding) {
    let path = finding.path.as_os_str().as_bytes();
    if !cli.json() {
        let path = quote::c_quote(path);
        let mut line =
            format!("{}\t{}: {}\t", finding.severity.as_str(), finding.code, tabless(&finding.detail)).into_bytes();
        line.extend_from_slice(&path);
        line.extend_from_slice(format!("\t{}", tabless(&finding.repair)).as_bytes());
        cli.out.line(&line);
        return;
    }
    let mut line = vec![b'{'];
    for (key, text) in
        [("severity", finding.severity.as_str()), ("code", finding.code), ("detail", &finding.detail)]
    {
        json::push_key(&mut line, key);
        json::push_string(&mut line, text);
    }
    json::push_display_name(&mut line, "path", path);
    json::push_key(&mut line, "repair");
    json::push_string(&mut line, &finding.repair);
    if let Some(id) = finding.object {
        json::push_key(&mut line, "oid");
        json::push_string(&mut line, &id.to_string());
    }
    line.push(b'}');
    cli.out.line(&line);
}

/// A line is a line, and its fields end where they say.
fn tabless(text: &str) -> String {
    quote::masked(text.as_bytes())
}

fn finish(cli: &mut Cli, store: &Store, report: &Report) -> Result<Status> {
    let (errors, warnings) = (report.errors(), report.warnings());
    if cli.json() {
        let mut line = b"{\"summary\":{".to_vec();
        for (key, number) in [
            ("errors", errors),
            ("warnings", warnings),
            ("runs", report.runs),
            ("documents", report.documents),
            ("objects", report.objects),
        ] {
            json::push_key(&mut line, key);
            json::push_number(&mut line, number);
        }
        line.extend_from_slice(b"}}");
        cli.out.line(&line);
    }
    let seen = format!("{} runs, {} manifests and pins, {} objects", report.runs, report.documents, report.objects);
    if errors == 0 {
        cli.note(format!("no errors, {warnings} warnings; {seen}"));
        return Ok(Status::Done);
    }
    Err(Error::new(
        Kind::Damaged,
        format!("{errors} errors, {warnings} warnings in store {}; {seen}", quote::path(store.root())),
    )
    .at(store.root())
    .hint("each line ends with what mends it"))
}
