//! The staging area: where new content waits complete before anything is swapped, and where displaced content waits
//! until it is certain that the store has it.
//!
//! ```text
//! <workspace>/.iterion/restore-<id>/     or <workspace>/.iterion-tmp-restore-<id>/ where that cannot be made
//! ├── journal                            what the items belong to; see below
//! ├── n<k>                               new content; after the swap, what was displaced by it
//! └── d<k>                               what was removed
//! <dir>/.iterion-tmp-restore-<id>-n<k>   the same for a directory on another mount
//! ```
//!
//! Both names are left out of every capture, by us and by the original. The journal has one item a line, the path
//! C-quoted, and is what lets the next restore clear the area of one that was killed:
//!
//! ```text
//! workspacetrack restore 1 DEVICE INODE     of the area itself
//! beside PATH          an item that lies beside its destination; written before the item is made
//! lift MODE PATH       a directory that was made writable; `.` is the root
//! item NAME PATH       where the item belongs
//! swap                 from here on items may hold displaced content; without this line all are mere copies
//! ```

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::dirs::Dirs;
use crate::clock;
use crate::error::{Error, IoContext, Result};
use crate::history::manifest::{Entry, Node};
use crate::store::fsio::{self, Durability};
use crate::store::pool::Pool;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::store::{layout, seam};
use crate::stream::quote;
use crate::tree::root::Workspace;
use crate::tree::stat::FileStat;

/// Name of the journal.
pub(super) const JOURNAL: &str = "journal";
/// First line of a journal: it names the inode of the area, so that one that came with the project is not believed.
pub(super) fn journal_mark(area: &OwnedFd) -> io::Result<Vec<u8>> {
    let stat = rustix::fs::fstat(area)?;
    Ok(format!("workspacetrack restore 1 {} {}\n", stat.st_dev, stat.st_ino).into_bytes())
}

/// Prefix of the area's name.
pub(super) const AREA_PREFIX: &str = "restore-";

/// Something in the staging area, or beside its destination.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Its name.
    pub(super) name: String,
    /// The directory it lies in, where that is not the area; `Some(None)` is the workspace's root.
    pub(super) beside: Option<Beside>,
}

/// A directory on another mount: its path, or `None` for the workspace's root.
pub(super) type Beside = Option<RelPathBuf>;

/// The staging area of one restore.
pub(super) struct Area {
    /// The directory.
    pub(super) dir: Arc<OwnedFd>,
    /// Its path below the workspace.
    pub(super) path: RelPathBuf,
    device: u64,
    id: String,
    journal: File,
    next: u64,
    /// The devices that directories are on, or will be on when they are made. A mount that comes later shows as a rename
    /// across devices, which is dealt with.
    devices: HashMap<RelPathBuf, u64>,
    /// Directories that turned out to lie on another mount, though on the same device.
    elsewhere: HashSet<Option<RelPathBuf>>,
}

impl Area {
    /// Makes the area.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the workspace cannot be written.
    pub(super) fn make(workspace: &Workspace, dirs: &mut Dirs<'_>) -> Result<Self> {
        let id = format!("{}-{}", clock::now_ns(), rustix::process::getpid().as_raw_nonzero());
        let made = (|| {
            let project = layout::PROJECT_DIR.as_bytes();
            match dirs.with(None, |root| fsio::make_dir(root, project, fsio::DIR_MODE)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            let name = format!("{AREA_PREFIX}{id}");
            let inside = RelPathBuf::join(None, project);
            let inside = RelPathBuf::join(Some(&inside), name.as_bytes());
            if dirs.with_parent(&inside, |dir| fsio::make_dir(dir, name.as_bytes(), fsio::DIR_MODE)).is_ok() {
                return Ok(inside);
            }
            // Somebody has a file or a link of that name, or a directory that is not ours.
            let name = format!("{}{AREA_PREFIX}{id}", layout::TEMP_PREFIX);
            dirs.with(None, |root| fsio::make_dir(root, name.as_bytes(), fsio::DIR_MODE))?;
            Ok(RelPathBuf::join(None, name.as_bytes()))
        })();
        let path = made.on("cannot make a staging area in", workspace.path())?;
        let full = workspace.path().join(path.as_path());
        let dir = crate::tree::beneath::open_dir(workspace.fd(), Some(&path)).on("cannot open", &full)?;
        let dir = Arc::new(dir);
        let device = rustix::fs::fstat(&*dir).on("cannot examine", &full)?.st_dev;
        let name = JOURNAL.as_bytes();
        let mut journal = fsio::create_new(dir.as_fd(), name, fsio::FILE_MODE).on("cannot make", &full)?;
        let mut lines = journal_mark(&dir).on("cannot examine", &full)?;
        // The root may have had to be made writable before there was a journal.
        for (path, mode) in dirs.lifted() {
            push_lift_line(&mut lines, path, mode);
        }
        fsio::write_all(&mut journal, &lines, name).on("cannot write", &full)?;
        Ok(Self { dir, path, device, id, journal, next: 0, devices: HashMap::new(), elsewhere: HashSet::new() })
    }

    /// A second handle of the journal, for those who write to it on their own.
    pub(super) fn journal(&self) -> io::Result<File> {
        self.journal.try_clone()
    }

    /// Appends lines to the journal.
    pub(super) fn note(&mut self, lines: &[u8]) -> io::Result<()> {
        fsio::write_all(&mut self.journal, lines, JOURNAL.as_bytes())
    }

    /// Puts the journal on the disk.
    pub(super) fn flush(&self) -> io::Result<()> {
        fsio::flush_data(self.journal.as_fd(), JOURNAL.as_bytes())?;
        fsio::flush_dir(self.dir.as_fd(), JOURNAL.as_bytes())
    }

    /// A new name for something that belongs to `path`: in the area, or beside its destination on another mount.
    pub(super) fn item(&mut self, kind: char, path: &RelPath, dirs: &mut Dirs<'_>) -> io::Result<Item> {
        if !self.is_elsewhere(path) && self.nearest_device(path, dirs)? == self.device {
            self.next += 1;
            return Ok(Item { name: format!("{kind}{}", self.next), beside: None });
        }
        self.item_beside(kind, path, dirs)
    }

    /// Whether the directory of a path is known to lie on another mount, or one above it.
    fn is_elsewhere(&self, path: &RelPath) -> bool {
        let is_noted = |dir: &RelPath| self.elsewhere.contains(&Some(dir.to_owned()));
        !self.elsewhere.is_empty() && (self.elsewhere.contains(&None) || path.ancestors().any(is_noted))
    }

    /// Notes that the directory of a path lies on another mount: nothing can be renamed between it and the area.
    pub(super) fn note_elsewhere(&mut self, path: &RelPath) {
        self.elsewhere.insert(path.parent().map(RelPath::to_owned));
    }

    /// A new name beside the destination, noted before it is used: in the directory that the destination lies in, or in the
    /// nearest one above it while that is missing.
    pub(super) fn item_beside(&mut self, kind: char, path: &RelPath, dirs: &mut Dirs<'_>) -> io::Result<Item> {
        self.next += 1;
        let name = format!("{}{AREA_PREFIX}{}-{kind}{}", layout::TEMP_PREFIX, self.id, self.next);
        let mut parent = path.parent();
        while let Some(dir) = parent {
            if device_of(dir, dirs)?.is_some() {
                break;
            }
            parent = dir.parent();
        }
        let parent = parent.map(RelPath::to_owned);
        let here = RelPathBuf::join(parent.as_deref(), name.as_bytes());
        self.note(&[b"beside ", &*quote::c_quote(here.as_bytes()), b"\n"].concat())?;
        Ok(Item { name, beside: Some(parent) })
    }

    /// Does `work` with the directory that an item lies in.
    pub(super) fn with_item<T>(
        &self,
        item: &Item,
        dirs: &mut Dirs<'_>,
        mut work: impl FnMut(BorrowedFd<'_>, &[u8]) -> io::Result<T>,
    ) -> io::Result<T> {
        match &item.beside {
            None => work(self.dir.as_fd(), item.name.as_bytes()),
            Some(parent) => dirs.with(parent.as_deref(), |dir| work(dir, item.name.as_bytes())),
        }
    }

    /// The device of the nearest directory above a path that exists: the one it will lie on.
    fn nearest_device(&mut self, path: &RelPath, dirs: &mut Dirs<'_>) -> io::Result<u64> {
        let mut missing = Vec::new();
        let mut found = None;
        for dir in path.ancestors() {
            found = match self.devices.get(dir) {
                Some(device) => Some(*device),
                None => device_of(dir, dirs)?,
            };
            if found.is_some() {
                break;
            }
            missing.push(dir);
        }
        let device = match found {
            Some(device) => device,
            None => dirs.with(None, |fd| Ok(rustix::fs::fstat(fd)?.st_dev))?,
        };
        for dir in path.parent().into_iter().chain(missing) {
            if !self.devices.contains_key(dir) {
                self.devices.insert(dir.to_owned(), device);
            }
        }
        Ok(device)
    }
}

/// Writes the journal's line for a directory that is made writable.
pub(super) fn push_lift_line(lines: &mut Vec<u8>, dir: Option<&RelPath>, mode: u32) {
    lines.extend_from_slice(format!("lift {mode:o} ").as_bytes());
    lines.extend_from_slice(
        &dir.map_or(std::borrow::Cow::Borrowed(&b"."[..]), |dir| quote::c_quote(dir.as_bytes())),
    );
    lines.push(b'\n');
}

/// The device of a directory; `None` where there is none.
fn device_of(dir: &RelPath, dirs: &mut Dirs<'_>) -> io::Result<Option<u64>> {
    match dirs.with(Some(dir), |fd| Ok(rustix::fs::fstat(fd)?.st_dev)) {
        Ok(device) => Ok(Some(device)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(None)
        }
        // A link in the way of a directory that is staged whole.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes one entry of the target under a temporary name, complete, with its mode. `like` is the file it will replace.
///
/// # Errors
/// [`crate::error::Kind::Damaged`] when the object is not what its name says, [`crate::error::Kind::Io`].
pub(super) fn write_entry(
    pool: &Pool,
    entry: &Entry,
    dir: BorrowedFd<'_>,
    name: &[u8],
    like: Option<&File>,
    durability: Durability,
) -> Result<()> {
    let at = entry.path.as_path();
    match &entry.node {
        Node::Dir => fsio::make_child_dir(dir, name, Some(entry.mode)).on("cannot stage", at),
        Node::Link { target } => fsio::symlink(target, dir, name).on("cannot stage", at),
        Node::File { hash, .. } => {
            let file = fsio::create_private(dir, name).on("cannot stage", at)?;
            let mut writer = StagedFile { file, name };
            pool.copy(*hash, &mut writer, at)?;
            if let Some(like) = like {
                copy_ownership(like, &writer.file);
            }
            fsio::set_mode(writer.file.as_fd(), entry.mode, name).on("cannot stage", at)?;
            if durability == Durability::Flushed {
                fsio::flush_data(writer.file.as_fd(), name).on("cannot flush", at)?;
            }
            seam::hook("staged");
            Ok(())
        }
    }
}

struct StagedFile<'a> {
    file: File,
    name: &'a [u8],
}

impl io::Write for StagedFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        fsio::write_all(&mut self.file, bytes, self.name)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives a staged file owner, group and extended attributes (access control lists among them) of the one it replaces,
/// as far as we are permitted to.
fn copy_ownership(like: &File, staged: &File) {
    let (Ok(like_stat), Ok(own)) = (rustix::fs::fstat(like), rustix::fs::fstat(staged)) else { return };
    if (like_stat.st_uid, like_stat.st_gid) != (own.st_uid, own.st_gid) {
        let (uid, gid) = (rustix::fs::Uid::from_raw(like_stat.st_uid), rustix::fs::Gid::from_raw(like_stat.st_gid));
        if fsio::set_owner(staged, Some(uid), Some(gid)).is_err() {
            // Only root gives files away; the group may be one of ours.
            let _ = fsio::set_owner(staged, None, Some(gid));
        }
    }
    fsio::copy_attributes(like, staged);
}

/// How much the staged content will need, against what is free.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it does not fit; nothing was staged.
pub(super) fn check_space(workspace: &Workspace, entries: &[&Entry]) -> Result<()> {
    let needed: u64 = entries
        .iter()
        .map(|entry| match entry.node {
            Node::File { size, .. } => size,
            Node::Link { .. } | Node::Dir => 0,
        })
        .fold(0, u64::saturating_add);
    let Ok(stat) = rustix::fs::fstatvfs(workspace.fd()) else { return Ok(()) };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    if needed > free {
        return Err(Error::new(
            crate::error::Kind::Io,
            format!("the restore needs {needed} bytes in {}, and {free} are free", quote::path(workspace.path())),
        )
        .at(workspace.path())
        .hint("nothing was changed; free some space and restore again"));
    }
    Ok(())
}

/// The file that a staged one will replace, opened to take its owner and attributes from; `None` where it cannot be.
pub(super) fn open_like(workspace: &Workspace, path: &RelPath) -> Option<File> {
    let dir = crate::tree::beneath::open_dir(workspace.fd(), path.parent()).ok()?;
    let fd = fsio::open_read(dir.as_fd(), path.file_name()).ok()?;
    let stat = FileStat::from(rustix::fs::fstat(&fd).ok()?);
    (stat.kind == crate::stream::record::EntryKind::File).then(|| fd.into())
}

/// Whether a directory hands neither its group nor an access control list down to what is made in it. Some file systems
/// hand the group down without a bit that says so (`grpid`): only where it is our own anyway, nothing is handed down.
pub(super) fn hands_nothing_down(dir: BorrowedFd<'_>) -> bool {
    const SET_GROUP_ID: u32 = 0o2000;
    let own = rustix::process::getegid().as_raw();
    let has_own_group = |stat: rustix::fs::Stat| stat.st_mode & SET_GROUP_ID == 0 && stat.st_gid == own;
    rustix::fs::fstat(dir).is_ok_and(has_own_group) && matches!(fsio::has_default_acl(dir), Ok(false))
}
