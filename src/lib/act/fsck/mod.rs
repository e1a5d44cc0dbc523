//! Fsck: looks at everything in a store and says what is wrong, how bad it is, and what mends it.
//!
//! The check itself changes nothing and takes no lock, so it may run beside anything. The three repairs are asked for
//! one by one: [`quarantine`], [`crate::history::History::rebuild`] and [`repair`]. It knows nothing of workspaces
//! except in `repair`.

mod chain;
mod documents;
mod index;
mod objects;
pub mod quarantine;
pub mod repair;

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Result, describe};
use crate::store::id::{ObjectId, RunId};
use crate::store::runs::RunDir;
use crate::store::{Store, layout};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing to worry about: garbage, or a trace of a killed program.
    Note,
    /// Nothing is lost, but something is not as it should be.
    Warning,
    /// Something is lost, or a command will fail.
    Error,
}

impl Severity {
    /// The word in lines and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing that is not as it should be.
#[derive(Debug)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// A stable word for programs.
    pub code: &'static str,
    /// What it is, for a person.
    pub detail: String,
    /// Where.
    pub path: PathBuf,
    /// What mends it.
    pub repair: String,
    /// The object, where it is about one.
    pub object: Option<ObjectId>,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Objects are hashed.
    Full,
    /// Of objects only presence and size are looked at.
    Quick,
}

/// Where the work stands, for a person who waits: so many of so many objects.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Looked at.
    pub done: usize,
    /// Of so many.
    pub all: usize,
}

/// Damaged and missing objects, with their sizes where a manifest says so.
pub type Wanted = HashMap<ObjectId, Option<u64>>;

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// Everything that is not as it should be, the worst first, then by path.
    pub findings: Vec<Finding>,
    /// Runs, documents and objects looked at.
    pub runs: usize,
    /// Manifests and pins looked at.
    pub documents: usize,
    /// Objects looked at.
    pub objects: usize,
    /// Damaged and missing objects.
    pub wanted: Wanted,
}

impl Report {
    fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        path: impl Into<PathBuf>,
        detail: impl Into<String>,
        repair: impl Into<String>,
    ) {
        let (path, detail, repair) = (path.into(), detail.into(), repair.into());
        self.findings.push(Finding { severity, code, detail, path, repair, object: None });
    }

    fn add_object(
        &mut self,
        severity: Severity,
        code: &'static str,
        (id, size): (ObjectId, Option<u64>),
        path: PathBuf,
        detail: String,
    ) {
        let repair = "wt-fsck --repair-from WORKSPACE stores it again if the workspace still has it".into();
        self.findings.push(Finding { severity, code, detail, path, repair, object: Some(id) });
        self.wanted.insert(id, size);
    }

    /// A file or directory that others may read holds somebody's secrets.
    fn check_mode(&mut self, path: &Path) {
        if let Ok(meta) = std::fs::symlink_metadata(path)
            && !meta.is_symlink()
        {
            self.check_mode_bits(path, meta.permissions().mode());
        }
    }

    fn check_mode_bits(&mut self, path: &Path, mode: u32) {
        if mode & 0o077 != 0 {
            let detail = format!("others may use it (mode {:04o})", mode & 0o7777);
            self.add(Severity::Warning, "mode-open", path, detail, "chmod go= takes that away");
        }
    }

    /// Whether anything is lost or will fail.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error).count()
    }

    /// How many findings are warnings.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Warning).count()
    }
}

/// Looks at one run of a store, or at all of it.
///
/// # Errors
/// [`crate::error::Kind::NotFound`] when there is no such run. Whatever is wrong with the store is a finding.
pub fn check(
    store: &Store,
    run: Option<&RunId>,
    depth: Depth,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Report> {
    let mut report = Report::default();
    let mut named = objects::Named::default();
    for dir in run_dirs(store, run, &mut report)? {
        report.runs += 1;
        let snapshots = documents::check(&dir.path, &mut named, &mut report);
        let reached = index::check(store, &dir, &snapshots, &mut report);
        chain::check(&snapshots, &reached, &mut report);
    }
    if run.is_none() {
        report.check_mode(store.root());
        report.check_mode(&layout::pool(store.root()));
    }
    objects::check(store, &named, run.is_some(), depth, &mut report, progress)?;
    report.findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.path.cmp(&b.path)));
    Ok(report)
}

fn run_dirs(store: &Store, run: Option<&RunId>, report: &mut Report) -> Result<Vec<RunDir>> {
    let runs = layout::runs(store.root());
    if let Some(run) = run {
        let dir = layout::run(store.root(), run);
        return if dir.is_dir() {
            Ok(vec![RunDir { path: dir, id: Some(run.clone()) }])
        } else {
            Err(store.no_run(run))
        };
    }
    let listed = store.runs();
    if runs.is_dir() {
        report.check_mode(&runs);
    }
    for path in listed.strangers {
        report.add(Severity::Note, "stranger", path, "not a run", "nothing to do");
    }
    for trouble in listed.troubles {
        unreadable(report, &trouble.path, &trouble.cause);
    }
    Ok(listed.dirs)
}

fn unreadable(report: &mut Report, path: &Path, error: &std::io::Error) {
    let repair = "make it readable, or mount the disk it lies on; prune removes nothing until then";
    report.add(Severity::Error, "unreadable", path, format!("cannot be read: {}", describe(error)), repair);
}

/// The runs of which a check found that index or pins must be made again.
#[must_use]
pub fn runs_to_rebuild(store: &Store, report: &Report) -> Vec<RunId> {
    let runs = layout::runs(store.root());
    let mut found: Vec<RunId> = report
        .findings
        .iter()
        .filter(|finding| finding.repair.contains("--rebuild-index"))
        .filter_map(|finding| finding.path.strip_prefix(&runs).ok()?.iter().next()?.to_str())
        .filter_map(|name| RunId::named(name).ok())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
