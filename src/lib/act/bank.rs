//! [`take`]: a whole capture within one process, for whoever changes the workspace next under the same lock.
//!
//! It is the pipeline of the three programs with the stages called one after the other, and it ends in the same
//! [`capture::write_snapshot`].

use super::capture::{self, Captured, Request};
use super::hashing::{BATCH_RECORDS, Hashing, StatCache};
use super::restore::Place;
use crate::error::{Error, Kind, Result};
use crate::store::lock::Mode;
use crate::store::pool::{Pool, PoolWriter};
use crate::stream::record::Record;
use crate::stream::recordset::RecordSet;
use crate::stream::wire::{HeadMark, Header};
use crate::tree::scan::{self, Limits, Scan};

/// What came of it, and what was wrong with the ignore rules.
pub struct Bank {
    /// The capture.
    pub captured: Captured,
    /// Sentences for a person.
    pub warnings: Vec<String>,
}

/// Captures the workspace. The caller holds its lock.
///
/// # Errors
/// Those of a walk, of hashing and of [`capture::write_snapshot`]; no label has moved then.
pub fn take(place: &Place<'_>, limits: Limits, request: &Request) -> Result<Bank> {
    let Place { workspace, history, .. } = *place;
    let store = history.store();
    let index = history.index()?;
    let identities = history.store_identities()?;
    let scan = Scan::take(workspace, &identities, limits, None).or_else(|error| too_large(place, error))?;
    let pool = Pool::create(store)?;
    let writer = PoolWriter::new(&pool);
    let cache = StatCache::new(&index, Some(&pool));
    let hashing = Hashing {
        workspace,
        pool: Some(&writer),
        cache: Some(&cache),
        cap_bytes: limits.cap_bytes,
        new_bytes_max: None,
    };
    let mut found = Vec::new();
    scan.tree.for_each(|path, entry| found.push(scan::record(path, entry)));
    let mut records: Vec<Record> = Vec::with_capacity(found.len());
    let mut found = found.into_iter().peekable();
    while found.peek().is_some() {
        // Held for a batch, so that a sweep gets its turn.
        let _pool_lock = pool.lock(Mode::Shared)?;
        records.extend(hashing.fill(found.by_ref().take(BATCH_RECORDS).collect())?);
    }
    {
        let _pool_lock = pool.lock(Mode::Shared)?;
        writer.put_bytes(&scan.rules_file.text)?;
        writer.commit()?;
    }
    let head = index.head.clone().map_or(HeadMark::None, HeadMark::At);
    let header = Header { head: Some(head), ..scan.header(workspace) };
    let captured = capture::write_snapshot(history, &RecordSet::new(header, records)?, request)?;
    Ok(Bank { captured, warnings: scan.warnings.iter().map(ToString::to_string).collect() })
}

/// Snapshots stop where there are too many files, and later rewinds must know.
fn too_large(place: &Place<'_>, error: Error) -> Result<Scan> {
    if error.kind() == Kind::Limit {
        capture::set_overflow_latch(place.history)?;
    }
    Err(error)
}
