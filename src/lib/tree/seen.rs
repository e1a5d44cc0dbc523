//! [`Seen`]: what was in each directory when it was last listed, so that it need not be listed again (design section 9).
//!
//! A directory that gains or loses a name gets new times. One whose device, inode and times are what they were when its
//! names were taken still has those names, and under the same rules the same ones are versioned. It is still opened, so
//! that its permissions count and the store is recognised in it, and each of its files is still looked at: only reading the
//! names, asking the rules and sorting are saved.
//!
//! ```text
//! "wt-dirs-seen 2\n\0" · boot id · identity of the rules, 32 bytes · checksum of the rest · directories, by their paths
//! a directory: bytes of it, bytes of its path, count of names, what it holds · device, inode, mtime, ctime · path · names
//! a name: 0 or 1 for a directory to go into, its length; of a directory what it inherits; its bytes
//! four of 32 bits, four of 64 bits; a name has two bytes before it, and 32 bits    numbers are little-endian
//! ```
//!
//! Rules: names that the ignore rules leave out are not in it, only that a directory holds some ([`Holding`]): whoever asks
//! for them lists that directory anew. Remembered is only a directory that had been at rest for a tick of the clock when the
//! walk began (`tree::stat`), on a file system of which the kernel of this machine alone changes the directories, and that
//! is not encrypted: its names come and go with the key. Nothing is believed after a restart of the machine or under other
//! ignore rules. The file is never needed, and one that is wrong in any way counts as none.
//!
//! Captures write it. Restores, dry runs and comparisons only read it, and nothing is destroyed because of it: were a name
//! forgotten, the plan would not know of what is there, and what is at a path that the plan takes for free, or in a
//! directory that it takes for empty, is met when the kernel is asked to put something there or to remove it.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, StatxAttributes, StatxFlags};

use super::stat::{FileStat, is_settled};
use crate::store::id::ObjectId;
use crate::store::memo::{self, BOOT_ID_BYTES, number, number_u32, take};
use crate::store::{Document, network};

const MAGIC: &[u8; 16] = b"wt-dirs-seen 2\n\0";
/// Where the checksum stands, and behind it the directories begin.
const CHECKSUM_AT: usize = MAGIC.len() + BOOT_ID_BYTES + 32;
const DIRS_AT: usize = CHECKSUM_AT + 8;
/// Bytes of a directory before its path.
const DIR_HEAD_BYTES: usize = 4 * 4 + 4 * 8;
/// Fewer directories than this are listed each time: that is quicker than to remember them.
const DIRS_MIN: usize = 16;
/// The file is written again when as many directories as this part of it were listed or have gone.
const REWRITE_PART: usize = 64;

/// What is remembered of the directories of one workspace, and what a walk learns.
pub struct Seen {
    rules: ObjectId,
    begun_ns: u64,
    memory: Option<Memory>,
    /// What the walk learns; `None` where it is not going to be written down.
    learnt: Option<Mutex<Vec<Learnt>>>,
    /// Devices that were asked for, and what the times of their directories prove.
    devices: Mutex<Vec<(u64, Trust)>>,
}

/// A directory that was listed: its path, and how it stands in the file.
struct Learnt {
    path: Vec<u8>,
    bytes: Vec<u8>,
}

/// The file, checked.
struct Memory {
    document: Document,
    /// Where each directory begins; they stand in the order of their paths.
    places: Vec<usize>,
    /// Which of them still were as they are remembered.
    found: Vec<AtomicBool>,
    /// The one behind the last that was asked for.
    next: AtomicUsize,
}

/// One name that a walk keeps of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name<'a> {
    pub(super) bytes: &'a [u8],
    /// For a directory to go into, what it inherits, see `Inherited::to_bits`.
    pub(super) inherited: Option<u32>,
}

/// What a directory holds, whatever of that is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holding {
    /// No name at all.
    Nothing,
    /// Names that the rules keep.
    Kept,
    /// Names that the rules leave out, too, or only those.
    LeftOut,
}

/// A directory that is as it was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remembered<'a> {
    /// How many names are kept of it.
    pub(super) count: usize,
    /// What it holds.
    pub(super) holding: Holding,
    names: &'a [u8],
}

impl Seen {
    /// Begins with what the document remembers for rules of this identity; one that is of no use counts as none.
    #[must_use]
    pub(super) fn new(document: Option<Document>, rules: ObjectId, begun_ns: u64) -> Self {
        let memory = document.and_then(|document| Memory::read(document, rules));
        Self { rules, begun_ns, memory, learnt: Some(Mutex::default()), devices: Mutex::default() }
    }

    /// Begins with what the document remembers, for a walk of which nothing is going to be written down. `None` where
    /// nothing is remembered.
    #[must_use]
    pub(super) fn to_read(document: Document, rules: ObjectId) -> Option<Self> {
        let memory = Some(Memory::read(document, rules)?);
        Some(Self { rules, begun_ns: 0, memory, learnt: None, devices: Mutex::default() })
    }

    /// What is in the directory open at `fd`, if `own`, which was taken after it was opened, says that it is as it was.
    pub(super) fn recall(&self, path: &[u8], fd: BorrowedFd<'_>, own: &FileStat) -> Option<Remembered<'_>> {
        let memory = self.memory.as_ref()?;
        let place = memory.find(path)?;
        let dir = Dir::read(memory.document.get(*memory.places.get(place)?..)?)?;
        (dir.stamp == stamp(own)? && self.is_trusted(fd, own.device)).then_some(())?;
        memory.found.get(place)?.store(true, Ordering::Relaxed);
        Some(Remembered { count: dir.count, holding: dir.holding, names: dir.names })
    }

    /// Takes back that a directory is as it was.
    pub(super) fn forget(&self, path: &[u8]) {
        if let Some(memory) = &self.memory
            && let Some(found) = memory.find(path).and_then(|place| memory.found.get(place))
        {
            found.store(false, Ordering::Relaxed);
        }
    }

    /// Learns what is in the directory open at `fd`; `own` was taken before it was listed. `names` are those that the rules
    /// keep, in the order of a listing.
    pub(super) fn learn<'n>(
        &self,
        path: &[u8],
        fd: BorrowedFd<'_>,
        own: &FileStat,
        holding: Holding,
        names: impl Iterator<Item = Name<'n>>,
    ) {
        let (Some(learnt), Some(stamp)) = (&self.learnt, stamp(own)) else { return };
        if !is_settled(stamp[2].cast_signed(), stamp[3].cast_signed(), self.begun_ns)
            || !self.is_trusted(fd, own.device)
        {
            return;
        }
        let Some(bytes) = encode(path, stamp, holding, names) else { return };
        let dir = Learnt { path: path.to_vec(), bytes };
        learnt.lock().unwrap_or_else(PoisonError::into_inner).push(dir);
    }

    /// Whether the times of the directory open at `fd` prove anything. Its device is asked once.
    fn is_trusted(&self, fd: BorrowedFd<'_>, device: u64) -> bool {
        match self.trust(fd, device) {
            Trust::Nothing => false,
            Trust::All => true,
            Trust::UnlessEncrypted => is_plain(fd),
        }
    }

    fn trust(&self, fd: BorrowedFd<'_>, device: u64) -> Trust {
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, trust)) = devices.iter().find(|(known, _)| *known == device) {
            return *trust;
        }
        let trust = match (network::moves_dir_times(fd), network::may_encrypt_names(fd)) {
            (false, _) => Trust::Nothing,
            (true, true) => Trust::UnlessEncrypted,
            (true, false) => Trust::All,
        };
        devices.push((device, trust));
        trust
    }

    /// What is to be written down after a walk that went to its end; `None` where that would cost more than it saves.
    #[must_use]
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        let mut learnt = self.learnt?.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (document, kept): (&[u8], Vec<&[u8]>) = match &self.memory {
            Some(memory) => (&memory.document, memory.kept()),
            None => (&[], Vec::new()),
        };
        let gone = self.memory.as_ref().map_or(0, |memory| memory.places.len() - kept.len());
        let total = kept.len() + learnt.len();
        if total < DIRS_MIN || learnt.len() + gone < 1 + kept.len() / REWRITE_PART {
            return None;
        }
        let mut out = Vec::with_capacity(document.len() + learnt.iter().map(|dir| dir.bytes.len()).sum::<usize>());
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&memo::boot_id()?);
        out.extend_from_slice(self.rules.as_bytes());
        out.extend_from_slice(&[0; 8]);
        learnt.sort_unstable_by(|one, two| one.path.cmp(&two.path));
        let mut learnt = learnt.iter().peekable();
        for dir in kept {
            let path = Dir::read(dir)?.path;
            while let Some(new) = learnt.next_if(|new| new.path.as_slice() < path) {
                out.extend_from_slice(&new.bytes);
            }
            out.extend_from_slice(dir);
        }
        learnt.for_each(|new| out.extend_from_slice(&new.bytes));
        let sum = memo::checksum(out.get(DIRS_AT..)?);
        out.get_mut(CHECKSUM_AT..DIRS_AT)?.copy_from_slice(&sum.to_le_bytes());
        Some(out)
    }
}

/// Of which directories of a device the times prove that the names are what they were.
#[derive(Debug, Clone, Copy)]
enum Trust {
    Nothing,
    UnlessEncrypted,
    All,
}

/// Whether a directory is certainly not encrypted.
fn is_plain(fd: BorrowedFd<'_>) -> bool {
    let found = rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::empty());
    found.is_ok_and(|found| !found.stx_attributes.contains(StatxAttributes::ENCRYPTED))
}

/// Device, inode, mtime and ctime, where all are known.
fn stamp(own: &FileStat) -> Option<[u64; 4]> {
    Some([own.device, own.inode, own.mtime_ns?.cast_unsigned(), own.ctime_ns?.cast_unsigned()])
}

fn encode<'n>(
    path: &[u8],
    stamp: [u64; 4],
    holding: Holding,
    names: impl Iterator<Item = Name<'n>>,
) -> Option<Vec<u8>> {
    let mut out = vec![0; DIR_HEAD_BYTES];
    out.extend_from_slice(path);
    let mut count: u32 = 0;
    for name in names {
        let length = u8::try_from(name.bytes.len()).ok()?;
        out.extend_from_slice(&[u8::from(name.inherited.is_some()), length]);
        if let Some(inherited) = name.inherited {
            out.extend_from_slice(&inherited.to_le_bytes());
        }
        out.extend_from_slice(name.bytes);
        count += 1;
    }
    let mut head = Vec::with_capacity(DIR_HEAD_BYTES);
    let lengths = [u32::try_from(out.len()).ok()?, u32::try_from(path.len()).ok()?];
    for number in [lengths[0], lengths[1], count, holding.to_number()] {
        head.extend_from_slice(&number.to_le_bytes());
    }
    stamp.iter().for_each(|number| head.extend_from_slice(&number.to_le_bytes()));
    out.get_mut(..DIR_HEAD_BYTES)?.copy_from_slice(&head);
    Some(out)
}

/// A directory as it stands in the file.
struct Dir<'a> {
    bytes: usize,
    stamp: [u64; 4],
    count: usize,
    holding: Holding,
    path: &'a [u8],
    names: &'a [u8],
}

impl<'a> Dir<'a> {
    /// Reads the one that stands first, without a look at its names.
    fn read(from: &'a [u8]) -> Option<Self> {
        let mut rest = from;
        let bytes = usize::try_from(number_u32(&mut rest)?).ok()?;
        let path_bytes = usize::try_from(number_u32(&mut rest)?).ok()?;
        let count = usize::try_from(number_u32(&mut rest)?).ok()?;
        let holding = Holding::of_number(number_u32(&mut rest)?)?;
        let mut numbers = || number(&mut rest);
        let stamp = [numbers()?, numbers()?, numbers()?, numbers()?];
        let mut rest = from.get(DIR_HEAD_BYTES..bytes)?;
        let path = take(&mut rest, path_bytes)?;
        // Room is made for as many; each takes at least three bytes.
        (count <= rest.len() / 3).then_some(())?;
        Some(Self { bytes, stamp, count, holding, path, names: rest })
    }
}

impl Holding {
    fn to_number(self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Kept => 1,
            Self::LeftOut => 2,
        }
    }

    fn of_number(number: u32) -> Option<Self> {
        [Self::Nothing, Self::Kept, Self::LeftOut].into_iter().find(|holding| holding.to_number() == number)
    }
}

impl Memory {
    fn read(document: Document, rules: ObjectId) -> Option<Self> {
        let mut rest: &[u8] = &document;
        (take(&mut rest, MAGIC.len())? == MAGIC).then_some(())?;
        (take(&mut rest, BOOT_ID_BYTES)? == memo::boot_id()?).then_some(())?;
        (take(&mut rest, 32)? == rules.as_bytes()).then_some(())?;
        (number(&mut rest)? == memo::checksum(rest)).then_some(())?;
        let (mut places, mut last) = (Vec::new(), None);
        while !rest.is_empty() {
            let dir = Dir::read(rest)?;
            // Sorted, and none twice: the search relies on it.
            last.is_none_or(|last| last < dir.path).then_some(())?;
            last = Some(dir.path);
            places.push(document.len() - rest.len());
            take(&mut rest, dir.bytes)?;
        }
        let found = std::iter::repeat_with(AtomicBool::default).take(places.len()).collect();
        Some(Self { document, places, found, next: AtomicUsize::new(0) })
    }

    fn find(&self, path: &[u8]) -> Option<usize> {
        let path_at = |place: usize| self.document.get(place..).and_then(Dir::read).map(|dir| dir.path);
        // A walk asks for one after the other, or nearly.
        let next = self.next.load(Ordering::Relaxed);
        let is_next = self.places.get(next).is_some_and(|place| path_at(*place) == Some(path));
        let found = if is_next {
            next
        } else {
            self.places.binary_search_by(|place| path_at(*place).cmp(&Some(path))).ok()?
        };
        self.next.store(found + 1, Ordering::Relaxed);
        Some(found)
    }

    /// The directories that still were as they are remembered.
    fn kept(&self) -> Vec<&[u8]> {
        let found = self.places.iter().zip(&self.found).filter(|(_, found)| found.load(Ordering::Relaxed));
        found
            .filter_map(|(place, _)| {
                let rest = self.document.get(*place..)?;
                rest.get(..Dir::read(rest)?.bytes)
            })
            .collect()
    }
}

impl<'a> Remembered<'a> {
    /// Bytes of all names together, or somewhat more.
    pub(super) fn names_bytes(&self) -> usize {
        self.names.len()
    }

    /// The names, in the order of a listing; `None` where they are not as they have to be.
    pub(super) fn names(&self) -> impl Iterator<Item = Option<Name<'a>>> {
        let mut rest = self.names;
        (0..self.count).map(move |_| {
            let (&[tag, length], tail) = rest.split_first_chunk::<2>()?;
            rest = tail;
            let inherited = if tag == 0 { None } else { Some(number_u32(&mut rest)?) };
            let bytes = take(&mut rest, usize::from(length))?;
            // It goes to the kernel as one name of this directory.
            let is_name = memchr::memchr2(b'/', 0, bytes).is_none() && !matches!(bytes, b"" | b"." | b"..");
            is_name.then_some(Name { bytes, inherited })
        })
    }
}

#[cfg(test)]
mod tests;
