//! The data of the event `run_rewound` (facts 6.7).

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{Extent, Findings};
use crate::error::{Error, Result};
use crate::history::json;
use crate::store::id::SnapshotId;
use crate::store::relpath::RelPathBuf;
use crate::stream::quote;

/// So many paths of a list are named; the counts are exact.
const PATHS_MAX: usize = 100;

/// What a rewind tells of itself.
pub struct Told<'a> {
    /// The node at which the run stood.
    pub from_node: Option<&'a str>,
    /// The node it goes back to before.
    pub to_node: &'a str,
    /// How much was restored.
    pub extent: Extent,
    /// The target.
    pub target: &'a SnapshotId,
    /// The bank.
    pub bank: Option<&'a SnapshotId>,
    /// Why nothing was restored, if nothing was.
    pub skip_reason: Option<&'a str>,
    /// What was found.
    pub findings: &'a Findings,
}

/// What a caller adds: a JSON object as it was written, without its braces.
#[derive(Debug, Default)]
pub struct Extra {
    members: String,
    has_from_node: bool,
}

impl Extra {
    /// Takes the text of an object. What the rewind itself tells cannot be told otherwise; only `from_node` can.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`].
    pub fn parse(text: &str) -> Result<Self> {
        let malformed = |cause: &dyn std::fmt::Display| {
            Error::usage(format!("the event's data is not a JSON object: {cause}"))
                .hint("write it as {\"dropped_nodes\": [...]}")
        };
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| malformed(&error))?;
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(|error| malformed(&error))?;
        if let Some(key) = members.keys().find(|key| *key == "to_node" || key.starts_with("files_")) {
            return Err(Error::usage(format!("the event's data has {}", quote::name(key.as_bytes())))
                .hint("leave it out: the rewind itself tells that"));
        }
        let inner =
            raw.get().trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default().trim();
        Ok(Self { members: inner.to_owned(), has_from_node: members.contains_key("from_node") })
    }
}

/// Writes the event's data.
#[must_use]
pub fn data(told: &Told<'_>, extra: &Extra) -> String {
    let mut out = vec![b'{'];
    if let Some(node) = told.from_node.filter(|_| !extra.has_from_node) {
        string(&mut out, "from_node", node);
    }
    string(&mut out, "to_node", told.to_node);
    if !extra.members.is_empty() {
        out.push(b',');
        out.extend_from_slice(extra.members.as_bytes());
    }
    json::push_key(&mut out, "files_reverted");
    out.extend_from_slice(if told.skip_reason.is_none() { b"true" } else { b"false" });
    string(&mut out, "files_ref", told.target.as_str());
    if let Some(bank) = told.bank {
        string(&mut out, "files_backup_ref", bank.as_str());
    }
    if let Some(reason) = told.skip_reason {
        string(&mut out, "files_skip_reason", reason);
    }
    string(&mut out, "files_restore_scope", told.extent.as_str());
    if let Some(count) = told.findings.scope_count {
        json::push_key(&mut out, "files_scope_count");
        json::push_number(&mut out, count);
    }
    // The last one is ours: the original knows of no path that nobody can tell who changed it.
    for (key, paths) in [
        ("files_overwritten", &told.findings.overwritten),
        ("files_left_in_place", &told.findings.left),
        ("files_undecided", &told.findings.undecided),
    ] {
        json::push_key(&mut out, key);
        json::push_number(&mut out, paths.len());
        json::push_key(&mut out, &format!("{key}_paths"));
        json::push_array(&mut out, paths.iter().take(PATHS_MAX), push_path);
    }
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}

fn string(out: &mut Vec<u8>, key: &str, text: &str) {
    json::push_key(out, key);
    json::push_string(out, text);
}

/// Readers of the event know only text.
fn push_path(out: &mut Vec<u8>, path: &RelPathBuf) {
    json::push_string(out, &String::from_utf8_lossy(path.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(extra: &str) -> Result<String> {
        let extra = Extra::parse(extra)?;
        let target = SnapshotId::new(1, 1);
        let findings = Findings::default();
        let told = Told {
            from_node: Some("verify"),
            to_node: "build",
            extent: Extent::Produced,
            target: &target,
            bank: None,
            skip_reason: None,
            findings: &findings,
        };
        Ok(data(&told, &extra))
    }

    #[test]
    fn what_a_caller_adds_stays_as_it_is_written() {
        let text = told(r#" {"dropped_nodes":["a"],"deep":{"n":1.0}} "#).unwrap();
        assert!(
            text.starts_with(
                r#"{"from_node":"verify","to_node":"build","dropped_nodes":["a"],"deep":{"n":1.0},"files_reverted""#
            ),
            "{text}"
        );
        let text = told(r#"{"from_node":"other"}"#).unwrap();
        assert!(text.starts_with(r#"{"to_node":"build","from_node":"other","files_reverted":true"#), "{text}");
        assert!(serde_json::from_str::<serde_json::Value>(&told("{ }").unwrap()).is_ok());
    }

    #[test]
    fn what_nobody_can_tell_who_changed_it_is_counted_and_named() {
        let path = |text: &str| RelPathBuf::new(text.as_bytes()).unwrap();
        let findings = Findings { undecided: vec![path("a"), path("b")], ..Findings::default() };
        let told = Told {
            from_node: None,
            to_node: "build",
            extent: Extent::Produced,
            target: &SnapshotId::new(1, 1),
            bank: None,
            skip_reason: None,
            findings: &findings,
        };
        let text = data(&told, &Extra::default());
        assert!(text.ends_with(r#""files_undecided":2,"files_undecided_paths":["a","b"]}"#), "{text}");
    }

    #[test]
    fn what_the_rewind_tells_cannot_be_told_otherwise() {
        for text in [r#"{"files_ref":"x"}"#, r#"{"to_node":"x"}"#, "[]", "{", "7", r#"{"a":1,}"#] {
            assert!(told(text).is_err(), "{text}");
        }
    }
}
