//! Who may read and write what lies beside run.json in a run's directory.
//!
//! All writers of such files hold `.write.lock`, as the original holds one mutex for all of them: so two of them never meet,
//! and none meets the deletion of the run. A run needs no run.json for them.

use super::document;
use super::events::event::{member, string};
use super::json::Json;
use super::record::write::{self, Change};
use super::record::{self, FORMAT_VERSION, WriteLock};
use crate::error::{Error, Kind, Result};
use crate::store::component::Component;
use crate::store::id::RunId;
use crate::store::{Store, layout, read_document, seam};
use crate::stream::quote;

/// What run.json says first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// Its status, as written.
    pub status: String,
    /// The version of its format, where that is not one that is understood here.
    pub foreign_format: Option<String>,
}

impl Head {
    /// Whether a newer program than this one has written the run.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        self.foreign_format.is_some()
    }
}

/// Reads what run.json says first; `None` where there is no run.json.
///
/// # Errors
/// [`Kind::Damaged`] when it is not a JSON object, [`Kind::Io`].
pub fn head(store: &Store, run: &RunId) -> Result<Option<Head>> {
    let path = layout::run_document(store.root(), run);
    let bytes = match read_document(&path) {
        Err(error) if error.kind() == Kind::NotFound => return Ok(None),
        other => other?,
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| Error::damaged(&path, "not UTF-8"))?;
    let checked: Result<&serde_json::value::RawValue, _> = serde_json::from_str(text);
    if !checked.is_ok_and(|raw| raw.get().starts_with('{')) {
        return Err(Error::damaged(&path, "not a JSON object"));
    }
    let foreign_format = member(text, "format_version").and_then(|raw| record::foreign_version(raw.get()));
    let status = member(text, "status").and_then(string).unwrap_or_default();
    Ok(Some(Head { status: status.into_owned(), foreign_format }))
}

/// Makes sure that there is something to read: the run was not deleted and has a directory. Tells whether a newer program
/// has written it.
///
/// # Errors
/// [`Kind::NotFound`].
pub fn reading(store: &Store, run: &RunId) -> Result<bool> {
    store.refuse_deleted(run)?;
    if !layout::run(store.root(), run).is_dir() {
        return Err(store.no_run(run));
    }
    // What else is wrong with run.json is no matter of those who read what lies beside it.
    Ok(head(store, run).ok().flatten().is_some_and(|head| head.is_newer()))
}

/// The right to write what lies beside run.json, until it is dropped.
pub struct Writing<'s> {
    store: &'s Store,
    run: RunId,
    lock: WriteLock<'s>,
}

impl<'s> Writing<'s> {
    /// Takes `.write.lock`; makes the run's directory if there is none. All names must have been checked before.
    ///
    /// # Errors
    /// [`Kind::NotFound`] for a run that was deleted, [`Kind::Refused`] for one of a newer format, [`Kind::Conflict`] when
    /// the lock was not had in time.
    pub fn begin(store: &'s Store, run: &RunId) -> Result<Self> {
        let writing = Self::perhaps(store, run)?;
        writing.tighten()?;
        Ok(writing)
    }

    /// The same for who may find under the lock that nothing is to be written: [`Self::tighten`] comes before a write.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub fn perhaps(store: &'s Store, run: &RunId) -> Result<Self> {
        prepare(store, run)?;
        seam::hook("before-write-lock");
        let lock = WriteLock::take(store, run)?;
        refuse_newer(store, run)?;
        Ok(Self { store, run: run.clone(), lock })
    }

    /// Makes the run's directory private.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn tighten(&self) -> Result<()> {
        record::tighten(self.store, &self.run)
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Brings an index in run.json up to date: `edit` changes the document and tells whether it did. Where there is no
    /// run.json there is no index.
    ///
    /// # Errors
    /// Those of [`WriteLock`]; nothing is written then.
    pub fn index(&self, edit: impl FnOnce(&mut Json) -> bool) -> Result<Indexed> {
        if head(self.store, &self.run).is_ok_and(|head| head.is_none()) {
            return Ok(Indexed::NoDocument);
        }
        let edit = |json: &mut Json, _: &str| Ok(if edit(json) { Change::Made } else { Change::None });
        Ok(match write::under(&self.lock, edit)? {
            (_, Change::Made) => Indexed::Changed,
            (_, Change::None) => Indexed::Same,
        })
    }
}

/// What became of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexed {
    /// It was brought up to date.
    Changed,
    /// It was right.
    Same,
    /// There is no run.json.
    NoDocument,
}

/// Looks whether a run may be written, without its lock, and makes its directory: for content that takes long to come.
///
/// # Errors
/// As [`Writing::begin`].
pub fn prepare(store: &Store, run: &RunId) -> Result<()> {
    check(store, run)?;
    store.create_dir(&layout::run(store.root(), run))
}

/// Looks whether a run may be written, and makes nothing.
///
/// # Errors
/// As [`Writing::begin`], but for the lock; [`Kind::Usage`] for a run that is not there and must not be made under its id.
pub fn check(store: &Store, run: &RunId) -> Result<()> {
    store.refuse_deleted(run)?;
    record::fresh::made(store, run)?;
    refuse_newer(store, run)
}

fn refuse_newer(store: &Store, run: &RunId) -> Result<()> {
    // A run.json that cannot be understood does not keep the rest of the run from being recorded.
    match head(store, run) {
        Ok(Some(Head { foreign_format: Some(version), .. })) => Err(Error::refused(format!(
            "run {} has format version {version}, and this program writes {FORMAT_VERSION}",
            quote::name(run.as_str().as_bytes())
        ))
        .hint("use a newer program for it; reading works")),
        _ => Ok(()),
    }
}

/// The names in a directory that are whole numbers with `suffix` behind, as `form` writes them, ascending.
///
/// # Errors
/// [`Kind::Io`].
pub fn numbers(dir: &std::path::Path, suffix: &str, form: impl Fn(i64) -> String) -> Result<Vec<i64>> {
    let stems = document::stems(dir, suffix)?;
    let number = |stem: &String| stem.parse::<i64>().ok().filter(|number| *number >= 0 && form(*number) == *stem);
    let mut numbers: Vec<i64> = stems.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The number after one that is taken by the file at `path`.
///
/// # Errors
/// [`Kind::Limit`] when there is none.
pub fn number_after(taken: i64, path: &std::path::Path) -> Result<i64> {
    taken.checked_add(1).ok_or_else(|| {
        Error::limit(format!(
            "{} has the highest number that there is, so nothing comes after it",
            quote::path(path)
        ))
        .hint("give the file a lower number if it was not meant")
    })
}

/// The names in a directory that are safe components, sorted.
///
/// # Errors
/// [`Kind::Io`].
pub fn components(dir: &std::path::Path, suffix: &str) -> Result<Vec<Component>> {
    let stems = document::stems(dir, suffix)?;
    let mut names: Vec<_> = stems.iter().filter_map(|stem| Component::named("name", stem).ok()).collect();
    names.sort();
    Ok(names)
}
