//! An event that is to be appended: checked strictly, written in the form of the original.
//!
//! What the original's reader could not decode, or would read otherwise than ours, is refused here: wrong types, keys given
//! twice, and keys that differ from a known one only in case. Members that nobody knows are kept, behind the known ones.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::event::{Event, Flaw, MEMBERS};
use super::{LINE_BYTES_MAX, bare_line};
use crate::clock;
use crate::error::{Error, Result};
use crate::run::json::{Text, compact, keys, plain};
use crate::store::id::RunId;
use crate::stream::quote;

/// The type that is never persisted: it lives in the broker only, `run_health` is its durable twin.
const EPHEMERAL_TYPE: &str = "alert";
/// Longest type, in bytes.
const TYPE_BYTES_MAX: usize = 256;

/// An event without its number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The member `type`.
    pub kind: String,
    /// When it happened; empty: when it is appended.
    pub timestamp: String,
    /// The branch, or empty.
    pub branch_id: String,
    /// The node, or empty.
    pub node_id: String,
    /// The tenant, or empty.
    pub tenant_id: String,
    /// A JSON object, or empty.
    pub data: String,
    /// Length of run.log; 0: as it is when the event is appended.
    pub log_offset: u64,
    /// Active milliseconds of the run; 0: not known.
    pub active_ms: u64,
    /// Members that are not known here: key and JSON text, in their order.
    pub unknown: Vec<(String, String)>,
}

/// What the appender stamps on a draft.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'s> {
    /// The event's number.
    pub seq: u64,
    /// Now, in nanoseconds since the epoch.
    pub now_ns: u64,
    /// The run.
    pub run: &'s RunId,
    /// Length of run.log.
    pub log_offset: u64,
}

impl Draft {
    /// Reads an event as a producer writes it: one JSON object; `seq` in it is passed over, `run_id` must be absent, empty or
    /// `run`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] for what is not an event, [`crate::error::Kind::Limit`] for one above the limit.
    pub fn parse(line: &[u8], run: &RunId) -> Result<Self> {
        if line.len() >= LINE_BYTES_MAX {
            return Err(too_long(line.len() as u64));
        }
        let text = std::str::from_utf8(bare_line(line))
            .map_err(|error| Error::usage(format!("event is not UTF-8 at byte {}", error.valid_up_to())))?;
        let members: Unknown = serde_json::from_str(text)
            .map_err(|error| Error::usage(format!("event is not a JSON object: {}", plain(&error))))?;
        refuse_duplicates("event", text)?;
        for (key, _) in &members.0 {
            if let Some(member) = MEMBERS.iter().find(|member| folds_to(key, member)) {
                return Err(Error::usage(format!("event has a key {}", quote::name(key.as_bytes())))
                    .hint(format!("write it '{member}': some readers do not tell them apart")));
            }
        }
        // A number stands in for the one that the appender will give.
        let numbered = format!("{{\"seq\":0,\"type\":\"\",{}", text.trim_start().trim_start_matches('{'));
        let numbered = if members.1 { numbered } else { "{\"seq\":0,\"type\":\"\"}".into() };
        let event = Event::parse(numbered.as_bytes()).map_err(|flaw| match flaw {
            Flaw::NotEvent(why) => Error::usage(format!("event {why}")),
            _ => Error::usage("event is not a JSON object"),
        })?;
        if !event.run_id.is_empty() && event.run_id != run.as_str() {
            return Err(Error::usage(format!(
                "event says it is of run {}, not {}",
                quote::name(event.run_id.as_bytes()),
                quote::name(run.as_str().as_bytes())
            ))
            .hint("take run_id out of it, or name the other run"));
        }
        let draft = Self {
            kind: event.kind.into_owned(),
            timestamp: event.timestamp.into_owned(),
            branch_id: event.branch_id.into_owned(),
            node_id: event.node_id.into_owned(),
            tenant_id: event.tenant_id.into_owned(),
            data: event.data.map_or_else(String::new, |data| data.get().to_owned()),
            log_offset: event.log_offset,
            active_ms: event.active_ms.unwrap_or(0),
            unknown: members.0,
        };
        draft.check()?;
        Ok(draft)
    }

    /// Sets `data` from a text that somebody gave.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] when it is not a JSON object, or gives a key twice.
    pub fn set_data(&mut self, text: &str) -> Result<()> {
        let raw: &RawValue = serde_json::from_str(text)
            .map_err(|error| Error::usage(format!("data is not JSON: {}", plain(&error))))?;
        if !raw.get().starts_with('{') {
            return Err(Error::usage("data is not a JSON object").hint("wrap it: {\"value\": ...}"));
        }
        refuse_duplicates("data", raw.get())?;
        raw.get().clone_into(&mut self.data);
        Ok(())
    }

    /// Checks what options and producers may have put in.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`]; [`crate::error::Kind::Refused`] for the type that is never persisted.
    pub fn check(&self) -> Result<()> {
        if self.kind == EPHEMERAL_TYPE {
            return Err(
                Error::refused("events of type 'alert' are never persisted").hint("append a 'run_health' event")
            );
        }
        if self.kind.is_empty() {
            return Err(Error::usage("event has no type"));
        }
        if self.kind.len() > TYPE_BYTES_MAX || self.kind.chars().any(char::is_control) {
            return Err(Error::usage(format!(
                "event type {} has control characters or more than {TYPE_BYTES_MAX} bytes",
                quote::name(self.kind.as_bytes().get(..64).unwrap_or(self.kind.as_bytes()))
            )));
        }
        if !self.timestamp.is_empty() && clock::parse_rfc3339(&self.timestamp).is_none() {
            return Err(Error::usage(format!(
                "timestamp {} is not a time",
                quote::name(self.timestamp.as_bytes())
            ))
            .hint("write it as 2026-01-31T12:00:00Z"));
        }
        Ok(())
    }

    /// Writes the line with its newline into `line`, which it empties first.
    ///
    /// # Errors
    /// [`crate::error::Kind::Limit`] when it is too long for the original's readers.
    pub fn encode(&self, stamp: Stamp<'_>, line: &mut Vec<u8>) -> Result<()> {
        line.clear();
        line.extend_from_slice(format!("{{\"seq\":{}", stamp.seq).as_bytes());
        let timestamp = match clock::parse_rfc3339(&self.timestamp) {
            // The zero time of the original means that the caller left it out.
            Some(ns) if ns != ZERO_TIME_NS => Cow::Borrowed(&*self.timestamp),
            _ => Cow::Owned(clock::rfc3339(stamp.now_ns)),
        };
        let strings = [
            ("timestamp", &*timestamp),
            ("type", &*self.kind),
            ("run_id", stamp.run.as_str()),
            ("branch_id", &*self.branch_id),
            ("node_id", &*self.node_id),
        ];
        for (key, text) in strings {
            push_string(key, text, line);
        }
        if !self.data.is_empty() {
            let before = line.len();
            push_key("data", line);
            let begun = line.len();
            compact::append(&self.data, line);
            if line.get(begun..) == Some(b"{}") {
                line.truncate(before);
            }
        }
        push_string("tenant_id", &self.tenant_id, line);
        let log_offset = if self.log_offset == 0 { stamp.log_offset } else { self.log_offset };
        for (key, number) in [("log_offset", log_offset), ("active_ms", self.active_ms)] {
            if number > 0 {
                push_key(key, line);
                line.extend_from_slice(number.to_string().as_bytes());
            }
        }
        for (key, json) in &self.unknown {
            push_key(key, line);
            compact::append(json, line);
        }
        line.extend_from_slice(b"}\n");
        if line.len() > LINE_BYTES_MAX { Err(too_long(line.len() as u64 - 1)) } else { Ok(()) }
    }
}

/// `0001-01-01T00:00:00Z` in nanoseconds since the epoch.
const ZERO_TIME_NS: i128 = -62_135_596_800_000_000_000;

/// The error for an event that is too long.
#[must_use]
pub fn too_long(bytes: u64) -> Error {
    Error::limit(format!("event of {bytes} bytes is above the limit of {}", LINE_BYTES_MAX - 1))
        .hint("put the large part into a file of the run and refer to it")
}

fn refuse_duplicates(what: &str, json: &str) -> Result<()> {
    match keys::first_duplicate(json) {
        Ok(None) => Ok(()),
        Ok(Some(key)) => Err(Error::usage(format!("{what} gives the key {} twice", quote::name(key.as_bytes())))
            .hint("give it once: readers disagree on which of the two counts")),
        Err(error) => Err(Error::usage(format!("{what} cannot be read by every program: {}", plain(&error)))),
    }
}

fn push_key(key: &str, line: &mut Vec<u8>) {
    line.push(b',');
    compact::append_string(key, line);
    line.push(b':');
}

fn push_string(key: &str, text: &str, line: &mut Vec<u8>) {
    if !text.is_empty() {
        push_key(key, line);
        compact::append_string(text, line);
    }
}

/// Whether the original takes `key` for `member` although they differ: it compares without case, and two letters beyond
/// ASCII count as `s` and `k` there.
fn folds_to(key: &str, member: &str) -> bool {
    key != member
        && key.chars().count() == member.len()
        && key.chars().zip(member.chars()).all(|(a, b)| match a {
            '\u{17f}' => b == 's',
            '\u{212a}' => b == 'k',
            _ => a.to_ascii_lowercase() == b,
        })
}

/// The members that are not known, and whether there was any member at all.
struct Unknown(Vec<(String, String)>, bool);

impl<'de> Deserialize<'de> for Unknown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct UnknownVisitor;
        impl<'de> Visitor<'de> for UnknownVisitor {
            type Value = Unknown;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Unknown, A::Error> {
                let mut unknown = Unknown(Vec::new(), false);
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    let value: &RawValue = map.next_value()?;
                    unknown.1 = true;
                    if !MEMBERS.contains(&&*key.0) {
                        unknown.0.push((key.0.into_owned(), value.get().to_owned()));
                    }
                }
                Ok(unknown)
            }
        }
        deserializer.deserialize_map(UnknownVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        RunId::named("r").unwrap()
    }

    fn written(line: &str) -> String {
        let run = run();
        let draft = Draft::parse(line.as_bytes(), &run).unwrap();
        let mut out = Vec::new();
        draft.encode(Stamp { seq: 3, now_ns: 1_000_000_000, run: &run, log_offset: 9 }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn members_come_in_the_order_of_the_original_and_unknown_ones_stay() {
        assert_eq!(
            written(
                r#" { "x" : [1.0, 9007199254740993] , "active_ms":5,"data":{"b":1,"a":"<&>"},"type":"t",
                "node_id":"n","branch_id":"","tenant_id":null,"seq":77,"run_id":"r","y":null} "#
            ),
            concat!(
                r#"{"seq":3,"timestamp":"1970-01-01T00:00:01Z","type":"t","run_id":"r","node_id":"n","#,
                r#""data":{"b":1,"a":"\u003c\u0026\u003e"},"log_offset":9,"active_ms":5,"#,
                r#""x":[1.0,9007199254740993],"y":null}"#,
                "\n"
            )
        );
        let kept = written(r#"{"type":"t","data":{ },"log_offset":4,"timestamp":"2026-01-01T01:00:00.50+01:00"}"#);
        let kept_form =
            r#"{"seq":3,"timestamp":"2026-01-01T01:00:00.50+01:00","type":"t","run_id":"r","log_offset":4}"#;
        assert_eq!(kept.trim_end(), kept_form);
        assert!(written(r#"{"type":"t","timestamp":"0001-01-01T00:00:00Z"}"#).contains("1970-01-01T00:00:01Z"));
    }

    #[test]
    fn refuses_what_others_could_not_read_or_would_read_otherwise() {
        for (line, reason) in [
            ("[]", "not a JSON object"),
            ("{", "not a JSON object"),
            ("{}", "no type"),
            (r#"{"seq":1}"#, "no type"),
            (r#"{"type":""}"#, "no type"),
            (r#"{"type":7}"#, "type is not a string"),
            (r#"{"type":"a","data":[1]}"#, "data is not an object"),
            (r#"{"type":"a","active_ms":-1}"#, "active_ms is not an integer"),
            (r#"{"type":"a","timestamp":"now"}"#, "is not a time"),
            (r#"{"type":"a","run_id":"q"}"#, "of run 'q'"),
            (r#"{"type":"a","type":"b"}"#, "'type' twice"),
            (r#"{"type":"a","data":{"k":[{"x":1,"x":2}]}}"#, "'x' twice"),
            (r#"{"type":"a","Seq":1}"#, "write it 'seq'"),
            ("{\"type\":\"a\",\"ta\u{17f}k\":1,\"\u{17f}eq\":1}", "write it 'seq'"),
            (r#"{"type":"alert"}"#, "never persisted"),
            (r#"{"type":"a","data":{"n":1e999}}"#, "number out of range"),
        ] {
            let error = Draft::parse(line.as_bytes(), &run()).unwrap_err().to_string();
            assert!(error.contains(reason), "{line}: {error}");
        }
        assert!(Draft::parse(b"{\"type\":\"\xff\"}", &run()).is_err());
    }

    #[test]
    fn the_longest_line_is_written_and_one_byte_more_is_not() {
        let run = run();
        let stamp = Stamp { seq: 0, now_ns: 0, run: &run, log_offset: 0 };
        let mut line = Vec::new();
        let mut draft = Draft { kind: "t".into(), data: r#"{"a":""}"#.into(), ..Draft::default() };
        draft.encode(stamp, &mut line).unwrap();
        let room = LINE_BYTES_MAX - line.len();
        draft.data = format!("{{\"a\":\"{}\"}}", "x".repeat(room));
        draft.encode(stamp, &mut line).unwrap();
        assert_eq!(line.len(), LINE_BYTES_MAX);
        draft.data = format!("{{\"a\":\"{}\"}}", "x".repeat(room + 1));
        assert_eq!(draft.encode(stamp, &mut line).unwrap_err().kind(), crate::error::Kind::Limit);
    }
}
