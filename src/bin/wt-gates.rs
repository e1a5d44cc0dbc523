//! Lists what lies between the review gates of a run.

use std::collections::BTreeSet;
use std::process::ExitCode;

use workspacetrack::cli::args::{HistoryArgs, ZeroOutArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::history::diff::Letter;
use workspacetrack::history::gates::Range;
use workspacetrack::history::json;
use workspacetrack::history::timeline::Execution;
use workspacetrack::store::pool::Pool;
use workspacetrack::store::relpath::RelPathBuf;

static PAGE: Page = Page {
    name: "wt-gates",
    about: "list what lies between the reviews of a run, by node",
    synopsis: &["--run ID [-z] [--gate N]"],
    description: "The range of a gate goes from the gate before it, or the first snapshot, to its own. Every path that differs \
        between the two is listed, with the node that touched it last: of all nodes whose end lies in the range, the one \
        with the newest snapshot. Of nodes that ran at the same time it is the one that was at work alone when the path \
        changed last, or else any of those that were: then the path is listed for each of them, and a warning says so. \
        What no node touched is somebody else's and is listed, too.\n\n\
        A run without gates has one range, from its first snapshot to the newest.",
    output: "Gate, node and iteration, the letter of wt-diff(1), and the path, separated by tabs; gates in their order, then \
        paths. `-` stands for what is of no node, and for the gate of a run without. With `--json`, an object a range with \
        `gate`, `base`, `head`, `nodes`, each with `node`, `iteration` and `files`, `shared`, where each file has its `nodes`, and `other`. Ranges without changes \
        are named on standard error.",
    exit: &[
        (0, "done"),
        (1, "there is no such gate, or nothing was captured"),
        (4, "a manifest or the index is damaged"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME"],
    examples: &[Example {
        text: "What is there to review?",
        script: "export WT_RUN=demo\nwt-run-node build -- sh -c 'echo \"// built\" >>src/main.c'\nwt-boundary gate\n\
            wt-gates --gate 0",
    }],
    see_also: &["wt-attribute(1)", "wt-authorship(1)", "wt-diff(1)", "wt-boundary(1)"],
    effect: Effect::Reads,
};

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    history: HistoryArgs,
    #[command(flatten)]
    zero: ZeroOutArgs,
    /// Only this gate
    #[arg(long, value_name = "N")]
    gate: Option<u64>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let history = cli.env.history(&args.history)?;
    let ranges = history.gate_ranges(&history.index()?, args.gate, Pool::open(history.store())?.as_ref())?;
    if ranges.is_empty() {
        cli.note(match args.gate {
            Some(gate) => format!("run '{}' has no gate {gate}", history.run()),
            None => format!("nothing of run '{}' was captured", history.run()),
        });
        return Ok(Status::No);
    }
    for range in &ranges {
        if cli.json() {
            cli.out.line(&to_json(range));
        } else {
            write_lines(&args, cli, range);
        }
    }
    Ok(Status::Done)
}

fn write_lines(args: &Args, cli: &mut Cli, range: &Range) {
    let framing = args.zero.framing();
    let gate = range.gate.map_or_else(|| "-".to_owned(), |gate| format!("gate:{gate}"));
    if range.changes.is_empty() {
        cli.note(format!("{gate}: no changes"));
    }
    for (path, (letter, owners)) in &range.changes {
        let mut names: Vec<String> = owners.iter().map(Execution::to_string).collect();
        if names.is_empty() {
            names.push("-".to_owned());
        }
        for name in names {
            let mut item = format!("{gate}\t").into_bytes();
            item.extend_from_slice(&framing.encode(name.as_bytes()));
            item.extend_from_slice(format!("\t{}\t", letter.as_char()).as_bytes());
            item.extend_from_slice(&framing.encode(path.as_bytes()));
            cli.out.item(&item, framing.end());
        }
    }
    let shared = range.changes.values().filter(|(_, owners)| owners.len() > 1).count();
    if shared > 0 {
        cli.warn(format!(
            "{gate}: {shared} paths changed while several nodes were at work; each stands there once for every node it may be of"
        ));
    }
}

fn to_json(range: &Range) -> Vec<u8> {
    let mut out = vec![b'{'];
    json::push_key(&mut out, "gate");
    match range.gate {
        Some(gate) => json::push_number(&mut out, gate),
        None => out.extend_from_slice(b"null"),
    }
    for (key, id) in [("base", &range.base), ("head", &range.head)] {
        json::push_key(&mut out, key);
        json::push_string(&mut out, id.as_str());
    }
    let sole = range.changes.values().filter_map(|(_, owners)| <&[Execution; 1]>::try_from(owners.as_slice()).ok());
    let sole: BTreeSet<&Execution> = sole.flatten().collect();
    json::push_key(&mut out, "nodes");
    json::push_array(&mut out, sole, |out, execution| {
        out.push(b'{');
        push_execution(out, execution);
        json::push_key(out, "files");
        push_files(out, range, |owners| *owners == [execution.clone()]);
        out.push(b'}');
    });
    if range.changes.values().any(|(_, owners)| owners.len() > 1) {
        json::push_key(&mut out, "shared");
        push_files(&mut out, range, |owners| owners.len() > 1);
    }
    json::push_key(&mut out, "other");
    push_files(&mut out, range, <[Execution]>::is_empty);
    out.push(b'}');
    out
}

fn push_execution(out: &mut Vec<u8>, execution: &Execution) {
    json::push_key(out, "node");
    json::push_string(out, &execution.node);
    json::push_key(out, "iteration");
    json::push_number(out, execution.iteration);
}

/// The files with these owners; where there are several, each file tells whose it may be.
fn push_files(out: &mut Vec<u8>, range: &Range, are_wanted: impl Fn(&[Execution]) -> bool) {
    let wanted = range.changes.iter().filter(|(_, (_, owners))| are_wanted(owners));
    json::push_array(out, wanted, |out, (path, (letter, owners)): (&RelPathBuf, &(Letter, Vec<Execution>))| {
        out.push(b'{');
        json::push_display_name(out, "path", path.as_bytes());
        json::push_key(out, "status");
        json::push_string(out, letter.as_char().encode_utf8(&mut [0; 4]));
        if owners.len() > 1 {
            json::push_key(out, "nodes");
            json::push_array(out, owners, |out, execution| {
                out.push(b'{');
                push_execution(out, execution);
                out.push(b'}');
            });
        }
        out.push(b'}');
    });
}
