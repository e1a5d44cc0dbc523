//! What the private files have in common in which a run remembers something to be quicker: `.pool-seen`, `.dirs-seen`,
//! `.index-spare-seen`.
//!
//! Such a file is never needed. It is replaced whole, without a flush, and whoever reads it takes one that is wrong in any
//! way for none. It tells which start of the machine it is from, because a power cut may take back what it was about.

use std::path::Path;
use std::sync::OnceLock;

use super::fsio::{Durability, document};

/// A file in which Linux says which start of the machine this is.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Bytes of [`boot_id`].
pub const BOOT_ID_BYTES: usize = 48;

/// Which start of the machine this is: 36 characters, padded; `None` where that cannot be told.
#[must_use]
pub fn boot_id() -> Option<[u8; BOOT_ID_BYTES]> {
    static READ: OnceLock<Option<[u8; BOOT_ID_BYTES]>> = OnceLock::new();
    *READ.get_or_init(|| {
        let text = std::fs::read(BOOT_ID).ok()?;
        let mut id = [0; BOOT_ID_BYTES];
        id.get_mut(..text.len())?.copy_from_slice(&text);
        (text.len() >= 32).then_some(id)
    })
}

/// Replaces such a file. That it cannot be written is no error: what it would have saved is then done again.
pub fn replace(path: &Path, parts: &[&[u8]]) {
    let _ = document::replace(path, parts, Durability::Off);
}

/// Takes so many bytes off; `None` where there are fewer.
pub fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

/// Takes a number of 64 bits off; `None` where there are fewer.
pub fn number(rest: &mut &[u8]) -> Option<u64> {
    let (bytes, left) = rest.split_first_chunk::<8>()?;
    *rest = left;
    Some(u64::from_le_bytes(*bytes))
}

/// Takes a number of 32 bits off; `None` where there are fewer.
pub fn number_u32(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, left) = rest.split_first_chunk::<4>()?;
    *rest = left;
    Some(u32::from_le_bytes(*bytes))
}

/// A sum over bytes that shows damage, not malice: every step can be undone, so one wrong word always changes it.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let (words, tail) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| step(sum, u64::from_le_bytes(*word)));
    tail.iter().fold(sum, |sum, byte| step(sum, u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_damaged_byte_changes_the_sum() {
        let good: Vec<u8> = (0..=100).collect();
        let sum = checksum(&good);
        for place in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[place] ^= 1 << bit;
                assert_ne!(checksum(&bad), sum, "bit {bit} of byte {place}");
            }
            assert_ne!(checksum(&good[..place]), sum);
        }
        assert_ne!(checksum(&[0; 8]), checksum(&[0; 16]));
    }
}
