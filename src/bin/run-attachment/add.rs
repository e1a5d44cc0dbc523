//! `run-attachment add`, `remove` and `reindex`.

use std::io::Read;

use clap::{ArgGroup, Args};
use workspacetrack::cli::args::{HistoryArgs, parse_size};
use workspacetrack::cli::documents::worse;
use workspacetrack::cli::{Cli, Status, input};
use workspacetrack::error::{Error, Result};
use workspacetrack::run::access::Indexed;
use workspacetrack::run::attachment;
use workspacetrack::run::attachment::upload::{
    self, ALLOWED, FILE_BYTES_MAX, FILES_MAX, Item, Limits, TOTAL_IN_FILES_MAX,
};
use workspacetrack::run::companion::Told;
use workspacetrack::run::json::Json;
use workspacetrack::store::component::Component;

#[derive(Args)]
pub(crate) struct Options {
    /// A name and a file, such as log=build.txt; the file - is standard input; a file alone gives its own name
    #[arg(value_name = "[NAME=]FILE", required = true)]
    files: Vec<String>,
    /// What the one file is called [default: as it is]
    #[arg(long, value_name = "NAME")]
    filename: Option<String>,
    /// Largest file; K, M and G are understood
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value_t = FILE_BYTES_MAX)]
    max_bytes: u64,
    /// All attachments of the run together [default: 5 times the largest file]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_total: Option<u64>,
    /// Most attachments of the run
    #[arg(long, value_name = "N", default_value_t = FILES_MAX)]
    max_files: usize,
    /// Types that are taken, instead of the usual ones; `*` stands for anything in a segment
    #[arg(long, value_name = "PATTERN,...", value_delimiter = ',')]
    allow: Vec<String>,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    let allowed =
        if options.allow.is_empty() { ALLOWED.map(str::to_owned).to_vec() } else { options.allow.clone() };
    let limits = Limits {
        file_bytes_max: options.max_bytes,
        total_bytes_max: options.max_total.unwrap_or(options.max_bytes.saturating_mul(TOTAL_IN_FILES_MAX)),
        files_max: options.max_files,
        allowed,
    };
    if options.filename.is_some() && options.files.len() > 1 {
        return Err(Error::usage("--filename names one file").hint("add the files one by one"));
    }
    let items = options.files.iter().map(|file| item(file, options.filename.as_deref())).collect::<Result<_>>()?;
    let added = upload::add(&store, &run, items, &limits)?;
    let mut status = Status::Done;
    for (sidecar, is_new) in added.sidecars {
        let mut receipt = sidecar;
        receipt.set("new", Json::boolean(is_new));
        status = worse(status, cli.receipt(receipt, &Told::NotWanted));
    }
    Ok(worse(status, cli.unindexed(added.unindexed.as_ref(), "run-attachment reindex")))
}

/// What one operand names.
fn item(operand: &str, file_name: Option<&str>) -> Result<Item> {
    let (name, file) = match operand.split_once('=') {
        Some((name, file)) => (Some(name), file),
        None => (None, operand),
    };
    let own = if file == "-" { "" } else { file };
    let called = match file_name.unwrap_or(own) {
        "" => name.unwrap_or_default(),
        called => called,
    };
    if file == "-" && name.is_none() {
        return Err(Error::usage("standard input has no name").hint("give it one: NAME=-"));
    }
    let called = attachment::file_name(called)?;
    let name = Component::for_new("attachment name", name.unwrap_or(&called))?;
    let content: Box<dyn Read> = if file == "-" { Box::new(input::stdin()) } else { Box::new(input::open(file)?) };
    Ok(Item { name, file_name: called, content })
}

#[derive(Args)]
#[command(group = ArgGroup::new("which").required(true).args(["names", "all"]))]
pub(crate) struct RemoveOptions {
    /// The attachments
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// All of them
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn remove(options: &RemoveOptions, cli: &mut Cli) -> Result<Status> {
    let named: Vec<_> =
        options.names.iter().map(|name| Component::named("attachment name", name)).collect::<Result<_>>()?;
    let (store, run) = cli.env.run_store(&options.run)?;
    store.refuse_deleted(&run)?;
    let all = if options.all { attachment::names(&store, &run)? } else { named };
    for name in all {
        let removed = attachment::remove(&store, &run, &name)?;
        let receipt = Json::object([("name", Json::string(name.as_str())), ("removed", Json::boolean(removed))]);
        cli.receipt(receipt, &Told::NotWanted);
    }
    Ok(Status::Done)
}

#[derive(Args)]
pub(crate) struct ReindexOptions {
    #[command(flatten)]
    run: HistoryArgs,
}

pub(crate) fn reindex(options: &ReindexOptions, cli: &mut Cli) -> Result<Status> {
    let (store, run) = cli.env.run_store(&options.run)?;
    workspacetrack::run::record::load(&store, &run)?;
    let (count, unreadable, indexed) = attachment::reindex(&store, &run)?;
    let mut status = Status::Done;
    for error in &unreadable {
        status = cli.left_out("an attachment", error);
    }
    let receipt = Json::object([
        ("attachments", Json::integer(i64::try_from(count).unwrap_or(i64::MAX))),
        ("changed", Json::boolean(indexed == Indexed::Changed)),
    ]);
    Ok(worse(cli.receipt(receipt, &Told::NotWanted), status))
}
