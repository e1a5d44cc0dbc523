//! Takes a secret out of all history.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use workspacetrack::act::purge::{self, Plan, Secret};
use workspacetrack::cli::args::{EngineArgs, RunArgs, StoreArgs, WorkspaceArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::history::json;
use workspacetrack::stream::quote;

static PAGE: Page = Page {
    name: "wt-purge",
    about: "take a secret out of all history",
    synopsis: &["--dry-run [--run ID] PATH | OID", "--yes [--run ID] PATH | OID"],
    description: "In every snapshot of every run, or of the run that is named, each entry at PATH or below it, or with the content \
        OID, becomes a gap with the reason `purged`. Pins and the stat cache forget it, and its objects are removed at once, \
        whatever their age. An object that something else still names stays, and is named: purge it by its id to take it \
        out everywhere. `./` before an argument makes it a path.\n\n\
        Nothing brings it back, so nothing is done without `--yes`. The file in the workspace stays: the next capture takes \
        it again unless it is ignored or gone; the lines to add to the ignore file are told on standard error, as they are to be \
        written: a byte that cannot be shown stands there as `?`, which matches any.",
    output: "A line `gap RUN ID PATH` for each entry, `remove OID SIZE` for each object, and `keep OID PATH` for each one that \
        the document at PATH still names. With `--json`, objects with `action`.",
    exit: &[
        (0, "done"),
        (2, "nothing has that path or content, or no such run"),
        (3, "done, but an object stays because something else names it"),
        (4, "a manifest or pin cannot be read; nothing was changed"),
        (5, "--yes was not given, or the content is named where it cannot be taken out; nothing was changed"),
        (6, "an engine is at work, or a lock was not had in time"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "WT_RUN", "ITERION_HOME", "WT_FSYNC", "WT_LOCK_WAIT"],
    examples: &[Example {
        text: "A key that was captured before it was ignored:",
        script: "echo secret > key.pem\nwt-capture --run demo oops\necho key.pem >> .gitignore\n\
            wt-purge --dry-run key.pem\nwt-purge --yes key.pem",
    }],
    see_also: &["wt-forget(1)", "wt-prune(1)", "wt-check-ignore(1)"],
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
    #[arg(short = 'n', long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do it: nothing brings it back
    #[arg(long)]
    yes: bool,
    /// A path relative to the workspace, or an object id
    #[arg(value_name = "PATH|OID")]
    secret: OsString,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    let store = cli.env.store(&args.store, &cli.env.workspace_path(&args.workspace))?;
    let run = cli.env.run_if_named(&args.run)?;
    let plan = purge::plan(&store, Secret::named(args.secret.as_bytes())?, run.as_ref())?;
    write_plan(cli, &plan);
    for path in plan.paths() {
        cli.note(format!(
            "to keep it out, add to .iterionignore, or to .gitignore if there is none: {}",
            purge::ignore_line(path)
        ));
    }
    let mut status = if plan.shared.is_empty() { Status::Done } else { Status::Partial };
    if args.dry_run {
        return Ok(status);
    }
    if !args.yes {
        return Err(Error::refused("nothing brings back what is purged, and nothing was changed")
            .hint("give --yes to do what was listed"));
    }
    let entries = plan.touched.len();
    let report = plan.carry_out(args.engine.while_running)?;
    for id in &report.left {
        cli.warn(format!("object {id} stays: it was captured again meanwhile; ignore it and purge again"));
        status = Status::Partial;
    }
    cli.note(format!("{entries} entries are gaps now, {} objects are gone", report.removed.len()));
    Ok(status)
}

fn write_plan(cli: &mut Cli, plan: &Plan<'_>) {
    for touched in &plan.touched {
        let (run, id) = (touched.run.as_str().as_bytes(), touched.snapshot.as_str().as_bytes());
        write(cli, "gap", &[("run", run), ("id", id), ("path", touched.path.as_bytes())], None);
    }
    for (id, size) in &plan.doomed {
        write(cli, "remove", &[("oid", &id.hex())], Some(*size));
    }
    for (id, path) in &plan.shared {
        write(cli, "keep", &[("oid", &id.hex()), ("path", path.as_os_str().as_bytes())], None);
    }
}

fn write(cli: &mut Cli, action: &str, members: &[(&str, &[u8])], size: Option<u64>) {
    if cli.json() {
        let mut line = b"{\"action\":".to_vec();
        json::push_string(&mut line, action);
        for (key, text) in members {
            json::push_display_name(&mut line, key, text);
        }
        if let Some(size) = size {
            json::push_key(&mut line, "size");
            json::push_number(&mut line, size);
        }
        line.push(b'}');
        return cli.out.line(&line);
    }
    let mut fields = vec![action.as_bytes().to_vec()];
    fields.extend(members.iter().map(|(_, text)| quote::c_quote(text).into_owned()));
    fields.extend(size.map(|size| size.to_string().into_bytes()));
    cli.out.line(&fields.join(&b' '));
}
