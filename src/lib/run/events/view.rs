//! How a person sees an event: one line with time, number, type, node and what its data tells most.
//!
//! Whatever an event holds, it cannot drive the terminal: control characters are masked.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::event::{Event, string};
use super::vocabulary::{self, Family};
use crate::stream::quote;

/// Whether lines carry colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Escape sequences, for a terminal.
    On,
    /// Text only.
    Off,
}

/// So many keys of the data are shown.
const KEYS_SHOWN_MAX: usize = 4;
/// Longest value shown, in characters.
const VALUE_CHARS_MAX: usize = 60;
/// Width of the column of types; longer ones push the rest to the right.
const TYPE_WIDTH: usize = 22;

const DIM: &str = "\x1b[2m";
const BOLD_RED: &str = "\x1b[1;31m";
const RESET: &str = "\x1b[0m";

/// Appends the line for `event`, with its newline, to `out`.
pub fn append(event: &Event<'_>, colour: Colour, out: &mut Vec<u8>) {
    let paint = |code: &'static str| if colour == Colour::On { code } else { "" };
    let reset = paint(RESET);
    let time = short_time(&event.timestamp);
    let kind = quote::masked(event.kind.as_bytes());
    let node = node(event);
    let line = format!(
        "{dim}{time}{reset} {seq:>6} {hue}{kind:<TYPE_WIDTH$}{reset} {node}{data}\n",
        dim = paint(DIM),
        seq = event.seq,
        hue = paint(hue(event)),
        data = data(event, paint(DIM), reset),
    );
    out.extend_from_slice(line.as_bytes());
}

/// Date and time to the millisecond, in the zone in which they were written.
fn short_time(timestamp: &str) -> String {
    let text = quote::masked(timestamp.as_bytes());
    let Some((date, time)) = text.split_once('T') else { return format!("{text:<23}") };
    let clock: String = time.chars().take_while(|c| c.is_ascii_digit() || matches!(c, ':' | '.')).collect();
    let (whole, fraction) = clock.split_once('.').unwrap_or((&clock, ""));
    format!("{date} {whole}.{fraction:0<3.3}")
}

fn node(event: &Event<'_>) -> String {
    match (&*event.branch_id, &*event.node_id) {
        ("", "") => "-".into(),
        ("", node) => quote::masked(node.as_bytes()),
        (branch, node) => format!("{}/{}", quote::masked(branch.as_bytes()), quote::masked(node.as_bytes())),
    }
}

/// Red for what went wrong, else a colour a family.
fn hue(event: &Event<'_>) -> &'static str {
    let bad = ["_failed", "_error", "_exceeded", "_exhausted", "_blocked", "_abandoned", "_interrupted"];
    if bad.iter().any(|end| event.kind.ends_with(end)) {
        return BOLD_RED;
    }
    match vocabulary::lookup(&event.kind).map(|(family, _)| family) {
        Some(Family::Run) => "\x1b[1m",
        Some(Family::Graph) => "\x1b[36m",
        Some(Family::Model) => "\x1b[34m",
        Some(Family::Review | Family::Message) => "\x1b[35m",
        Some(Family::Sandbox | Family::Browser | Family::Worktree) => "\x1b[33m",
        None => "",
    }
}

fn data(event: &Event<'_>, dim: &str, reset: &str) -> String {
    let known = vocabulary::lookup(&event.kind).map(|(_, keys)| keys);
    let shown: Vec<(Cow<'_, str>, Cow<'_, str>)> = match known {
        Some(keys) => keys
            .split_ascii_whitespace()
            .filter_map(|key| Some((Cow::Borrowed(key), value(event.datum(&[key])?)?)))
            .take(KEYS_SHOWN_MAX)
            .collect(),
        None => event
            .members_of_data()
            .into_iter()
            .filter_map(|(key, raw)| Some((key, value(raw)?)))
            .take(KEYS_SHOWN_MAX)
            .collect(),
    };
    shown.iter().fold(String::new(), |text, (key, value)| {
        text + &format!("  {dim}{}={reset}{value}", quote::masked(key.as_bytes()))
    })
}

/// A value in few characters; `None` for one that tells nothing.
fn value(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = string(raw).unwrap_or(Cow::Borrowed(raw.get()));
    if matches!(&*text, "" | "null" | "{}" | "[]") {
        return None;
    }
    let start: String = text.chars().take(VALUE_CHARS_MAX + 1).collect();
    let mut shown = quote::masked(start.trim_end().as_bytes());
    if start.chars().count() > VALUE_CHARS_MAX {
        shown = shown.chars().take(VALUE_CHARS_MAX).collect::<String>() + "\u{2026}";
    }
    Some(Cow::Owned(if shown.contains(' ') && string(raw).is_some() { format!("'{shown}'") } else { shown }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, colour: Colour) -> String {
        let mut out = Vec::new();
        append(&Event::parse(line.as_bytes()).unwrap(), colour, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn shows_what_tells_most() {
        assert_eq!(
            shown(
                r#"{"seq":7,"timestamp":"2026-01-01T00:00:30.5Z","type":"run_failed","data":{"x":1,"code":"E","error":"no disk"}}"#,
                Colour::Off
            ),
            "2026-01-01 00:00:30.500      7 run_failed             -  error='no disk'  code=E\n"
        );
        let unknown = shown(
            r#"{"seq":1,"type":"odd","branch_id":"b","node_id":"n","data":{"k":[1, 2],"e":""}}"#,
            Colour::Off,
        );
        assert!(unknown.trim_end().ends_with("1 odd                    b/n  k=[1, 2]"), "{unknown}");
        let zone = shown(r#"{"seq":1,"timestamp":"2026-01-01T01:00:00+01:00","type":"t"}"#, Colour::Off);
        assert!(zone.starts_with("2026-01-01 01:00:00.000 "), "{zone}");
    }

    #[test]
    fn an_event_cannot_drive_the_terminal() {
        let hostile = r#"{"seq":1,"type":"\u001b[2J","node_id":"\u0007","timestamp":"\u001bT","data":{"\u001b":"\u001b]0;x"}}"#;
        assert!(!shown(hostile, Colour::Off).contains('\x1b'));
        let coloured = shown(r#"{"seq":1,"type":"tool_error","data":{"tool":"x"}}"#, Colour::On);
        assert!(coloured.contains(BOLD_RED) && coloured.trim_end().ends_with('x'), "{coloured}");
    }
}
