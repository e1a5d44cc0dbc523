//! [`Items`]: going over the items of a list, or the members of an object, that stand in the order of their paths.
//!
//! Manifests hold their entries so, and the index its rows. Whoever knows what an item should say goes over it with one
//! comparison; an item is read only where that fails.

use std::cmp::Ordering;
use std::ops::Range;

use super::plain::Plain;

/// The items do not stand as we write them, or paths did not come in order: they have to be read as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfOrder;

/// A place between two items.
#[derive(Clone)]
pub(super) struct Items<'a> {
    text: &'a [u8],
    plain: Plain<'a>,
    close: &'static [u8],
    is_at_end: bool,
    /// The item before this place.
    last: Range<usize>,
    /// Whether items were gone over that nobody asked for.
    has_skipped: bool,
}

impl<'a> Items<'a> {
    /// Stands before the first item of a text in such brackets.
    pub(super) fn new(text: &'a [u8], open: &[u8], close: &'static [u8]) -> Option<Self> {
        let mut plain = Plain::new(text);
        plain.literal(open)?;
        let is_at_end = plain.has(close);
        Some(Self { text, plain, close, is_at_end, last: 0..0, has_skipped: false })
    }

    /// Whether every item has been gone over, and nothing is left.
    pub(super) fn is_complete(&self) -> bool {
        self.is_at_end && self.plain.rest().is_empty()
    }

    /// What comes next, to be read.
    pub(super) fn ahead(&self) -> Plain<'a> {
        self.plain
    }

    /// Where the item stands that was gone over last.
    pub(super) fn last(&self) -> Range<usize> {
        self.last.clone()
    }

    /// Stands behind the item that ends where `plain` is.
    pub(super) fn go_over(&mut self, mut plain: Plain<'a>) -> Option<()> {
        if self.is_at_end {
            return None;
        }
        let place = |plain: &Plain<'_>| self.text.len() - plain.rest().len();
        let last = place(&self.plain)..place(&plain);
        if plain.has(self.close) {
            self.is_at_end = true;
        } else {
            plain.literal(b",")?;
        }
        self.last = last;
        self.plain = plain;
        Some(())
    }

    /// Goes over all items whose paths come before this one. Gives the item of the path, which is not gone over, and where
    /// it ends.
    pub(super) fn reach<T>(
        &mut self,
        path: &[u8],
        kind: &Kind<'a, T>,
    ) -> Result<Option<(T, Plain<'a>)>, OutOfOrder> {
        if self.last_item(kind)?.is_some_and(|last| path <= (kind.path)(&last)) {
            return Err(OutOfOrder);
        }
        while let Some((item, end)) = self.peek(kind)? {
            match (kind.path)(&item).cmp(path) {
                Ordering::Less => self.skip(end)?,
                Ordering::Equal => return Ok(Some((item, end))),
                Ordering::Greater => break,
            }
        }
        Ok(None)
    }

    /// Goes on to the item of a path, and over it; `None` where there is none.
    pub(super) fn find<T>(&mut self, path: &[u8], kind: &Kind<'a, T>) -> Result<Option<T>, OutOfOrder> {
        let Some((item, end)) = self.reach(path, kind)? else { return Ok(None) };
        self.go_over(end).ok_or(OutOfOrder)?;
        Ok(Some(item))
    }

    fn skip(&mut self, end: Plain<'a>) -> Result<(), OutOfOrder> {
        self.has_skipped = true;
        self.go_over(end).ok_or(OutOfOrder)
    }

    /// Whether items were gone over that nobody asked for.
    pub(super) fn has_skipped(&self) -> bool {
        self.has_skipped
    }

    /// Goes over everything that is left.
    pub(super) fn finish<T>(&mut self, kind: &Kind<'a, T>) -> Result<(), OutOfOrder> {
        while let Some((_, end)) = self.peek(kind)? {
            self.skip(end)?;
        }
        if self.is_complete() { Ok(()) } else { Err(OutOfOrder) }
    }

    /// Reads the next item and goes over it; `None` at the end, and where one does not stand as we write it.
    pub(super) fn read<T>(&mut self, kind: &Kind<'a, T>) -> Option<T> {
        let mut end = self.plain;
        let item = (kind.read)(&mut end)?;
        self.go_over(end)?;
        Some(item)
    }

    /// The next item, which must come behind the last one, and where it ends.
    fn peek<T>(&self, kind: &Kind<'a, T>) -> Result<Option<(T, Plain<'a>)>, OutOfOrder> {
        if self.is_at_end {
            return Ok(None);
        }
        let mut end = self.plain;
        let item = (kind.read)(&mut end).ok_or(OutOfOrder)?;
        if self.last_item(kind)?.is_some_and(|last| (kind.path)(&item) <= (kind.path)(&last)) {
            return Err(OutOfOrder);
        }
        Ok(Some((item, end)))
    }

    /// Reads the item before this place once more: nearly always nobody needs it.
    fn last_item<T>(&self, kind: &Kind<'a, T>) -> Result<Option<T>, OutOfOrder> {
        if self.last.is_empty() {
            return Ok(None);
        }
        let text = self.text.get(self.last.clone()).ok_or(OutOfOrder)?;
        (kind.read)(&mut Plain::new(text)).map(Some).ok_or(OutOfOrder)
    }
}

/// How items are read.
pub(super) struct Kind<'a, T> {
    /// Reads one that stands as we write it.
    pub(super) read: fn(&mut Plain<'a>) -> Option<T>,
    /// Its path.
    pub(super) path: fn(&T) -> &[u8],
}
