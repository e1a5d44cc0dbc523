//! [`Presence`]: which objects are in the pool, without a look at each (design section 6, Stat cache).
//!
//! A capture without a change names thousands of objects that all were there the last time. What was examined then is
//! remembered in a private file of the run: the stamp of every shard, and which objects of it had their whole size. A
//! shard whose stamp is as it was has lost nothing since, because a directory that loses a name gets a new time. A
//! shard that changed is listed again. What is not remembered is examined one by one.
//!
//! ```text
//! "wt-pool-seen 1\n\0" · boot id · device, inode of the pool · 256 x (inode, mtime, ctime, count) · objects
//! an object: bytes 1-8 of its id, its size; sorted within its shard        numbers are little-endian
//! ```
//!
//! Rules: a shard that changed within a tick of the clock is not remembered, as with files (`tree::stat`). Nothing is
//! believed after a restart of the machine: a power cut can leave an object its name and not its bytes. The file is
//! never needed, and one that is wrong in any way counts as none.

use std::path::PathBuf;

use crate::clock;
use crate::error::Result;
use crate::store::id::ObjectId;
use crate::store::memo::{self, BOOT_ID_BYTES, boot_id, number, take};
use crate::store::pool::{Pool, Stamp};
use crate::store::{Document, read_document};
use crate::tree::stat::is_settled;

/// Fewer objects than this are examined one by one: that is quicker than to remember them.
const REMEMBERED_MIN: usize = 1024;
/// The file is written again when it would have saved this many examinations.
const REWRITE_MIN: usize = 128;
/// As many examinations cost as much as listing one shard.
const LISTING_WORTH: usize = 8;
const MAGIC: &[u8; 16] = b"wt-pool-seen 1\n\0";
const SHARDS: usize = 256;
const SHARD_BYTES: usize = 32;

/// An object within its shard: the eight bytes of its id behind the first, and its size.
type Key = (u64, u64);

/// What is known of one shard.
#[derive(Default)]
struct Shard {
    /// What it was when this capture first looked; `None` where that proves nothing.
    stamp: Option<Stamp>,
    is_looked_at: bool,
    /// What was remembered and is still there, sorted.
    known: Vec<Key>,
    /// What was examined by this capture.
    found: Vec<Key>,
}

/// What the pool holds, as far as one capture asks.
pub struct Presence<'a> {
    pool: &'a Pool,
    path: Option<PathBuf>,
    begun_ns: u64,
    memory: Option<Memory>,
    shards: Vec<Shard>,
    asked: usize,
    /// How many examinations a better memory would have saved.
    wasted: usize,
}

impl<'a> Presence<'a> {
    /// Begins with what the file at `path` remembers; without one, or without `path`, every object is examined.
    #[must_use]
    pub fn new(pool: &'a Pool, path: Option<PathBuf>) -> Self {
        let memory = path.as_deref().and_then(|path| Memory::read(read_document(path).ok()?, pool));
        let shards = std::iter::repeat_with(Shard::default).take(SHARDS).collect();
        Self { pool, path, begun_ns: clock::now_ns(), memory, shards, asked: 0, wasted: 0 }
    }

    /// Whether the pool holds an object of that id and size.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be examined.
    pub fn holds(&mut self, id: ObjectId, size: u64) -> Result<bool> {
        self.asked += 1;
        let number = id.as_bytes()[0];
        let Some(shard) = self.shards.get_mut(usize::from(number)) else { return Ok(false) };
        if !shard.is_looked_at {
            shard.is_looked_at = true;
            shard.stamp =
                self.pool.shard_stamp(number).filter(|now| is_settled(now.mtime_ns, now.ctime_ns, self.begun_ns));
            if let Some(memory) = &self.memory {
                shard.known = memory.objects(number);
                if shard.stamp.is_none() || memory.stamp(number) != shard.stamp {
                    self.wasted += LISTING_WORTH;
                    shard.keep_listed(self.pool, number);
                }
            }
        }
        let key = key(id, size);
        if is_among(&shard.known, key) {
            return Ok(true);
        }
        self.wasted += 1;
        let is_there = self.pool.size_of(id)? == Some(size);
        if is_there {
            shard.found.push(key);
        }
        Ok(is_there)
    }

    /// Writes down what was learnt, where that will save more than it costs. That it cannot be written is no error:
    /// the next capture then looks again.
    pub fn remember(mut self) {
        let Some(path) = self.path.take() else { return };
        let is_new = self.memory.is_none();
        if self.asked < REMEMBERED_MIN || self.wasted < if is_new { 1 } else { REWRITE_MIN } {
            return;
        }
        let Some(bytes) = self.encode() else { return };
        memo::replace(&path, &[&bytes]);
    }

    fn encode(&mut self) -> Option<Vec<u8>> {
        let (boot, (device, inode)) = (boot_id()?, self.pool.identity().ok()?);
        let mut out = Vec::with_capacity(64 + SHARDS * SHARD_BYTES + self.asked * 16);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&boot);
        out.extend_from_slice(&device.to_le_bytes());
        out.extend_from_slice(&inode.to_le_bytes());
        for shard in &mut self.shards {
            shard.known.append(&mut shard.found);
            shard.known.sort_unstable();
            shard.known.dedup();
            if shard.stamp.is_none() {
                shard.known.clear();
            }
            let stamp = shard.stamp.unwrap_or(NO_STAMP);
            out.extend_from_slice(&stamp.inode.to_le_bytes());
            out.extend_from_slice(&stamp.mtime_ns.to_le_bytes());
            out.extend_from_slice(&stamp.ctime_ns.to_le_bytes());
            out.extend_from_slice(&(shard.known.len() as u64).to_le_bytes());
        }
        for (id, size) in self.shards.iter().flat_map(|shard| &shard.known) {
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&size.to_le_bytes());
        }
        Some(out)
    }
}

/// Stands for a shard of which nothing is remembered: no directory has inode 0.
const NO_STAMP: Stamp = Stamp { inode: 0, mtime_ns: 0, ctime_ns: 0 };

impl Shard {
    /// Keeps of what is remembered only what still has its name.
    fn keep_listed(&mut self, pool: &Pool, number: u8) {
        if self.known.is_empty() {
            return;
        }
        let mut listed: Vec<u64> = match pool.shard_ids(number) {
            Ok(ids) => ids.into_iter().map(|id| key(id, 0).0).collect(),
            Err(_) => Vec::new(),
        };
        listed.sort_unstable();
        self.known.retain(|(id, _)| listed.binary_search(id).is_ok());
    }
}

/// Whether a sorted list has the key. Ids are spread evenly, so it stands a few places from where it would be if they were
/// spread exactly: fewer misses of the processor's guesses and of its cache than halving the list.
fn is_among(sorted: &[Key], key: Key) -> bool {
    let place = (u128::from(key.0) * sorted.len() as u128) >> 64;
    let (before, behind) = sorted.split_at(usize::try_from(place).unwrap_or(0).min(sorted.len()));
    match behind.first() {
        Some(first) if *first <= key => behind.iter().find(|other| **other >= key) == Some(&key),
        _ => before.iter().rev().find(|other| **other <= key) == Some(&key),
    }
}

fn key(id: ObjectId, size: u64) -> Key {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&id.as_bytes()[1..9]);
    (u64::from_be_bytes(bytes), size)
}

/// A file of that form, checked.
struct Memory {
    document: Document,
    /// Where the objects of each shard begin and end, and its stamp.
    shards: Vec<(Stamp, std::ops::Range<usize>)>,
}

impl Memory {
    fn read(document: Document, pool: &Pool) -> Option<Self> {
        let mut rest: &[u8] = &document;
        (take(&mut rest, MAGIC.len())? == MAGIC).then_some(())?;
        (take(&mut rest, BOOT_ID_BYTES)? == boot_id()?).then_some(())?;
        let identity = (number(&mut rest)?, number(&mut rest)?);
        (pool.identity().ok()? == identity).then_some(())?;
        let mut shards = Vec::with_capacity(SHARDS);
        let mut at = document.len() - rest.len() + SHARDS * SHARD_BYTES;
        for _ in 0..SHARDS {
            let stamp = Stamp {
                inode: number(&mut rest)?,
                mtime_ns: number(&mut rest)?.cast_signed(),
                ctime_ns: number(&mut rest)?.cast_signed(),
            };
            let end = at.checked_add(usize::try_from(number(&mut rest)?).ok()?.checked_mul(16)?)?;
            shards.push((stamp, at..end));
            at = end;
        }
        (at == document.len()).then_some(Self { document, shards })
    }

    fn stamp(&self, shard: u8) -> Option<Stamp> {
        self.shards.get(usize::from(shard)).map(|(stamp, _)| *stamp).filter(|stamp| *stamp != NO_STAMP)
    }

    fn objects(&self, shard: u8) -> Vec<Key> {
        let place = self.shards.get(usize::from(shard)).map(|(_, place)| place.clone()).unwrap_or_default();
        let (objects, _) = self.document.get(place).unwrap_or_default().as_chunks::<16>();
        let read = objects.iter().map(|object| {
            let mut rest = object.as_slice();
            (number(&mut rest).unwrap_or(0), number(&mut rest).unwrap_or(0))
        });
        read.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_wherever_it_stands() {
        let even: Vec<Key> = (0..300).map(|place| (place * (u64::MAX / 300), place)).collect();
        let crowded: Vec<Key> = (0..300).map(|place| (u64::MAX - 3000 + place / 3 * 7, place)).collect();
        let low: Vec<Key> = (0..300).map(|place| (place / 2, place)).collect();
        for keys in [&even[..], &crowded, &low, &even[..1], &[]] {
            for &(id, size) in even.iter().chain(&crowded).chain(&low) {
                for key in [(id, size), (id, size + 1), (id.saturating_add(1), size), (id.saturating_sub(1), size)]
                {
                    assert_eq!(is_among(keys, key), keys.binary_search(&key).is_ok(), "{key:?}");
                }
            }
            assert!(keys.iter().all(|key| is_among(keys, *key)));
        }
    }
}
