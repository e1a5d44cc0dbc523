//! Streams of paths: one name an item, closed by an empty item where both sides agree on it.
//!
//! The empty item is what tells a complete list from one whose writer died: without it, a reader that deletes or
//! restores by list would act on half of it.

use std::io::BufRead;

use super::{Framing, broken, quote, read_item};
use crate::error::{Error, Result};
use crate::store::relpath::RelPathBuf;

/// Whether the empty item at the end must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndMark {
    /// Its absence is a broken stream (`--require-end`).
    Required,
    /// It may be missing.
    Optional,
}

/// Reads all names of a stream.
///
/// # Errors
/// [`crate::error::Kind::Damaged`] for a missing end mark, text after it, or malformed quoting.
pub fn read_names(reader: impl BufRead, framing: Framing, mark: EndMark) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for_each_name(reader, framing, mark, |name| {
        names.push(name.to_vec());
        Ok(())
    })?;
    Ok(names)
}

/// Reads the names of a stream one by one, for whoever answers each before the next is asked.
///
/// # Errors
/// As [`read_names`], and what `take` returns, which ends the reading.
pub fn for_each_name(
    mut reader: impl BufRead,
    framing: Framing,
    mark: EndMark,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut count = 0_u64;
    let mut item = Vec::new();
    while read_item(&mut reader, framing, &mut item)? {
        if item.is_empty() {
            if read_item(&mut reader, framing, &mut item)? {
                return Err(broken(format!(
                    "text after the end of the list of paths: {}",
                    quote::name(super::clip(&item))
                )));
            }
            return Ok(());
        }
        count += 1;
        let name = framing.decode(&item).ok_or_else(|| {
            broken(format!("item {count}: malformed quoting: {}", quote::name(super::clip(&item))))
        })?;
        take(&name)?;
    }
    match mark {
        EndMark::Optional => Ok(()),
        EndMark::Required => {
            Err(broken(format!("the list of paths ends without its end mark after {count} items")))
        }
    }
}

/// Reads all paths of a stream; one trailing slash is allowed and means a directory.
///
/// # Errors
/// As [`read_names`], and [`crate::error::Kind::Usage`] for a name that is not a workspace-relative path.
pub fn read_paths(reader: impl BufRead, framing: Framing, mark: EndMark) -> Result<Vec<RelPathBuf>> {
    read_names(reader, framing, mark)?.into_iter().map(|name| parse(&name)).collect()
}

/// Reads one workspace-relative path that somebody named; one trailing slash is allowed.
///
/// # Errors
/// [`crate::error::Kind::Usage`].
pub fn parse(name: &[u8]) -> Result<RelPathBuf> {
    RelPathBuf::new(name.strip_suffix(b"/").unwrap_or(name)).map_err(|problem| {
        Error::usage(format!("{problem}: {}", quote::name(name))).hint("name it relative to the workspace")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_mark_tells_a_whole_list_from_half_a_list() {
        let whole = read_names(&b"a\n\"b\\n\"\n\n"[..], Framing::Line, EndMark::Required).unwrap();
        assert_eq!(whole, [b"a".to_vec(), b"b\n".to_vec()]);
        assert!(read_names(&b"a\nb\n"[..], Framing::Line, EndMark::Required).is_err());
        assert!(read_names(&b"a\nb\n"[..], Framing::Line, EndMark::Optional).is_ok());
        assert!(read_names(&b"a\nb"[..], Framing::Line, EndMark::Optional).is_err(), "half a name");
        assert!(read_names(&b"a\n\nb\n"[..], Framing::Line, EndMark::Optional).is_err(), "text after the end");
        assert_eq!(read_names(&b"\0"[..], Framing::Nul, EndMark::Required).unwrap(), Vec::<Vec<u8>>::new());
    }
}
