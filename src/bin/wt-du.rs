//! Says who in a store needs how many bytes.

use std::io::IsTerminal;
use std::process::ExitCode;

use workspacetrack::act::du::{self, By, Census, Pooled};
use workspacetrack::cli::args::{RunArgs, StoreArgs, WorkspaceArgs, parse_size};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::history::json;
use workspacetrack::store::Store;
use workspacetrack::store::id::RunId;
use workspacetrack::stream::quote;

static PAGE: Page = Page {
    name: "wt-du",
    about: "say who in a store needs how many bytes",
    synopsis: &[
        "[--by run | snapshot | dir | file | extension] [--depth N] [--run ID | --all-runs] [--warn-bytes SIZE]",
        "--growth [--run ID]",
        "--retention [--run ID]",
    ],
    description: "Counts the contents that snapshots name, each once. `--by` says what a row stands for; `--run`, or \
        `WT_RUN` unless `--all-runs` is given, counts one run only. What is unique to a row is named by nothing else in the store: that much would be free if only it went.\n\n\
        `--growth` shows what each snapshot of a run's chain brought that none before it had, oldest first, on a terminal \
        with a bar. `--retention` shows what some choices of wt-forget(1) options would free.\n\n\
        Only the contents of files of workspaces are counted, not manifests, events and other documents of a run; \
        `du -sh STORE/runs/*` shows the space of those on the disk, and `du -sh STORE` that of all.\n\n\
        On standard error it says how much all rows name together, what the pool holds and what wt-prune(1) without grace would remove. Nothing is changed.",
    output: "Lines of TOTAL, UNIQUE, SHARED and NAME, the largest first, on a terminal below a line that says so; with `--growth` of BYTES, ID and own label; with \
        `--retention` of BYTES, SNAPSHOTS and options; separated by tabs, in bytes. With `--json` objects with the same \
        members, and at the end one with `pool`.",
    exit: &[
        (0, "done"),
        (2, "no such run"),
        (3, "done, but a manifest could not be read"),
        (4, "the index is damaged"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME"],
    examples: &[
        Example { text: "The largest files of a run:", script: "wt-du --run demo --by file | head" },
        Example { text: "What forgetting would free:", script: "wt-du --run demo --retention" },
    ],
    see_also: &["wt-prune(1)", "wt-forget(1)", "wt-log(1)"],
    effect: Effect::Reads,
};

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Rows {
    Run,
    Snapshot,
    Dir,
    File,
    Extension,
}

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    run: RunArgs,
    /// Count all runs of the store, also where `WT_RUN` names one
    #[arg(long, conflicts_with_all = ["run", "growth", "retention"])]
    all_runs: bool,
    /// What a row stands for
    #[arg(long, value_enum, default_value = "run", conflicts_with_all = ["growth", "retention"])]
    by: Rows,
    /// With --by dir: how many components deep [default: 1]
    #[arg(long, value_name = "N", conflicts_with_all = ["growth", "retention"])]
    depth: Option<usize>,
    /// What each snapshot brought
    #[arg(long, conflicts_with_all = ["retention", "warn_bytes"])]
    growth: bool,
    /// What some ways to forget would free
    #[arg(long)]
    retention: bool,
    /// Warn if the pool holds more than this; K, M and G are understood
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    warn_bytes: Option<u64>,
}

/// Width of the longest bar, columns.
const BAR_WIDTH: u64 = 40;

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    if args.depth.is_some() && !matches!(args.by, Rows::Dir) {
        return Err(Error::usage("--depth is of use only together with --by dir").hint("add that, or leave it out"));
    }
    let store = cli.env.store(&args.store, &cli.env.workspace_path(&args.workspace))?;
    if args.growth {
        let steps = du::growth(&store, &cli.env.run(&args.run)?)?;
        let largest = steps.iter().map(|(_, _, bytes)| *bytes).max().unwrap_or(0).max(1);
        let shows_bar = std::io::stdout().is_terminal();
        for (id, own, bytes) in steps {
            let bar = usize::try_from(bytes.saturating_mul(BAR_WIDTH).div_ceil(largest)).unwrap_or(0);
            let own = own.unwrap_or_else(|| "-".into());
            let mut name = quote::c_quote(own.as_bytes()).into_owned();
            if shows_bar {
                name.extend_from_slice(format!("\t{}", "#".repeat(bar)).as_bytes());
            }
            let shown = if cli.json() { own.as_bytes() } else { &name };
            write(cli, &[("bytes", bytes)], &[("id", id.as_str().as_bytes()), ("label", shown)]);
        }
        return Ok(Status::Done);
    }
    let census = Census::take(&store)?;
    let run = if args.all_runs { None } else { cli.env.run_if_named(&args.run)? };
    if args.retention {
        for choice in du::choices(&store, &cli.env.run(&args.run)?, &census)? {
            let numbers = [("bytes", choice.bytes), ("snapshots", choice.snapshots as u64)];
            write(cli, &numbers, &[("options", choice.options.as_bytes())]);
        }
    } else {
        let by = match args.by {
            Rows::Run => By::Run,
            Rows::Snapshot => By::Snapshot,
            Rows::Dir => By::Dir(args.depth.unwrap_or(1)),
            Rows::File => By::File,
            Rows::Extension => By::Extension,
        };
        if cli.is_terminal() && !cli.json() {
            cli.out.line(b"TOTAL\tUNIQUE\tSHARED\tNAME");
        }
        for row in du::rows(&store, run.as_ref(), &census, by)? {
            let name = if cli.json() { row.name.clone() } else { quote::c_quote(&row.name).into_owned() };
            let numbers = [("total", row.total), ("unique", row.unique), ("shared", row.shared())];
            write(cli, &numbers, &[("name", &name)]);
        }
        tell_total(cli, &store, run.as_ref(), &census)?;
    }
    tell_pool(cli, census.pooled(&store)?, args.warn_bytes);
    for error in &census.unread {
        cli.warn(error);
    }
    Ok(if census.unread.is_empty() { Status::Done } else { Status::Partial })
}

fn write(cli: &mut Cli, numbers: &[(&str, u64)], texts: &[(&str, &[u8])]) {
    if cli.json() {
        let mut line = vec![b'{'];
        for (key, number) in numbers {
            json::push_key(&mut line, key);
            json::push_number(&mut line, number);
        }
        for (key, text) in texts {
            json::push_display_name(&mut line, key, text);
        }
        line.push(b'}');
        return cli.out.line(&line);
    }
    let fields: Vec<Vec<u8>> = numbers
        .iter()
        .map(|(_, number)| number.to_string().into_bytes())
        .chain(texts.iter().map(|(_, text)| text.to_vec()))
        .collect();
    cli.out.line(&fields.join(&b'\t'));
}

/// Rows share contents, so their totals add up to more than there is.
fn tell_total(cli: &Cli, store: &Store, run: Option<&RunId>, census: &Census) -> Result<()> {
    let (of, bytes) = match run {
        Some(run) => {
            let rows = du::rows(store, Some(run), census, By::Run)?;
            let hint = if cli.env.get("WT_RUN").is_some() { "; --all-runs counts the whole store" } else { "" };
            (format!("run {}{hint}", quote::name(run.as_str().as_bytes())), rows.iter().map(|row| row.total).sum())
        }
        None => ("all runs of the store".to_owned(), census.total()),
    };
    cli.note(format!("{bytes} bytes of contents in all, each counted once, in {of}"));
    Ok(())
}

fn tell_pool(cli: &mut Cli, pool: Pooled, limit: Option<u64>) {
    let Pooled { objects, bytes, unneeded_objects, unneeded_bytes } = pool;
    cli.note(format!(
        "the pool holds {bytes} bytes in {objects} objects; prune without grace would remove {unneeded_bytes} in {unneeded_objects}"
    ));
    if limit.is_some_and(|limit| bytes > limit) {
        cli.warn(format!(
            "the pool holds {bytes} bytes, more than {}; see 'wt-du --retention' and wt-forget",
            limit.unwrap_or_default()
        ));
    }
    if cli.json() {
        let mut line = b"{\"pool\":{".to_vec();
        for (key, number) in [
            ("objects", objects),
            ("bytes", bytes),
            ("unneeded_objects", unneeded_objects),
            ("unneeded_bytes", unneeded_bytes),
        ] {
            json::push_key(&mut line, key);
            json::push_number(&mut line, number);
        }
        line.extend_from_slice(b"}}");
        cli.out.line(&line);
    }
}
