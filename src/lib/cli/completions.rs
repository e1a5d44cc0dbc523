//! Completion scripts for the shells, from a program's own options.

use clap::Command;
use clap_complete::aot::{Shell, generate};

/// Writes the completion script of a shell.
#[must_use]
pub fn script(shell: Shell, program: &str, command: &Command) -> Vec<u8> {
    let mut out = Vec::new();
    generate(shell, &mut super::without_backquotes(command.clone()), program, &mut out);
    out
}
