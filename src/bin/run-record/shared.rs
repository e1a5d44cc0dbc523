//! What several subcommands share: whom they write to, how strict they are, how they tell what was done.

use clap::Args;
use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::{Cli, Status as Ended, input};
use workspacetrack::error::{Error, Result};
use workspacetrack::run::companion::Companion;
use workspacetrack::run::document;
use workspacetrack::run::json::Json;
use workspacetrack::run::record::outcome::Rules;
use workspacetrack::run::record::write::{Expected, Receipt};
use workspacetrack::run::status::Status;
use workspacetrack::run::transition::{Continuation, Outcome};
use workspacetrack::store::Store;
use workspacetrack::store::id::RunId;

/// A document has some hundred kilobytes; this much is a mistake.
pub(crate) const JSON_BYTES_MAX: u64 = 256 << 20;

/// Which document, and what is expected of it.
#[derive(Args)]
pub(crate) struct TargetArgs {
    /// Write only if the document has this revision
    #[arg(long, value_name = "N")]
    expect_revision: Option<i64>,
    #[command(flatten)]
    run: HistoryArgs,
}

impl TargetArgs {
    pub(crate) fn named(&self, cli: &Cli) -> Result<(Store, RunId)> {
        cli.env.run_store(&self.run)
    }

    pub(crate) fn expected(&self, statuses: Option<&StatusesArgs>) -> Result<Expected> {
        let statuses = statuses.map(StatusesArgs::named).transpose()?.flatten();
        Ok(Expected { revision: self.expect_revision, statuses })
    }
}

/// The statuses that are expected.
#[derive(Args)]
pub(crate) struct StatusesArgs {
    /// Write only if the status is one of these
    #[arg(long, value_name = "STATUS,...", value_delimiter = ',')]
    expect: Option<Vec<String>>,
}

impl StatusesArgs {
    fn named(&self) -> Result<Option<Vec<Status>>> {
        self.expect.as_deref().map(statuses).transpose()
    }
}

/// Statuses by name; an empty text names none.
pub(crate) fn statuses(names: &[String]) -> Result<Vec<Status>> {
    names.iter().filter(|name| !name.is_empty()).map(|name| Status::named(name)).collect()
}

/// How strict a writer of a status is. The group `telling` of the subcommand has the options with which it appends an event.
#[derive(Args)]
pub(crate) struct RepairArgs {
    /// Also let a status follow that should not, to repair a run by hand; an event tells of it
    #[arg(long)]
    force: bool,
    /// Append no event
    #[arg(long, requires = "telling")]
    no_event: bool,
    /// Append the event although an unrelated engine holds the run's lock
    #[arg(long, requires = "telling")]
    while_running: bool,
}

impl RepairArgs {
    pub(crate) fn rules(&self) -> Rules {
        let telling = if self.no_event {
            Companion::Suppressed
        } else {
            Companion::Wanted { while_running: self.while_running }
        };
        Rules { is_forced: self.force, telling }
    }
}

/// What is said together with a status.
#[derive(Args, Default)]
pub(crate) struct OutcomeArgs {
    /// Why, for people
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) error: String,
    /// Why, for machines: the failure code
    #[arg(long, value_name = "CODE", default_value = "", hide_default_value = true)]
    pub(crate) code: String,
    /// Which decision ended it; any word, such as operator, `pr_closed`, `pr_requeued`, superseded
    #[arg(long, value_name = "REASON", default_value = "", hide_default_value = true)]
    pub(crate) end_reason: String,
    /// Who acts next: `redelivery_pending`, `retry_armed`, final
    #[arg(long, value_name = "STATE")]
    pub(crate) continuation: Option<String>,
}

impl OutcomeArgs {
    pub(crate) fn outcome(&self) -> Result<Outcome> {
        let continuation = self.continuation.as_deref().map(Continuation::named).transpose()?;
        Ok(Outcome {
            error: self.error.clone(),
            code: self.code.clone(),
            end_reason: self.end_reason.clone(),
            continuation,
        })
    }

    /// Says what the target cannot carry and is therefore left out.
    pub(crate) fn warn_of_unused(&self, target: Status, cli: &Cli) -> bool {
        let mut unused = Vec::new();
        if !target.may_carry_cause() {
            unused.extend((!self.code.is_empty()).then_some("failure code"));
            unused.extend((!self.end_reason.is_empty()).then_some("end reason"));
        }
        unused.extend((target == Status::Running && !self.error.is_empty()).then_some("error"));
        for what in &unused {
            cli.warn(format_args!("a run that is {target} carries no {what}: it was left out"));
        }
        !unused.is_empty()
    }
}

/// A JSON object that an option gives.
pub(crate) fn object(what: &str, value: &str) -> Result<Json> {
    document::given(what, &input::argument(value, JSON_BYTES_MAX)?)
}

/// A JSON object, or what a pause must not be without.
pub(crate) fn object_if_given(what: &str, value: Option<&str>) -> Result<Option<Json>> {
    value.map(|value| object(what, value)).transpose()
}

/// Prints the receipt; says what is wrong with the event that went along.
pub(crate) fn tell(receipt: &Receipt, cli: &mut Cli) -> Ended {
    cli.out.line(receipt.json().compact().as_bytes());
    event_told(receipt.event_failure.as_ref(), cli)
}

pub(crate) fn event_told(failure: Option<&Error>, cli: &Cli) -> Ended {
    match failure {
        None => Ended::Done,
        Some(error) => {
            cli.warn(format_args!("the document is written, but its event may be missing: {error}"));
            Ended::Partial
        }
    }
}
