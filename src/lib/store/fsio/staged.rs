//! Content that comes piece by piece: it is gathered in a private file beside or above its place and then gets its name.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Durability, FILE_MODE};
use crate::error::{Error, IoContext, Result};

/// A file without its name. Dropped unpublished, it is removed.
pub struct Staged {
    dir: OwnedFd,
    path: PathBuf,
    temp: String,
    file: File,
    is_published: bool,
}

impl Staged {
    /// Makes an empty file in `dir`, which is there and on the file system of the place to be; `prefix` begins its name.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn begin(dir: &Path, prefix: &str) -> Result<Self> {
        let temp = super::temp_name(prefix);
        let path = dir.join(&temp);
        let dir = super::open_store_dir(dir).on("cannot open", dir)?;
        let file = super::create_new(dir.as_fd(), temp.as_bytes(), FILE_MODE).on("cannot write", &path)?;
        Ok(Self { dir, path, temp, file, is_published: false })
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        super::write_all(&mut self.file, bytes, self.temp.as_bytes()).on("cannot write", &self.path)
    }

    /// Flushes what was written, which may take long: to be called before a lock is taken.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn flush(&self, durability: Durability) -> Result<()> {
        match durability {
            Durability::Off => Ok(()),
            Durability::Flushed => {
                super::flush_data(self.file.as_fd(), self.temp.as_bytes()).on("cannot flush", &self.path)
            }
        }
    }

    /// Gives the file its name, replacing what has it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn publish(mut self, path: &Path, durability: Durability) -> Result<()> {
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::usage("not a file name"));
        };
        let opened = super::open_store_dir(dir).on("cannot open", dir)?;
        super::rename(self.dir.as_fd(), self.temp.as_bytes(), opened.as_fd(), name.as_bytes())
            .on("cannot write", path)?;
        self.is_published = true;
        if durability == Durability::Flushed {
            super::flush_dir(opened.as_fd(), name.as_bytes()).on("cannot flush the directory of", path)?;
        }
        Ok(())
    }
}

impl std::io::Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        super::write_all(&mut self.file, bytes, self.temp.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.is_published {
            // The reason why it was given up matters more; the next upload takes away what is old.
            let _ = super::unlink(self.dir.as_fd(), self.temp.as_bytes());
        }
    }
}
