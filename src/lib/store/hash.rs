//! Hashing: the one place that knows which digest names an object.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

use super::id::ObjectId;

/// Bytes read at a time: big enough to hide the system call, small enough to stay in the cache.
pub const READ_BLOCK_BYTES: usize = 128 * 1024;

/// A hash being computed.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The id of all the bytes added.
    #[must_use]
    pub fn finish(self) -> ObjectId {
        ObjectId::from_bytes(self.0.finalize().into())
    }
}

/// The id of bytes in memory.
#[must_use]
pub fn of_bytes(bytes: &[u8]) -> ObjectId {
    ObjectId::from_bytes(Sha256::digest(bytes).into())
}

/// Reads `file` to its end through `buffer` and returns its id and how many bytes there were.
///
/// # Errors
/// What the operating system said while reading.
pub fn of_file(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<(ObjectId, u64)> {
    let mut hasher = Hasher::default();
    let mut total = 0;
    loop {
        let count = match file.read(buffer) {
            Ok(0) => return Ok((hasher.finish(), total)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(buffer.get(..count).unwrap_or_default());
        total += count as u64;
    }
}
