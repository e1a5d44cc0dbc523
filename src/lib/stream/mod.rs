//! The wire between commands: paths, records and how names are written in them (wt-stream(5)).
//!
//! This room knows nothing of stores, snapshots or terminals: bytes in, values out, and the reverse.

pub mod decimal;
pub mod paths;
pub mod quote;
pub mod raw;
pub mod record;
pub mod recordset;
pub mod wire;

use std::borrow::Cow;
use std::io::BufRead;

use crate::error::{Error, IoContext, Result};

/// How items are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Items end in a newline; names are quoted where they need it.
    Line,
    /// Items end in NUL; names are raw bytes (`-z`).
    Nul,
}

impl Framing {
    /// The byte that ends an item.
    #[must_use]
    pub fn end(self) -> u8 {
        match self {
            Self::Line => b'\n',
            Self::Nul => 0,
        }
    }

    /// Writes a name as an item of this framing carries it.
    #[must_use]
    pub fn encode(self, name: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Line => quote::c_quote(name),
            Self::Nul => Cow::Borrowed(name),
        }
    }

    /// Reads what [`Framing::encode`] wrote; `None` when the quoting is malformed.
    #[must_use]
    pub fn decode(self, text: &[u8]) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Line => quote::c_unquote(text),
            Self::Nul => Some(Cow::Borrowed(text)),
        }
    }
}

/// Longest item of any stream: a path of 32 000 components with every byte quoted is below it.
pub const ITEM_BYTES_MAX: usize = 1024 * 1024;

/// Reads one item into `item`, without its end. `false` at the end of input; an item cut short counts as one that is
/// not there, because a stage that died may have written half a name.
///
/// # Errors
/// [`crate::error::Kind::Damaged`] for an item that is cut short or longer than [`ITEM_BYTES_MAX`].
pub fn read_item(reader: &mut impl BufRead, framing: Framing, item: &mut Vec<u8>) -> Result<bool> {
    item.clear();
    loop {
        let available = match reader.fill_buf() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            other => other.on("cannot read", "standard input")?,
        };
        if available.is_empty() {
            return if item.is_empty() {
                Ok(false)
            } else {
                Err(broken(format!("the last item is cut short: {}", quote::name(clip(item)))))
            };
        }
        let end = memchr::memchr(framing.end(), available);
        let chunk = available.get(..end.unwrap_or(available.len())).unwrap_or(available);
        item.extend_from_slice(chunk);
        let used = chunk.len() + usize::from(end.is_some());
        reader.consume(used);
        if item.len() > ITEM_BYTES_MAX {
            return Err(broken(format!("an item is longer than {ITEM_BYTES_MAX} bytes")));
        }
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// The beginning of a long item, for a message.
pub(crate) fn clip(item: &[u8]) -> &[u8] {
    item.get(..120).unwrap_or(item)
}

pub(crate) fn broken(message: String) -> Error {
    Error::new(crate::error::Kind::Damaged, message).hint("nothing was written; run the whole pipeline again")
}
