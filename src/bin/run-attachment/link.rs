//! `run-attachment presign` and `verify`.

use std::time::Duration;

use clap::Args;
use workspacetrack::cli::args::{HistoryArgs, parse_duration};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::clock;
use workspacetrack::error::{Error, Result};
use workspacetrack::run::attachment;
use workspacetrack::run::attachment::sign::{self, Key};
use workspacetrack::run::companion::Told;
use workspacetrack::run::json::Json;
use workspacetrack::store::component::Component;

/// A server takes no link that is good for longer.
const EXPIRES_MAX: Duration = Duration::from_secs(24 * 3600);

#[derive(Args)]
pub(crate) struct PresignOptions {
    /// The attachment
    name: String,
    /// How long it is good, at most 24h; s, m and h are understood
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10m")]
    expires: Duration,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn presign(options: &PresignOptions, cli: &mut Cli) -> Result<Status> {
    let name = Component::named("attachment name", &options.name)?;
    let (store, run) = cli.env.run_store(&options.run)?;
    if options.expires > EXPIRES_MAX || options.expires.is_zero() {
        return Err(Error::usage("a link is good for 24 h at most, and for a second at least"));
    }
    store.refuse_deleted(&run)?;
    attachment::read(&store, &run, &name)?;
    let key = Key::read_or_make(&store)?;
    let expires = now().saturating_add(i64::try_from(options.expires.as_secs()).unwrap_or(i64::MAX));
    let signature = key.sign(&run, &name, expires);
    let receipt = Json::object([
        ("url", Json::string(&sign::url(&run, &name, expires, &signature))),
        ("exp", Json::integer(expires)),
        ("sig", Json::string(&signature)),
    ]);
    Ok(cli.receipt(receipt, &Told::NotWanted))
}

#[derive(Args)]
pub(crate) struct VerifyOptions {
    /// The attachment
    name: String,
    /// When the link ends, in seconds since 1970
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    exp: i64,
    /// The signature
    #[arg(long, value_name = "HEX", allow_hyphen_values = true)]
    sig: String,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn verify(options: &VerifyOptions, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let name = Component::named("attachment name", &options.name)?;
    let (store, run) = cli.env.run_store(&options.run)?;
    let is_good = Key::read(&store)?.is_some_and(|key| key.verify(&run, &name, options.exp, &options.sig, now()));
    if cli.json() {
        cli.out.line(Json::object([("valid", Json::boolean(is_good))]).compact().as_bytes());
    }
    Ok(if is_good { Status::Done } else { Status::No })
}

fn now() -> i64 {
    i64::try_from(clock::now_ns() / 1_000_000_000).unwrap_or(i64::MAX)
}
