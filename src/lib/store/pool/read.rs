//! Reading objects: whatever leaves the pool was verified, before its first byte or at the latest with its last.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

use super::{Pool, object_name};
use crate::error::{Error, IoContext, Result};
use crate::store::fsio;
use crate::store::hash::{self, Hasher};
use crate::store::id::ObjectId;

/// Objects up to this size are verified before any of their bytes is handed on.
pub const VERIFY_FIRST_BYTES_MAX: u64 = 1024 * 1024;

impl Pool {
    /// Opens an object. Private: what is read from it is not verified yet.
    fn open_object(&self, id: ObjectId) -> Result<(File, u64)> {
        let missing = || {
            Error::new(crate::error::Kind::Damaged, format!("object {id} is not in the pool"))
                .at(self.path(id))
                .hint("'wt-fsck --repair-from WORKSPACE' stores it again if the workspace still has it")
        };
        // The shard may be anything on a damaged disk; only the object itself must not be a link.
        let fd = match fsio::open_read(self.dir.as_fd(), &object_name(id)) {
            Ok(fd) => fd,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(missing()),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                return Err(self.damaged(id, "it is a symbolic link"));
            }
            Err(error) => return Err(Error::io("cannot open object", self.path(id), &error)),
        };
        let stat = rustix::fs::fstat(&fd).on("cannot examine object", self.path(id))?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
            return Err(self.damaged(id, "it is not a regular file"));
        }
        Ok((fd.into(), u64::try_from(stat.st_size).unwrap_or(0)))
    }

    fn damaged(&self, id: ObjectId, problem: &str) -> Error {
        Error::damaged(self.path(id), problem)
            .hint("'wt-fsck --repair-from WORKSPACE' stores it again if the workspace still has it")
    }

    /// Reads a whole object into memory, verified. For documents and link targets, not for files of any size.
    ///
    /// # Errors
    /// [`crate::error::Kind::Damaged`] when it is missing or its bytes are not those of its name.
    pub fn read(&self, id: ObjectId) -> Result<Vec<u8>> {
        let (file, size) = self.open_object(id)?;
        self.read_open(id, file, size)
    }

    fn read_open(&self, id: ObjectId, mut file: File, size: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // The end is not looked for: these bytes are the object, or they are not.
        Read::by_ref(&mut file).take(size).read_to_end(&mut bytes).on("cannot read object", self.path(id))?;
        if hash::of_bytes(&bytes) != id {
            return Err(self.damaged(id, "its bytes are not those of its name"));
        }
        Ok(bytes)
    }

    /// Copies an object to `out`. Up to [`VERIFY_FIRST_BYTES_MAX`] nothing is written unless it is whole; a larger one
    /// is verified while it is copied, and the error comes after its bytes.
    ///
    /// # Errors
    /// [`crate::error::Kind::Damaged`] as for [`Pool::read`]; `write` errors are reported as they come.
    pub fn copy(&self, id: ObjectId, out: &mut dyn Write, out_name: &std::path::Path) -> Result<u64> {
        let (mut file, size) = self.open_object(id)?;
        if size <= VERIFY_FIRST_BYTES_MAX {
            let bytes = self.read_open(id, file, size)?;
            out.write_all(&bytes).on("cannot write", out_name)?;
            return Ok(bytes.len() as u64);
        }
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; hash::READ_BLOCK_BYTES];
        let mut total = 0;
        loop {
            let count = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::io("cannot read object", self.path(id), &error)),
            };
            let block = buffer.get(..count).unwrap_or_default();
            hasher.update(block);
            out.write_all(block).on("cannot write", out_name)?;
            total += count as u64;
        }
        if hasher.finish() == id { Ok(total) } else { Err(self.damaged(id, "its bytes are not those of its name")) }
    }

    /// Verifies an object: `Ok` with its size when every byte is right.
    ///
    /// # Errors
    /// As [`Pool::read`].
    pub fn verify(&self, id: ObjectId) -> Result<u64> {
        let (file, size) = self.open_object(id)?;
        let whole = usize::try_from(size).unwrap_or(usize::MAX);
        let mut buffer = vec![0; whole.clamp(1, hash::READ_BLOCK_BYTES)];
        // The end is not looked for: these bytes are the object, or they are not.
        let (found, size) =
            hash::of_file(&mut file.take(size), &mut buffer).on("cannot read object", self.path(id))?;
        if found == id { Ok(size) } else { Err(self.damaged(id, "its bytes are not those of its name")) }
    }
}
