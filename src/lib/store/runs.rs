//! [`Runs`]: the run directories of a store, for everybody who needs all of them.
//!
//! Every directory below `runs/` counts, whatever its name and also where it is a link to another disk. What cannot be
//! looked into may be a run too, so it is never passed over in silence: who must know every run fails, others report it.

use std::io;
use std::path::{Path, PathBuf};

use super::id::RunId;
use super::{Store, layout};
use crate::error::{Error, Result};

/// The directory of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunDir {
    /// Where it is.
    pub path: PathBuf,
    /// Its name, if commands can name it.
    pub id: Option<RunId>,
}

/// What lies below `runs/`.
#[derive(Debug, Default)]
pub struct Runs {
    /// The runs, sorted.
    pub dirs: Vec<RunDir>,
    /// Files beside them, which name no objects.
    pub strangers: Vec<PathBuf>,
    /// What could not be looked into: `runs/` itself, or what may be a run on a disk that is not there.
    pub troubles: Vec<Trouble>,
}

/// Something that could not be looked into.
#[derive(Debug)]
pub struct Trouble {
    /// What it is.
    pub path: PathBuf,
    /// Why not.
    pub cause: io::Error,
}

impl Trouble {
    /// What is said where it is one run that is wanted.
    #[must_use]
    pub fn of_a_run(&self) -> Error {
        Error::io("cannot reach the run", &self.path, &self.cause)
            .hint("mount what it leads to, or ask for leave to look into it")
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        Self::io("cannot list the runs", trouble.path, &trouble.cause)
    }
}

impl Store {
    /// Lists the runs; a store without any has none.
    #[must_use]
    pub fn runs(&self) -> Runs {
        let root = layout::runs(self.root());
        let mut runs = Runs::default();
        let listed = match std::fs::read_dir(&root) {
            Ok(listed) => listed,
            Err(cause) => {
                runs.note(root, cause);
                return runs;
            }
        };
        for entry in listed {
            match entry {
                Ok(entry) => runs.look(entry.path()),
                Err(cause) => {
                    runs.note(root, cause);
                    break;
                }
            }
        }
        runs.dirs.sort_unstable();
        runs.strangers.sort_unstable();
        runs
    }
}

impl Runs {
    fn look(&mut self, path: PathBuf) {
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => {
                let id = path.file_name().and_then(|name| name.to_str()).and_then(|name| RunId::named(name).ok());
                self.dirs.push(RunDir { path, id });
            }
            Ok(_) => self.strangers.push(path),
            Err(cause) => self.note(path, cause),
        }
    }

    fn note(&mut self, path: PathBuf, cause: io::Error) {
        self.troubles.extend(trouble(path, cause));
    }

    /// The runs, for whoever must know all of them.
    ///
    /// # Errors
    /// What could not be looked into.
    pub fn all(self) -> Result<Vec<RunDir>, Trouble> {
        match self.troubles.into_iter().next() {
            Some(trouble) => Err(trouble),
            None => Ok(self.dirs),
        }
    }
}

/// Why what may be the directory of a run cannot be looked at, if that is so.
pub(super) fn unreachable(path: &Path) -> Option<Trouble> {
    let cause = std::fs::metadata(path).err()?;
    // A store that is no directory has no runs.
    trouble(path.to_owned(), cause).filter(|trouble| trouble.cause.kind() != io::ErrorKind::NotADirectory)
}

/// What was deleted since is no trouble; a link that leads nowhere is still there.
fn trouble(path: PathBuf, cause: io::Error) -> Option<Trouble> {
    (cause.kind() != io::ErrorKind::NotFound || is_there(&path)).then_some(Trouble { path, cause })
}

fn is_there(path: &Path) -> bool {
    !matches!(std::fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}
