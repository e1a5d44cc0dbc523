//! [`Pass`]: going over the stat cache in the order of paths, without reading the rows that are as expected.

use super::{Row, plain_row};
use crate::history::plain::Plain;
use crate::stream::raw::RawRecord;

/// A place between two rows.
pub struct Pass<'a> {
    plain: Plain<'a>,
    is_at_end: bool,
    /// The path of the row before this place, as it stands.
    last: Vec<u8>,
}

/// The rows do not stand as we write them, or paths did not come in order: they have to be read as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfOrder;

impl<'a> Pass<'a> {
    /// Stands before the first row of an object of rows.
    #[must_use]
    pub fn new(json: &'a [u8]) -> Option<Self> {
        let mut plain = Plain::new(json);
        plain.literal(b"{")?;
        let is_at_end = plain.has(b"}");
        Some(Self { plain, is_at_end, last: Vec::new() })
    }

    /// Whether every row has been gone over, and nothing is left.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_at_end && self.plain.rest().is_empty()
    }

    /// Goes over the next row if it says exactly what the record says, and nothing more; gives the digits of its hash.
    /// `name` is the path as it stands in JSON.
    pub fn expect(&mut self, record: &RawRecord<'_>, name: &[u8]) -> Option<&'a [u8]> {
        let mut plain = self.plain;
        plain.literal(b"\"")?;
        plain.literal(name)?;
        plain.literal(b"\":{\"size\":")?;
        plain.literal(record.size)?;
        plain.literal(b",\"mod_nano\":")?;
        plain.literal(record.mtime_ns)?;
        plain.literal(b",\"hash\":\"")?;
        let hash = plain.bytes(64)?;
        plain.literal(b"\",\"ctime_nano\":")?;
        plain.literal(record.ctime_ns)?;
        plain.literal(b",\"ino\":")?;
        plain.literal(record.inode)?;
        plain.literal(b"}")?;
        self.advance(plain)?;
        self.last.clear();
        self.last.extend_from_slice(record.path);
        Some(hash)
    }

    /// Goes over the next row if it is this text, which is a whole row with this path.
    pub fn skip(&mut self, path: &str, row: &[u8]) -> bool {
        let mut plain = self.plain;
        let is_here = !self.is_at_end && plain.has(row) && self.advance(plain).is_some();
        if is_here {
            self.last.clear();
            self.last.extend_from_slice(path.as_bytes());
        }
        is_here
    }

    /// Goes on to the row of a path, and over it; `None` where there is none.
    ///
    /// # Errors
    /// [`OutOfOrder`] where only all rows together tell.
    pub fn find(&mut self, path: &[u8]) -> Result<Option<Row<'a>>, OutOfOrder> {
        if path <= self.last.as_slice() && !self.last.is_empty() {
            return Err(OutOfOrder);
        }
        while !self.is_at_end {
            let mut plain = self.plain;
            let row = plain_row(&mut plain).ok_or(OutOfOrder)?;
            let name = row.path.as_bytes();
            if name <= self.last.as_slice() && !self.last.is_empty() {
                return Err(OutOfOrder);
            }
            if name > path {
                return Ok(None);
            }
            self.last.clear();
            self.last.extend_from_slice(name);
            self.advance(plain).ok_or(OutOfOrder)?;
            if name == path {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// Stands behind the row that ends where `plain` is.
    fn advance(&mut self, mut plain: Plain<'a>) -> Option<()> {
        if plain.has(b"}") {
            self.is_at_end = true;
        } else {
            plain.literal(b",")?;
        }
        self.plain = plain;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::json::Name;
    use crate::history::rows::{self, Seen};
    use crate::store::id::ObjectId;

    fn hash(number: u8) -> ObjectId {
        ObjectId::from_bytes([number; 32])
    }

    fn rows_of(paths: &[&str]) -> Vec<u8> {
        let mut json = vec![b'{'];
        for (number, path) in (0..).zip(paths) {
            let seen = Seen { size: 7, mtime_ns: -1, ctime_ns: 2, inode: 3 };
            rows::push_row(&mut json, path, hash(number), seen, None);
        }
        json.push(b'}');
        json
    }

    fn line(path: &str) -> String {
        format!("f0644 - 7 -1 2 3\t{path}")
    }

    fn expect<'a>(pass: &mut Pass<'a>, line: &str) -> Option<&'a [u8]> {
        let raw = RawRecord::split(line.as_bytes()).unwrap();
        pass.expect(&raw, Name::default().of(raw.path).unwrap())
    }

    #[test]
    fn rows_are_found_in_order_expected_or_not() {
        let json = rows_of(&["a", "b&c", "d", "e"]);
        let mut pass = Pass::new(&json).unwrap();
        assert_eq!(expect(&mut pass, &line("a")), Some(&hash(0).hex()[..]));
        assert_eq!(expect(&mut pass, &line("b&c")), Some(&hash(1).hex()[..]));
        assert!(pass.find(b"c").unwrap().is_none());
        let changed = line("d").replace(" 7 ", " 8 ");
        assert_eq!(expect(&mut pass, &changed), None);
        assert!(!pass.is_complete());
        assert_eq!(pass.find(b"e").unwrap().unwrap().hash, Some(hash(3)));
        assert!(pass.is_complete());
        assert!(pass.find(b"f").unwrap().is_none());
        assert_eq!(pass.find(b"b").err(), Some(OutOfOrder));
    }

    #[test]
    fn a_row_is_skipped_only_as_a_whole() {
        let json = rows_of(&["a", "b"]);
        let row = |path| String::from_utf8(rows_of(&[path])).unwrap().trim_matches(['{', '}']).to_owned() + "}";
        let mut pass = Pass::new(&json).unwrap();
        assert!(!pass.skip("b", row("b").as_bytes()), "a comes first");
        assert!(!pass.skip("a", &row("a").as_bytes()[..40]), "half a row");
        assert!(pass.skip("a", row("a").as_bytes()));
        assert_eq!(pass.find(b"b").unwrap().unwrap().hash, Some(hash(1)));
        assert!(pass.is_complete() && !pass.skip("b", row("b").as_bytes()));
    }

    #[test]
    fn a_row_that_differs_anywhere_is_not_expected() {
        let good = line("a");
        let json = rows_of(&["a"]);
        assert!(expect(&mut Pass::new(&json).unwrap(), &good).is_some());
        for other in [good.replace(" 7 ", " 07 "), good.replace("-1", "1"), good.replace(" 2 ", " 22 "), line("ab")]
        {
            assert!(expect(&mut Pass::new(&json).unwrap(), &other).is_none(), "{other}");
        }
        let more = String::from_utf8(json).unwrap().replace("\"ino\":3", "\"ino\":3,\"new\":1");
        assert!(expect(&mut Pass::new(more.as_bytes()).unwrap(), &good).is_none());
        assert_eq!(Pass::new(more.as_bytes()).unwrap().find(b"a").err(), Some(OutOfOrder));
    }
}
