//! What a rewind says of itself: lines or objects on standard output, sentences on standard error.

use workspacetrack::act::restore::Report;
use workspacetrack::act::rewind::Prepared;
use workspacetrack::act::rewind::event::Told;
use workspacetrack::cli::Cli;
use workspacetrack::history::json;
use workspacetrack::run::status::Status;
use workspacetrack::store::id::{RunId, SnapshotId};
use workspacetrack::store::relpath::RelPathBuf;
use workspacetrack::stream::quote;

use crate::{Args, common_options};

pub(crate) fn item(args: &Args, cli: &mut Cli, word: &str, path: &[u8]) {
    let framing = args.zero.framing();
    let mut item = format!("{word}\t").into_bytes();
    item.extend_from_slice(&framing.encode(path));
    cli.out.item(&item, framing.end());
}

pub(crate) fn print(args: &Args, cli: &mut Cli, report: Option<&Report>, told: &Told<'_>, undo: Option<&str>) {
    for line in report.iter().flat_map(|report| &report.lines) {
        if cli.json() {
            cli.out.line(&line.to_json());
        } else {
            item(args, cli, &line.action.to_string(), &line.shown_path());
        }
    }
    let findings = told.findings;
    if cli.json() {
        cli.out.line(&summary(args, report, told, undo));
        return;
    }
    for (word, paths) in [
        ("overwritten", &findings.overwritten),
        ("left", &findings.left),
        ("overlap", &findings.overlap),
        ("undecided", &findings.undecided),
    ] {
        for path in paths {
            item(args, cli, word, path.as_bytes());
        }
    }
    for shared in &findings.shared {
        item(args, cli, &format!("shared:{}", shared.run), shared.path.as_bytes());
    }
    for gap in findings.gaps.values() {
        let mut name = gap.path.as_bytes().to_vec();
        if gap.hides_subtree {
            name.push(b'/');
        }
        item(args, cli, &format!("gap:{}", gap.reason.as_str()), &name);
    }
}

/// Whether the workspace is another one than before.
pub(crate) fn has_changed(report: &Report) -> bool {
    let counts = report.counts();
    counts.written + counts.deleted + counts.chmodded > 0
}

/// The last object: the members are those of the original, and what it does not tell.
fn summary(args: &Args, report: Option<&Report>, told: &Told<'_>, undo: Option<&str>) -> Vec<u8> {
    let findings = told.findings;
    let mut out = b"{\"rewind\":{".to_vec();
    let truth = |out: &mut Vec<u8>, key: &str, truth: bool| {
        json::push_key(out, key);
        out.extend_from_slice(if truth { b"true" } else { b"false" });
    };
    truth(&mut out, "reverted", told.skip_reason.is_none());
    truth(&mut out, "dry_run", args.dry_run);
    for (key, text) in [
        ("node", Some(told.to_node)),
        ("scope", Some(told.extent.as_str())),
        ("ref", Some(told.target.as_str())),
        ("backup_ref", told.bank.map(SnapshotId::as_str)),
        ("skip_reason", told.skip_reason),
        ("undo", undo),
    ] {
        if let Some(text) = text {
            json::push_key(&mut out, key);
            json::push_string(&mut out, text);
        }
    }
    if let Some(count) = findings.scope_count {
        json::push_key(&mut out, "scope_count");
        json::push_number(&mut out, count);
    }
    if let Some(counts) = report.map(Report::counts) {
        for (key, count) in [
            ("written", counts.written),
            ("deleted", counts.deleted),
            ("chmodded", counts.chmodded),
            ("kept", counts.kept),
        ] {
            json::push_key(&mut out, key);
            json::push_number(&mut out, count);
        }
    }
    for (key, paths) in [
        ("overwritten", &findings.overwritten),
        ("left_in_place", &findings.left),
        ("overlap", &findings.overlap),
        ("undecided", &findings.undecided),
    ] {
        json::push_key(&mut out, &format!("{key}_count"));
        json::push_number(&mut out, paths.len());
        json::push_key(&mut out, key);
        json::push_array(&mut out, paths, push_path);
    }
    json::push_key(&mut out, "shared");
    json::push_array(&mut out, &findings.shared, |out, shared| {
        out.push(b'{');
        json::push_display_name(out, "path", shared.path.as_bytes());
        json::push_key(out, "run");
        json::push_string(out, &shared.run);
        out.push(b'}');
    });
    json::push_key(&mut out, "gaps");
    json::push_array(&mut out, findings.gaps.values(), |out, gap| {
        out.push(b'{');
        json::push_display_name(out, "path", gap.path.as_bytes());
        json::push_key(out, "reason");
        json::push_string(out, gap.reason.as_str());
        out.push(b'}');
    });
    out.extend_from_slice(b"}}");
    out
}

fn push_path(out: &mut Vec<u8>, path: &RelPathBuf) {
    out.push(b'{');
    json::push_display_name(out, "path", path.as_bytes());
    out.push(b'}');
}

/// Says in words what a person must know.
pub(crate) fn explain(
    args: &Args,
    cli: &Cli,
    report: Option<&Report>,
    prepared: &Prepared,
    told: &Told<'_>,
    undo: Option<&str>,
    run: &RunId,
) {
    for notice in report.iter().flat_map(|report| report.notices()) {
        cli.warn(notice);
    }
    let findings = told.findings;
    for error in &findings.unknown {
        cli.warn(error);
    }
    if report.is_some_and(Report::changed_the_rules) {
        cli.note("the ignore rules are others now; what they no longer hide was left as it is");
    }
    if !findings.shared.is_empty() {
        let count = findings.shared.len();
        cli.warn(format!("{count} restored paths were changed by another run of this workspace, too"));
    }
    say_what_is_undecided(args, cli, prepared, told, run);
    if let Some(reason) = told.skip_reason {
        cli.note(format!("nothing was restored: {reason}"));
    } else if let Some(counts) = report.map(Report::counts) {
        let would = if args.dry_run { "would be " } else { "" };
        cli.note(format!(
            "back before '{}': {} {would}written, {} {would}deleted, {} {would}given their mode, {} kept, {} left in place",
            prepared.pivot.label,
            counts.written,
            counts.deleted,
            counts.chmodded,
            counts.kept,
            findings.left.len() + findings.undecided.len()
        ));
    }
    if let Some(undo) = undo {
        cli.note(format!("this undoes it: {undo}"));
    }
}

/// Names the ways to take back of what nobody can tell who changed it.
fn say_what_is_undecided(args: &Args, cli: &Cli, prepared: &Prepared, told: &Told<'_>, run: &RunId) {
    let findings = told.findings;
    let common = common_options(args, run);
    let between = findings.undecided.len().saturating_sub(findings.since_unended.len());
    if between > 0 {
        let mut message = format!("{between} paths are undecided and were left");
        if let Some(boundary) = prepared.boundary() {
            let (target, to) = (told.target, &boundary.id);
            message = format!(
                "{message}; this takes them back: wt-authorship {common} --from {target} --to {to} --undecided -z --end | \
                 wt-restore {common} -z --paths-from-stdin --exact --require-end {target}"
            );
        }
        cli.warn(message);
    }
    if findings.since_unended.is_empty() {
        return;
    }
    let names = prepared.unended().iter().map(|it| quote::name(it.to_string().as_bytes()));
    let marks = prepared.unended().iter().map(|it| {
        let node = quote::shell_word(&it.node);
        format!("wt-boundary {common} -- fail {node} {}", it.iteration)
    });
    let again = format!(
        "wt-rewind {common} --node {} --iter {}",
        quote::shell_word(told.to_node),
        prepared.pivot.iteration
    );
    cli.warn(format!(
        "{} paths changed since the newest boundary, and node {} never ended: they are undecided, debris of a process that \
         died or somebody's edits, and were left; if all are debris, this takes them back: {} && {again}; \
         so does --restore-scope full, with the edits of others",
        findings.since_unended.len(),
        names.collect::<Vec<_>>().join(", "),
        marks.collect::<Vec<_>>().join(" && "),
    ));
}

/// Says what the run's record needs so that no machine goes on where the run no longer stands; it is not ours to write.
pub(crate) fn say_what_the_record_needs(args: &Args, cli: &Cli, run: &RunId, status: &str) {
    let common = common_options(args, run);
    let is_parked = status == Status::PausedOperator.as_str();
    let park = format!("run-record set-status paused_operator {common} && ");
    cli.note(format!(
        "the run's record is as it was; unless the engine sees to it, store a checkpoint before node {} with \
         run-record checkpoint save, and keep machines from resuming the run: {}\
         run-record patch --set resume_requires_explicit=true {common}",
        quote::name(args.node.as_deref().unwrap_or_default().as_bytes()),
        if is_parked { "" } else { &park },
    ));
}
