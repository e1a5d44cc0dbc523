//! Lists the snapshots of a run.

use std::ops::ControlFlow;
use std::process::ExitCode;

use workspacetrack::cli::args::HistoryArgs;
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::clock;
use workspacetrack::error::Result;
use workspacetrack::history::graph::Graph;
use workspacetrack::history::json;
use workspacetrack::history::log::{Reach, Row, Summary, Which};
use workspacetrack::store::id::SnapshotId;
use workspacetrack::stream::quote;
use workspacetrack::tree::rules::TextGlob;

static PAGE: Page = Page {
    name: "wt-log",
    about: "list the snapshots of a run",
    synopsis: &["[--all] [--graph] [--labels GLOB] [-n N]"],
    description: "Lists the chain of snapshots from the newest one back, each with when it was made, what it holds, and all \
        labels that point to it. With `--all`, also the manifests that the chain does not reach.\n\n\
        A manifest that cannot be read does not end the list: it is marked, the older ones follow by their ids, and the \
        exit code is 3.",
    output: "One line a snapshot: id, time, age, regular files, their bytes, gaps, labels in parentheses. The label under \
        which it was made stands in brackets where it points elsewhere now. `bank` marks a capture that was taken so \
        that a restore can be undone, `unreachable` one that the chain does not lead to. With `--json`, objects with \
        `id`, `parent`, `label`, `labels`, `created_at`, `files`, `bytes`, `gaps`, `bank` and `reachable`, which is null \
        where the chain is broken above; or `id`, `labels`, `reachable` and `unreadable`.",
    exit: &[(0, "done"), (2, "no such run"), (3, "a manifest cannot be read"), (4, "the index is damaged")],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME"],
    examples: &[
        Example { text: "The last three snapshots:", script: "wt-log --run demo -n 3" },
        Example { text: "What can be undone:", script: "wt-log --run demo --labels 'pre-restore:*'" },
    ],
    see_also: &["wt-label(1)", "wt-diff(1)", "wt-ls-manifest(1)", "wt-restore(1)"],
    effect: Effect::Reads,
};

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    history: HistoryArgs,
    /// Also list what the chain does not reach
    #[arg(long)]
    all: bool,
    /// Draw which snapshot follows which
    #[arg(long, conflicts_with_all = ["json", "labels"])]
    graph: bool,
    /// Only snapshots that a label like this points to, or that were made under one
    #[arg(long, value_name = "GLOB")]
    labels: Option<String>,
    /// At most so many
    #[arg(short = 'n', value_name = "N")]
    count_max: Option<u64>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let history = cli.env.history(&args.history)?;
    let index = history.index()?;
    let glob = args.labels.as_deref().map(TextGlob::named).transpose()?;
    let (mut left, mut status) = (args.count_max.unwrap_or(u64::MAX), Status::Done);
    let mut graph = Graph::default();
    let now = clock::now_ns();
    if left == 0 {
        return Ok(status);
    }
    history.log(&index, if args.all { Which::All } else { Which::Chain }, |row| {
        let labels = index.labels_of(&row.id);
        let summary = row.summary.as_ref();
        if let Err(error) = summary {
            status = Status::Partial;
            cli.warn(error);
        }
        let own = summary.ok().and_then(|summary| summary.label.as_deref());
        if glob.as_ref().is_some_and(|glob| !labels.iter().copied().chain(own).any(|label| glob.matches(label))) {
            return ControlFlow::Continue(());
        }
        if cli.json() {
            cli.out.line(&json_line(&row, &labels));
        } else {
            let parent = summary.ok().and_then(|summary| summary.parent.as_ref());
            let (join, mark) = if args.graph { graph.draw(&row.id, parent) } else { (None, String::new()) };
            for line in
                join.into_iter().chain([format!("{mark} {}", text(&row, &labels, now)).trim_start().to_owned()])
            {
                cli.out.line(line.as_bytes());
            }
        }
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(status)
}

fn text(row: &Row, labels: &[&str], now_ns: u64) -> String {
    let mut parts = vec![row.id.to_string()];
    match &row.summary {
        Ok(summary) => {
            let created = clock::parse_rfc3339(&summary.created_at).and_then(|ns| u64::try_from(ns).ok());
            let created_ns = created.unwrap_or_else(|| row.id.unix_ns());
            parts.push(clock::rfc3339(created_ns / 1_000_000_000 * 1_000_000_000));
            parts.push(clock::age(created_ns, now_ns));
            let counts = [(summary.files, "file"), (summary.bytes, "byte"), (summary.gaps, "gap")];
            parts
                .extend(counts.map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" })));
        }
        Err(error) => parts.push(format!("unreadable: {error}")),
    }
    if !labels.is_empty() {
        let shown: Vec<String> = labels.iter().map(|label| quote::masked(label.as_bytes())).collect();
        parts.push(format!("({})", shown.join(", ")));
    }
    if let Ok(summary) = &row.summary {
        if let Some(own) = summary.label.as_deref().filter(|own| !labels.contains(own)) {
            parts.push(format!("[{}]", quote::masked(own.as_bytes())));
        }
        if summary.is_bank() {
            parts.push("bank".into());
        }
    }
    if row.reach == Reach::NotReached {
        parts.push("unreachable".into());
    }
    parts.join("  ")
}

fn json_line(row: &Row, labels: &[&str]) -> Vec<u8> {
    let mut out = vec![b'{'];
    json::push_key(&mut out, "id");
    json::push_string(&mut out, row.id.as_str());
    if let Ok(summary) = &row.summary {
        push_summary(&mut out, summary);
    }
    json::push_key(&mut out, "labels");
    json::push_array(&mut out, labels, |out, label| json::push_string(out, label));
    json::push_key(&mut out, "reachable");
    out.extend_from_slice(match row.reach {
        Reach::Reached => b"true",
        Reach::NotReached => b"false",
        Reach::Unknown => b"null",
    });
    if let Err(error) = &row.summary {
        json::push_key(&mut out, "unreadable");
        json::push_string(&mut out, &error.to_string());
    }
    out.push(b'}');
    out
}

fn push_summary(out: &mut Vec<u8>, summary: &Summary) {
    for (key, value) in
        [("parent", summary.parent.as_ref().map(SnapshotId::as_str)), ("label", summary.label.as_deref())]
    {
        json::push_key(out, key);
        match value {
            Some(value) => json::push_string(out, value),
            None => out.extend_from_slice(b"null"),
        }
    }
    json::push_key(out, "created_at");
    json::push_string(out, &summary.created_at);
    for (key, number) in [("files", summary.files), ("bytes", summary.bytes), ("gaps", summary.gaps)] {
        json::push_key(out, key);
        json::push_number(out, number);
    }
    json::push_key(out, "bank");
    out.extend_from_slice(if summary.is_bank() { b"true" } else { b"false" });
}
