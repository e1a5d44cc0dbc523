//! The manual page of a program, from its options and the hand-written [`Page`].
//!
//! Deterministic: the same program gives the same bytes, on any day and machine. What all pages say alike, the shared
//! exit codes and the environment, stands here once.

use std::fmt::Write;

use clap::{Arg, Args, Command};

use super::args::{Common, EngineArgs, LimitArgs, RootArgs, RunArgs, StoreArgs, WorkspaceArgs, ZeroArgs};
use super::page::Page;
use super::roff::{self, bold, italic};

/// The date of all pages; moved by hand when their text changes much.
const DATE: &str = "2026-11-29";

/// What the environment variables do, for every page that names one.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("WT_WORKSPACE", "The workspace, where `-C` does not name it."),
    ("WT_STORE", "The store, where `--store` does not name it."),
    ("WT_RUN", "The run, where `--run` does not name it."),
    (
        "ITERION_HOME",
        "Where stores are that nothing else names: in `projects/` below it. Without it, `.iterion` in the home directory.",
    ),
    ("HOME", "The home directory."),
    ("WT_FSYNC", "With `off`, nothing is flushed to the disk: for stores that one can lose. Otherwise `on`."),
    ("WT_LOCK_WAIT", "How many seconds to wait for a lock before giving up with exit code 6; 60 if not set."),
    (
        "WT_LOCK_FD",
        "Set by wt-lock(1) for the command it runs: the lock that is held, which is then not taken again. wt-capture(1) sets it \
         for its programs, too, of which the first takes the lock.",
    ),
    (
        "ITERION_WORKSPACE_TRACK",
        "With `off`, `0`, `false` or `no`, captures do nothing, say so, and end with exit code 0. Restores still work.",
    ),
    (
        "ITERION_WORKSPACE_MAX_FILE_MB",
        "Files above this many MiB are gaps, where `--max-file-size` does not say it; 32 if not set.",
    ),
    (
        "ITERION_ORPHAN_RECONCILE_INTERVAL",
        "How often `--watch` looks, as `90s` or `1m30s`, where the option does not say it; 60s if not set or not understood. With 0 or \
         less it looks once.",
    ),
    ("NO_COLOR", "If set, output is never coloured."),
];

/// What HOME means besides to a program that has [`RootArgs`].
const HOME_IS_NO_WORKSPACE: &str = " It is never taken as a workspace without `--yes-this-root`.";

/// Exit codes that all programs share; a page that has its own text for one of them leaves it out here.
const SHARED_EXIT: &[(u8, &str)] = &[
    (2, "the command line is wrong"),
    (8, "anything else failed, such as reading or writing a file"),
    (141, "the reader of standard output closed it"),
];

/// Writes the page in man(7) source.
///
/// # Errors
/// A sentence about what the page names and nothing knows.
pub fn page(page: &Page, command: &Command) -> Result<String, String> {
    let mut command = command.clone();
    command.build();
    let mut out = String::with_capacity(8 * 1024);
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        out,
        ".\\\" Made by '{0} --generate-docs man': change src/bin/{0} and run 'make docs'.",
        page.name
    );
    let _ = writeln!(
        out,
        ".TH {} 1 {DATE} \"workspacetrack {}\" \"Workspace versioning\"",
        roff::literal(&page.name.to_uppercase()),
        env!("CARGO_PKG_VERSION")
    );
    let _ = writeln!(out, ".SH NAME\n{} \\- {}", roff::literal(page.name), roff::prose(page.about));
    out.push_str(".SH SYNOPSIS\n.nf\n");
    for form in page.synopsis {
        roff::synopsis(&mut out, page.name, form);
    }
    out.push_str(".fi\n.SH DESCRIPTION\n");
    roff::paragraphs(&mut out, page.description);
    options(&mut out, &command);
    if !page.output.is_empty() {
        out.push_str(".SH OUTPUT\n");
        roff::paragraphs(&mut out, page.output);
    }
    exit_status(&mut out, page);
    environment(&mut out, page, &command)?;
    examples(&mut out, page);
    see_also(&mut out, page);
    Ok(out)
}

/// Options that several programs have, in the order in which pages list them.
fn shared_options() -> Command {
    let command = Command::new("shared").disable_help_flag(true);
    let command = EngineArgs::augment_args(LimitArgs::augment_args(ZeroArgs::augment_args(command)));
    let command = RootArgs::augment_args(command);
    let command = StoreArgs::augment_args(RunArgs::augment_args(WorkspaceArgs::augment_args(command)));
    Common::augment_args(command)
}

fn options(out: &mut String, command: &Command) {
    out.push_str(".SH OPTIONS\n");
    let shared = shared_options();
    let shared: Vec<_> = shared.get_arguments().collect();
    let is_own = |arg: &Arg| {
        !shared.iter().any(|other| other.get_id() == arg.get_id()) && !is_built_in(arg) && !arg.is_hide_set()
    };
    own_options(out, command, is_own);
    for subcommand in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let _ = writeln!(out, ".SS {}", roff::literal(subcommand.get_name()));
        let about = subcommand.get_long_about().or(subcommand.get_about()).map(ToString::to_string);
        roff::paragraphs(out, &about.map(|text| sentence(&text)).unwrap_or_default());
        own_options(out, subcommand, is_own);
    }
    if command.has_subcommands() {
        out.push_str(".SS Common options\n");
    }
    let has = |id: &Arg| {
        let has = |command: &Command| command.get_arguments().any(|arg| arg.get_id() == id.get_id());
        has(command) || command.get_subcommands().any(has)
    };
    shared.into_iter().filter(|arg| has(arg)).for_each(|arg| option(out, arg));
    command.get_arguments().filter(|arg| is_built_in(arg)).for_each(|arg| option(out, arg));
}

/// Operands first, then options, each in the order in which the program defines them.
fn own_options(out: &mut String, command: &Command, is_own: impl Fn(&Arg) -> bool) {
    let own = || command.get_arguments().filter(|arg| is_own(arg));
    own().filter(|arg| arg.is_positional()).for_each(|arg| option(out, arg));
    own().filter(|arg| !arg.is_positional()).for_each(|arg| option(out, arg));
}

fn is_built_in(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version")
}

fn option(out: &mut String, arg: &Arg) {
    out.push_str(".TP\n");
    let mut names = Vec::new();
    names.extend(arg.get_short().map(|short| bold(&format!("-{short}"))));
    names.extend(arg.get_long().map(|long| bold(&format!("--{long}"))));
    let mut tag = names.join(", ");
    if arg.is_positional() || arg.get_action().takes_values() {
        let id = arg.get_id().as_str().to_uppercase();
        let values: Vec<_> = match arg.get_value_names() {
            Some(names) => names.iter().map(|name| italic(name)).collect(),
            None => vec![italic(&id)],
        };
        if !tag.is_empty() {
            tag.push(' ');
        }
        tag.push_str(&values.join(" "));
        if arg.get_num_args().is_some_and(|range| range.max_values() > 1) {
            tag.push_str("...");
        }
    }
    let _ = writeln!(out, "{tag}");
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let (mut text, default) = match help.split_once(" [default: ") {
        Some((text, default)) => (sentence(text), default.trim_end_matches(']').to_owned()),
        None => (sentence(&help), default_of(arg)),
    };
    if !default.is_empty() {
        text.push_str(&sentence(&format!(" Default: {default}")));
    }
    let choices: Vec<_> = arg
        .get_possible_values()
        .iter()
        .filter(|_| arg.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !choices.is_empty() {
        let _ = write!(text, " One of {}.", choices.join(", "));
    }
    // A second paragraph would fall out of the indent.
    roff::paragraph(out, &text);
}

fn default_of(arg: &Arg) -> String {
    if !arg.get_action().takes_values() {
        return String::new();
    }
    arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', ':']) && !text.ends_with(" .") {
        return text.to_owned();
    }
    format!("{text}.")
}

fn exit_status(out: &mut String, page: &Page) {
    out.push_str(".SH EXIT STATUS\n");
    for (code, text) in page.exit {
        let _ = writeln!(out, ".TP\n\\fB{code}\\fR");
        roff::paragraph(out, text);
    }
    let shared: Vec<_> = SHARED_EXIT
        .iter()
        .filter(|(code, _)| !page.exit.iter().any(|(own, _)| own == code))
        .map(|(code, text)| format!("{code} when {text}"))
        .collect();
    if let Some((last, before)) = shared.split_last() {
        let list = if before.is_empty() { last.clone() } else { format!("{}, and {last}", before.join(", ")) };
        out.push_str(".PP\n");
        roff::paragraph(out, &format!("As every program of this package, it ends with {list}."));
    }
}

fn environment(out: &mut String, page: &Page, command: &Command) -> Result<(), String> {
    if page.environment.is_empty() {
        return Ok(());
    }
    out.push_str(".SH ENVIRONMENT\n");
    for name in page.environment {
        let (_, text) = ENVIRONMENT
            .iter()
            .find(|(known, _)| known == name)
            .ok_or_else(|| format!("{name} is not in the table of environment variables in src/lib/cli/man.rs"))?;
        let _ = writeln!(out, ".TP\n{}", bold(name));
        // Only who goes into a workspace refuses one, and can be told not to.
        let goes_in = command.get_arguments().any(|arg| arg.get_id() == "yes_this_root");
        let root = if *name == "HOME" && goes_in { HOME_IS_NO_WORKSPACE } else { "" };
        roff::paragraph(out, &format!("{text}{root}"));
    }
    Ok(())
}

fn examples(out: &mut String, page: &Page) {
    if page.examples.is_empty() {
        return;
    }
    out.push_str(".SH EXAMPLES\n");
    for (number, example) in page.examples.iter().enumerate() {
        if number > 0 {
            out.push_str(".PP\n");
        }
        roff::paragraph(out, example.text);
        roff::script(out, example.script);
    }
}

fn see_also(out: &mut String, page: &Page) {
    if page.see_also.is_empty() {
        return;
    }
    out.push_str(".SH SEE ALSO\n");
    roff::paragraph(out, &page.see_also.join(", "));
}
