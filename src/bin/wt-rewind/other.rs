//! What stands beside a rewind and other programs do: the list of snapshots, and the restore of a whole one.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use workspacetrack::cli::chain::{self, become_under};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{IoContext, Result};
use workspacetrack::history::History;
use workspacetrack::run::standstill::{Finished, Standstill};
use workspacetrack::store::id::RunId;
use workspacetrack::store::lock::Mode;

use crate::Args;

/// Becomes wt-log.
pub(crate) fn list_snapshots(args: &Args, cli: &Cli, run: &RunId) -> Result<Status> {
    let mut words = command(args, cli, "wt-log", run).into_iter();
    let name = words.next().unwrap_or_default();
    Err(Command::new(&name).args(words).exec()).on("cannot run", &name)
}

/// Checks everything, and becomes wt-undo, which keeps both locks: of the workspace, and of the run, so that no engine
/// begins before it has ended.
pub(crate) fn restore_snapshot(args: &Args, cli: &mut Cli, snapshot: &str, run: &RunId) -> Result<Status> {
    let workspace = cli.env.workspace(&args.workspace, args.root)?;
    let store = cli.env.store(&args.store, workspace.path())?;
    let standstill = Standstill::of(&store, run, Finished::Allowed)?;
    let lock = workspace.lock(Mode::Exclusive, cli.env.inherited_lock(), store.patience())?;
    let history = History::new(&store, run.clone());
    let id = history.resolve(&history.index()?, snapshot)?;
    history.manifest(&id)?;
    cli.note("this is larger than a rewind: it restores the whole tree, whoever changed it");
    let mut words = command(args, cli, "wt-undo", run);
    for path in &args.protect {
        words.extend(["--protect".into(), path.clone().into_os_string()]);
    }
    for (is_given, word) in [(args.dry_run, "--dry-run"), (args.all_or_nothing, "--all-or-nothing")] {
        words.extend(is_given.then(|| word.into()));
    }
    words.extend(["--".into(), id.as_str().into()]);
    standstill.pass_on()?;
    become_under(lock, Mode::Exclusive, &words)
}

/// Another of our programs, with the options that all share.
fn command(args: &Args, cli: &Cli, name: &str, run: &RunId) -> Vec<OsString> {
    let mut words = vec![chain::beside_this(name)];
    for (option, path) in [("-C", &args.workspace.workspace), ("--store", &args.store.store)] {
        if let Some(path) = path {
            words.extend([option.into(), path.clone().into_os_string()]);
        }
    }
    words.extend(["--run".into(), run.as_str().into()]);
    for (is_given, option) in
        [(cli.quiet(), "-q"), (cli.json(), "--json"), (args.root.yes_this_root, "--yes-this-root")]
    {
        words.extend(is_given.then(|| option.into()));
    }
    words
}
