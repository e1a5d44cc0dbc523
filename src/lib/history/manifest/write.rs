//! Writing manifests and the pins that belong to them.

use std::os::unix::ffi::OsStrExt;

use super::read::pinned_hashes;
use super::{Entry, Manifest, Node};
use crate::error::Result;
use crate::history::History;
use crate::history::coverage::Selection;
use crate::history::json::{push_array, push_key, push_name, push_number, push_string};
use crate::history::splice::Splice;
use crate::store::fsio::document::{self, Published};
use crate::store::hash;
use crate::store::id::{ObjectId, SnapshotId};
use crate::store::layout;

impl Manifest {
    /// The JSON of the manifest, as it stands in its file.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256 + self.entries.len() * 160);
        self.write_frame(&mut out);
        let mut files = self.files().filter(is_text).peekable();
        if files.peek().is_some() {
            push_array(&mut out, files, push_file);
        } else {
            out.extend_from_slice(b"null");
        }
        self.write_tail(&mut out);
        out
    }

    /// Everything before the regular files with UTF-8 names.
    fn write_frame(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        push_key(out, "id");
        push_string(out, self.id.as_str());
        if let Some(parent) = &self.parent {
            push_key(out, "parent");
            push_string(out, parent.as_str());
        }
        if let Some(label) = &self.label {
            push_key(out, "label");
            push_string(out, label);
        }
        push_key(out, "created_at");
        push_string(out, &self.created_at);
        push_key(out, "entries");
    }

    /// Everything behind them.
    fn write_tail(&self, out: &mut Vec<u8>) {
        if self.gaps.iter().any(|gap| gap.path.to_str().is_some()) {
            push_key(out, "skipped");
            push_array(out, self.gaps.iter().filter_map(|gap| gap.path.to_str()), push_string);
        }
        self.write_additions(out);
        out.push(b'}');
    }

    fn write_additions(&self, out: &mut Vec<u8>) {
        if self.coverage.selection != Selection::Original {
            push_key(out, "coverage");
            self.coverage.write(out, &self.gaps);
        }
        if let Some(workspace) = &self.workspace {
            push_name(out, "workspace", workspace.as_os_str().as_bytes());
        }
        let links = || self.entries.iter().filter(|entry| matches!(entry.node, Node::Link { .. }));
        if links().next().is_some() {
            push_key(out, "links");
            push_array(out, links(), push_link);
        }
        let dirs = || self.entries.iter().filter(|entry| entry.node == Node::Dir);
        if dirs().next().is_some() {
            push_key(out, "dirs");
            push_array(out, dirs(), |out, entry| {
                out.push(b'{');
                push_name(out, "path", entry.path.as_bytes());
                push_key(out, "mode");
                push_number(out, entry.mode);
                out.push(b'}');
            });
        }
        let raw = || self.files().filter(|file| !is_text(file));
        if raw().next().is_some() {
            push_key(out, "raw");
            push_array(out, raw(), push_file);
        }
    }
}

fn is_text((entry, _, _): &(&Entry, ObjectId, u64)) -> bool {
    entry.path.to_str().is_some()
}

/// Writes the entry of a regular file.
pub(crate) fn push_file(out: &mut Vec<u8>, (entry, id, size): (&Entry, ObjectId, u64)) {
    out.push(b'{');
    push_name(out, "path", entry.path.as_bytes());
    push_hash(out, id);
    push_key(out, "mode");
    push_number(out, entry.mode);
    push_key(out, "size");
    push_number(out, size);
    out.push(b'}');
}

fn push_hash(out: &mut Vec<u8>, id: ObjectId) {
    out.extend_from_slice(b",\"hash\":\"");
    out.extend_from_slice(&id.hex());
    out.push(b'"');
}

fn push_link(out: &mut Vec<u8>, entry: &Entry) {
    let Node::Link { target } = &entry.node else { return };
    out.push(b'{');
    push_name(out, "path", entry.path.as_bytes());
    push_name(out, "target", target);
    push_hash(out, hash::of_bytes(target));
    push_key(out, "mode");
    push_number(out, entry.mode);
    out.push(b'}');
}

impl History {
    /// Publishes a manifest and its pin under an id that is not taken.
    ///
    /// The pin comes first: a prune of either implementation that sees the manifest must see what it pins.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`]; the snapshot is then not there.
    pub(crate) fn publish(&self, manifest: &Manifest) -> Result<Published> {
        self.publish_parts(&manifest.id, &pinned_hashes(manifest), &[&manifest.to_json()])
    }

    /// As [`History::publish`], for a manifest of which `entries`, some of them from the list `old`, are all regular files
    /// with UTF-8 names.
    ///
    /// # Errors
    /// As [`History::publish`].
    pub(crate) fn publish_splice(&self, manifest: &Manifest, entries: &Splice, old: &[u8]) -> Result<Published> {
        let (mut frame, mut tail) = (Vec::new(), Vec::new());
        manifest.write_frame(&mut frame);
        if entries.is_empty() {
            frame.extend_from_slice(b"null");
        } else {
            frame.push(b'[');
            tail.push(b']');
        }
        manifest.write_tail(&mut tail);
        let mut pinned = pinned_hashes(manifest);
        unpin_captured(&mut pinned, entries.pieces(old));
        let parts: Vec<&[u8]> =
            std::iter::once(&*frame).chain(entries.pieces(old)).chain(std::iter::once(&*tail)).collect();
        self.publish_parts(&manifest.id, &pinned, &parts)
    }

    fn publish_parts(&self, id: &SnapshotId, pinned: &[(ObjectId, u64)], parts: &[&[u8]]) -> Result<Published> {
        let (root, run, durability) = (self.store().root(), self.run(), self.store().durability());
        let pin = layout::pin(root, run, id);
        if !pinned.is_empty()
            && document::publish_new(&pin, &[&pin_json(id, pinned)], durability)? == Published::Exists
        {
            return Ok(Published::Exists);
        }
        let published = document::publish_new(&layout::manifest(root, run, id), parts, durability);
        if !matches!(published, Ok(Published::New)) && !pinned.is_empty() {
            // Without its manifest the pin would only keep garbage alive.
            let _ = document::remove(&pin);
        }
        published
    }
}

/// Takes out of hashes, which are sorted, what an entry names: the original's prune sees it there. Each piece of the entries
/// begins and ends between two members.
fn unpin_captured<'a>(pinned: &mut Vec<(ObjectId, u64)>, entries: impl Iterator<Item = &'a [u8]>) {
    // Its quotes cannot stand within a string.
    const HASH: &[u8] = b"\",\"hash\":\"";
    let finder = memchr::memmem::Finder::new(HASH);
    let mut open: Vec<ObjectId> = pinned.iter().map(|(id, _)| *id).collect();
    for piece in entries {
        for place in finder.find_iter(piece) {
            if open.is_empty() {
                break;
            }
            let digits = piece.get(place + HASH.len()..place + HASH.len() + 64);
            if let Some(id) = digits.and_then(ObjectId::parse)
                && let Ok(found) = open.binary_search(&id)
            {
                open.remove(found);
            }
        }
    }
    pinned.retain(|(id, _)| open.binary_search(id).is_ok());
}

impl History {
    /// Publishes a pin of its own, which keeps objects alive that no manifest names.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`]; the pin is then not there.
    pub(crate) fn publish_pin(&self, id: &SnapshotId, pinned: &[(ObjectId, u64)]) -> Result<Published> {
        let path = layout::pin(self.store().root(), self.run(), id);
        document::publish_new(&path, &[&pin_json(id, pinned)], self.store().durability())
    }
}

/// A pin: a file that looks like a manifest to the original's prune, which marks the hashes in its `entries`.
pub(crate) fn pin_json(id: &SnapshotId, pinned: &[(ObjectId, u64)]) -> Vec<u8> {
    pin_json_of(id.as_str(), pinned)
}

/// As [`pin_json`], for what is not a snapshot.
pub(crate) fn pin_json_of(of: &str, pinned: &[(ObjectId, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    out.push(b'{');
    push_key(&mut out, "pin_of");
    push_string(&mut out, of);
    push_key(&mut out, "entries");
    push_array(&mut out, pinned, |out, (id, size)| {
        let hex = id.to_string();
        out.push(b'{');
        push_key(out, "path");
        push_string(out, &hex);
        push_hash(out, *id);
        out.extend_from_slice(b",\"mode\":384,\"size\":");
        push_number(out, size);
        out.push(b'}');
    });
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use super::super::read::parse;

    #[test]
    fn a_manifest_of_the_original_survives_byte_for_byte() {
        let text = concat!(
            r#"{"id":"1795956283152725793-0001","parent":"1795956271569125815-0001","label":"post:ship:0","#,
            r#""created_at":"2026-11-29T12:44:43.152733667Z","entries":[{"path":"a \u0026 \u003cb\u003e.txt","#,
            r#""hash":"a2bbdb2de53523b8099b37013f251546f3d65dbe7a0774fa41af0a4176992fd4","mode":420,"size":2}],"#,
            r#""skipped":["big.bin"]}"#
        );
        let manifest = parse(text.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(manifest.to_json()).unwrap(), text);
    }

    #[test]
    fn additions_survive() {
        let text = concat!(
            r#"{"id":"1-0001","created_at":"2026-11-29T12:44:43Z","entries":null,"skipped":["locked"],"#,
            r#""coverage":{"rules":{"source":".gitignore","#,
            r#""oid":"a2bbdb2de53523b8099b37013f251546f3d65dbe7a0774fa41af0a4176992fd4"},"engine":"e","cap":5,"#,
            r#""kinds":["file","link","dir","raw"],"gaps":[{"path":"locked","reason":"unreadable","subtree":true}]},"#,
            r#""workspace":"/w","links":[{"path":"l","target_b64":"/w==","#,
            r#""hash":"a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89","mode":511}],"#,
            r#""dirs":[{"path":"d","mode":448}],"raw":[{"path_b64":"/w==","#,
            r#""hash":"a2bbdb2de53523b8099b37013f251546f3d65dbe7a0774fa41af0a4176992fd4","mode":420,"size":2}]}"#
        );
        let manifest = parse(text.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(manifest.to_json()).unwrap(), text);
    }

    #[test]
    fn one_bad_part_rejects_the_whole() {
        let entry = |path: &str, hash: &str| format!(r#"{{"path":"{path}","hash":"{hash}","mode":420,"size":1}}"#);
        let good = "a".repeat(64);
        let with = |entries: &str| format!(r#"{{"id":"1-0001","created_at":"","entries":[{entries}]}}"#);
        assert!(parse(with(&entry("a", &good)).as_bytes()).is_ok());
        let mut raw = with(&entry("a", &good)).replacen('{', r#"{"unknown":"?","#, 1).into_bytes();
        assert!(parse(&raw).is_ok());
        let at = raw.iter().position(|byte| *byte == b'?').unwrap();
        raw[at] = 0xff;
        assert!(parse(&raw).is_err(), "no text, also where nothing is read");
        for bad in [
            with(&entry("../a", &good)),
            with(&entry("/a", &good)),
            with(&entry("", &good)),
            with(&entry("a", &"A".repeat(64))),
            with(&entry("a", "../../etc/passwd")),
            with(&format!("{},{}", entry("a", &good), entry("a", &good))),
            with(&format!("{},{}", entry("a", &good), entry("a/b", &good))),
            with(&entry("a", &good)).replace(r#""id":"1-0001""#, r#""id":"1-0001","id":"1-0001""#),
            with(&entry("a", &good)).replace("1-0001", "../x"),
            with(&entry("a", &good)).replace(r#""mode":420"#, r#""mode":-1"#),
            String::new(),
            "{".into(),
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
