//! What a manifest names, for whoever asks nothing else of it: read as strictly as for a restore, and not kept.

use std::borrow::Cow;

use super::{Manifest, plain, read};
use crate::error::Result;
use crate::history::History;
use crate::history::plain::Plain;
use crate::store::id::{ObjectId, SnapshotId};
use crate::store::relpath::RelPath;
use crate::store::{layout, read_document};
use crate::stream::recordset::contradiction;

impl History {
    /// Those contents that a snapshot's entries name and that are wanted, some of them more than once.
    ///
    /// # Errors
    /// As [`History::manifest`]: a manifest that cannot be restored names nothing.
    pub(crate) fn named_by(&self, id: &SnapshotId, is_wanted: &dyn Fn(ObjectId) -> bool) -> Result<Vec<ObjectId>> {
        let path = layout::manifest(self.store().root(), self.run(), id);
        let plain = read_document(&path).ok().and_then(|document| plain_contents(&document, id, is_wanted));
        if let Some(contents) = plain {
            return Ok(contents);
        }
        Ok(wanted_of(&self.manifest(id)?, is_wanted).collect())
    }
}

fn wanted_of(manifest: &Manifest, is_wanted: &dyn Fn(ObjectId) -> bool) -> impl Iterator<Item = ObjectId> {
    manifest.contents().map(|(content, _)| content).filter(|content| is_wanted(*content))
}

/// The same without a copy of any path; `None` where anything stands in another way than we and the original write it, or
/// is wrong: then the general reader has the word.
fn plain_contents(json: &[u8], id: &SnapshotId, is_wanted: &dyn Fn(ObjectId) -> bool) -> Option<Vec<ObjectId>> {
    let start = plain::start(json)?;
    let mut text = Plain::new(json.get(start + plain::ENTRIES.len()..)?);
    let mut paths: Vec<Cow<'_, RelPath>> = Vec::with_capacity(json.len() / plain::ENTRY_BYTES);
    let mut contents = Vec::new();
    let mut is_at_end = text.has(b"]");
    while !is_at_end {
        text.literal(b"{\"path\":")?;
        paths.push(match text.string()? {
            Cow::Borrowed(path) => Cow::Borrowed(RelPath::new(path.as_bytes()).ok()?),
            Cow::Owned(path) => Cow::Owned(RelPath::new(path.as_bytes()).ok()?.to_owned()),
        });
        text.literal(b",\"hash\":")?;
        contents.extend(Some(text.hash()?).filter(|content| is_wanted(*content)));
        text.literal(b",\"mode\":")?;
        u32::try_from(text.u64()?).ok()?;
        text.literal(b",\"size\":")?;
        text.u64()?;
        text.literal(b"}")?;
        is_at_end = text.has(b"]");
        if !is_at_end {
            text.literal(b",")?;
        }
    }
    let others = read::parse(&plain::without_entries(json.get(..start)?, text.rest())).ok()?;
    paths.extend(others.entries.iter().map(|entry| Cow::Borrowed(&*entry.path)));
    if !paths.is_sorted() {
        paths.sort();
    }
    let is_gap = |path: &RelPath| paths.binary_search_by(|other| (**other).cmp(path)).is_ok();
    if others.id != *id
        || contradiction(&paths, |path| path).is_some()
        || others.gaps.iter().any(|gap| is_gap(&gap.path))
    {
        return None;
    }
    contents.extend(wanted_of(&others, is_wanted));
    Some(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "a2bbdb2de53523b8099b37013f251546f3d65dbe7a0774fa41af0a4176992fd4";

    fn manifest(entries: &str, tail: &str) -> String {
        format!(r#"{{"id":"1-0001","created_at":"2026-11-29T12:44:43Z","entries":[{entries}]{tail}}}"#)
    }

    fn entry(path: &str) -> String {
        format!(r#"{{"path":"{path}","hash":"{HASH}","mode":420,"size":2}}"#)
    }

    fn plain(json: &str) -> Option<Vec<ObjectId>> {
        plain_contents(json.as_bytes(), &SnapshotId::new(1, 1), &|_| true)
    }

    #[test]
    fn it_names_what_the_whole_manifest_names() {
        let both = format!("{},{}", entry(r"a \u0026"), entry("b/c"));
        let tail = r#","skipped":[],"links":[{"path":"b/l","target":"t","hash":"x","mode":511}]"#;
        for json in [manifest("", ""), manifest(&both, ""), manifest(&both, tail)] {
            let whole = read::parse(json.as_bytes()).unwrap();
            let all: Vec<ObjectId> = whole.contents().map(|(content, _)| content).collect();
            let mut named = plain(&json).unwrap();
            let mut expected = all;
            named.sort();
            expected.sort();
            assert_eq!(named, expected, "{json}");
            assert!(plain_contents(json.as_bytes(), &SnapshotId::new(1, 1), &|_| false).unwrap().is_empty());
            assert!(plain_contents(json.as_bytes(), &SnapshotId::new(1, 2), &|_| true).is_none());
        }
    }

    #[test]
    fn what_is_no_manifest_names_nothing() {
        let good = manifest(&format!("{},{}", entry("a"), entry("b")), "");
        assert!(plain(&good).is_some());
        for at in 0..good.len() {
            let mut cut = good.clone();
            cut.remove(at);
            assert!(plain(&cut).is_none() || read::parse(cut.as_bytes()).is_ok(), "{cut}");
        }
        for (entries, tail) in [
            (format!("{},{}", entry("a"), entry("a")), ""),
            (format!("{},{}", entry("a"), entry("a/b")), ""),
            (format!("{},{}", entry("a"), entry("../b")), ""),
            (entry("a"), r#","links":[{"path":"a","target":"t","mode":511}]"#),
            (entry("a"), r#","links":[{"path":"a/l","target":"t","mode":511}]"#),
            (entry("a"), r#","skipped":["a"]"#),
            (entry("a"), r#","entries":[]"#),
        ] {
            let json = manifest(&entries, tail);
            assert!(plain(&json).is_none() && read::parse(json.as_bytes()).is_err(), "{json}");
        }
    }
}
