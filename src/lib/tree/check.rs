//! [`Check`]: whether single paths would be left out of a capture, and by which rule.

use std::path::Path;

use rustix::fs::AtFlags;

use super::beneath;
use super::root::Workspace;
use super::rules::{EntryKind, RuleRef, Rules};
use super::stat::FileStat;
use crate::error::Result;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::{paths, record};

/// The name under which the store stands among the hard exclusions: it is known by where it is, not by a pattern.
const STORE_PATTERN: &str = "<store>";

/// Answers for the paths of one workspace.
pub struct Check<'a> {
    workspace: &'a Workspace,
    rules: &'a Rules,
    store: Option<RelPathBuf>,
}

/// What decided on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider<'a> {
    /// A rule.
    Rule(RuleRef<'a>),
    /// A hard exclusion, written as a pattern.
    Hard(&'static str),
    /// No rule matches; such a path is included.
    Nothing,
}

/// Whether a path is left out, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer<'a> {
    /// Whether it is left out.
    pub is_ignored: bool,
    /// What decided that.
    pub decider: Decider<'a>,
}

impl<'a> Check<'a> {
    /// Begins with the rules that are in force and the store, wherever it lies.
    #[must_use]
    pub fn new(workspace: &'a Workspace, rules: &'a Rules, store: &Path) -> Self {
        let inside = store.canonicalize().ok().and_then(|store| {
            use std::os::unix::ffi::OsStrExt;
            let below = store.strip_prefix(workspace.path()).ok()?;
            RelPathBuf::new(below.as_os_str().as_bytes()).ok()
        });
        Self { workspace, rules, store: inside }
    }

    /// Answers for a path as somebody named it. A slash at its end makes it a directory; without one it is what is there
    /// now, and where nothing is, a file.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] when it is not a path relative to the workspace.
    pub fn answer(&self, name: &[u8]) -> Result<Answer<'a>> {
        let path = paths::parse(name)?;
        if self.store.as_ref().is_some_and(|store| path.is_within(store)) {
            return Ok(Answer { is_ignored: true, decider: Decider::Hard(STORE_PATTERN) });
        }
        let is_dir = name.ends_with(b"/") || self.is_dir(&path);
        let verdict = self.rules.verdict(&path, if is_dir { EntryKind::Dir } else { EntryKind::NotDir });
        let decider = match (verdict.hard_reason(), self.rules.decided_by(&verdict)) {
            (Some(reason), _) => Decider::Hard(reason.pattern()),
            (None, Some(rule)) => Decider::Rule(rule),
            (None, None) => Decider::Nothing,
        };
        Ok(Answer { is_ignored: !verdict.is_included(), decider })
    }

    /// A path that cannot be examined, for whatever reason, is no directory as far as anybody can tell.
    fn is_dir(&self, path: &RelPath) -> bool {
        beneath::open_dir(self.workspace.fd(), path.parent())
            .and_then(|dir| Ok(rustix::fs::statat(dir, path.file_name(), AtFlags::SYMLINK_NOFOLLOW)?))
            .is_ok_and(|stat| FileStat::from(stat).kind == record::EntryKind::Dir)
    }
}
