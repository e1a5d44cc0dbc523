//! Groups of options that several programs share; a program flattens those it understands.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Options of every program; [`super::main`] adds them.
#[derive(Args, Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
pub struct Common {
    /// Write JSON lines; an error is also written as {"error":{...}}
    #[arg(long, global = true)]
    pub json: bool,
    /// No warnings and no summary; errors are still reported
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more on standard error
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// Which workspace.
#[derive(Args, Debug, Clone)]
pub struct WorkspaceArgs {
    /// The workspace [default: $`WT_WORKSPACE`, else .]
    #[arg(short = 'C', value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Take the workspace even if it is /, the home directory or holds the stores
    #[arg(long)]
    pub yes_this_root: bool,
}

/// Which store.
#[derive(Args, Debug, Clone)]
pub struct StoreArgs {
    /// The store [default: $`WT_STORE`, else .iterion of the workspace if it is a store, else below ~/.iterion]
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

/// Which run.
#[derive(Args, Debug, Clone)]
pub struct RunArgs {
    /// The run [default: $`WT_RUN`]
    #[arg(long, value_name = "ID")]
    pub run: Option<OsString>,
}

/// How items are separated.
#[derive(Args, Debug, Clone, Copy)]
pub struct ZeroArgs {
    /// Items end in NUL and names are raw bytes, on input and output
    #[arg(short = 'z')]
    pub zero: bool,
}

impl ZeroArgs {
    /// The form of the streams.
    #[must_use]
    pub fn framing(self) -> crate::stream::Framing {
        if self.zero { crate::stream::Framing::Nul } else { crate::stream::Framing::Line }
    }
}

/// What a writer of history does when the engine's run lock is held.
#[derive(Args, Debug, Clone, Copy)]
pub struct EngineArgs {
    /// Write although an unrelated engine holds the run's lock
    #[arg(long)]
    pub while_running: bool,
}
