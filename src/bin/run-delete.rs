//! Deletes runs.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::time::Duration;

use workspacetrack::cli::args::{StoreArgs, WorkspaceArgs, parse_duration};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::clock;
use workspacetrack::error::{Error, Result};
use workspacetrack::run::delete::{self, Deleted, Unless};
use workspacetrack::run::json::Json;
use workspacetrack::store::Store;
use workspacetrack::store::id::RunId;
use workspacetrack::stream::quote;

static PAGE: Page = Page {
    name: "run-delete",
    about: "delete runs, and see that they stay deleted",
    synopsis: &["[--force] [-n] RUN...", "--prune-tombstones [--older-than AGE] [-n]"],
    description: "Removes everything in the directories of runs that have ended: finished, failed, failed_resumable or cancelled. \
        First the file `.deleted` is written there, with the time, and flushed. From then on the run is deleted for everybody: readers do not find it, \
        lists do not show it, and a writer that comes late, such as an engine that has not noticed, is refused and makes \
        nothing anew. Then everything else is moved aside within the directory, and removed. A command that was killed anywhere is finished by the \
        next one.\n\n\
        Refused are: a run whose lock is held; a run that has not ended, whose document cannot be read or is of a newer format, \
        unless `--force` is given; one of which somebody has claimed an outcome, as long as the lease lasts, see run-route(1), or whose file of claims cannot be read or is \
        another program's, unless `--force` is given; one that has not ended, even with it, if the process that its `.pid` names is there or a run that \
        waits for it is executed; and a directory that is a symbolic link. Nothing outside of the directory is removed: links in it \
        are removed and not followed, and where something is mounted in it the work ends.\n\n\
        Snapshots of the run's workspace go with it. Their objects are shared by all runs and stay; wt-prune(1) removes those that nothing \
        needs any more, and run-prune(1) does both. A run that is not there is no error; its id is not marked as deleted.\n\n\
        On a disk without a free block, `.deleted` is written empty, and gets its text when the rest is gone. Where not even an empty file can be made, \
        a lock file of the run, or else its document, is renamed to `.deleted` and emptied.\n\n\
        With `--prune-tombstones`, removes what is left of runs that were deleted at least `--older-than` ago. Their ids can be used again, so \
        wait until no late writer can be left.",
    output: "A line `deleted RUN`, `finished RUN` for one that had been deleted before, or `absent RUN` each. With `--prune-tombstones`, `forgotten RUN`. With \
        `--dry-run` nothing is changed, and what would be done is printed as `delete RUN`, `finish RUN` and `forget RUN`; what would be refused is refused. With \
        `--json`, objects with `action` and `run`.",
    exit: &[
        (0, "done"),
        (2, "no run is named, or what cannot be one"),
        (3, "of several runs some were left, and named"),
        (4, "the run's document, or its file of claims, is damaged; nothing was changed"),
        (
            5,
            "the run has not ended, somebody has claimed an outcome of it, its file of claims is another program's, or its directory is a link; nothing was changed",
        ),
        (
            6,
            "somebody executes the run, nothing was changed; or a writer did not end in time, and the run is deleted",
        ),
        (8, "something could not be removed; the run is deleted if the message says so"),
    ],
    environment: &["WT_STORE", "WT_WORKSPACE", "WT_LOCK_WAIT", "WT_FSYNC", "ITERION_HOME", "HOME"],
    examples: &[
        Example { text: "Delete a run that has no document, only a history:", script: "run-delete --force demo" },
        Example { text: "What that would do:", script: "run-delete -n --force demo" },
        Example {
            text: "Forget runs that were deleted long ago:",
            script: "run-delete --prune-tombstones --older-than 90d",
        },
    ],
    see_also: &["run-prune(1)", "wt-prune(1)", "run-reconcile(1)", "run-route(1)", "run-store(7)"],
    effect: Effect::Changes,
};

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    store: StoreArgs,
    /// Also delete a run that has not ended, cannot be read or is claimed for routing, as long as nobody executes it
    #[arg(long)]
    force: bool,
    /// Remove what is left of runs that were deleted
    #[arg(long, conflicts_with_all = ["force", "runs"])]
    prune_tombstones: bool,
    /// Only those deleted at least so long ago; s, m, h and d are understood [default: 30d]
    #[arg(long, value_name = "AGE", value_parser = parse_duration, requires = "prune_tombstones", conflicts_with = "runs")]
    older_than: Option<Duration>,
    /// Say what would be done, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// The runs
    #[arg(value_name = "RUN", required_unless_present_any = ["prune_tombstones", "older_than"])]
    runs: Vec<OsString>,
}

/// How long a tombstone is kept unless it is said.
const OLDER_THAN: Duration = Duration::from_secs(30 * 86_400);

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let store = cli.env.store(&args.store, &cli.env.workspace_path(&args.workspace))?;
    if args.prune_tombstones {
        return forget(&store, args.older_than.unwrap_or(OLDER_THAN), args.dry_run, cli);
    }
    // All names first: a bad one leaves everything as it is.
    let runs = args.runs.iter().map(named).collect::<Result<Vec<_>>>()?;
    if args.dry_run {
        cli.out.only_reads();
    }
    let unless = if args.force { Unless::Executed } else { Unless::Ended };
    let mut status = Status::Done;
    for run in &runs {
        let deleted = if args.dry_run {
            delete::would(&store, run, unless)
        } else {
            delete::delete(&store, run, unless, |_| Ok(()))
        };
        match deleted {
            Ok(Deleted::Now) => say(cli, if args.dry_run { "delete" } else { "deleted" }, run),
            Ok(Deleted::Before) => say(cli, if args.dry_run { "finish" } else { "finished" }, run),
            Ok(Deleted::Absent) => say(cli, "absent", run),
            Err(error) if runs.len() == 1 => return Err(error),
            Err(error) => {
                status = Status::Partial;
                cli.warn(error);
            }
        }
    }
    Ok(status)
}

fn named(name: &OsString) -> Result<RunId> {
    let text = name
        .to_str()
        .ok_or_else(|| Error::usage(format!("run id {} is not UTF-8", quote::name(name.as_bytes()))))?;
    RunId::named(text)
}

fn forget(store: &Store, older_than: Duration, dry_run: bool, cli: &mut Cli) -> Result<Status> {
    if dry_run {
        cli.out.only_reads();
    }
    let mut status = Status::Done;
    for tombstone in delete::tombstones(store, older_than)? {
        if cli.verbose() {
            let deleted = u64::try_from(tombstone.deleted_ns).unwrap_or(0);
            cli.note(format!("{} was deleted {}", tombstone.run, clock::age(deleted, clock::now_ns())));
        }
        if !dry_run && let Err(error) = delete::forget(store, &tombstone) {
            status = Status::Partial;
            cli.warn(error);
            continue;
        }
        if !tombstone.is_leftover {
            say(cli, if dry_run { "forget" } else { "forgotten" }, &tombstone.run);
        }
    }
    Ok(status)
}

fn say(cli: &mut Cli, action: &str, run: &RunId) {
    let line = if cli.json() {
        Json::object([("action", Json::string(action)), ("run", Json::string(run.as_str()))]).compact()
    } else {
        format!("{action} {run}")
    };
    cli.out.line(line.as_bytes());
}
