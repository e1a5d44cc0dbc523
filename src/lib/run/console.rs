//! `run.log`: what the run printed, plain bytes (facts 4.9). Events point into it with `log_offset`.
//!
//! There are two ways to write. Appending takes what comes. Writing at an offset is for who sends the log in pieces and may
//! send one twice: bytes that are there already must be the same, and only what is new is written.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::access::{self, Writing};
use super::events::source::{self, Source};
use super::line_log;
use crate::error::{Error, IoContext, Result};
use crate::store::fsio::Durability;
use crate::store::fsio::log;
use crate::store::id::RunId;
use crate::store::{Store, layout};

/// How much is read and written at once, in bytes.
const BLOCK_BYTES: usize = 64 * 1024;

/// What was written, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Where it begins.
    pub offset: u64,
    /// How much came.
    pub bytes: u64,
    /// How much of it was there already.
    pub known: u64,
    /// Length of the log now.
    pub size: u64,
}

/// Appends what comes, block by block as it comes.
///
/// # Errors
/// Those of [`Writing::begin`] and of reading `content`; what came before stays.
pub fn append(store: &Store, run: &RunId, content: &mut dyn Read) -> Result<Written> {
    access::prepare(store, run)?;
    let path = layout::run_log(store.root(), run);
    let mut done: Option<Written> = None;
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let bytes = read_block(content, &mut block)?;
        if bytes.is_empty() && done.is_some() {
            break;
        }
        let writing = Writing::begin(store, run)?;
        let (file, opened) = line_log::open(&path)?;
        let size = source::len(&file).on("cannot examine", &path)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let count = log::append_once(&file, rest, &path).on("cannot append to", &path)?;
            rest = rest.get(count..).unwrap_or_default();
        }
        drop(writing);
        // Each block on its own: what was printed before a crash is what one wants to read after it.
        flush(store, &file, &path, opened)?;
        let count = bytes.len() as u64;
        let so_far = done.get_or_insert(Written { offset: size, bytes: 0, known: 0, size });
        so_far.bytes += count;
        so_far.size = size + count;
        if bytes.is_empty() {
            break;
        }
    }
    Ok(done.unwrap_or(Written { offset: 0, bytes: 0, known: 0, size: 0 }))
}

/// What may be done to a log by a write at an offset, beside adding to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allow {
    /// Other bytes may be written over those that are there.
    pub overwrite: bool,
    /// It may begin behind the end, and leave NUL bytes between.
    pub gap: bool,
}

/// Writes what comes at `offset`.
///
/// # Errors
/// [`crate::error::Kind::Conflict`] where other bytes are there, [`crate::error::Kind::Refused`] for a gap; those of
/// [`append`].
pub fn append_at(store: &Store, run: &RunId, offset: u64, allow: Allow, content: &mut dyn Read) -> Result<Written> {
    access::prepare(store, run)?;
    let path = layout::run_log(store.root(), run);
    let mut written = Written { offset, bytes: 0, known: 0, size: 0 };
    let mut block = vec![0; BLOCK_BYTES];
    let mut at = offset;
    loop {
        let bytes = read_block(content, &mut block)?;
        let writing = Writing::begin(store, run)?;
        if bytes.is_empty() {
            let file = source::open(&path)?;
            written.size = file.map_or(Ok(0), |file| source::len(&file)).on("cannot examine", &path)?;
            return Ok(written);
        }
        if !allow.gap {
            let size = source::open(&path)?.map_or(Ok(0), |file| source::len(&file)).on("cannot examine", &path)?;
            refuse_gap(&path, size, at)?;
        }
        let (file, opened) = log::open_write(&path).on("cannot open", &path)?;
        let known = same_bytes(&file, bytes, at, allow.overwrite).on("cannot read", &path)?;
        let known = known.map_err(|differs_at| {
            Error::conflict(format!("run.log has other bytes at offset {differs_at}"))
                .at(&path)
                .hint("this piece belongs to another log; --overwrite writes it all the same")
        })?;
        let new = bytes.get(known..).unwrap_or_default();
        if !new.is_empty() {
            log::write_all_at(&file, new, at + known as u64, &path).on("cannot write to", &path)?;
        }
        drop(writing);
        flush(store, &file, &path, opened)?;
        at += bytes.len() as u64;
        written.bytes += bytes.len() as u64;
        written.known += known as u64;
    }
}

fn refuse_gap(path: &Path, size: u64, at: u64) -> Result<()> {
    if at <= size {
        return Ok(());
    }
    Err(Error::refused(format!("run.log has {size} bytes, and writing at {at} would leave a gap of NUL bytes"))
        .at(path)
        .hint("send what comes before, or add --allow-gap"))
}

/// How many of `bytes` stand at `at` already; the offset at which they differ, unless that does not matter.
fn same_bytes(file: &File, bytes: &[u8], at: u64, ignore: bool) -> std::io::Result<Result<usize, u64>> {
    let mut stored = vec![0; bytes.len()];
    let mut filled = 0;
    while let Some(rest) = stored.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    let same = stored.iter().take(filled).zip(bytes).take_while(|(a, b)| a == b).count();
    Ok(if same < filled && !ignore { Err(at + same as u64) } else { Ok(same) })
}

fn read_block<'b>(content: &mut dyn Read, block: &'b mut [u8]) -> Result<&'b [u8]> {
    loop {
        match content.read(block) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            other => {
                let count = other.on("cannot read", "standard input")?;
                return Ok(block.get(..count).unwrap_or_default());
            }
        }
    }
}

fn flush(store: &Store, file: &File, path: &Path, opened: log::Opened) -> Result<()> {
    match store.durability() {
        Durability::Off => Ok(()),
        Durability::Flushed => line_log::flush(file, path, opened),
    }
}

/// Length of the log; 0 where there is none.
///
/// # Errors
/// [`crate::error::Kind::Io`]; [`crate::error::Kind::Damaged`] for what is no file.
pub fn size(store: &Store, run: &RunId) -> Result<u64> {
    let path = layout::run_log(store.root(), run);
    source::open(&path)?.map_or(Ok(0), |file| source::len(&file)).on("cannot examine", &path)
}

/// Gives out the bytes from `from` up to `until`, or up to the end where that is 0, in blocks. What lies behind the end is
/// not there.
///
/// # Errors
/// As [`size`], and what `visit` returns.
pub fn read(store: &Store, run: &RunId, from: u64, until: u64, mut visit: impl FnMut(&[u8])) -> Result<()> {
    let path = layout::run_log(store.root(), run);
    let Some(file) = source::open(&path)? else { return Ok(()) };
    let mut block = vec![0; BLOCK_BYTES];
    let mut at = from;
    let until = if until == 0 { u64::MAX } else { until };
    while at < until {
        let wanted = usize::try_from(until - at).unwrap_or(usize::MAX).min(BLOCK_BYTES);
        let place = block.get_mut(..wanted).unwrap_or_default();
        let count = file.read_at(place, at).on("cannot read", &path)?;
        if count == 0 {
            break;
        }
        visit(block.get(..count).unwrap_or_default());
        at += count as u64;
    }
    Ok(())
}

/// What a follower is told.
#[derive(Debug, PartialEq, Eq)]
pub enum News<'a> {
    /// Bytes, and their offset.
    Chunk(u64, &'a [u8]),
    /// The log got shorter than what was read of it, or is another one: it is read from its start.
    Restarted,
}

/// Follows a log that grows.
pub struct Follow {
    path: PathBuf,
    open: Option<(File, (u64, u64))>,
    offset: u64,
}

impl Follow {
    /// Follows the log of a run, which need not be there, from an offset.
    #[must_use]
    pub fn new(store: &Store, run: &RunId, from: u64) -> Self {
        Self { path: layout::run_log(store.root(), run), open: None, offset: from }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives out everything that is there now. To be called after each wake-up.
    ///
    /// # Errors
    /// As [`size`].
    pub fn drain(&mut self, mut visit: impl FnMut(News<'_>)) -> Result<()> {
        if self.open.is_none() {
            let Some(file) = source::open(&self.path)? else { return Ok(()) };
            let identity = identity(&file).on("cannot examine", &self.path)?;
            self.open = Some((file, identity));
        }
        self.go_on(&mut visit)?;
        let Some((_, known)) = &self.open else { return Ok(()) };
        let now = rustix::fs::lstat(&self.path).ok().map(|stat| (stat.st_dev, stat.st_ino));
        if now.is_none_or(|now| now == *known) {
            return Ok(());
        }
        let Some(file) = source::open(&self.path)? else { return Ok(()) };
        let identity = identity(&file).on("cannot examine", &self.path)?;
        self.open = Some((file, identity));
        self.offset = 0;
        visit(News::Restarted);
        self.go_on(&mut visit)
    }

    fn go_on(&mut self, visit: &mut impl FnMut(News<'_>)) -> Result<()> {
        let Some((file, _)) = &self.open else { return Ok(()) };
        if source::len(file).on("cannot examine", &self.path)? < self.offset {
            self.offset = 0;
            visit(News::Restarted);
        }
        let mut block = vec![0; BLOCK_BYTES];
        loop {
            let count = file.read_at(&mut block, self.offset).on("cannot read", &self.path)?;
            if count == 0 {
                return Ok(());
            }
            visit(News::Chunk(self.offset, block.get(..count).unwrap_or_default()));
            self.offset += count as u64;
        }
    }
}

fn identity(file: &File) -> std::io::Result<(u64, u64)> {
    let stat = rustix::fs::fstat(file)?;
    Ok((stat.st_dev, stat.st_ino))
}
