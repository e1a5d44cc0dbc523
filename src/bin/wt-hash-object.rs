//! Computes object ids, and stores contents.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use workspacetrack::act::hashing::{BATCH_RECORDS, Hashing};
use workspacetrack::act::intake::{self, Sink};
use workspacetrack::act::presence::Presence;
use workspacetrack::act::recall::{Batch, Recall};
use workspacetrack::cli::args::{self, RootArgs, RunArgs, StoreArgs, WorkspaceArgs, ZeroArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::history::History;
use workspacetrack::store::hash::READ_BLOCK_BYTES;
use workspacetrack::store::layout;
use workspacetrack::store::lock::Mode;
use workspacetrack::store::pool::{Pool, PoolWriter};
use workspacetrack::stream::paths::{self, EndMark};
use workspacetrack::stream::wire::{self, Frame, Header, Mark, Reader, RulesMark};
use workspacetrack::tree::root::Workspace;
use workspacetrack::tree::rules::{RuleSource, RulesFile};

static PAGE: Page = Page {
    name: "wt-hash-object",
    about: "compute object ids, and store contents in the pool",
    synopsis: &[
        "[-w] FILE...",
        "[-w] --stdin",
        "[-w] [-z] --stdin-paths [--require-end]",
        "[-w] [-z] [--run ID] --stdin-records",
    ],
    description: "Prints the SHA-256 of contents; with `-w` they are stored in the object pool as well.\n\n\
        With `--stdin-records` it is the middle stage of a capture: it reads the records of wt-ls-files(1), fills in the \
        object ids, and passes the stream on. With `--run` a file whose size, times and inode are as the run last saw \
        them is not read again. Each file is read through one descriptor, examined before and after, and read again if \
        it moved; what will not hold still becomes the gap `!unstable`. Mode, size and times are rewritten from that \
        descriptor. A path that vanished is dropped. The end mark is written only after everything new is on the disk. \
        With `-w` the rules file that the stream names is stored too.\n\n\
        Names of files on the command line follow links, as in any program; paths in streams never do and are relative to \
        the workspace.",
    output: "One object id a line, or records.",
    exit: &[
        (0, "done"),
        (2, "no such file"),
        (4, "a broken stream"),
        (6, "the ignore rules changed while the capture ran"),
        (7, "more new content than --max-new-bytes"),
        (8, "the pool cannot be written"),
    ],
    environment: &[
        "WT_WORKSPACE",
        "WT_STORE",
        "WT_RUN",
        "WT_FSYNC",
        "WT_LOCK_WAIT",
        "ITERION_WORKSPACE_TRACK",
        "HOME",
    ],
    examples: &[
        Example { text: "The id of a file, as sha256sum(1) gives it:", script: "wt-hash-object src/main.c" },
        Example { text: "Store what comes down a pipe:", script: "echo hello | wt-hash-object -w --stdin" },
    ],
    see_also: &["wt-ls-files(1)", "wt-cat-object(1)", "wt-write-manifest(1)", "wt-stream(5)"],
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
    /// Store what is hashed
    #[arg(short)]
    write: bool,
    /// Hash standard input
    #[arg(long, conflicts_with_all = ["stdin_paths", "stdin_records"])]
    stdin: bool,
    /// Hash the files whose paths, relative to the workspace, stand on standard input
    #[arg(long, conflicts_with = "stdin_records")]
    stdin_paths: bool,
    /// With --stdin-paths, a list without its end mark is an error
    #[arg(long, requires = "stdin_paths", conflicts_with_all = ["stdin", "stdin_records", "files"])]
    require_end: bool,
    /// Fill in the records that stand on standard input
    #[arg(long)]
    stdin_records: bool,
    /// Take a list of records without version line and end mark
    #[arg(long, requires = "stdin_records", conflicts_with_all = ["stdin", "stdin_paths", "files"])]
    allow_unterminated: bool,
    /// Stop when there is more new content than this
    #[arg(long, value_name = "SIZE", value_parser = args::parse_size, requires = "stdin_records",
        conflicts_with_all = ["stdin", "stdin_paths", "files"])]
    max_new_bytes: Option<u64>,
    /// Take the workspace even if it is /, the home directory or holds the stores
    #[arg(long, requires = "stdin_records", conflicts_with_all = ["stdin", "stdin_paths", "files"])]
    yes_this_root: bool,
    /// Files to hash
    #[arg(value_name = "FILE", conflicts_with_all = ["stdin", "stdin_paths", "stdin_records"],
        required_unless_present_any = ["stdin", "stdin_paths", "stdin_records"])]
    files: Vec<PathBuf>,
}

/// Lines that are known are handed on at the latest when they are so many bytes: what a pipe takes at once.
const BATCH_TEXT_BYTES: usize = 64 * 1024;

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let ended = if args.stdin_records { fill_records(&args, cli) } else { hash_files(&args, cli) };
    ended.map(|()| Status::Done)
}

fn hash_files(args: &Args, cli: &mut Cli) -> Result<()> {
    let root = cli.env.workspace_path(&args.workspace);
    let pool = if args.write { Some(Pool::create(&cli.env.store(&args.store, &root)?)?) } else { None };
    let writer = pool.as_ref().map(PoolWriter::new);
    let sink = writer.as_ref().map_or(Sink::HashOnly, Sink::Store);
    let mut buffer = vec![0; READ_BLOCK_BYTES];
    let mut ids = Vec::new();
    if args.stdin {
        // Nobody waits for input while holding a lock: the content is staged first, and looked up again at the commit.
        let stdin = rustix::io::dup(rustix::stdio::stdin())
            .map_err(|errno| Error::io("cannot read", "standard input", &errno.into()))?;
        ids.push(intake::take_stream(&mut File::from(stdin), Path::new("standard input"), sink, &mut buffer)?.0);
    }
    let named = if args.stdin_paths {
        let mark = if args.require_end { EndMark::Required } else { EndMark::Optional };
        paths::read_paths(cli::input::stdin(), args.zero.framing(), mark)?
    } else {
        Vec::new()
    };
    let _lock = match &pool {
        Some(pool) => pool.lock(Mode::Shared)?,
        None => None,
    };
    let named = named.iter().map(|path| root.join(path.as_path()));
    for file in args.files.iter().cloned().chain(named) {
        ids.push(intake::take_named(&file, sink, &mut buffer)?.0);
    }
    if let Some(writer) = &writer {
        writer.commit()?;
    }
    ids.iter().for_each(|id| cli.out.item(&id.hex(), args.zero.framing().end()));
    Ok(())
}

fn fill_records(args: &Args, cli: &mut Cli) -> Result<()> {
    cli.out.widen();
    let framing = args.zero.framing();
    let frame = if args.allow_unterminated { Frame::Optional } else { Frame::Required };
    let opened = Reader::open(cli::input::stdin(), framing, frame);
    let (mut reader, header) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let mut mark = Vec::new();
            Header::default().write(&mut mark, framing);
            cli.out.write(&mark);
            return fail(args, cli, error);
        }
    };
    let mut out = Vec::new();
    header.write(&mut out, framing);
    cli.out.write(&out);
    match fill(args, cli, &mut reader, &header) {
        Ok(()) => Ok(()),
        Err(error) => fail(args, cli, error),
    }
}

/// Tells the stages behind us, too.
fn fail(args: &Args, cli: &mut Cli, error: Error) -> Result<()> {
    let mut mark = Vec::new();
    wire::write_fail(&mut mark, args.zero.framing(), cli::exit_code(error.kind()), &error);
    cli.out.write(&mark);
    Err(error)
}

fn fill<R: Read>(args: &Args, cli: &mut Cli, reader: &mut Reader<BufReader<R>>, header: &Header) -> Result<()> {
    // Before anything is made or found wrong once more: a stage before this one may have failed, or found the workspace to
    // be the store.
    let mut is_last = !advance(reader)?;
    let workspace = match &header.root {
        Some(root) => Workspace::open(root)?,
        None => cli.env.workspace(&args.workspace, RootArgs { yes_this_root: args.yes_this_root })?,
    };
    let store = cli.env.store(&args.store, workspace.path())?;
    let stores = args.write && !cli.env.captures_are_off();
    let pool = if stores { Some(Pool::create(&store)?) } else { Pool::open(&store)? };
    let run = cli.env.run_if_named(&args.run)?;
    let memory = run.as_ref().map(|run| layout::pool_seen(store.root(), run));
    let index = match run {
        Some(run) => History::new(&store, run).index()?,
        None => workspacetrack::history::index::Index::default(),
    };
    let writer = pool.as_ref().filter(|_| stores).map(PoolWriter::new);
    let mut recall = Recall::new(&index, pool.as_ref().map(|pool| Presence::new(pool, memory)));
    let hashing = Hashing {
        workspace: &workspace,
        pool: writer.as_ref(),
        cache: None,
        cap_bytes: header.cap_bytes.unwrap_or(u64::MAX),
        new_bytes_max: args.max_new_bytes,
    };
    let mut out = Vec::new();
    let mut batch = Batch::new(args.zero.framing());
    loop {
        if !is_last && !batch.take_line(reader.line(), &mut recall)? {
            batch.take(reader.record()?, &mut recall)?;
        }
        // What is known goes on while more is on its way; what has to be read is gathered for all threads.
        let has_open = batch.open_count() > 0;
        let is_idle = !has_open && reader.input().buffer().is_empty();
        if is_last || is_idle || batch.open_count() >= BATCH_RECORDS || batch.text_bytes() >= BATCH_TEXT_BYTES {
            let workspace_lock = has_open
                .then(|| workspace.lock(Mode::Shared, cli.env.inherited_lock(), store.patience()))
                .transpose()?;
            let pool_to_lock = pool.as_ref().filter(|_| has_open);
            let pool_lock = pool_to_lock.map(|pool| pool.lock(Mode::Shared)).transpose()?;
            out.clear();
            batch.finish(&hashing, &mut out)?;
            // Nobody waits for a reader while holding it.
            drop(pool_lock);
            drop(workspace_lock);
            cli.out.write(&out);
            if !is_last {
                cli.out.flush();
            }
        }
        if is_last {
            break;
        }
        is_last = !advance(reader)?;
    }
    if stores {
        recall.remember();
    }
    if let Some(writer) = &writer {
        let _pool_lock = pool.as_ref().map(|pool| pool.lock(Mode::Shared)).transpose()?;
        if let Some(rules) = &header.rules {
            store_rules(&workspace, rules, writer)?;
        }
        writer.commit()?;
    }
    // The next stage goes on while we close what we opened.
    out.clear();
    wire::write_end(&mut out, args.zero.framing());
    cli.out.write(&out);
    cli.out.flush();
    Ok(())
}

/// Goes on to the next line of a record; `false` at the end of a complete stream.
fn advance<R: BufRead>(reader: &mut Reader<R>) -> Result<bool> {
    match reader.next_line()? {
        Mark::Line => Ok(true),
        Mark::End => Ok(false),
        // The stage that failed has said why; our follower gets its mark.
        Mark::Failed(code, text) => Err(Error::new(cli::kind_of_exit_code(code), text).reported()),
    }
}

/// A restore judges with the rules of the capture; they must be the ones that the walk obeyed.
fn store_rules(workspace: &Workspace, mark: &RulesMark, writer: &PoolWriter<'_>) -> Result<()> {
    let (file, _) = RulesFile::read(workspace.fd(), workspace.path())?;
    if file.source.name() != mark.source || workspacetrack::store::hash::of_bytes(&file.text) != mark.id {
        return Err(Error::conflict("the ignore rules changed while the capture ran").hint("capture again"));
    }
    if file.source == RuleSource::None {
        return Ok(());
    }
    writer.put_bytes(&file.text).map(drop)
}
