//! `run-events tail`: print the last events, and follow.

use std::ops::ControlFlow;
use std::os::fd::AsFd;

use clap::Args;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{IoContext, Result};
use workspacetrack::run::access;
use workspacetrack::run::events::follow::watch::{Wake, Watch};
use workspacetrack::run::events::follow::{Follow, News};
use workspacetrack::run::events::lines::Tail;
use workspacetrack::run::events::scan::Found;
use workspacetrack::run::events::vocabulary::{Turn, turn};
use workspacetrack::run::events::{bisect, source};
use workspacetrack::run::status::Status as RunStatus;
use workspacetrack::store::id::RunId;
use workspacetrack::store::{Store, layout};
use workspacetrack::stream::quote;

use crate::show::{FormArgs, Selection};
use crate::{LogArgs, is_loss, warn_of};

#[derive(Args)]
pub(crate) struct Options {
    /// Wait for more
    #[arg(short, long)]
    follow: bool,
    /// Wait for more until the run has finished, failed or been cancelled, by an event or its document
    #[arg(long)]
    until_done: bool,
    /// Begin with the last so many [default: 10, or all with --from]
    #[arg(short = 'n', long = "lines", value_name = "N", conflicts_with = "from")]
    last: Option<u64>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    form: FormArgs,
    #[command(flatten)]
    log: LogArgs,
}

/// Where a `tail` without options begins.
const LAST: u64 = 10;

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let filter = options.selection.filter()?;
    let form = options.form.form(cli)?;
    let follows = options.follow || options.until_done;
    let (path, run) = if follows {
        let (store, run) = options.log.named(cli)?;
        (layout::events(store.root(), &run), Some((store, run)))
    } else {
        (options.log.open(cli)?.0, None)
    };
    let ending = match &run {
        Some((store, run)) if options.until_done => Some(Ending { store, run }),
        _ => None,
    };
    if let Some(ending) = &ending {
        ending.refuse_absent()?;
    } else if let Some((store, run)) = run.as_ref().filter(|(store, run)| !layout::run(store.root(), run).is_dir())
    {
        let name = quote::name(run.as_str().as_bytes());
        cli.note(format!("there is no run {name} in {} yet; waiting for it", quote::path(store.root())));
    }
    let watch = Watch::new();
    let arm = || {
        watch.arm(&path);
        if let Some(Ending { store, run }) = &ending {
            watch.arm(&layout::run_document(store.root(), run));
        }
    };
    arm();
    let mut state = None;
    let mut follow = match source::open(&path)? {
        None => Follow::from_start(&path),
        Some(file) => {
            let len = source::len(&file).on("cannot examine", &path)?;
            let begin = match filter.from {
                Some(from) => bisect::offset_of_seq(&file, len, from),
                None => bisect::offset_of_last(&file, len, Tail::Hold, &filter, options.last.unwrap_or(LAST)),
            };
            let begin = begin.on("cannot read", &path)?;
            state = bisect::last_turn(&file, begin).on("cannot read", &path)?;
            Follow::from_offset(&path, file, begin)?
        }
    };
    let (mut scratch, mut status) = (Vec::new(), Status::Done);
    loop {
        // Before the log is read, so that all is printed that was written before the status.
        let is_over = ending.as_ref().map(Ending::is_over).transpose()? == Some(true);
        let flow = follow.drain(|news| {
            match news {
                News::Notice(notice) => {
                    status = Status::Partial;
                    cli.note(format_args!("warning: {notice}"));
                }
                News::Found(Found::Damage(damage)) => {
                    if is_loss(damage) {
                        status = Status::Partial;
                    }
                    warn_of(cli, damage);
                }
                News::Found(Found::Event(event, _)) => {
                    state = turn(&event.kind).or(state);
                    if filter.is_past(event) {
                        return Ok(ControlFlow::Break(()));
                    }
                    if filter.selects(event) {
                        form.print(event, &mut scratch, cli);
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        cli.out.flush();
        let done = options.until_done && state == Some(Turn::Ends);
        if !follows || done || is_over || flow.is_break() {
            return Ok(status);
        }
        let stdout = std::io::stdout();
        if watch.wait(Some(stdout.as_fd())) == Wake::ReaderGone {
            cli.out.reader_is_gone();
            return Ok(status);
        }
        arm();
    }
}

/// What a run says of its end beside its log.
struct Ending<'a> {
    store: &'a Store,
    run: &'a RunId,
}

impl Ending<'_> {
    /// A run that is not there, or was deleted, does not end.
    fn refuse_absent(&self) -> Result<()> {
        access::reading(self.store, self.run).map(drop)
    }

    /// Whether its document says that it has ended: not every writer of a status appends an event.
    fn is_over(&self) -> Result<bool> {
        self.refuse_absent()?;
        let head = access::head(self.store, self.run).ok().flatten();
        Ok(head.is_some_and(|head| RunStatus::parse(&head.status).is_some_and(RunStatus::is_terminal)))
    }
}
