//! Puts a snapshot, or part of it, back into the workspace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use workspacetrack::act::restore::{self, Action, Place, Report, Request, Scope};
use workspacetrack::cli::args::{CapArgs, RootArgs, RunArgs, StoreArgs, WorkspaceArgs, ZeroArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::history::index::Index;
use workspacetrack::history::{History, json};
use workspacetrack::stream::paths::{self, EndMark};
use workspacetrack::stream::quote;
use workspacetrack::tree::root::Workspace;

static PAGE: Page = Page {
    name: "wt-restore",
    about: "put a snapshot, or part of it, back into the workspace",
    synopsis: &[
        "[-C DIR] --run ID [-n] [--protect PATH]... [--keep-edited REF] SNAPSHOT [PATH]...",
        "[-C DIR] --run ID [-n] [-z] [--require-end] [--exact] --paths-from-stdin SNAPSHOT",
    ],
    description: "Makes the workspace as the snapshot records it: writes what differs, removes what the snapshot would have had and \
        has not, sets modes. What is equal is not touched. Ignore rules are read once, before anything is changed; what \
        they leave out now, or what the snapshot could not know of, is left alone.\n\n\
        No byte is destroyed that the store holds no copy of: content that no snapshot of this run holds is left where it \
        is and named, with exit code 3. Take a bank first (wt-bank(1)), as wt-undo(1) does, and nothing is left. With \
        `--force` such bytes are stored under a pin first and then replaced; bytes that cannot be read never are. No \
        snapshot has them then: for each a warning says how to have it back.\n\n\
        All new content is staged and verified before the first change. Then each path is exchanged in one step, and what \
        came out is compared with what was there when the plan was made: if somebody saved in between, their file goes \
        back and the path is kept. A file is whole-old or whole-new at every moment; after a kill, the next restore clears \
        up and finishes. Links are never followed. Hard links between files are not kept.\n\n\
        The names in a directory that is as a capture saw it are taken from what that capture remembered (`--dir-cache` in \
        wt-ls-files(1)), unless the rules leave something out in it. Each file is examined all the same, and whatever is \
        replaced or removed once more, right before.\n\n\
        With PATHs, relative to the workspace, only these and what lies below them may be touched; `--paths-from-stdin` \
        reads them from standard input. With `--paths-from-stdin` only the named paths, and what lies below them, may be touched; with `--exact` only \
        the paths themselves. An empty list does nothing.",
    output: "One line a path: the action, a tab, the path; a directory ends in a slash. Actions are `write`, `delete`, `chmod` and \
        `keep:REASON`; reasons are `protected`, `edited`, `ignored`, `unbanked`, `damaged`, `oversized`, `unreadable`, `special`, \
        `blocked`, `collision`, `denied`, `changed`, and the reason of a gap of the snapshot. Nothing is printed for what is equal. \
        With `--json`, an object a path with `action`, `path`, `reason` and `displaced`, the id of the content that was \
        replaced, and last an object `summary`. Counts go to standard error.",
    exit: &[
        (0, "done; what --protect, --keep-edited or a gap of the snapshot left is named"),
        (2, "no such snapshot or workspace, or a --protect outside of it"),
        (3, "done, but a path could not be brought to its state and was left; it is named"),
        (4, "a damaged manifest or object; nothing was changed"),
        (5, "another workspace without --relocate, or --all-or-nothing would leave something; nothing was changed"),
        (6, "a lock was not had in time; nothing was changed"),
        (8, "an error of the system; some files may be restored and others not, each of them whole"),
    ],
    environment: &[
        "WT_WORKSPACE",
        "WT_STORE",
        "WT_RUN",
        "WT_FSYNC",
        "WT_LOCK_WAIT",
        "WT_LOCK_FD",
        "ITERION_HOME",
        "HOME",
    ],
    examples: &[
        Example { text: "What would a restore do?", script: "wt-restore --run demo --dry-run before" },
        Example {
            text: "Put one directory back, and leave what somebody edited since:",
            script: "printf 'src\\n\\n' |\n  wt-restore --run demo --paths-from-stdin --require-end --keep-edited before before",
        },
    ],
    see_also: &["wt-undo(1)", "wt-bank(1)", "wt-diff(1)", "wt-log(1)", "wt-lock(1)", "wt-ls-files(1)", "wt(7)"],
    effect: Effect::Changes,
};

#[derive(clap::Args)]
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
    cap: CapArgs,
    #[command(flatten)]
    zero: ZeroArgs,
    /// Print what would be done and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// With --dry-run, take as banked what a bank taken now would hold
    #[arg(long, requires = "dry_run")]
    as_if_banked: bool,
    /// Touch only the paths that stand on standard input, and what lies below them
    #[arg(long)]
    paths_from_stdin: bool,
    /// With --paths-from-stdin, only the paths themselves, and nothing below them
    #[arg(long, requires = "paths_from_stdin", conflicts_with = "paths")]
    exact: bool,
    /// With --paths-from-stdin, a list without its end mark is an error
    #[arg(long, requires = "paths_from_stdin", conflicts_with = "paths")]
    require_end: bool,
    /// Leave this path, and what lies below it, as it is
    #[arg(long, value_name = "PATH")]
    protect: Vec<PathBuf>,
    /// Leave a path that no longer is what this snapshot recorded
    #[arg(long, value_name = "REF")]
    keep_edited: Option<String>,
    /// Restore a snapshot of another workspace into this one
    #[arg(long)]
    relocate: bool,
    /// Store bytes that have no copy, whatever the size limit and the rules, and then replace them
    #[arg(long)]
    force: bool,
    /// Change nothing unless nothing has to be left out
    #[arg(long)]
    all_or_nothing: bool,
    /// HEAD, HEAD~n, an id, a label, or the beginning of an id
    #[arg(value_name = "SNAPSHOT")]
    snapshot: String,
    /// Touch only these paths, relative to the workspace, and what lies below them
    #[arg(value_name = "PATH", conflicts_with = "paths_from_stdin")]
    paths: Vec<OsString>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    args.zero.need_items(args.paths_from_stdin || !cli.json())?;
    let workspace = cli.env.workspace(&args.workspace, args.root)?;
    let store = cli.env.store(&args.store, workspace.path())?;
    let history = History::new(&store, cli.env.run(&args.run)?);
    let index = history.index()?;
    let request = request(&args, cli, &workspace, &history, &index)?;
    let place = Place { workspace: &workspace, history: &history, inherited_lock: cli.env.inherited_lock() };
    let mut report = restore::run(&place, &index, &request)?;
    report.sort();
    print(&args, cli, &report);
    Ok(if report.left_something_out() { Status::Partial } else { Status::Done })
}

fn request(args: &Args, cli: &Cli, workspace: &Workspace, history: &History, index: &Index) -> Result<Request> {
    // Names are resolved once; what is acted on is ids.
    let target = history.resolve(index, &args.snapshot)?;
    let keep_edited = args.keep_edited.as_deref().map(|name| history.resolve(index, name)).transpose()?;
    let protect = args.protect.iter().map(|path| restore::map_protected(workspace, path));
    let scope = if args.paths_from_stdin {
        let mark = if args.require_end { EndMark::Required } else { EndMark::Optional };
        let paths = paths::read_paths(cli::input::stdin(), args.zero.framing(), mark)?;
        Some(if args.exact { Scope::exact(paths) } else { Scope::subtrees(paths) })
    } else if args.paths.is_empty() {
        None
    } else {
        let paths = args.paths.iter().map(|path| restore::map_named(workspace, Path::new(path)));
        Some(Scope::subtrees(paths.collect::<Result<_>>()?))
    };
    Ok(Request {
        target,
        scope,
        protect: protect.collect::<Result<_>>()?,
        keep_edited,
        relocate: args.relocate,
        force: args.force,
        all_or_nothing: args.all_or_nothing,
        dry_run: args.dry_run,
        as_if_banked: args.as_if_banked,
        cap_bytes: args.cap.bytes(&cli.env),
    })
}

fn print(args: &Args, cli: &mut Cli, report: &Report) {
    for line in &report.lines {
        if let Action::Keep(reason) = &line.action
            && !reason.is_as_requested()
        {
            let name = quote::name(line.path.as_bytes());
            cli.warn(format!("left as it is: {name} ({}); {}", reason.as_str(), reason.way_out()));
        }
        if cli.json() {
            cli.out.line(&line.to_json());
        } else {
            let mut item = line.action.to_string().into_bytes();
            item.push(b'\t');
            item.extend_from_slice(&args.zero.framing().encode(&line.shown_path()));
            cli.out.item(&item, args.zero.framing().end());
        }
    }
    for notice in report.notices() {
        cli.warn(notice);
    }
    for gap in &report.lost_gaps {
        let name = quote::name(gap.path.as_bytes());
        cli.warn(format!("{name} is gone, and the snapshot does not hold it ({})", gap.reason.as_str()));
    }
    for path in &report.unknown {
        cli.warn(format!("{} is neither in the snapshot nor in the workspace", quote::name(path.as_bytes())));
    }
    if report.changed_the_rules() && !args.dry_run {
        cli.note(
            "the ignore rules are others now; what they no longer leave out was left as it is, 'wt-diff' shows it",
        );
    }
    summary(args, cli, report);
}

fn summary(args: &Args, cli: &mut Cli, report: &Report) {
    let counts = report.counts();
    if cli.json() {
        let mut out = b"{\"summary\":{".to_vec();
        json::push_key(&mut out, "target");
        json::push_string(&mut out, report.target.as_str());
        for (key, count) in [
            ("written", counts.written),
            ("deleted", counts.deleted),
            ("chmodded", counts.chmodded),
            ("kept", counts.kept),
        ] {
            json::push_key(&mut out, key);
            json::push_number(&mut out, count);
        }
        json::push_key(&mut out, "dry_run");
        out.extend_from_slice(if args.dry_run { b"true}}" } else { b"false}}" });
        cli.out.line(&out);
    }
    let would = if args.dry_run { "would be " } else { "" };
    if report.lines.is_empty() {
        let what = if args.paths_from_stdin || !args.paths.is_empty() { "what was named" } else { "the workspace" };
        cli.note(format!("nothing to change: {what} is as snapshot {} records it", report.target));
        return;
    }
    cli.note(format!(
        "snapshot {}: {} {would}written, {} {would}deleted, {} {would}given their mode, {} kept",
        report.target, counts.written, counts.deleted, counts.chmodded, counts.kept
    ));
}
