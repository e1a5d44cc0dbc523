//! `run-reconcile`: ends the episodes of runs that nobody executes any more.

mod page;

use std::collections::{HashMap, HashSet};
use std::process::ExitCode;
use std::time::Duration;

use workspacetrack::cli::args::{HistoryArgs, parse_duration, parse_go_duration};
use workspacetrack::cli::signals::{Caught, STOPPING};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::{Error, IoContext, Kind, Result};
use workspacetrack::run::json::Json;
use workspacetrack::run::liveness::{LockIs, Rules, Verdict, judge};
use workspacetrack::run::reconcile::{self, Done};
use workspacetrack::run::roster::{self, Entry};
use workspacetrack::store::Store;
use workspacetrack::store::id::RunId;
use workspacetrack::stream::quote;

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    run: HistoryArgs,
    /// Look at all runs of the store
    #[arg(long, conflicts_with = "run")]
    all: bool,
    /// Say what would be done and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Leave runs alone that began, or had an event, within this time; s, m, h and d are understood [default: 2m]
    #[arg(long, value_name = "AGE", value_parser = parse_duration, default_value = "2m", hide_default_value = true)]
    grace: Duration,
    /// Look again after every INTERVAL [default: `$ITERION_ORPHAN_RECONCILE_INTERVAL`, else 60s]
    #[arg(long, value_name = "INTERVAL", num_args = 0..=1, default_missing_value = "")]
    watch: Option<String>,
    /// Take a free lock on a network file system for free
    #[arg(long)]
    trust_locks: bool,
}

/// How often a watch looks unless it is told.
const INTERVAL: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    cli::main(&page::PAGE, run)
}

fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    if args.dry_run {
        cli.out.only_reads();
    }
    let store = cli.env.store(&args.run.store, &cli.env.workspace_path(&args.run.workspace))?;
    let named = if args.all { None } else { Some(one_run(&args, cli)?) };
    let rules = Rules { grace: args.grace, trust_network: args.trust_locks };
    let mut scan =
        Scan { store: &store, rules, dry_run: args.dry_run, known: HashMap::new(), foreign: HashSet::new() };
    let Some(asked) = &args.watch else {
        return match &named {
            Some(run) => scan.one(run, cli),
            None => scan.all(cli, &|| false),
        };
    };
    let Some(interval) = interval(asked, cli)? else {
        cli.note("the interval is 0: looking once");
        return scan.all_or_one(named.as_ref(), cli, &|| false);
    };
    let caught = Caught::once(&STOPPING).on("cannot wait for", "signals")?;
    loop {
        let stop = std::cell::Cell::new(false);
        let is_told = || {
            stop.set(stop.get() || !caught.take().is_empty());
            stop.get()
        };
        // What is wrong with a run was said; the others are looked after all the same.
        scan.all_or_one(named.as_ref(), cli, &is_told)?;
        cli.out.flush();
        if stop.get() || caught.wait(interval).is_some() {
            return Ok(Status::Done);
        }
    }
}

fn one_run(args: &Args, cli: &Cli) -> Result<RunId> {
    cli.env.run_if_named(&args.run.run)?.ok_or_else(|| {
        Error::usage("no run is named").hint("name it with --run or WT_RUN, or take all of them with --all")
    })
}

/// How often to look; `None` where that is switched off. What the environment says and cannot be understood counts for nothing.
fn interval(asked: &str, cli: &Cli) -> Result<Option<Duration>> {
    let interval = if asked.is_empty() {
        let text = cli.env.get("ITERION_ORPHAN_RECONCILE_INTERVAL");
        let text = text.as_ref().and_then(|text| text.to_str());
        text.map_or(Some(INTERVAL), |text| parse_go_duration(text.trim()).unwrap_or(Some(INTERVAL)))
    } else {
        parse_go_duration(asked)
            .map_err(|why| Error::usage(format!("--watch {}: {why}", quote::name(asked.as_bytes()))))?
    };
    Ok(interval.filter(|interval| !interval.is_zero()))
}

/// Looking at runs, once or again and again.
struct Scan<'a> {
    store: &'a Store,
    rules: Rules,
    dry_run: bool,
    /// What was last said of each run; a watch says it once.
    known: HashMap<RunId, String>,
    /// What was said to be no run.
    foreign: HashSet<String>,
}

impl Scan<'_> {
    fn all_or_one(&mut self, named: Option<&RunId>, cli: &mut Cli, is_told: &dyn Fn() -> bool) -> Result<Status> {
        let Some(run) = named else { return self.all(cli, is_told) };
        let done = self.one(run, cli);
        is_told();
        let Err(error) = done else { return done };
        let text = error.to_string();
        if self.known.insert(run.clone(), text.clone()) != Some(text) {
            cli.warn(error);
        }
        Ok(Status::Partial)
    }

    fn all(&mut self, cli: &mut Cli, is_told: &dyn Fn() -> bool) -> Result<Status> {
        let mut status = Status::Done;
        let (mut orphans, mut running) = (0, 0);
        for entry in roster::list(self.store)? {
            if is_told() {
                break;
            }
            let run = match entry {
                Entry::Run(run) => run,
                Entry::Bare(_) | Entry::Deleted(_) => continue,
                Entry::Foreign(name) => {
                    status = Status::Partial;
                    let name = quote::name(name.as_encoded_bytes());
                    if self.foreign.insert(name.clone()) {
                        cli.warn(format!("run {name} is left alone: its name is no run id"));
                    }
                    continue;
                }
                Entry::Unreachable(name, error) => {
                    status = Status::Partial;
                    let name = quote::name(name.as_encoded_bytes());
                    if self.foreign.insert(name.clone()) {
                        cli.warn(format!("run {name} is left alone: {error}"));
                    }
                    continue;
                }
            };
            match self.look(&run) {
                Ok((Verdict::Idle(_), None)) if !cli.verbose() => {
                    self.known.remove(&run);
                }
                Ok((verdict, done)) => {
                    running += usize::from(!matches!(verdict, Verdict::Idle(_)));
                    orphans += usize::from(verdict == Verdict::Orphaned);
                    self.say(&run, &verdict, done.as_ref(), cli);
                }
                // It was deleted in between.
                Err(error) if error.kind() == Kind::NotFound => {}
                Err(error) => {
                    status = Status::Partial;
                    let text = error.to_string();
                    if self.known.insert(run.clone(), text.clone()) != Some(text) {
                        cli.warn(error.while_doing(format!("run {}", quote::name(run.as_str().as_bytes()))));
                    }
                }
            }
        }
        if orphans > 0 {
            let verb = if self.dry_run { "would be" } else { "are now" };
            cli.note(format!("{orphans} of {running} runs that say they are running {verb} failed_resumable"));
        }
        Ok(status)
    }

    fn one(&mut self, run: &RunId, cli: &mut Cli) -> Result<Status> {
        let (verdict, done) = self.look(run)?;
        self.say(run, &verdict, done.as_ref(), cli);
        Ok(Status::Done)
    }

    fn look(&self, run: &RunId) -> Result<(Verdict, Option<Done>)> {
        if self.dry_run {
            return Ok((judge(self.store, run, self.rules, LockIs::Unknown)?, None));
        }
        reconcile::settle(self.store, run, self.rules).map(|settled| (settled.verdict, settled.done))
    }

    fn say(&mut self, run: &RunId, verdict: &Verdict, done: Option<&Done>, cli: &mut Cli) {
        let (word, detail) = verdict.words();
        // How young it is changes all the time, and who holds a lock cannot be seen while it changes hands.
        let is_steady = !matches!(verdict, Verdict::Young(_) | Verdict::Live(_));
        let what = if is_steady { format!("{word} {detail}") } else { word.to_owned() };
        if self.known.insert(run.clone(), what.clone()) == Some(what) {
            return;
        }
        if !cli.json() {
            cli.out.line(format!("{word}\t{run}\t{detail}").as_bytes());
            return;
        }
        let mut line = Json::object([
            ("run", Json::string(run.as_str())),
            ("verdict", Json::string(word)),
            ("detail", Json::string(&detail)),
        ]);
        if *verdict == Verdict::Orphaned {
            line.set("done", Json::boolean(done.is_some()));
        }
        if let Some(done) = done {
            line.set("outcome_seq", Json::integer(done.outcome_seq));
            let seq = done.event_seq.and_then(|seq| i64::try_from(seq).ok());
            line.set("event_seq", seq.map_or_else(Json::null, Json::integer));
            line.set("cas_version", Json::integer(done.revision));
        }
        cli.out.line(line.compact().as_bytes());
    }
}
