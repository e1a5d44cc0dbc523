//! The documents of one run: manifests, pins, and what else lies beside them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::objects::Named;
use super::{Report, Severity, unreadable};
use crate::error::Kind;
use crate::history::hashes;
use crate::history::manifest::{self, Manifest, Node, pinned_hashes};
use crate::store::id::{ObjectId, SnapshotId};
use crate::store::{hash, layout, read_document};
use crate::stream::quote;

/// What is known of a run's snapshots.
#[derive(Default)]
pub(super) struct Snapshots {
    /// The directory they lie in.
    pub(super) dir: PathBuf,
    /// Those that could be read, with their parents.
    pub(super) parents: BTreeMap<SnapshotId, Option<SnapshotId>>,
    /// Those that could not.
    pub(super) damaged: HashSet<SnapshotId>,
}

impl Snapshots {
    pub(super) fn path(&self, id: &SnapshotId) -> PathBuf {
        self.dir.join(format!("{id}.json"))
    }
}

pub(super) fn check(run: &Path, named: &mut Named, report: &mut Report) -> Snapshots {
    let (history, dir) = (layout::history_below(run), layout::snapshots_below(run));
    let mut snapshots = Snapshots { dir: dir.clone(), ..Snapshots::default() };
    report.check_mode(run);
    report.check_mode(&history);
    for name in list(&history, report) {
        let path = history.join(std::ffi::OsStr::from_bytes(&name));
        report.check_mode(&path);
        if name.starts_with(layout::TEMP_PREFIX.as_bytes()) {
            report.add(
                Severity::Note,
                "temp",
                path,
                "left by a killed program",
                "wt-prune removes it when it is old",
            );
        } else if !layout::is_history_name(&name) && !is_kept(&name) {
            report.add(Severity::Note, "stranger", path, "not ours", "nothing to do");
        }
    }
    let mut pins = Vec::new();
    let mut pinned = BTreeMap::new();
    for name in list(&dir, report) {
        let path = dir.join(std::ffi::OsStr::from_bytes(&name));
        report.check_mode(&path);
        let stem = std::str::from_utf8(&name).ok().and_then(|name| name.strip_suffix(".json"));
        if name.starts_with(layout::TEMP_PREFIX.as_bytes()) {
            report.add(
                Severity::Note,
                "temp",
                path,
                "left by a killed program",
                "wt-prune removes it when it is old",
            );
        } else if is_kept(&name) {
            report.add(Severity::Note, "put-aside", path, "a damaged document that was put aside", "nothing to do");
        } else if let Some(id) = stem.and_then(SnapshotId::parse) {
            report.documents += 1;
            match read_manifest(&path, &id, named, report) {
                Some(manifest) => {
                    pinned.insert(id.clone(), pinned_hashes(&manifest));
                    snapshots.parents.insert(id, manifest.parent);
                }
                None => drop(snapshots.damaged.insert(id)),
            }
        } else if name.ends_with(b".json") {
            report.documents += 1;
            pins.push((name, path));
        } else {
            report.add(Severity::Note, "stranger", path, "not ours", "nothing to do");
        }
    }
    let mut listed = BTreeMap::new();
    for (name, path) in pins {
        if let Some(ids) = read_pin(&path, named, report) {
            check_owner(&name, &path, &snapshots, report);
            listed.insert(path, ids);
        }
    }
    check_pinned(&snapshots, &pinned, &listed, report);
    snapshots
}

fn is_kept(name: &[u8]) -> bool {
    let holds = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
    !name.ends_with(b".json") && (holds(layout::QUARANTINE_SUFFIX.as_bytes()) || holds(b".broken-"))
}

/// The names in a directory, sorted; an absent one is empty.
fn list(dir: &Path, report: &mut Report) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    match std::fs::read_dir(dir) {
        Ok(listed) => {
            for entry in listed {
                match entry {
                    Ok(entry) => names.push(entry.file_name().as_bytes().to_vec()),
                    Err(error) => unreadable(report, dir, &error),
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && std::fs::symlink_metadata(dir).is_err() => {}
        Err(error) => unreadable(report, dir, &error),
    }
    names.sort_unstable();
    names
}

fn damaged(report: &mut Report, code: &'static str, path: &Path, bytes: &[u8], detail: String) {
    if hashes::is_newer(bytes) {
        let repair = "use the version of these programs that wrote it; prune removes nothing until then";
        return report.add(Severity::Error, "document-newer", path, detail, repair);
    }
    let repair = "wt-fsck --quarantine puts it aside and keeps every object that it names";
    report.add(Severity::Error, code, path, detail, repair);
}

fn read_manifest(path: &Path, id: &SnapshotId, named: &mut Named, report: &mut Report) -> Option<Manifest> {
    let bytes = match read_document(path) {
        Ok(bytes) => bytes,
        // Forgotten since it was listed.
        Err(error) if error.kind() == Kind::NotFound && std::fs::symlink_metadata(path).is_err() => return None,
        Err(error) => {
            damaged(report, "manifest-damaged", path, b"", error.to_string());
            return None;
        }
    };
    // What even a damaged one names is looked at, so that nobody thinks it unneeded.
    let parsed = hashes::for_each_named(&bytes, &mut |_| {}).and_then(|()| manifest::parse(&bytes));
    let manifest = match parsed {
        Ok(manifest) if manifest.id == *id => manifest,
        Ok(manifest) => {
            damaged(
                report,
                "manifest-damaged",
                path,
                &bytes,
                format!("it says that it is snapshot '{}'", manifest.id),
            );
            return None;
        }
        Err(problem) => {
            damaged(report, "manifest-damaged", path, &bytes, problem);
            return None;
        }
    };
    if let Some(problem) = disorder(&bytes) {
        report.add(Severity::Warning, "manifest-order", path, problem, "nothing to do; readers sort it");
    }
    let source = named.source(path);
    for entry in &manifest.entries {
        match &entry.node {
            Node::File { hash, size } => named.add(*hash, Some(*size), source),
            Node::Link { target } => named.add(hash::of_bytes(target), Some(target.len() as u64), source),
            Node::Dir => {}
        }
    }
    if let Some(rules) = manifest.coverage.rules_object() {
        named.add(rules, None, source);
    }
    Some(manifest)
}

#[derive(Deserialize)]
struct Names<'a> {
    #[serde(borrow)]
    entries: Option<Vec<Name<'a>>>,
    #[serde(borrow)]
    skipped: Option<Vec<Cow<'a, str>>>,
}

#[derive(Deserialize)]
struct Name<'a> {
    #[serde(borrow, default)]
    path: Cow<'a, str>,
}

/// The original compares entries pairwise, so their order matters to it (facts 2.2).
fn disorder(bytes: &[u8]) -> Option<String> {
    let names: Names<'_> = serde_json::from_slice(bytes).ok()?;
    if names.entries.is_some_and(|entries| !entries.is_sorted_by(|a, b| a.path <= b.path)) {
        return Some("its entries are not sorted".into());
    }
    names.skipped.is_some_and(|skipped| !skipped.is_sorted()).then(|| "its skipped paths are not sorted".into())
}

/// The objects that a pin lists.
fn read_pin(path: &Path, named: &mut Named, report: &mut Report) -> Option<HashSet<ObjectId>> {
    let bytes = match read_document(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == Kind::NotFound && std::fs::symlink_metadata(path).is_err() => return None,
        Err(error) => {
            damaged(report, "pin-damaged", path, b"", error.to_string());
            return None;
        }
    };
    let mut ids = HashSet::new();
    if let Err(problem) = hashes::for_each_named(&bytes, &mut |id| {
        ids.insert(id);
    }) {
        damaged(report, "pin-damaged", path, &bytes, problem);
        return None;
    }
    let source = named.pin_source(path);
    for id in &ids {
        named.add(*id, None, source);
    }
    Some(ids)
}

/// Whether the snapshot that a pin belongs to is still there.
fn check_owner(name: &[u8], path: &Path, snapshots: &Snapshots, report: &mut Report) {
    let owner = std::str::from_utf8(name)
        .ok()
        .and_then(|name| name.strip_prefix(layout::PIN_PREFIX)?.strip_suffix(".json"))
        .and_then(SnapshotId::parse);
    let is_owned = owner.is_none_or(|id| snapshots.parents.contains_key(&id) || snapshots.damaged.contains(&id));
    if !is_owned {
        let detail = "its snapshot is gone; the objects that it lists stay";
        report.add(Severity::Note, "pin-alone", path, detail, "remove it if nobody wants them back");
    }
}

fn check_pinned(
    snapshots: &Snapshots,
    pinned: &BTreeMap<SnapshotId, Vec<(ObjectId, u64)>>,
    listed: &BTreeMap<PathBuf, HashSet<ObjectId>>,
    report: &mut Report,
) {
    for (id, wanted) in pinned {
        let path = snapshots.dir.join(format!("{}{id}.json", layout::PIN_PREFIX));
        let ids = listed.get(&path);
        let lacking = wanted.iter().filter(|(id, _)| !ids.is_some_and(|ids| ids.contains(id))).count();
        // A damaged pin has been reported already.
        if lacking > 0 && (ids.is_some() || std::fs::symlink_metadata(&path).is_err()) {
            let detail = format!(
                "{lacking} objects of snapshot '{id}' are safe from our prune only, not from the original's"
            );
            report.add(
                Severity::Warning,
                "pin-incomplete",
                path,
                quote::masked(detail.as_bytes()),
                "wt-fsck --rebuild-index writes it again",
            );
        }
    }
}
