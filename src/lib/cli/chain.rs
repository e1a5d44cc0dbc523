//! Chain loading: a program takes a lock and becomes the next program, which inherits it; or stays to clean up behind it.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal};

use super::Status;
use super::signals::{self, Caught};
use crate::error::{Error, IoContext, Kind, Result};
use crate::store::lock::Mode;
use crate::tree::root::WorkspaceLock;

/// The program of this name that was installed together with the running one, or else the name, for the search path.
#[must_use]
pub fn beside_this(name: &str) -> OsString {
    let beside = std::env::current_exe().ok().and_then(|this| Some(this.parent()?.join(name)));
    beside.filter(|path| path.is_file()).map_or_else(|| name.into(), PathBuf::into_os_string)
}

/// Becomes `command`, which inherits the lock as an open descriptor that `WT_LOCK_FD` names. A lock that we inherited
/// ourselves is passed on as it is.
///
/// # Errors
/// [`Kind::NotFound`] when there is no such command, [`Kind::Io`] when it cannot be started.
pub fn become_under(lock: WorkspaceLock, mode: Mode, command: &[OsString]) -> Result<Status> {
    let mut next = Next::new(command)?;
    if let Some(fd) = lock.own_descriptor() {
        next.inherits(fd)?;
        let letter = match mode {
            Mode::Shared => 's',
            Mode::Exclusive => 'x',
        };
        next.env("WT_LOCK_FD", format!("{}:{letter}", fd.as_raw_fd()));
    }
    Err(next.become_it())
}

/// The program that comes next.
pub struct Next {
    command: Command,
    program: OsString,
}

impl Next {
    /// The command and its arguments.
    ///
    /// # Errors
    /// [`Kind::Usage`] when none is named.
    pub fn new(command: &[OsString]) -> Result<Self> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::usage("no command is named").hint("put it behind '--'"));
        };
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(Self { command, program: program.clone() })
    }

    /// Sets a variable for it.
    pub fn env(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.command.env(name, value);
    }

    /// Lets it inherit an open descriptor.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn inherits(&mut self, fd: BorrowedFd<'_>) -> Result<()> {
        rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty()).on("cannot pass on", "the lock")
    }

    /// Becomes it; comes back only with an error: [`Kind::NotFound`] when there is no such command.
    #[must_use]
    pub fn become_it(mut self) -> Error {
        super::context::restore_open_files();
        let error = self.command.exec();
        self.failed(&error)
    }

    /// Runs it and waits for its end. What would end this process is passed on to it instead, so that whatever is to be
    /// cleaned up behind it is.
    ///
    /// # Errors
    /// As [`Next::become_it`].
    pub fn supervise(mut self) -> Result<Ended> {
        let caught = Caught::new(&signals::PASSED_ON).on("cannot wait for signals in front of", &self.program)?;
        super::context::restore_open_files();
        let mut child = self.command.spawn().map_err(|error| self.failed(&error))?;
        wait(&mut child, &caught).on("cannot wait for the end of", &self.program).map(Ended)
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        let failed = Error::io("cannot run", &self.program, error);
        if error.kind() == std::io::ErrorKind::NotFound { failed.with_kind(Kind::NotFound) } else { failed }
    }
}

/// How often a child is looked at where the system cannot say when it ends.
const POLL: Duration = Duration::from_millis(100);

fn wait(child: &mut Child, caught: &Caught) -> std::io::Result<ExitStatus> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let ended = pid.and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        for signal in caught.take() {
            // A terminal has sent it to all of the group already.
            if let Some(pid) = pid
                && !(matches!(signal, Signal::INT | Signal::QUIT) && signals::come_from_a_terminal())
            {
                // It is a child that nobody has waited for, so the number is still its own.
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
        let mut waits = vec![PollFd::from_borrowed_fd(caught.descriptor(), PollFlags::IN)];
        waits.extend(ended.as_ref().map(|ended| PollFd::new(ended, PollFlags::IN)));
        let limit = if ended.is_some() { None } else { signals::timespec(POLL) };
        // An interrupted wait is a reason to look as good as any.
        let _ = rustix::event::poll(&mut waits, limit.as_ref());
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended(ExitStatus);

impl Ended {
    /// Ends this process in the same way: with the same code, or by the same signal.
    pub fn pass_on(self) -> ! {
        if let Some(signal) = self.0.signal() {
            signals::die_of(signal);
        }
        std::process::exit(self.0.code().unwrap_or(1));
    }
}
