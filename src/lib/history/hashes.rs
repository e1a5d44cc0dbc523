//! Which objects a document of a snapshots directory keeps alive, read without keeping anything but the hashes.
//!
//! A prune must know every hash of every manifest and pin, and needs nothing else of them. So this reader is strict
//! about the places where hashes stand (`entries[].hash`, `raw[].hash`, `links[].hash`, `coverage.rules.oid`) and takes
//! every run of exactly 64 lower-case hex digits in members that it does not know for a hash too: a later version may
//! name objects there.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::index::Text;
use crate::store::id::ObjectId;

/// The newest `format_version` that this program understands; manifests have none so far.
const FORMAT_VERSION_MAX: u64 = 1;

/// Hands every hash that a manifest or pin names to `sink`, some of them more than once.
///
/// # Errors
/// A sentence that says why the document cannot be trusted to have named all of them.
pub fn for_each_named(bytes: &[u8], sink: &mut dyn FnMut(ObjectId)) -> Result<(), String> {
    if bytes.is_empty() {
        return Err("the file is empty".into());
    }
    let rest = plain_entries(bytes, sink).map(|entries| {
        let (before, behind) = (bytes.get(..entries.start), bytes.get(entries.end..));
        [before.unwrap_or_default(), behind.unwrap_or_default()].concat()
    });
    let mut deserializer = serde_json::Deserializer::from_slice(rest.as_deref().unwrap_or(bytes));
    Document(sink)
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end())
        .map_err(|error| format!("neither a manifest nor a pin: {error}"))
}

/// Whether a document says that a later version of these programs wrote it: it is not damaged, only not for us.
#[must_use]
pub fn is_newer(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Version {
        format_version: u64,
    }
    serde_json::from_slice::<Version>(bytes).is_ok_and(|version| version.format_version > FORMAT_VERSION_MAX)
}

/// Hands every run of exactly 64 lower-case hex digits in `bytes` to `sink`: all that a document which cannot be
/// understood may name.
pub fn for_each_in_text(bytes: &[u8], sink: &mut dyn FnMut(ObjectId)) {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    for run in bytes.split(|byte| !is_digit(byte)).filter(|run| run.len() == 64) {
        ObjectId::parse(run).into_iter().for_each(&mut *sink);
    }
}

/// As [`for_each_in_text`], for one JSON value: escapes are undone first.
fn for_each_in_value(raw: &RawValue, sink: &mut dyn FnMut(ObjectId)) {
    let text = raw.get().as_bytes();
    for_each_in_text(text, sink);
    if text.contains(&b'\\') {
        for_each_in_text(&unescaped(text), sink);
    }
}

/// The text with its escapes undone as far as a hash may be written with them. It reads no values, so that neither depth
/// nor a number that fits no type of ours can hide a hash.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        let (byte, length) = match (first, tail) {
            (b'\\', [b'u', digits @ ..]) => {
                let digits = digits.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
                // Any other character ends a run of digits.
                (digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or(b'?'), 6)
            }
            (b'\\', _) => (b'?', 2),
            (other, _) => (*other, 1),
        };
        plain.push(byte);
        rest = rest.get(length..).unwrap_or_default();
    }
    plain
}

/// Reads entries that stand exactly as we and the original write them, and says where in the document they are; `None`
/// where anything is otherwise. Nearly all of a store is such entries, and this is many times faster than a parser. The
/// rest of the document, with no entries in it, has to be parsed.
///
/// What is found need not be the document's own `entries`: then its items are hashes more, and its own are parsed.
fn plain_entries(bytes: &[u8], sink: &mut dyn FnMut(ObjectId)) -> Option<Range<usize>> {
    // A quote in a string is escaped, so this is a member.
    let key = b"\"entries\":[";
    let start = memchr::memmem::find(bytes, key)? + key.len();
    let mut rest = bytes.get(start..)?;
    loop {
        rest = rest.strip_prefix(b"{\"path\":\"")?;
        let end = memchr::memchr(b'"', rest)?;
        let path = rest.get(..end)?;
        if path.iter().any(|byte| *byte == b'\\' || *byte < b' ') {
            return None;
        }
        rest = rest.get(end..)?.strip_prefix(b"\",\"hash\":\"")?;
        let (hash, behind) = rest.split_at_checked(64)?;
        let id = ObjectId::parse(hash)?;
        rest = plain_number(behind.strip_prefix(b"\",\"mode\":")?)?;
        rest = plain_number(rest.strip_prefix(b",\"size\":")?)?.strip_prefix(b"}")?;
        // Only now: 64 digits may be the beginning of more.
        sink(id);
        match rest.split_first()? {
            (b',', behind) => rest = behind,
            (b']', _) => return Some(start..bytes.len() - rest.len()),
            _ => return None,
        }
    }
}

/// Skips digits without a leading zero.
fn plain_number(text: &[u8]) -> Option<&[u8]> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_plain = count == 1 || (count > 1 && text.first() != Some(&b'0'));
    if is_plain { text.get(count..) } else { None }
}

type Sink<'s> = &'s mut dyn FnMut(ObjectId);

/// The whole document.
struct Document<'s>(Sink<'s>);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = Vec::new();
        while let Some(Text(key)) = map.next_key()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("member '{key}' stands twice")));
            }
            match &*key {
                "id" | "pin_of" => drop(map.next_value::<Text<'_>>()?),
                "entries" | "raw" => map.next_value_seed(Items { needs_hash: true, sink: &mut *self.0 })?,
                "links" => map.next_value_seed(Items { needs_hash: false, sink: &mut *self.0 })?,
                "coverage" => coverage(map.next_value()?, self.0).map_err(A::Error::custom)?,
                "format_version" => {
                    let version: u64 = map.next_value()?;
                    if version > FORMAT_VERSION_MAX {
                        return Err(A::Error::custom(format!("it has format version {version}, which is newer")));
                    }
                }
                _ => for_each_in_value(map.next_value()?, self.0),
            }
            seen.push(key);
        }
        let has = |name: &str| seen.iter().any(|key| key == name);
        if !has("entries") || !(has("id") || has("pin_of")) {
            return Err(A::Error::custom("it has no 'entries', or neither 'id' nor 'pin_of'"));
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct CoverageHashes<'a> {
    #[serde(borrow)]
    rules: Option<RulesHash<'a>>,
}

#[derive(Deserialize)]
struct RulesHash<'a> {
    #[serde(borrow)]
    oid: Text<'a>,
}

fn coverage(raw: &RawValue, sink: &mut dyn FnMut(ObjectId)) -> Result<(), String> {
    let read: Option<CoverageHashes<'_>> =
        serde_json::from_str(raw.get()).map_err(|error| format!("its coverage: {error}"))?;
    if let Some(rules) = read.and_then(|coverage| coverage.rules) {
        sink(ObjectId::parse(rules.oid.0.as_bytes()).ok_or("the rules have a malformed object id")?);
    }
    for_each_in_value(raw, sink);
    Ok(())
}

/// An array of things with a hash, or null.
struct Items<'s> {
    needs_hash: bool,
    sink: Sink<'s>,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of entries")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        loop {
            let item = Item { needs_hash: self.needs_hash, sink: &mut *self.sink, lifetime: PhantomData };
            if seq.next_element_seed(item)?.is_none() {
                return Ok(());
            }
        }
    }
}

struct Item<'s, 'de> {
    needs_hash: bool,
    sink: Sink<'s>,
    lifetime: PhantomData<&'de ()>,
}

impl<'de> DeserializeSeed<'de> for Item<'_, 'de> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Item<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entry")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_hash = false;
        while let Some(Text(key)) = map.next_key()? {
            match &*key {
                "hash" if has_hash => return Err(A::Error::custom("an entry has two hashes")),
                "hash" => {
                    let Text(hash) = map.next_value()?;
                    let id = ObjectId::parse(hash.as_bytes());
                    (self.sink)(id.ok_or_else(|| A::Error::custom("a hash is not 64 lower-case hex digits"))?);
                    has_hash = true;
                }
                // The members whose meaning is known, and that name no object.
                "path" | "path_b64" | "mode" | "size" | "target" | "target_b64" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => for_each_in_value(map.next_value()?, self.sink),
            }
        }
        if has_hash || !self.needs_hash {
            return Ok(());
        }
        Err(A::Error::custom("an entry has no hash"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        for_each_named(text.as_bytes(), &mut |id| found.push(id.to_string()))?;
        found.sort();
        found.dedup();
        Ok(found)
    }

    #[test]
    fn neither_depth_nor_large_numbers_hide_a_hash() {
        let escaped = format!(r#""\\\"\u2028\u0061{}\n""#, &hash('a')[1..]);
        let (open, close) = ("[".repeat(200), "]".repeat(200));
        for member in [format!("{open}{escaped}{close}"), format!(r#"[1e400,{escaped},"\ud800"]"#)] {
            let text = format!(r#"{{"id":"1-0001","entries":null,"later":{member}}}"#);
            assert_eq!(named(&text).unwrap(), [hash('a')], "{text}");
        }
    }

    #[test]
    fn more_than_64_digits_are_no_hash() {
        let text = format!(
            r#"{{"id":"1-0001","later":{{"entries":[{{"path":"a","hash":"{}1","mode":420,"size":1}}]}},"entries":null}}"#,
            hash('a')
        );
        assert!(named(&text).unwrap().is_empty());
    }

    fn hash(digit: char) -> String {
        digit.to_string().repeat(64)
    }

    #[test]
    fn every_place_that_names_an_object_is_read() {
        let escaped = format!("\\u0066{}", &hash('f')[1..]);
        let text = format!(
            r#"{{"id":"1-0001","entries":[{{"path":"a","hash":"{}","mode":420,"size":1,"later":["{}"]}}],
               "raw":[{{"path_b64":"/w==","hash":"{}"}}],"links":[{{"path":"l","hash":"{}"}},{{"path":"m"}}],
               "coverage":{{"rules":{{"source":"none","oid":"{}"}}}},"unknown":{{"big":1e400,"x":"sha256:{}"}},"y":"{escaped}"}}"#,
            hash('a'),
            hash('9'),
            hash('b'),
            hash('c'),
            hash('d'),
            hash('e'),
        );
        assert_eq!(named(&text).unwrap(), ['9', 'a', 'b', 'c', 'd', 'e', 'f'].map(hash));
        assert_eq!(named(r#"{"id":"1-0001","entries":null}"#).unwrap(), Vec::<String>::new());
        assert!(named(&format!(r#"{{"pin_of":"1-0001","entries":[{{"hash":"{}"}}]}}"#, hash('a'))).is_ok());
    }

    fn plain(entries: &str) -> String {
        format!(r#"{{"id":"1-0001","entries":[{entries}],"skipped":[],"later":"{}"}}"#, hash('e'))
    }

    #[test]
    fn entries_in_our_own_form_are_read_without_a_parser_and_say_the_same() {
        let entry = |digit| format!(r#"{{"path":"a {digit}","hash":"{}","mode":420,"size":0}}"#, hash(digit));
        let text = plain(&[entry('a'), entry('b')].join(","));
        let mut found = Vec::new();
        let place = plain_entries(text.as_bytes(), &mut |id| found.push(id.to_string())).unwrap();
        assert_eq!(found, ['a', 'b'].map(hash));
        assert_eq!(&text[place.end..=place.end], "]");
        assert_eq!(named(&text).unwrap(), ['a', 'b', 'e'].map(hash));
    }

    #[test]
    fn entries_in_another_form_are_left_to_the_parser() {
        let good = format!(r#"{{"path":"a","hash":"{}","mode":420,"size":1}}"#, hash('a'));
        let other = [
            good.replace("\"a\"", "\"\\u0061\""),
            good.replace(",\"mode\"", ", \"mode\""),
            good.replace(":1}", ":1,\"later\":1}"),
            good.replace("\"path\":\"a\",", ""),
            format!("{good} "),
        ];
        for entry in other {
            let text = plain(&format!("{good},{entry}"));
            assert!(plain_entries(text.as_bytes(), &mut |_| {}).is_none(), "{text}");
            assert_eq!(named(&text).unwrap(), ['a', 'e'].map(hash), "{text}");
        }
        // Neither form of these is one.
        for bad in [
            good.replace(":420", ":0420"),
            good.replace(":1}", ":}"),
            good.replace("aaaa\"", "aaaA\""),
            format!("{good},"),
            good.replace("\"a\"", "\"\n\""),
        ] {
            assert!(named(&plain(&bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn entries_of_an_unknown_member_do_not_hide_those_of_the_document() {
        let entry = |digit| format!(r#"{{"path":"a","hash":"{}","mode":420,"size":0}}"#, hash(digit));
        let inner = format!(r#""later":{{"entries":[{}]}}"#, entry('a'));
        let text = format!(r#"{{"id":"1-0001",{inner},"entries":[{}]}}"#, entry('b'));
        assert_eq!(named(&text).unwrap(), ['a', 'b'].map(hash));
        assert!(named(&format!(r#"{{"id":"1-0001",{inner}}}"#)).is_err(), "it has no entries of its own");
    }

    #[test]
    fn what_may_not_have_named_everything_is_refused() {
        for bad in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"id":"1-0001"}"#,
            r#"{"entries":[]}"#,
            r#"{"id":"1-0001","entries":[]} x"#,
            r#"{"id":"1-0001","entries":[{"path":"a"}]}"#,
            r#"{"id":"1-0001","entries":[{"hash":"ABC"}]}"#,
            r#"{"id":"1-0001","entries":[],"entries":[]}"#,
            r#"{"id":"1-0001","entries":{}}"#,
            r#"{"id":"1-0001","entries":[],"format_version":2}"#,
            r#"{"id":"1-0001","entries":[],"coverage":{"rules":{"oid":"x"}}}"#,
        ] {
            assert!(named(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn longer_and_shorter_runs_of_digits_are_no_hashes() {
        let mut found = 0;
        let text = format!("{} {}0 {}", hash('a'), hash('b'), &hash('c')[1..]);
        for_each_in_text(text.as_bytes(), &mut |_| found += 1);
        assert_eq!(found, 1);
    }
}
