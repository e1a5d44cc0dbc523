//! Changing single members of a manifest whose other bytes stay as they are, those of later versions included.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::history::index::Text;
use crate::history::json::{push_key, push_string};
use crate::store::id::SnapshotId;

/// The members of a JSON object in their order, each value as it is written.
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
                while let Some((Text(key), value)) = map.next_entry()? {
                    if members.iter().any(|(known, _)| *known == key) {
                        return Err(A::Error::custom(format!("member '{key}' stands twice")));
                    }
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// The manifest with another parent, or none. Everything else keeps its bytes and order.
///
/// # Errors
/// A sentence that says what is wrong with the manifest.
pub fn with_parent(bytes: &[u8], parent: Option<&SnapshotId>) -> Result<Vec<u8>, String> {
    let Members(members) = serde_json::from_slice(bytes).map_err(|error| format!("not a manifest: {error}"))?;
    let mut out = Vec::with_capacity(bytes.len() + 64);
    out.push(b'{');
    for (key, value) in members.iter().filter(|(key, _)| key != "parent") {
        push_key(&mut out, key);
        out.extend_from_slice(value.get().as_bytes());
        // Where the original writes it.
        if key == "id"
            && let Some(parent) = parent
        {
            push_key(&mut out, "parent");
            push_string(&mut out, parent.as_str());
        }
    }
    out.push(b'}');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_parent_changes() {
        let text = r#"{"id":"3-0001","parent":"2-0001","x":[1e400, "\u0041"],"entries":null}"#;
        let changed = |parent: Option<&str>| {
            let parent = parent.and_then(SnapshotId::parse);
            String::from_utf8(with_parent(text.as_bytes(), parent.as_ref()).unwrap()).unwrap()
        };
        assert_eq!(changed(Some("1-0001")), text.replace("2-0001", "1-0001"));
        assert_eq!(changed(None), text.replace(r#""parent":"2-0001","#, ""));
        assert!(with_parent(b"[]", None).is_err());
    }
}
