//! Output by a template: `{seq} {type} {data.error}`.
//!
//! Strings come decoded, with control characters masked so that an event is always one line; everything else comes as
//! written. What an event does not have is empty.

use std::borrow::Cow;

use super::event::{Event, string};
use crate::error::{Error, Result};
use crate::stream::quote;

/// A template, ready for many events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    Field(Field),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Field {
    Seq,
    Time,
    Type,
    Run,
    Branch,
    Node,
    Tenant,
    LogOffset,
    ActiveMs,
    Line,
    Data(Vec<String>),
}

impl Template {
    /// Reads a template: `{name}` is replaced, `{{` and `}}` are braces, `\t`, `\n`, `\0` and `\\` are escapes.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] for an unknown name, escape, or a brace without its other.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |why: String| Error::usage(format!("template {}: {why}", quote::name(text.as_bytes())));
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' if chars.next_if_eq(&'{').is_some() => plain.push('{'),
                '}' if chars.next_if_eq(&'}').is_some() => plain.push('}'),
                '}' => {
                    return Err(bad("a brace is closed that was not opened".into()).hint("write '}}' for a brace"));
                }
                '{' => {
                    let mut name = String::new();
                    loop {
                        match chars.next() {
                            Some('}') => break,
                            Some(c) => name.push(c),
                            None => return Err(bad("a brace is not closed".into()).hint("write '{{' for a brace")),
                        }
                    }
                    parts.push(Part::Text(std::mem::take(&mut plain).into_bytes()));
                    parts.push(Part::Field(Field::named(&name).ok_or_else(|| {
                        bad(format!("unknown name {}", quote::name(name.as_bytes()))).hint(
                            "names are seq, time, type, run, branch, node, tenant, log_offset, active_ms, line, data, data.KEY",
                        )
                    })?));
                }
                '\\' => plain.push(match chars.next() {
                    Some('t') => '\t',
                    Some('n') => '\n',
                    Some('0') => '\0',
                    Some('\\') => '\\',
                    _ => return Err(bad("unknown escape".into()).hint("escapes are \\t, \\n, \\0 and \\\\")),
                }),
                c => plain.push(c),
            }
        }
        parts.push(Part::Text(plain.into_bytes()));
        Ok(Self(parts))
    }

    /// Appends what the template makes of `event`, with a newline, to `out`; `field` writes a field of it.
    pub fn append(&self, event: &Event<'_>, field: impl Fn(&str) -> String, out: &mut Vec<u8>) {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Field(Field::Line) => out.extend_from_slice(event.line),
                Part::Field(part) => out.extend_from_slice(field(&part.value(event)).as_bytes()),
            }
        }
        out.push(b'\n');
    }
}

impl Field {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "seq" => Self::Seq,
            "time" | "timestamp" => Self::Time,
            "type" => Self::Type,
            "run" | "run_id" => Self::Run,
            "branch" | "branch_id" => Self::Branch,
            "node" | "node_id" => Self::Node,
            "tenant" | "tenant_id" => Self::Tenant,
            "log_offset" => Self::LogOffset,
            "active_ms" => Self::ActiveMs,
            "line" => Self::Line,
            "data" => Self::Data(Vec::new()),
            _ => Self::Data(name.strip_prefix("data.")?.split('.').map(str::to_owned).collect()),
        })
    }

    fn value<'e>(&self, event: &'e Event<'_>) -> Cow<'e, str> {
        match self {
            Self::Seq => event.seq.to_string().into(),
            Self::Time => (&*event.timestamp).into(),
            Self::Type => (&*event.kind).into(),
            Self::Run => (&*event.run_id).into(),
            Self::Branch => (&*event.branch_id).into(),
            Self::Node => (&*event.node_id).into(),
            Self::Tenant => (&*event.tenant_id).into(),
            Self::LogOffset => event.log_offset.to_string().into(),
            Self::ActiveMs => event.active_ms.map_or(Cow::Borrowed(""), |ms| ms.to_string().into()),
            Self::Line => String::from_utf8_lossy(event.line),
            Self::Data(path) => {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                event.datum(&path).map_or(Cow::Borrowed(""), |raw| string(raw).unwrap_or(Cow::Borrowed(raw.get())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(template: &str, line: &str) -> String {
        let mut out = Vec::new();
        Template::parse(template).unwrap().append(
            &Event::parse(line.as_bytes()).unwrap(),
            |text| quote::one_line(text.as_bytes()),
            &mut out,
        );
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fills_in_what_is_there() {
        let line = r#"{"seq":3,"type":"t","node_id":"n","data":{"e":"a\nb","o":{"n":9007199254740993.0},"l":[1]}}"#;
        assert_eq!(made(r"{{{seq}}}\t{type}:{node}", line), "{3}\tt:n\n");
        assert_eq!(
            made("{data.e}|{data.o.n}|{data.l}|{data.none}|{branch}|{active_ms}", line),
            "a\\x0ab|9007199254740993.0|[1]|||\n"
        );
        assert_eq!(made("{line}", line), format!("{line}\n"));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for bad in ["{", "}", "{nope}", "{seq", r"\x", r"\", "{data.x}}"] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
    }
}
