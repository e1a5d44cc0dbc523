//! Standard input, read only where an option says so, and what options give as text, from a file or from a pipe.

use std::io::{BufReader, Read};

use crate::error::{Error, IoContext, Kind, Result};

/// Standard input with a large buffer.
#[must_use]
pub fn stdin() -> BufReader<impl Read> {
    BufReader::with_capacity(128 * 1024, std::io::stdin().lock())
}

/// What an option gives: its own text, the content of FILE for `@FILE`, standard input for `-`. At most `bytes_max` bytes.
///
/// # Errors
/// [`crate::error::Kind::Io`]; [`crate::error::Kind::Limit`] for more bytes than that.
pub fn argument(value: &str, bytes_max: u64) -> Result<Vec<u8>> {
    match (value, value.strip_prefix('@')) {
        ("-", _) => read_all(stdin(), "standard input", bytes_max),
        (_, Some(path)) => read_all(open(path)?, path, bytes_max),
        (text, None) => read_all(text.as_bytes(), "the option", bytes_max),
    }
}

/// Opens a file that somebody names; one that is not there is a mistake of his.
fn open(path: &str) -> Result<std::fs::File> {
    std::fs::File::open(path).map_err(|cause| {
        let error = Error::io("cannot open", path, &cause);
        if cause.kind() == std::io::ErrorKind::NotFound { error.with_kind(Kind::NotFound) } else { error }
    })
}

/// Reads to the end, but not more than `bytes_max` bytes.
///
/// # Errors
/// As [`argument`].
pub fn read_all(from: impl Read, name: &str, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).on("cannot read", name)?;
    if bytes.len() as u64 > bytes_max {
        return Err(Error::limit(format!("{name} gives more than {bytes_max} bytes")));
    }
    Ok(bytes)
}
