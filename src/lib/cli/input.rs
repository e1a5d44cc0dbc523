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
        (_, Some(path)) => {
            let file =
                open(path).map_err(|error| error.also("behind @ stands the name of a file that can be read"))?;
            read_all(file, path, bytes_max)
        }
        (text, None) => read_all(text.as_bytes(), "the option", bytes_max),
    }
}

/// Opens a file that somebody names; one that is not there, or is a directory, is a mistake of his.
///
/// # Errors
/// [`Kind::NotFound`], [`Kind::Usage`] for a directory, [`Kind::Io`].
pub fn open(path: &str) -> Result<std::fs::File> {
    let file = std::fs::File::open(path).map_err(|cause| misnamed(Error::io("cannot open", path, &cause)))?;
    if file.metadata().is_ok_and(|meta| meta.is_dir()) {
        return Err(misnamed(Error::io("cannot read", path, &std::io::ErrorKind::IsADirectory.into())));
    }
    Ok(file)
}

/// Makes a mistake of who named a file of what is one.
#[must_use]
pub fn misnamed(error: Error) -> Error {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    if error.is_io(NotFound) {
        error.with_kind(Kind::NotFound)
    } else if error.is_io(IsADirectory) || error.is_io(NotADirectory) {
        error.with_kind(Kind::Usage)
    } else {
        error
    }
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
