//! The engine's own lock of a run, `<run>/.lock`: held for as long as an engine executes the run (facts 4.8).
//!
//! A live engine keeps an index and the next event number in memory, so a writer of history or events that does not
//! belong to it must keep out (design section 7). An engine that spawns our commands is our ancestor, and must not lock
//! itself out. The lock is only looked at: never created, never waited for, and let go at once where it was free.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode as FileMode, OFlags};
use rustix::io::Errno;

use super::id::RunId;
use super::lock::{self, Mode, try_flock};
use super::{Store, layout};
use crate::error::{Error, IoContext, Result};
use crate::stream::quote;

/// Longest chain of parents that is followed; far above any real one, so that a damaged `/proc` cannot hold us.
const ANCESTORS_MAX: usize = 128;

/// Refuses to go on while an engine that is not one of our ancestors holds the lock of `run`.
///
/// `allow` is the switch `--while-running`: nothing is looked at then. The look itself holds a shared lock for some
/// microseconds; only so can a holder in another pid namespace be noticed.
///
/// # Errors
/// [`crate::error::Kind::Conflict`] naming the run, and the holder where it can be seen; [`crate::error::Kind::Io`] when
/// the lock file cannot be examined.
pub fn refuse_foreign_engine(store: &Store, run: &RunId, allow: bool) -> Result<()> {
    if allow {
        return Ok(());
    }
    let path = layout::run_lock(store.root(), run);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = match rustix::fs::open(&path, flags, FileMode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        Err(errno) => return Err(Error::io("cannot examine the engine's lock", &path, &errno.into())),
    };
    if try_flock(fd.as_fd(), Mode::Shared)
        .map_err(|error| lock::failure("cannot examine the engine's lock", &path, &error))?
    {
        return Ok(());
    }
    let holder = Holder::of(&fd, &path)?;
    let ours = ancestors();
    if ours.iter().any(|pid| holder.pid == Some(*pid) || holder.is_held_by(*pid)) {
        return Ok(());
    }
    let who = holder.pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
    Err(Error::conflict(format!(
        "run {} is being executed by an engine{who} that holds its lock",
        quote::name(run.as_str().as_bytes())
    ))
    .at(path)
    .hint("wait until it has ended, or add --while-running if it leaves this part of the run alone"))
}

/// What can be seen of the process that holds the lock.
struct Holder {
    /// By `/proc/locks`, which shows only processes of our pid namespace.
    pid: Option<u32>,
    dev: u64,
    ino: u64,
}

impl Holder {
    fn of(fd: &OwnedFd, path: &Path) -> Result<Self> {
        let stat = rustix::fs::fstat(fd).on("cannot examine the engine's lock", path)?;
        Ok(Self { pid: flock_holder_of(fd.as_fd()), dev: stat.st_dev, ino: stat.st_ino })
    }

    /// Whether an open file of `pid` carries the lock. Finds it where `/proc/locks` does not: on layered file systems,
    /// whose device and inode numbers differ there, and where the process that took it has passed it on and died.
    fn is_held_by(&self, pid: u32) -> bool {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        open.flatten().any(|entry| {
            let same =
                rustix::fs::stat(entry.path()).is_ok_and(|stat| stat.st_dev == self.dev && stat.st_ino == self.ino);
            let name = entry.file_name();
            same && fs::read(Path::new(&format!("/proc/{pid}/fdinfo")).join(name))
                .is_ok_and(|info| info.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"lock:")))
        })
    }
}

/// The process that took the `flock` on an open file, by the kernel. A `/proc` that cannot be read makes it a stranger.
pub(super) fn flock_holder_of(fd: BorrowedFd<'_>) -> Option<u32> {
    let stat = rustix::fs::fstat(fd).ok()?;
    let locks = fs::read("/proc/locks").unwrap_or_default();
    flock_holder(&String::from_utf8_lossy(&locks), stat.st_dev, stat.st_ino)
}

/// The process that holds a `flock` on a device and inode, by the text of `/proc/locks`:
/// `1: FLOCK  ADVISORY  WRITE 5242 fd:00:1835042 0 EOF`, with `->` after the number for one that waits.
fn flock_holder(locks: &str, dev: u64, ino: u64) -> Option<u32> {
    let wanted = (u64::from(rustix::fs::major(dev)), u64::from(rustix::fs::minor(dev)), ino);
    locks.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        if fields.next()? != "FLOCK" {
            return None;
        }
        let pid = fields.nth(2)?.parse().ok()?;
        let mut place = fields.next()?.splitn(3, ':');
        let major = u64::from_str_radix(place.next()?, 16).ok()?;
        let minor = u64::from_str_radix(place.next()?, 16).ok()?;
        let inode = place.next()?.parse().ok()?;
        ((major, minor, inode) == wanted).then_some(pid)
    })
}

/// This process, its parent, and so on up to the first one that cannot be seen.
fn ancestors() -> Vec<u32> {
    let mut pids = vec![std::process::id()];
    while pids.len() < ANCESTORS_MAX {
        match pids.last().map(|pid| parent_of(*pid)) {
            Some(Ok(parent)) if parent != 0 && !pids.contains(&parent) => pids.push(parent),
            _ => break,
        }
    }
    pids
}

fn parent_of(pid: u32) -> io::Result<u32> {
    let stat = fs::read(format!("/proc/{pid}/stat"))?;
    parent_in_stat(&String::from_utf8_lossy(&stat)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The parent in `/proc/<pid>/stat`: `12 (name) S 7 ...`, where the name may hold blanks and parentheses.
fn parent_in_stat(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_holder_and_not_one_that_waits() {
        let dev = rustix::fs::makedev(0xfd, 1);
        let locks = "1: POSIX  ADVISORY  WRITE 11 fd:01:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 22 fd:01:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 33 fd:01:77 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 44 fd:01:78 0 EOF\n";
        assert_eq!(flock_holder(locks, dev, 77), Some(22));
        assert_eq!(flock_holder(locks, dev, 78), Some(44));
        assert_eq!(flock_holder(locks, dev, 79), None);
        assert_eq!(flock_holder("garbage\n1:\n", dev, 77), None);
    }

    #[test]
    fn a_process_name_cannot_hide_the_parent() {
        assert_eq!(parent_in_stat("12 (a) S 7) (b)) S 41 12 12"), Some(41));
        assert_eq!(parent_in_stat("12 (cat"), None);
    }

    #[test]
    fn our_parent_is_among_our_ancestors() {
        let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
        assert!(ancestors().contains(&parent.unwrap()));
    }
}
