//! Taking single paths out of a manifest: each becomes a gap `purged`, and every other byte stays as it is.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::read::parse;
use super::splice::Members;
use crate::history::json::{self, push_array, push_key, push_name, push_string};
use crate::store::hash;
use crate::store::id::ObjectId;
use crate::store::relpath::{RelPath, RelPathBuf};

/// The reason of the gaps that this file makes.
pub(crate) const PURGED: &str = "purged";

/// A manifest without some of its entries.
pub struct Cut {
    /// Its bytes.
    pub json: Vec<u8>,
    /// What was taken out: path, content, bytes.
    pub removed: Vec<(RelPathBuf, ObjectId, u64)>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    path_b64: Option<Cow<'a, str>>,
    #[serde(borrow)]
    hash: Option<Cow<'a, str>>,
    #[serde(borrow)]
    target: Option<Cow<'a, str>>,
    #[serde(borrow)]
    target_b64: Option<Cow<'a, str>>,
    #[serde(default)]
    size: u64,
}

impl Item<'_> {
    fn read(&self) -> Option<(RelPathBuf, ObjectId, u64)> {
        let name = json::name(self.path.as_deref(), self.path_b64.as_deref())?;
        let path = RelPath::new(&name).ok()?.to_owned();
        match json::name(self.target.as_deref(), self.target_b64.as_deref()) {
            Some(target) => Some((path, hash::of_bytes(&target), target.len() as u64)),
            None => Some((path, ObjectId::parse(self.hash.as_deref()?.as_bytes())?, self.size)),
        }
    }
}

/// Takes the entries out for which `is_meant` says yes; `None` when there is none.
///
/// # Errors
/// A sentence that says what is wrong with the manifest.
pub fn cut(bytes: &[u8], is_meant: &dyn Fn(&RelPath, ObjectId) -> bool) -> Result<Option<Cut>, String> {
    let malformed = |error: serde_json::Error| format!("not a manifest: {error}");
    let Members(members) = serde_json::from_slice(bytes).map_err(malformed)?;
    let mut removed = Vec::new();
    let mut kept: Vec<(&str, Vec<&RawValue>)> = Vec::new();
    for (key, value) in members.iter().filter(|(key, _)| matches!(&**key, "entries" | "raw" | "links")) {
        let items: Option<Vec<&RawValue>> = serde_json::from_str(value.get()).map_err(malformed)?;
        let mut left = Vec::new();
        for raw in items.unwrap_or_default() {
            let item: Item<'_> = serde_json::from_str(raw.get()).map_err(malformed)?;
            let (path, id, size) = item.read().ok_or("an entry has no readable path or content")?;
            if is_meant(&path, id) {
                removed.push((path, id, size));
            } else {
                left.push(raw);
            }
        }
        kept.push((key, left));
    }
    if removed.is_empty() {
        return Ok(None);
    }
    let has = |name: &str| members.iter().any(|(key, _)| key == name);
    let has_skipped = has("skipped");
    let mut out = vec![b'{'];
    for (key, value) in &members {
        match (&**key, kept.iter().find(|(name, _)| name == key)) {
            (name, Some((_, left))) => {
                push_items(&mut out, name, left);
                if name == "entries" && !has_skipped {
                    push_skipped(&mut out, None, &removed).map_err(malformed)?;
                }
            }
            ("skipped", _) => push_skipped(&mut out, Some(value), &removed).map_err(malformed)?,
            ("coverage", _) if value.get() != "null" => {
                push_coverage(&mut out, value, &removed).map_err(malformed)?;
            }
            (name, _) => {
                push_key(&mut out, name);
                out.extend_from_slice(value.get().as_bytes());
            }
        }
    }
    if !has_skipped && !has("entries") {
        push_skipped(&mut out, None, &removed).map_err(malformed)?;
    }
    out.push(b'}');
    parse(&out).map_err(|problem| format!("it would not be readable afterwards: {problem}"))?;
    Ok(Some(Cut { json: out, removed }))
}

fn push_items(out: &mut Vec<u8>, key: &str, items: &[&RawValue]) {
    push_key(out, key);
    if items.is_empty() && key == "entries" {
        out.extend_from_slice(b"null");
    } else {
        push_array(out, items, |out, item| out.extend_from_slice(item.get().as_bytes()));
    }
}

fn push_skipped(
    out: &mut Vec<u8>,
    old: Option<&RawValue>,
    removed: &[(RelPathBuf, ObjectId, u64)],
) -> serde_json::Result<()> {
    let old: Option<Vec<Cow<'_, str>>> = old.map_or(Ok(None), |raw| serde_json::from_str(raw.get()))?;
    let mut paths: BTreeSet<Cow<'_, str>> = old.unwrap_or_default().into_iter().collect();
    paths.extend(removed.iter().filter_map(|(path, ..)| path.to_str().map(Cow::Borrowed)));
    if !paths.is_empty() {
        push_key(out, "skipped");
        push_array(out, &paths, |out, path| push_string(out, path));
    }
    Ok(())
}

fn push_coverage(
    out: &mut Vec<u8>,
    old: &RawValue,
    removed: &[(RelPathBuf, ObjectId, u64)],
) -> serde_json::Result<()> {
    let Members(members) = serde_json::from_str(old.get())?;
    push_key(out, "coverage");
    out.push(b'{');
    let mut gaps: Vec<&RawValue> = Vec::new();
    for (key, value) in &members {
        if key == "gaps" {
            gaps = serde_json::from_str::<Option<_>>(value.get())?.unwrap_or_default();
        } else {
            push_key(out, key);
            out.extend_from_slice(value.get().as_bytes());
        }
    }
    push_key(out, "gaps");
    let mut made: Vec<Vec<u8>> = gaps.into_iter().map(|gap| gap.get().as_bytes().to_vec()).collect();
    for (path, ..) in removed {
        let mut gap = vec![b'{'];
        push_name(&mut gap, "path", path.as_bytes());
        push_key(&mut gap, "reason");
        push_string(&mut gap, PURGED);
        gap.push(b'}');
        made.push(gap);
    }
    push_array(out, &made, |out, gap| out.extend_from_slice(gap));
    out.push(b'}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "a2bbdb2de53523b8099b37013f251546f3d65dbe7a0774fa41af0a4176992fd4";

    fn entry(path: &str, digit: char) -> String {
        format!(
            r#"{{"path":"{path}","hash":"{}","mode":420,"size":1,"later":1e400}}"#,
            digit.to_string().repeat(64)
        )
    }

    #[test]
    fn a_path_becomes_a_gap_and_the_rest_keeps_its_bytes() {
        let secret = format!(r#"{{"path":"b","hash":"{SECRET}","mode":420,"size":2}}"#);
        let text = format!(
            r#"{{"id":"1-0001","created_at":"","entries":[{},{secret},{}],"skipped":["z"],"coverage":{{"kinds":["file"],"new":[1],"gaps":[{{"path":"z","reason":"oversized"}}]}},"x":1e400}}"#,
            entry("a", 'a'),
            entry("c", 'c')
        );
        let done = cut(text.as_bytes(), &|path, _| path.as_bytes() == b"b").unwrap().unwrap();
        let expected = text
            .replace(&format!("{secret},"), "")
            .replace(r#"["z"]"#, r#"["b","z"]"#)
            .replace(r#""oversized"}"#, r#""oversized"},{"path":"b","reason":"purged"}"#);
        assert_eq!(String::from_utf8(done.json).unwrap(), expected);
        assert_eq!(done.removed.len(), 1);
        assert!(cut(text.as_bytes(), &|_, _| false).unwrap().is_none());
    }

    #[test]
    fn a_gap_is_told_also_where_there_are_no_entries() {
        let text = r#"{"id":"1-0001","links":[{"path":"l","target":"x","mode":420}]}"#;
        let done = cut(text.as_bytes(), &|_, _| true).unwrap().unwrap();
        assert_eq!(String::from_utf8(done.json).unwrap(), r#"{"id":"1-0001","links":[],"skipped":["l"]}"#);
    }

    #[test]
    fn a_manifest_of_the_original_gets_a_skipped_path_and_null_entries() {
        let text = format!(r#"{{"id":"1-0001","created_at":"","entries":[{}]}}"#, entry("a", 'a'));
        let done = cut(text.as_bytes(), &|_, _| true).unwrap().unwrap();
        assert_eq!(
            String::from_utf8(done.json).unwrap(),
            r#"{"id":"1-0001","created_at":"","entries":null,"skipped":["a"]}"#
        );
    }
}
