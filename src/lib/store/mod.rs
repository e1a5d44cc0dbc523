//! The floor of the house: names as types, where things lie, and the only code that writes.
//!
//! This room knows nothing of workspaces, rules, snapshots or runs' documents.

pub mod component;
pub mod engine_lock;
pub mod fsio;
pub mod hash;
pub mod id;
pub mod layout;
pub mod lock;
pub mod memo;
pub mod network;
pub mod pool;
pub mod process;
pub mod relpath;
pub mod run_lock;
pub mod runs;
pub mod seam;
pub mod spare;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, IoContext, Kind, Result};
use crate::stream::quote;
use fsio::Durability;
use fsio::document::Published;
use id::RunId;
use lock::Patience;

/// How this process treats the store; the programs fill it from options and environment.
#[derive(Clone, Copy)]
pub struct Settings {
    /// Whether writes are flushed.
    pub durability: Durability,
    /// How long to wait for locks.
    pub patience: Patience,
}

/// A store: a directory that holds the object pool and the runs.
#[derive(Clone)]
pub struct Store {
    root: PathBuf,
    settings: Settings,
    /// Whether this process made it.
    is_made_here: Arc<AtomicBool>,
}

impl Store {
    /// Names a store. It need not exist: a reader then finds nothing, the first writer makes it.
    #[must_use]
    pub fn new(root: PathBuf, settings: Settings) -> Self {
        Self { root, settings, is_made_here: Arc::default() }
    }

    /// The store's directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether writes are flushed.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.settings.durability
    }

    /// How long to wait for locks.
    #[must_use]
    pub fn patience(&self) -> Patience {
        self.settings.patience
    }

    /// Device and inode of the store's directories, by which a walk recognises them under any name: the root, and the
    /// pool, the runs and the directory of `run`, which may each be reached by a link and lie elsewhere.
    ///
    /// # Errors
    /// [`Kind::Io`] when one exists and cannot be examined.
    pub fn identities(&self, run: Option<&RunId>) -> Result<Vec<(u64, u64)>> {
        let mut paths = vec![self.root.clone(), layout::pool(&self.root), layout::runs(&self.root)];
        if let Some(run) = run {
            paths.extend([layout::run(&self.root, run), layout::history(&self.root, run)]);
        }
        let mut identities = Vec::new();
        for path in paths {
            match rustix::fs::stat(&path) {
                Ok(stat) => identities.push((stat.st_dev, stat.st_ino)),
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
                Err(errno) => return Err(Error::io("cannot examine the store", &path, &errno.into())),
            }
        }
        Ok(identities)
    }

    /// Makes the store's directory, private, with a `.gitignore` that keeps it out of a project's git.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn create(&self) -> Result<()> {
        if fsio::is_sure_dir(&self.root, self.durability()) {
            return Ok(());
        }
        fsio::make_store_dirs(&self.root, self.durability()).on("cannot make the store", &self.root)?;
        let mark = fsio::document::publish_new(&self.root.join(".gitignore"), &[b"**\n"], self.durability())?;
        self.is_made_here.fetch_or(mark == Published::New, Ordering::Relaxed);
        Ok(())
    }

    /// Whether this process, and none of several that began at once, made the store.
    #[must_use]
    pub fn is_made_here(&self) -> bool {
        self.is_made_here.load(Ordering::Relaxed)
    }

    /// What is said of a run that is not there: most often it is another store that was meant. One that cannot be reached
    /// may be there.
    #[must_use]
    pub fn no_run(&self, run: &RunId) -> Error {
        if let Some(trouble) = runs::unreachable(&layout::run(&self.root, run)) {
            return trouble.of_a_run();
        }
        let name = quote::name(run.as_str().as_bytes());
        let (root, hint) = (quote::path(&self.root), "name the project with -C or the store with --store");
        let error = if self.root.is_dir() {
            Error::not_found(format!("there is no run {name} in the store {root}"))
                .hint(format!("name another run with --run, {hint}"))
        } else {
            Error::not_found(format!("there is no run {name}, and no store {root}")).hint(hint)
        };
        error.at(layout::run(&self.root, run)).also("for a project that has moved see wt(7)")
    }

    /// Makes a directory below the store, and the store itself. All directories of runs are made here, so here is the place
    /// where one is refused whose id belongs to newer programs; one that is there is written as any other.
    ///
    /// # Errors
    /// [`Kind::Refused`] for the directory of a run with a reserved id, [`Kind::Io`].
    pub fn create_dir(&self, path: &Path) -> Result<()> {
        if fsio::is_sure_dir(path, self.durability()) {
            return Ok(());
        }
        if let Some(run) = layout::run_of(&self.root, path)
            && !layout::run(&self.root, &run).is_dir()
        {
            run.refuse_reserved()?;
        }
        self.create()?;
        fsio::make_store_dirs(path, self.durability()).on("cannot make the directory", path)
    }

    /// Refuses a run that was deleted: its tombstone outlives it so that a late writer cannot bring it back.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub fn refuse_deleted(&self, run: &RunId) -> Result<()> {
        let tombstone = layout::tombstone(&self.root, run);
        match rustix::fs::lstat(&tombstone) {
            Ok(_) => Err(Error::not_found(format!("run {} was deleted", quote::name(run.as_str().as_bytes())))
                .at(tombstone)
                .hint("use another run id")),
            Err(_) => Ok(()),
        }
    }
}

/// Reads a whole store document.
///
/// # Errors
/// [`Kind::NotFound`] when it is not there, [`Kind::Damaged`] when what is there is not a regular file,
/// [`Kind::Io`] for the rest.
pub fn read_document(path: &Path) -> Result<Document> {
    read(path, MAP_BYTES_MIN)
}

/// Reads a whole log. A log grows, and is cut back after a short write: it is never mapped.
///
/// # Errors
/// As [`read_document`].
pub fn read_log(path: &Path) -> Result<Document> {
    read(path, i64::MAX)
}

/// Reads the last bytes of a log, at most `bytes_max`, and says whether that is all of it.
///
/// # Errors
/// As [`read_document`].
pub fn read_log_end(path: &Path, bytes_max: u64) -> Result<(Document, bool)> {
    let (mut file, stat) = open(path)?;
    let begin = u64::try_from(stat.st_size).unwrap_or(0).saturating_sub(bytes_max);
    let mut bytes = Vec::new();
    io::Seek::seek(&mut file, io::SeekFrom::Start(begin)).on("cannot read", path)?;
    io::Read::read_to_end(&mut file, &mut bytes).on("cannot read", path)?;
    Ok((Document(Bytes::Read(bytes)), begin == 0))
}

fn open(path: &Path) -> Result<(std::fs::File, rustix::fs::Stat)> {
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map_err(|errno| {
        let error = Error::io("cannot open", path, &errno.into());
        if errno == rustix::io::Errno::NOENT { error.with_kind(Kind::NotFound) } else { error }
    })?;
    let stat = rustix::fs::fstat(&fd).on("cannot examine", path)?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
        return Err(Error::damaged(path, "not a regular file"));
    }
    Ok((fd.into(), stat))
}

fn read(path: &Path, map_above_bytes: i64) -> Result<Document> {
    let (mut file, stat) = open(path)?;
    if stat.st_size == 0 {
        return Ok(Document(Bytes::Empty));
    }
    // A small document is cheaper to read than to map.
    if stat.st_size <= map_above_bytes {
        let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0) + 1);
        io::Read::read_to_end(&mut file, &mut bytes).on("cannot read", path)?;
        return Ok(Document(Bytes::Read(bytes)));
    }
    let identity = (stat.st_dev, stat.st_ino);
    Ok(Document(Bytes::Mapped(crate::sys::map_store_file(&file).on("cannot map", path)?, identity)))
}

/// Documents up to this size are read, larger ones mapped.
const MAP_BYTES_MIN: i64 = 256 * 1024;

/// The bytes of a store document, read or mapped.
#[derive(Debug)]
pub struct Document(Bytes);

#[derive(Debug)]
enum Bytes {
    Empty,
    Read(Vec<u8>),
    /// With device and inode of the file, which cannot go to another one while it is mapped.
    Mapped(memmap2::Mmap, (u64, u64)),
}

impl Document {
    /// Device and inode of its file, if it is mapped: no other file has them as long as it is.
    #[must_use]
    pub fn mapped_identity(&self) -> Option<(u64, u64)> {
        match self.0 {
            Bytes::Mapped(_, identity) => Some(identity),
            Bytes::Empty | Bytes::Read(_) => None,
        }
    }

    /// Whether it is what the file at its path still is: documents are replaced whole and never changed while anybody has
    /// them open. A mapped one is not read again for that.
    ///
    /// # Errors
    /// As [`read_document`], but that none may be there.
    pub fn is_still_at(&self, path: &Path) -> Result<bool> {
        if let Some(identity) = self.mapped_identity() {
            return match rustix::fs::stat(path) {
                Ok(stat) => Ok((stat.st_dev, stat.st_ino) == identity),
                Err(rustix::io::Errno::NOENT) => Ok(false),
                Err(errno) => Err(Error::io("cannot examine", path, &errno.into())),
            };
        }
        match read_document(path) {
            Ok(now) => Ok(*now == **self),
            Err(error) if error.kind() == Kind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl From<Vec<u8>> for Document {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Bytes::Read(bytes))
    }
}

impl std::ops::Deref for Document {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Empty => &[],
            Bytes::Read(bytes) => bytes,
            Bytes::Mapped(map, _) => map,
        }
    }
}
