//! `run-log read`, `follow` and `size`.

use std::os::fd::AsFd;

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::run::console::{self, Follow, News};
use workspacetrack::run::events::follow::watch::{Wake, Watch};

#[derive(Args)]
pub(crate) struct ReadOptions {
    /// The first byte
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// The first byte that is not wanted; 0 is the end
    #[arg(long, value_name = "N", default_value_t = 0)]
    until: u64,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn read(options: &ReadOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.run_to_read(&options.run)?;
    console::read(&store, &run, options.from, options.until, |bytes| cli.out.write(bytes))?;
    Ok(Status::Done)
}

#[derive(Args)]
pub(crate) struct SizeOptions {
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn size(options: &SizeOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.run_to_read(&options.run)?;
    let size = console::size(&store, &run)?;
    cli.out.line(size.to_string().as_bytes());
    Ok(Status::Done)
}

#[derive(Args)]
pub(crate) struct FollowOptions {
    /// The first byte
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn follow(options: &FollowOptions, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let (store, run) = cli.env.run_store(&options.run)?;
    store.refuse_deleted(&run)?;
    let watch = Watch::new();
    let mut follow = Follow::new(&store, &run, options.from);
    let mut status = Status::Done;
    loop {
        watch.arm(follow.path());
        follow.drain(|news| match news {
            News::Chunk(_, bytes) => cli.out.write(bytes),
            News::Restarted => {
                status = Status::Partial;
                cli.note("warning: the log was cut or replaced; reading begins again at its start");
            }
        })?;
        cli.out.flush();
        let stdout = std::io::stdout();
        if watch.wait(Some(stdout.as_fd())) == Wake::ReaderGone {
            cli.out.reader_is_gone();
            return Ok(status);
        }
        if store.refuse_deleted(&run).is_err() {
            return Ok(status);
        }
    }
}
