//! What all programs share: the command line, the environment, messages, exit codes, standard streams.
//!
//! The only room that knows of the terminal and the process. A program is one call of [`main`] with its [`Page`] and a
//! function from its own options to a [`Status`].

pub mod args;
pub mod chain;
pub mod completions;
pub mod context;
pub mod documents;
pub mod input;
pub mod man;
pub mod out;
pub mod page;
pub mod paint;
mod roff;
pub mod signals;
pub mod ticker;

use std::cell::Cell;
use std::process::ExitCode;

use clap::{Args, Command, FromArgMatches};

use crate::error::{Error, Kind, Result};
use crate::stream::quote;
use args::Common;
use context::Environment;
use out::Out;
pub use page::Page;

/// How a program ended that did what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Done, or the answer is yes.
    Done,
    /// The answer is no: absent, or different. Queries only.
    No,
    /// Done, but something asked for was left out, and named.
    Partial,
    /// Nothing was done, because somebody else was faster, and the caller asked to be told apart from other conflicts.
    Again,
}

/// The exit code of [`Status::Again`]: doing all of it again may succeed.
pub const EXIT_AGAIN: u8 = 75;

/// The exit code of a process whose standard output was closed by its reader.
pub const EXIT_STDOUT_CLOSED: u8 = 141;

/// The exit code of each kind of error (design section 5).
#[must_use]
pub fn exit_code(kind: Kind) -> u8 {
    match kind {
        Kind::Usage | Kind::NotFound => 2,
        Kind::Damaged => 4,
        Kind::Refused => 5,
        Kind::Conflict => 6,
        Kind::Limit => 7,
        Kind::Io => 8,
    }
}

/// The reverse of [`exit_code`], for a failure that an earlier stage of a pipeline reports by its code.
#[must_use]
pub fn kind_of_exit_code(code: u8) -> Kind {
    match code {
        2 => Kind::Usage,
        4 => Kind::Damaged,
        5 => Kind::Refused,
        6 => Kind::Conflict,
        7 => Kind::Limit,
        _ => Kind::Io,
    }
}

/// One running program: its name, its environment, how it talks.
pub struct Cli {
    page: &'static Page,
    common: Common,
    warnings: Cell<usize>,
    /// What the environment says.
    pub env: Environment,
    /// Standard output.
    pub out: Out,
}

/// So many warnings are written in full; a directory full of gaps must not bury the rest.
const WARNINGS_SHOWN_MAX: usize = 20;

impl Cli {
    /// Whether output is JSON lines.
    #[must_use]
    pub fn json(&self) -> bool {
        self.common.json
    }

    /// Whether `-q` was given.
    #[must_use]
    pub fn quiet(&self) -> bool {
        self.common.quiet
    }

    /// Whether `-v` was given.
    #[must_use]
    pub fn verbose(&self) -> bool {
        self.common.verbose
    }

    /// Whether standard output is a terminal: what is written to it must not be able to drive it.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        use std::io::IsTerminal;
        std::io::stdout().is_terminal()
    }

    /// A field of a line on standard output: on a terminal all is masked that a person does not see, for a program only what
    /// would break the line.
    #[must_use]
    pub fn field(&self, text: &str) -> String {
        if self.is_terminal() { quote::masked(text.as_bytes()) } else { quote::one_line(text.as_bytes()) }
    }

    /// Whether output may be coloured: on a terminal that can, unless `NO_COLOR` is set.
    #[must_use]
    pub fn is_coloured(&self) -> bool {
        self.is_terminal()
            && self.env.get("NO_COLOR").is_none()
            && self.env.get("TERM").is_some_and(|terminal| terminal != "dumb")
    }

    /// Says something that the caller must know although the work goes on. Silent with `-q`.
    pub fn warn(&self, message: impl std::fmt::Display) {
        if self.quiet() {
            return;
        }
        let number = self.warnings.get() + 1;
        self.warnings.set(number);
        if number <= WARNINGS_SHOWN_MAX || self.verbose() {
            say(&format!("{}: warning: {message}", self.page.name));
        } else if number == WARNINGS_SHOWN_MAX + 1 {
            say(&format!("{}: warning: more warnings follow; -v shows all of them", self.page.name));
        }
    }

    /// Says a summary or a piece of advice on standard error. Silent with `-q`.
    pub fn note(&self, message: impl std::fmt::Display) {
        if !self.quiet() {
            say(&format!("{}: {message}", self.page.name));
        }
    }
}

/// Says how far the work is, on standard error; on a terminal the line is written over.
pub fn progress(program: &str, state: &str) {
    use std::io::{IsTerminal, Write};
    let mut stderr = std::io::stderr();
    let _ = if stderr.is_terminal() {
        write!(stderr, "\r{program}: {state}\x1b[K")
    } else {
        writeln!(stderr, "{program}: {state}")
    };
}

/// Writes one line to standard error, in one piece: the programs of a pipeline share it. A broken standard error is
/// nobody's concern any more.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Runs a program: parses its options, calls `run`, reports an error, flushes, and says how it ended.
pub fn main<A: Args>(page: &'static Page, run: fn(A, &mut Cli) -> Result<Status>) -> ExitCode {
    context::arm_seam();
    context::raise_open_files();
    let command = command::<A>(page);
    if let Some(status) = page::generate(page, &command) {
        return status;
    }
    let parsed = command
        .try_get_matches()
        .and_then(|matches| Ok((A::from_arg_matches(&matches)?, Common::from_arg_matches(&matches)?)));
    let (args, common) = match parsed {
        Ok(parsed) => parsed,
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => return show_help::<A>(page),
        Err(error) => return refuse_usage(page, &error),
    };
    let mut cli =
        Cli { page, common, warnings: Cell::new(0), env: Environment::read(page.name), out: Out::new(page) };
    let ended = run(args, &mut cli);
    if let Some((made, above)) = cli.env.store_made_below_another() {
        cli.warn(format!(
            "this made the store {}, but {} above has one already; name it with -C {} if that is what is meant",
            quote::path(&made),
            quote::path(&above),
            quote::shell_word(&above.to_string_lossy())
        ));
    }
    let json = cli.json();
    if json && let Err(error) = &ended {
        cli.out.line(page::error_json(error).as_bytes());
    }
    // Output that could not be written is reported even after an error: both are true.
    let written = cli.out.finish();
    match (ended, written) {
        (Ok(_), out::Finished::ReaderGone(unsaid)) => {
            if let Some(error) = unsaid {
                report(page, &error);
            }
            ExitCode::from(EXIT_STDOUT_CLOSED)
        }
        (Err(error), _) | (Ok(_), out::Finished::Failed(error)) => {
            report(page, &error);
            ExitCode::from(exit_code(error.kind()))
        }
        (Ok(Status::Done), out::Finished::Written) => ExitCode::SUCCESS,
        (Ok(Status::No), out::Finished::Written) => ExitCode::from(1),
        (Ok(Status::Partial), out::Finished::Written) => ExitCode::from(3),
        (Ok(Status::Again), out::Finished::Written) => ExitCode::from(EXIT_AGAIN),
    }
}

fn command<A: Args>(page: &'static Page) -> Command {
    let command = Command::new(page.name)
        .version(env!("CARGO_PKG_VERSION"))
        .override_usage(page.usage())
        .after_help(format!("The manual page {}(1) has the whole text, exit codes and examples.", page.name))
        .max_term_width(100)
        .args_override_self(false);
    // Set last: deriving takes the comment on an options struct for the text of the program.
    Common::augment_args(A::augment_args(command)).about(page.about).long_about(None)
}

/// Shows the help that was asked for. Only here is it made as a terminal shows it: every start would pay for that.
fn show_help<A: Args>(page: &'static Page) -> ExitCode {
    match without_backquotes(command::<A>(page)).try_get_matches() {
        Err(error) => refuse_usage(page, &error),
        Ok(_) => ExitCode::SUCCESS,
    }
}

/// The command with help texts as a terminal shows them: what the manual sets bold stands without its backquotes.
fn without_backquotes(command: Command) -> Command {
    let plain = |text: &clap::builder::StyledStr| text.to_string().replace('`', "");
    let mut command = command
        .mut_args(|arg| match arg.get_help().map(plain) {
            Some(help) => arg.help(help),
            None => arg,
        })
        .mut_subcommands(without_backquotes);
    if let Some(about) = command.get_about().map(plain) {
        command = command.about(about);
    }
    command
    // Groups of options bring their own descriptions along; the page's is the one to show.
}

/// Clap's own words, brought into our form: one line, lower case, exit 2. Help and version go to standard output.
fn refuse_usage(page: &Page, error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    if matches!(error.kind(), DisplayHelp | DisplayVersion) {
        return match error.print() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(8),
        };
    }
    let text = match error.kind() {
        // Clap would print the whole help here.
        DisplayHelpOnMissingArgumentOrSubcommand => "no subcommand is named".to_owned(),
        _ => error.to_string(),
    };
    let first = text.split("\n\n").next().unwrap_or(&text).trim();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = crate::stream::quote::masked(line.as_bytes());
    let error = Error::usage(line.trim_end_matches('.')).hint(format!("see '{} --help'", page.name));
    if std::env::args_os().any(|arg| arg == "--json") {
        let mut out = Out::new(page);
        out.line(page::error_json(&error).as_bytes());
        out.finish();
    }
    report(page, &error);
    ExitCode::from(2)
}

fn report(page: &Page, error: &Error) {
    if error.is_reported() {
        return;
    }
    say(&format!("{}: error: {error}", page.name));
}
