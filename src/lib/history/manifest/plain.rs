//! Reading the entries of a manifest that stands as our writer and the original's write it.
//!
//! Entries are nearly all of a manifest, and one is like the other. They are read here, straight into what they mean;
//! what stands around them is left to the general parser, and so is any manifest that stands in another way.

use super::{Entry, Node};
use crate::history::plain::Plain;
use crate::store::relpath::RelPath;

/// The member that holds the entries, with what must come before it.
const ENTRIES: &[u8] = b",\"entries\":[";
/// Bytes within which it must begin: id, parent, label and time come before it.
const HEAD_BYTES_MAX: usize = 4096;
/// Bytes of an entry whose path is short.
const ENTRY_BYTES: usize = 130;

/// The document without its entries, and the entries; `None` where anything stands in another way, or is wrong.
pub(super) fn split(json: &[u8]) -> Option<(Vec<u8>, Vec<Entry>)> {
    let head = json.get(..json.len().min(HEAD_BYTES_MAX))?;
    // The quotes of the key cannot stand within a string, and no other object or list begins before it: so it is a
    // member of the document itself.
    let start = memchr::memmem::find(head, ENTRIES)?;
    let (head, list) = json.split_at_checked(start)?;
    if memchr::memchr(b'[', head).is_some() || memchr::memrchr(b'{', head) != Some(0) {
        return None;
    }
    let mut plain = Plain::new(list);
    plain.literal(ENTRIES)?;
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
    // The member stays, so that a second one is still one too many.
    let mut rest = Vec::with_capacity(head.len() + plain.rest().len() + 16);
    for part in [head, b",\"entries\":null", plain.rest()] {
        rest.extend_from_slice(part);
    }
    Some((rest, entries))
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
