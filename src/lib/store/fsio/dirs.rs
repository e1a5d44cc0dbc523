//! Making directories, and what they hand down to what is made in them.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::{open_dir, permission_bits, shown};
use crate::store::seam::point;
use crate::store::seam::tape::{Field, note};

/// Mode of a directory that is implied by what lies in it (facts 1.1).
const IMPLIED_MODE: u32 = 0o755;

/// Makes a directory whose mode holds whatever the umask, failing if the name is taken.
///
/// # Errors
/// What the operating system said.
pub fn make_dir(dir: BorrowedFd<'_>, name: &[u8], mode: u32) -> io::Result<()> {
    let wanted = permission_bits(mode);
    mkdir(dir, name, wanted)?;
    set_mode_of_new(dir, name, wanted, |_| Ok(Some(wanted)))
}

/// Makes a directory that keeps what the one around it hands down: its group with the bit that hands it on, and access
/// control lists. `mode` is what was recorded of it; where nothing was, such a list says who may do what.
///
/// # Errors
/// What the operating system said.
pub fn make_child_dir(dir: BorrowedFd<'_>, name: &[u8], mode: Option<u32>) -> io::Result<()> {
    // The kernel takes no umask off then.
    let is_as_given = mode.is_none() && has_default_acl(dir).unwrap_or(false);
    let wanted = permission_bits(mode.unwrap_or(if is_as_given { 0o777 } else { IMPLIED_MODE }));
    mkdir(dir, name, wanted)?;
    if is_as_given {
        return Ok(());
    }
    set_mode_of_new(dir, name, wanted, |opened| {
        let now = Mode::from_raw_mode(rustix::fs::fstat(opened)?.st_mode);
        Ok((now & permission_bits(0o777) != wanted).then_some(wanted | (now & Mode::SGID)))
    })
}

fn mkdir(dir: BorrowedFd<'_>, name: &[u8], wanted: Mode) -> io::Result<()> {
    point("mkdir", shown(name))?;
    rustix::fs::mkdirat(dir, name, wanted)?;
    let mode = Field::Number(wanted.bits().into());
    note("mkdir", &[Field::Fd(dir), Field::Bytes(name), Field::At(dir, name), mode]);
    Ok(())
}

/// Gives a directory that was just made the mode that `choose` says of it; `None` leaves it.
fn set_mode_of_new(
    dir: BorrowedFd<'_>,
    name: &[u8],
    wanted: Mode,
    choose: impl FnOnce(&OwnedFd) -> io::Result<Option<Mode>>,
) -> io::Result<()> {
    match open_dir(dir, name) {
        Ok(opened) => choose(&opened)?.map_or(Ok(()), |mode| Ok(rustix::fs::fchmod(&opened, mode)?)),
        // Under an umask that takes our own bits away, or a mode without them, it can only be named.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Ok(rustix::fs::chmodat(dir, name, wanted, AtFlags::empty())?)
        }
        Err(error) => Err(error),
    }
}

/// Whether a directory has an access control list for what is made in it.
///
/// # Errors
/// What the operating system said, where that cannot be known.
pub fn has_default_acl(dir: BorrowedFd<'_>) -> io::Result<bool> {
    let mut none: [u8; 0] = [];
    match rustix::fs::fgetxattr(dir, c"system.posix_acl_default", &mut none) {
        Ok(_) => Ok(true),
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Sets the permission bits of an open directory. Whether it hands its group down and who may remove from it (its
/// set-group-id and sticky bits) stays as it is: that is no permission of a program.
///
/// # Errors
/// What the operating system said.
pub fn set_mode_of_dir(fd: BorrowedFd<'_>, mode: u32, name: &[u8]) -> io::Result<()> {
    const KEPT: u32 = 0o3000;
    point("chmod", shown(name))?;
    let kept = Mode::from_raw_mode(rustix::fs::fstat(fd)?.st_mode & KEPT);
    rustix::fs::fchmod(fd, permission_bits(mode) | kept)?;
    note("chmod", &[Field::Fd(fd), Field::Number(mode.into())]);
    Ok(())
}
