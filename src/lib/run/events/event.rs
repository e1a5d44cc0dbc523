//! One event, read from the bytes of its line.
//!
//! Known members are looked at, unknown ones passed over; `data` and numbers keep their text. Keys must match exactly;
//! where one is given twice the last one counts, as in the original, and [`crate::run::json::keys`] tells of it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::run::json::{Text, plain};

/// The members that an event may have, in the order in which they are written (facts 3.1).
pub const MEMBERS: [&str; 10] =
    ["seq", "timestamp", "type", "run_id", "branch_id", "node_id", "data", "tenant_id", "log_offset", "active_ms"];

/// An event, borrowed from its line.
#[derive(Debug, Default)]
pub struct Event<'a> {
    /// The line, without newline, carriage return and byte order mark.
    pub line: &'a [u8],
    /// The same as text.
    pub text: &'a str,
    /// Its number in the run, from 0.
    pub seq: u64,
    /// When it was appended, as written.
    pub timestamp: Cow<'a, str>,
    /// The member `type`.
    pub kind: Cow<'a, str>,
    /// The run it says it belongs to.
    pub run_id: Cow<'a, str>,
    /// The branch, or empty.
    pub branch_id: Cow<'a, str>,
    /// The node, or empty.
    pub node_id: Cow<'a, str>,
    /// The tenant, or empty.
    pub tenant_id: Cow<'a, str>,
    /// The text of the object `data`, if there is one.
    pub data: Option<&'a RawValue>,
    /// Length of run.log when it was appended, or 0.
    pub log_offset: u64,
    /// Active milliseconds of the run when it was appended, if it says so.
    pub active_ms: Option<u64>,
}

/// Why a line is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// It is the beginning of a JSON text: an append that was cut short.
    CutShort,
    /// It is not JSON.
    NotJson(String),
    /// It is JSON, but not an event.
    NotEvent(String),
    /// It is not UTF-8 from this byte of the line on.
    InvalidUtf8(usize),
}

impl<'a> Event<'a> {
    /// Reads a line that has been freed of its newline, carriage return and byte order mark.
    ///
    /// # Errors
    /// What keeps it from being an event.
    pub fn parse(line: &'a [u8]) -> Result<Self, Flaw> {
        let text_of_line = std::str::from_utf8(line).map_err(|error| match error.error_len() {
            None => Flaw::CutShort,
            Some(_) => Flaw::InvalidUtf8(error.valid_up_to()),
        })?;
        let members: Members<'a> = serde_json::from_str(text_of_line).map_err(|error| {
            if error.is_eof() {
                Flaw::CutShort
            } else if error.is_data() {
                Flaw::NotEvent("not an object".into())
            } else {
                Flaw::NotJson(plain(&error))
            }
        })?;
        members.into_event(line, text_of_line)
    }

    /// The text of a member of `data`, by its path of keys.
    #[must_use]
    pub fn datum(&self, path: &[&str]) -> Option<&'a RawValue> {
        path.iter().try_fold(self.data?, |value, key| member(value.get(), key))
    }

    /// The members of `data` in their order.
    #[must_use]
    pub fn members_of_data(&self) -> Vec<(Cow<'a, str>, &'a RawValue)> {
        self.data.map_or_else(Vec::new, |data| members(data.get()))
    }
}

/// The members of an object in their order; empty where there is no object.
#[must_use]
pub fn members(object: &str) -> Vec<(Cow<'_, str>, &RawValue)> {
    struct All;
    impl<'de> Visitor<'de> for All {
        type Value = Vec<(Cow<'de, str>, &'de RawValue)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some((key, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                all.push((key.0, value));
            }
            Ok(all)
        }
    }
    serde_json::Deserializer::from_str(object).deserialize_map(All).unwrap_or_default()
}

/// The value of a key of an object, as written; the last one where there are several. `None` where there is no object.
#[must_use]
pub fn member<'a>(object: &'a str, wanted: &str) -> Option<&'a RawValue> {
    struct Find<'w>(&'w str);
    impl<'de> Visitor<'de> for Find<'_> {
        type Value = Option<&'de RawValue>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<Text<'de>>()? {
                if key.0 == self.0 {
                    found = Some(map.next_value()?);
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    serde_json::Deserializer::from_str(object).deserialize_map(Find(wanted)).ok().flatten()
}

/// The string that a JSON text is, if it is one.
#[must_use]
pub fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    if !raw.get().starts_with('"') {
        return None;
    }
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

/// The unsigned integer that a JSON text is, if it is one. Integers that were written as floats count.
#[must_use]
pub fn integer(raw: &RawValue) -> Option<u64> {
    let text = raw.get();
    let whole = text
        .split_once('.')
        .map_or(text, |(whole, rest)| if rest.bytes().all(|digit| digit == b'0') { whole } else { text });
    whole.parse().ok()
}

/// The boolean that a JSON text is, if it is one.
#[must_use]
pub fn boolean(raw: &RawValue) -> Option<bool> {
    match raw.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// The known members as they stand in the line, in the order of [`MEMBERS`].
#[derive(Default)]
struct Members<'a>([Option<&'a RawValue>; MEMBERS.len()]);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Members::default();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    let place = MEMBERS.iter().position(|member| *member == key.0);
                    match place.and_then(|place| members.0.get_mut(place)) {
                        Some(place) => *place = Some(map.next_value()?),
                        None => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

impl<'a> Members<'a> {
    fn into_event(self, line: &'a [u8], whole: &'a str) -> Result<Event<'a>, Flaw> {
        let [seq, timestamp, kind, run_id, branch_id, node_id, data, tenant_id, log_offset, active_ms] = self.0;
        let missing = |name: &str| Flaw::NotEvent(format!("has no {name}"));
        Ok(Event {
            line,
            text: whole,
            seq: count("seq", Some(seq.ok_or_else(|| missing("seq"))?))?.ok_or_else(|| missing("seq"))?,
            timestamp: text("timestamp", timestamp)?,
            kind: text("type", Some(kind.ok_or_else(|| missing("type"))?))?,
            run_id: text("run_id", run_id)?,
            branch_id: text("branch_id", branch_id)?,
            node_id: text("node_id", node_id)?,
            tenant_id: text("tenant_id", tenant_id)?,
            data: object("data", data)?,
            log_offset: count("log_offset", log_offset)?.unwrap_or(0),
            active_ms: count("active_ms", active_ms)?,
        })
    }
}

fn text<'a>(name: &str, raw: Option<&'a RawValue>) -> Result<Cow<'a, str>, Flaw> {
    match raw {
        None => Ok(Cow::Borrowed("")),
        Some(raw) if raw.get() == "null" => Ok(Cow::Borrowed("")),
        Some(raw) => string(raw).ok_or_else(|| Flaw::NotEvent(format!("{name} is not a string"))),
    }
}

/// A number from 0 to the largest that the original can hold.
fn count(name: &str, raw: Option<&RawValue>) -> Result<Option<u64>, Flaw> {
    match raw {
        None => Ok(None),
        Some(raw) if raw.get() == "null" => Ok(None),
        Some(raw) => match raw.get().parse::<u64>() {
            Ok(number) if i64::try_from(number).is_ok() => Ok(Some(number)),
            _ => Err(Flaw::NotEvent(format!("{name} is not an integer from 0 to 2^63-1"))),
        },
    }
}

fn object<'a>(name: &str, raw: Option<&'a RawValue>) -> Result<Option<&'a RawValue>, Flaw> {
    match raw {
        None => Ok(None),
        Some(raw) if raw.get() == "null" => Ok(None),
        Some(raw) if raw.get().starts_with('{') => Ok(Some(raw)),
        Some(_) => Err(Flaw::NotEvent(format!("{name} is not an object"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_knows_and_keeps_the_text_of_numbers() {
        let line = br#"{"seq":9007199254740993,"new":[1e400],"type":"x\u0041","data":{"n":9007199254740993.10}}"#;
        let event = Event::parse(line).unwrap();
        assert_eq!((event.seq, &*event.kind), (9_007_199_254_740_993, "xA"));
        assert_eq!(event.datum(&["n"]).unwrap().get(), "9007199254740993.10");
        assert!(event.datum(&["n", "m"]).is_none() && event.datum(&["o"]).is_none());
    }

    #[test]
    fn tells_a_torn_line_from_a_damaged_one() {
        let whole = "{\"seq\":1,\"type\":\"caf\u{e9} \\u00e9\",\"data\":{\"a\":[1,{}]}}".as_bytes();
        for cut in 1..whole.len() {
            assert_eq!(Event::parse(&whole[..cut]).unwrap_err(), Flaw::CutShort, "cut at {cut}");
        }
        assert!(Event::parse(whole).is_ok());
        assert!(matches!(Event::parse(b"{\"seq\":1,}"), Err(Flaw::NotJson(_))));
        assert!(matches!(Event::parse(b"{} {}"), Err(Flaw::NotJson(_))));
        assert_eq!(Event::parse(b"{\"seq\":1,\"type\":\"\xff\"}").unwrap_err(), Flaw::InvalidUtf8(17));
        for odd in ["[]", "7", "{}", r#"{"seq":-1,"type":"a"}"#, r#"{"seq":1.5,"type":"a"}"#, r#"{"seq":1}"#] {
            assert!(matches!(Event::parse(odd.as_bytes()), Err(Flaw::NotEvent(_))), "{odd}");
        }
        for odd in [r#"{"seq":1,"type":"a","data":[]}"#, r#"{"seq":9223372036854775808,"type":"a"}"#] {
            assert!(matches!(Event::parse(odd.as_bytes()), Err(Flaw::NotEvent(_))), "{odd}");
        }
        assert!(Event::parse(br#"{"seq":0,"type":"a","data":null,"branch_id":""}"#).is_ok());
    }
}
