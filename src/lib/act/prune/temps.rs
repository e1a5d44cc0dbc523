//! What lies beside the documents of runs and nobody needs: `.iterion-tmp-*`, which killed writers left, and the spares of
//! indexes that have not changed for long (`store::spare`).

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mark;
use crate::error::{Error, Result};
use crate::store::fsio::document;
use crate::store::pool::Removal;
use crate::store::{Store, layout};

/// The temporary files last written to no later than `not_after_ns`, with their sizes, sorted.
pub(super) fn stale(store: &Store, not_after_ns: i128) -> Result<Vec<(PathBuf, u64)>> {
    let mut found = Vec::new();
    for run in mark::run_dirs(store)? {
        for dir in [layout::history_below(&run.path), layout::snapshots_below(&run.path)] {
            // A run without a history has none; the mark has already complained about any other reason.
            let Ok(listed) = std::fs::read_dir(&dir) else { continue };
            for entry in listed.flatten() {
                if layout::may_go(entry.file_name().as_bytes())
                    && let Some(size) = size_if_stale(&entry.path(), not_after_ns)
                {
                    found.push((entry.path(), size));
                }
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
