//! Waits until something may have happened to a file: inotify, and a slow poll beneath it.
//!
//! What inotify reports is not looked at: every wake-up means "look at everything", so an overflow of its queue loses
//! nothing, and where it cannot be had the poll alone does. Reading the file wakes nobody.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

/// How often to look when inotify says nothing: file systems of other machines report no changes.
const SLOW_POLL: Duration = Duration::from_secs(1);
/// How often to look where there is no inotify.
const POLL: Duration = Duration::from_millis(250);

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Something may have happened.
    Look,
    /// Nobody reads what is written any more.
    ReaderGone,
}

/// Watches one path, which need not exist.
pub struct Watch {
    inotify: Option<OwnedFd>,
}

impl Watch {
    /// Makes a watch that watches nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { inotify: inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok() }
    }

    /// Watches the file that has the name now, and for another one to get it. To be called before the file is looked at,
    /// each time, so that nothing happens unseen in between.
    pub fn arm(&self, path: &Path) {
        let Some(inotify) = &self.inotify else { return };
        let file = WatchFlags::MODIFY | WatchFlags::ATTRIB | WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF;
        // What cannot be watched is left to the poll.
        let _ = inotify::add_watch(inotify, path, file | WatchFlags::DONT_FOLLOW);
        let names = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::DELETE_SELF | WatchFlags::ONLYDIR;
        // The nearest directory that exists; when the next one below it is made, the wake-up arms anew.
        for dir in path.ancestors().skip(1) {
            if dir.as_os_str().is_empty() || inotify::add_watch(inotify, dir, names).is_ok() {
                break;
            }
        }
    }

    /// Waits for a change, or until nobody reads `output` any more.
    #[must_use]
    pub fn wait(&self, output: Option<BorrowedFd<'_>>) -> Wake {
        let limit = if self.inotify.is_some() { SLOW_POLL } else { POLL };
        let limit =
            Timespec { tv_sec: i64::try_from(limit.as_secs()).unwrap_or(1), tv_nsec: limit.subsec_nanos().into() };
        let mut waits: Vec<PollFd<'_>> = Vec::with_capacity(2);
        if let Some(output) = output {
            // No event is asked for: a broken pipe is always reported.
            waits.push(PollFd::from_borrowed_fd(output, PollFlags::empty()));
        }
        if let Some(inotify) = &self.inotify {
            waits.push(PollFd::from_borrowed_fd(inotify.as_fd(), PollFlags::IN));
        }
        // An interrupted or failed wait is a reason to look as good as any.
        let _ = rustix::event::poll(&mut waits, Some(&limit));
        let broken = PollFlags::ERR | PollFlags::NVAL;
        let gone = output.is_some() && waits.first().is_some_and(|wait| wait.revents().intersects(broken));
        self.empty();
        if gone { Wake::ReaderGone } else { Wake::Look }
    }

    /// Takes all reports out of the queue.
    fn empty(&self) {
        let Some(inotify) = &self.inotify else { return };
        let mut reports = [0_u8; 4096];
        loop {
            match rustix::io::read(inotify, &mut reports) {
                Ok(count) if count > 0 => {}
                Err(Errno::INTR) => {}
                _ => return,
            }
        }
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}
