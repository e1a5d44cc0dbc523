//! Chain loading: a program takes a lock and becomes the next program, which inherits it.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use super::Status;
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
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::usage("no command is named").hint("put it behind '--'"));
    };
    let mut next = Command::new(program);
    next.args(arguments);
    if let Some(fd) = lock.own_descriptor() {
        rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty()).on("cannot pass on", "the lock")?;
        let letter = match mode {
            Mode::Shared => 's',
            Mode::Exclusive => 'x',
        };
        next.env("WT_LOCK_FD", format!("{}:{letter}", fd.as_raw_fd()));
    }
    super::context::restore_open_files();
    let error = next.exec();
    let failed = Error::io("cannot run", program, &error);
    Err(if error.kind() == std::io::ErrorKind::NotFound { failed.with_kind(Kind::NotFound) } else { failed })
}
