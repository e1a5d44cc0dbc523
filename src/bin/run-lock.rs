//! Runs a command under the lock of a run.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::chain::Next;
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::pid;
use workspacetrack::run::record::fresh;
use workspacetrack::store::Store;
use workspacetrack::store::id::RunId;
use workspacetrack::store::process::Process;
use workspacetrack::store::run_lock::{self, Attempt, RunLock};

static PAGE: Page = Page {
    name: "run-lock",
    about: "run a command as the engine that executes a run",
    synopsis: &["[--pid] [--wait] [--run ID] -- CMD [ARG]..."],
    description: "Takes the lock of the run, `.lock` in its directory, and runs the command under it. Whoever holds this lock executes \
        the run: other engines do not begin, run-reconcile(1) leaves the run alone, run-delete(1) refuses, and writers that this \
        command did not start refuse with 6. The command and what it starts may write. The directory is made if it is missing; a \
        deleted run stays deleted.\n\n\
        The lock is a flock(2) and that of the original, so each respects the other's. It ends with the last process that has it \
        open: the command inherits it, and so does what the command leaves running. A crash leaves nothing that would have to be \
        cleaned up; the file stays. The number and the machine of the holder stand in it, for whoever is kept out. Where the run lies on \
        a network file system, a warning says that other machines may not see the lock.\n\n\
        Without `--pid` this program becomes the command. With it, it stays, passes signals on and ends as the command ends. \
        Meanwhile the file `.pid` in the run's directory names this process: its number in decimal on the first line, and on the next \
        ones `start` (when it began, in ticks since the boot), `boot` (the id of the boot), `namespace` (of process numbers) and `host`. So \
        a number that was given out again is not mistaken for it. The file is written at once and whole, with mode 0600, and removed at the \
        end. After a kill it stays, and names a process that is gone. The original reads files of one line only; this one is to it \
        as if it were missing, and it goes by the lock.\n\n\
        The command finds the run in `WT_RUN` and the store in `WT_STORE`.",
    output: "What the command writes.",
    exit: &[
        (0, "the command ended so; any other code or signal of the command is passed on too"),
        (2, "no such command, no run is named, or the run was deleted"),
        (
            6,
            "somebody else holds the lock, also if that one has started this program; with --wait, still after the wait",
        ),
        (8, "the lock or the file .pid could not be had; the command was not run"),
    ],
    environment: &["WT_STORE", "WT_RUN", "WT_WORKSPACE", "WT_LOCK_WAIT", "WT_FSYNC", "ITERION_HOME", "HOME"],
    examples: &[
        Example {
            text: "Execute a run; what the command appends goes in, what others append does not:",
            script: "run-lock --run demo -- sh -c 'run-events append --type run_started'",
        },
        Example {
            text: "The same, for a server that looks for the process later:",
            script: "run-lock --run demo --pid -- sh -c 'head -n 1 \"$WT_STORE/runs/$WT_RUN/.pid\"'",
        },
    ],
    see_also: &["run-reconcile(1)", "run-delete(1)", "run-events(1)", "wt-lock(1)", "flock(2)"],
    effect: Effect::Changes,
};

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    run: HistoryArgs,
    /// Stay, and name this process in the file `.pid` until the command has ended
    #[arg(long)]
    pid: bool,
    /// Wait for the lock, as long as `$WT_LOCK_WAIT` says
    #[arg(long)]
    wait: bool,
    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&args.run)?;
    let mut next = Next::new(&args.command)?;
    fresh::made(&store, &run)?;
    let lock = take(&store, &run, args.wait)?;
    if let Some(kind) = lock.network() {
        cli.warn(format!("the run lies on {kind}: other machines may not see that its lock is held"));
    }
    // It says only who is to be asked, so the run does not depend on it.
    if let Err(error) = lock.sign() {
        cli.warn(error);
    }
    next.inherits(lock.descriptor())?;
    next.env("WT_RUN", run.as_str());
    next.env("WT_STORE", store.root());
    if !args.pid {
        return Err(next.become_it());
    }
    pid::write(&store, &run, &lock)?;
    let ended = next.supervise();
    if let Err(error) = pid::remove(&store, &run, &Process::own(), &lock) {
        cli.warn(error.also("'run-reconcile' removes it"));
    }
    ended?.pass_on()
}

/// How often a lock that is waited for is tried.
const RETRY: Duration = Duration::from_millis(20);
/// How long a wait is silent.
const SILENT: Duration = Duration::from_millis(500);

fn take(store: &Store, run: &RunId, wait: bool) -> Result<RunLock> {
    let (begun, patience) = (Instant::now(), store.patience());
    let mut told = false;
    loop {
        let holder = match RunLock::try_take(store, run)? {
            Attempt::Held(lock) => return Ok(lock),
            Attempt::Busy(holder) => holder,
        };
        let waited = begun.elapsed();
        if !wait || waited >= patience.limit {
            return Err(run_lock::conflict(store, run, &holder));
        }
        if !told && waited >= SILENT {
            told = true;
            (patience.notice)(&format!("waiting for the lock of run {run}, which {holder} holds"));
        }
        std::thread::sleep(RETRY.min(patience.limit.saturating_sub(waited)));
    }
}
