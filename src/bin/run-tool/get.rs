//! `run-tool get`.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{IoContext, Result};
use workspacetrack::run::events::source::Source;
use workspacetrack::run::json::Json;
use workspacetrack::run::tool;
use workspacetrack::store::component::Component;

use crate::Body;

/// How much is read at once, in bytes.
const BLOCK_BYTES: usize = 128 * 1024;

#[derive(Args)]
pub(crate) struct Options {
    /// The tool use id of the call
    id: String,
    /// Which body
    #[arg(value_enum)]
    body: Body,
    /// Begin so many bytes behind its start; a negative number counts as 0
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    offset: i64,
    /// Give out so many bytes at most; 0 is all of them
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: u64,
    /// Say how long it is, and whether the part reaches its end, instead of giving it out
    #[arg(long)]
    size: bool,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let id = Component::named("tool use id", &options.id)?;
    let (store, run) = cli.run_to_read(&options.run)?;
    let (file, total) = tool::open(&store, &run, &id, options.body.body())?;
    let begin = u64::try_from(options.offset).unwrap_or(0).min(total);
    let end = if options.limit == 0 { total } else { begin.saturating_add(options.limit).min(total) };
    if options.size {
        let number = |n: u64| Json::integer(i64::try_from(n).unwrap_or(i64::MAX));
        let said = Json::object([
            ("offset", number(begin)),
            ("bytes", number(end - begin)),
            ("total", number(total)),
            ("eof", Json::boolean(end == total)),
        ]);
        cli.out.line(said.compact().as_bytes());
        return Ok(Status::Done);
    }
    let (mut block, mut at) = (vec![0; BLOCK_BYTES], begin);
    while at < end {
        let wanted = usize::try_from(end - at).unwrap_or(usize::MAX).min(BLOCK_BYTES);
        let place = block.get_mut(..wanted).unwrap_or_default();
        let count = file.read_at(place, at).on("cannot read", &options.id)?;
        if count == 0 {
            break;
        }
        cli.out.write(block.get(..count).unwrap_or_default());
        at += count as u64;
    }
    Ok(Status::Done)
}
