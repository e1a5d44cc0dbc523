//! Rewind: takes back what a run did since a node began, and only that (design section 6).
//!
//! ```text
//! prepare     find the pivot, the newest boundary and the scope; nothing is changed, every refusal comes from here
//! bank        capture the workspace, so that the rewind can be undone                  `bank::take`
//! carry out   restore the scope, then say whose changes that met and whose it left
//! ```
//!
//! Three states are compared for the report: the target, the newest boundary, which is how the run left the workspace, and
//! the bank, which is how somebody left it since.

pub mod event;
mod rivals;

pub use rivals::Shared;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::compare::Look;
use super::restore::{self, Action, Place, Report, Scope};
use crate::error::{Error, Result};
use crate::history::History;
use crate::history::authorship::{Authorship, StopEvidence};
use crate::history::coverage::Gap;
use crate::history::covers::CoverageRules;
use crate::history::diff::{self, Side};
use crate::history::index::Index;
use crate::history::manifest::Manifest;
use crate::history::pivot::Pivot;
use crate::history::timeline::Execution;
use crate::store::pool::Pool;
use crate::store::relpath::{RelPath, RelPathBuf};

/// How much is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The paths that the run produced.
    Produced,
    /// The whole tree.
    Full,
    /// Nothing.
    None,
}

impl Extent {
    /// The word in options, output and events.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Produced => "produced",
            Self::Full => "full",
            Self::None => "none",
        }
    }
}

/// What a rewind is asked to do.
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
pub struct Request {
    /// The node to go back to before.
    pub node: String,
    /// The iteration of it; the last one there is if not given.
    pub iteration: Option<u64>,
    /// How much is restored.
    pub extent: Extent,
    /// Paths that are left as they are.
    pub protect: Vec<PathBuf>,
    /// Whether a path that is no more as the newest boundary recorded it is left.
    pub keep_edited: bool,
    /// Whether nothing is done unless everything can be.
    pub all_or_nothing: bool,
    /// Whether nothing is done at all.
    pub dry_run: bool,
    /// Files above this many bytes are not captured.
    pub cap_bytes: u64,
}

/// A rewind that nothing speaks against.
pub struct Prepared {
    /// Where it goes back to.
    pub pivot: Pivot,
    /// The target.
    target: Manifest,
    /// How the run left the workspace; unknown only for a full restore.
    boundary: Option<Manifest>,
    /// Who changed what between the two; unknown only for a full restore.
    authorship: Option<Authorship>,
    /// Nodes that may have been at work since the newest boundary, and may have died there.
    unended: Vec<Execution>,
    protect: Vec<RelPathBuf>,
}

/// What a rewind did, beside the lines of its restore.
#[derive(Default)]
pub struct Findings {
    /// How many paths were in scope; unknown for the whole tree.
    pub scope_count: Option<usize>,
    /// Paths that were restored although somebody had changed them since the newest boundary.
    pub overwritten: Vec<RelPathBuf>,
    /// Paths that somebody changed and that stay as they are.
    pub left: Vec<RelPathBuf>,
    /// Paths in scope that somebody else changed too while the run was parked.
    pub overlap: Vec<RelPathBuf>,
    /// Restored paths that another run changed in this workspace, too.
    pub shared: Vec<Shared>,
    /// What could not be found out, and why; the restore is done all the same.
    pub unknown: Vec<Error>,
    /// Paths of which nobody can tell who changed them; they stay as they are.
    pub undecided: Vec<RelPathBuf>,
    /// Those of them that changed since the newest boundary, behind which a node never ended.
    pub since_unended: Vec<RelPathBuf>,
    /// Paths that the target or the bank did not capture.
    pub gaps: BTreeMap<RelPathBuf, Gap>,
}

impl Prepared {
    /// The newest boundary, where there is one.
    #[must_use]
    pub fn boundary(&self) -> Option<&Manifest> {
        self.boundary.as_ref()
    }

    /// Nodes that have begun and may not have ended: whose what changed since the newest boundary is, nobody can tell.
    #[must_use]
    pub fn unended(&self) -> &[Execution] {
        &self.unended
    }

    /// Whether the run changed nothing since the pivot, so that there is nothing to restore.
    #[must_use]
    pub fn is_empty(&self, extent: Extent) -> bool {
        extent == Extent::Produced && self.authorship.as_ref().is_some_and(|it| it.produced().is_empty())
    }
}

/// What shows, beside marks, that the run stood still.
pub struct Evidence<'a> {
    /// Between two boundaries.
    pub between: StopEvidence<'a>,
    /// Since the newest boundary; that its process died does not show it.
    pub since: &'a dyn Fn(&Manifest) -> bool,
}

/// Finds out everything that a rewind needs. Changes nothing.
///
/// # Errors
/// Those of [`History::pivot`], [`History::newest_boundary`] and [`History::authorship`]; [`Kind::Usage`](crate::error::Kind::Usage) for a protected
/// path outside the workspace; [`Kind::Damaged`](crate::error::Kind::Damaged) for a target that cannot be read.
pub fn prepare(place: &Place<'_>, index: &Index, request: &Request, stopped: &Evidence<'_>) -> Result<Prepared> {
    let Place { workspace, history, .. } = *place;
    let protect = request.protect.iter().map(|path| restore::map_protected(workspace, path));
    let protect = protect.collect::<Result<_>>()?;
    let pivot = history.pivot(index, &request.node, request.iteration)?;
    let target = history.manifest(&pivot.target)?;
    let known = known_changes(history, index, &pivot, stopped.between);
    let (boundary, authorship) = match (known, request.extent) {
        (Ok((boundary, authorship)), _) => (Some(boundary), Some(authorship)),
        // The whole tree can be put back whoever changed it, unless somebody's edits are to be kept.
        (Err(_), Extent::Full) if !request.keep_edited => (None, None),
        (Err(_), Extent::None) => (None, None),
        (Err(error), _) => return Err(without_guessing(error)),
    };
    restore::refuse_other_root(workspace, &target, false)?;
    let unended = match &boundary {
        Some(boundary) if !(stopped.since)(boundary) => history.unended(index, boundary)?,
        _ => Vec::new(),
    };
    Ok(Prepared { pivot, target, boundary, authorship, unended, protect })
}

fn known_changes(
    history: &History,
    index: &Index,
    pivot: &Pivot,
    stopped: StopEvidence<'_>,
) -> Result<(Manifest, Authorship)> {
    let boundary = history.newest_boundary(index, &pivot.target)?;
    let pool = Pool::open(history.store())?;
    let authorship = history.authorship(index, &pivot.target, Some(&boundary.id), pool.as_ref(), stopped)?;
    Ok((boundary, authorship))
}

fn without_guessing(error: Error) -> Error {
    error
        .while_doing("cannot tell what the run produced")
        .hint("nothing was changed; --restore-scope full puts the whole tree back, none leaves it")
}

/// Restores the scope, or with `dry_run` only plans it. `bank` is the capture that was taken of the workspace; without one
/// it is looked at.
///
/// # Errors
/// Those of [`restore::run`].
pub fn carry_out(
    place: &Place<'_>,
    index: &Index,
    request: &Request,
    prepared: &Prepared,
    bank: Option<&Manifest>,
) -> Result<(Report, Findings)> {
    let pool = Pool::open(place.history.store())?;
    // What was there is compared first: afterwards it is gone, and whatever fails must have changed nothing.
    let met = if let Some(bank) = bank {
        let before = Side { covers: CoverageRules::load(bank, pool.as_ref())?, manifest: bank };
        Met::compare(prepared, &before, pool.as_ref())?
    } else {
        let Place { workspace, history, .. } = *place;
        let look = Look { workspace, history, index, cap_bytes: request.cap_bytes, limits: &[] };
        Met::compare(prepared, &look.at(&prepared.target)?.side(), pool.as_ref())?
    };
    let produced = prepared.authorship.as_ref().map(Authorship::produced).unwrap_or_default();
    let scope = match request.extent {
        Extent::Full => None,
        Extent::Produced => Some(Scope::exact(produced.iter().map(|path| (*path).clone()).collect())),
        Extent::None => Some(Scope::exact(Vec::new())),
    };
    let edited_since = prepared.boundary.as_ref().filter(|_| request.keep_edited);
    // The bank has made another one.
    let index = place.history.index()?;
    let mut report = restore::run(
        place,
        &index,
        &restore::Request {
            target: prepared.target.id.clone(),
            scope,
            protect: prepared.protect.clone(),
            keep_edited: edited_since.map(|boundary| boundary.id.clone()),
            relocate: false,
            force: false,
            all_or_nothing: request.all_or_nothing,
            dry_run: request.dry_run,
            as_if_banked: request.dry_run,
            cap_bytes: request.cap_bytes,
        },
    )?;
    report.sort();
    let met_paths = met.off_target.clone();
    let mut findings = find(request, prepared, met, &report);
    if report.changed_the_rules() && !request.dry_run {
        match unhidden(place, &index, request, prepared, &met_paths, pool.as_ref()) {
            Ok(paths) => findings.left.extend(paths),
            Err(error) => findings.unknown.push(error.while_doing("cannot tell what the ignore rules had hidden")),
        }
        findings.left.sort_unstable();
    }
    let unknown;
    (findings.shared, unknown) = rivals::shared(place, &prepared.target.id, &touched(&report), pool.as_ref());
    findings.unknown.extend(unknown);
    Ok((report, findings))
}

/// What the ignore rules hid from the bank and the rules that were restored do not: no boundary shows who made it.
fn unhidden(
    place: &Place<'_>,
    index: &Index,
    request: &Request,
    prepared: &Prepared,
    met: &BTreeSet<RelPathBuf>,
    pool: Option<&Pool>,
) -> Result<Vec<RelPathBuf>> {
    let Place { workspace, history, .. } = *place;
    let look = Look { workspace, history, index, cap_bytes: request.cap_bytes, limits: &[] };
    let target = &prepared.target;
    let old = Side { covers: CoverageRules::load(target, pool)?, manifest: target };
    let now = look.at(target)?;
    let paths = diff::differences(&old, &now.side()).into_iter().map(|difference| difference.path.to_owned());
    Ok(paths.filter(|path| !met.contains(path)).collect())
}

/// What a rewind met.
#[derive(Default)]
struct Met {
    /// Paths that changed since the newest boundary.
    since_boundary: BTreeSet<RelPathBuf>,
    /// Paths that are not as the target records them; elsewhere there is nothing to leave and nothing to decide.
    off_target: BTreeSet<RelPathBuf>,
    gaps: BTreeMap<RelPathBuf, Gap>,
}

impl Met {
    fn compare(prepared: &Prepared, before: &Side<'_>, pool: Option<&Pool>) -> Result<Self> {
        let target = &prepared.target;
        let gaps =
            target.gaps.iter().chain(&before.manifest.gaps).map(|gap| (gap.path.clone(), gap.clone())).collect();
        let Some(boundary) = &prepared.boundary else { return Ok(Self { gaps, ..Self::default() }) };
        let differing = |manifest| -> Result<BTreeSet<RelPathBuf>> {
            let old = Side { covers: CoverageRules::load(manifest, pool)?, manifest };
            Ok(diff::differences(&old, before).into_iter().map(|difference| difference.path.to_owned()).collect())
        };
        Ok(Self { since_boundary: differing(boundary)?, off_target: differing(target)?, gaps })
    }
}

/// Says whose changes the restore met.
fn find(request: &Request, prepared: &Prepared, met: Met, report: &Report) -> Findings {
    let Met { since_boundary, off_target, gaps } = met;
    let mut findings = Findings { gaps, ..Findings::default() };
    let Some(authorship) = &prepared.authorship else { return findings };
    let touched = touched(report);
    let kept: BTreeSet<&RelPath> =
        report.lines.iter().filter(|line| matches!(line.action, Action::Keep(_))).map(|line| &*line.path).collect();
    let produced = authorship.produced();
    let in_scope = |path: &RelPath| match request.extent {
        Extent::Full => true,
        Extent::Produced => produced.contains(&path.to_owned()),
        Extent::None => false,
    };
    let stays = |path: &RelPath| off_target.contains(path) && !touched.contains(path);
    let mut undecided: BTreeSet<&RelPath> =
        authorship.undecided().into_iter().map(|path| &**path).filter(|path| stays(path)).collect();
    if !prepared.unended.is_empty() {
        let since = since_boundary.iter().map(|path| &**path).filter(|path| stays(path));
        let since: Vec<&RelPath> = since.filter(|path| !in_scope(path) || kept.contains(path)).collect();
        findings.since_unended = since.iter().map(|path| (*path).to_owned()).collect();
        undecided.extend(since);
    }
    let mut left: BTreeSet<&RelPath> =
        authorship.parked().into_iter().map(|path| &**path).filter(|path| stays(path)).collect();
    left.retain(|path| !undecided.contains(path));
    for path in &since_boundary {
        if touched.contains(&**path) {
            findings.overwritten.push(path.clone());
        } else if !undecided.contains(&**path) && (!in_scope(path) || kept.contains(&**path)) {
            left.insert(path);
        }
    }
    findings.scope_count = match request.extent {
        Extent::Produced => Some(produced.len()),
        Extent::Full => None,
        Extent::None => Some(0),
    };
    findings.left = left.into_iter().map(RelPath::to_owned).collect();
    findings.undecided = undecided.into_iter().map(RelPath::to_owned).collect();
    if request.extent != Extent::None {
        findings.overlap =
            authorship.overlap().into_iter().filter(|path| touched.contains(&***path)).cloned().collect();
    }
    findings
}

/// The paths that were restored.
fn touched(report: &Report) -> BTreeSet<&RelPath> {
    report.lines.iter().filter(|line| !matches!(line.action, Action::Keep(_))).map(|line| &*line.path).collect()
}
