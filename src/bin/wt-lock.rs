//! Runs a command under the workspace lock.

use std::ffi::OsString;
use std::process::ExitCode;

use workspacetrack::cli::args::{RootArgs, WorkspaceArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status, chain};
use workspacetrack::error::Result;
use workspacetrack::store::lock::Mode;

static PAGE: Page = Page {
    name: "wt-lock",
    about: "run a command under the workspace lock",
    synopsis: &["[-C DIR] [-s | -x] -- CMD [ARG]..."],
    description: "Takes the lock of the workspace and becomes the command. Captures share the lock; a restore takes it alone. With `-x` \
        nobody else captures or restores while the command runs, so that several of these programs see one state; with \
        `-s` only restores are kept out.\n\n\
        The lock is a flock(2) on the workspace's root directory: nothing is written, and it ends with the last process \
        that has it open. The command gets it as an open descriptor, named by `WT_LOCK_FD`; these programs find it there, \
        check it, and use it instead of waiting for themselves. Whoever starts a program that is to outlive the lock closes \
        the descriptor first.\n\n\
        Asking for `-x` under an inherited shared lock is an error; any other lock that is inherited is used as it is.",
    output: "What the command writes.",
    exit: &[
        (2, "no such workspace or command"),
        (6, "the lock was not had in time, or is only shared by the calling process"),
        (0, "the command ended so; any other code of the command is passed on too"),
    ],
    environment: &["WT_WORKSPACE", "WT_LOCK_WAIT", "WT_LOCK_FD", "HOME"],
    examples: &[Example {
        text: "See two things at one moment:",
        script: "wt-lock -x -- sh -c 'wt-ls-files | wc -l; wt-ls-files --gaps'",
    }],
    see_also: &["wt-restore(1)", "wt-capture(1)", "flock(2)"],
    effect: Effect::Changes,
};

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    root: RootArgs,
    /// Share the lock, as captures do
    #[arg(short, conflicts_with = "exclusive")]
    shared: bool,
    /// Hold the lock alone, as a restore does; this is the default
    #[arg(short = 'x')]
    exclusive: bool,
    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let workspace = cli.env.workspace(&args.workspace, args.root)?;
    let mode = if args.shared { Mode::Shared } else { Mode::Exclusive };
    let patience = cli.env.settings()?.patience;
    let lock = workspace.lock(mode, cli.env.inherited_lock(), patience)?;
    // Only an error comes back from here.
    chain::become_under(lock, mode, &args.command)
}
