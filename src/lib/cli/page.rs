//! The text of a program's manual page that its options do not say, and what is generated from both.

use std::io::Write;
use std::process::ExitCode;

use clap::Command;
use clap_complete::aot::Shell;
use serde_json::json;

use super::{completions, man};
use crate::error::{Error, Fact};

/// Whether a program can change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It changes the store or the workspace.
    Changes,
}

/// One example: what it shows, and a shell script that a test runs.
#[derive(Debug)]
pub struct Example {
    /// What it shows, as a sentence.
    pub text: &'static str,
    /// The commands, as one types them.
    pub script: &'static str,
}

/// The hand-written half of a manual page. Paragraphs are separated by blank lines; `code` is in backquotes.
#[derive(Debug)]
pub struct Page {
    /// The program's name.
    pub name: &'static str,
    /// The NAME line, without a full stop.
    pub about: &'static str,
    /// The SYNOPSIS, a line a form, without the program's name.
    pub synopsis: &'static [&'static str],
    /// DESCRIPTION.
    pub description: &'static str,
    /// OUTPUT; empty where there is none.
    pub output: &'static str,
    /// EXIT STATUS: the codes it can end with, and what each means here.
    pub exit: &'static [(u8, &'static str)],
    /// ENVIRONMENT: the variables it reads, from the common table.
    pub environment: &'static [&'static str],
    /// EXAMPLES.
    pub examples: &'static [Example],
    /// SEE ALSO: names with section, `wt-restore(1)`.
    pub see_also: &'static [&'static str],
    /// Whether it can change anything.
    pub effect: Effect,
}

impl Page {
    pub(super) fn usage(&self) -> String {
        self.synopsis.iter().map(|form| format!("{} {form}", self.name)).collect::<Vec<_>>().join("\n       ")
    }
}

/// Prints a generated document if the first argument asks for one: `--generate-docs man|bash|zsh|fish`.
pub(super) fn generate(page: &'static Page, command: &Command) -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != "--generate-docs" {
        return None;
    }
    let kind = args.next().unwrap_or_default();
    let document = match kind.to_str() {
        Some("man") => man::page(page, command).map(String::into_bytes),
        Some("bash") => Ok(completions::script(Shell::Bash, page.name, command)),
        Some("zsh") => Ok(completions::script(Shell::Zsh, page.name, command)),
        Some("fish") => Ok(completions::script(Shell::Fish, page.name, command)),
        _ => Err("--generate-docs takes man, bash, zsh or fish".to_owned()),
    };
    match document {
        Ok(document) => {
            let written = std::io::stdout().write_all(&document);
            Some(if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(8) })
        }
        Err(problem) => {
            super::say(&format!("{}: error: {problem}", page.name));
            Some(ExitCode::from(2))
        }
    }
}

/// An error as a line of JSON.
#[must_use]
pub fn error_json(error: &Error) -> String {
    let mut body = json!({ "code": error.kind().code(), "message": error.to_string() });
    if let Some(object) = body.as_object_mut() {
        if let Some(path) = error.path() {
            object.insert("path".into(), path.to_string_lossy().into());
        }
        for (name, fact) in error.facts() {
            let value = match fact {
                Fact::Number(number) => json!(number),
                Fact::Text(text) => json!(text),
            };
            object.insert((*name).to_owned(), value);
        }
    }
    json!({ "error": body }).to_string()
}
