//! Removes snapshots from a run's history.

use std::process::ExitCode;
use std::time::Duration;

use workspacetrack::act::forget::{self, Gone, Intent, Policy, Request};
use workspacetrack::cli::args::{EngineArgs, RunArgs, StoreArgs, WorkspaceArgs, parse_duration, parse_size};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::history::{History, json};
use workspacetrack::stream::quote;
use workspacetrack::tree::rules::TextGlob;

static PAGE: Page = Page {
    name: "wt-forget",
    about: "remove snapshots from a run's history",
    synopsis: &[
        "[-n] [--drop-labels GLOB]... SNAPSHOT...",
        "[-n] [--keep-last N] [--keep-within AGE] [--keep-labels GLOB]... [--keep-gates] [--drop-labels GLOB]...",
        "[-n] (--max-bytes | --store-max-bytes) SIZE [--keep-last N] [--keep-within AGE] [--keep-labels GLOB]... [--drop-labels GLOB]...",
        "[-n] --drop-labels GLOB...",
    ],
    description: "Removes snapshots and their pins; wt-prune(1) then removes the objects that nothing names any more. The \
        snapshots that stay keep their own labels and get the next older one as parent. That is written before anything is removed: where not a byte is free, free some with \
        wt-prune(1), run-delete(1) or run-prune(1) first, which need none.\n\n\
        Either the snapshots are named, and all of them go or none; or the `--keep` options say which stay, each adding to \
        them, and the others go as far as they may; or `--max-bytes` drops the oldest, up to the first that the `--keep` \
        options or a label protect, until the files of the rest take no more than that, with \
        `--store-max-bytes` over all runs of the store; or `--drop-labels` alone chooses what the labels name.\n\n\
        The newest snapshot always stays, and so does one that a label names, unless `--drop-labels` matches all its labels or \
        it was named by its only one; those labels go with it. What authorship says of the rest stays true: the oldest \
        snapshots may go as a whole, but of those between two that stay no boundary goes, and no bank that alone shows that \
        the run had stopped.",
    output: "A line `forget ID LABEL` for each snapshot that goes, newest first, with its own label or `-`, followed by a line \
        `unlabel LABEL` for each label that goes with it. `--dry-run` prints the same lines. With `-v` what stays against the policy, on \
        standard error. With `--json`, objects with `action` (`forget`, `unlabel`, `keep`).",
    exit: &[
        (0, "done"),
        (2, "no such run or snapshot, or nothing says which snapshots are to go"),
        (3, "done, but the rest takes more than --max-bytes"),
        (4, "a manifest or the index is damaged; nothing was changed"),
        (5, "a snapshot that was named must stay; nothing was changed"),
        (6, "an engine is at work, or a lock was not had in time"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME", "WT_FSYNC", "WT_LOCK_WAIT"],
    examples: &[
        Example { text: "Drop all banks:", script: "wt-forget --run demo --drop-labels 'rewind-backup:*'" },
        Example {
            text: "Keep the last 20, all gates, and what somebody labelled:",
            script: "wt-forget --run demo --keep-last 20 --keep-gates --drop-labels 'p[ro]*:*:*'",
        },
    ],
    see_also: &["wt-prune(1)", "wt-du(1)", "wt-log(1)", "wt-purge(1)"],
    effect: Effect::Changes,
};

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// Say what would go and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Keep the newest N snapshots
    #[arg(long, value_name = "N")]
    keep_last: Option<usize>,
    /// Keep what was made within this time; s, m, h and d are understood
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    keep_within: Option<Duration>,
    /// Keep what a matching label names or was made under; may be given more than once
    #[arg(long, value_name = "GLOB")]
    keep_labels: Vec<String>,
    /// Keep what a gate names or was made at
    #[arg(long)]
    keep_gates: bool,
    /// Labels that match protect nothing and go with their snapshot; may be given more than once
    #[arg(long, value_name = "GLOB")]
    drop_labels: Vec<String>,
    /// Drop the oldest until the files of the rest take no more than this; K, M and G are understood
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_bytes: Option<u64>,
    /// The same over all runs of the store
    #[arg(long, value_name = "SIZE", value_parser = parse_size, conflicts_with_all = ["max_bytes", "snapshots", "run"])]
    store_max_bytes: Option<u64>,
    /// HEAD~n, an id, a label, or the beginning of an id
    #[arg(value_name = "SNAPSHOT")]
    snapshots: Vec<String>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let store = cli.env.store(&args.store, &cli.env.workspace_path(&args.workspace))?;
    let globs =
        |patterns: &[String]| patterns.iter().map(|pattern| TextGlob::named(pattern)).collect::<Result<Vec<_>>>();
    let request = Request {
        named: args.snapshots.clone(),
        policy: Policy {
            last: args.keep_last,
            within: args.keep_within,
            labels: globs(&args.keep_labels)?,
            gates: args.keep_gates,
        },
        drop_labels: globs(&args.drop_labels)?,
        bytes_max: args.max_bytes,
    };
    let Some(limit) = args.store_max_bytes else {
        let history = History::new(&store, cli.env.run(&args.run)?);
        return forget(cli, &args, &history, &request);
    };
    let across = forget::across(&store, &request, limit)?;
    for (run, ids) in across.runs {
        let named = ids.iter().map(ToString::to_string).collect();
        let request = Request { named, drop_labels: globs(&args.drop_labels)?, ..Request::default() };
        cli.note(format!("run '{run}':"));
        forget(cli, &args, &History::new(&store, run), &request)?;
    }
    Ok(tell_rest(cli, across.still_bytes, limit))
}

fn forget(cli: &mut Cli, args: &Args, history: &History, request: &Request) -> Result<Status> {
    let while_running = args.engine.while_running;
    let intent = if args.dry_run { Intent::Look } else { Intent::Change { while_running } };
    let plan = forget::plan(history, request, intent)?;
    let status = tell_rest(cli, plan.still_bytes, args.max_bytes.unwrap_or_default());
    let (gone, kept, left) = (plan.gone.len(), plan.kept.len(), plan.left);
    for kept in &plan.kept {
        if cli.json() {
            write(cli, "keep", kept.id.as_str(), [("reason", Some(&kept.reason))], None);
        } else if cli.verbose() {
            cli.note(format!("{} stays: {}", kept.id, kept.reason));
        }
    }
    if args.dry_run {
        for gone in &plan.gone {
            write_gone(cli, gone);
        }
    } else {
        plan.carry_out(&mut |gone| write_gone(cli, gone))?;
    }
    let verb = if args.dry_run { "would forget" } else { "forgot" };
    cli.note(format!("{verb} {gone} snapshots, {left} are left; {kept} stay against the policy"));
    Ok(status)
}

fn tell_rest(cli: &Cli, still_bytes: Option<u64>, limit: u64) -> Status {
    let Some(bytes) = still_bytes else { return Status::Done };
    cli.warn(format!(
        "what stays takes {bytes} bytes, more than {limit}: the newest snapshot stays, and so does what a label or policy protects"
    ));
    Status::Partial
}

fn write_gone(cli: &mut Cli, gone: &Gone) {
    let own = gone.own.as_deref();
    write(cli, "forget", gone.id.as_str(), [("label", own)], own.or(Some("-")));
    for label in &gone.labels {
        write(cli, "unlabel", label, [], None);
    }
}

fn write<const N: usize>(
    cli: &mut Cli,
    action: &str,
    subject: &str,
    members: [(&str, Option<&str>); N],
    second: Option<&str>,
) {
    if cli.json() {
        let mut line = vec![b'{'];
        json::push_key(&mut line, "action");
        json::push_string(&mut line, action);
        json::push_key(&mut line, if action == "unlabel" { "label" } else { "id" });
        json::push_string(&mut line, subject);
        for (key, text) in members {
            if let Some(text) = text {
                json::push_key(&mut line, key);
                json::push_string(&mut line, text);
            }
        }
        line.push(b'}');
        cli.out.line(&line);
        return;
    }
    let mut line = format!("{action} ").into_bytes();
    line.extend_from_slice(&quote::c_quote(subject.as_bytes()));
    if let Some(second) = second {
        line.push(b' ');
        line.extend_from_slice(&quote::c_quote(second.as_bytes()));
    }
    cli.out.line(&line);
}
