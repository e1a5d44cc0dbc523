//! Finds a key that an object gives twice, at any depth. Writers refuse it, readers warn: programs disagree on which of
//! the two counts.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::event::Text;

/// Objects with more keys than this are remembered in a set instead of a list.
const LIST_KEYS_MAX: usize = 16;

/// The first key that some object of `json` gives twice.
///
/// # Errors
/// What keeps the text from being looked through: nesting deeper than 127, a number that no program can hold, or a lone
/// surrogate. Text that [`super::event::Event::parse`] takes may have these.
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
    fn says_what_it_cannot_look_through() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(first_duplicate(&deep(127)).is_ok());
        assert!(first_duplicate(&deep(128)).is_err());
        assert!(first_duplicate("1e999").is_err());
        assert!(first_duplicate("{} {}").is_err());
    }
}
