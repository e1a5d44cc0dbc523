//! Removes objects that nothing names any more.

use std::process::ExitCode;
use std::time::Duration;

use workspacetrack::act::prune::{self, Doomed, Progress, Report};
use workspacetrack::cli::args::{StoreArgs, WorkspaceArgs, parse_duration};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::ticker::Ticker;
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::history::json;
use workspacetrack::store::Store;
use workspacetrack::stream::quote;

static PAGE: Page = Page {
    name: "wt-prune",
    about: "remove objects that no snapshot needs",
    synopsis: &["[--dry-run] [--grace AGE]"],
    description: "Reads every manifest and pin of every run of the store, whether its workspace is there or not, and removes \
        the objects that none of them names and that were not used for as long as `--grace` says. A manifest that cannot be \
        read, or is newer than this program, ends the work with nothing removed.\n\n\
        Captures and restores may go on meanwhile: they are kept out for less than 200 ms at a time, and what they use \
        stays. Only with a grace shorter than a capture takes may a running capture fail and have to be repeated. The age of \
        an object is told by the clock of the disk it lies on. Nothing is written, so a full disk is no hindrance.\n\n\
        Temporary files that killed programs left behind, spares of indexes that no longer change, and empty directories \
        of the pool are removed too, by the same grace. Anything else in the pool is not ours: it is named and stays. A \
        store without a `runs` directory keeps all its objects.",
    output: "A line `remove OID SIZE` for every object, and for a temporary file its path in the store. `--dry-run` prints the \
        same lines. A summary on standard error. With `--json`, an object with `action`, `oid` or `path`, and `size`, and at \
        the end one with `summary`.",
    exit: &[
        (0, "done"),
        (3, "done, but something could not be examined or removed"),
        (4, "a manifest or pin cannot be read; nothing was removed"),
        (6, "the pool's lock was not had in time"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "ITERION_HOME", "WT_FSYNC", "WT_LOCK_WAIT"],
    examples: &[
        Example { text: "What would go:", script: "wt-prune --dry-run" },
        Example {
            text: "Drop old snapshots, then their objects:",
            script: "wt-forget --run demo --keep-last 20 --drop-labels '*'\nwt-prune",
        },
    ],
    see_also: &["wt-forget(1)", "wt-du(1)", "wt-fsck(1)", "wt-store(5)"],
    effect: Effect::Changes,
};

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    store: StoreArgs,
    /// Say what would be removed and remove nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Keep objects used within this time; s, m, h and d are understood [default: 1h]
    #[arg(long, value_name = "AGE", value_parser = parse_duration, default_value = "1h", hide_default_value = true)]
    grace: Duration,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let store = cli.env.store(&args.store, &cli.env.workspace_path(&args.workspace))?;
    let ticker = Ticker::new(cli);
    let tell = |progress| {
        ticker.tell(|| match progress {
            Progress::Marked(done, all) => format!("{done} of {all} manifests read"),
            Progress::Swept(done, all) => format!("{done} of {all} removed"),
        });
    };
    let mut plan = prune::plan(&store, args.grace, &tell)?;
    let strangers = std::mem::take(&mut plan.strangers);
    let mut troubles = std::mem::take(&mut plan.troubles);
    let (documents, live, young) = (plan.documents, plan.live, plan.young);
    let mut report = if args.dry_run {
        for (doomed, size) in &plan.doomed {
            write_line(cli, &store, doomed, *size);
        }
        Report { removed: plan.doomed.len(), bytes: plan.bytes(), ..Report::default() }
    } else {
        plan.carry_out(&tell, &mut |doomed, size| write_line(cli, &store, doomed, size))?
    };
    drop(ticker);
    for path in &strangers {
        cli.warn(format!("not ours, left alone: {}", quote::path(path)));
    }
    troubles.append(&mut report.troubles);
    for error in &troubles {
        cli.warn(error);
    }
    let verb = if args.dry_run { "would remove" } else { "removed" };
    cli.note(format!(
        "{verb} {} ({} bytes); {documents} manifests and pins need {live} objects",
        report.removed, report.bytes
    ));
    if let Some(text) = young.text(args.grace) {
        cli.note(text);
    }
    if cli.json() {
        write_summary(cli, &report, [documents, live, strangers.len()], args.dry_run);
    }
    Ok(if troubles.is_empty() { Status::Done } else { Status::Partial })
}

fn write_line(cli: &mut Cli, store: &Store, doomed: &Doomed, size: u64) {
    let name = doomed.name(store);
    if !cli.json() {
        cli.out.line(format!("remove {} {size}", String::from_utf8_lossy(&quote::c_quote(&name))).as_bytes());
        return;
    }
    let mut line = b"{\"action\":\"remove\"".to_vec();
    let key = if matches!(doomed, Doomed::Object(_)) { "oid" } else { "path" };
    json::push_display_name(&mut line, key, &name);
    json::push_key(&mut line, "size");
    json::push_number(&mut line, size);
    line.push(b'}');
    cli.out.line(&line);
}

fn write_summary(cli: &mut Cli, report: &Report, [documents, needed, strangers]: [usize; 3], dry_run: bool) {
    let mut line = b"{\"summary\":{".to_vec();
    for (key, number) in [
        ("removed", report.removed as u64),
        ("bytes", report.bytes),
        ("spared", report.spared as u64),
        ("shards", report.shards as u64),
        ("documents", documents as u64),
        ("live", needed as u64),
        ("strangers", strangers as u64),
    ] {
        json::push_key(&mut line, key);
        json::push_number(&mut line, number);
    }
    json::push_key(&mut line, "dry_run");
    line.extend_from_slice(if dry_run { b"true}}" } else { b"false}}" });
    cli.out.line(&line);
}
