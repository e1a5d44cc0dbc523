//! Reading manifests, strictly.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde::Deserialize;

use super::{Entry, Manifest, Node, plain};
use crate::error::{Error, IoContext, Kind, Result};
use crate::history::History;
use crate::history::coverage::{Coverage, CoverageJson, Gap};
use crate::history::json;
use crate::store::id::{ObjectId, SnapshotId};
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::store::{hash, layout, read_document};
use crate::stream::quote;
use crate::stream::record::GapReason;
use crate::stream::recordset::contradiction;

#[derive(Deserialize)]
struct ManifestJson<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    parent: Option<Cow<'a, str>>,
    #[serde(borrow)]
    label: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    created_at: Cow<'a, str>,
    #[serde(borrow)]
    entries: Option<Vec<FileJson<'a>>>,
    #[serde(borrow)]
    skipped: Option<Vec<Cow<'a, str>>>,
    #[serde(borrow)]
    coverage: Option<CoverageJson<'a>>,
    #[serde(borrow)]
    workspace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    workspace_b64: Option<Cow<'a, str>>,
    #[serde(borrow)]
    links: Option<Vec<LinkJson<'a>>>,
    #[serde(borrow)]
    dirs: Option<Vec<DirJson<'a>>>,
    #[serde(borrow)]
    raw: Option<Vec<FileJson<'a>>>,
}

#[derive(Deserialize)]
struct FileJson<'a> {
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    path_b64: Option<Cow<'a, str>>,
    #[serde(borrow)]
    hash: Cow<'a, str>,
    mode: u32,
    size: u64,
}

#[derive(Deserialize)]
struct LinkJson<'a> {
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    path_b64: Option<Cow<'a, str>>,
    #[serde(borrow)]
    target: Option<Cow<'a, str>>,
    #[serde(borrow)]
    target_b64: Option<Cow<'a, str>>,
    #[serde(default)]
    mode: u32,
}

#[derive(Deserialize)]
struct DirJson<'a> {
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    path_b64: Option<Cow<'a, str>>,
    mode: u32,
}

fn path(text: Option<&str>, base64: Option<&str>) -> Result<RelPathBuf, String> {
    let name = json::name(text, base64).ok_or("an entry has no readable path")?;
    let checked = RelPath::new(&name).map_err(|problem| format!("{problem}: {}", quote::name(&name)))?;
    Ok(checked.to_owned())
}

impl FileJson<'_> {
    fn read(&self) -> Result<Entry, String> {
        let path = path(self.path.as_deref(), self.path_b64.as_deref())?;
        let Some(hash) = ObjectId::parse(self.hash.as_bytes()) else {
            return Err(format!("the hash of {path:?} is not 64 lower-case hex digits"));
        };
        Ok(Entry { path, node: Node::File { hash, size: self.size }, mode: self.mode & 0o777 })
    }
}

impl History {
    /// Reads a snapshot's manifest.
    ///
    /// # Errors
    /// [`Kind::NotFound`] when there is none, [`Kind::Damaged`] when any part of it is wrong.
    pub fn manifest(&self, id: &SnapshotId) -> Result<Manifest> {
        let file = layout::manifest(self.store().root(), self.run(), id);
        let bytes = read_document(&file).map_err(|error| {
            if error.kind() == Kind::NotFound {
                Error::not_found(format!("run '{}' has no snapshot '{id}'", self.run()))
                    .at(&file)
                    .hint("'wt-log' lists its snapshots")
            } else {
                error
            }
        })?;
        let manifest =
            parse(&bytes).map_err(|problem| Error::damaged(&file, problem).hint("'wt-fsck' examines the store"))?;
        if manifest.id != *id {
            return Err(Error::damaged(&file, format!("it says that it is snapshot '{}'", manifest.id)));
        }
        Ok(manifest)
    }
}

#[derive(Deserialize)]
struct PinJson<'a> {
    #[serde(borrow)]
    entries: Vec<PinEntryJson<'a>>,
}

#[derive(Deserialize)]
struct PinEntryJson<'a> {
    #[serde(borrow)]
    hash: Cow<'a, str>,
}

impl History {
    /// The hashes that pins of this run keep alive. A pin that cannot be read pins nothing here.
    ///
    /// # Errors
    /// [`Kind::Io`] when the directory cannot be listed.
    pub(crate) fn pinned(&self) -> Result<Vec<ObjectId>> {
        let dir = layout::snapshots(self.store().root(), self.run());
        let mut hashes = Vec::new();
        let listed = match std::fs::read_dir(&dir) {
            Ok(listed) => listed,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(hashes),
            Err(error) => return Err(Error::io("cannot list", &dir, &error)),
        };
        for entry in listed {
            let entry = entry.on("cannot list", &dir)?;
            let is_pin = entry.file_name().to_str().is_some_and(|name| name.starts_with(layout::PIN_PREFIX));
            if !is_pin {
                continue;
            }
            let Ok(bytes) = read_document(&entry.path()) else { continue };
            if let Ok(pin) = serde_json::from_slice::<PinJson<'_>>(&bytes) {
                hashes.extend(pin.entries.iter().filter_map(|entry| ObjectId::parse(entry.hash.as_bytes())));
            }
        }
        Ok(hashes)
    }
}

/// Reads the bytes of a manifest.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Manifest, String> {
    if bytes.is_empty() {
        return Err("the manifest is empty".into());
    }
    // Also where nothing is read: whoever changes a single member must find text.
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not a manifest: {error}"))?;
    if let Some((rest, entries)) = plain::split(bytes)
        && let Ok(json) = serde_json::from_slice::<ManifestJson<'_>>(&rest)
    {
        return read(&json, entries);
    }
    let json: ManifestJson<'_> = serde_json::from_str(text).map_err(|error| format!("not a manifest: {error}"))?;
    read(&json, Vec::new())
}

/// Takes everything over that stands in the document, and `entries` that were read from it already.
fn read(json: &ManifestJson<'_>, mut entries: Vec<Entry>) -> Result<Manifest, String> {
    let id = SnapshotId::parse(&json.id).ok_or("its id is malformed")?;
    let parent = match json.parent.as_deref() {
        None | Some("") => None,
        Some(text) => Some(SnapshotId::parse(text).ok_or("its parent is malformed")?),
    };
    for file in json.entries.iter().flatten() {
        if file.path.is_none() {
            return Err("an entry has no path".into());
        }
        entries.push(file.read()?);
    }
    for file in json.raw.iter().flatten() {
        entries.push(file.read()?);
    }
    for link in json.links.iter().flatten() {
        let path = path(link.path.as_deref(), link.path_b64.as_deref())?;
        let target = json::name(link.target.as_deref(), link.target_b64.as_deref());
        let target = target.filter(|target| !target.is_empty() && !target.contains(&0));
        let target = target.ok_or_else(|| format!("the link {path:?} has no readable target"))?;
        entries.push(Entry { path, node: Node::Link { target }, mode: link.mode & 0o777 });
    }
    for dir in json.dirs.iter().flatten() {
        let path = path(dir.path.as_deref(), dir.path_b64.as_deref())?;
        entries.push(Entry { path, node: Node::Dir, mode: dir.mode & 0o777 });
    }
    sort_by_path(&mut entries, |entry| &entry.path);
    let gaps = gaps(json)?;
    if let Some(problem) = contradiction(&entries, |entry| &entry.path) {
        return Err(problem);
    }
    if let Some(both) = gaps.iter().find(|gap| entries.binary_search_by(|e| e.path.cmp(&gap.path)).is_ok()) {
        return Err(format!("path {:?} is an entry and a gap", both.path));
    }
    let coverage = match &json.coverage {
        None => {
            // The original's way to say 0644 (facts 1.1); ours says what it means.
            for entry in entries.iter_mut().filter(|entry| entry.mode == 0) {
                entry.mode = 0o644;
            }
            Coverage::original()
        }
        Some(coverage) => Coverage::read(coverage)?,
    };
    Ok(Manifest {
        id,
        parent,
        label: json.label.as_deref().filter(|label| !label.is_empty()).map(str::to_owned),
        created_at: json.created_at.clone().into_owned(),
        entries,
        gaps,
        coverage,
        workspace: workspace(json.workspace.as_deref(), json.workspace_b64.as_deref())?,
    })
}

fn gaps(json: &ManifestJson<'_>) -> Result<Vec<Gap>, String> {
    let mut gaps = Vec::new();
    if let Some(coverage) = &json.coverage {
        for gap in &coverage.gaps {
            gaps.push(gap.read()?);
        }
    } else {
        // The original does not say why.
        for text in json.skipped.iter().flatten() {
            let path = path(Some(text), None)?;
            gaps.push(Gap { path, reason: GapReason::Other("skipped".into()), hides_subtree: false });
        }
    }
    sort_by_path(&mut gaps, |gap| &gap.path);
    gaps.dedup_by(|a, b| a.path == b.path && a.reason == b.reason);
    match contradiction(&gaps, |gap| &gap.path) {
        Some(problem) => Err(format!("gaps: {problem}")),
        None => Ok(gaps),
    }
}

fn sort_by_path<T>(items: &mut [T], path: impl Fn(&T) -> &RelPath) {
    if !items.is_sorted_by(|a, b| path(a) <= path(b)) {
        items.sort_by(|a, b| path(a).cmp(path(b)));
    }
}

fn workspace(text: Option<&str>, base64: Option<&str>) -> Result<Option<PathBuf>, String> {
    if text.is_none() && base64.is_none() {
        return Ok(None);
    }
    let name = json::name(text, base64).ok_or("its workspace is not readable")?;
    let path = PathBuf::from(OsString::from_vec(name));
    if path.is_absolute() { Ok(Some(path)) } else { Err("its workspace is not an absolute path".into()) }
}

/// Every hash that a manifest names outside `entries`: what its pin must list.
pub fn pinned_hashes(manifest: &Manifest) -> Vec<(ObjectId, u64)> {
    let rules = manifest.coverage.rules_object().map(|id| (id, 0));
    let others = manifest.entries.iter().filter_map(|entry| match &entry.node {
        Node::File { hash, size } if entry.path.to_str().is_none() => Some((*hash, *size)),
        Node::Link { target } => Some((hash::of_bytes(target), target.len() as u64)),
        Node::File { .. } | Node::Dir => None,
    });
    let mut pinned: Vec<_> = rules.into_iter().chain(others).collect();
    pinned.sort_unstable();
    pinned.dedup_by_key(|(id, _)| *id);
    if pinned.is_empty() {
        return pinned;
    }
    // Few stand here and many there: so the many are not gathered, but looked for among the few.
    let mut is_captured = vec![false; pinned.len()];
    for (entry, hash, _) in manifest.files() {
        if let Ok(place) = pinned.binary_search_by_key(&hash, |(id, _)| *id)
            && entry.path.to_str().is_some()
            && let Some(captured) = is_captured.get_mut(place)
        {
            *captured = true;
        }
    }
    let mut captured = is_captured.into_iter();
    pinned.retain(|_| captured.next() == Some(false));
    pinned
}
