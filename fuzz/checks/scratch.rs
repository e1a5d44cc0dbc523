//! Stores for checks that need files, in memory where the system has such a place.

use std::path::{Path, PathBuf};
use std::time::Duration;

use workspacetrack::store::fsio::Durability;
use workspacetrack::store::lock::Patience;
use workspacetrack::store::{Settings, Store};

/// The store of one check in this process, and its directory; one thread at a time uses it.
pub(super) fn store(check: &str) -> (Store, PathBuf) {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    let root = base.join(format!("wt-fuzz-{}-{check}", std::process::id()));
    std::fs::create_dir_all(root.join("runs/r/workspace/snapshots")).unwrap();
    let patience = Patience { limit: Duration::from_secs(1), notice: |_| {} };
    (Store::new(root.clone(), Settings { durability: Durability::Off, patience }), root)
}
