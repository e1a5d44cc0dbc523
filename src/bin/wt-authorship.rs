//! Tells which changes a run produced, and which somebody else made while it was parked.

use std::collections::BTreeSet;
use std::process::ExitCode;

use workspacetrack::cli::args::{HistoryArgs, ZeroOutArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::history::authorship::{Authorship, Interval};
use workspacetrack::history::json;
use workspacetrack::run::events::nodes::Stops;
use workspacetrack::store::pool::Pool;
use workspacetrack::store::relpath::RelPathBuf;
use workspacetrack::stream::{paths, quote};

static PAGE: Page = Page {
    name: "wt-authorship",
    about: "tell what a run changed and what somebody else did",
    synopsis: &[
        "--run ID --from REF [--to REF] [-z] [--end] [--produced | --parked | --undecided | --overlap]",
        "--run ID --from REF [--to REF] --by-node | --explain PATH",
    ],
    description: "Looks at the boundaries of a run from the snapshot REF to the newest one and compares each with the next. What changed \
        up to a `resume:` was not done by the run: it was parked. Everything else it produced. Banks are stepped over. It is \
        a union over all pairs: a file that was changed and changed back was touched.\n\n\
        If nothing shows that the run had stopped before a `resume:`, no `pause:` or `fail:` mark, now or ever, no \
        bank, and no event of a stop before a node began, its process died without a word, and what changed up to there is undecided: its debris, or somebody's \
        edit. The closing line on standard error says so.\n\n\
        The branches of a fan-out may mark their nodes, too. What changed while one node came back and another was at work \
        is undecided; what changed while one was paused and another at work is produced, and counts as overlap. So does what \
        changed behind a stop if no `resume:` shows since when the run was executing again.\n\n\
        A path that the run produced is produced, whoever else touched it; the others' share is the overlap.",
    output: "Owner, tab and path, sorted by path; the owner is `produced`, `parked` or `undecided`. With one of the options of that \
        name, or `--overlap`, only the paths, as wt-restore(1) reads them with `--paths-from-stdin --exact`. With `--by-node`, \
        node, owner, tab and path of every interval, once for each node that may have been at work in it, `-` for none. With \
        `--json`, an object an interval with `older`, `newer`, their labels, `node`, all `nodes`, `owner`, `contested`, \
        `reason` and `paths`.",
    exit: &[
        (0, "done"),
        (1, "with --explain: the path was not touched"),
        (2, "no such snapshot"),
        (4, "a manifest in between is damaged"),
        (5, "the newest snapshot's chain does not lead back to REF"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME"],
    examples: &[
        Example {
            text: "Who changed what since the label `before`?",
            script: "wt-authorship --run demo --from before",
        },
        Example {
            text: "Take back what the run did since then, and nothing else:",
            script: "wt-authorship --run demo --from before --produced -z --end |\n  \
                wt-restore --run demo -z --paths-from-stdin --exact --require-end before",
        },
    ],
    see_also: &["wt-restore(1)", "wt-log(1)", "wt-label(1)", "wt(7)"],
    effect: Effect::Reads,
};

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
struct Args {
    #[command(flatten)]
    history: HistoryArgs,
    #[command(flatten)]
    zero: ZeroOutArgs,
    /// The snapshot to begin with
    #[arg(long, value_name = "REF")]
    from: String,
    /// The snapshot at or before which to end [default: HEAD]
    #[arg(long, value_name = "REF")]
    to: Option<String>,
    /// Only the paths that the run produced
    #[arg(long, conflicts_with_all = ["parked", "undecided", "overlap", "by_node", "explain", "json"])]
    produced: bool,
    /// Only the paths that only others changed
    #[arg(long, conflicts_with_all = ["undecided", "overlap", "by_node", "explain", "json"])]
    parked: bool,
    /// Only the paths of which nobody can tell
    #[arg(long, conflicts_with_all = ["overlap", "by_node", "explain", "json"])]
    undecided: bool,
    /// Only the paths that the run produced and others may have changed too
    #[arg(long, conflicts_with_all = ["by_node", "explain", "json"])]
    overlap: bool,
    /// Close a list of paths with an empty item
    #[arg(long, conflicts_with_all = ["explain", "json"])]
    end: bool,
    /// Say for every interval which node ran in it
    #[arg(long, conflicts_with_all = ["explain", "json"])]
    by_node: bool,
    /// Say in words who changed this path, and why that is known
    #[arg(long, value_name = "PATH", conflicts_with = "zero")]
    explain: Option<String>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let history = cli.env.history(&args.history)?;
    let index = history.index()?;
    let from = history.resolve(&index, &args.from)?;
    let to = args.to.as_deref().map(|name| history.resolve(&index, name)).transpose()?;
    let pool = Pool::open(history.store())?;
    let stops = Stops::read(history.store(), history.run())?;
    let authorship = history.authorship(&index, &from, to.as_ref(), pool.as_ref(), &|older, newer| {
        stops.show_a_stop(older.id.unix_ns(), newer.id.unix_ns())
    })?;
    if let Some(path) = &args.explain {
        return explain(cli, &authorship, path);
    }
    if cli.json() {
        for interval in &authorship.intervals {
            cli.out.line(&interval_json(interval));
        }
        return Ok(Status::Done);
    }
    if args.by_node {
        by_node(&args, cli, &authorship);
    } else if args.produced || args.parked || args.undecided || args.overlap {
        let paths = match (args.produced, args.parked, args.undecided) {
            (true, _, _) => authorship.produced(),
            (_, true, _) => authorship.parked(),
            (_, _, true) => authorship.undecided(),
            _ => authorship.overlap(),
        };
        list(&args, cli, &paths);
    } else {
        owners(&args, cli, &authorship);
    }
    if args.end {
        cli.out.item(b"", args.zero.framing().end());
    }
    let undecided = authorship.undecided();
    if !undecided.is_empty() {
        cli.warn(format!("{} paths are undecided: --json or --explain says why", undecided.len()));
    }
    Ok(Status::Done)
}

fn list(args: &Args, cli: &mut Cli, paths: &BTreeSet<&RelPathBuf>) {
    let framing = args.zero.framing();
    for path in paths {
        cli.out.item(&framing.encode(path.as_bytes()), framing.end());
    }
}

fn write(args: &Args, cli: &mut Cli, words: &str, path: &RelPathBuf) {
    let framing = args.zero.framing();
    let mut item = format!("{words}\t").into_bytes();
    item.extend_from_slice(&framing.encode(path.as_bytes()));
    cli.out.item(&item, framing.end());
}

fn owners(args: &Args, cli: &mut Cli, authorship: &Authorship) {
    let sets = [
        ("produced", authorship.produced()),
        ("parked", authorship.parked()),
        ("undecided", authorship.undecided()),
    ];
    let mut all: Vec<(&RelPathBuf, &str)> =
        sets.iter().flat_map(|(owner, paths)| paths.iter().map(move |path| (*path, *owner))).collect();
    all.sort_unstable();
    for (path, owner) in all {
        write(args, cli, owner, path);
    }
}

fn by_node(args: &Args, cli: &mut Cli, authorship: &Authorship) {
    for interval in &authorship.intervals {
        let nodes: BTreeSet<&str> = interval.nodes.iter().map(|execution| execution.node.as_str()).collect();
        let nodes = if nodes.is_empty() { BTreeSet::from(["-"]) } else { nodes };
        for path in interval.paths.keys() {
            for node in &nodes {
                write(args, cli, &format!("{node}\t{}", interval.owner.as_str()), path);
            }
        }
    }
}

fn explain(cli: &mut Cli, authorship: &Authorship, name: &str) -> Result<Status> {
    let path = paths::parse(name.as_bytes())?;
    let mut status = Status::No;
    for interval in &authorship.intervals {
        let Some(letter) = interval.paths.get(&path) else { continue };
        status = Status::Done;
        if cli.json() {
            cli.out.line(&interval_json(interval));
            continue;
        }
        let owner = interval.owner.as_str();
        cli.out.line(format!("{owner}\t{}\t{}", letter.as_char(), interval.reason).as_bytes());
    }
    if status == Status::No {
        cli.note(format!("nobody touched {} between these boundaries", quote::name(path.as_bytes())));
    }
    Ok(status)
}

fn interval_json(interval: &Interval) -> Vec<u8> {
    let mut out = vec![b'{'];
    for (key, value) in [
        ("older", Some(interval.older.as_str())),
        ("older_label", interval.older_label.as_deref()),
        ("newer", Some(interval.newer.as_str())),
        ("newer_label", interval.newer_label.as_deref()),
        ("node", interval.nodes.first().map(|execution| execution.node.as_str())),
        ("owner", Some(interval.owner.as_str())),
        ("reason", Some(interval.reason.as_str())),
    ] {
        if let Some(value) = value {
            json::push_key(&mut out, key);
            json::push_string(&mut out, value);
        }
    }
    json::push_key(&mut out, "nodes");
    json::push_array(&mut out, &interval.nodes, |out, execution| {
        out.push(b'{');
        json::push_key(out, "node");
        json::push_string(out, &execution.node);
        json::push_key(out, "iteration");
        json::push_number(out, execution.iteration);
        out.push(b'}');
    });
    json::push_key(&mut out, "contested");
    out.extend_from_slice(if interval.is_contested { b"true" } else { b"false" });
    json::push_key(&mut out, "paths");
    json::push_array(&mut out, &interval.paths, |out, (path, letter)| {
        out.push(b'{');
        json::push_key(out, "letter");
        json::push_string(out, &letter.as_char().to_string());
        json::push_display_name(out, "path", path.as_bytes());
        out.push(b'}');
    });
    out.push(b'}');
    out
}
