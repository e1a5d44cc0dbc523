//! How a comparison looks on a terminal: colours, and nothing in it that could drive the terminal.

use super::Cli;
use crate::history::diff::Letter;
use crate::history::diff::patch::PatchLine;
use crate::history::diff::stat::Stat;
use crate::history::diff::text::Line;
use crate::stream::quote;

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[m";

/// A letter, coloured where that is wanted.
#[must_use]
pub fn letter(cli: &Cli, letter: Letter) -> Vec<u8> {
    let colour = match letter {
        Letter::Added => GREEN,
        Letter::Deleted => RED,
        Letter::Uncaptured => CYAN,
        Letter::Modified | Letter::TypeChanged | Letter::ModeChanged => YELLOW,
    };
    let text = letter.as_char().to_string();
    if cli.is_coloured() { format!("{colour}{text}{PLAIN}") } else { text }.into_bytes()
}

/// Writes a line of a patch.
pub fn patch_line(cli: &mut Cli, line: &PatchLine<'_>) {
    match line {
        PatchLine::Header(text) => whole(cli, BOLD, text),
        PatchLine::Hunk(text) => whole(cli, CYAN, text.as_bytes()),
        PatchLine::Remark(text) => whole(cli, YELLOW, text.as_bytes()),
        PatchLine::Text(Line::Same(text)) => of_file(cli, "", b' ', text),
        PatchLine::Text(Line::Removed(text)) => of_file(cli, RED, b'-', text),
        PatchLine::Text(Line::Added(text)) => of_file(cli, GREEN, b'+', text),
        PatchLine::Text(Line::Hunk { .. }) => {}
    }
}

/// Writes the counts and their sum.
pub fn stat(cli: &mut Cli, stat: &Stat) {
    let (green, red, plain) = if cli.is_coloured() { (GREEN, RED, PLAIN) } else { ("", "", "") };
    for line in stat.lines() {
        let mut text = line.text;
        for (colour, mark, count) in [(green, "+", line.plus), (red, "-", line.minus)] {
            if count > 0 {
                text.extend([colour, &mark.repeat(count), plain]);
            }
        }
        cli.out.line(text.as_bytes());
    }
    if let Some(summary) = stat.summary() {
        cli.out.line(summary.as_bytes());
    }
}

fn whole(cli: &mut Cli, colour: &str, text: &[u8]) {
    let line = if cli.is_coloured() { [colour.as_bytes(), text, PLAIN.as_bytes()].concat() } else { text.to_vec() };
    cli.out.line(&line);
}

fn of_file(cli: &mut Cli, colour: &str, mark: u8, text: &[u8]) {
    let (body, has_newline) = match text.strip_suffix(b"\n") {
        Some(body) => (body, true),
        None => (text, false),
    };
    let mut line = vec![mark];
    if cli.is_terminal() {
        // A tab is no danger; everything else that a terminal could obey is shown instead.
        let parts: Vec<String> = body.split(|byte| *byte == b'\t').map(quote::masked).collect();
        line.extend_from_slice(parts.join("\t").as_bytes());
    } else {
        line.extend_from_slice(body);
    }
    whole(cli, colour, &line);
    if !has_newline {
        cli.out.line(b"\\ No newline at end of file");
    }
}
