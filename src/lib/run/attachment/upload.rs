//! Content that comes in: measured while it is gathered, judged as a whole, and only then put in place.
//!
//! Several files come in together or not at all.

use std::collections::BTreeMap;
use std::io::Read;
use std::time::{Duration, SystemTime};

use super::mime::{self, SNIFF_BYTES};
use super::{BLOCK_BYTES, list, refuse_link, remove_files, stored_name};
use crate::clock;
use crate::error::{Error, IoContext, Kind, Result};
use crate::run::access::{self, Writing};
use crate::run::document;
use crate::run::json::Json;
use crate::run::record;
use crate::store::component::Component;
use crate::store::fsio::document::Published;
use crate::store::fsio::staged::Staged;
use crate::store::hash::Hasher;
use crate::store::id::{ObjectId, RunId};
use crate::store::{Store, fsio, layout};
use crate::stream::quote;

/// Largest file, in bytes.
pub const FILE_BYTES_MAX: u64 = 50 << 20;
/// So many of the largest files may a run have in total.
pub const TOTAL_IN_FILES_MAX: u64 = 5;
/// Most files of a run.
pub const FILES_MAX: usize = 20;
/// What types are taken; `*` stands for anything within a segment.
pub const ALLOWED: [&str; 16] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "application/pdf",
    "application/json",
    "application/yaml",
    "application/x-yaml",
    "application/zip",
    "application/gzip",
    "application/x-gzip",
    "application/x-tar",
    "text/plain",
    "text/markdown",
    "text/csv",
    "application/octet-stream",
];
/// What a killed upload left is taken away after this long.
const STALE: Duration = Duration::from_secs(3600);

/// What may be added.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Largest file, in bytes.
    pub file_bytes_max: u64,
    /// All files of the run, in bytes.
    pub total_bytes_max: u64,
    /// Files of the run.
    pub files_max: usize,
    /// Patterns of types.
    pub allowed: Vec<String>,
}

/// A file that is to be added.
pub struct Item {
    /// The name of the attachment.
    pub name: Component,
    /// What the file is called, a base name.
    pub file_name: String,
    /// Its bytes.
    pub content: Box<dyn Read>,
}

/// What became of the files.
pub struct Added {
    /// Their sidecars, and whether each was added now.
    pub sidecars: Vec<(Json, bool)>,
    /// Why the mirror in run.json does not have them, if so.
    pub unindexed: Option<Error>,
}

/// A file that was gathered.
struct Gathered {
    name: Component,
    file_name: String,
    staged: Staged,
    size: u64,
    sha256: ObjectId,
    mime: &'static str,
}

/// Adds files. One that is there already with the same content and name is a success.
///
/// # Errors
/// [`Kind::Limit`], [`Kind::Refused`] for a type that is not allowed, [`Kind::Conflict`] when a name is taken by other
/// content, [`Kind::Usage`] for an empty file; those of [`Writing::begin`]. Nothing is added then.
pub fn add(store: &Store, run: &RunId, items: Vec<Item>, limits: &Limits) -> Result<Added> {
    for (number, item) in items.iter().enumerate() {
        if items.iter().skip(number + 1).any(|other| other.name == item.name) {
            let name = quote::name(item.name.as_str().as_bytes());
            return Err(Error::usage(format!("the name {name} is given to two files")));
        }
    }
    access::prepare(store, run)?;
    sweep(store, run);
    let gathered: Vec<Gathered> =
        items.into_iter().map(|item| gather(store, run, item, limits)).collect::<Result<_>>()?;
    let writing = Writing::begin(store, run)?;
    let mut there: BTreeMap<Component, Json> = BTreeMap::new();
    for (name, sidecar) in list(store, run)? {
        there.insert(name, sidecar?);
    }
    let mut fresh = Vec::new();
    let mut sidecars = Vec::new();
    for gathered in gathered {
        if let Some(sidecar) = there.get(&gathered.name) {
            refuse_other(sidecar, &gathered)?;
            sidecars.push((sidecar.clone(), false));
        } else {
            refuse_link(store, run, &gathered.name)?;
            fresh.push(gathered);
        }
    }
    refuse_too_much(&there, &fresh, limits)?;
    for json in promote(store, run, fresh)? {
        sidecars.push((json, true));
    }
    let indexed = writing.index(|json| {
        let mut mirror = json.get("attachments").cloned().unwrap_or_default();
        let before = mirror.clone();
        for (sidecar, _) in &sidecars {
            let name = sidecar.text_of("name");
            let record = super::mirrored(sidecar.clone(), mirror.get(&name));
            mirror.set(&name, record);
        }
        let changed = !mirror.is_same(&before);
        json.set_in_order("attachments", mirror, record::ORDER);
        changed
    });
    Ok(Added { sidecars, unindexed: indexed.err() })
}

/// Takes in one file, to the end or to the limit.
fn gather(store: &Store, run: &RunId, item: Item, limits: &Limits) -> Result<Gathered> {
    let Item { name, file_name, mut content } = item;
    let shown = quote::name(file_name.as_bytes());
    let mut staged = Staged::begin(&layout::run(store.root(), run), layout::UPLOAD_PREFIX)?;
    let (mut head, mut hasher, mut size) = (Vec::new(), Hasher::default(), 0_u64);
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let count = match content.read(&mut block) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            other => other.on("cannot read", &file_name)?,
        };
        let bytes = block.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        size += count as u64;
        if size > limits.file_bytes_max {
            return Err(Error::limit(format!("{shown} has more than {} bytes", limits.file_bytes_max))
                .hint("allow more with --max-bytes"));
        }
        let wanted = SNIFF_BYTES.saturating_sub(head.len()).min(count);
        head.extend_from_slice(bytes.get(..wanted).unwrap_or_default());
        hasher.update(bytes);
        staged.write(bytes)?;
    }
    if size == 0 {
        return Err(Error::usage(format!("{shown} is empty")).hint("an attachment has at least one byte"));
    }
    let mime = mime::sniff(&head, &file_name);
    if !limits.allowed.iter().any(|pattern| mime::matches(pattern, mime)) {
        return Err(
            Error::refused(format!("{shown} is {mime}, which is not taken")).hint("allow it with --allow PATTERN")
        );
    }
    staged.flush(store.durability())?;
    Ok(Gathered { name, file_name, staged, size, sha256: hasher.finish(), mime })
}

fn refuse_other(sidecar: &Json, gathered: &Gathered) -> Result<()> {
    let is_same = sidecar.text_of("sha256") == gathered.sha256.to_string()
        && sidecar.text_of("original_filename") == stored_name(&gathered.file_name);
    if is_same {
        return Ok(());
    }
    let name = quote::name(gathered.name.as_str().as_bytes());
    Err(Error::conflict(format!("there is another attachment {name}, of {}", sidecar.text_of("created_at")))
        .hint("choose another name, or remove that one first"))
}

fn refuse_too_much(there: &BTreeMap<Component, Json>, fresh: &[Gathered], limits: &Limits) -> Result<()> {
    let files = there.len() + fresh.len();
    if !fresh.is_empty() && files > limits.files_max {
        return Err(Error::limit(format!(
            "the run would have {files} attachments, and {} are the limit",
            limits.files_max
        ))
        .hint("remove some, or allow more with --max-files"));
    }
    let stored = there.values().filter_map(|sidecar| u64::try_from(sidecar.get("size")?.as_integer()?).ok());
    let total = stored.chain(fresh.iter().map(|gathered| gathered.size)).fold(0_u64, u64::saturating_add);
    if !fresh.is_empty() && total > limits.total_bytes_max {
        return Err(Error::limit(format!(
            "the attachments of the run would have {total} bytes, and {} are the limit",
            limits.total_bytes_max
        ))
        .hint("remove some, or allow more with --max-total"));
    }
    Ok(())
}

/// Puts files in place one by one; where one fails those before it are taken back.
fn promote(store: &Store, run: &RunId, fresh: Vec<Gathered>) -> Result<Vec<Json>> {
    let mut done: Vec<(Component, Json)> = Vec::new();
    for gathered in fresh {
        let name = gathered.name.clone();
        match place(store, run, gathered) {
            Ok(json) => done.push((name, json)),
            Err(error) => {
                for name in done.iter().map(|(name, _)| name).chain([&name]) {
                    // What stays has no sidecar, or is a whole attachment; the reason is worth more.
                    let _ = remove_files(store, run, name);
                }
                return Err(error);
            }
        }
    }
    Ok(done.into_iter().map(|(_, json)| json).collect())
}

fn place(store: &Store, run: &RunId, gathered: Gathered) -> Result<Json> {
    let Gathered { name, file_name, staged, size, sha256, mime } = gathered;
    let stored = stored_name(&file_name);
    let mut json = Json::object([
        ("name", Json::string(name.as_str())),
        ("original_filename", Json::string(&stored)),
        ("mime", Json::string(mime)),
        ("size", Json::integer(i64::try_from(size).unwrap_or(i64::MAX))),
        ("sha256", Json::string(&sha256.to_string())),
        ("created_at", Json::string(&clock::rfc3339(clock::now_ns()))),
        ("storage_ref", Json::string(&layout::attachment_reference(run, &name, &stored))),
    ]);
    if stored != file_name {
        json.set("uploaded_as", Json::string(&file_name));
    }
    let dir = layout::attachment(store.root(), run, &name);
    store.create_dir(&dir)?;
    staged.publish(&dir.join(&stored), store.durability())?;
    let path = layout::attachment_sidecar(store.root(), run, &name);
    match document::create(store, &path, &json)? {
        Published::New => Ok(json),
        Published::Exists => {
            Err(Error::new(Kind::Conflict, format!("{} has just been written", quote::path(&path)))
                .hint("run the command again"))
        }
    }
}

/// Takes away what killed uploads left in the run's directory.
fn sweep(store: &Store, run: &RunId) {
    let path = layout::run(store.root(), run);
    let (Ok(entries), Ok(dir)) = (std::fs::read_dir(&path), fsio::open_store_dir(&path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let is_stale =
            modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > STALE));
        if name.starts_with(layout::UPLOAD_PREFIX.as_bytes()) && is_stale {
            // One that cannot be removed is tried again the next time.
            let _ = fsio::unlink(std::os::fd::AsFd::as_fd(&dir), name);
        }
    }
}
