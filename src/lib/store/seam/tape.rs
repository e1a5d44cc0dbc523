//! The tape: every effect that was done, in order, with all that a test needs to do it again on a simulated disk.
//!
//! ```text
//! create DIR NAME FILE MODE      mkdir DIR NAME DIR MODE      symlink DIR NAME LINK TARGET
//! write FILE BYTES               write-at FILE OFFSET BYTES   truncate FILE LENGTH         chmod FILE MODE
//! rename DIR NAME DIR NAME       exchange DIR NAME DIR NAME   link DIR NAME DIR NAME
//! unlink DIR NAME                rmdir DIR NAME               unnamed DIR FILE MODE        name FILE DIR NAME
//! flush FILE                     flush-dir DIR                flush-fs DIR
//! ```
//!
//! Files and directories are inode numbers; names, targets and bytes are in hex with a dot before them. A name may have
//! more than one component. Each line goes out in one append, so that threads and processes can share a tape.

use std::os::fd::BorrowedFd;
use std::path::Path;

/// One field of a line.
#[derive(Clone, Copy)]
#[cfg_attr(not(debug_assertions), allow(dead_code, reason = "only debug builds have a tape"))]
pub(in crate::store) enum Field<'a> {
    /// The inode of an open file or directory.
    Fd(BorrowedFd<'a>),
    /// The inode that a name stands for now.
    At(BorrowedFd<'a>, &'a [u8]),
    /// The inode of the directory that a path lies in, and the path's last component.
    Path(&'a Path),
    /// A name, or content.
    Bytes(&'a [u8]),
    /// Content, in pieces.
    Parts(&'a [&'a [u8]]),
    /// A length or a mode.
    Number(u64),
}

/// Notes an effect that was done. Costs nothing where no test asked for a tape.
#[inline]
pub(in crate::store) fn note(effect: &str, fields: &[Field<'_>]) {
    #[cfg(debug_assertions)]
    if let Some(tape) = super::PLAN.get().and_then(|plan| plan.tape.as_ref()) {
        super::append(tape, line(effect, fields).as_bytes());
    }
    let _ = (effect, fields);
}

#[cfg(debug_assertions)]
fn line(effect: &str, fields: &[Field<'_>]) -> String {
    use std::os::unix::ffi::OsStrExt;
    let inode = |stat: rustix::io::Result<rustix::fs::Stat>| stat.map_or(0, |stat| stat.st_ino).to_string();
    let bytes = |bytes: &[u8]| format!(".{}", hex::encode(bytes));
    let mut words = vec![effect.to_owned()];
    for field in fields {
        match *field {
            Field::Fd(fd) => words.push(inode(rustix::fs::fstat(fd))),
            Field::At(dir, name) => {
                words.push(inode(rustix::fs::statat(dir, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)));
            }
            Field::Path(path) => {
                words.push(inode(rustix::fs::stat(path.parent().unwrap_or(path))));
                words.push(bytes(path.file_name().unwrap_or_default().as_bytes()));
            }
            Field::Bytes(text) => words.push(bytes(text)),
            Field::Parts(parts) => words.push(bytes(&parts.concat())),
            Field::Number(number) => words.push(number.to_string()),
        }
    }
    words.join(" ") + "\n"
}
