//! `run-record claim-merge` and `update-merge`.

use clap::Args;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::clock;
use workspacetrack::error::{Error, Result};
use workspacetrack::run::json::Json;
use workspacetrack::run::record::merge::{self, Merge};

use crate::shared::{self, TargetArgs};

#[derive(Args)]
pub(crate) struct Claim {
    /// Take a claim over that is older than this time
    #[arg(long, value_name = "TIME")]
    stale_before: Option<String>,
    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Args)]
pub(crate) struct Update {
    /// What came of it: merged, skipped, failed, conflicted, pending
    #[arg(value_name = "STATUS")]
    status: String,
    /// Write only if the merge is one of these; an empty one is a merge that nobody has begun
    #[arg(long, value_name = "STATUS,...", value_delimiter = ',', default_value = "merging")]
    expect: Vec<String>,
    /// Write only if the claim has this token, as `claim-merge` printed it
    #[arg(long, value_name = "TIME")]
    token: Option<String>,
    /// The branch that it went into
    #[arg(long, value_name = "BRANCH", default_value = "", hide_default_value = true)]
    merged_into: String,
    /// The commit that it made there
    #[arg(long, value_name = "COMMIT", default_value = "", hide_default_value = true)]
    merged_commit: String,
    /// squash or merge
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true, value_parser = ["", "squash", "merge"])]
    strategy: String,
    /// The message that a conflict waits with
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pending_message: String,
    /// The branch that a conflict waits for
    #[arg(long, value_name = "BRANCH", default_value = "", hide_default_value = true)]
    pending_into: String,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn claim(options: &Claim, cli: &mut Cli) -> Result<Status> {
    let (store, run) = options.target.named(cli)?;
    let stale_before = match &options.stale_before {
        Some(text) => Some(clock::parse_rfc3339(text).ok_or_else(|| {
            Error::usage("--stale-before is not a time").hint("write it as 2026-01-31T12:00:00Z")
        })?),
        None => None,
    };
    let (receipt, token) = merge::claim(&store, &run, stale_before, &options.target.expected(None)?)?;
    let mut json = receipt.json();
    json.set("token", Json::string(&token));
    cli.out.line(json.compact().as_bytes());
    Ok(Status::Done)
}

pub(crate) fn update(options: &Update, cli: &mut Cli) -> Result<Status> {
    let (store, run) = options.target.named(cli)?;
    let merge = Merge {
        status: options.status.clone(),
        merged_into: options.merged_into.clone(),
        merged_commit: options.merged_commit.clone(),
        strategy: options.strategy.clone(),
        pending_message: options.pending_message.clone(),
        pending_into: options.pending_into.clone(),
    };
    let expected = options.target.expected(None)?;
    let receipt = merge::update(&store, &run, &options.expect, options.token.as_deref(), &merge, &expected)?;
    Ok(shared::tell(&receipt, cli))
}
