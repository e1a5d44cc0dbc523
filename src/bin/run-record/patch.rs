//! `run-record patch`: set members that change while a run lives.

use clap::Args;
use workspacetrack::cli::{Cli, Status, input};
use workspacetrack::error::{Error, Result};
use workspacetrack::run::document;
use workspacetrack::run::json::Json;
use workspacetrack::run::record::patch::{self, SETTERS, Setting};
use workspacetrack::stream::quote;

use crate::shared::{self, JSON_BYTES_MAX, StatusesArgs, TargetArgs};

#[derive(Args)]
pub(crate) struct Options {
    /// Set a member by its rule; @FILE reads the value from a file, - from standard input
    #[arg(long = "set", value_name = "NAME=JSON", required_unless_present = "setters")]
    settings: Vec<String>,
    /// List the setters instead
    #[arg(long, conflicts_with_all = ["settings", "expect", "expect_revision", "run", "store", "workspace"])]
    setters: bool,
    #[command(flatten)]
    statuses: StatusesArgs,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    if options.setters {
        cli.out.only_reads();
        list(cli);
        return Ok(Status::Done);
    }
    let settings = options.settings.iter().map(|text| setting(text)).collect::<Result<Vec<_>>>()?;
    let (store, run) = options.target.named(cli)?;
    let expected = options.target.expected(Some(&options.statuses))?;
    let receipt = patch::patch(&store, &run, settings, &expected)?;
    Ok(shared::tell(&receipt, cli))
}

fn setting(text: &str) -> Result<Setting> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(Error::usage(format!("{} sets nothing", quote::name(text.as_bytes()))).hint("write NAME=JSON"));
    };
    // An unknown name is told before its value is read.
    Setting::named(name, Json::null())?;
    let value = document::given_value(name, &input::argument(value, JSON_BYTES_MAX)?)?;
    Setting::named(name, value)
}

fn list(cli: &mut Cli) {
    for (name, what, _) in SETTERS {
        let line = if cli.json() {
            Json::object([("name", Json::string(name)), ("takes", Json::string(what))]).compact()
        } else {
            format!("{name:<26} {what}")
        };
        cli.out.line(line.as_bytes());
    }
}
