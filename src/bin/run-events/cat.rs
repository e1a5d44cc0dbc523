//! `run-events cat`: print events.

use std::ops::ControlFlow;

use clap::Args;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{IoContext, Result};
use workspacetrack::run::events::lines::Tail;
use workspacetrack::run::events::scan::{Found, Scan};
use workspacetrack::run::events::{bisect, source};

use crate::show::{FormArgs, Selection};
use crate::{LogArgs, ended, warn_of};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    selection: Selection,
    /// The last so many of those selected
    #[arg(long, value_name = "N", conflicts_with = "limit")]
    last: Option<u64>,
    /// The first so many of those selected
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    form: FormArgs,
    #[command(flatten)]
    log: LogArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let filter = options.selection.filter()?;
    let form = options.form.form(cli)?;
    let (path, Some(file), _) = options.log.open(cli)? else { return Ok(Status::Done) };
    let len = source::len(&file).on("cannot examine", &path)?;
    let begin = match (options.last, filter.from) {
        (Some(count), _) => bisect::offset_of_last(&file, len, Tail::Emit, &filter, count),
        (None, Some(from)) => bisect::offset_of_seq(&file, len, from),
        (None, None) => Ok(0),
    };
    let mut left = options.limit.unwrap_or(u64::MAX);
    if left == 0 || options.last == Some(0) {
        return Ok(Status::Done);
    }
    let mut scan = Scan::from(&file, begin.on("cannot read", &path)?);
    let mut scratch = Vec::new();
    // Only a search that ends the reading shows in the flow; both ends are good ones.
    let _ = scan.run(Tail::Emit, |found| {
        match found {
            Found::Damage(damage) => warn_of(cli, damage),
            Found::Event(event, _) if filter.is_past(event) => return Ok(ControlFlow::Break(())),
            Found::Event(event, _) if filter.selects(event) => {
                form.print(event, &mut scratch, cli);
                left -= 1;
            }
            Found::Event(..) => {}
        }
        Ok(if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    ended(scan.tally())
}
