//! Storing damaged and missing objects again from files that still hold their content.
//!
//! The tree is only read, and nothing is believed: a file is hashed, and hashed once more while it is stored. Files that
//! the ignore rules leave out may hold a content as well as any other, so rules play no part here.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Wanted;
use crate::act::intake::{Sink, take_named};
use crate::error::Result;
use crate::store::Store;
use crate::store::hash;
use crate::store::id::ObjectId;
use crate::store::lock::Mode;
use crate::store::pool::{Pool, PoolWriter};
use crate::tree::root::Workspace;

/// Searches a workspace for contents and stores those it finds, over what is there; returns them.
///
/// # Errors
/// [`crate::error::Kind::Io`] where the pool fails. A file that cannot be read is no help and no error.
pub fn from_workspace(store: &Store, workspace: &Workspace, wanted: &Wanted) -> Result<HashSet<ObjectId>> {
    let pool = Pool::create(store)?;
    let _lock = pool.lock(Mode::Shared)?;
    let writer = PoolWriter::replacing(&pool);
    let mut search = Search {
        writer: &writer,
        sizes: wanted.values().copied().collect(),
        missing: wanted.keys().copied().collect(),
        found: HashSet::new(),
        store: store.identities(None)?,
        buffer: vec![0; hash::READ_BLOCK_BYTES],
    };
    search.dir(workspace.path())?;
    let found = search.found;
    writer.commit()?;
    Ok(found)
}

struct Search<'a> {
    writer: &'a PoolWriter<'a>,
    /// Sizes worth hashing; `None` among them means any.
    sizes: HashSet<Option<u64>>,
    missing: HashSet<ObjectId>,
    found: HashSet<ObjectId>,
    store: Vec<(u64, u64)>,
    buffer: Vec<u8>,
}

impl Search<'_> {
    fn dir(&mut self, dir: &Path) -> Result<()> {
        let Ok(listed) = std::fs::read_dir(dir) else { return Ok(()) };
        for entry in listed.flatten() {
            if self.missing.is_empty() {
                return Ok(());
            }
            let (path, Ok(meta)) = (entry.path(), entry.metadata()) else { continue };
            if meta.is_dir() {
                if !self.store.contains(&(meta.dev(), meta.ino())) && entry.file_name() != ".git" {
                    self.dir(&path)?;
                }
            } else if meta.is_symlink() {
                if let Ok(target) = std::fs::read_link(&path) {
                    self.bytes(target.as_os_str().as_bytes())?;
                }
            } else if meta.is_file() && (self.sizes.contains(&None) || self.sizes.contains(&Some(meta.len()))) {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.missing.contains(&hash::of_bytes(bytes)) {
            let put = self.writer.put_bytes(bytes)?;
            self.note(put.id);
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        // Changed, unreadable or gone: not the file that is sought.
        let Ok((id, _)) = take_named(path, Sink::HashOnly, &mut self.buffer) else { return Ok(()) };
        if !self.missing.contains(&id) {
            return Ok(());
        }
        match take_named(path, Sink::Store(self.writer), &mut self.buffer) {
            Ok((id, _)) => self.note(id),
            Err(error) if error.path().is_some_and(|at: &Path| at == path) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn note(&mut self, id: ObjectId) {
        if self.missing.remove(&id) {
            self.found.insert(id);
        }
    }
}
