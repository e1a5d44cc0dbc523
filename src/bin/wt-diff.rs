//! Says what differs between two snapshots, or between a snapshot and the workspace.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use workspacetrack::act::compare::{Look, Now};
use workspacetrack::cli::args::{HistoryArgs, RootArgs, ZeroOutArgs, parse_size};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status, paint};
use workspacetrack::error::Result;
use workspacetrack::history::History;
use workspacetrack::history::covers::CoverageRules;
use workspacetrack::history::diff::patch::{Files, NoFiles, Patch};
use workspacetrack::history::diff::stat::Stat;
use workspacetrack::history::diff::{self, Difference, Side};
use workspacetrack::history::index::Index;
use workspacetrack::history::manifest::Manifest;
use workspacetrack::store::lock::Mode;
use workspacetrack::store::pool::Pool;
use workspacetrack::store::relpath::RelPathBuf;
use workspacetrack::stream::{paths, quote};
use workspacetrack::tree::root::Workspace;
use workspacetrack::tree::scan;

static PAGE: Page = Page {
    name: "wt-diff",
    about: "say what differs between snapshots and the workspace",
    synopsis: &["[-z] [--name-only] A [B] [-- PATH...]", "--stat | --patch | --json A [B] [-- PATH...]"],
    description: "Compares snapshot A with snapshot B or, without B, with the workspace as it is now. The workspace is looked at, \
        not captured: nothing is written, files that the stat cache knows are not read, and directories that are as a capture \
        saw them are not listed (`--dir-cache` in wt-ls-files(1)); each file is examined all the same.\n\n\
        A path counts as absent only from a side that would have named it: its kind must be covered there and its rules \
        must include it. What is uncaptured on one side is marked; what is uncaptured on both, or on one and not covered \
        by the other, is left out. A directory is compared only while it is empty.\n\n\
        PATHs limit the comparison to what is at or below them.",
    output: "A letter, a tab and the path: `A` only in B, `D` only in A, `M` other content, `m` only another mode, `T` another \
        kind, `U` uncaptured on one side. A directory that could not be listed ends in a slash. With `--patch`, a \
        unified diff with headers like git's; files above 5 MiB and files with a NUL in their first 8192 bytes are only \
        named, and lines that begin with `#` say what a patch cannot. With `--json`, objects with `letter`, `path`, \
        `old` and `new`.",
    exit: &[
        (0, "done"),
        (1, "with --exit-code: there are differences"),
        (2, "no such snapshot or workspace"),
        (4, "a manifest or an object is damaged"),
        (5, "the workspace is refused"),
    ],
    environment: &[
        "WT_WORKSPACE",
        "WT_STORE",
        "WT_RUN",
        "ITERION_HOME",
        "HOME",
        "ITERION_WORKSPACE_MAX_FILE_MB",
        "WT_LOCK_WAIT",
        "NO_COLOR",
    ],
    examples: &[
        Example { text: "What changed since the newest snapshot:", script: "wt-diff --run demo HEAD" },
        Example {
            text: "What the last step did to one directory, line by line:",
            script: "wt-diff --run demo --patch HEAD~1 HEAD -- src",
        },
    ],
    see_also: &["wt-log(1)", "wt-restore(1)", "wt-ls-manifest(1)", "wt-ls-files(1)", "wt-authorship(1)"],
    effect: Effect::Reads,
};

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
struct Args {
    #[command(flatten)]
    history: HistoryArgs,
    #[command(flatten)]
    zero: ZeroOutArgs,
    /// Write paths without letters
    #[arg(long, conflicts_with_all = ["stat", "patch", "json"])]
    name_only: bool,
    /// Write how many lines each path gained and lost
    #[arg(long, conflicts_with_all = ["patch", "json", "zero"])]
    stat: bool,
    /// Write a unified diff
    #[arg(short, long, conflicts_with_all = ["json", "zero"])]
    patch: bool,
    /// End with exit code 1 if anything differs
    #[arg(long)]
    exit_code: bool,
    /// Larger files of the workspace are uncaptured [default: the limit A was made with, else as wt-ls-files]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, conflicts_with = "newer")]
    max_file_size: Option<u64>,
    /// Take the workspace even if it is /, the home directory or holds the stores
    #[arg(long, conflicts_with = "newer")]
    yes_this_root: bool,
    /// The older snapshot
    #[arg(value_name = "A")]
    older: String,
    /// The newer snapshot; without it, the workspace
    #[arg(value_name = "B")]
    newer: Option<String>,
    /// Only what is at or below one of these
    #[arg(value_name = "PATH", last = true)]
    paths: Vec<OsString>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let limits = args.paths.iter().map(|path| paths::parse(path.as_bytes())).collect::<Result<Vec<_>>>()?;
    let history = cli.env.history(&args.history)?;
    let index = history.index()?;
    let pool = Pool::open(history.store())?;
    let older = history.manifest(&history.resolve(&index, &args.older)?)?;
    let old = Side { covers: CoverageRules::load(&older, pool.as_ref())?, manifest: &older };
    let in_pool: &dyn Files = pool.as_ref().map_or(&NoFiles, |pool| pool);
    if let Some(name) = &args.newer {
        let newer = history.manifest(&history.resolve(&index, name)?)?;
        let new = Side { covers: CoverageRules::load(&newer, pool.as_ref())?, manifest: &newer };
        return write(&args, cli, &limits, &old, &new, [in_pool, in_pool]);
    }
    let workspace = cli.env.workspace(&args.history.workspace, RootArgs { yes_this_root: args.yes_this_root })?;
    let now = look(&args, cli, &workspace, &history, &index, &older, &limits)?;
    write(&args, cli, &limits, &old, &now.side(), [in_pool, &workspace])
}

fn look(
    args: &Args,
    cli: &Cli,
    workspace: &Workspace,
    history: &History,
    index: &Index,
    older: &Manifest,
    limits: &[RelPathBuf],
) -> Result<Now> {
    if let Some(recorded) = older.workspace.as_deref().filter(|recorded| !workspace.is_at(recorded)) {
        cli.warn(format!("the snapshot is of {}, not of {}", quote::path(recorded), quote::path(workspace.path())));
    }
    let cap_bytes = args.max_file_size.or(older.coverage.cap_bytes);
    let cap_bytes = cap_bytes.or_else(|| cli.env.max_file_bytes()).unwrap_or(scan::CAP_BYTES);
    let _lock = workspace.lock(Mode::Shared, cli.env.inherited_lock(), history.store().patience())?;
    let now = Look { workspace, history, index, cap_bytes, limits }.at(older)?;
    for warning in now.warnings() {
        cli.warn(warning);
    }
    Ok(now)
}

fn write(
    args: &Args,
    cli: &mut Cli,
    limits: &[RelPathBuf],
    old: &Side<'_>,
    new: &Side<'_>,
    files: [&dyn Files; 2],
) -> Result<Status> {
    let mut found = diff::differences(old, new);
    found.retain(|difference| limits.is_empty() || limits.iter().any(|limit| difference.concerns(limit)));
    let [old_files, new_files] = files;
    let mut stat = Stat::default();
    for difference in &found {
        if args.patch || args.stat {
            let patch = Patch::read(*difference, old_files, new_files)?;
            if args.stat {
                stat.add(difference, &patch);
            } else {
                patch.for_each_line(&mut |line| paint::patch_line(cli, &line));
            }
        } else if cli.json() {
            cli.out.line(&difference.to_json());
        } else {
            write_name(args, cli, difference);
        }
    }
    if args.stat {
        paint::stat(cli, &stat);
    }
    Ok(if args.exit_code && !found.is_empty() { Status::No } else { Status::Done })
}

fn write_name(args: &Args, cli: &mut Cli, difference: &Difference<'_>) {
    let framing = args.zero.framing();
    let mut name = difference.path.as_bytes().to_vec();
    if difference.hides_subtree() {
        name.push(b'/');
    }
    let mut item = Vec::new();
    if !args.name_only {
        item.extend_from_slice(&paint::letter(cli, difference.letter));
        item.push(b'\t');
    }
    item.extend_from_slice(&framing.encode(&name));
    cli.out.item(&item, framing.end());
}
