//! [`Index`]: a run's mutable state, `index.json` (facts 1.4).
//!
//! ```text
//! {"entries":{"path":{"size","mod_nano","hash","ctime_nano"?,"ino"?}},   the stat cache, see `rows`
//!  "head":"<id>"?, "labels":{"label":"<id>"}?, "overflowed":true?, ...}
//! ```
//!
//! The rows are by far the largest part and most commands do not need them: they stay bytes until somebody asks, and a
//! label change copies them as they are. Members that we do not know survive every write. A file that cannot be
//! understood is an error, never a fresh start: the original's silence here orphans whole chains (facts W28).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::History;
use super::journal::{HEAD, Journal};
use super::json::{push_key, push_string};
use super::rows::{self, Row};
use super::splice::Splice;
use crate::error::{Error, Kind, Result};
use crate::store::fsio::document;
use crate::store::id::SnapshotId;
use crate::store::{Document, layout, read_document, spare};

/// A run's index as it was read.
#[derive(Debug, Default)]
pub struct Index {
    document: Option<Document>,
    rows: Option<Range<usize>>,
    unknown: Vec<(String, Range<usize>)>,
    /// The newest snapshot of the run's chain.
    pub head: Option<SnapshotId>,
    /// Labels and what they point to; foreign ones may break our rules or name what is not there.
    pub labels: BTreeMap<String, String>,
    /// Whether a capture met too many files.
    pub overflowed: bool,
}

/// What becomes of the stat cache when the index is written.
#[derive(Debug, Default)]
pub enum RowsUpdate<'a> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is replaced by this JSON object.
    Replace(Vec<u8>),
    /// It is replaced by rows of which most are those of this very index.
    Splice(&'a Splice),
}

impl RowsUpdate<'_> {
    /// Whether it leaves these rows as they are.
    pub(super) fn is_nothing_new(&self, rows: &[u8]) -> bool {
        match self {
            Self::Keep => true,
            Self::Replace(json) => json == rows,
            Self::Splice(splice) => splice.is_only(1..rows.len().saturating_sub(1)),
        }
    }
}

impl History {
    /// Reads the run's index. Where there is none the journal says what it would hold: a first capture that was cut off
    /// before it wrote one, or an index that was lost, must not let the next capture begin a second chain.
    ///
    /// # Errors
    /// [`Kind::Damaged`] when it cannot be understood.
    pub fn index(&self) -> Result<Index> {
        let path = layout::index(self.store().root(), self.run());
        let document = match read_document(&path) {
            Ok(document) => document,
            Err(error) if error.kind() == Kind::NotFound => return Ok(Index::of_journal(&self.journal()?)),
            Err(error) => return Err(error),
        };
        Index::parse(document).map_err(|problem| {
            Error::damaged(&path, problem).hint(format!(
                "'wt-fsck --run {} --rebuild-index' makes it again from manifests and journal",
                self.run()
            ))
        })
    }

    /// Whether the index is still the file that `index` was read from; not where the journal told it. The caller holds the
    /// history lock.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub(crate) fn is_index(&self, index: &Index) -> Result<bool> {
        let path = layout::index(self.store().root(), self.run());
        index.document.as_ref().map_or(Ok(false), |document| document.is_still_at(&path))
    }

    /// Writes the index. The caller holds the history lock.
    ///
    /// # Errors
    /// [`Kind::Io`]; the old index is then whole.
    pub(super) fn write_index(&self, index: &Index, rows: &RowsUpdate<'_>) -> Result<()> {
        let (mut parts, mut tail): (Vec<&[u8]>, _) = (Vec::new(), Vec::new());
        match rows {
            RowsUpdate::Keep => parts.extend([b"{\"entries\":", index.rows_json()]),
            RowsUpdate::Replace(json) => parts.extend([b"{\"entries\":", &**json]),
            RowsUpdate::Splice(splice) => {
                parts.push(b"{\"entries\":{");
                parts.extend(splice.pieces(index.rows_json()));
                tail.push(b'}');
            }
        }
        index.write_tail(&mut tail);
        parts.push(&tail);
        let path = layout::index(self.store().root(), self.run());
        let durability = self.store().durability();
        match (&index.document, rows) {
            // Of rows that are replaced the old ones may be what has to go: no spare keeps them.
            (Some(present), RowsUpdate::Keep | RowsUpdate::Splice(_)) => {
                spare::replace(&path, &parts, present, index.bytes_kept(rows), durability)
            }
            _ => document::replace(&path, &parts, durability),
        }
    }
}

impl Index {
    fn parse(document: Document) -> Result<Self, String> {
        if let Some((rows, tail)) = split(&document)
            && let Ok(members) = serde_json::from_slice::<Members<'_>>(&tail)
        {
            let unknown = members.unknown.iter().map(|(key, raw)| {
                // The tail begins where the rows end.
                let place = span(&tail, raw.get().as_bytes());
                (key.clone().into_owned(), place.start + rows.end..place.end + rows.end)
            });
            let unknown = unknown.collect();
            let index = Self::of_members(members, unknown)?;
            return Ok(Self { rows: Some(rows), document: Some(document), ..index });
        }
        let members: Members<'_> =
            serde_json::from_slice(&document).map_err(|error| format!("not an index: {error}"))?;
        let range = |raw: &RawValue| span(&document, raw.get().as_bytes());
        let unknown = members.unknown.iter().map(|(key, raw)| (key.clone().into_owned(), range(raw))).collect();
        let rows = members.entries.map(range);
        let index = Self::of_members(members, unknown)?;
        Ok(Self { rows, document: Some(document), ..index })
    }

    fn of_members(members: Members<'_>, unknown: Vec<(String, Range<usize>)>) -> Result<Self, String> {
        let head = match members.head.as_deref() {
            None | Some("") => None,
            Some(text) => Some(SnapshotId::parse(text).ok_or("its head is not a snapshot id")?),
        };
        let labels = members.labels.unwrap_or_default();
        let labels = labels.0.into_iter().map(|(label, id)| (label.into_owned(), id.into_owned())).collect();
        Ok(Self { unknown, head, labels, overflowed: members.overflowed, document: None, rows: None })
    }

    fn of_journal(journal: &Journal) -> Self {
        let mut targets = journal.targets();
        let head = targets.remove(HEAD).and_then(SnapshotId::parse);
        // Without a head nothing was ever finished.
        if head.is_none() {
            return Self::default();
        }
        let labels = targets.into_iter().map(|(label, id)| (label.to_owned(), id.to_owned())).collect();
        Self { head, labels, ..Self::default() }
    }

    /// Whether it says what no file says: it was told by the journal.
    pub(super) fn is_unwritten(&self) -> bool {
        self.document.is_none() && self.head.is_some()
    }

    /// The stat cache as JSON.
    #[must_use]
    pub fn rows_json(&self) -> &[u8] {
        match (&self.document, &self.rows) {
            (Some(document), Some(rows)) => {
                document.get(rows.clone()).filter(|json| *json != b"null").unwrap_or(b"{}")
            }
            _ => b"{}",
        }
    }

    /// Reads the stat cache, sorted by path bytes.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn rows(&self) -> Result<Vec<Row<'_>>, String> {
        rows::parse(self.rows_json())
    }

    /// All labels that point to a snapshot, sorted.
    #[must_use]
    pub fn labels_of(&self, id: &SnapshotId) -> Vec<&str> {
        self.labels.iter().filter(|(_, target)| *target == id.as_str()).map(|(label, _)| label.as_str()).collect()
    }

    /// How many bytes at the beginning of what [`History::write_index`] writes stand there already.
    fn bytes_kept(&self, rows: &RowsUpdate<'_>) -> usize {
        match (rows, &self.document, &self.rows) {
            (RowsUpdate::Keep, Some(document), Some(rows))
                if document.starts_with(ROWS) && rows.start == ROWS_AT =>
            {
                rows.end
            }
            _ => 0,
        }
    }

    /// Everything behind the rows.
    fn write_tail(&self, out: &mut Vec<u8>) {
        if let Some(head) = &self.head {
            push_key(out, "head");
            push_string(out, head.as_str());
        }
        if !self.labels.is_empty() {
            push_key(out, "labels");
            out.push(b'{');
            for (label, id) in &self.labels {
                push_key(out, label);
                push_string(out, id);
            }
            out.push(b'}');
        }
        if self.overflowed {
            push_key(out, "overflowed");
            out.extend_from_slice(b"true");
        }
        if let Some(document) = &self.document {
            for (key, value) in &self.unknown {
                push_key(out, key);
                out.extend_from_slice(document.get(value.clone()).unwrap_or(b"null"));
            }
        }
        out.push(b'}');
    }
}

/// Where the rows stand in an index as we and the original write it, and an object of all the other members.
///
/// The rows are megabytes and stand first; head and labels, which every command needs, are behind them and are found from
/// the end. The quotes of `"head"` cannot stand within a string. If what follows is an object's members up to the last
/// byte, they are members of the index itself: deeper ones would be closed once more. So whatever stands before them can
/// be copied as it is, and whoever needs the rows reads all of them.
fn split(document: &[u8]) -> Option<(Range<usize>, Vec<u8>)> {
    if !document.starts_with(ROWS) {
        return None;
    }
    let rows_end = memchr::memmem::rfind(document, b",\"head\":\"")?;
    let (rows, rest) = (document.get(ROWS_AT..rows_end)?, document.get(rows_end + 1..)?);
    rows.ends_with(b"}").then_some(())?;
    let mut tail = Vec::with_capacity(rest.len() + 1);
    tail.push(b'{');
    tail.extend_from_slice(rest);
    Some((ROWS_AT..rows_end, tail))
}

/// How an index begins, up to the first row.
const ROWS: &[u8] = b"{\"entries\":{";
/// Where the object of the rows begins.
const ROWS_AT: usize = ROWS.len() - 1;

/// Where `part`, which was borrowed from `whole`, stands in it.
fn span(whole: &[u8], part: &[u8]) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    start..start + part.len()
}

#[derive(Default)]
struct Members<'a> {
    entries: Option<&'a RawValue>,
    head: Option<Cow<'a, str>>,
    labels: Option<StringMap<'a>>,
    overflowed: bool,
    unknown: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// A key or a string value, borrowed where it has no escapes.
#[derive(Deserialize, PartialEq, Eq)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                let mut seen = Vec::new();
                while let Some(Text(key)) = map.next_key()? {
                    if seen.contains(&key) {
                        return Err(serde::de::Error::custom(format!("member '{key}' stands twice")));
                    }
                    match &*key {
                        "entries" => members.entries = map.next_value()?,
                        "head" => members.head = map.next_value::<Option<Text<'_>>>()?.map(|text| text.0),
                        "labels" => members.labels = map.next_value()?,
                        "overflowed" => members.overflowed = map.next_value()?,
                        _ => members.unknown.push((key.clone(), map.next_value()?)),
                    }
                    seen.push(key);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// A JSON object of strings in which no key stands twice.
#[derive(Default)]
struct StringMap<'a>(BTreeMap<Cow<'a, str>, Cow<'a, str>>);

impl<'de> Deserialize<'de> for StringMap<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StringMapVisitor;
        impl<'de> Visitor<'de> for StringMapVisitor {
            type Value = StringMap<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut strings = BTreeMap::new();
                while let Some((Text(key), Text(value))) = map.next_entry()? {
                    if let Some(first) = strings.insert(key, value) {
                        return Err(serde::de::Error::custom(format!("a label stands twice, once for '{first}'")));
                    }
                }
                Ok(StringMap(strings))
            }
        }
        deserializer.deserialize_map(StringMapVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "a2bbdb2de53523b8099b37013f251546f3d65dbe7a0774fa41af0a4176992fd4";

    fn parse(text: &str) -> Result<Index, String> {
        Index::parse(Document::from(text.as_bytes().to_vec()))
    }

    #[test]
    fn what_is_found_from_the_end_is_what_the_general_parser_finds() {
        let row = format!(r#""a}},\"head\":\"1-1":{{"size":1,"mod_nano":2,"hash":"{HASH}"}}"#);
        let tail =
            r#""head":"1-0001","labels":{"l},\"head\":\"x":"1-0001"},"overflowed":true,"new":[1,{"a":2}],"more":3"#;
        for rows in ["", &row] {
            let plain = format!(r#"{{"entries":{{{rows}}},{tail}}}"#);
            assert!(split(plain.as_bytes()).is_some());
            // A blank is all that it takes to leave the plain way.
            let general = format!(r#"{{ "entries":{{{rows}}},{tail}}}"#);
            assert!(split(general.as_bytes()).is_none());
            let (plain, general) = (parse(&plain).unwrap(), parse(&general).unwrap());
            assert_eq!(plain.rows_json(), general.rows_json());
            assert_eq!((&plain.head, &plain.labels), (&general.head, &general.labels));
            let tail = |index: &Index| {
                let mut out = Vec::new();
                index.write_tail(&mut out);
                String::from_utf8(out).unwrap()
            };
            assert_eq!(tail(&plain), tail(&general));
            assert!(plain.rows().is_ok() && plain.overflowed);
        }
    }

    #[test]
    fn a_member_of_that_name_elsewhere_is_not_head() {
        for text in [
            r#"{"entries":{},"head":"1-0001","new":{"a":1,"head":"2-0001"}}"#,
            r#"{"entries":{},"head":"1-0001","new":{"a":{},"head":"2-0001"},"labels":{}}"#,
        ] {
            assert_eq!(parse(text).unwrap().head, SnapshotId::parse("1-0001"), "{text}");
        }
        assert!(parse(r#"{"entries":{},"head":"1-0001","head":"2-0001"}"#).is_err());
        assert_eq!(parse(r#"{"entries":{"a":{},"head":"1-0001"}}"#).unwrap().head, None);
    }
}
