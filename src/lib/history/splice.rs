//! [`Splice`]: a new list of items, most of which stand in an older document.
//!
//! ```text
//! old    [ a , b , c , d , e ]          c was changed, d removed, x added
//! new      a , b + ,C,x, + e            ranges of the old text, and text of its own
//! ```
//!
//! A capture in which little changed writes its documents from this: what did not change is copied as it stands, and
//! is never taken apart or held in memory.

use std::ops::Range;

/// The items of a list or an object, without its brackets.
#[derive(Debug, Default)]
pub struct Splice {
    parts: Vec<Part>,
    /// The text that stands in no older document.
    fresh: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Of the old document.
    Old(Range<usize>),
    /// Of the fresh text.
    Fresh(Range<usize>),
}

impl Splice {
    /// Goes on with an item of the old document.
    pub fn keep(&mut self, item: Range<usize>) {
        match self.parts.last_mut() {
            // With the comma between them.
            Some(Part::Old(last)) if last.end + 1 == item.start => {
                last.end = item.end;
                return;
            }
            Some(_) => self.push_fresh(|out| out.push(b',')),
            None => {}
        }
        self.parts.push(Part::Old(item));
    }

    /// Goes on with an item that `write` writes.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let is_first = self.parts.is_empty();
        self.push_fresh(|out| {
            if !is_first {
                out.push(b',');
            }
            write(out);
        });
    }

    fn push_fresh(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.fresh.len();
        write(&mut self.fresh);
        match self.parts.last_mut() {
            Some(Part::Fresh(last)) => last.end = self.fresh.len(),
            _ => self.parts.push(Part::Fresh(start..self.fresh.len())),
        }
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether it is just what stands in this place of the old document.
    #[must_use]
    pub fn is_only(&self, place: Range<usize>) -> bool {
        if place.is_empty() { self.is_empty() } else { self.parts == [Part::Old(place)] }
    }

    /// The text, in pieces; `old` is the old document.
    pub fn pieces<'s>(&'s self, old: &'s [u8]) -> impl Iterator<Item = &'s [u8]> {
        self.parts.iter().map(move |part| match part {
            Part::Old(range) => old.get(range.clone()).unwrap_or_default(),
            Part::Fresh(range) => self.fresh.get(range.clone()).unwrap_or_default(),
        })
    }

    /// The text that stands in no older document: whole items, in pieces, with a comma before or behind where one belongs
    /// between them and the old ones.
    pub fn fresh(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().filter_map(|part| match part {
            Part::Old(_) => None,
            Part::Fresh(range) => self.fresh.get(range.clone()),
        })
    }

    /// The text in one piece, in such brackets.
    #[must_use]
    pub fn to_text(&self, old: &[u8], open: u8, close: u8) -> Vec<u8> {
        let mut text = vec![open];
        self.pieces(old).for_each(|piece| text.extend_from_slice(piece));
        text.push(close);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[u8] = b"[a,b,c,d,e]";

    fn item(number: usize) -> Range<usize> {
        1 + 2 * number..2 + 2 * number
    }

    /// Old items by number, or new ones.
    fn text(items: &[Result<usize, &str>]) -> (Splice, String) {
        let mut splice = Splice::default();
        for item_or_text in items {
            match item_or_text {
                Ok(number) => splice.keep(item(*number)),
                Err(text) => splice.add(|out| out.extend_from_slice(text.as_bytes())),
            }
        }
        let text = String::from_utf8(splice.to_text(OLD, b'[', b']')).unwrap();
        (splice, text)
    }

    #[test]
    fn items_are_separated_whatever_stands_beside_them() {
        for (items, expected) in [
            (&[][..], "[]"),
            (&[Err("x")], "[x]"),
            (&[Err("x"), Err("y")], "[x,y]"),
            (&[Ok(0), Ok(1), Ok(2), Ok(3), Ok(4)], "[a,b,c,d,e]"),
            (&[Ok(0), Ok(1), Err("C"), Err("x"), Ok(4)], "[a,b,C,x,e]"),
            (&[Ok(1), Ok(3)], "[b,d]"),
            (&[Err("x"), Ok(0), Ok(4), Err("y")], "[x,a,e,y]"),
        ] {
            assert_eq!(text(items).1, expected);
        }
    }

    #[test]
    fn what_is_all_of_the_old_is_known() {
        assert!(text(&[Ok(0), Ok(1), Ok(2), Ok(3), Ok(4)]).0.is_only(1..10));
        assert!(!text(&[Ok(0), Ok(1), Ok(2), Ok(3)]).0.is_only(1..10));
        assert!(!text(&[Ok(0), Err("b")]).0.is_only(1..4));
        assert!(text(&[]).0.is_only(1..1) && !text(&[Err("x")]).0.is_only(1..1));
        let (splice, _) = text(&[Ok(0), Err("x"), Ok(2), Ok(4), Err("y")]);
        assert_eq!(splice.fresh().collect::<Vec<_>>(), [&b",x,"[..], b",", b",y"]);
    }
}
