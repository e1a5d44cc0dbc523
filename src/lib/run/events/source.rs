//! Where a log's bytes come from: a file that others write to, a pipe, or memory.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Error, IoContext, Result};

/// Something that can be read at an offset. A pipe can only be read in order and ignores the offset.
pub trait Source {
    /// Reads some bytes at `offset`; 0 at the end of what is there now.
    ///
    /// # Errors
    /// What the operating system said.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// How long it is now; `None` for a pipe, whose end shows only when nothing more comes.
    ///
    /// # Errors
    /// What the operating system said.
    fn len_now(&self) -> io::Result<Option<u64>>;
}

impl<S: Source + ?Sized> Source for &S {
    fn len_now(&self) -> io::Result<Option<u64>> {
        (**self).len_now()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        (**self).read_at(buffer, offset)
    }
}

impl Source for File {
    fn len_now(&self) -> io::Result<Option<u64>> {
        len(self).map(Some)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        loop {
            match rustix::io::pread(self, &mut *buffer, offset) {
                Err(Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }
}

impl Source for [u8] {
    fn len_now(&self) -> io::Result<Option<u64>> {
        Ok(Some(self.len() as u64))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        Ok(count)
    }
}

/// A pipe: read in order, once.
pub struct Stream<R>(std::cell::RefCell<R>);

impl<R: Read> Stream<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self(std::cell::RefCell::new(input))
    }
}

impl<R: Read> Source for Stream<R> {
    fn len_now(&self) -> io::Result<Option<u64>> {
        Ok(None)
    }

    fn read_at(&self, buffer: &mut [u8], _offset: u64) -> io::Result<usize> {
        loop {
            match self.0.borrow_mut().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

/// Opens a log for reading; `None` when it is not there, which is a log without events.
///
/// # Errors
/// [`crate::error::Kind::Damaged`] when what is there is not a regular file, [`crate::error::Kind::Io`] for the rest.
pub fn open(path: &Path) -> Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP) => return Err(Error::damaged(path, "is a symbolic link, not a log")),
        Err(errno) => return Err(Error::io("cannot open", path, &errno.into())),
    };
    let stat = rustix::fs::fstat(&fd).on("cannot examine", path)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Error::damaged(path, "not a regular file"));
    }
    Ok(Some(fd.into()))
}

/// How many bytes the file has now.
///
/// # Errors
/// What the operating system said.
pub fn len(file: impl AsFd) -> io::Result<u64> {
    Ok(u64::try_from(rustix::fs::fstat(file)?.st_size).unwrap_or(0))
}
