//! `run-events check`: name every damage.

use std::ops::ControlFlow;

use clap::Args;
use serde_json::json;
use workspacetrack::cli::{Cli, Status};
use workspacetrack::error::{Error, Result};
use workspacetrack::run::events::damage::{Damage, Tally, Verdict};
use workspacetrack::run::events::lines::Tail;
use workspacetrack::run::events::scan::{Found, Scan};

use crate::LogArgs;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    log: LogArgs,
}

pub(crate) fn run(options: &Options, cli: &mut Cli) -> Result<Status> {
    cli.out.only_reads();
    let (path, file, run) = options.log.open(cli)?;
    let Some(file) = file else {
        return judge(&Tally::default(), &path, cli);
    };
    let mut scan = Scan::whole(&file).of_run(run.as_str());
    // Nothing here ends the reading early.
    let _ = scan.run(Tail::Emit, |found| {
        if let Found::Damage(damage) = found {
            print(damage, cli);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    judge(scan.tally(), &path, cli)
}

fn print(damage: &Damage, cli: &mut Cli) {
    let line = if cli.json() {
        json!({
            "line": damage.line,
            "offset": damage.offset,
            "bytes": damage.bytes,
            "cause": damage.cause.code(),
            "detail": damage.detail,
        })
        .to_string()
    } else {
        damage.to_string()
    };
    cli.out.line(line.as_bytes());
}

fn judge(tally: &Tally, path: &std::path::Path, cli: &mut Cli) -> Result<Status> {
    let (verdict, word) = match tally.verdict() {
        Verdict::Clean => (Ok(Status::Done), "clean"),
        Verdict::TornOnly => (Ok(Status::Partial), "torn"),
        Verdict::Damaged => (Err("is damaged"), "damaged"),
        Verdict::Corrupt => (Err("is corrupt and must not be taken for the audit of the run"), "corrupt"),
    };
    if cli.json() {
        let summary = json!({
            "verdict": word,
            "events": tally.events,
            "bad": tally.bad,
            "healed": tally.healed,
            "torn_tail": tally.torn_tail,
            "first_seq": tally.first_seq,
            "last_seq": tally.last_seq,
        });
        cli.out.line(json!({ "summary": summary }).to_string().as_bytes());
    } else {
        cli.note(format_args!("{word}, {} events, {} bad lines", tally.events, tally.bad + tally.healed));
    }
    verdict.map_err(|what| {
        Error::damaged(path, what).hint("keep a copy of it; 'run-events cat' prints what can be read")
    })
}
