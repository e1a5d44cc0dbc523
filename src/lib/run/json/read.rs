//! Text to tree.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Json, Text, plain};

/// Deepest nesting that is read; a document of a run has about ten levels.
const DEPTH_MAX: usize = 512;

impl Json {
    /// Reads a JSON text.
    ///
    /// # Errors
    /// What is wrong with it, in words, and where.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text =
            std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?;
        Self::parse_text(text)
    }

    /// Reads a JSON text that is known to be UTF-8.
    ///
    /// # Errors
    /// As [`Json::parse`].
    pub fn parse_text(text: &str) -> Result<Self, String> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| plain(&error))?;
        Self::of(raw, DEPTH_MAX)
    }

    /// Takes over a value that another reader has found to be JSON.
    ///
    /// # Errors
    /// As [`Json::parse`], for what only a closer look finds: nesting, and surrogates that stand alone.
    pub fn of_raw(raw: &RawValue) -> Result<Self, String> {
        Self::of(raw, DEPTH_MAX)
    }

    fn of(raw: &RawValue, depth: usize) -> Result<Self, String> {
        let text = raw.get();
        let mut reader = serde_json::Deserializer::from_str(text);
        let flaw = |error: serde_json::Error| plain(&error);
        let deeper = depth.checked_sub(1).ok_or_else(|| format!("nested deeper than {DEPTH_MAX} levels"));
        match text.as_bytes().first() {
            Some(b'{') => {
                let depth = deeper?;
                let members = reader.deserialize_map(Members).map_err(flaw)?;
                members
                    .into_iter()
                    .map(|(key, value)| Ok((key, Self::of(value, depth)?)))
                    .collect::<Result<_, _>>()
                    .map(Self::Object)
            }
            Some(b'[') => {
                let depth = deeper?;
                let elements = reader.deserialize_seq(Elements).map_err(flaw)?;
                elements.into_iter().map(|value| Self::of(value, depth)).collect::<Result<_, _>>().map(Self::Array)
            }
            Some(b'"') => {
                // A surrogate that stands alone is found here, not when somebody wants the text.
                serde_json::from_str::<Text<'_>>(text).map_err(flaw)?;
                Ok(Self::Scalar(text.into()))
            }
            _ => Ok(Self::Scalar(text.into())),
        }
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
            members.push((key.0.into_owned(), value));
        }
        Ok(members)
    }
}

struct Elements;

impl<'de> Visitor<'de> for Elements {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(value) = seq.next_element()? {
            elements.push(value);
        }
        Ok(elements)
    }
}
