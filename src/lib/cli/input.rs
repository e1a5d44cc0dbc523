//! Standard input, read only where an option says so.

use std::io::{BufReader, Read};

/// Standard input with a large buffer.
#[must_use]
pub fn stdin() -> BufReader<impl Read> {
    BufReader::with_capacity(128 * 1024, std::io::stdin().lock())
}
