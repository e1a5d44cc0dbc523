//! [`Step`]: label changes that are made together, each on condition of what its label points to before.
//!
//! ```text
//! set TAB LABEL TAB SNAPSHOT [TAB OLD]
//! create TAB LABEL TAB SNAPSHOT
//! delete TAB LABEL [TAB OLD]
//! verify TAB LABEL TAB OLD            OLD is an id, or - for a label that must not exist
//! ```
//!
//! A batch is judged once before anything is locked, so that a request that cannot succeed leaves no trace, and again
//! under the history lock, where it counts. Either all of it is done or nothing.

use std::collections::BTreeSet;

use super::History;
use super::change::Change;
use super::index::Index;
use super::journal::HEAD;
use crate::error::{Error, Result};
use crate::store::engine_lock;
use crate::store::id::{Label, SnapshotId};
use crate::store::layout;
use crate::stream::{Framing, quote};

/// What a label must point to before a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Whatever it is.
    Any,
    /// It must not exist.
    Absent,
    /// This snapshot.
    At(SnapshotId),
}

/// One step of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Points a label to a snapshot, which is named as [`History::resolve`] takes it.
    Set(Label, String, Expected),
    /// Points the next label of a numbered family to a snapshot.
    SetNext(String, String),
    /// Removes a label, which must be there.
    Delete(String, Expected),
    /// Only looks.
    Verify(String, Expected),
}

/// A label that a batch moved, or found where it was to be moved to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The label.
    pub label: String,
    /// What it pointed to before; foreign ones may be no ids.
    pub old: Option<String>,
    /// What it points to now.
    pub new: Option<SnapshotId>,
}

impl Expected {
    /// Reads an id, or `-` for a label that must not exist.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`].
    pub fn named(text: &str) -> Result<Self> {
        if text == "-" {
            return Ok(Self::Absent);
        }
        SnapshotId::parse(text).map(Self::At).ok_or_else(|| {
            Error::usage(format!("not a snapshot id: {}", quote::name(text.as_bytes())))
                .hint("give the id that wt-label printed, or - for a label that must not exist")
        })
    }

    fn check(&self, label: &str, found: Option<&str>) -> Result<()> {
        let shown = quote::name(label.as_bytes());
        let problem = match (self, found) {
            (Self::Any, _) | (Self::Absent, None) => return Ok(()),
            (Self::At(id), Some(found)) if id.as_str() == found => return Ok(()),
            (Self::Absent, Some(found)) => {
                format!("label {shown} exists and points to {}", quote::name(found.as_bytes()))
            }
            (Self::At(id), None) => format!("label {shown} does not exist, and was to point to '{id}'"),
            (Self::At(id), Some(found)) => {
                format!("label {shown} points to {}, not to '{id}'", quote::name(found.as_bytes()))
            }
        };
        Err(Error::conflict(problem).hint("look where it points now, and decide again"))
    }
}

impl Step {
    /// Reads one item of a batch; its fields are written as names are in this framing.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`].
    pub fn parse(line: &[u8], framing: Framing) -> Result<Self> {
        let malformed = || {
            Error::usage(format!("not a step of a batch: {}", quote::name(crate::stream::clip(line))))
                .hint("fields are separated by tabs: set LABEL SNAPSHOT [OLD], create, delete, verify")
        };
        let field = |text| String::from_utf8(framing.decode(text)?.into_owned()).ok();
        let fields: Option<Vec<String>> = line.split(|byte| *byte == b'\t').map(field).collect();
        let fields = fields.ok_or_else(malformed)?;
        match *fields.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["set", label, snapshot] => Ok(Self::Set(Label::named(label)?, snapshot.into(), Expected::Any)),
            ["set", label, snapshot, old] => {
                Ok(Self::Set(Label::named(label)?, snapshot.into(), Expected::named(old)?))
            }
            ["create", label, snapshot] => Ok(Self::Set(Label::named(label)?, snapshot.into(), Expected::Absent)),
            ["delete", label] => Ok(Self::Delete(label.into(), Expected::Any)),
            ["delete", label, old] => Ok(Self::Delete(label.into(), Expected::named(old)?)),
            ["verify", label, old] => Ok(Self::Verify(label.into(), Expected::named(old)?)),
            _ => Err(malformed()),
        }
    }

    fn judge(&self, history: &History, index: &Index) -> Result<Moved> {
        let points_to = |label: &str| index.labels.get(label).cloned();
        match self {
            Self::Set(label, snapshot, expected) => {
                let old = points_to(label.as_str());
                expected.check(label.as_str(), old.as_deref())?;
                Ok(Moved { label: label.to_string(), old, new: Some(history.resolve_existing(index, snapshot)?) })
            }
            Self::SetNext(prefix, snapshot) => {
                let label = history.next_label(index, prefix)?.to_string();
                Ok(Moved { label, old: None, new: Some(history.resolve_existing(index, snapshot)?) })
            }
            Self::Delete(label, expected) => {
                refuse_head(label)?;
                let old = points_to(label);
                expected.check(label, old.as_deref())?;
                if old.is_none() {
                    return Err(Error::not_found(format!(
                        "run '{}' has no label {}",
                        history.run(),
                        quote::name(label.as_bytes())
                    ))
                    .hint("'wt-label --list' lists them"));
                }
                Ok(Moved { label: label.clone(), old, new: None })
            }
            Self::Verify(label, expected) => {
                refuse_head(label)?;
                let old = points_to(label);
                expected.check(label, old.as_deref())?;
                let new = old.as_deref().and_then(SnapshotId::parse);
                Ok(Moved { label: label.clone(), old, new })
            }
        }
    }
}

/// A foreign index may hold a label of that name; in the journal it means head, so it must not be moved as a label.
fn refuse_head(label: &str) -> Result<()> {
    if label == HEAD {
        return Err(Error::usage("HEAD is no label, it always means the newest snapshot").hint("name a label"));
    }
    Ok(())
}

impl History {
    /// Does all steps, or none. Returns one move a step, in their order, also where a label stayed where it was.
    ///
    /// # Errors
    /// [`crate::error::Kind::Conflict`] where a label is not as expected, or while an unrelated engine holds the run's
    /// lock and `while_running` is not set; [`crate::error::Kind::NotFound`] for a snapshot or label that is not there;
    /// [`crate::error::Kind::Usage`] when a label is named twice.
    pub fn change_labels(&self, steps: &[Step], while_running: bool) -> Result<Vec<Moved>> {
        engine_lock::refuse_foreign_engine(self.store(), self.run(), while_running)?;
        let mut index = self.index()?;
        let moves = self.judge(&index, steps)?;
        if steps.iter().all(|step| matches!(step, Step::Verify(..))) {
            // The index is one file and was read at one moment.
            return Ok(moves);
        }
        let _lock = self.lock_for_change()?;
        if !self.is_index(&index)? {
            index = self.index()?;
        }
        // Also what is pointed to may be gone meanwhile.
        let moves = self.judge(&index, steps)?;
        let is_change = |step: &Step| !matches!(step, Step::Verify(..));
        let changed = steps.iter().zip(&moves).filter(|(step, _)| is_change(step)).map(|(_, moved)| moved);
        let labels = changed.map(|moved| (moved.label.clone(), moved.new.clone())).collect();
        self.apply(&mut index, Change { labels, ..Change::default() })?;
        Ok(moves)
    }

    fn judge(&self, index: &Index, steps: &[Step]) -> Result<Vec<Moved>> {
        let mut named = BTreeSet::new();
        let mut all = Vec::with_capacity(steps.len());
        for step in steps {
            let moved = step.judge(self, index)?;
            if !named.insert(moved.label.clone()) {
                let shown = quote::name(moved.label.as_bytes());
                return Err(Error::usage(format!("label {shown} is named twice in one batch"))
                    .hint("name each label once; all steps are done together"));
            }
            all.push(moved);
        }
        Ok(all)
    }

    /// Says what the next label of a numbered family is; the prefix may end in its colon.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] when it would be no label, [`crate::error::Kind::Limit`] when the numbers are used
    /// up.
    pub fn next_label(&self, index: &Index, prefix: &str) -> Result<Label> {
        let label = Label::named(&super::label::next(index, prefix))?;
        if index.labels.contains_key(label.as_str()) {
            return Err(Error::limit(format!(
                "label {} is the last of its kind",
                quote::name(label.as_str().as_bytes())
            ))
            .hint("delete it, or choose another prefix"));
        }
        Ok(label)
    }

    /// Finds a snapshot by name, and that its manifest is there: what is newly pointed to must exist.
    fn resolve_existing(&self, index: &Index, name: &str) -> Result<SnapshotId> {
        let id = self.resolve(index, name)?;
        let path = layout::manifest(self.store().root(), self.run(), &id);
        if path.is_file() {
            return Ok(id);
        }
        Err(Error::not_found(format!("snapshot '{id}' has no manifest")).at(path).hint("'wt-log' lists snapshots"))
    }
}
