//! Finds a key that an object gives twice, at any depth. Writers refuse it, readers warn: programs disagree on which of
//! the two counts.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::Text;

/// Looks for keys given twice in many lines: a fast glance at each, and a thorough look only where that finds something.
#[derive(Default)]
pub struct KeyCheck {
    /// Hashes of the keys of all objects that are open.
    hashes: Vec<u64>,
    /// Where the hashes of each open object begin; an array has none.
    open: Vec<Option<usize>>,
}

/// An object with more keys than this is left to the thorough look, in keys.
const GLANCE_KEYS_MAX: usize = 64;

impl KeyCheck {
    /// The first key that some object of `json`, which must be valid, gives twice. `None` also for what cannot be looked
    /// through.
    pub fn first_duplicate(&mut self, json: &str) -> Option<String> {
        if self.is_clean(json.as_bytes()) { None } else { first_duplicate(json).ok().flatten() }
    }

    /// Whether no key can be there twice. Says no when in doubt: a key has an escape, or two have the same hash.
    fn is_clean(&mut self, json: &[u8]) -> bool {
        self.hashes.clear();
        self.open.clear();
        let (mut at, mut is_key) = (0, false);
        while let Some(&byte) = json.get(at) {
            at += 1;
            match byte {
                b'{' => {
                    self.open.push(Some(self.hashes.len()));
                    is_key = true;
                }
                b'[' => {
                    self.open.push(None);
                    is_key = false;
                }
                b'}' | b']' => {
                    if let Some(Some(begin)) = self.open.pop() {
                        self.hashes.truncate(begin);
                    }
                    is_key = false;
                }
                b',' => is_key = matches!(self.open.last(), Some(Some(_))),
                b'"' => {
                    let (len, has_escapes) = string_len(json.get(at..).unwrap_or_default());
                    if is_key && (has_escapes || !self.is_new(json.get(at..at + len).unwrap_or_default())) {
                        return false;
                    }
                    is_key = false;
                    at += len + 1;
                }
                _ => {}
            }
        }
        true
    }

    /// Remembers a key of the innermost object; says whether it is the first like it.
    fn is_new(&mut self, key: &[u8]) -> bool {
        let hash = key
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        let begin = self.open.last().copied().flatten().unwrap_or(0);
        let siblings = self.hashes.get(begin..).unwrap_or_default();
        let is_new = siblings.len() < GLANCE_KEYS_MAX && !siblings.contains(&hash);
        self.hashes.push(hash);
        is_new
    }
}

/// The length of a string whose opening quote lies before `rest`, and whether it has escapes.
fn string_len(rest: &[u8]) -> (usize, bool) {
    let (mut at, mut has_escapes) = (0, false);
    while let Some(found) = memchr::memchr2(b'"', b'\\', rest.get(at..).unwrap_or_default()) {
        at += found;
        if rest.get(at) == Some(&b'"') {
            return (at, has_escapes);
        }
        has_escapes = true;
        at += 2;
    }
    (rest.len(), has_escapes)
}

/// Objects with more keys than this are remembered in a set instead of a list.
const LIST_KEYS_MAX: usize = 16;

/// The first key that some object of `json` gives twice.
///
/// # Errors
/// What keeps the text from being looked through: nesting deeper than 127, a number that no program can hold, or a lone
/// surrogate. Text that [`crate::run::events::event::Event::parse`] takes may have these.
pub fn first_duplicate(json: &str) -> Result<Option<String>, serde_json::Error> {
    let mut found = None;
    let mut reader = serde_json::Deserializer::from_str(json);
    match (Unique { found: &mut found }).deserialize(&mut reader) {
        Ok(()) => reader.end().map(|()| None),
        // Finding one ends the search by an error of our own.
        Err(_) if found.is_some() => Ok(found),
        Err(error) => Err(error),
    }
}

struct Unique<'f> {
    found: &'f mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = Seen::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            if let Some(twice) = seen.insert(key.0) {
                *self.found = Some(twice);
                return Err(A::Error::custom("duplicate key"));
            }
            map.next_value_seed(Unique { found: &mut *self.found })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Unique { found: &mut *self.found })?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The keys of one object so far.
#[derive(Default)]
struct Seen<'a> {
    list: Vec<Cow<'a, str>>,
    set: HashSet<Cow<'a, str>>,
}

impl<'a> Seen<'a> {
    /// Remembers a key; gives it back if it was there.
    fn insert(&mut self, key: Cow<'a, str>) -> Option<String> {
        if self.list.contains(&key) || self.set.contains(&key) {
            return Some(key.into_owned());
        }
        if self.list.len() < LIST_KEYS_MAX {
            self.list.push(key);
        } else {
            self.set.insert(key);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_key_given_twice_at_any_depth() {
        let find = |json: &str| first_duplicate(json).unwrap();
        assert_eq!(find(r#"{"a":1,"b":[{"a":1},{"a":2}],"c":{"a":null}}"#), None);
        assert_eq!(find(r#"{"a":1,"b":2,"a":3}"#).as_deref(), Some("a"));
        assert_eq!(find(r#"[{"x":{"k":1,"\u006b":2}}]"#).as_deref(), Some("k"));
        let many = (0..100).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",");
        assert_eq!(find(&format!("{{{many}}}")), None);
        assert_eq!(find(&format!("{{{many},\"k3\":0}}")).as_deref(), Some("k3"));
        assert_eq!(find(&format!("{{{many},\"k99\":0}}")).as_deref(), Some("k99"));
    }

    #[test]
    fn the_glance_agrees_with_the_thorough_look() {
        let many = (0..100).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",");
        let mut check = KeyCheck::default();
        for json in [
            r#"{"a":1,"b":[{"a":1},{"a":2}],"c":{"a":null},"d":"a","e":["a","a"]}"#,
            r#"{"a":"b","b":"a","c":["b","c"]}"#,
            r#"{"a":1,"b":2,"a":3}"#,
            r#"{"a":{"a":1},"b":{"b":{"x":1},"b":2}}"#,
            r#"{"a":[{"x":1},7],"x":2,"a":1}"#,
            r#"[{"x":{"k":1,"\u006b":2}}]"#,
            r#"{"\"":1,"b":"\\","c":"\"","d":1}"#,
            r#"{"a":"\",\"a\":1,"}"#,
            &format!("{{{many}}}"),
            &format!("{{{many},\"k3\":0}}"),
        ] {
            assert_eq!(check.first_duplicate(json), first_duplicate(json).unwrap(), "{json}");
        }
        assert!(check.is_clean(br#"{"a":1,"b":[{"a":1},{"a":2}],"c":{"a":null},"d":"a,"}"#), "no second look");
    }

    proptest::proptest! {
        #[test]
        fn the_glance_misses_nothing(tokens in proptest::collection::vec(0..9_usize, 1..40)) {
            // Any nesting of objects and arrays over few keys, closed at the end.
            let (mut json, mut open) = (String::from("{"), vec!['}']);
            let mut first = true;
            for token in tokens {
                if token < 2 && open.len() > 1 {
                    json.extend(open.pop());
                    first = false;
                    continue;
                }
                if !std::mem::take(&mut first) {
                    json.push(',');
                }
                if open.last() == Some(&'}') {
                    json += ["\"a\":", "\"b\" : ", "\"\\u0061\":"][token % 3];
                }
                match token {
                    3 | 4 => { json.push('{'); open.push('}'); first = true; }
                    5 => { json.push('['); open.push(']'); first = true; }
                    6 => json += "\"a\"",
                    _ => json += "1.5",
                }
            }
            json.extend(open.iter().rev());
            let mut check = KeyCheck::default();
            proptest::prop_assert_eq!(check.first_duplicate(&json), first_duplicate(&json).unwrap(), "{}", json);
        }
    }

    #[test]
    fn says_what_it_cannot_look_through() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(first_duplicate(&deep(127)).is_ok());
        assert!(first_duplicate(&deep(128)).is_err());
        assert!(first_duplicate("1e999").is_err());
        assert!(first_duplicate("{} {}").is_err());
    }
}
