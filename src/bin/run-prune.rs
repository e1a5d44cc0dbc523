//! Deletes runs that are not needed any more, and the objects that only they needed.

use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::time::Duration;

use workspacetrack::act::prune as sweep;
use workspacetrack::cli::args::{StoreArgs, WorkspaceArgs, parse_duration};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::run::delete;
use workspacetrack::run::json::Json;
use workspacetrack::run::prune::{self, Doomed, Plan, Policy};
use workspacetrack::run::status::Status as RunStatus;
use workspacetrack::store::Store;
use workspacetrack::store::id::RunId;
use workspacetrack::stream::quote;

static PAGE: Page = Page {
    name: "run-prune",
    about: "delete old runs, and the objects that only they needed",
    synopsis: &["[--older-than AGE] [--keep-last N] [--status STATUS]... [--tombstones AGE] [--grace AGE] [-n]"],
    description: "Deletes runs as run-delete(1) does. A run goes if all of this is so: its status is `finished`, `failed` or `cancelled`, or \
        one of those that `--status` names, which may also be `failed_resumable`; it was last changed at least `--older-than` ago, by `updated_at`, or by `created_at` \
        where that is missing; it is not among the newest N runs with these statuses that `--keep-last` keeps; nobody executes it; \
        and nothing that stays needs it. One of the first two options must be given; `--older-than 0` takes all ages.\n\n\
        A run is needed by a run that may go on and names it as its parent, its child, the root of its tree, the run that it was forked from or \
        the run whose failure it works on; by a watch that is active or a mission that has not ended; and by whoever has claimed one of its outcomes, as long as the lease lasts, see run-route(1).\n\n\
        A history without a document stays and is only mentioned, since nobody can say whether its run has ended; run-delete(1) with `--force` deletes it. \
         One whose file of such claims cannot be read, or is another program's, is named and stays. \
         One whose document cannot be read is named and stays, and so does \
         every run that the unreadable document names or that names its run: nobody can say whether it is needed. Where not even \
        its bytes can be had, as of a run on a disk that is not mounted, all runs stay. A run that has changed since it was chosen \
        stays too.\n\n\
        Then objects are removed that no snapshot of any run needs, as wt-prune(1) does with `--grace`. If that fails, the runs are deleted all \
        the same, and the code is 3. `--tombstones` also removes what is left of runs that were deleted at least so long ago; their ids can be used again then.\n\n\
        `--dry-run` prints and counts all that would go, the objects and tombstones of the runs as well, and changes nothing.",
    output: "A line for each run: `delete`, id, status, time and name, with tabs between; then `forget` and the id for each tombstone. With `--json`, one object with `store_dir`, `age_field`, `older_than` and \
        `keep_last`, `statuses`, `dry_run`, `scanned`, `pruned` (a list of objects with `id`, `name`, `workflow_name`, `bundle_name`, `status`, `age_seconds`, `timestamp` and `deleted`), \
        `pruned_count`, `skipped_count`, and where there are any `needed`, `no_document`, `unreadable`, `tombstones_reaped`, `tombstones` (ids), `workspace_objects_pruned` and `workspace_bytes_reclaimed`. A summary on standard error.",
    exit: &[
        (0, "done"),
        (3, "done, but something could not be read or removed, and was named"),
        (4, "the ledger of watches or missions is damaged; nothing was removed"),
    ],
    environment: &["WT_STORE", "WT_WORKSPACE", "WT_LOCK_WAIT", "WT_FSYNC", "ITERION_HOME", "HOME"],
    examples: &[
        Example { text: "What would go:", script: "run-prune --older-than 30d --keep-last 20 --dry-run" },
        Example {
            text: "Also runs that failed half a year ago and could still be resumed:",
            script: "run-prune --older-than 180d --status finished --status failed --status failed_resumable -q",
        },
    ],
    see_also: &["run-delete(1)", "wt-prune(1)", "wt-forget(1)", "run-store(7)"],
    effect: Effect::Changes,
};

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(true).args(["older_than", "keep_last"]))]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    store: StoreArgs,
    /// Only runs last changed at least so long ago; s, m, h and d are understood
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    older_than: Option<Duration>,
    /// Keep the newest N of them
    #[arg(long, value_name = "N")]
    keep_last: Option<u64>,
    /// Only runs with this status; may be repeated [default: finished, failed, cancelled]
    #[arg(long = "status", value_name = "STATUS")]
    statuses: Vec<String>,
    /// Also remove what is left of runs deleted so long ago
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    tombstones: Option<Duration>,
    /// Keep objects used within this time [default: 1h]
    #[arg(long, value_name = "AGE", value_parser = parse_duration, default_value = "1h", hide_default_value = true)]
    grace: Duration,
    /// Say which would go and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

/// What was done beside the runs.
#[derive(Default)]
struct Rest {
    tombstones: Vec<RunId>,
    swept: Option<(usize, u64)>,
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    if args.dry_run {
        cli.out.only_reads();
    }
    let policy = Policy {
        statuses: statuses(&args.statuses)?,
        older_than: args.older_than.unwrap_or_default(),
        keep_last: args.keep_last.unwrap_or(0),
    };
    let store = cli.env.store(&args.store, &cli.env.workspace_path(&args.workspace))?;
    let plan = prune::plan(&store, &policy)?;
    for (name, error) in &plan.unreadable {
        cli.warn(format!("run {} stays: {error}", quote::name(name.as_bytes())));
    }
    if let [first, rest @ ..] = plan.bare.as_slice() {
        let others = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
        cli.note(format!(
            "run {first}{others} has no document, at most a history, and stays; 'run-delete --force {first}' deletes it"
        ));
    }
    if cli.verbose() {
        plan.bare.iter().for_each(|run| cli.note(format!("{run} stays: it has no document")));
        plan.needed.iter().for_each(|(run, by)| cli.note(format!("{run} stays: {by} needs it")));
    }
    let mut is_whole = plan.unreadable.is_empty();
    let mut gone = Vec::new();
    for doomed in &plan.doomed {
        match if args.dry_run { Ok(true) } else { prune::carry_out(&store, doomed) } {
            Ok(false) => {}
            Ok(true) => {
                if !cli.json() {
                    write_line(cli, doomed);
                }
                gone.push(doomed);
            }
            Err(error) => {
                is_whole = false;
                cli.warn(error);
            }
        }
    }
    let gone_ids: Vec<RunId> = gone.iter().map(|doomed| doomed.run.clone()).collect();
    let mut rest = Rest::default();
    is_whole &= forget(&store, &args, &gone_ids, &mut rest, cli)?;
    is_whole &= sweep_pool(&store, &args, &gone_ids, &mut rest, cli);
    if cli.json() {
        let line = summary(&store, &policy, &plan, &gone, &rest, args.dry_run).compact();
        cli.out.line(line.as_bytes());
    }
    let verb = if args.dry_run { "would delete" } else { "deleted" };
    cli.note(format!("{verb} {} of {} runs", gone.len(), plan.scanned));
    Ok(if is_whole { Status::Done } else { Status::Partial })
}

fn statuses(named: &[String]) -> Result<Vec<RunStatus>> {
    if named.is_empty() {
        return Ok(RunStatus::ALL.into_iter().filter(|status| status.is_pruned_by_default()).collect());
    }
    let read = |text: &String| {
        let status = RunStatus::named(text)?;
        if status.is_terminal() {
            return Ok(status);
        }
        Err(Error::usage(format!("a run that is {status} has not ended, and is not cleaned away"))
            .hint("name finished, failed, failed_resumable or cancelled"))
    };
    named.iter().map(read).collect()
}

/// Removes tombstones; `false` when one could not be. A dry run counts those that the runs would leave, where no age is asked for.
fn forget(store: &Store, args: &Args, gone: &[RunId], rest: &mut Rest, cli: &mut Cli) -> Result<bool> {
    let Some(age) = args.tombstones else { return Ok(true) };
    let mut is_whole = true;
    for tombstone in delete::tombstones(store, age)? {
        if !args.dry_run
            && let Err(error) = delete::forget(store, &tombstone)
        {
            is_whole = false;
            cli.warn(error);
        } else if !tombstone.is_leftover {
            rest.tombstones.push(tombstone.run);
        }
    }
    if args.dry_run && age.is_zero() {
        rest.tombstones.extend_from_slice(gone);
    }
    rest.tombstones.sort();
    if !cli.json() {
        rest.tombstones.iter().for_each(|run| cli.out.line(format!("forget\t{run}").as_bytes()));
    }
    Ok(is_whole)
}

/// Removes objects; `false` when that, or some of it, failed.
fn sweep_pool(store: &Store, args: &Args, gone: &[RunId], rest: &mut Rest, cli: &Cli) -> bool {
    let swept = if args.dry_run { sweep::outlook(store, gone, args.grace) } else { sweep_now(store, args.grace) };
    let swept = match swept {
        Ok(swept) => swept,
        Err(error) => {
            let doing = if args.dry_run { "no object would be removed" } else { "no object was removed" };
            cli.warn(error.while_doing(doing));
            return false;
        }
    };
    swept.troubles.iter().for_each(|error| cli.warn(error));
    rest.swept = Some((swept.removed, swept.bytes));
    let verb = if args.dry_run { "would remove" } else { "removed" };
    cli.note(format!("{verb} {} objects ({} bytes)", swept.removed, swept.bytes));
    if let Some(text) = swept.young.text(args.grace) {
        cli.note(text);
    }
    swept.troubles.is_empty()
}

fn sweep_now(store: &Store, grace: Duration) -> Result<sweep::Outlook> {
    let mut plan = sweep::plan(store, grace, &|_| {})?;
    let mut troubles = std::mem::take(&mut plan.troubles);
    let young = plan.young;
    let mut report = plan.carry_out(&|_| {}, &mut |_, _| {})?;
    troubles.append(&mut report.troubles);
    Ok(sweep::Outlook { removed: report.removed, bytes: report.bytes, young, troubles })
}

fn write_line(cli: &mut Cli, doomed: &Doomed) {
    let Doomed { run, status, timestamp, names: [name, ..], .. } = doomed;
    let (timestamp, name) = (cli.field(timestamp), cli.field(name));
    cli.out.line(format!("delete\t{run}\t{status}\t{timestamp}\t{name}").as_bytes());
}

fn count(number: usize) -> Json {
    Json::integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn seconds(span: Duration) -> Json {
    Json::integer(i64::try_from(span.as_secs()).unwrap_or(i64::MAX))
}

fn summary(store: &Store, policy: &Policy, plan: &Plan, gone: &[&Doomed], rest: &Rest, dry_run: bool) -> Json {
    let mut json = Json::object([
        ("store_dir", Json::string(&store.root().to_string_lossy())),
        ("age_field", Json::string("updated_at")),
        ("older_than", Json::string(&format!("{}s", policy.older_than.as_secs()))),
        ("keep_last", Json::integer(i64::try_from(policy.keep_last).unwrap_or(i64::MAX))),
        ("statuses", Json::strings(policy.statuses.iter().map(|status| status.as_str()))),
        ("dry_run", Json::boolean(dry_run)),
        ("scanned", count(plan.scanned)),
        ("pruned", Json::Array(gone.iter().map(|doomed| row(doomed, dry_run)).collect())),
        ("pruned_count", count(gone.len())),
        ("skipped_count", count(plan.scanned.saturating_sub(gone.len()))),
    ]);
    let needed = |(run, by): &(RunId, String)| {
        Json::object([("id", Json::string(run.as_str())), ("needed_by", Json::string(by))])
    };
    if !plan.needed.is_empty() {
        json.set("needed", Json::Array(plan.needed.iter().map(needed).collect()));
    }
    if !plan.bare.is_empty() {
        json.set("no_document", Json::strings(plan.bare.iter().map(RunId::as_str)));
    }
    if !plan.unreadable.is_empty() {
        let names = plan.unreadable.iter().map(|(name, _)| name.to_string_lossy());
        json.set("unreadable", Json::strings(names));
    }
    if !rest.tombstones.is_empty() {
        json.set("tombstones_reaped", count(rest.tombstones.len()));
        json.set("tombstones", Json::strings(rest.tombstones.iter().map(RunId::as_str)));
    }
    if let Some((objects, bytes)) = rest.swept {
        json.set("workspace_objects_pruned", count(objects));
        json.set("workspace_bytes_reclaimed", Json::integer(i64::try_from(bytes).unwrap_or(i64::MAX)));
    }
    json
}

fn row(doomed: &Doomed, dry_run: bool) -> Json {
    let mut row = Json::object([("id", Json::string(doomed.run.as_str()))]);
    for (key, name) in ["name", "workflow_name", "bundle_name"].into_iter().zip(&doomed.names) {
        if !name.is_empty() {
            row.set(key, Json::string(name));
        }
    }
    row.set("status", Json::string(doomed.status.as_str()));
    row.set("age_seconds", seconds(doomed.age));
    row.set("timestamp", Json::string(&doomed.timestamp));
    row.set("deleted", Json::boolean(!dry_run));
    row
}
