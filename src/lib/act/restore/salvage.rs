//! Clearing a staging area: what the store has a copy of goes, what it has none of is stored first.
//!
//! Only what this process staged and never swapped is known without a look. Of everything else the bytes themselves are
//! asked, right before they go: whatever somebody wrote meanwhile, through whichever door, is found. Content that no
//! manifest of the run names is stored under a pin; what cannot be read or removed stays where it is and is named.
//!
//! The area of a restore that was killed is cleared in the same way by the next one. Its journal is believed only if it
//! names the very inode of its directory: one that came with the project, in an archive or a clone, cannot.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::RawDir;
use rustix::io::Errno;

use super::project::{is_empty_project_dir_of_ours, remove_empty_project_dir, while_writable};
use super::report::Salvaged;
use super::stage::{AREA_PREFIX, JOURNAL, journal_mark};
use super::sweep::Sweep;
use super::witness::{self, Witness};
use crate::act::intake::{Intake, Sink};
use crate::error::{Error, IoContext, Result};
use crate::history::History;
use crate::store::id::ObjectId;
use crate::store::pool::{Pool, PoolWriter};
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::store::{fsio, layout};
use crate::stream::quote;
use crate::stream::record::{Content, EntryKind};
use crate::tree::beneath;
use crate::tree::root::Workspace;
use crate::tree::stat::{FileStat, stat_at};

/// What is known of the items of an area.
#[derive(Default)]
pub(super) struct Clearing {
    /// Items that this process staged and has not swapped: copies of objects and of nothing else.
    pub(super) copies: HashSet<String>,
}

/// What the journal of an area says.
#[derive(Default)]
struct Journal {
    /// Whether all items are copies of objects: the journal is ours, and nothing had been swapped yet.
    has_only_copies: bool,
    /// Where items of the area belong.
    paths: HashMap<Vec<u8>, RelPathBuf>,
    /// Items that lie beside their destinations.
    beside: Vec<RelPathBuf>,
    /// Directories that were made writable, and the modes they had.
    lifted: Vec<(Option<RelPathBuf>, u32)>,
}

/// What came of clearing up after restores that were killed.
#[derive(Default)]
pub(super) struct Leftovers {
    pub(super) salvaged: Vec<Salvaged>,
    pub(super) warnings: Vec<String>,
}

/// Whether a killed restore may have left something to be cleared: an area, or the empty directory of one.
pub(super) fn has_leftovers(workspace: &Workspace) -> bool {
    let is_area = |name: &Vec<u8>, prefix: &str| is_area_name(name, prefix.as_bytes());
    let fallback_prefix = format!("{}{AREA_PREFIX}", layout::TEMP_PREFIX);
    let project = RelPathBuf::join(None, layout::PROJECT_DIR.as_bytes());
    let inside = beneath::open_dir(workspace.fd(), Some(&project)).and_then(|dir| names_in(&dir));
    let has_inside = is_empty_project_dir_of_ours(workspace)
        || inside.is_ok_and(|names| names.iter().any(|name| is_area(name, AREA_PREFIX)));
    let beside = beneath::open_dir(workspace.fd(), None).and_then(|dir| names_in(&dir));
    // What cannot be listed is said by whoever clears.
    has_inside || beside.map_or(true, |names| names.iter().any(|name| is_area(name, &fallback_prefix)))
}

/// Clears the areas of restores that were killed. The caller holds the workspace lock: no restore is at work. What
/// cannot be cleared is said and left; it must not keep anybody from restoring.
pub(super) fn clear_leftovers(workspace: &Workspace, history: &History) -> Result<Leftovers> {
    let mut leftovers = Leftovers::default();
    let project = RelPathBuf::join(None, layout::PROJECT_DIR.as_bytes());
    let fallback_prefix = format!("{}{AREA_PREFIX}", layout::TEMP_PREFIX);
    for (dir, prefix) in [(Some(&project), AREA_PREFIX), (None, fallback_prefix.as_str())] {
        let Ok(opened) = beneath::open_dir(workspace.fd(), dir.map(|dir| &**dir)) else { continue };
        let names = names_in(&opened).on("cannot list", workspace.path())?;
        for name in names.into_iter().filter(|name| is_area_name(name, prefix.as_bytes())) {
            let stat = stat_at(opened.as_fd(), &name).ok().flatten();
            let is_ours = stat
                .is_some_and(|stat| stat.kind == EntryKind::Dir && stat.uid == rustix::process::geteuid().as_raw());
            if !is_ours {
                continue;
            }
            let area = RelPathBuf::join(dir.map(|dir| &**dir), &name);
            match clear(workspace, history, &area, &Clearing::default(), None) {
                Ok(salvaged) => leftovers.salvaged.extend(salvaged),
                Err(error) => leftovers.warnings.push(format!("a killed restore is not cleared up: {error}")),
            }
        }
    }
    remove_empty_project_dir(workspace);
    Ok(leftovers)
}

/// Whether a name is one that we give to an area: the prefix, and two numbers with a dash between them.
fn is_area_name(name: &[u8], prefix: &[u8]) -> bool {
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    name.strip_prefix(prefix).is_some_and(|rest| {
        let mut parts = rest.splitn(2, |byte| *byte == b'-');
        parts.next().is_some_and(is_number) && parts.next().is_some_and(is_number)
    })
}

/// Clears one area and removes it. `asked` is the witness of the plan, if there was one.
///
/// # Errors
/// [`crate::error::Kind::Io`]; what could not be cleared is still there.
pub(super) fn clear(
    workspace: &Workspace,
    history: &History,
    area: &RelPath,
    known: &Clearing,
    asked: Option<&Witness<'_>>,
) -> Result<Vec<Salvaged>> {
    let full = workspace.path().join(area.as_path());
    let dir = beneath::open_dir(workspace.fd(), Some(area)).on("cannot open", &full)?;
    let journal = read_journal(&dir);
    put_modes_back(workspace, &journal);
    let mut clearer = Clearer {
        workspace,
        history,
        known,
        journal: &journal,
        pool: Pool::open(history.store())?,
        intake: Intake::new(workspace, Sink::HashOnly, u64::MAX),
        asked: asked.filter(|witness| witness.holds_still()),
        witness: None,
        salvaged: Vec::new(),
    };
    let mut is_clear = true;
    let mut names = names_in(&dir).on("cannot list", &full)?;
    names.retain(|name| name != JOURNAL.as_bytes());
    if let (Some(pool), Some(witness)) = (&clearer.pool, clearer.asked) {
        let is_copy = |name: &[u8]| is_copy(&journal, known, name);
        names = Sweep { workspace, pool, witness, dir: &dir, area, is_copy: &is_copy }.run(names);
    }
    for name in names {
        is_clear &= clearer.item(&dir, area, &name)?;
    }
    for path in &journal.beside {
        let parent = beneath::open_dir(workspace.fd(), path.parent());
        let is_there = parent.as_ref().is_ok_and(|dir| !matches!(stat_at(dir.as_fd(), path.file_name()), Ok(None)));
        let is_missed = std::str::from_utf8(path.file_name()).is_ok_and(|item| known.copies.contains(item));
        if !is_there && (is_missed || parent.is_err()) {
            // Somebody moved the directory away with what we had in it: nobody but them knows where that is now.
            clearer.salvaged.push(Salvaged {
                path: path.parent().map(RelPath::to_owned),
                object: None,
                left_at: Some(workspace.path().join(path.as_path())),
            });
        }
        let Ok(parent) = parent else { continue };
        if !is_there {
            continue;
        }
        is_clear &= while_writable(parent.as_fd(), path.file_name(), || {
            clearer.remove(&parent, path, path.file_name(), None, path.file_name())
        })?;
    }
    let salvaged = clearer.salvaged;
    if !is_clear {
        return Ok(salvaged);
    }
    let gone = |done: io::Result<()>| match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    gone(fsio::unlink(dir.as_fd(), JOURNAL.as_bytes())).on("cannot clear", &full)?;
    let parent = beneath::open_dir(workspace.fd(), area.parent()).on("cannot open the parent of", &full)?;
    // The user's own project directory may be read-only.
    let removed =
        while_writable(parent.as_fd(), area.file_name(), || fsio::remove_dir(parent.as_fd(), area.file_name()));
    gone(removed).on("cannot remove", &full)?;
    remove_empty_project_dir(workspace);
    Ok(salvaged)
}

fn read_journal(dir: &OwnedFd) -> Journal {
    let mut journal = Journal::default();
    let Ok(fd) = fsio::open_read(dir.as_fd(), JOURNAL.as_bytes()) else { return journal };
    let mut text = Vec::new();
    let read = io::Read::read_to_end(&mut std::fs::File::from(fd), &mut text);
    // A directory that only looks like ours may hold anything: nothing that it says is believed then.
    let is_ours = journal_mark(dir).is_ok_and(|mark| text.starts_with(&mark));
    if read.is_err() || !is_ours {
        return journal;
    }
    journal.has_only_copies = true;
    let unquote = |quoted: &[u8]| {
        let name = quote::c_unquote(quoted)?;
        RelPath::new(&name).ok().map(RelPath::to_owned)
    };
    for line in text.split(|byte| *byte == b'\n') {
        let mut words = line.splitn(2, |byte| *byte == b' ');
        let (verb, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match verb {
            b"swap" => journal.has_only_copies = false,
            b"beside" => journal.beside.extend(unquote(rest).filter(|path| is_our_temp(path))),
            b"item" | b"lift" => {
                let mut words = rest.splitn(2, |byte| *byte == b' ');
                let (first, quoted) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                let path = unquote(quoted);
                if verb == b"item" {
                    journal.paths.extend(path.map(|path| (first.to_vec(), path)));
                } else if let Some(mode) =
                    std::str::from_utf8(first).ok().and_then(|text| u32::from_str_radix(text, 8).ok())
                {
                    journal.lifted.push((path, mode));
                }
            }
            _ => {}
        }
    }
    journal
}

/// Whether an item is only a copy of an object, so that its bytes need not be asked.
fn is_copy(journal: &Journal, known: &Clearing, item: &[u8]) -> bool {
    journal.has_only_copies || std::str::from_utf8(item).is_ok_and(|item| known.copies.contains(item))
}

/// Whether a name is one that we give to items beside their destination, and nobody else to anything.
fn is_our_temp(path: &RelPath) -> bool {
    let prefix = format!("{}{AREA_PREFIX}", layout::TEMP_PREFIX);
    path.file_name().starts_with(prefix.as_bytes())
}

/// A killed restore may have left directories writable that were not.
fn put_modes_back(workspace: &Workspace, journal: &Journal) {
    for (path, mode) in &journal.lifted {
        let Ok(dir) = beneath::open_dir(workspace.fd(), path.as_deref()) else { continue };
        let is_lifted = rustix::fs::fstat(&dir).is_ok_and(|stat| stat.st_mode & 0o777 == mode | 0o700);
        if is_lifted {
            let name = path.as_deref().map_or(&b"."[..], RelPath::as_bytes);
            let _ = fsio::set_mode_of_dir(dir.as_fd(), *mode, name);
        }
    }
}

struct Clearer<'a> {
    workspace: &'a Workspace,
    history: &'a History,
    known: &'a Clearing,
    journal: &'a Journal,
    pool: Option<Pool>,
    intake: Intake<'a>,
    /// A witness whose manifests are all still there.
    asked: Option<&'a Witness<'a>>,
    /// One that knows of everything that there is now.
    witness: Option<Witness<'a>>,
    salvaged: Vec<Salvaged>,
}

impl Clearer<'_> {
    /// Clears one item of the area; `false` when something of it has to stay.
    fn item(&mut self, dir: &OwnedFd, area: &RelPath, name: &[u8]) -> Result<bool> {
        let path = RelPathBuf::join(Some(area), name);
        let origin = self.journal.paths.get(name).cloned();
        self.remove(dir, &path, name, origin.as_ref(), name)
    }

    /// Removes something and all that is in it, as far as every byte of it has its copy; `false` when something stays.
    fn remove(
        &mut self,
        dir: &OwnedFd,
        path: &RelPath,
        name: &[u8],
        origin: Option<&RelPathBuf>,
        item: &[u8],
    ) -> Result<bool> {
        let root = Level {
            dir: dir.try_clone().on("cannot open", self.workspace.path())?,
            path: path.parent().map(RelPath::to_owned),
            origin: None,
            names: vec![name.to_vec()],
            is_clear: true,
        };
        // A stack of its own: a tree may be deeper than the program's.
        let mut stack = vec![root];
        while let Some(level) = stack.last_mut() {
            let Some(name) = level.names.pop() else {
                let Some(done) = stack.pop() else { break };
                let Some(parent) = stack.last_mut() else { return Ok(done.is_clear) };
                parent.is_clear &= done.is_clear;
                if let (true, Some(path)) = (done.is_clear, &done.path) {
                    let removed = fsio::remove_dir(parent.dir.as_fd(), path.file_name());
                    parent.is_clear &= self.has_gone(removed, path, done.origin.as_ref())?;
                }
                continue;
            };
            let here = RelPathBuf::join(level.path.as_deref(), &name);
            let full = self.workspace.path().join(here.as_path());
            let Some(stat) = stat_at(level.dir.as_fd(), &name).on("cannot examine", &full)? else { continue };
            let origin = match &level.origin {
                Some(above) => Some(RelPathBuf::join(Some(above), &name)),
                None => origin.cloned(),
            };
            if stat.kind == EntryKind::Dir {
                match Level::enter(&level.dir, &name, &stat, here.clone(), origin.clone()) {
                    Ok(below) => stack.push(below),
                    Err(error) => level.is_clear &= self.has_gone(Err(error), &here, origin.as_ref())?,
                }
            } else if is_copy(self.journal, self.known, item) || self.save(&here, origin.as_ref())? {
                let removed = fsio::unlink(level.dir.as_fd(), &name);
                level.is_clear &= self.has_gone(removed, &here, origin.as_ref())?;
            } else {
                level.is_clear = false;
            }
        }
        Ok(true)
    }

    /// Notes what the system keeps us from removing: it stays, and is named.
    fn has_gone(&mut self, removed: io::Result<()>, path: &RelPath, origin: Option<&RelPathBuf>) -> Result<bool> {
        let full = self.workspace.path().join(path.as_path());
        match removed {
            Ok(()) => Ok(true),
            Err(error)
                if super::swap::is_refusal(&error)
                    || matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::CrossesDevices) =>
            {
                self.salvaged.push(Salvaged { path: origin.cloned(), object: None, left_at: Some(full) });
                Ok(false)
            }
            Err(error) => Err(Error::io("cannot clear", full, &error)),
        }
    }

    /// Makes sure that the store has the bytes; `false` when they cannot be read and stay.
    fn save(&mut self, path: &RelPath, origin: Option<&RelPathBuf>) -> Result<bool> {
        let Some(seen) = self.intake.take(path)? else { return Ok(true) };
        if let Content::Object(id) = seen.content {
            let has_copy = match &self.pool {
                Some(pool) => pool.verify(id).is_ok(),
                None => false,
            };
            // The target text of a link stands in the manifest that names it.
            if (has_copy || seen.kind == EntryKind::Link) && self.is_named(id)? {
                return Ok(true);
            }
        }
        self.store(path, origin)
    }

    fn store(&mut self, path: &RelPath, origin: Option<&RelPathBuf>) -> Result<bool> {
        let pool = Pool::create(self.history.store())?;
        let writer = PoolWriter::replacing(&pool);
        let taken = Intake::new(self.workspace, Sink::Store(&writer), u64::MAX).take(path)?;
        let Some(record) = taken else { return Ok(true) };
        let Content::Object(id) = record.content else {
            self.salvaged.push(Salvaged {
                path: origin.cloned(),
                object: None,
                left_at: Some(self.workspace.path().join(path.as_path())),
            });
            return Ok(false);
        };
        writer.commit()?;
        witness::pin(self.history, &[(id, record.size.unwrap_or(0))])?;
        self.salvaged.push(Salvaged { path: origin.cloned(), object: Some(id), left_at: None });
        Ok(true)
    }

    fn is_named(&mut self, id: ObjectId) -> Result<bool> {
        if self.asked.is_some_and(|witness| witness.has_named(id)) {
            return Ok(true);
        }
        if self.witness.is_none() {
            self.witness = Some(Witness::of_history(self.history)?);
        }
        match &mut self.witness {
            Some(witness) => witness.is_named(id),
            None => Err(Error::new(crate::error::Kind::Io, "there is no witness")),
        }
    }
}

/// A directory that is being cleared.
struct Level {
    dir: OwnedFd,
    /// Where it is; `None` is the workspace's root.
    path: Option<RelPathBuf>,
    /// Where it had been, if that is known.
    origin: Option<RelPathBuf>,
    /// What is still to be looked at.
    names: Vec<Vec<u8>>,
    is_clear: bool,
}

impl Level {
    fn enter(
        dir: &OwnedFd,
        name: &[u8],
        stat: &FileStat,
        path: RelPathBuf,
        origin: Option<RelPathBuf>,
    ) -> io::Result<Self> {
        // What is mounted in what we took out, or staged, is somebody's: nothing behind it is ours to touch.
        if stat.mode & 0o700 != 0o700 {
            if beneath::is_mount_point(dir.as_fd(), name)? {
                return Err(Errno::XDEV.into());
            }
            // It is on its way out; it only has to let us in.
            fsio::set_mode_at(dir.as_fd(), name, stat.mode | 0o700)?;
        }
        let dir = beneath::open_dir_of_same_mount(dir.as_fd(), Some(&RelPathBuf::join(None, name)))?;
        let names = names_in(&dir)?;
        Ok(Self { dir, path: Some(path), origin, names, is_clear: true })
    }
}

/// The names in a directory, without the dots.
pub(super) fn names_in(dir: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    // A handle of its own, so that each listing begins at the beginning.
    let own = beneath::open_dir(dir.as_fd(), None)?;
    let mut buffer = vec![std::mem::MaybeUninit::uninit(); 16 * 1024];
    let mut dirents = RawDir::new(own, &mut buffer);
    let mut names = Vec::new();
    while let Some(dirent) = dirents.next() {
        let name = dirent?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    Ok(names)
}
