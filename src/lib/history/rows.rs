//! The stat cache: which content a path had when its stat was last seen (facts 2.3, design section 6).
//!
//! The original's rows have `size`, `mod_nano` and `hash`; ours add `ctime_nano` and `ino`. A row without the additions
//! is a miss, because size and mtime alone are no proof. Members that we do not know survive for as long as the row
//! still describes the file.

mod pass;

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::index::Text;
use super::json::{push_key, push_number, push_string};
use super::plain::Plain;
use crate::store::id::ObjectId;

pub use super::items::OutOfOrder;
pub use pass::Pass;

/// One row, borrowed from the index.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// The path, as text: other names are never cached.
    pub path: Cow<'a, str>,
    /// Bytes.
    pub size: i64,
    /// Modification time, ns since the epoch.
    pub mtime_ns: i64,
    /// The content; `None` for a foreign row whose hash is not one.
    pub hash: Option<ObjectId>,
    /// Status change time, ns since the epoch.
    pub ctime_ns: Option<i64>,
    /// Inode number.
    pub inode: Option<u64>,
    /// Members of other versions.
    unknown: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// The stat that a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Bytes.
    pub size: u64,
    /// Modification time, ns since the epoch.
    pub mtime_ns: i64,
    /// Status change time, ns since the epoch.
    pub ctime_ns: i64,
    /// Inode number.
    pub inode: u64,
}

impl Row<'_> {
    /// Whether the row describes exactly this stat.
    #[must_use]
    pub fn describes(&self, seen: Seen) -> bool {
        i64::try_from(seen.size) == Ok(self.size)
            && self.mtime_ns == seen.mtime_ns
            && self.ctime_ns == Some(seen.ctime_ns)
            && self.inode == Some(seen.inode)
    }
}

/// Reads the rows of an index, sorted by path bytes.
pub(super) fn parse(json: &[u8]) -> Result<Vec<Row<'_>>, String> {
    let mut rows = match plain_rows(json) {
        Some(rows) => rows,
        None => general_rows(json).map_err(|error| format!("its stat cache: {error}"))?,
    };
    if !rows.is_sorted_by(|a, b| a.path < b.path) {
        rows.sort_by(|a, b| a.path.cmp(&b.path));
        if rows.windows(2).any(|pair| matches!(pair, [a, b] if a.path == b.path)) {
            return Err("its stat cache: a path stands twice".into());
        }
    }
    Ok(rows)
}

fn general_rows(json: &[u8]) -> serde_json::Result<Vec<Row<'_>>> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let rows = RowsSeed.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(rows)
}

/// The rows, if all of them stand as we or the original write them.
fn plain_rows(json: &[u8]) -> Option<Vec<Row<'_>>> {
    let mut plain = Plain::new(json);
    plain.literal(b"{")?;
    let mut rows = Vec::with_capacity(json.len() / PLAIN_ROW_BYTES);
    if !plain.has(b"}") {
        loop {
            rows.push(plain_row(&mut plain)?);
            if plain.has(b"}") {
                break;
            }
            plain.literal(b",")?;
        }
    }
    plain.rest().is_empty().then_some(rows)
}

/// Bytes of a row of ours whose path is short.
const PLAIN_ROW_BYTES: usize = 180;

fn plain_row<'a>(plain: &mut Plain<'a>) -> Option<Row<'a>> {
    let path = plain.string()?;
    plain.literal(b":{\"size\":")?;
    let size = plain.i64()?;
    plain.literal(b",\"mod_nano\":")?;
    let mtime_ns = plain.i64()?;
    plain.literal(b",\"hash\":")?;
    let hash = Some(plain.hash()?);
    let (mut ctime_ns, mut inode) = (None, None);
    if plain.has(b",\"ctime_nano\":") {
        ctime_ns = Some(plain.i64()?);
        plain.literal(b",\"ino\":")?;
        inode = Some(plain.u64()?);
    }
    plain.literal(b"}")?;
    Some(Row { path, size, mtime_ns, hash, ctime_ns, inode, unknown: Vec::new() })
}

/// Finds the row of a path among sorted rows.
#[must_use]
pub fn find<'r, 'a>(rows: &'r [Row<'a>], path: &str) -> Option<&'r Row<'a>> {
    let index = rows.binary_search_by(|row| (*row.path).cmp(path)).ok()?;
    rows.get(index)
}

/// Writes one row into an object that `out` has begun; `old` is the row that the path had.
pub fn push_row(out: &mut Vec<u8>, path: &str, hash: ObjectId, seen: Seen, old: Option<&Row<'_>>) {
    push_key(out, path);
    push_stat(out, hash, seen);
    if let Some(old) = old
        && old.hash == Some(hash)
    {
        for (key, value) in &old.unknown {
            out.push(b',');
            push_string(out, key);
            out.push(b':');
            out.extend_from_slice(value.get().as_bytes());
        }
    }
    out.push(b'}');
}

/// Writes one row; `name` is its path as it stands in JSON, between the quotes.
pub fn push_only_row(out: &mut Vec<u8>, name: &[u8], hash: ObjectId, seen: Seen) {
    out.push(b'"');
    out.extend_from_slice(name);
    out.extend_from_slice(b"\":");
    push_stat(out, hash, seen);
    out.push(b'}');
}

fn push_stat(out: &mut Vec<u8>, hash: ObjectId, seen: Seen) {
    out.extend_from_slice(b"{\"size\":");
    push_number(out, seen.size);
    out.extend_from_slice(b",\"mod_nano\":");
    push_number(out, seen.mtime_ns);
    out.extend_from_slice(b",\"hash\":\"");
    out.extend_from_slice(&hash.hex());
    out.extend_from_slice(b"\",\"ctime_nano\":");
    push_number(out, seen.ctime_ns);
    out.extend_from_slice(b",\"ino\":");
    push_number(out, seen.inode);
}

struct RowsSeed;

impl<'de> DeserializeSeed<'de> for RowsSeed {
    type Value = Vec<Row<'de>>;
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowsSeed {
    type Value = Vec<Row<'de>>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of rows")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut rows = Vec::new();
        while let Some(Text(path)) = map.next_key()? {
            rows.push(map.next_value_seed(RowSeed(path))?);
        }
        Ok(rows)
    }
}

struct RowSeed<'a>(Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for RowSeed<'de> {
    type Value = Row<'de>;
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'de> {
    type Value = Row<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row of the stat cache")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut row = Row {
            path: self.0,
            size: -1,
            mtime_ns: 0,
            hash: None,
            ctime_ns: None,
            inode: None,
            unknown: Vec::new(),
        };
        while let Some(Text(key)) = map.next_key()? {
            match &*key {
                "size" => row.size = map.next_value()?,
                "mod_nano" => row.mtime_ns = map.next_value()?,
                "hash" => row.hash = ObjectId::parse(map.next_value::<Text<'_>>()?.0.as_bytes()),
                "ctime_nano" => row.ctime_ns = map.next_value()?,
                "ino" => row.inode = map.next_value()?,
                _ if row.unknown.iter().any(|(known, _)| *known == key) => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => row.unknown.push((key, map.next_value()?)),
            }
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "a2bbdb2de53523b8099b37013f251546f3d65dbe7a0774fa41af0a4176992fd4";

    #[test]
    fn rows_of_the_original_are_read_and_never_hit() {
        let json = format!(r#"{{"a \u0026":{{"size":2,"mod_nano":5,"hash":"{HASH}"}}}}"#);
        let rows = parse(json.as_bytes()).unwrap();
        let row = find(&rows, "a &").unwrap();
        assert!(!row.describes(Seen { size: 2, mtime_ns: 5, ctime_ns: 0, inode: 0 }));
    }

    #[test]
    fn plain_rows_are_read_as_the_general_parser_reads_them() {
        let row = |path: &str, more: &str| format!(r#""{path}":{{"size":2,"mod_nano":-5,"hash":"{HASH}"{more}}}"#);
        let ours = r#","ctime_nano":7,"ino":9"#;
        for json in [
            "{}".to_owned(),
            format!("{{{}}}", row("a", "")),
            format!("{{{},{}}}", row("a", ours), row(r"b \u0026\\", "")),
        ] {
            let plain = plain_rows(json.as_bytes()).unwrap();
            let general = general_rows(json.as_bytes()).unwrap();
            assert_eq!(format!("{plain:?}"), format!("{general:?}"), "{json}");
        }
        for json in [
            format!("{{{}}} ", row("a", "")),
            format!("{{{},}}", row("a", "")),
            format!("{{{}", row("a", "")),
            format!("{{{}}}", row("a", r#","x":1"#)),
            format!("{{{}}}", row("a", "").replace(HASH, "short")),
            format!("{{{}}}x", row("a", "")),
        ] {
            assert!(plain_rows(json.as_bytes()).is_none(), "{json}");
        }
        let twice = format!("{{{},{}}}", row("a", ours), row("a", ours));
        assert!(parse(twice.as_bytes()).is_err());
    }

    #[test]
    fn unknown_members_survive_while_the_row_describes_the_file() {
        let json = format!(
            r#"{{"a":{{"size":2,"mod_nano":5,"hash":"{HASH}","ctime_nano":-6,"ino":18446744073709551615,"new":[1e400]}}}}"#
        );
        let rows = parse(json.as_bytes()).unwrap();
        let seen = Seen { size: 2, mtime_ns: 5, ctime_ns: -6, inode: u64::MAX };
        assert!(rows[0].describes(seen));
        let mut out = vec![b'{'];
        push_row(&mut out, "a", ObjectId::parse(HASH.as_bytes()).unwrap(), seen, Some(&rows[0]));
        out.push(b'}');
        assert_eq!(String::from_utf8(out).unwrap(), json);
    }
}
