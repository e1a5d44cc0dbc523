//! Taking one file in: read it through a descriptor, store it, and make sure that what was read existed.
//!
//! A file is opened without following links and without waiting for a FIFO's writer, examined before and after it is
//! read, and read again if it moved. Hash, size and times always come from the same descriptor.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::error::{Error, IoContext, Result};
use crate::store::fsio;
use crate::store::hash;
use crate::store::id::ObjectId;
use crate::store::pool::PoolWriter;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::store::seam;
use crate::stream::record::{Content, EntryKind, GapReason, Record};
use crate::tree::beneath;
use crate::tree::root::Workspace;
use crate::tree::scan::record_of;
use crate::tree::stat::FileStat;

/// So often a file that moves under our hands is read again.
const ATTEMPTS: usize = 4;
/// Directories held open by one reader.
const OPEN_DIRS_MAX: usize = 32;

/// What becomes of what is read.
#[derive(Clone, Copy)]
pub enum Sink<'a> {
    /// It is stored.
    Store(&'a PoolWriter<'a>),
    /// It is only hashed.
    HashOnly,
}

/// Reads files of one workspace; each thread has its own.
pub struct Intake<'a> {
    workspace: &'a Workspace,
    sink: Sink<'a>,
    cap_bytes: u64,
    buffer: Vec<u8>,
    dirs: HashMap<Option<RelPathBuf>, OwnedFd>,
}

impl<'a> Intake<'a> {
    /// Begins with nothing open. Files above `cap_bytes` become gaps.
    #[must_use]
    pub fn new(workspace: &'a Workspace, sink: Sink<'a>, cap_bytes: u64) -> Self {
        Self { workspace, sink, cap_bytes, buffer: vec![0; hash::READ_BLOCK_BYTES], dirs: HashMap::new() }
    }

    /// Looks at `path` as it is now and takes its content in. `None` when nothing is there.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] for what is neither a fact about the file nor about its permissions.
    pub fn take(&mut self, path: &RelPath) -> Result<Option<Record>> {
        let full = self.workspace.path().join(path.as_path());
        match self.attempt(path) {
            Ok(taken) => taken,
            Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                // It, or a directory above it, is gone or has become something else.
                Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
                Some(Errno::ACCESS | Errno::PERM) => Ok(Some(self.unreadable(path))),
                _ => Err(Error::io("cannot read", full, &error)),
            },
        }
    }

    /// As [`Intake::take`], for a path that was a regular file a moment ago and is opened without another look.
    ///
    /// # Errors
    /// As [`Intake::take`].
    pub fn take_known_file(&mut self, path: &RelPath) -> Result<Option<Record>> {
        match self.take_file(path) {
            Ok(Ok(Some(record))) => Ok(Some(record)),
            Ok(Err(error)) => Err(error),
            // It moved, or is something else by now.
            Ok(Ok(None)) | Err(_) => self.take(path),
        }
    }

    fn attempt(&mut self, path: &RelPath) -> io::Result<Result<Option<Record>>> {
        for _ in 0..ATTEMPTS {
            let dir = self.dir_of(path)?;
            let stat = FileStat::from(rustix::fs::statat(dir, path.file_name(), AtFlags::SYMLINK_NOFOLLOW)?);
            let taken = match stat.kind {
                // Whatever it was, it is a directory now, and what is in it was never listed.
                EntryKind::Dir => return Ok(Ok(Some(gap(path, &stat, GapReason::Unstable)))),
                EntryKind::Special => return Ok(Ok(Some(gap(path, &stat, GapReason::Special)))),
                EntryKind::Link => self.take_link(path, &stat)?,
                EntryKind::File => self.take_file(path)?,
            };
            match taken {
                Ok(None) => {}
                other => return Ok(other),
            }
        }
        let dir = self.dir_of(path)?;
        let stat = FileStat::from(rustix::fs::statat(dir, path.file_name(), AtFlags::SYMLINK_NOFOLLOW)?);
        Ok(Ok(Some(gap(path, &stat, GapReason::Unstable))))
    }

    /// `None` when it has to be tried again.
    fn take_link(&mut self, path: &RelPath, stat: &FileStat) -> io::Result<Result<Option<Record>>> {
        let dir = self.dir_of(path)?;
        let target = match rustix::fs::readlinkat(dir, path.file_name(), Vec::new()) {
            Err(Errno::INVAL) => return Ok(Ok(None)),
            other => other?,
        };
        let bytes = target.as_bytes();
        let id = match self.sink {
            Sink::HashOnly => hash::of_bytes(bytes),
            Sink::Store(pool) => match pool.put_bytes(bytes) {
                Ok(put) => put.id,
                Err(error) => return Ok(Err(error)),
            },
        };
        let mut record = record(path, stat, Content::Object(id));
        record.size = Some(bytes.len() as u64);
        Ok(Ok(Some(record)))
    }

    /// `None` when it has to be tried again.
    fn take_file(&mut self, path: &RelPath) -> io::Result<Result<Option<Record>>> {
        let fd = fsio::open_read(self.dir_of(path)?, path.file_name())?;
        let before = FileStat::from(rustix::fs::fstat(&fd)?);
        if before.kind != EntryKind::File {
            return Ok(Ok(None));
        }
        if before.size > self.cap_bytes {
            return Ok(Ok(Some(gap(path, &before, GapReason::Oversized))));
        }
        let mut file = File::from(fd);
        let read = match self.read(&mut file, before.size)? {
            Ok(read) => read,
            Err(error) => return Ok(Err(error)),
        };
        seam::hook("after-read");
        let after = FileStat::from(rustix::fs::fstat(&file)?);
        let Some((id, size)) = read else {
            return Ok(Ok(Some(gap(path, &after, GapReason::Oversized))));
        };
        if !before.is_same_content(&after) || after.size != size {
            return Ok(Ok(None));
        }
        Ok(Ok(Some(record(path, &after, Content::Object(id)))))
    }

    /// Id and size of the content; `None` when it is above the cap. `size` is what it was before.
    fn read(&mut self, file: &mut File, size: u64) -> io::Result<Result<Option<(ObjectId, u64)>>> {
        match self.sink {
            Sink::Store(pool) => {
                let put = pool.put_file(file, Some(size), self.cap_bytes, &mut self.buffer)?;
                Ok(put.map(|put| put.map(|put| (put.id, put.size))))
            }
            Sink::HashOnly => {
                let mut limited = file.take(self.cap_bytes.saturating_add(1));
                let mut hasher = hash::Hasher::default();
                let mut size = 0;
                loop {
                    let count = match limited.read(&mut self.buffer) {
                        Ok(0) => break,
                        Ok(count) => count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                        Err(error) => return Err(error),
                    };
                    hasher.update(self.buffer.get(..count).unwrap_or_default());
                    size += count as u64;
                }
                Ok(Ok((size <= self.cap_bytes).then(|| (hasher.finish(), size))))
            }
        }
    }

    fn unreadable(&mut self, path: &RelPath) -> Record {
        let stat = self
            .dir_of(path)
            .and_then(|dir| Ok(rustix::fs::statat(dir, path.file_name(), AtFlags::SYMLINK_NOFOLLOW)?))
            .map(FileStat::from);
        let mut record = Record {
            kind: EntryKind::File,
            mode: 0,
            content: Content::Gap(GapReason::Unreadable),
            size: None,
            mtime_ns: None,
            ctime_ns: None,
            inode: None,
            path: path.to_owned(),
        };
        if let Ok(stat) = stat {
            record = gap(path, &stat, GapReason::Unreadable);
        }
        record
    }

    /// The directory that a path lies in, kept open for its neighbours.
    fn dir_of(&mut self, path: &RelPath) -> io::Result<BorrowedFd<'_>> {
        let parent = path.parent().map(RelPath::to_owned);
        if !self.dirs.contains_key(&parent) {
            if self.dirs.len() >= OPEN_DIRS_MAX {
                self.dirs.clear();
            }
            let dir = beneath::open_dir(self.workspace.fd(), parent.as_deref())?;
            self.dirs.insert(parent.clone(), dir);
        }
        self.dirs.get(&parent).map(AsFd::as_fd).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn record(path: &RelPath, stat: &FileStat, content: Content) -> Record {
    Record { content, ..record_of(path, stat) }
}

fn gap(path: &RelPath, stat: &FileStat, reason: GapReason) -> Record {
    record(path, stat, Content::Gap(reason))
}

/// Hashes or stores any file by its name, as a person gave it: links are followed.
///
/// # Errors
/// [`crate::error::Kind::NotFound`] when it is not there, [`crate::error::Kind::Usage`] when it is not a regular file.
pub fn take_named(path: &std::path::Path, sink: Sink<'_>, buffer: &mut [u8]) -> Result<(ObjectId, u64)> {
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map_err(|errno| {
        let error = Error::io("cannot open", path, &errno.into());
        if errno == Errno::NOENT { error.with_kind(crate::error::Kind::NotFound) } else { error }
    })?;
    let stat = FileStat::from(rustix::fs::fstat(&fd).on("cannot examine", path)?);
    if stat.kind != EntryKind::File {
        return Err(Error::usage(format!("not a regular file: {}", crate::stream::quote::path(path))).at(path));
    }
    take_stream(&mut File::from(fd), path, sink, buffer)
}

/// Hashes or stores everything that a stream gives.
///
/// # Errors
/// [`crate::error::Kind::Io`].
pub fn take_stream(
    file: &mut File,
    name: &std::path::Path,
    sink: Sink<'_>,
    buffer: &mut [u8],
) -> Result<(ObjectId, u64)> {
    match sink {
        Sink::HashOnly => hash::of_file(file, buffer).on("cannot read", name),
        Sink::Store(pool) => match pool.put_file(file, None, u64::MAX, buffer).on("cannot read", name)?? {
            Some(put) => Ok((put.id, put.size)),
            None => Err(Error::limit(format!("too large: {}", crate::stream::quote::path(name)))),
        },
    }
}
