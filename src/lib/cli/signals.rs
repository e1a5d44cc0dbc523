//! Signals that a program does not just die of: it is told of them where it waits.

use std::io::{IsTerminal, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Signal;
use signal_hook::{flag, low_level};

/// What ends or moves a program and is passed on to the one it waits for.
pub const PASSED_ON: [Signal; 6] =
    [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT, Signal::USR1, Signal::USR2];
/// What ends a program that would go on for ever.
pub const STOPPING: [Signal; 3] = [Signal::TERM, Signal::INT, Signal::HUP];

/// Signals that were caught.
pub struct Caught {
    flags: Vec<(Signal, Arc<AtomicBool>)>,
    wake: UnixStream,
}

impl Caught {
    /// Catches these from now on, until the process ends.
    ///
    /// # Errors
    /// What the operating system said.
    pub fn new(signals: &[Signal]) -> std::io::Result<Self> {
        let (wake, end) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let mut flags = Vec::new();
        for signal in signals {
            let caught = Arc::new(AtomicBool::new(false));
            // The flag first: who wakes up must find it set.
            flag::register(signal.as_raw(), Arc::clone(&caught))?;
            low_level::pipe::register(signal.as_raw(), end.try_clone()?)?;
            flags.push((*signal, caught));
        }
        Ok(Self { flags, wake })
    }

    /// As [`Caught::new`], but a signal that comes a second time ends the process as it always would.
    ///
    /// # Errors
    /// What the operating system said.
    pub fn once(signals: &[Signal]) -> std::io::Result<Self> {
        let again = Arc::new(AtomicBool::new(false));
        for signal in signals {
            flag::register_conditional_default(signal.as_raw(), Arc::clone(&again))?;
            flag::register(signal.as_raw(), Arc::clone(&again))?;
        }
        Self::new(signals)
    }

    /// Those that came since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<Signal> {
        let mut bytes = [0; 64];
        while (&self.wake).read(&mut bytes).is_ok_and(|count| count > 0) {}
        self.flags
            .iter()
            .filter(|(_, caught)| caught.swap(false, Ordering::SeqCst))
            .map(|(signal, _)| *signal)
            .collect()
    }

    /// Readable when one has come.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Waits so long, or until one comes, which it gives.
    #[must_use]
    pub fn wait(&self, limit: Duration) -> Option<Signal> {
        let mut waits = [PollFd::new(&self.wake, PollFlags::IN)];
        let _ = rustix::event::poll(&mut waits, timespec(limit).as_ref());
        self.take().into_iter().next()
    }
}

/// A span of time as the system takes it; `None`, which is for ever, for one that it cannot count.
pub(super) fn timespec(span: Duration) -> Option<Timespec> {
    Some(Timespec { tv_sec: span.as_secs().try_into().ok()?, tv_nsec: span.subsec_nanos().into() })
}

/// Whether a key on a terminal may have sent a signal: it went to all processes that belong to the terminal then.
pub(super) fn come_from_a_terminal() -> bool {
    std::io::stdin().is_terminal() || std::io::stdout().is_terminal() || std::io::stderr().is_terminal()
}

/// Ends this process by a signal; one that ends nothing ends it by the code that shells give to it.
pub(super) fn die_of(number: i32) -> ! {
    if number == Signal::KILL.as_raw() {
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    }
    let _ = low_level::emulate_default_handler(number);
    std::process::exit(128 + number);
}
