//! `attachments/<name>/`: files that people and tools gave to a run (facts 4.3).
//!
//! ```text
//! attachments/<name>/<original_filename>   the bytes
//! attachments/<name>/meta.json             {name, original_filename, mime, size, sha256, created_at, storage_ref}
//! ```
//!
//! The sidecars are the truth, and the member `attachments` of run.json mirrors them. Bytes come first, then the sidecar,
//! then the mirror, all under one lock; a directory without sidecar is no attachment. Type, size and hash are measured, never
//! believed. A file that is called like the sidecar is stored as `_meta.json`, under which name the original finds it; what it
//! was called is kept in `uploaded_as`.
//!
//! * [`upload`]: content that comes in, and its limits.
//! * [`mime`]: what kind of content it is.
//! * [`sign`]: links that are good for a while.

pub mod mime;
pub mod sign;
pub mod upload;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use super::access::{Indexed, Writing, components};
use super::document;
use super::events::source;
use super::json::Json;
use super::record;
use crate::error::{Error, IoContext, Kind, Result};
use crate::store::component::{self, Component};
use crate::store::fsio::{self, tree};
use crate::store::hash::{Hasher, of_bytes};
use crate::store::id::{ObjectId, RunId};
use crate::store::{Store, layout};
use crate::stream::quote;

/// The members of a sidecar in the order in which the original writes them; the last one is ours.
const ORDER: &[&str] =
    &["name", "original_filename", "mime", "size", "sha256", "created_at", "storage_ref", "uploaded_as"];
/// Longest file name, in bytes.
const FILE_NAME_BYTES_MAX: usize = 255;
/// Content up to this many bytes is checked before the first one is given out.
const CHECKED_FIRST_BYTES_MAX: u64 = 1 << 20;
/// How much is read at once, in bytes.
const BLOCK_BYTES: usize = 128 * 1024;

/// The base name of what a file was called, if it can be one.
///
/// # Errors
/// [`Kind::Usage`].
pub fn file_name(given: &str) -> Result<String> {
    let name = given.rsplit(['/', '\\']).next().unwrap_or(given);
    let flaw = if name.len() > FILE_NAME_BYTES_MAX {
        Some("is longer than 255 bytes")
    } else if name.len() > 250 {
        // So long as a file name may be, and longer than a component: only its dots and characters count.
        name.split_at_checked(200).and_then(|(a, b)| component::flaw(a).or_else(|| component::flaw(b)))
    } else {
        component::flaw(name)
    };
    match flaw {
        None => Ok(name.to_owned()),
        Some(flaw) => {
            let shown = given.chars().take(64).collect::<String>();
            Err(Error::usage(format!("file name {} {flaw}", quote::name(shown.as_bytes())))
                .hint("name it with --filename"))
        }
    }
}

/// The name under which the bytes of a file lie: its own, unless the sidecar has that, on whatever file system.
fn stored_name(file_name: &str) -> String {
    let is_sidecar = |name: &str| name.to_uppercase() == layout::SIDECAR_NAME.to_uppercase();
    if is_sidecar(file_name) { format!("_{file_name}") } else { file_name.to_owned() }
}

/// Reads a sidecar.
///
/// # Errors
/// [`Kind::NotFound`] where there is no such attachment, [`Kind::Damaged`].
pub fn read(store: &Store, run: &RunId, name: &Component) -> Result<Json> {
    let path = layout::attachment_sidecar(store.root(), run, name);
    document::read_if_there(&path)?.ok_or_else(|| absent(name, &path))
}

fn absent(name: &Component, path: &Path) -> Error {
    Error::not_found(format!("there is no attachment {}", quote::name(name.as_str().as_bytes())))
        .at(path)
        .hint("'run-attachment list' shows those that there are")
}

/// All attachments by name, each with its sidecar, or what is wrong with it.
///
/// # Errors
/// [`Kind::Io`].
pub fn list(store: &Store, run: &RunId) -> Result<Vec<(Component, Result<Json>)>> {
    let mut found = Vec::new();
    for name in components(&layout::attachments(store.root(), run), "")? {
        match read(store, run, &name) {
            Err(error) if error.kind() == Kind::NotFound || error.is_io(std::io::ErrorKind::NotADirectory) => {}
            sidecar => found.push((name, sidecar)),
        }
    }
    Ok(found)
}

/// The names of everything that is or was to be an attachment, also without a sidecar.
///
/// # Errors
/// [`Kind::Io`].
pub fn names(store: &Store, run: &RunId) -> Result<Vec<Component>> {
    components(&layout::attachments(store.root(), run), "")
}

/// Where the bytes of an attachment lie: under the base name of what the sidecar calls the file, else under its own name.
fn bytes_path(store: &Store, run: &RunId, name: &Component, sidecar: &Json) -> Result<PathBuf> {
    let called = sidecar.text_of("original_filename");
    let file = if called.is_empty() { name.as_str().to_owned() } else { file_name(&called)? };
    let path = layout::attachment(store.root(), run, name).join(&file);
    if file == layout::SIDECAR_NAME {
        return Err(Error::damaged(
            path,
            "the sidecar of the attachment was written over its bytes, which are lost",
        )
        .hint("remove the attachment, and add the file again"));
    }
    Ok(path)
}

/// An attachment that is open.
pub struct Content {
    file: File,
    path: PathBuf,
    size: Option<u64>,
    sha256: Option<ObjectId>,
}

/// Opens the bytes of an attachment.
///
/// # Errors
/// [`Kind::NotFound`] when sidecar or bytes are not there, [`Kind::Damaged`].
pub fn open(store: &Store, run: &RunId, name: &Component) -> Result<Content> {
    let sidecar = read(store, run, name)?;
    let path = bytes_path(store, run, name, &sidecar)?;
    let file = source::open(&path)?.ok_or_else(|| absent(name, &path))?;
    let size = sidecar.get("size").and_then(Json::as_integer).and_then(|size| u64::try_from(size).ok());
    let sha256 = ObjectId::parse(sidecar.text_of("sha256").as_bytes());
    Ok(Content { file, path, size, sha256 })
}

impl Content {
    /// Gives out all bytes. Up to a megabyte is checked against the sidecar first; of more, the check comes at the end.
    ///
    /// # Errors
    /// [`Kind::Damaged`] when they are not those that the sidecar describes, [`Kind::Io`].
    pub fn copy(mut self, out: &mut dyn Write) -> Result<u64> {
        let len = source::len(&self.file).on("cannot examine", &self.path)?;
        if len <= CHECKED_FIRST_BYTES_MAX {
            let mut bytes = Vec::new();
            let limited = &mut (&mut self.file).take(CHECKED_FIRST_BYTES_MAX + 1);
            limited.read_to_end(&mut bytes).on("cannot read", &self.path)?;
            self.check(bytes.len() as u64, of_bytes(&bytes))?;
            out.write_all(&bytes).on("cannot write", "the output")?;
            return Ok(bytes.len() as u64);
        }
        let (mut block, mut hasher, mut total) = (vec![0; BLOCK_BYTES], Hasher::default(), 0);
        loop {
            let count = match self.file.read(&mut block) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                other => other.on("cannot read", &self.path)?,
            };
            if count == 0 {
                self.check(total, hasher.finish())?;
                return Ok(total);
            }
            let bytes = block.get(..count).unwrap_or_default();
            hasher.update(bytes);
            total += count as u64;
            out.write_all(bytes).on("cannot write", "the output")?;
        }
    }

    fn check(&self, size: u64, sha256: ObjectId) -> Result<()> {
        let is_right = self.size.is_none_or(|wanted| wanted == size) && self.sha256.is_none_or(|id| id == sha256);
        if is_right {
            return Ok(());
        }
        Err(Error::damaged(&self.path, "the bytes are not those that its sidecar describes")
            .hint("remove the attachment, and add the file again"))
    }
}

/// Removes an attachment, with what lies around in its directory; whether there was one.
///
/// # Errors
/// Those of [`Writing::begin`] and [`Writing::index`].
pub fn remove(store: &Store, run: &RunId, name: &Component) -> Result<bool> {
    if !layout::run(store.root(), run).is_dir() {
        return Ok(false);
    }
    let writing = Writing::begin(store, run)?;
    let was_there = remove_files(store, run, name)?;
    let dropped = writing.index(|json| {
        let dropped = json.get_mut("attachments").is_some_and(|mirror| mirror.remove(name.as_str()).is_some());
        if json.get("attachments").is_some_and(Json::is_zero) {
            json.remove("attachments");
        }
        dropped
    })?;
    Ok(was_there || dropped == Indexed::Changed)
}

/// The sidecar goes first: from then on it is no attachment, whatever happens. Of a link only the link goes, as with a
/// deletion: what it points to belongs to others.
fn remove_files(store: &Store, run: &RunId, name: &Component) -> Result<bool> {
    let path = layout::attachment(store.root(), run, name);
    let parent_path = layout::attachments(store.root(), run);
    let parent = match fsio::open_store_dir(&parent_path) {
        Err(error) if is_no_directory(&error) => return Ok(false),
        other => other.on("cannot open", &parent_path)?,
    };
    let entry = name.as_str().as_bytes();
    if tree::is_link(&path).on("cannot examine", &path)? {
        fsio::unlink(parent.as_fd(), entry).on("cannot remove", &path)?;
    } else {
        let dir = match fsio::open_dir(parent.as_fd(), entry) {
            Err(error) if is_no_directory(&error) => return Ok(false),
            other => other.on("cannot open", &path)?,
        };
        match fsio::unlink(dir.as_fd(), layout::SIDECAR_NAME.as_bytes()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            // Whatever else is called like it goes with the rest.
            Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => {}
            other => {
                other.on("cannot remove", path.join(layout::SIDECAR_NAME))?;
                fsio::document::flush_dir(&path, store.durability())?;
            }
        }
        tree::empty(dir.as_fd(), &path, b"", layout::TEMP_PREFIX, store.durability())?;
        fsio::remove_dir(parent.as_fd(), entry).on("cannot remove", &path)?;
    }
    fsio::document::flush_dir(&parent_path, store.durability())?;
    Ok(true)
}

fn is_no_directory(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Refuses to put an attachment where a link stands: its bytes would land with others.
fn refuse_link(store: &Store, run: &RunId, name: &Component) -> Result<()> {
    let path = layout::attachment(store.root(), run, name);
    if !tree::is_link(&path).on("cannot examine", &path)? {
        return Ok(());
    }
    Err(Error::refused(format!("the attachment's directory {} is a symbolic link", quote::path(&path)))
        .at(path)
        .hint("choose another name; 'run-attachment remove' removes the link and nothing else"))
}

/// Makes the mirror in run.json say what the sidecars say. Gives their number, and those that cannot be read.
///
/// # Errors
/// [`Kind::NotFound`] where there is no run.json; those of [`Writing::begin`] and [`Writing::index`].
pub fn reindex(store: &Store, run: &RunId) -> Result<(usize, Vec<Error>, Indexed)> {
    let writing = Writing::begin(store, run)?;
    let (mut sidecars, mut unreadable) = (Vec::new(), Vec::new());
    for (name, sidecar) in list(store, run)? {
        match sidecar {
            Ok(sidecar) => sidecars.push((name.as_str().to_owned(), sidecar)),
            Err(error) => unreadable.push(error),
        }
    }
    let count = sidecars.len();
    let indexed = writing.index(|json| {
        let stored = json.get("attachments").cloned().unwrap_or_default();
        let rebuilt = Json::Object(
            sidecars
                .into_iter()
                .map(|(name, sidecar)| (name.clone(), mirrored(sidecar, stored.get(&name))))
                .collect(),
        );
        if rebuilt.is_same(&stored) || (rebuilt.is_zero() && stored.is_zero()) {
            return false;
        }
        if rebuilt.is_zero() {
            json.remove("attachments");
        } else {
            json.set_in_order("attachments", rebuilt, record::ORDER);
        }
        true
    })?;
    Ok((count, unreadable, indexed))
}

/// A record of the mirror: the sidecar, and what only the record had.
fn mirrored(mut sidecar: Json, record: Option<&Json>) -> Json {
    for (key, value) in record.map(Json::members).unwrap_or_default() {
        if sidecar.get(key).is_none() && !ORDER.contains(&key.as_str()) {
            sidecar.set(key, value.clone());
        }
    }
    sidecar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_by_its_last_component() {
        assert_eq!(file_name("a/b\\c.txt").unwrap(), "c.txt");
        assert_eq!(file_name(&format!("/x/{}", "\u{e9}".repeat(127))).unwrap().len(), 254);
        for bad in
            ["", "a/", "..", ".", "a/..", "a..b", "a\nb", &"x".repeat(256), &format!("{}..", "x".repeat(253))]
        {
            assert!(file_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn no_file_takes_the_name_of_the_sidecar() {
        for (name, stored) in
            [("meta.json", "_meta.json"), ("META.Json", "_META.Json"), ("meta.j\u{17f}on", "_meta.j\u{17f}on")]
        {
            assert_eq!(stored_name(name), stored);
        }
        assert_eq!(stored_name("a.json"), "a.json");
    }
}
