//! Which file systems belong to another machine: their locks may not be seen by everybody (facts 2.9, 10.30). And of
//! which it is known that a directory shows by its times that its names changed.

use std::os::fd::BorrowedFd;

use super::seam;

/// The file systems whose locks are kept by a server, a cluster or a daemon, by the magic number of statfs(2).
const NETWORKS: [(u32, &str); 11] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x0102_1997, "9P"),
    (0x0bd0_0bd0, "Lustre"),
    (0x564c, "NCP"),
    (0x6573_5546, "FUSE"),
];

/// The name of the network file system that an open file lies on; `None` for the disks of this machine.
#[must_use]
pub fn name_of(fd: BorrowedFd<'_>) -> Option<&'static str> {
    named(magic(fd)?)
}

/// Whether the kernel of this machine alone changes the directories of the file system that `fd` lies on, and moves their
/// times whenever it adds or takes a name. What a server, a daemon, a cluster or a layer below may change is not among
/// them, and neither is what nobody has looked at.
#[must_use]
pub fn moves_dir_times(fd: BorrowedFd<'_>) -> bool {
    magic(fd).is_some_and(|magic| DIR_TIMES_MOVE.contains(&magic))
}

/// Whether a directory on the file system that `fd` lies on may be encrypted: then its names change with the key, and
/// neither its inode nor its times do.
#[must_use]
pub fn may_encrypt_names(fd: BorrowedFd<'_>) -> bool {
    magic(fd).is_none_or(|magic| ENCRYPTING.contains(&magic))
}

/// ext4 and F2FS, as above.
const ENCRYPTING: [u32; 2] = [0xef53, 0xf2f5_2010];

/// ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, by the magic number of statfs(2).
const DIR_TIMES_MOVE: [u32; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010];

fn magic(fd: BorrowedFd<'_>) -> Option<u32> {
    let found = rustix::fs::fstatfs(fd).ok()?;
    // The field is as wide as the machine likes; the numbers have 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only 32 bits of it are used")]
    let magic = found.f_type as u32;
    Some(seam::file_system().unwrap_or(magic))
}

fn named(magic: u32) -> Option<&'static str> {
    NETWORKS.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disks_of_this_machine_are_no_networks() {
        // ext4, xfs, btrfs, tmpfs, overlay, zfs, f2fs.
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010] {
            assert_eq!(named(local), None, "{local:x}");
        }
        assert_eq!(named(0x6969), Some("NFS"));
    }
}
