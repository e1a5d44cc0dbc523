//! Makes a snapshot of a complete stream of records.

use std::path::Path;
use std::process::ExitCode;

use workspacetrack::act::capture::{self, Captured, LOST_RACE, LabelWish, Request};
use workspacetrack::act::delta::{self, Guess, Read};
use workspacetrack::cli::args::{EngineArgs, RunArgs, StoreArgs, WorkspaceArgs, ZeroArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Kind, Result};
use workspacetrack::history::History;
use workspacetrack::history::json;
use workspacetrack::store::id::{Label, SnapshotId};
use workspacetrack::store::lock::Mode;
use workspacetrack::stream::recordset::Outcome;
use workspacetrack::stream::wire::{self, Frame, Reader};
use workspacetrack::stream::{Framing, quote};
use workspacetrack::tree::root::Workspace;

static PAGE: Page = Page {
    name: "wt-write-manifest",
    about: "make a snapshot of a stream of records",
    synopsis: &["[-z] --run ID [--label L]... [--label-next PREFIX] [--label-create L]"],
    description: "The last stage of a capture. Reads records from standard input to their end mark, and only then does \
        anything: a stream that ends without it, or says that an earlier stage failed, changes nothing. The manifest is \
        published first, then labels and head move; each step is on the disk before the next.\n\n\
        If the workspace is as the newest snapshot records it, no manifest is written and the labels point to that \
        snapshot, unless a boundary label would end up on a bank. A stream whose walk began before the newest snapshot \
        was published is stale and refused, unless it records the same.\n\n\
        A new snapshot's own label is the first label given; it never changes, wherever the labels move later.",
    output: "The id of the snapshot. With `--json`, an object with `id`, `parent`, `reused`, `labels`, `files`, `bytes` and \
        `gaps`. Gaps are named on standard error.",
    exit: &[
        (0, "done"),
        (2, "a malformed label, or records that are not hashed"),
        (3, "done, but there are gaps and --strict was given"),
        (4, "a broken stream, or an object that is not in the pool"),
        (5, "the run's snapshots are of another workspace"),
        (6, "a stale stream, --parent is not head, a --label-create that exists, or a lock not had in time"),
        (7, "the walk met too many files"),
        (75, "with --again, in the place of 6: another capture was faster, and nothing was changed"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_FSYNC", "WT_LOCK_WAIT", "ITERION_WORKSPACE_TRACK"],
    examples: &[Example {
        text: "A capture by hand:",
        script: "wt-ls-files -z --records --run demo |\n  wt-hash-object -w -z --stdin-records --run demo |\n  \
            wt-write-manifest -z --run demo --label before",
    }],
    see_also: &[
        "wt-capture(1)",
        "wt-ls-files(1)",
        "wt-hash-object(1)",
        "wt-ls-manifest(1)",
        "wt-label(1)",
        "wt-stream(5)",
    ],
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
    zero: ZeroArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// Point this label to the snapshot; may be given more than once
    #[arg(long, value_name = "L")]
    label: Vec<String>,
    /// Point this label to the snapshot; it must not exist yet
    #[arg(long, value_name = "L")]
    label_create: Vec<String>,
    /// Point PREFIX:n to the snapshot, with the first n above all in use
    #[arg(long, value_name = "PREFIX")]
    label_next: Vec<String>,
    /// The snapshot that must be the newest one
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Write a manifest even if nothing changed
    #[arg(long)]
    no_dedupe: bool,
    /// Take another workspace than the run's as its own from now on
    #[arg(long)]
    relocate: bool,
    /// End with exit code 3 if there are gaps
    #[arg(long)]
    strict: bool,
    /// End with exit code 75 if only another capture was faster, so that the caller can begin again
    #[arg(long)]
    again: bool,
    /// Take a list of records without version line and end mark
    #[arg(long)]
    allow_unterminated: bool,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let request = request(&args)?;
    let frame = if args.allow_unterminated { Frame::Optional } else { Frame::Required };
    let (reader, header) = Reader::open(cli::input::stdin(), args.zero.framing(), frame)?;
    // What the stream is compared with is read while the walk goes on.
    let guess = match (&header.root, args.zero.framing()) {
        (Some(root), Framing::Nul) if !cli.env.captures_are_off() => {
            history(&args, cli, root).ok().and_then(|history| Guess::read(&history))
        }
        _ => None,
    };
    let root = header.root.clone();
    let read = delta::read(reader, header, guess)?;
    if cli.env.captures_are_off() {
        cli.note("captures are off (ITERION_WORKSPACE_TRACK): no snapshot was made");
        return Ok(Status::Done);
    }
    let is_failed = matches!(read, Read::Read(Outcome::Failed(..)));
    let root = root.filter(|_| !is_failed).unwrap_or_else(|| cli.env.workspace_path(&args.workspace));
    if let Some(parent) = cli.env.inherited_lock().filter(|parent| parent.is_due && !is_failed) {
        // The script opened the workspace and the first stage may have waited for its lock: it must be what has that name still.
        let _ = Workspace::open(&root)?.lock(Mode::Shared, Some(parent), cli.env.settings()?.patience)?;
    }
    let history = history(&args, cli, &root)?;
    let mut captured = match capture(&history, read, &request) {
        Err(error) if args.again && error.facts().iter().any(|(fact, _)| *fact == LOST_RACE) => {
            cli.note(error);
            return Ok(Status::Again);
        }
        other => other?,
    };
    if cli.json() {
        // What was compared was not counted.
        captured.manifest = history.manifest(&captured.manifest.id)?;
    }
    report(cli, &captured);
    Ok(if args.strict && !captured.manifest.gaps.is_empty() { Status::Partial } else { Status::Done })
}

fn history(args: &Args, cli: &Cli, root: &Path) -> Result<History> {
    Ok(History::new(&cli.env.store(&args.store, root)?, cli.env.run(&args.run)?))
}

fn capture(history: &History, read: Read, request: &Request) -> Result<Captured> {
    let set = match read {
        Read::Compared(mut delta) => {
            if let Some(captured) = delta.write_snapshot(history, request)? {
                return Ok(captured);
            }
            delta.into_set()?
        }
        Read::Read(Outcome::Complete(set)) => set,
        Read::Read(Outcome::Failed(code, text)) => {
            let kind = cli::kind_of_exit_code(code);
            if kind == Kind::Limit {
                capture::set_overflow_latch(history)?;
            }
            return Err(wire::upstream_failure(kind, &text));
        }
    };
    capture::write_snapshot(history, &set, request)
}

fn request(args: &Args) -> Result<Request> {
    let mut labels = Vec::new();
    for label in &args.label {
        labels.push(LabelWish::Set(Label::named(label)?));
    }
    for label in &args.label_create {
        labels.push(LabelWish::Create(Label::named(label)?));
    }
    for prefix in &args.label_next {
        Label::named(&format!("{prefix}:0"))?;
        labels.push(LabelWish::Next(prefix.clone()));
    }
    let parent = match &args.parent {
        None => None,
        Some(text) => Some(SnapshotId::parse(text).ok_or_else(|| {
            Error::usage(format!("not a snapshot id: {}", quote::name(text.as_bytes())))
                .hint("resolve a label with wt-label first")
        })?),
    };
    Ok(Request {
        labels,
        parent,
        dedupe: !args.no_dedupe,
        relocate: args.relocate,
        while_running: args.engine.while_running,
    })
}

fn report(cli: &mut Cli, captured: &Captured) {
    let manifest = &captured.manifest;
    for gap in &manifest.gaps {
        cli.warn(format!("not captured: {}: {}", quote::name(gap.path.as_bytes()), gap.reason.as_str()));
    }
    if let Some(source) = &captured.rules_were {
        cli.warn(format!(
            "the ignore rules are not those of {source} any more; what it left out may be captured now"
        ));
    }
    if !cli.json() {
        cli.out.line(manifest.id.as_str().as_bytes());
        return;
    }
    let mut line = vec![b'{'];
    json::push_key(&mut line, "id");
    json::push_string(&mut line, manifest.id.as_str());
    if let Some(parent) = &manifest.parent {
        json::push_key(&mut line, "parent");
        json::push_string(&mut line, parent.as_str());
    }
    json::push_key(&mut line, "reused");
    line.extend_from_slice(if captured.is_reused { b"true" } else { b"false" });
    json::push_key(&mut line, "labels");
    json::push_array(&mut line, &captured.labels, |out, label| json::push_string(out, label));
    for (key, number) in [
        ("files", manifest.files().count() as u64),
        ("bytes", manifest.total_bytes()),
        ("gaps", manifest.gaps.len() as u64),
    ] {
        json::push_key(&mut line, key);
        json::push_number(&mut line, number);
    }
    line.push(b'}');
    cli.out.line(&line);
}
