//! What the kernel says of a path, and when that proves that a file is still the same.
//!
//! A file is taken as unchanged if size, mtime, ctime and inode are what they were when it was hashed, and if it had
//! been at rest for a moment by then: within one tick of the clock a file can change twice and look the same (the racy
//! rule, design section 6).

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::stream::record::EntryKind;

/// Times with a fraction of a second tick at least this often, ns.
const FINE_TICK_NS: i64 = 20_000_000;
/// Times without one may tick only every two seconds (FAT, some network file systems), ns.
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// The part of a `stat` that we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: EntryKind,
    /// Permission bits, 0 to 0o777.
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// Modification time, ns since the epoch; `None` where 64 bits do not hold it.
    pub mtime_ns: Option<i64>,
    /// Status change time, ns since the epoch; `None` where 64 bits do not hold it.
    pub ctime_ns: Option<i64>,
    /// Inode number.
    pub inode: u64,
    /// Device number.
    pub device: u64,
    /// Number of names.
    pub links: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

impl From<Stat> for FileStat {
    #[allow(clippy::unnecessary_cast, reason = "the fields have other widths on other machines")]
    fn from(stat: Stat) -> Self {
        let ns = |seconds: i64, fraction: u64| {
            seconds.checked_mul(1_000_000_000)?.checked_add(i64::try_from(fraction).ok()?)
        };
        Self {
            kind: match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Link,
                FileType::Directory => EntryKind::Dir,
                _ => EntryKind::Special,
            },
            mode: stat.st_mode & 0o777,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime_ns: ns(stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            ctime_ns: ns(stat.st_ctime as i64, stat.st_ctime_nsec as u64),
            inode: stat.st_ino,
            device: stat.st_dev,
            links: stat.st_nlink as u64,
            uid: stat.st_uid,
            gid: stat.st_gid,
        }
    }
}

impl FileStat {
    /// Whether nothing that a write would move differs: kind, size, times and inode.
    #[must_use]
    pub fn is_same_content(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.size == other.size
            && self.mtime_ns == other.mtime_ns
            && self.ctime_ns == other.ctime_ns
            && self.inode == other.inode
            && self.device == other.device
    }
}

/// Stats one name in a directory without following a link; `None` when nothing is there.
///
/// # Errors
/// What the operating system said.
pub fn stat_at(dir: BorrowedFd<'_>, name: &[u8]) -> io::Result<Option<FileStat>> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat.into())),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether a file with these times had been at rest when the clock showed `start_ns`, so that a later change must show.
#[must_use]
pub fn is_settled(mtime_ns: i64, ctime_ns: i64, start_ns: u64) -> bool {
    let has_fraction = mtime_ns % 1_000_000_000 != 0 || ctime_ns % 1_000_000_000 != 0;
    let tick = if has_fraction { FINE_TICK_NS } else { COARSE_TICK_NS };
    let start = i64::try_from(start_ns).unwrap_or(i64::MAX);
    mtime_ns.max(ctime_ns) < start.saturating_sub(tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_touched_within_a_tick_or_in_the_future_is_not_settled() {
        let start = 1_000_000_000_000_u64;
        assert!(is_settled(900_000_000_001, 900_000_000_001, start));
        assert!(!is_settled(999_990_000_001, 900_000_000_001, start), "mtime within 20 ms");
        assert!(!is_settled(900_000_000_001, 999_990_000_001, start), "ctime within 20 ms");
        assert!(!is_settled(2_000_000_000_001, 900_000_000_001, start), "mtime in the future");
        assert!(!is_settled(999_000_000_000, 999_000_000_000, start), "whole seconds within 2 s");
        assert!(is_settled(997_000_000_000, 997_000_000_000, start));
    }
}
