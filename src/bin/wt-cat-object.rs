//! Writes objects to standard output, verified.

use std::path::Path;
use std::process::ExitCode;

use workspacetrack::cli::args::{RunArgs, StoreArgs, WorkspaceArgs, ZeroArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Kind, Result};
use workspacetrack::history::History;
use workspacetrack::history::manifest::{Manifest, Node};
use workspacetrack::store::Store;
use workspacetrack::store::id::ObjectId;
use workspacetrack::store::lock::Mode;
use workspacetrack::store::pool::Pool;
use workspacetrack::store::relpath::RelPath;
use workspacetrack::stream::{quote, read_item};

use Subject::{File, Link};

static PAGE: Page = Page {
    name: "wt-cat-object",
    about: "write objects to standard output, verified",
    synopsis: &["[-s | -e] [--run ID] OID | SNAPSHOT:PATH...", "[-s | -e] --batch [-z]"],
    description: "Writes the bytes of objects. An object of up to 1 MiB is verified before its first byte is written; a larger \
        one is verified on the way, and if it is wrong the program ends with exit code 4 after its bytes: use the output \
        only if it succeeds.\n\n\
        SNAPSHOT:PATH means the file at that path of the workspace in that snapshot of the run; the snapshot is named as everywhere, see \
        wt(7). Labels have colons, too: the longest part before one that names a snapshot is it. Of a link, the \
        text of its target is written.\n\n\
        With `--batch`, ids are read from standard input. For each, a line `OID SIZE` is written, then the bytes and a \
        newline; `OID missing` for one that is not there, and the work goes on.",
    output: "Bytes; with `-s` sizes, a line each; with `-e` nothing.",
    exit: &[
        (0, "done, or all are there"),
        (1, "with -e or --batch: one is not there"),
        (2, "not an object id, or no such object, snapshot or file"),
        (4, "an object or a manifest is damaged"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME", "WT_LOCK_WAIT"],
    examples: &[
        Example {
            text: "Store something and read it back:",
            script: "id=$(echo hello | wt-hash-object -w --stdin)\nwt-cat-object \"$id\"",
        },
        Example {
            text: "A file as it was before a node ran:",
            script: "wt-boundary --run demo pre build\nwt-cat-object --run demo pre:build:0:src/main.c",
        },
    ],
    see_also: &["wt-hash-object(1)", "wt-ls-manifest(1)", "wt-store(5)"],
    effect: Effect::Reads,
};

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    zero: ZeroArgs,
    /// Write the size instead of the bytes
    #[arg(short, conflicts_with = "exists")]
    size: bool,
    /// Only say by the exit code whether all are there
    #[arg(short)]
    exists: bool,
    /// Read ids from standard input
    #[arg(long)]
    batch: bool,
    /// Object ids, or paths in snapshots of the run
    #[arg(value_name = "OID | SNAPSHOT:PATH", conflicts_with = "batch", required_unless_present = "batch")]
    ids: Vec<String>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    args.zero.need_items(args.batch)?;
    let store = cli.env.store(&args.store, &cli.env.workspace_path(&args.workspace))?;
    let pool = Pool::open(&store)?;
    if args.batch {
        return batch(&args, cli, pool.as_ref());
    }
    let mut status = Status::Done;
    for text in &args.ids {
        let subject =
            if text.contains(':') { find(&args, cli, &store, text) } else { ObjectId::named(text).map(File) };
        let id = match subject {
            Ok(File(id)) => id,
            Ok(Link(_)) if args.exists => continue,
            Ok(Link(target)) => {
                if args.size {
                    cli.out.line(target.len().to_string().as_bytes());
                } else {
                    cli.out.write(&target);
                }
                continue;
            }
            Err(error) if args.exists && error.kind() == Kind::NotFound => {
                status = Status::No;
                continue;
            }
            Err(error) => return Err(error),
        };
        let size = size_of(pool.as_ref(), id)?;
        match (size, &pool) {
            (Some(_), _) if args.exists => {}
            (Some(size), _) if args.size => cli.out.line(size.to_string().as_bytes()),
            (Some(_), Some(pool)) => copy(pool, id, cli)?,
            _ if args.exists => status = Status::No,
            _ => {
                return Err(Error::not_found(format!("object {id} is not in the pool"))
                    .hint("name the store that holds it with --store"));
            }
        }
    }
    Ok(status)
}

/// What a path in a snapshot stands for.
enum Subject {
    File(ObjectId),
    Link(Vec<u8>),
}

/// Finds what `SNAPSHOT:PATH` means. Both may have colons: the longest name that is one of a snapshot is taken.
fn find(args: &Args, cli: &Cli, store: &Store, text: &str) -> Result<Subject> {
    let history = History::new(store, cli.env.run(&args.run)?);
    let index = history.index()?;
    let mut first_error = None;
    for (at, _) in text.rmatch_indices(':') {
        let Some((name, path)) = text.get(..at).zip(text.get(at + 1..)) else { continue };
        match history.resolve(&index, name) {
            Ok(id) => return in_snapshot(&history.manifest(&id)?, name, path),
            Err(error) if matches!(error.kind(), Kind::NotFound | Kind::Usage) => {
                _ = first_error.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    Err(first_error.unwrap_or_else(|| Error::usage(format!("not an object: {}", quote::name(text.as_bytes())))))
}

fn in_snapshot(manifest: &Manifest, name: &str, path: &str) -> Result<Subject> {
    let shown = quote::name(path.as_bytes());
    let relative = RelPath::new(path.as_bytes()).map_err(|problem| {
        Error::usage(format!("not a path in a snapshot: {shown}: {problem}"))
            .hint("write it from the root of the workspace, without a leading slash or dots")
    })?;
    let absent = |why: &str| {
        let snapshot = quote::name(name.as_bytes());
        Error::not_found(format!("{shown} {why} in snapshot {snapshot}"))
            .hint(format!("wt-ls-manifest {} lists what is", quote::shell_word(name)))
    };
    match manifest.entry(relative).map(|entry| &entry.node) {
        Some(Node::File { hash, .. }) => Ok(File(*hash)),
        Some(Node::Link { target }) => Ok(Link(target.clone())),
        Some(_) => Err(absent("is a directory")),
        None => match manifest.gap_over(relative) {
            Some(gap) => Err(absent(&format!("was not captured ({})", gap.reason.as_str()))),
            None => Err(absent("is not")),
        },
    }
}

fn batch(args: &Args, cli: &mut Cli, pool: Option<&Pool>) -> Result<Status> {
    let mut input = cli::input::stdin();
    let mut item = Vec::new();
    let mut status = Status::Done;
    while read_item(&mut input, args.zero.framing(), &mut item)? {
        let id = ObjectId::parse(&item)
            .ok_or_else(|| Error::usage(format!("not an object id: {}", quote::name(&item))))?;
        let size = size_of(pool, id)?;
        match (size, pool) {
            (Some(size), _) if args.exists || args.size => cli.out.line(format!("{id} {size}").as_bytes()),
            (Some(size), Some(pool)) => {
                cli.out.line(format!("{id} {size}").as_bytes());
                copy(pool, id, cli)?;
                cli.out.write(b"\n");
            }
            _ => {
                cli.out.line(format!("{id} missing").as_bytes());
                status = Status::No;
            }
        }
        // Whoever asks one by one waits for the answer.
        cli.out.flush();
    }
    Ok(status)
}

fn size_of(pool: Option<&Pool>, id: ObjectId) -> Result<Option<u64>> {
    pool.map_or(Ok(None), |pool| pool.size_of(id))
}

fn copy(pool: &Pool, id: ObjectId, cli: &mut Cli) -> Result<()> {
    // Not held while somebody waits for stdout to be read: an open object outlives a sweep.
    drop(pool.lock(Mode::Shared)?);
    pool.copy(id, &mut cli.out, Path::new("standard output"))
        .map(drop)
        .map_err(|error| if error.kind() == Kind::NotFound { error.with_kind(Kind::Damaged) } else { error })
}
