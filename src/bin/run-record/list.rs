//! `run-record list`: the runs of a store.

use clap::Args;
use workspacetrack::cli::args::{StoreArgs, WorkspaceArgs};
use workspacetrack::cli::{Cli, Status};
use workspacetrack::clock;
use workspacetrack::error::{Error, Result};
use workspacetrack::run::json::Json;
use workspacetrack::run::record::list::{self, Entry, Query};
use workspacetrack::run::record::revision;
use workspacetrack::stream::quote;

use crate::shared;

#[derive(Args)]
pub(crate) struct Options {
    /// Only those in one of these statuses
    #[arg(long, value_name = "STATUS,...", value_delimiter = ',')]
    status: Option<Vec<String>>,
    /// Only children of this run
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Only those that this issue triggered
    #[arg(long, value_name = "ID")]
    issue: Option<String>,
    /// Only those that this schedule triggered
    #[arg(long, value_name = "ID")]
    schedule: Option<String>,
    /// Print ids only
    #[arg(long, conflicts_with = "json")]
    ids: bool,
    /// The newest first, by creation; what cannot be read comes before all
    #[arg(long)]
    newest: bool,
    /// Only the first N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

/// Members of the document in a row of JSON.
const ROW: [&str; 15] = [
    "name",
    "status",
    "workflow_name",
    "created_at",
    "updated_at",
    "finished_at",
    "error",
    "failure_code",
    "end_reason",
    "outcome_seq",
    "continuation_state",
    "parent_run_id",
    "parent_node_id",
    "source",
    "delegation",
];

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let store = cli.env.store(&options.store, &cli.env.workspace_path(&options.workspace))?;
    let query = Query {
        statuses: options.status.as_deref().map(shared::statuses).transpose()?,
        parent: options.parent.clone(),
        issue: options.issue.clone(),
        schedule: options.schedule.clone(),
    };
    let mut entries = list::runs(&store, &query)?;
    cli.note_missing(&store);
    if options.newest {
        list::sort_by_creation(&mut entries);
        entries.reverse();
    }
    entries.truncate(options.limit.unwrap_or(usize::MAX));
    let mut status = Status::Done;
    for entry in &entries {
        if let Err(error) = &entry.document {
            cli.warn(format_args!("run {} cannot be read: {error}", quote::name(entry.id.as_bytes())));
            status = Status::Partial;
        }
    }
    if cli.json() {
        entries.iter().for_each(|entry| cli.out.line(row(entry).compact().as_bytes()));
    } else if options.ids {
        entries.iter().filter(|entry| entry.document.is_ok()).for_each(|entry| cli.out.line(entry.id.as_bytes()));
    } else {
        table(&entries, cli);
    }
    Ok(status)
}

fn row(entry: &Entry) -> Json {
    let mut row = Json::object([("id", Json::string(&entry.id))]);
    match &entry.document {
        Ok(run) => {
            for key in ROW {
                if let Some(value) = run.get(key) {
                    row.set(key, value.clone());
                }
            }
            row.set("revision", Json::integer(revision(run)));
        }
        Err(error) => row.set("damage", Json::string(&error.to_string())),
    }
    row
}

fn table(entries: &[Entry], cli: &mut Cli) {
    let now_ns = clock::now_ns();
    let mut rows = vec![["ID", "STATUS", "UPDATED", "WORKFLOW", "NAME", "WHY"].map(str::to_owned)];
    rows.extend(entries.iter().map(|entry| cells(entry, now_ns)));
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..6).map(width).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        cli.out.line(line.trim_end().as_bytes());
    }
}

fn cells(entry: &Entry, now_ns: u64) -> [String; 6] {
    let shown = |text: &str| quote::masked(text.as_bytes());
    let run = match &entry.document {
        Ok(run) => run,
        Err(error) => {
            let nothing = || "-".to_owned();
            return [shown(&entry.id), "damaged".into(), nothing(), nothing(), nothing(), first_line(error)];
        }
    };
    let updated = clock::parse_rfc3339(&run.text_of("updated_at"))
        .and_then(|ns| u64::try_from(ns).ok())
        .map_or_else(|| "-".to_owned(), |ns| clock::age(ns, now_ns));
    let why = [run.text_of("failure_code"), run.text_of("end_reason"), run.text_of("error")];
    let why = why.iter().filter(|text| !text.is_empty()).map(|text| shown(text)).collect::<Vec<_>>().join(": ");
    [
        shown(&entry.id),
        shown(&run.text_of("status")),
        updated,
        shown(&run.text_of("workflow_name")),
        shown(&run.text_of("name")),
        why.chars().take(100).collect(),
    ]
}

fn first_line(error: &Error) -> String {
    error.to_string().chars().take(160).collect()
}
