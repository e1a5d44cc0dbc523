//! A JSON document as a tree that survives a rewrite: members keep their order, numbers and strings their text, and what
//! nobody knows stays where it is (design section 8, facts 0 and 10.25).
//!
//! Written in the two forms of the original: documents are indented by two spaces and end without a newline, lines are
//! compact. In both `<`, `>`, `&` and the two line separators of Unicode are escaped.
//!
//! * [`compact`]: the text of a value without blanks, escaped as the original escapes.
//! * [`keys`]: keys that an object gives twice.

pub mod compact;
pub mod keys;
mod read;
mod write;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// The text of a string, a number, `true`, `false` or `null`, as it was written.
    Scalar(Box<str>),
    /// An array.
    Array(Vec<Json>),
    /// An object: its members in their order. Where a key is given twice the last one counts.
    Object(Vec<(String, Json)>),
}

impl Default for Json {
    fn default() -> Self {
        Self::null()
    }
}

impl Json {
    /// `null`.
    #[must_use]
    pub fn null() -> Self {
        Self::Scalar("null".into())
    }

    /// A string.
    #[must_use]
    pub fn string(text: &str) -> Self {
        let mut out = Vec::new();
        compact::append_string(text, &mut out);
        Self::Scalar(String::from_utf8_lossy(&out).into())
    }

    /// An integer.
    #[must_use]
    pub fn integer(number: i64) -> Self {
        Self::Scalar(number.to_string().into())
    }

    /// A boolean.
    #[must_use]
    pub fn boolean(value: bool) -> Self {
        Self::Scalar(if value { "true" } else { "false" }.into())
    }

    /// An object with these members.
    #[must_use]
    pub fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// An array of strings.
    #[must_use]
    pub fn strings<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::Array(texts.into_iter().map(|text| Self::string(text.as_ref())).collect())
    }

    /// The members of an object; none of anything else.
    #[must_use]
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of an array; none of anything else.
    #[must_use]
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::Array(elements) => elements,
            _ => &[],
        }
    }

    /// A member of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// A member of an object, to change it.
    #[must_use]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match self {
            Self::Object(members) => members.iter_mut().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// A member of a member and so on.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// What a JSON pointer (RFC 6901) names; the empty pointer names the whole. `None` also for what is no pointer.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            match value {
                Self::Array(elements) => {
                    let canonical = token == "0" || !token.starts_with(['0', '+']);
                    elements.get(token.parse::<usize>().ok().filter(|_| canonical)?)
                }
                other => other.get(&token),
            }
        })
    }

    /// The string that this is.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Scalar(text) if text.starts_with('"') => {
                serde_json::from_str::<Text<'_>>(text).ok().map(|text| text.0)
            }
            _ => None,
        }
    }

    /// The string that a member is; empty where it is missing or something else.
    #[must_use]
    pub fn text_of(&self, key: &str) -> Cow<'_, str> {
        self.get(key).and_then(Self::text).unwrap_or_default()
    }

    /// The integer that this is.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Scalar(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The boolean that this is.
    #[must_use]
    pub fn as_boolean(&self) -> Option<bool> {
        match self {
            Self::Scalar(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Whether this is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Scalar(text) if &**text == "null")
    }

    /// Whether the original leaves a member with this value out: `null`, `false`, `0`, `""`, `[]` and `{}`.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Scalar(text) => matches!(&**text, "null" | "false" | "0" | "\"\""),
            Self::Array(elements) => elements.is_empty(),
            Self::Object(members) => members.is_empty(),
        }
    }

    /// Sets a member: in its place if it is there, else behind the others. What is no object becomes one.
    pub fn set(&mut self, key: &str, value: Self) {
        self.set_in_order(key, value, &[]);
    }

    /// Sets a member. A new one goes in front of the first member that comes behind it in `order`, so that a document
    /// keeps the order of its format; one that is not in `order` goes to the end. What is no object becomes one.
    pub fn set_in_order(&mut self, key: &str, value: Self, order: &[&str]) {
        if let Some(place) = self.get_mut(key) {
            *place = value;
            return;
        }
        if !self.is_object() {
            *self = Self::Object(Vec::new());
        }
        let Self::Object(members) = self else { return };
        let rank = |key: &str| order.iter().position(|known| *known == key);
        let place = rank(key)
            .and_then(|ours| members.iter().position(|(name, _)| rank(name).is_some_and(|theirs| theirs > ours)));
        members.insert(place.unwrap_or(members.len()), (key.to_owned(), value));
    }

    /// Takes a member out.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        let Self::Object(members) = self else { return None };
        let mut removed = None;
        members.retain_mut(|(name, value)| {
            let keep = name != key;
            if !keep {
                removed = Some(std::mem::take(value));
            }
            keep
        });
        removed
    }

    /// Whether both are the same value: strings by what they say, objects whatever the order of their members, numbers by
    /// their text.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Scalar(a), Self::Scalar(b)) => {
                a == b || self.text().is_some_and(|text| other.text() == Some(text))
            }
            (Self::Array(a), Self::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b)),
            (Self::Object(a), Self::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, value)| other.get(key).is_some_and(|other| value.is_same(other)))
            }
            _ => false,
        }
    }
}

/// A string that is borrowed where it has no escapes.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// A `serde_json` error in one line, with the column that it stopped at.
pub(crate) fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    format!("{text} at byte {}", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_document_survives_a_rewrite() {
        let text = concat!(
            "{\n  \"z\": 1.50,\n  \"a\": [\n    9007199254740993,\n    {},\n    [],\n    \"\\u003ca\\u003e \\u00e9\"\n  ],\n",
            "  \"n\": null,\n  \"o\": {\n    \"k\": 1e3\n  }\n}"
        );
        assert_eq!(String::from_utf8(tree(text).indented()).unwrap(), text);
        assert_eq!(tree(text).compact(), text.replace('\n', "").replace("  ", "").replace("\": ", "\":"));
    }

    #[test]
    fn new_members_go_where_their_format_has_them() {
        let order = ["a", "b", "c", "d"];
        let mut json = tree(r#"{"a":1,"x":2,"d":3}"#);
        json.set_in_order("c", Json::integer(4), &order);
        json.set_in_order("b", Json::integer(5), &order);
        json.set_in_order("y", Json::integer(6), &order);
        json.set_in_order("a", Json::string("<"), &order);
        assert_eq!(json.compact(), r#"{"a":"\u003c","x":2,"b":5,"c":4,"d":3,"y":6}"#);
        assert_eq!(json.remove("x").and_then(|x| x.as_integer()), Some(2));
        assert_eq!(json.remove("x"), None);
    }

    #[test]
    fn pointers_are_those_of_rfc_6901() {
        let json = tree(r#"{"a":[10,{"b/c":1,"~":2}],"":3}"#);
        let at = |pointer: &str| json.pointer(pointer).map(Json::compact);
        assert_eq!(at("/a/0").as_deref(), Some("10"));
        assert_eq!(at("/a/1/b~1c").as_deref(), Some("1"));
        assert_eq!(at("/a/1/~0").as_deref(), Some("2"));
        assert_eq!(at("/").as_deref(), Some("3"));
        assert_eq!(at("").map(|all| all.len()), Some(json.compact().len()));
        for bad in ["a", "/a/2", "/a/00", "/a/+1", "/a/-", "/a/x", "/b"] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_same_value_in_other_words_is_the_same() {
        assert!(tree(r#"{"a":"\u0041","b":[1,{}]}"#).is_same(&tree(r#"{"b":[1,{}],"a":"A"}"#)));
        for (a, b) in [("1", "2"), ("1", "1.0"), ("[1,2]", "[2,1]"), (r#"{"a":1}"#, r#"{"a":1,"b":1}"#)] {
            assert!(!tree(a).is_same(&tree(b)), "{a} {b}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        for bad in ["", "{", "{}x", "[1,]", "\u{feff}{}", "{\"a\":1,}", "nul"] {
            assert!(Json::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Json::parse(b"\"\xff\"").unwrap_err().contains("byte 1"));
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(Json::parse(deep(200).as_bytes()).is_ok());
        assert!(Json::parse(deep(20_000).as_bytes()).unwrap_err().contains("nested"));
    }
}
