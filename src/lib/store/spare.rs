//! A large document that changes mostly at its end: it and the one that it was before take turns.
//!
//! ```text
//! index.json        [ rows ...................... | head, labels ]
//! .index-spare      [ the same rows ............. | older ones   ]
//!
//! end of the spare written -> flushed -> both names exchanged in one step -> directory flushed
//! ```
//!
//! A label then costs its own few bytes and not a copy of megabytes. Where the rows changed the spare is written over from
//! its beginning, which still saves the pages of a new file. Whoever looks at the document sees the old or the new one,
//! whole, as if it had been replaced ([`super::fsio::document`]); four things keep it so:
//!
//! - **Nobody has the spare open.** A reader may have opened or mapped it while it was the document. The kernel refuses a
//!   lease then (fcntl(2), `F_SETLEASE`), and a new file is made instead. While the lease lasts nobody gets in.
//! - **Nobody else names it.** A file with a second name, as a copy of the store by hard links has, is never written to.
//! - **It is not the document on the disk either.** The exchange before is flushed, once more, before it is written to.
//! - **Its beginning is that of the document.** `.index-spare-seen` says so: for these two inodes as they were, in this start
//!   of the machine. Any other writer makes a new inode. It is removed before a beginning is written to.
//!
//! Both private files may be removed at any time. What is not kept up: bytes that the kernel still sends from the pages of an
//! index (sendfile(2) to a socket) after its reader has closed it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Stat};

use super::fsio::{self, Durability, Exchanged, document};
use super::{Document, layout, memo, network, read_document, seam};
use crate::error::{IoContext, Result};
use crate::sys;

/// Replaces the document at `path`, which was read as `present`. The first `kept` bytes of its new content are those of
/// `present`. The caller holds the lock under which the document changes.
///
/// # Errors
/// [`crate::error::Kind::Io`]; the old document is then whole and in place, or the message says that only its name is not
/// durable.
pub fn replace(
    path: &Path,
    parts: &[&[u8]],
    present: &Document,
    kept: usize,
    durability: Durability,
) -> Result<()> {
    // A document that is small enough to be read at once is as cheap to write anew.
    if let Some(identity) = present.mapped_identity()
        && let Some(turn) = Turn::of(path, identity, durability)
        // Whatever is the matter with the spare, a new file may do; what is the matter with that one counts.
        && let Ok(file) = turn.write(parts, kept)
    {
        turn.settle(&file).on("cannot flush the directory of", path)?;
        turn.remember(&file, kept);
        return Ok(());
    }
    document::replace(path, parts, durability)?;
    if present.mapped_identity().is_none() && rustix::fs::lstat(layout::spare(path)).is_ok() {
        // The document was large once, and nothing would come and write over what it held.
        document::remove(&layout::spare_seen(path))?;
        document::remove(&layout::spare(path))?;
    }
    Ok(())
}

/// A document that is a file, and what lies beside it.
struct Turn {
    dir: OwnedFd,
    name: Vec<u8>,
    /// Device and inode of the document as it was read.
    present: (u64, u64),
    spare: Vec<u8>,
    seen: PathBuf,
    durability: Durability,
}

impl Turn {
    fn of(path: &Path, present: (u64, u64), durability: Durability) -> Option<Self> {
        let name = |path: &Path| Some(path.file_name()?.as_bytes().to_vec());
        let (spare, seen) = (layout::spare(path), layout::spare_seen(path));
        let dir = fsio::open_store_dir(path.parent()?).ok()?;
        let turn = Self { dir, name: name(path)?, present, spare: name(&spare)?, seen, durability };
        // A program that heeds no lock may have been here. What it wrote is replaced, as it always was.
        turn.is_present(&turn.stat(&turn.name).ok()?).then_some(turn)
    }

    fn stat(&self, name: &[u8]) -> io::Result<Stat> {
        Ok(rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Whether this is the file that was read. Nobody else can have its number as long as it is mapped.
    fn is_present(&self, stat: &Stat) -> bool {
        is_file(stat) && (stat.st_dev, stat.st_ino) == self.present
    }

    /// Gives the spare the new content and lets it change places with the document.
    fn write(&self, parts: &[&[u8]], kept: usize) -> io::Result<File> {
        let written = self.fill(parts, kept).and_then(|file| {
            seam::hook("spare-written");
            let dir = self.dir.as_fd();
            if fsio::exchange(dir, &self.spare, dir, &self.name)? == Exchanged::Unsupported {
                fsio::rename(dir, &self.spare, dir, &self.name)?;
            }
            Ok(file)
        });
        if written.is_err() {
            // It may hold half of anything; the reason matters more than a spare that could not be removed.
            let _ = fsio::unlink(self.dir.as_fd(), &self.spare);
        }
        written
    }

    fn fill(&self, parts: &[&[u8]], kept: usize) -> io::Result<File> {
        let length: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let spare = self.open_spare();
        let seen = read_document(&self.seen).ok();
        let shared = match (&spare, &seen) {
            (Some((_, stat)), Some(seen)) => self.shared(seen, stat).map_or(0, |shared| shared.min(kept)),
            _ => 0,
        };
        if shared == 0 && seen.is_some() {
            fsio::unlink(self.dir.as_fd(), self.seen.file_name().unwrap_or_default().as_bytes())?;
        }
        let (mut file, leased) = match spare {
            Some((file, stat)) => {
                // A writer may have died, or not have cared, before the last exchange was on the disk: the document that
                // a power cut would bring back is this very file then.
                if self.durability == Durability::Flushed {
                    fsio::flush_dir(self.dir.as_fd(), &self.name)?;
                }
                (file, Some(stat))
            }
            None => (self.new_spare()?, None),
        };
        fsio::write_parts_from(&mut file, parts, shared, &self.spare)?;
        if leased.is_some_and(|stat| u64::try_from(stat.st_size).is_ok_and(|old| old > length)) {
            fsio::truncate(&file, length, &self.spare)?;
        }
        if self.durability == Durability::Flushed {
            fsio::flush_data(file.as_fd(), &self.spare)?;
            fsio::set_unsure(file.as_fd(), &self.spare)?;
        }
        if leased.is_some() {
            // Before the exchange: who opens the document need not wait for it, nor be turned away.
            sys::release_lease(&file)?;
        }
        Ok(file)
    }

    /// With how many bytes of the document the spare begins, if that was noted of these very files.
    fn shared(&self, seen: &[u8], spare: &Stat) -> Option<usize> {
        let shared = shared_bytes(seen)?;
        let document = self.stat(&self.name).ok().filter(|stat| self.is_present(stat))?;
        (seen == statement(shared, &document, spare)?).then_some(shared)
    }

    /// The spare, if it can be written to without anybody seeing it; with a lease.
    fn open_spare(&self) -> Option<(File, Stat)> {
        let file = fsio::open_to_overwrite(self.dir.as_fd(), &self.spare).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        let is_ours = is_file(&stat) && stat.st_nlink == 1 && stat.st_uid == rustix::process::geteuid().as_raw();
        // A lease of a server, a daemon or a layer below may know only its own readers.
        let is_free = is_ours && network::moves_dir_times(file.as_fd()) && sys::take_lease(&file).is_ok();
        is_free.then_some((file, stat))
    }

    fn new_spare(&self) -> io::Result<File> {
        match fsio::unlink(self.dir.as_fd(), &self.spare) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fsio::create_new(self.dir.as_fd(), &self.spare, fsio::FILE_MODE),
        }
    }

    /// Makes the new content durable under its name.
    fn settle(&self, file: &File) -> io::Result<()> {
        if self.durability == Durability::Off {
            return Ok(());
        }
        fsio::flush_dir(self.dir.as_fd(), &self.name)?;
        fsio::set_mode(file.as_fd(), fsio::FILE_MODE, &self.name)
    }

    /// Notes that the document and its new spare begin with the same bytes.
    fn remember(&self, file: &File, shared: usize) {
        if shared > 0
            && let (Ok(document), Ok(spare)) = (rustix::fs::fstat(file), self.stat(&self.spare))
            && self.is_present(&spare)
            && let Some(statement) = statement(shared, &document, &spare)
        {
            memo::replace(&self.seen, &[&statement]);
        }
    }
}

/// What stands in `.index-spare-seen`: the form, the start of the machine, how many bytes the two files begin with alike,
/// which files they are as of when, and a sum over all of that. `None` where it cannot be told when the machine started.
fn statement(shared: usize, document: &Stat, spare: &Stat) -> Option<Vec<u8>> {
    let mut bytes = [FORM, &memo::boot_id()?[..]].concat();
    bytes.extend((shared as u64).to_le_bytes());
    for stat in [document, spare] {
        for number in [
            i128::from(stat.st_dev),
            i128::from(stat.st_ino),
            i128::from(stat.st_size),
            i128::from(stat.st_mtime),
            i128::from(stat.st_mtime_nsec),
            i128::from(stat.st_ctime),
            i128::from(stat.st_ctime_nsec),
        ] {
            bytes.extend(number.to_le_bytes());
        }
    }
    bytes.extend(memo::checksum(&bytes).to_le_bytes());
    Some(bytes)
}

/// How many bytes such a statement is about.
fn shared_bytes(mut statement: &[u8]) -> Option<usize> {
    memo::take(&mut statement, FORM.len() + memo::BOOT_ID_BYTES)?;
    usize::try_from(memo::number(&mut statement)?).ok()
}

const FORM: &[u8; 16] = b"wt-spare-seen 1\n";

fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}
