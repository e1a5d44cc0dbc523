//! What lies beside the documents of a store and its runs and nobody needs: `.iterion-tmp-*`, which killed writers left, and the
//! spares of indexes that have not changed for long (`store::spare`).

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mark;
use crate::error::{Error, Result};
use crate::store::fsio::document;
use crate::store::pool::Removal;
use crate::store::{Store, layout};

/// How deep the documents of a run lie below it: `turns/<node>/<iteration>/<turn>.json`.
const DOCUMENT_LEVELS: u32 = 3;

/// The temporary files last written to no later than `not_after_ns`, with their sizes, sorted.
pub(super) fn stale(store: &Store, not_after_ns: i128) -> Result<Vec<(PathBuf, u64)>> {
    let mut found = Vec::new();
    let mut dirs = vec![(store.root().to_owned(), 0)];
    for run in mark::run_dirs(store)? {
        dirs.extend([(layout::history_below(&run.path), 0), (layout::snapshots_below(&run.path), 0)]);
        dirs.push((run.path, DOCUMENT_LEVELS));
    }
    while let Some((dir, levels)) = dirs.pop() {
        // Not every run has each of them; the mark has already complained about what it needs and cannot read.
        let Ok(listed) = std::fs::read_dir(&dir) else { continue };
        for entry in listed.flatten() {
            let name = entry.file_name();
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir && levels > 0 && !layout::holds_no_documents(name.as_bytes()) {
                dirs.push((entry.path(), levels - 1));
            } else if layout::may_go(name.as_bytes())
                && let Some(size) = size_if_stale(&entry.path(), not_after_ns)
            {
                found.push((entry.path(), size));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Removes one of them if it is still as old.
pub(super) fn remove(path: &Path, not_after_ns: i128) -> Result<Removal> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Removal::Absent),
        Err(error) => Err(Error::io("cannot examine", path, &error)),
        Ok(_) if size_if_stale(path, not_after_ns).is_none() => Ok(Removal::Spared),
        Ok(_) => document::remove(path).map(|()| Removal::Removed),
    }
}

fn size_if_stale(path: &Path, not_after_ns: i128) -> Option<u64> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    let mtime_ns = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
    (meta.is_file() && mtime_ns <= not_after_ns).then_some(meta.len())
}
