//! [`Stored`]: a run's part of a store, read by the shapes of the original and by nothing of ours.
//!
//! The structures have exactly the members that the original reads (facts 1.2 and 1.4). What it can read, it must be
//! able to use: [`Stored::check`] is the promise that labels, manifests and objects keep at every moment.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// A manifest, as the original sees it. A pin is one without an id.
#[derive(Deserialize, Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    #[serde(default)]
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) parent: String,
    #[serde(default)]
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) created_at: String,
    pub(crate) entries: Option<Vec<Entry>>,
    #[serde(default)]
    pub(crate) skipped: Vec<String>,
}

/// One file of a manifest.
#[derive(Deserialize, Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) hash: String,
    pub(crate) mode: u32,
    pub(crate) size: i64,
}

/// An index, as the original sees it.
#[derive(Deserialize, Debug, Default)]
pub(crate) struct Index {
    pub(crate) entries: BTreeMap<String, Row>,
    #[serde(default)]
    pub(crate) head: String,
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) overflowed: bool,
}

/// One row of the stat cache, as the original sees it.
#[derive(Deserialize, Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) size: i64,
    pub(crate) mod_nano: i64,
    pub(crate) hash: String,
}

/// A run's history and the pool, on disk.
pub(crate) struct Stored {
    store: PathBuf,
    history: PathBuf,
}

impl Stored {
    pub(crate) fn open(store: &Path, run: &str) -> Self {
        Self { store: store.to_owned(), history: store.join("runs").join(run).join("workspace") }
    }

    /// The file of a manifest.
    pub(crate) fn manifest_path(&self, id: &str) -> PathBuf {
        self.history.join("snapshots").join(format!("{id}.json"))
    }

    /// The file of the index.
    pub(crate) fn index_path(&self) -> PathBuf {
        self.history.join("index.json")
    }

    /// The file of the label journal.
    pub(crate) fn journal_path(&self) -> PathBuf {
        self.history.join("labels.log")
    }

    /// The file of an object.
    pub(crate) fn object_path(&self, hash: &str) -> PathBuf {
        assert!(hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "hash {hash:?}");
        self.store.join("workspace-objects").join(&hash[..2]).join(&hash[2..])
    }

    /// The object of a content.
    pub(crate) fn object_of(&self, content: impl AsRef<[u8]>) -> PathBuf {
        self.object_path(&oid(content))
    }

    pub(crate) fn index(&self) -> Index {
        match std::fs::read(self.index_path()) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap(),
            Err(_) => Index::default(),
        }
    }

    pub(crate) fn manifest(&self, id: &str) -> Manifest {
        serde_json::from_slice(&std::fs::read(self.manifest_path(id)).unwrap()).unwrap()
    }

    /// A manifest with all its members.
    pub(crate) fn manifest_json(&self, id: &str) -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(self.manifest_path(id)).unwrap()).unwrap()
    }

    /// The lines of the journal, as `label old new`.
    pub(crate) fn journal(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.journal_path()).unwrap_or_default();
        let mut last = 0;
        text.lines()
            .filter(|line| !line.is_empty())
            .map(|line| {
                let mark: serde_json::Value = serde_json::from_str(line).unwrap();
                let seq = mark["seq"].as_u64().unwrap();
                assert!(seq > last, "the journal's numbers go up: {text}");
                last = seq;
                let id = |key: &str| mark[key].as_str().unwrap_or("-").to_owned();
                format!("{} {} {}", id("label"), id("old"), id("new"))
            })
            .collect()
    }

    /// Names of the files in the snapshots directory, sorted.
    pub(crate) fn snapshot_files(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.history.join("snapshots")) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Ids of all manifests, oldest first.
    pub(crate) fn ids(&self) -> Vec<String> {
        let names = self.snapshot_files().into_iter();
        names
            .filter(|name| !name.starts_with("pin-"))
            .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
            .collect()
    }

    /// Ids of all objects in the pool.
    pub(crate) fn objects(&self) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        for shard in std::fs::read_dir(self.store.join("workspace-objects")).into_iter().flatten() {
            let shard = shard.unwrap();
            if shard.file_type().unwrap().is_dir() {
                for object in std::fs::read_dir(shard.path()).unwrap() {
                    let rest = object.unwrap().file_name().into_string().unwrap();
                    ids.insert(format!("{}{rest}", shard.file_name().into_string().unwrap()));
                }
            }
        }
        ids
    }

    /// Temporary files anywhere below the store.
    pub(crate) fn temps(&self) -> Vec<String> {
        let tree = super::Tree::of(&self.store).paths();
        let is_temp = |path: &String| {
            path.rsplit('/')
                .next()
                .is_some_and(|name| name.starts_with(".obj-") || name.starts_with(".iterion-tmp-"))
        };
        tree.into_iter().filter(is_temp).collect()
    }

    /// Expects that whatever is named is there and whole: labels and head name manifests, those their parents, and all
    /// of them, pins too, only objects that have their bytes. Everything is private.
    #[track_caller]
    pub(crate) fn check(&self) {
        let index = self.index();
        for (label, id) in index.labels.iter().chain([(&"HEAD".to_owned(), &index.head)]) {
            assert!(
                id.is_empty() || self.manifest_path(id).exists(),
                "label {label} names {id}, which is not there"
            );
        }
        for name in self.snapshot_files() {
            if name.starts_with('.') && std::path::Path::new(&name).extension().is_none_or(|end| end != "json") {
                continue;
            }
            let bytes = std::fs::read(self.history.join("snapshots").join(&name)).unwrap();
            let manifest: Manifest =
                serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            self.check_manifest(&name, &manifest);
        }
        self.journal();
        for row in index.entries.values() {
            self.object_path(&row.hash);
        }
        if self.store.exists() {
            check_private(&self.store);
        }
    }

    #[track_caller]
    fn check_manifest(&self, name: &str, manifest: &Manifest) {
        let is_pin = name.starts_with("pin-");
        assert!(is_pin || name == format!("{}.json", manifest.id), "{name} says that it is {}", manifest.id);
        assert!(
            manifest.parent.is_empty() || self.manifest_path(&manifest.parent).exists(),
            "{name}: its parent {} is not there",
            manifest.parent
        );
        let entries = manifest.entries.clone().unwrap_or_default();
        assert!(
            entries.windows(2).all(|pair| pair[0].path.as_bytes() < pair[1].path.as_bytes()),
            "{name}: not sorted"
        );
        assert!(manifest.skipped.is_sorted(), "{name}: skipped is not sorted");
        for entry in entries {
            let path = self.object_path(&entry.hash);
            let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {}: {error}", entry.path));
            assert_eq!(oid(&bytes), entry.hash, "{name}: the object of {}", entry.path);
            assert!(is_pin || i64::try_from(bytes.len()) == Ok(entry.size), "{name}: the size of {}", entry.path);
        }
    }
}

/// The id of a content, by an implementation that is not ours.
pub(crate) fn oid(content: impl AsRef<[u8]>) -> String {
    hex::encode(Sha256::digest(content.as_ref()))
}

/// Expects that files have 0600 and directories 0700; the sticky bit marks a name that a killed program did not flush.
#[track_caller]
pub(crate) fn check_private(dir: &Path) {
    for entry in std::iter::once(dir.to_owned()).chain(below(dir)) {
        let meta = entry.symlink_metadata().unwrap();
        let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
        assert!(meta.mode() & 0o6777 == wanted, "{} has mode {:o}", entry.display(), meta.mode() & 0o7777);
    }
}

fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(below(&path));
        }
        found.push(path);
    }
    found
}
