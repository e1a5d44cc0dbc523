//! Restore: puts a snapshot, or part of it, back into the workspace without destroying a byte that the store holds no
//! copy of (design section 6).
//!
//! ```text
//! look      rules once, walk once, hash what the stat cache does not know         look, current
//! plan      over the final tree: write, delete, chmod, keep; nothing is changed   plan, witness, copies
//! stage     all new content, verified while it is copied, beside the live files   stage, staging, bulk
//! swap      exchange, compare what came out, exchange back if it is not what      swap
//!           was planned; delete by renaming into the staging area; a directory     fresh
//!           that is missing comes whole
//! clear     what was displaced goes only if it still is what the store has        salvage, sweep
//! ```
//!
//! The plan is a value: `--dry-run` prints it, the real run consumes it. A file is whole-old or whole-new at every
//! moment. A restore that was killed leaves its staging area; the next one clears it by the same rule.

mod bulk;
mod compare;
mod copies;
mod current;
mod dirs;
mod emptied;
mod fresh;
mod look;
mod plan;
mod planner;
mod project;
mod report;
mod salvage;
mod single;
mod stage;
mod staging;
mod swap;
mod sweep;
mod undo;
mod witness;

use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};
use crate::history::History;
use crate::history::covers::CoverageRules;
use crate::history::index::Index;
use crate::history::manifest::Manifest;
use crate::store::id::SnapshotId;
use crate::store::lock::Mode;
use crate::store::pool::Pool;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::quote;
use crate::tree::root::{InheritedLock, Workspace};

use salvage::Leftovers;

pub use plan::{Action, Reason};
pub use report::{Line, Report};

/// What a restore is asked to do.
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
pub struct Request {
    /// The snapshot to put back.
    pub target: SnapshotId,
    /// The paths that may be touched; `None` is the whole workspace.
    pub scope: Option<Scope>,
    /// Paths that are left as they are, each with all that lies below it.
    pub protect: Vec<RelPathBuf>,
    /// A path that no longer is what this snapshot recorded is left as it is.
    pub keep_edited: Option<SnapshotId>,
    /// Whether the workspace may be another one than the snapshot's.
    pub relocate: bool,
    /// Whether bytes without a copy are stored under a pin and then replaced.
    pub force: bool,
    /// Whether nothing is done unless everything can be.
    pub all_or_nothing: bool,
    /// Whether nothing is done at all.
    pub dry_run: bool,
    /// Whether content that a bank would hold counts as banked: only with `dry_run`, to say what a restore behind a bank
    /// would do.
    pub as_if_banked: bool,
    /// Files above this many bytes are not hashed only to find out that they were never captured.
    pub cap_bytes: u64,
}

/// The paths that a restore may touch.
pub struct Scope {
    /// Sorted, each once.
    paths: Vec<RelPathBuf>,
    is_exact: bool,
}

impl Scope {
    /// The paths, each with all that lies below it.
    #[must_use]
    pub fn subtrees(paths: Vec<RelPathBuf>) -> Self {
        Self::new(paths, false)
    }

    /// The paths themselves and nothing else: what a run produced, next to what somebody else did in the same directory.
    #[must_use]
    pub fn exact(paths: Vec<RelPathBuf>) -> Self {
        Self::new(paths, true)
    }

    fn new(mut paths: Vec<RelPathBuf>, is_exact: bool) -> Self {
        paths.sort_unstable();
        paths.dedup();
        Self { paths, is_exact }
    }

    /// The paths that were named themselves, where nothing below them is meant.
    fn exact_paths(&self) -> &[RelPathBuf] {
        if self.is_exact { &self.paths } else { &[] }
    }

    fn holds(&self, path: &RelPath) -> bool {
        let is_named = |path: &RelPath| self.paths.binary_search_by(|named| (**named).cmp(path)).is_ok();
        is_named(path) || (!self.is_exact && path.ancestors().any(is_named))
    }

    /// Whether a path, something above it or something below it may be touched: then it has to be looked at.
    fn concerns(&self, path: &RelPath) -> bool {
        let mut below = path.as_bytes().to_vec();
        below.push(b'/');
        let next = self.paths.partition_point(|named| named.as_bytes() < below.as_slice());
        self.holds(path) || self.paths.get(next).is_some_and(|named| named.as_bytes().starts_with(&below))
    }
}

/// Where a restore works.
pub struct Place<'a> {
    /// The workspace.
    pub workspace: &'a Workspace,
    /// The run whose snapshots are put back.
    pub history: &'a History,
    /// The workspace lock of the calling process.
    pub inherited_lock: Option<InheritedLock>,
}

/// Carries out a restore, or only plans it. `index` may be older than the lock: what its rows say of a file is true for as
/// long as the file has that stat.
///
/// # Errors
/// [`Kind::Damaged`] for a manifest or an object that is wrong, [`Kind::Refused`] for another workspace, or with
/// `all_or_nothing` when something would be left out, [`Kind::Conflict`] for a lock not had in time, [`Kind::Io`].
/// Nothing was changed then, except that after [`Kind::Io`] in mid-swap some files may be new and the others old.
pub fn run(place: &Place<'_>, index: &Index, request: &Request) -> Result<Report> {
    let Place { workspace, history, inherited_lock } = *place;
    let _workspace_lock = workspace.lock(Mode::Exclusive, inherited_lock, history.store().patience())?;
    let pool = Pool::open(history.store())?;
    let _pool_lock = match &pool {
        Some(pool) => pool.lock(Mode::Shared)?,
        None => None,
    };
    let mut leftovers = Leftovers::default();
    // Nothing is changed before it is certain that the target can be had.
    let look = look::Look { workspace, history, index, request };
    let mut recorded = None;
    if !request.dry_run && salvage::has_leftovers(workspace) {
        recorded = Some(Recorded::read(workspace, history, request)?);
        leftovers = salvage::clear_leftovers(workspace, history)?;
    }
    let read = || recorded.take().map_or_else(|| Recorded::read(workspace, history, request), Ok);
    let (recorded, current) = look.at(read)?;
    let Recorded { target, edited_since } = recorded;
    let covers = CoverageRules::load(&target, pool.as_ref())?;
    let planner = planner::Planner {
        workspace,
        current: &current,
        target: &target,
        covers: &covers,
        edited_since: edited_since.as_ref(),
        request,
    };
    let displaced = planner.displaced();
    let copies = copies::Copies::of(pool.as_ref(), displaced.iter().copied());
    let mut witness = witness::Witness::new(history, &copies, index, &target, displaced)?;
    let mut plan = copies.while_reading_ahead(|| planner.plan(&mut witness))?;
    plan.check_objects(pool.as_ref(), &target)?;
    if request.all_or_nothing && plan.leaves_something_out() {
        return Err(plan.refusal());
    }
    let warnings = current.warnings.iter().cloned().chain(leftovers.warnings).collect();
    let mut report = Report::of(&mut plan, &target, warnings);
    report.salvaged = leftovers.salvaged;
    let named = request.scope.iter().flat_map(|scope| &scope.paths).chain(&request.protect);
    for path in named {
        let is_known = target.entry(path).is_some()
            || target.gap_over(path).is_some()
            || target.has_below(path)
            || current::examine(workspace, path).is_ok();
        if !is_known {
            report.unknown.push(path.clone());
        }
    }
    if request.dry_run || plan.ops.is_empty() {
        return Ok(report);
    }
    let Some(pool) = &pool else {
        return Err(Error::new(Kind::Damaged, "the store has no object pool").at(history.store().root()));
    };
    if request.force {
        report.forced = witness::store_doomed(&plan, workspace, history, pool)?;
    }
    swap::carry_out(place, pool, &target, plan, request, &witness, &mut report)?;
    Ok(report)
}

/// What the snapshots of a request record.
struct Recorded {
    target: Manifest,
    edited_since: Option<Manifest>,
}

impl AsRef<Manifest> for Recorded {
    fn as_ref(&self) -> &Manifest {
        &self.target
    }
}

impl Recorded {
    fn read(workspace: &Workspace, history: &History, request: &Request) -> Result<Self> {
        let target = history.manifest(&request.target)?;
        refuse_other_root(workspace, &target, request.relocate)?;
        let edited_since = request.keep_edited.as_ref().map(|id| history.manifest(id)).transpose()?;
        Ok(Self { target, edited_since })
    }
}

pub(super) fn refuse_other_root(workspace: &Workspace, target: &Manifest, relocate: bool) -> Result<()> {
    match &target.workspace {
        Some(recorded) if !relocate && !workspace.is_at(recorded) => Err(Error::refused(format!(
            "snapshot '{}' is of workspace {}, not of {}",
            target.id,
            quote::path(recorded),
            quote::path(workspace.path())
        ))
        .at(workspace.path())
        .hint("name the right workspace with -C, or --relocate to restore into this one")),
        _ => Ok(()),
    }
}

/// Maps a path that somebody wants protected into the workspace: absolute, or relative to the workspace. The directory
/// it lies in is resolved, because what is reached through a link is what has to be protected; its last name is not.
///
/// # Errors
/// [`Kind::Usage`] when it lies outside: a protection that protects nothing is worse than none.
pub fn map_protected(workspace: &Workspace, path: &Path) -> Result<RelPathBuf> {
    let full = workspace.path().join(path);
    let resolved = match (full.parent().map(Path::canonicalize), full.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        // The directory is missing, so no link can lead through it.
        _ => full,
    };
    map_named(workspace, &resolved)
}

/// Maps a path that somebody names into the workspace, as it stands: absolute, or relative to the workspace.
///
/// # Errors
/// [`Kind::Usage`] when it lies outside.
pub fn map_named(workspace: &Workspace, path: &Path) -> Result<RelPathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let outside = || {
        Error::usage(format!("{} does not lie in workspace {}", quote::path(path), quote::path(workspace.path())))
            .at(path)
            .hint("name a path inside the workspace")
    };
    let relative =
        if path.is_absolute() { path.strip_prefix(workspace.path()).map_err(|_| outside())? } else { path };
    let plain: PathBuf = relative.components().filter(|part| *part != std::path::Component::CurDir).collect();
    RelPath::new(plain.as_os_str().as_bytes()).map(RelPath::to_owned).map_err(|_| outside())
}
