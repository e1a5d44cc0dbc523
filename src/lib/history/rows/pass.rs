//! [`Pass`]: going over the stat cache in the order of paths, without reading the rows that are as expected.

use std::ops::Range;

use super::{Row, plain_row};
use crate::history::items::{Items, Kind, OutOfOrder};

/// A place between two rows.
pub struct Pass<'a> {
    items: Items<'a>,
}

fn rows<'a>() -> Kind<'a, Row<'a>> {
    Kind { read: plain_row, path: |row| row.path.as_bytes() }
}

impl<'a> Pass<'a> {
    /// Stands before the first row of an object of rows.
    #[must_use]
    pub fn new(json: &'a [u8]) -> Option<Self> {
        Items::new(json, b"{", b"}").map(|items| Self { items })
    }

    /// Whether every row has been gone over, and nothing is left.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.items.is_complete()
    }

    /// Where the row stands that was gone over last.
    #[must_use]
    pub fn last(&self) -> Range<usize> {
        self.items.last()
    }

    /// Goes over the next row if it says exactly this, and nothing more; gives the digits of its hash. `stat` are size, mtime,
    /// ctime and inode in digits, `name` is the path as it stands in JSON.
    pub fn expect(&mut self, stat: [&[u8]; 4], name: &[u8]) -> Option<&'a [u8]> {
        let [size, mtime_ns, ctime_ns, inode] = stat;
        let mut plain = self.items.ahead();
        plain.literal(b"\"")?;
        plain.literal(name)?;
        plain.literal(b"\":{\"size\":")?;
        plain.literal(size)?;
        plain.literal(b",\"mod_nano\":")?;
        plain.literal(mtime_ns)?;
        plain.literal(b",\"hash\":\"")?;
        let hash = plain.bytes(64)?;
        plain.literal(b"\",\"ctime_nano\":")?;
        plain.literal(ctime_ns)?;
        plain.literal(b",\"ino\":")?;
        plain.literal(inode)?;
        plain.literal(b"}")?;
        self.items.go_over(plain)?;
        Some(hash)
    }

    /// Goes over the next row if it is this text, which is a whole row.
    pub fn skip(&mut self, row: &[u8]) -> bool {
        let mut plain = self.items.ahead();
        plain.has(row) && self.items.go_over(plain).is_some()
    }

    /// Goes over all rows of paths before this one. Gives the row of the path, which is not gone over.
    ///
    /// # Errors
    /// [`OutOfOrder`] where only all rows together tell.
    pub fn reach(&mut self, path: &[u8]) -> Result<Option<Row<'a>>, OutOfOrder> {
        Ok(self.items.reach(path, &rows())?.map(|(row, _)| row))
    }

    /// Goes on to the row of a path, and over it; `None` where there is none.
    ///
    /// # Errors
    /// [`OutOfOrder`] where only all rows together tell.
    pub fn find(&mut self, path: &[u8]) -> Result<Option<Row<'a>>, OutOfOrder> {
        self.items.find(path, &rows())
    }

    /// Goes over all rows that are left.
    ///
    /// # Errors
    /// [`OutOfOrder`] where only all rows together tell.
    pub fn finish(&mut self) -> Result<(), OutOfOrder> {
        self.items.finish(&rows())
    }

    /// Reads the next row and goes over it; `None` at the end, and where one does not stand as we write it.
    pub(crate) fn read(&mut self) -> Option<Row<'a>> {
        self.items.read(&rows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::json::Name;
    use crate::history::rows::{self, Seen};
    use crate::store::id::ObjectId;
    use crate::stream::raw::RawRecord;

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
        pass.expect(raw.stat(), Name::default().of(raw.path).unwrap())
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
        assert!(!pass.skip(row("b").as_bytes()), "a comes first");
        assert!(!pass.skip(&row("a").as_bytes()[..40]), "half a row");
        assert!(pass.skip(row("a").as_bytes()));
        assert_eq!(pass.find(b"b").unwrap().unwrap().hash, Some(hash(1)));
        assert!(pass.is_complete() && !pass.skip(row("b").as_bytes()));
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
