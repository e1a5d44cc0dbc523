//! Lists the files of a workspace that are versioned.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use workspacetrack::cli::args::{LimitArgs, RootArgs, RunArgs, StoreArgs, WorkspaceArgs, ZeroOutArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::history::{History, json};
use workspacetrack::store::lock::Mode;
use workspacetrack::store::relpath::RelPath;
use workspacetrack::store::{layout, memo, read_document};
use workspacetrack::stream::Framing;
use workspacetrack::stream::record::{EntryKind, GapReason};
use workspacetrack::stream::wire::{self, HeadMark, Header};
use workspacetrack::tree::listing::{Entry, Found, Tree};
use workspacetrack::tree::root::{Workspace, WorkspaceLock};
use workspacetrack::tree::scan::{self, Outset};
use workspacetrack::tree::seen::Seen;
use workspacetrack::tree::walk::{Walk, Wanted};

static PAGE: Page = Page {
    name: "wt-ls-files",
    about: "list the files of a workspace that are versioned",
    synopsis: &["[-C DIR] [-z] [--end] [--ignored | --gaps | --records [--dir-cache]]"],
    description: "Walks the workspace once, follows no link, and lists what the ignore rules include (see wt-rules(5)): \
        regular files and symbolic links, sorted by bytes. Nothing is written anywhere, unless `--dir-cache` \
        asks for it.\n\n\
        With `--records` it is the first stage of a capture: each path with its kind, mode and stat, empty directories \
        and gaps included, between a header and an end mark (see wt-stream(5)). With `--run` the header names the run's \
        head, so that a stale list cannot be published.\n\n\
        With `--dir-cache` a directory that is as it was is not listed again: each file of it is still examined. A \
        directory is as it was if its device, inode, mtime and ctime are those that it had when it was listed, it had \
        been at rest by then, the machine has not been started since, the rules are the same, and it lies on ext2 to ext4, \
        XFS, Btrfs, tmpfs or F2FS, and is not encrypted. What is remembered for that is written after the stream has ended, and only if \
        enough of it changed: one private file, `workspace/.dirs-seen` in the run's directory, with the stat and the names \
        of each directory. wt-restore(1) and wt-diff(1) read it. It may be removed at any time. A file that is damaged counts as none, and one that cannot be \
        written is no error. Nothing is written while ITERION_WORKSPACE_TRACK turns captures off.\n\n\
        A directory that cannot be listed is a gap, `!unreadable`, and its name ends in a slash. The store is left out \
        wherever it lies and whatever it is called.",
    output: "One path an item. With `--records`, records. With `--gaps`, the reason, a tab and the path. With \
        `--ignored`, what the rules leave out; a directory skipped whole ends in a slash.",
    exit: &[
        (0, "done"),
        (2, "no such workspace"),
        (5, "the workspace is refused"),
        (7, "more files than --max-files"),
    ],
    environment: &[
        "WT_WORKSPACE",
        "WT_STORE",
        "WT_RUN",
        "ITERION_HOME",
        "HOME",
        "ITERION_WORKSPACE_MAX_FILE_MB",
        "ITERION_WORKSPACE_TRACK",
    ],
    examples: &[
        Example { text: "What would be captured:", script: "wt-ls-files" },
        Example {
            text: "A capture by hand:",
            script: "wt-ls-files -z --records --run demo |\n  wt-hash-object -w -z --stdin-records --run demo |\n  \
                wt-write-manifest -z --run demo --label before",
        },
    ],
    see_also: &["wt-check-ignore(1)", "wt-hash-object(1)", "wt-stream(5)", "wt-rules(5)"],
    effect: Effect::Reads,
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
    limits: LimitArgs,
    #[command(flatten)]
    zero: ZeroOutArgs,
    /// Close the list with an empty item, so that a reader can tell that it is complete
    #[arg(long, conflicts_with = "records")]
    end: bool,
    /// Write records instead of paths
    #[arg(long, conflicts_with_all = ["ignored", "gaps", "json"])]
    records: bool,
    /// With --records, do not list directories again that are as the run remembers them, and remember the others
    #[arg(long, requires = "records")]
    dir_cache: bool,
    /// List what the rules leave out
    #[arg(long, conflicts_with = "gaps")]
    ignored: bool,
    /// List what is there and would not be captured, with the reason
    #[arg(long)]
    gaps: bool,
    /// Say on standard error how far the walk is
    #[arg(long)]
    progress: bool,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let progress = Progress::default();
    let tell = |files| progress.tell(files);
    let tell: Option<&(dyn Fn(u64) + Sync)> = if args.progress { Some(&tell) } else { None };
    if !args.records {
        let tree = Place::open(&args, cli)?.tree(tell)?;
        write_paths(&args, cli, &tree);
        return Ok(Status::Done);
    }
    cli.out.widen();
    let mut stream = RecordStream { framing: args.zero.framing(), pending: Vec::new(), is_begun: false };
    let ended = Place::open(&args, cli).and_then(|place| place.records(cli, &mut stream, tell));
    stream.end(cli, ended.as_ref().err());
    let memory = ended?;
    if !cli.env.captures_are_off()
        && let Some((path, bytes)) = memory.and_then(|(path, seen)| Some((path, seen.into_bytes()?)))
    {
        // Nobody waits for the end of the stream while we write down what only the next walk needs.
        cli.out.close();
        memo::replace(&path, &[&bytes]);
    }
    Ok(Status::Done)
}

/// Where to walk, and what is settled before: the lock is held, the rules are read.
struct Place {
    workspace: Workspace,
    lock: WorkspaceLock,
    outset: Outset,
    store: Vec<(u64, u64)>,
    head: Option<HeadMark>,
    dirs_seen: Option<PathBuf>,
}

impl Place {
    fn open(args: &Args, cli: &Cli) -> Result<Self> {
        let workspace = cli.env.workspace(&args.workspace, args.root)?;
        let store = cli.env.store(&args.store, workspace.path())?;
        let run = cli.env.run_if_named(&args.run)?;
        let identities = store.identities(run.as_ref())?;
        let dirs_seen = match &run {
            Some(run) if args.dir_cache => Some(layout::dirs_seen(store.root(), run)),
            None if args.dir_cache => {
                return Err(Error::usage("--dir-cache needs a run, in which it remembers")
                    .hint("name one with --run or set WT_RUN"));
            }
            _ => None,
        };
        let lock = workspace.lock(Mode::Shared, cli.env.inherited_lock(), store.patience())?;
        // Head is sampled before the walk: what is published meanwhile makes the list stale. It is sampled under the lock, for
        // which we may have waited until somebody had banked and restored.
        let head = match run {
            None => None,
            Some(run) => Some(History::new(&store, run).index()?.head.map_or(HeadMark::None, HeadMark::At)),
        };
        let outset = Outset::read(&workspace, args.limits.limits(&cli.env))?;
        for warning in &outset.warnings {
            cli.warn(warning);
        }
        Ok(Self { workspace, lock, outset, store: identities, head, dirs_seen })
    }

    /// Walks. The lock is let go before anything is written: nobody waits for a reader while holding it.
    fn tree(self, progress: Option<&(dyn Fn(u64) + Sync)>) -> Result<Tree> {
        self.outset.walk(&self.workspace, &self.store, progress).run()
    }

    /// What the run remembers of the directories, if it is to be used.
    fn seen(&self) -> Option<Seen> {
        self.dirs_seen.as_deref().map(|path| self.outset.seen(read_document(path).ok()))
    }

    /// Walks and writes a record for each path. Where the lock is the calling process's, which holds it for the whole
    /// capture, records go out while the walk goes on. Gives what was learnt of the directories, and where it belongs.
    fn records(
        self,
        cli: &mut Cli,
        stream: &mut RecordStream,
        progress: Option<&(dyn Fn(u64) + Sync)>,
    ) -> Result<Option<(PathBuf, Seen)>> {
        let header = Header { head: self.head.clone(), ..self.outset.header(&self.workspace) };
        header.write(&mut stream.pending, stream.framing);
        let seen = self.seen();
        let walk = Walk {
            seen: seen.as_ref(),
            wanted: Wanted::Kept,
            ..self.outset.walk(&self.workspace, &self.store, progress)
        };
        if self.lock.own_descriptor().is_none() {
            walk.flow(&mut |path, found| {
                if let Found::Entry(entry) = found {
                    stream.write(cli, path, entry);
                }
            })?;
        } else {
            let tree = walk.run()?;
            // Nobody waits for a reader while holding it.
            drop(self.lock);
            tree.for_each(|path, entry| stream.write(cli, path, entry));
        }
        Ok(self.dirs_seen.zip(seen))
    }
}

/// Says now and then how far the walk is.
struct Progress(Mutex<Instant>);

impl Default for Progress {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl Progress {
    fn tell(&self, files: u64) {
        let Ok(mut last) = self.0.lock() else { return };
        if last.elapsed() >= Duration::from_millis(200) {
            *last = Instant::now();
            cli::progress(PAGE.name, &format!("{files} files"));
        }
    }
}

/// Bytes of the stream that are held back, in case the walk fails at once.
const HELD_BACK_BYTES: usize = 64 * 1024;

/// The records on their way out.
struct RecordStream {
    framing: Framing,
    pending: Vec<u8>,
    is_begun: bool,
}

impl RecordStream {
    fn write(&mut self, cli: &mut Cli, path: &RelPath, entry: &Entry) {
        scan::write_record(&mut self.pending, self.framing, path, entry);
        if self.pending.len() >= HELD_BACK_BYTES {
            self.is_begun = true;
            cli.out.write(&self.pending);
            cli.out.flush();
            self.pending.clear();
        }
    }

    fn end(&mut self, cli: &mut Cli, error: Option<&Error>) {
        match error {
            None => wire::write_end(&mut self.pending, self.framing),
            Some(error) => {
                if !self.is_begun {
                    self.pending.clear();
                    Header::default().write(&mut self.pending, self.framing);
                }
                wire::write_fail(&mut self.pending, self.framing, cli::exit_code(error.kind()), error);
            }
        }
        cli.out.write(&self.pending);
    }
}

fn write_paths(args: &Args, cli: &mut Cli, tree: &Tree) {
    let framing = args.zero.framing();
    tree.visit(|path, found| {
        let (reason, is_dir) = match found {
            Found::Ignored(ignored) if args.ignored => (None, ignored.is_dir),
            Found::Entry(entry) if args.gaps && entry.gap.is_some() => {
                (entry.gap.as_ref(), entry.stat.kind == EntryKind::Dir)
            }
            Found::Entry(entry) if args.gaps && is_unreadable(path, entry) => (Some(&GapReason::Unreadable), false),
            Found::Entry(entry) if !args.gaps && !args.ignored && entry.gap.is_none() => {
                if entry.stat.kind == EntryKind::Dir {
                    return;
                }
                (None, false)
            }
            _ => return,
        };
        let mut name = path.as_bytes().to_vec();
        if is_dir {
            name.push(b'/');
        }
        if cli.json() {
            cli.out.line(&json_line(&name, reason));
            return;
        }
        let mut item = reason.map_or(Vec::new(), |reason| format!("{}\t", reason.as_str()).into_bytes());
        item.extend_from_slice(&framing.encode(&name));
        cli.out.item(&item, framing.end());
    });
    if args.end {
        cli.out.item(b"", framing.end());
    }
}

/// Asked only for `--gaps`: a capture finds out when it reads.
fn is_unreadable(path: &RelPath, entry: &Entry) -> bool {
    use rustix::fs::{Access, AtFlags, accessat};
    entry.stat.kind == EntryKind::File
        && accessat(rustix::fs::CWD, path.as_path(), Access::READ_OK, AtFlags::EACCESS)
            == Err(rustix::io::Errno::ACCESS)
}

fn json_line(name: &[u8], reason: Option<&GapReason>) -> Vec<u8> {
    let mut line = vec![b'{'];
    json::push_display_name(&mut line, "path", name);
    if let Some(reason) = reason {
        json::push_key(&mut line, "reason");
        json::push_string(&mut line, reason.as_str());
    }
    line.push(b'}');
    line
}
