//! Reads and moves the labels of a run.

use std::process::ExitCode;

use workspacetrack::cli::args::{EngineArgs, HistoryArgs, ZeroArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::history::label_batch::{Expected, Moved, Step};
use workspacetrack::history::{History, json, label};
use workspacetrack::store::id::{Label, SnapshotId};
use workspacetrack::stream::paths::{self, EndMark};
use workspacetrack::stream::quote;
use workspacetrack::tree::rules::TextGlob;

static PAGE: Page = Page {
    name: "wt-label",
    about: "read and move the labels of a run",
    synopsis: &[
        "LABEL",
        "[--create | --expect OLD] LABEL SNAPSHOT",
        "--delete [--expect OLD] LABEL",
        "--next PREFIX [SNAPSHOT]",
        "--boundary [--create | --expect OLD] PHASE NODE [ITERATION] [SNAPSHOT]",
        "--resolve SNAPSHOT",
        "--list [-z] [GLOB]",
        "--reflog [-z] [LABEL]",
        "--stdin [-z] [--require-end]",
    ],
    description: "A label is a name that points to a snapshot and can be moved. With one argument, prints where it points; `HEAD` \
        is the newest snapshot and `HEAD~n` the n-th before it. With a SNAPSHOT (HEAD, HEAD~n, an id, a label, or the \
        beginning of an id), points it there. Each change is first written to the journal, then to the index, so that \
        none is lost.\n\n\
        With `--expect` a label moves only if it points to OLD; `-` means that it must not exist. `--create` is short for \
        that.\n\n\
        A snapshot's own label, under which it was made, is part of its manifest and stays what it is, wherever labels \
        move.\n\n\
        `--resolve` prints the id that a SNAPSHOT of any form means: scripts resolve once and act on the id, because labels \
        move.\n\n\
        `--next` is the next label of a numbered family: one above the highest number in use, else 0. `--boundary` is the \
        label `PHASE:NODE:ITERATION` with PHASE one of pre, post, fail, pause and resume; the iteration is 0 unless \
        given. An argument of digits only in its place is the iteration, any other is the snapshot.\n\n\
        `--stdin` reads steps, one an item, with fields separated by tabs: `set LABEL SNAPSHOT [OLD]`, `create LABEL \
        SNAPSHOT`, `delete LABEL [OLD]`, `verify LABEL OLD`. All of them are done or none; each label may stand in one \
        step only. With `--require-end` the steps must be closed by an empty item.",
    output: "The id, or with `--next` the label. With `--list`, label, tab and id, sorted. With `--reflog`, time, label, old \
        and new id, separated by tabs, newest first; `-` is no snapshot, the label `HEAD` the newest one. Otherwise nothing. With `--json`, objects with \
        `label` and `id`, or `label`, `old` and `new`.",
    exit: &[
        (0, "done"),
        (1, "no such label"),
        (2, "a malformed label or step, a label to delete that is not there, or no such snapshot"),
        (3, "with --reflog: lines of the journal are damaged and left out"),
        (4, "the index is damaged, or the steps are cut short"),
        (6, "a label is not as expected, an engine is at work, or a lock not had in time"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME", "WT_FSYNC", "WT_LOCK_WAIT"],
    examples: &[
        Example {
            text: "Mark the newest snapshot, unless the mark exists:",
            script: "wt-label --run demo --create good HEAD",
        },
        Example { text: "The labels of all gates:", script: "wt-label --run demo --list 'gate:*'" },
        Example {
            text: "Move two labels together:",
            script: "printf 'set\\tgood\\tHEAD\\nset\\tbest\\tHEAD\\n\\n' | wt-label --run demo --stdin --require-end",
        },
    ],
    see_also: &["wt-log(1)", "wt-write-manifest(1)", "wt-store(5)"],
    effect: Effect::Changes,
};

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
struct Args {
    #[command(flatten)]
    history: HistoryArgs,
    #[command(flatten)]
    zero: ZeroArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// The label must not exist yet
    #[arg(long, conflicts_with_all = ["expect", "delete", "next", "list", "reflog", "stdin"])]
    create: bool,
    /// The label must point to this id; - if it must not exist
    #[arg(long, value_name = "OLD", conflicts_with_all = ["next", "list", "reflog", "stdin"])]
    expect: Option<String>,
    /// Remove the label
    #[arg(long, conflicts_with_all = ["next", "boundary", "list", "reflog", "stdin"])]
    delete: bool,
    /// Print the id that HEAD, HEAD~n, an id, a label or the beginning of an id means
    #[arg(long, conflicts_with_all = ["create", "expect", "delete", "next", "boundary", "list", "reflog", "stdin"])]
    resolve: bool,
    /// The next label of a numbered family
    #[arg(long, conflicts_with_all = ["boundary", "list", "reflog", "stdin"])]
    next: bool,
    /// The label of a boundary
    #[arg(long, conflicts_with_all = ["list", "reflog", "stdin"])]
    boundary: bool,
    /// List labels
    #[arg(long, conflicts_with_all = ["reflog", "stdin"])]
    list: bool,
    /// List what the journal says of a label, or of all
    #[arg(long, conflicts_with = "stdin")]
    reflog: bool,
    /// Read steps from standard input and do all of them or none
    #[arg(long)]
    stdin: bool,
    /// The steps must be closed by an empty item
    #[arg(long, requires = "stdin", conflicts_with_all = ["create", "expect", "delete", "resolve", "next", "boundary", "list", "reflog"])]
    require_end: bool,
    /// What the options above take
    #[arg(value_name = "ARG")]
    words: Vec<String>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    args.zero.need_items(args.stdin || (args.list || args.reflog) && !cli.json())?;
    let history = cli.env.history(&args.history)?;
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let changes = args.stdin || args.delete || words.len() > 1 && !args.list && !args.reflog && !args.resolve;
    if args.engine.while_running && !changes && !args.boundary {
        return Err(Error::usage("--while-running cannot be used with what is asked for: no label is moved")
            .hint("leave it out"));
    }
    let expected = match &args.expect {
        Some(text) => Expected::named(text)?,
        None if args.create => Expected::Absent,
        None => Expected::Any,
    };
    let step = match *words.as_slice() {
        [] if args.stdin => return batch(&args, cli, &history),
        [snapshot] if args.resolve => {
            let id = history.resolve(&history.index()?, snapshot)?;
            write(cli, id.as_str(), &[("id", Some(id.as_str()))]);
            return Ok(Status::Done);
        }
        [] if args.list => return list(&args, cli, &history, "*"),
        [glob] if args.list => return list(&args, cli, &history, glob),
        [] if args.reflog => return reflog(&args, cli, &history, None),
        [] if !(args.resolve
            || args.next
            || args.delete
            || args.boundary
            || args.create
            || args.expect.is_some()) =>
        {
            return Err(Error::usage("no label is named").hint("'wt-label --list' lists them"));
        }
        [label] if args.reflog => return reflog(&args, cli, &history, Some(label)),
        [prefix] if args.next => {
            let label = history.next_label(&history.index()?, prefix)?;
            write(cli, label.as_str(), &[("label", Some(label.as_str()))]);
            return Ok(Status::Done);
        }
        [prefix, snapshot] if args.next => Step::SetNext(prefix.into(), snapshot.into()),
        [_] if args.delete && expected == Expected::Absent => {
            return Err(Error::usage("a label that must not exist cannot be deleted").hint("give --expect an id"));
        }
        [label] if args.delete => Step::Delete(label.into(), expected),
        _ if args.stdin || args.resolve || args.list || args.reflog || args.next || args.delete => {
            return Err(wrong_words());
        }
        _ => {
            let (label, snapshot) = subject(args.boundary, &words)?;
            match snapshot {
                Some(snapshot) => Step::Set(Label::named(&label)?, snapshot, expected),
                None if expected == Expected::Any => return get(cli, &history, &label),
                None => {
                    return Err(Error::usage("--create and --expect need a snapshot to point the label to")
                        .hint("name it after the label"));
                }
            }
        }
    };
    for moved in history.change_labels(&[step], args.engine.while_running)? {
        if args.next || cli.json() {
            write_move(cli, &moved);
        }
    }
    Ok(Status::Done)
}

fn wrong_words() -> Error {
    Error::usage("too few or too many arguments for what is asked").hint("see 'wt-label --help'")
}

/// The label that the arguments name, and the snapshot, if they name one.
fn subject(is_boundary: bool, words: &[&str]) -> Result<(String, Option<String>)> {
    let is_iteration = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let (label, snapshot) = match *words {
        [label] if !is_boundary => (label.to_owned(), None),
        [label, snapshot] if !is_boundary => (label.to_owned(), Some(snapshot)),
        [phase, node] if is_boundary => (label::of_boundary(phase, node, "0")?.to_string(), None),
        [phase, node, third] if is_boundary && is_iteration(third) => {
            (label::of_boundary(phase, node, third)?.to_string(), None)
        }
        [phase, node, third] if is_boundary => (label::of_boundary(phase, node, "0")?.to_string(), Some(third)),
        [phase, node, iteration, snapshot] if is_boundary => {
            (label::of_boundary(phase, node, iteration)?.to_string(), Some(snapshot))
        }
        _ => return Err(wrong_words()),
    };
    Ok((label, snapshot.map(str::to_owned)))
}

fn get(cli: &mut Cli, history: &History, label: &str) -> Result<Status> {
    let Some(id) = history.points_to(&history.index()?, label)? else {
        cli.note(format!("run '{}' has no label {}", history.run(), quote::name(label.as_bytes())));
        return Ok(Status::No);
    };
    write(cli, id.as_str(), &[("label", Some(label)), ("id", Some(id.as_str()))]);
    Ok(Status::Done)
}

fn list(args: &Args, cli: &mut Cli, history: &History, glob: &str) -> Result<Status> {
    let glob = TextGlob::named(glob)?;
    let framing = args.zero.framing();
    let index = history.index()?;
    for (label, id) in index.labels.iter().filter(|(label, _)| glob.matches(label)) {
        if cli.json() {
            write(cli, "", &[("label", Some(label)), ("id", Some(id))]);
            continue;
        }
        let mut item = framing.encode(label.as_bytes()).into_owned();
        item.push(b'\t');
        item.extend_from_slice(&framing.encode(id.as_bytes()));
        cli.out.item(&item, framing.end());
    }
    Ok(Status::Done)
}

fn reflog(args: &Args, cli: &mut Cli, history: &History, label: Option<&str>) -> Result<Status> {
    let framing = args.zero.framing();
    let journal = history.journal()?;
    for mark in journal.marks.iter().rev().filter(|mark| label.is_none_or(|label| mark.label == label)) {
        let (old, new) = (mark.old.as_deref(), mark.new.as_deref());
        if cli.json() {
            write(cli, "", &[("time", Some(&mark.time)), ("label", Some(&mark.label)), ("old", old), ("new", new)]);
            continue;
        }
        let fields = [&mark.time, &mark.label, old.unwrap_or("-"), new.unwrap_or("-")];
        cli.out.item(&fields.map(|field| framing.encode(field.as_bytes())).join(&b'\t'), framing.end());
    }
    for line in &journal.damaged_lines {
        cli.warn(format!("line {line} of the journal is damaged and left out"));
    }
    Ok(if journal.damaged_lines.is_empty() { Status::Done } else { Status::Partial })
}

fn batch(args: &Args, cli: &mut Cli, history: &History) -> Result<Status> {
    let mark = if args.require_end { EndMark::Required } else { EndMark::Optional };
    let framing = args.zero.framing();
    let items = paths::read_names(cli::input::stdin(), framing, mark)?;
    let steps = items.iter().map(|item| Step::parse(item, framing)).collect::<Result<Vec<_>>>()?;
    let moves = history.change_labels(&steps, args.engine.while_running)?;
    if cli.json() {
        for moved in &moves {
            write_move(cli, moved);
        }
    }
    Ok(Status::Done)
}

fn write_move(cli: &mut Cli, moved: &Moved) {
    let new = moved.new.as_ref().map(SnapshotId::as_str);
    write(cli, &moved.label, &[("label", Some(&moved.label)), ("old", moved.old.as_deref()), ("new", new)]);
}

/// Writes the text, or with `--json` the members.
fn write(cli: &mut Cli, text: &str, members: &[(&str, Option<&str>)]) {
    if !cli.json() {
        cli.out.line(text.as_bytes());
        return;
    }
    let mut line = vec![b'{'];
    for (key, value) in members {
        json::push_key(&mut line, key);
        match value {
            Some(value) => json::push_string(&mut line, value),
            None => line.extend_from_slice(b"null"),
        }
    }
    line.push(b'}');
    cli.out.line(&line);
}
