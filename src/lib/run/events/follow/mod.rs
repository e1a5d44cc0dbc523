//! A log that grows: gives out each whole line once, in order, and says so when the log does what a log must not.
//!
//! The log is append-only. So a file that gets shorter, changes below what was read, or is replaced is named as what it is,
//! and reading goes on where nothing is lost: behind what is still the same, or at the start of what is new. What was in
//! the old file is given out first. A line without its newline is left alone until it has one.

pub mod watch;

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::backwards::Backwards;
use super::damage::Tally;
use super::lines::Tail;
use super::scan::{Found, Scan};
use super::source::{self, Source};
use crate::error::{IoContext, Result};
use crate::store::seam;

/// So much of what was read is remembered to be recognised, in bytes.
const MEMORY_BYTES: u64 = 512;

/// What a follower is told.
#[derive(Debug)]
pub enum News<'a> {
    /// An event or a damage.
    Found(Found<'a>),
    /// Something happened to the file as a whole.
    Notice(Notice),
}

/// What happened to a followed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// It got shorter, from this many bytes read to that many; reading goes on at the offset.
    Truncated(u64, u64, u64),
    /// What was read is no longer what stands there; reading begins again at the start.
    Rewritten,
    /// Another file has its name; reading goes on there at the offset.
    Replaced(u64),
    /// No file has its name any more.
    Removed,
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Truncated(from, to, at) => {
                write!(f, "the event log was cut from {from} to {to} bytes; reading goes on at byte {at}")
            }
            Self::Rewritten => f.write_str("the event log was overwritten; reading begins again at its start"),
            Self::Replaced(at) => {
                write!(f, "the event log was replaced; reading goes on at byte {at} of the new one")
            }
            Self::Removed => f.write_str("the event log was removed; waiting for another one"),
        }
    }
}

/// Follows one log.
pub struct Follow {
    path: PathBuf,
    open: Option<Open>,
    was_removed: bool,
}

/// The file that is being read.
struct Open {
    scan: Scan<File>,
    identity: (u64, u64),
    /// The first bytes of the log, by which it is known to be the same one.
    head: Vec<u8>,
    /// The last bytes that were read, which must still stand before the offset.
    anchor: Vec<u8>,
}

impl Follow {
    /// Follows `path`, which need not exist, from its start.
    #[must_use]
    pub fn from_start(path: &Path) -> Self {
        Self { path: path.to_owned(), open: None, was_removed: false }
    }

    /// Follows a log that is open already, from `offset`, where a line begins.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`].
    pub fn from_offset(path: &Path, file: File, offset: u64) -> Result<Self> {
        let open = Open::new(Scan::from(file, offset), path)?;
        Ok(Self { open: Some(open), ..Self::from_start(path) })
    }

    /// What was seen so far of the file that is read; `None` while there is none.
    #[must_use]
    pub fn tally(&self) -> Option<Tally> {
        self.open.as_ref().map(|open| *open.scan.tally())
    }

    /// The file that is read, and where its first byte is that was not given out.
    #[must_use]
    pub fn rest(&self) -> Option<(&File, u64)> {
        self.open.as_ref().map(|open| (open.scan.source(), open.scan.offset()))
    }

    /// Gives out everything that is there now. To be called after each wake-up.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`], [`crate::error::Kind::Damaged`] when the name is taken by something that is no file, and
    /// what `visit` returns.
    pub fn drain(&mut self, mut visit: impl FnMut(News<'_>) -> Result<ControlFlow<()>>) -> Result<ControlFlow<()>> {
        let open = match &mut self.open {
            Some(open) => open,
            None => match source::open(&self.path)? {
                Some(file) => self.open.insert(Open::new(Scan::whole(file), &self.path)?),
                None => return Ok(ControlFlow::Continue(())),
            },
        };
        if open.go_on(&self.path, &mut visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let now = match rustix::fs::lstat(&self.path) {
            Ok(stat) => Some((stat.st_dev, stat.st_ino)),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => None,
            Err(errno) => return Err(errno).on("cannot examine", &self.path),
        };
        let removed = now.is_none();
        if removed && !self.was_removed {
            self.was_removed = true;
            return visit(News::Notice(Notice::Removed));
        }
        if removed || now == Some(open.identity) {
            return Ok(ControlFlow::Continue(()));
        }
        // Whoever held the old file may have written until the moment of the exchange.
        if open.go_on(&self.path, &mut visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let Some(file) = source::open(&self.path)? else { return Ok(ControlFlow::Continue(())) };
        self.was_removed = false;
        let offset = open.scan.offset();
        let same = before(&file, offset).on("cannot read", &self.path)? == open.anchor;
        let offset = if same { offset } else { 0 };
        open.turn_to(file, offset, &self.path)?;
        if visit(News::Notice(Notice::Replaced(offset)))?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        open.go_on(&self.path, &mut visit)
    }
}

impl Open {
    fn new(scan: Scan<File>, path: &Path) -> Result<Self> {
        let mut open = Self { scan, identity: (0, 0), head: Vec::new(), anchor: Vec::new() };
        open.remember(path)?;
        Ok(open)
    }

    /// Gives out what is behind the offset, after a look at whether what is before it is still there.
    fn go_on(
        &mut self,
        path: &Path,
        visit: &mut impl FnMut(News<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        if let Some(notice) = self.mend(path)?
            && visit(News::Notice(notice))?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        let begun = self.scan.offset();
        let flow = self.scan.run(Tail::Hold, |found| visit(News::Found(found)))?;
        if self.scan.offset() != begun {
            self.remember(path)?;
        }
        seam::hook("events-drained");
        Ok(flow)
    }

    /// Finds a place to go on when the log did what it must not.
    fn mend(&mut self, path: &Path) -> Result<Option<Notice>> {
        let offset = self.scan.offset();
        let file = self.scan.source();
        let len = source::len(file).on("cannot examine", path)?;
        if len == offset || (len > offset && before(file, offset).on("cannot read", path)? == self.anchor) {
            return Ok(None);
        }
        if len > offset {
            let file = file.try_clone().on("cannot open", path)?;
            self.turn_to(file, 0, path)?;
            return Ok(Some(Notice::Rewritten));
        }
        let left = first(file, self.head.len()).on("cannot read", path)?;
        let same = self.head.starts_with(&left);
        // What is left of the same log was given out; its last line may be torn, and is read again when it is whole.
        let at = if same { last_line_end(file, len).on("cannot read", path)? } else { 0 };
        let file = file.try_clone().on("cannot open", path)?;
        self.turn_to(file, at, path)?;
        Ok(Some(Notice::Truncated(offset, len, at)))
    }

    fn turn_to(&mut self, file: File, offset: u64, path: &Path) -> Result<()> {
        self.scan.resume(file, offset);
        self.head.clear();
        self.remember(path)
    }

    fn remember(&mut self, path: &Path) -> Result<()> {
        let file = self.scan.source();
        let stat = rustix::fs::fstat(file).on("cannot examine", path)?;
        self.identity = (stat.st_dev, stat.st_ino);
        let offset = self.scan.offset();
        self.anchor = before(file, offset).on("cannot read", path)?;
        if self.head.is_empty() {
            self.head =
                first(file, usize::try_from(offset.min(MEMORY_BYTES)).unwrap_or(0)).on("cannot read", path)?;
        }
        Ok(())
    }
}

/// The last bytes before `offset`; fewer when the file is shorter.
fn before(file: &File, offset: u64) -> std::io::Result<Vec<u8>> {
    let len = offset.min(MEMORY_BYTES);
    read_at_most(file, offset - len, usize::try_from(len).unwrap_or(0))
}

/// The first bytes.
fn first(file: &File, len: usize) -> std::io::Result<Vec<u8>> {
    read_at_most(file, 0, len)
}

fn read_at_most(file: &File, offset: u64, len: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Behind the last newline below `len`.
fn last_line_end(file: &File, len: u64) -> std::io::Result<u64> {
    let last = Backwards::new(file, len)?.previous()?;
    Ok(last.map_or(0, |span| if span.terminated { len } else { span.start }))
}
