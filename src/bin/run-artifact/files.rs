//! `run-artifact files-dir`, `files` and `file`: what tools of the run wrote.

use std::io::Read;

use clap::Args;
use workspacetrack::cli::args::{HistoryArgs, ZeroOutArgs};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{IoContext, Result};
use workspacetrack::run::artifact_files::{self, Sharing};
use workspacetrack::run::companion::Told;
use workspacetrack::run::json::Json;
use workspacetrack::stream::{Framing, quote};

#[derive(Args)]
pub(crate) struct DirOptions {
    /// Let the group write into it (mode 0775), for a sandbox with another user
    #[arg(long)]
    shared: bool,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn dir(options: &DirOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let sharing = if options.shared { Sharing::Sandbox } else { Sharing::Private };
    let path = artifact_files::ensure(&store, &run, sharing)?;
    let receipt = Json::object([("path", Json::string(&path.to_string_lossy()))]);
    Ok(cli.receipt(receipt, &Told::NotWanted))
}

#[derive(Args)]
pub(crate) struct ListOptions {
    #[command(flatten)]
    zero: ZeroOutArgs,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn list(options: &ListOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.run_to_read(&options.run)?;
    for file in artifact_files::list(&store, &run)? {
        if cli.json() {
            let row = Json::object([
                ("path", Json::string(&String::from_utf8_lossy(&file.path))),
                ("size", Json::integer(i64::try_from(file.size).unwrap_or(i64::MAX))),
            ]);
            cli.out.line(row.compact().as_bytes());
        } else if options.zero.framing() == Framing::Nul {
            cli.out.item(&file.path, 0);
        } else {
            cli.out.line(&quote::c_quote(&file.path));
        }
    }
    Ok(Status::Done)
}

#[derive(Args)]
pub(crate) struct FileOptions {
    /// The path of the file below the directory
    path: String,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn print(options: &FileOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.run_to_read(&options.run)?;
    let mut file = artifact_files::open(&store, &run, &options.path)?;
    let mut block = vec![0; 128 * 1024];
    loop {
        let count = file.read(&mut block).on("cannot read", &options.path)?;
        if count == 0 {
            return Ok(Status::Done);
        }
        cli.out.write(block.get(..count).unwrap_or_default());
    }
}
