//! Lists what one execution of a node changed.

use std::collections::BTreeSet;
use std::process::ExitCode;

use workspacetrack::cli::args::{HistoryArgs, ZeroOutArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::history::covers::CoverageRules;
use workspacetrack::history::diff::patch::{Content, Files, NoFiles, Patch};
use workspacetrack::history::diff::{self, Difference, Letter, Side};
use workspacetrack::history::json;
use workspacetrack::history::span::{Missing, Span};
use workspacetrack::history::timeline::Execution;
use workspacetrack::run::events::nodes::{self, Start};
use workspacetrack::store::pool::Pool;
use workspacetrack::stream::quote;

static PAGE: Page = Page {
    name: "wt-attribute",
    about: "list what a node changed",
    synopsis: &["--run ID [--iter I] [-z] --node NODE"],
    description: "Compares the snapshots at `pre:NODE:I` and `post:NODE:I`, the two ends of one execution of the node. Without \
        `--iter` it is the highest iteration that has both; with it, only that one.\n\n\
        If an end is missing, the reason is said, one for each case: nothing of the run was captured, and whether that is \
        because captures are off or the workspace has too many files; the node did not begin, failed, paused, is still \
        running, or is of a kind that marks no end.\n\n\
        wt-authorship(1) tells what a run changed over many nodes, and wt-gates(1) what lies between reviews.",
    output: "One line a path: the letter of wt-diff(1), the lines that were added and removed, `-` where there are no lines to \
        compare, and the path, separated by tabs. `U` is a path that one of the snapshots did not capture. With `--json`, \
        one object with `run_id`, `node_id`, `iteration`, `source`, `available`, `reason` where it is not, `files` and \
        `uncaptured`, and `beside` with the nodes that were at work at the same time: what they changed is in the list, too.",
    exit: &[
        (0, "done, also if the node changed nothing"),
        (1, "it cannot be told, for the reason that is named"),
        (2, "wrong usage"),
        (4, "a manifest, an object or the index is damaged"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME", "ITERION_WORKSPACE_TRACK"],
    examples: &[Example {
        text: "What did the node do?",
        script: "export WT_RUN=demo\nwt-run-node build -- sh -c 'echo \"// built\" >>src/main.c'\nwt-attribute --node build",
    }],
    see_also: &["wt-authorship(1)", "wt-gates(1)", "wt-diff(1)", "wt-boundary(1)", "wt-rewind(1)"],
    effect: Effect::Reads,
};

/// Nodes of these kinds get a boundary before them and none behind (facts 2.6, 5.5).
const KINDS_WITHOUT_END: [&str; 7] = ["subbot", "compute", "router", "emit", "wait", "await_answers", "human"];

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    history: HistoryArgs,
    #[command(flatten)]
    zero: ZeroOutArgs,
    /// The node
    #[arg(long, value_name = "NODE")]
    node: String,
    /// The iteration [default: the highest that has both ends]
    #[arg(long, value_name = "I")]
    iter: Option<u64>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let history = cli.env.history(&args.history)?;
    let index = history.index()?;
    let span = match history.span(&index, &args.node, args.iter)? {
        Ok(span) => span,
        Err(missing) => {
            let start = nodes::last_start(history.store(), history.run(), &args.node)?;
            let reason = reason(cli, &args.node, missing, start.as_ref());
            if cli.json() {
                let mut out = head(&args, history.run().as_str(), args.iter, false);
                json::push_key(&mut out, "reason");
                json::push_string(&mut out, &reason);
                out.push(b'}');
                cli.out.line(&out);
            }
            cli.note(reason);
            return Ok(Status::No);
        }
    };
    let execution = Execution { node: args.node.clone(), iteration: span.iteration };
    let beside = history.timeline(&index)?.beside(&execution);
    let pool = Pool::open(history.store())?;
    let (pre, post) = (history.manifest(&span.pre)?, history.manifest(&span.post)?);
    let old = Side { covers: CoverageRules::load(&pre, pool.as_ref())?, manifest: &pre };
    let new = Side { covers: CoverageRules::load(&post, pool.as_ref())?, manifest: &post };
    let files: &dyn Files = pool.as_ref().map_or(&NoFiles, |pool| pool);
    let found = diff::differences(&old, &new);
    let patches = found.iter().map(|difference| Patch::read(*difference, files, files));
    let changes: Vec<_> = found.iter().zip(patches.collect::<Result<Vec<_>>>()?).collect();
    if cli.json() {
        write_json(&args, cli, history.run().as_str(), &span, &beside, &changes);
    } else {
        write_lines(&args, cli, &changes);
    }
    for other in &beside {
        let (other, node) = (quote::name(other.to_string().as_bytes()), quote::name(args.node.as_bytes()));
        cli.warn(format!("{other} was at work at the same time as {node}: what it changed then is listed, too"));
    }
    Ok(Status::Done)
}

/// Why there is nothing to compare.
fn reason(cli: &Cli, node: &str, missing: Missing, start: Option<&Start>) -> String {
    let shown = quote::name(node.as_bytes());
    if let Some(start) = start.filter(|start| KINDS_WITHOUT_END.contains(&start.kind.as_str()))
        && !matches!(missing, Missing::History | Missing::TooManyFiles)
    {
        return format!("node {shown} is of the kind '{}', which marks no end", start.kind);
    }
    match missing {
        Missing::TooManyFiles => "nothing was captured: the workspace has too many files".into(),
        Missing::History if cli.env.captures_are_off() => {
            "nothing was captured: captures are off (ITERION_WORKSPACE_TRACK)".into()
        }
        Missing::History => "nothing of this run was captured".into(),
        Missing::Pre => format!("no boundary of node {shown} is recorded"),
        Missing::Paused(iteration) => {
            format!("the run paused in node {shown}; 'pause:{node}:{iteration}' shows how far it came")
        }
        Missing::Failed(iteration) => {
            format!("node {shown} did not complete; 'fail:{node}:{iteration}' shows how far it came")
        }
        Missing::Post(_) if start.is_some_and(|start| start.is_open) => format!("node {shown} is still running"),
        Missing::Post(_) => format!("no end of node {shown} is recorded"),
    }
}

fn write_lines(args: &Args, cli: &mut Cli, changes: &[(&Difference<'_>, Patch<'_>)]) {
    let framing = args.zero.framing();
    for (difference, patch) in changes {
        let (added, removed) = patch.counts().filter(|_| has_lines(difference)).map_or_else(
            || ("-".to_owned(), "-".to_owned()),
            |(added, removed)| (added.to_string(), removed.to_string()),
        );
        let mut item = format!("{}\t{added}\t{removed}\t", difference.letter.as_char()).into_bytes();
        item.extend_from_slice(&framing.encode(&shown_path(difference)));
        cli.out.item(&item, framing.end());
    }
}

/// Whether there is content to compare: of what was not captured nothing is known.
fn has_lines(difference: &Difference<'_>) -> bool {
    difference.letter != Letter::Uncaptured
}

fn shown_path(difference: &Difference<'_>) -> Vec<u8> {
    let mut path = difference.path.as_bytes().to_vec();
    if difference.hides_subtree() {
        path.push(b'/');
    }
    path
}

/// The members that come first whatever is found; the object is left open.
fn head(args: &Args, run: &str, iteration: Option<u64>, is_available: bool) -> Vec<u8> {
    let mut out = vec![b'{'];
    for (key, text) in [("run_id", run), ("node_id", &args.node)] {
        json::push_key(&mut out, key);
        json::push_string(&mut out, text);
    }
    if let Some(iteration) = iteration {
        json::push_key(&mut out, "iteration");
        json::push_number(&mut out, iteration);
    }
    json::push_key(&mut out, "source");
    json::push_string(&mut out, "workspace");
    json::push_key(&mut out, "available");
    out.extend_from_slice(if is_available { b"true" } else { b"false" });
    out
}

fn write_json(
    args: &Args,
    cli: &mut Cli,
    run: &str,
    span: &Span,
    beside: &BTreeSet<Execution>,
    changes: &[(&Difference<'_>, Patch<'_>)],
) {
    let mut out = head(args, run, Some(span.iteration), true);
    if !beside.is_empty() {
        json::push_key(&mut out, "beside");
        json::push_array(&mut out, beside, |out, other| {
            out.push(b'{');
            json::push_key(out, "node_id");
            json::push_string(out, &other.node);
            json::push_key(out, "iteration");
            json::push_number(out, other.iteration);
            out.push(b'}');
        });
    }
    json::push_key(&mut out, "files");
    json::push_array(&mut out, changes.iter().filter(|change| has_lines(change.0)), |out, (difference, patch)| {
        out.push(b'{');
        json::push_display_name(out, "path", difference.path.as_bytes());
        json::push_key(out, "status");
        json::push_string(out, difference.letter.as_char().encode_utf8(&mut [0; 4]));
        if let Some((added, removed)) = patch.counts() {
            for (key, count) in [("added", added), ("deleted", removed)] {
                json::push_key(out, key);
                json::push_number(out, count);
            }
        }
        json::push_key(out, "binary");
        out.extend_from_slice(if patch.has(&Content::Binary) { b"true" } else { b"false" });
        out.push(b'}');
    });
    json::push_key(&mut out, "uncaptured");
    json::push_array(&mut out, changes.iter().filter(|change| !has_lines(change.0)), |out, (difference, _)| {
        out.push(b'{');
        json::push_display_name(out, "path", &shown_path(difference));
        out.push(b'}');
    });
    out.push(b'}');
    cli.out.line(&out);
}
