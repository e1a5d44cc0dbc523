//! Writes objects to standard output, verified.

use std::path::Path;
use std::process::ExitCode;

use workspacetrack::cli::args::{StoreArgs, WorkspaceArgs, ZeroArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Kind, Result};
use workspacetrack::store::id::ObjectId;
use workspacetrack::store::lock::Mode;
use workspacetrack::store::pool::Pool;
use workspacetrack::stream::{quote, read_item};

static PAGE: Page = Page {
    name: "wt-cat-object",
    about: "write objects to standard output, verified",
    synopsis: &["[-s | -e] OID...", "[-s | -e] --batch [-z]"],
    description: "Writes the bytes of objects. An object of up to 1 MiB is verified before its first byte is written; a larger \
        one is verified on the way, and if it is wrong the program ends with exit code 4 after its bytes: use the output \
        only if it succeeds.\n\n\
        With `--batch`, ids are read from standard input. For each, a line `OID SIZE` is written, then the bytes and a \
        newline; `OID missing` for one that is not there, and the work goes on.",
    output: "Bytes; with `-s` sizes, a line each; with `-e` nothing.",
    exit: &[
        (0, "done, or all are there"),
        (1, "with -e or --batch: one is not there"),
        (2, "not an object id, or no such object"),
        (4, "an object is damaged"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "ITERION_HOME", "WT_LOCK_WAIT"],
    examples: &[Example {
        text: "Store something and read it back:",
        script: "id=$(echo hello | wt-hash-object -w --stdin)\nwt-cat-object \"$id\"",
    }],
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
    /// Object ids
    #[arg(value_name = "OID", conflicts_with = "batch", required_unless_present = "batch")]
    ids: Vec<String>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let store = cli.env.store(&args.store, &cli.env.workspace_path(&args.workspace))?;
    let pool = Pool::open(&store)?;
    if args.batch {
        return batch(&args, cli, pool.as_ref());
    }
    let mut status = Status::Done;
    for text in &args.ids {
        let id = ObjectId::named(text)?;
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
