//! Reading the entries of a manifest that stands as our writer and the original's write it.
//!
//! Entries are nearly all of a manifest, and one is like the other. They are read here, straight into what they mean;
//! what stands around them is left to the general parser, and so is any manifest that stands in another way.

use std::borrow::Cow;
use std::ops::Range;

use super::{Entry, Manifest, Node};
use crate::history::History;
use crate::history::items::{Items, Kind, OutOfOrder};
use crate::history::plain::Plain;
use crate::history::splice::Splice;
use crate::store::id::SnapshotId;
use crate::store::relpath::RelPath;
use crate::store::{Document, layout, read_document};
use crate::stream::raw::RawRecord;

/// The member that holds the entries, with what must come before it.
pub(super) const ENTRIES: &[u8] = b",\"entries\":[";
/// Bytes within which it must begin: id, parent, label and time come before it.
const HEAD_BYTES_MAX: usize = 4096;
/// Bytes of an entry whose path is short.
pub(super) const ENTRY_BYTES: usize = 130;

/// The document without its entries, and the entries; `None` where anything stands in another way, or is wrong.
pub(super) fn split(json: &[u8]) -> Option<(Vec<u8>, Vec<Entry>)> {
    let start = start(json)?;
    let mut plain = Plain::new(json.get(start + ENTRIES.len()..)?);
    let mut entries = Vec::with_capacity(json.len() / ENTRY_BYTES);
    if !plain.has(b"]") {
        loop {
            entries.push(entry(&mut plain)?);
            if plain.has(b"]") {
                break;
            }
            plain.literal(b",")?;
        }
    }
    Some((without_entries(json.get(..start)?, plain.rest()), entries))
}

/// Where the member begins.
///
/// The quotes of its key cannot stand within a string, and no other object or list begins before it: so it is a member of
/// the document itself.
pub(super) fn start(json: &[u8]) -> Option<usize> {
    let head = json.get(..json.len().min(HEAD_BYTES_MAX))?;
    let start = memchr::memmem::find(head, ENTRIES)?;
    let head = head.get(..start)?;
    (memchr::memchr(b'[', head).is_none() && memchr::memrchr(b'{', head) == Some(0)).then_some(start)
}

/// The member stays, so that a second one is still one too many.
pub(super) fn without_entries(head: &[u8], tail: &[u8]) -> Vec<u8> {
    [head, b",\"entries\":null", tail].concat()
}

/// A manifest whose entries were not read: only what stands around them.
pub(crate) struct Shell {
    document: Document,
    /// Where the entries stand, brackets included.
    place: Range<usize>,
    /// The manifest, but for regular files with UTF-8 names.
    pub(crate) manifest: Manifest,
}

impl History {
    /// Reads what stands around the entries of a manifest. `None` where anything is unusual or wrong.
    pub(crate) fn manifest_shell(&self, id: &SnapshotId) -> Option<Shell> {
        let document = read_document(&layout::manifest(self.store().root(), self.run(), id)).ok()?;
        let start = start(&document)?;
        // A guess, of which nothing wrong can come: what lies before is compared to the last byte, what lies behind is parsed.
        let mut end = memchr::memmem::rfind(&document, b"],\"coverage\":{")?;
        if document.get(..end)?.ends_with(b"\"") {
            end = memchr::memmem::rfind(document.get(..end)?, b"],\"skipped\":[")?;
        }
        let place = start + ENTRIES.len() - 1..end + 1;
        let rest = without_entries(document.get(..start)?, document.get(place.end..)?);
        let manifest = super::read::parse(&rest).ok().filter(|manifest| manifest.id == *id)?;
        Some(Shell { document, place, manifest })
    }
}

impl Shell {
    /// Whether the manifest is still that file: a purge writes one anew. The caller holds the history lock.
    pub(crate) fn is_current(&self, history: &History) -> bool {
        let path = layout::manifest(history.store().root(), history.run(), &self.manifest.id);
        self.document.is_still_at(&path).unwrap_or(false)
    }

    /// The entries, brackets included.
    pub(crate) fn text(&self) -> &[u8] {
        self.document.get(self.place.clone()).unwrap_or_default()
    }

    /// Goes over the entries.
    pub(crate) fn entries(&self) -> Option<Entries<'_>> {
        Entries::new(self.text())
    }
}

/// A place between two entries of a manifest.
pub(crate) struct Entries<'a> {
    items: Items<'a>,
}

fn entries<'a>() -> Kind<'a, Entry> {
    Kind { read: entry, path: |entry| entry.path.as_bytes() }
}

impl<'a> Entries<'a> {
    /// Stands before the first entry of a list.
    pub(crate) fn new(text: &'a [u8]) -> Option<Self> {
        Items::new(text, b"[", b"]").map(|items| Self { items })
    }

    /// Goes over the next entry if it is exactly what the capture of this record would write. `name` is its path as it stands
    /// in JSON.
    pub(crate) fn expect(&mut self, record: &RawRecord<'_>, name: &[u8]) -> Option<()> {
        let mut plain = self.items.ahead();
        plain.literal(b"{\"path\":\"")?;
        plain.literal(name)?;
        plain.literal(b"\",\"hash\":\"")?;
        (record.content.len() == 64).then_some(())?;
        plain.literal(record.content)?;
        plain.literal(b"\",\"mode\":")?;
        let octal = record.mode.iter().skip(1);
        let mode = octal.fold(0, |mode, digit| mode << 3 | u64::from(digit.wrapping_sub(b'0')));
        (plain.u64()? == mode).then_some(())?;
        plain.literal(b",\"size\":")?;
        plain.literal(record.size)?;
        plain.literal(b"}")?;
        self.items.go_over(plain)
    }

    /// Goes over all entries of paths before this one. Gives the entry of the path, which is not gone over.
    ///
    /// # Errors
    /// [`OutOfOrder`] where only all entries together tell.
    pub(crate) fn reach(&mut self, path: &[u8]) -> Result<Option<Entry>, OutOfOrder> {
        Ok(self.items.reach(path, &entries())?.map(|(entry, _)| entry))
    }

    /// Goes over all entries that are left.
    ///
    /// # Errors
    /// [`OutOfOrder`] where only all entries together tell.
    pub(crate) fn finish(&mut self) -> Result<(), OutOfOrder> {
        self.items.finish(&entries())
    }

    /// Reads the next entry and goes over it; `None` at the end, and where one does not stand as we write it.
    pub(crate) fn read(&mut self) -> Option<Entry> {
        self.items.read(&entries())
    }

    /// Reads the path of the next entry and goes over it, whatever else it says; `None` at the end, and where it does not
    /// stand as we write it.
    pub(crate) fn path(&mut self) -> Option<Cow<'a, str>> {
        let mut plain = self.items.ahead();
        plain.literal(b"{\"path\":")?;
        let path = plain.string()?;
        plain.bytes(memchr::memchr(b'}', plain.rest())? + 1)?;
        self.items.go_over(plain)?;
        Some(path)
    }

    /// Whether there were entries of paths that nobody asked for.
    pub(crate) fn has_skipped(&self) -> bool {
        self.items.has_skipped()
    }

    /// Where the entry stands that was gone over last.
    pub(crate) fn last(&self) -> Range<usize> {
        self.items.last()
    }

    /// Whether every entry has been gone over, and nothing is left.
    pub(crate) fn is_complete(&self) -> bool {
        self.items.is_complete()
    }
}

/// The entries of a splice that stand in no older manifest; `None` for what is no entry, and ends a piece.
pub(crate) fn fresh_entries(splice: &Splice) -> impl Iterator<Item = Option<Entry>> {
    splice.fresh().flat_map(|piece| {
        let mut plain = Plain::new(piece);
        std::iter::from_fn(move || {
            plain.has(b",");
            if plain.rest().is_empty() {
                return None;
            }
            let read = entry(&mut plain);
            if read.is_none() {
                plain = Plain::new(b"");
            }
            Some(read)
        })
    })
}

fn entry(plain: &mut Plain<'_>) -> Option<Entry> {
    plain.literal(b"{\"path\":")?;
    let path = plain.string()?;
    let path = RelPath::new(path.as_bytes()).ok()?.to_owned();
    plain.literal(b",\"hash\":")?;
    let hash = plain.hash()?;
    plain.literal(b",\"mode\":")?;
    let mode = u32::try_from(plain.u64()?).ok()? & 0o777;
    plain.literal(b",\"size\":")?;
    let size = plain.u64()?;
    plain.literal(b"}")?;
    Some(Entry { path, node: Node::File { hash, size }, mode })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::split;

    const HASH: &str = "a2bbdb2de53523b8099b37013f251546f3d65dbe7a0774fa41af0a4176992fd4";

    fn manifest(entries: &str, tail: &str) -> String {
        format!(r#"{{"id":"1-0001","label":"l","created_at":"2026-11-29T12:44:43Z","entries":[{entries}]{tail}}}"#)
    }

    fn entry(path: &str) -> String {
        format!(r#"{{"path":"{path}","hash":"{HASH}","mode":420,"size":2}}"#)
    }

    #[test]
    fn what_is_read_here_is_what_the_general_parser_reads() {
        let both = format!("{},{}", entry(r"a \u0026"), entry("b/c"));
        for json in
            [manifest("", ""), manifest(&both, ""), manifest(&entry("a"), r#","dirs":[{"path":"d","mode":448}]"#)]
        {
            assert!(split(json.as_bytes()).is_some(), "{json}");
            // A blank is all that it takes to leave the plain way.
            let general = json.replacen(",\"entries\":", ", \"entries\":", 1);
            assert!(split(general.as_bytes()).is_none());
            assert_eq!(parse(json.as_bytes()).unwrap(), parse(general.as_bytes()).unwrap());
        }
    }

    #[test]
    fn a_list_of_that_name_elsewhere_is_not_taken_for_the_entries() {
        let nested = format!(r#"{{"id":"1-0001","x":{{"y":1,"entries":[{}]}},"entries":[]}}"#, entry("a"));
        assert!(parse(nested.as_bytes()).unwrap().entries.is_empty());
        let twice = manifest(&entry("a"), &format!(r#","entries":[{}]"#, entry("b")));
        assert!(parse(twice.as_bytes()).is_err());
    }

    #[test]
    fn the_smallest_damage_is_refused_either_way() {
        let good = manifest(&format!("{},{}", entry("a"), entry("b")), "");
        assert!(parse(good.as_bytes()).is_ok());
        for at in 0..good.len() {
            let mut cut = good.clone().into_bytes();
            cut.remove(at);
            let general = serde_json::from_slice::<serde_json::Value>(&cut);
            assert!(general.is_ok() || parse(&cut).is_err(), "{}", String::from_utf8_lossy(&cut));
        }
    }
}
