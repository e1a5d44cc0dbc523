//! Says which paths the ignore rules leave out, and why.

use std::process::ExitCode;

use workspacetrack::cli::args::{RootArgs, StoreArgs, WorkspaceArgs, ZeroArgs};
use workspacetrack::cli::page::{Effect, Example, Page};
use workspacetrack::cli::{self, Cli, Status};
use workspacetrack::error::Result;
use workspacetrack::history::json;
use workspacetrack::stream::paths::{self, EndMark};
use workspacetrack::stream::quote;
use workspacetrack::tree::check::{Answer, Check, Decider};
use workspacetrack::tree::rules::{Rules, RulesFile};

static PAGE: Page = Page {
    name: "wt-check-ignore",
    about: "say which paths the ignore rules leave out",
    synopsis: &["[-v [-n]] [-z] PATH...", "[-v [-n]] [-z] [--require-end] --stdin", "[-z] [--require-end] --batch"],
    description: "Prints those of the paths that the rules of the workspace leave out of a capture (see wt-rules(5)). Paths are \
        relative to the workspace and need not exist. A slash at the end makes a path a directory; without one it is \
        what is there now, and where nothing is, a file.\n\n\
        With `-v`, prints the rule that decided on each path; a rule that begins with `!` decided that it is versioned. \
        With `-n` as well, prints the paths that no rule matches too.\n\n\
        `--stdin` reads all paths before it answers. `--batch` answers each at once, as with `-v -n`, for a program that \
        asks one by one.",
    output: "One path an item. With `-v`, `SOURCE:LINE:PATTERN`, a tab and the path; the source is the rules file, `default`, or \
        `hard` for what no rule can bring back, and the last two have no line. The pattern is quoted where it needs it, \
        also with `-z`. A path that no rule matches has `::` there.",
    exit: &[
        (0, "at least one path is left out"),
        (1, "none is"),
        (2, "not a path below the workspace"),
        (4, "the list is cut short"),
    ],
    environment: &["WT_WORKSPACE", "WT_STORE", "ITERION_HOME", "HOME"],
    examples: &[
        Example { text: "Why is a file not captured?", script: "wt-check-ignore -v build/out.o" },
        Example {
            text: "Of all files, those that are left out:",
            script: "find . -type f -printf '%P\\0' | wt-check-ignore -z --stdin",
        },
    ],
    see_also: &["wt-ls-files(1)", "wt-rules(5)"],
    effect: Effect::Reads,
};

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    root: RootArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    zero: ZeroArgs,
    /// With -v, print the paths that no rule matches too
    #[arg(short, long, requires = "verbose")]
    non_matching: bool,
    /// Read paths from standard input
    #[arg(long, conflicts_with = "batch")]
    stdin: bool,
    /// Read paths from standard input and answer each at once
    #[arg(long, conflicts_with_all = ["verbose", "non_matching"])]
    batch: bool,
    /// The paths that are read must be closed by an empty item
    #[arg(long, conflicts_with = "paths")]
    require_end: bool,
    /// Paths below the workspace
    #[arg(value_name = "PATH", conflicts_with_all = ["stdin", "batch"], required_unless_present_any = ["stdin", "batch"])]
    paths: Vec<std::ffi::OsString>,
}

fn main() -> ExitCode {
    cli::main(&PAGE, run)
}

#[allow(clippy::needless_pass_by_value, reason = "cli::main hands the options over")]
fn run(args: Args, cli: &mut Cli) -> Result<Status> {
    use std::os::unix::ffi::OsStrExt;
    args.zero.need_items(args.stdin || args.batch || !cli.json())?;
    let workspace = cli.env.workspace(&args.workspace, args.root)?;
    let store = cli.env.store(&args.store, workspace.path())?;
    let (file, warnings) = RulesFile::read(workspace.fd(), workspace.path())?;
    let (rules, bad_lines) = Rules::parse(&file);
    for warning in warnings.iter().chain(&bad_lines) {
        cli.warn(warning);
    }
    let check = Check::new(&workspace, &rules, store.root());
    let (framing, mark) =
        (args.zero.framing(), if args.require_end { EndMark::Required } else { EndMark::Optional });
    let mut any = false;
    let mut one = |name: &[u8]| {
        let answer = check.answer(name)?;
        any |= answer.is_ignored;
        write(&args, cli, name, &answer);
        Ok(())
    };
    if args.batch {
        paths::for_each_name(cli::input::stdin(), framing, mark, one)?;
    } else if args.stdin {
        let names = paths::read_names(cli::input::stdin(), framing, mark)?;
        names.iter().try_for_each(|name| one(name))?;
    } else {
        args.paths.iter().try_for_each(|name| one(name.as_bytes()))?;
    }
    Ok(if any { Status::Done } else { Status::No })
}

fn write(args: &Args, cli: &mut Cli, name: &[u8], answer: &Answer<'_>) {
    let is_wanted = match answer.decider {
        Decider::Nothing => args.batch || args.non_matching,
        _ => answer.is_ignored || args.batch || cli.verbose(),
    };
    if !is_wanted {
        return;
    }
    let (source, line, pattern) = match answer.decider {
        Decider::Nothing => ("", None, &b""[..]),
        Decider::Hard(pattern) => ("hard", None, pattern.as_bytes()),
        Decider::Rule(rule) => (rule.source_name, rule.line, rule.pattern),
    };
    let framing = args.zero.framing();
    if cli.json() {
        cli.out.line(&json_line(name, answer.is_ignored, source, line, pattern));
    } else {
        let mut item = Vec::new();
        if args.batch || cli.verbose() {
            let line = line.map_or_else(String::new, |line| line.to_string());
            item.extend_from_slice(format!("{source}:{line}:").as_bytes());
            if !pattern.is_empty() {
                item.extend_from_slice(&quote::c_quote(pattern));
            }
            item.push(b'\t');
        }
        item.extend_from_slice(&framing.encode(name));
        cli.out.item(&item, framing.end());
    }
    if args.batch {
        // Whoever asks one by one waits for the answer.
        cli.out.flush();
    }
}

fn json_line(name: &[u8], is_ignored: bool, source: &str, line: Option<u32>, pattern: &[u8]) -> Vec<u8> {
    let mut out = vec![b'{'];
    json::push_display_name(&mut out, "path", name);
    json::push_key(&mut out, "ignored");
    out.extend_from_slice(if is_ignored { b"true" } else { b"false" });
    if !source.is_empty() {
        json::push_key(&mut out, "source");
        json::push_string(&mut out, source);
        if let Some(line) = line {
            json::push_key(&mut out, "line");
            json::push_number(&mut out, line);
        }
        json::push_display_name(&mut out, "pattern", pattern);
    }
    out.push(b'}');
    out
}
