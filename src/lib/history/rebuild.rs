//! Making again what derives from other documents: the index from manifests and journal, pins from manifests.
//!
//! Head is what the journal says last, as far as that snapshot can be read, else the newest snapshot that no other names
//! as its parent. Labels are what the journal says last; an own label that the journal never mentions (the original
//! keeps no journal) points to the newest snapshot made under it. The stat cache starts empty: the next capture reads
//! every file once.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use super::History;
use super::hashes;
use super::index::RowsUpdate;
use super::journal::{HEAD, Journal, Move};
use super::manifest::{Manifest, pin_json_of, pinned_hashes};
use crate::clock;
use crate::error::{Error, Kind, Result};
use crate::store::fsio::document::{self, Published};
use crate::store::id::{ObjectId, SnapshotId};
use crate::store::{engine_lock, layout, read_document};

/// What was made again.
#[derive(Debug, Default)]
pub struct Rebuilt {
    /// Whether the index was written.
    pub is_written: bool,
    /// Where the index that was there is kept.
    pub kept: Option<PathBuf>,
    /// The newest snapshot of the chain now.
    pub head: Option<SnapshotId>,
    /// How many labels there are now.
    pub labels: usize,
    /// Labels that were there and point to nothing that can be read.
    pub dropped: Vec<String>,
    /// Pins that were written.
    pub pins: Vec<PathBuf>,
    /// Snapshots that could not be read, and why.
    pub unread: Vec<Error>,
}

impl History {
    /// Makes the index and the pins of the run again. What is right already stays as it is.
    ///
    /// # Errors
    /// [`Kind::NotFound`] when there is no such run, [`Kind::Conflict`] while an unrelated engine holds the run's lock and
    /// `while_running` is not set, [`Kind::Io`].
    pub fn rebuild(&self, while_running: bool) -> Result<Rebuilt> {
        if !layout::history(self.store().root(), self.run()).is_dir() {
            return Err(self.is_missing());
        }
        engine_lock::refuse_foreign_engine(self.store(), self.run(), while_running)?;
        let _lock = self.lock_for_change()?;
        let mut rebuilt = Rebuilt::default();
        let mut manifests = Vec::new();
        for id in self.snapshot_ids()? {
            match self.manifest(&id) {
                Ok(manifest) => {
                    self.renew_pin(&manifest, &mut rebuilt)?;
                    // The entries of every snapshot at once would not fit everywhere.
                    manifests.push(Manifest { entries: Vec::new(), gaps: Vec::new(), ..manifest });
                }
                Err(error) => rebuilt.unread.push(error),
            }
        }
        self.rebuild_index(&manifests, &mut rebuilt)?;
        Ok(rebuilt)
    }

    fn rebuild_index(&self, manifests: &[Manifest], rebuilt: &mut Rebuilt) -> Result<()> {
        let readable: HashSet<&str> = manifests.iter().map(|manifest| manifest.id.as_str()).collect();
        let is_there = |id: &str| readable.contains(id);
        let journal = self.journal()?;
        let (old, rows) = match self.index() {
            Ok(index) if index.rows().is_ok() => (Some(index), RowsUpdate::Keep),
            Ok(index) => (Some(index), RowsUpdate::Replace(b"{}".to_vec())),
            Err(error) if error.kind() == Kind::Damaged => (None, RowsUpdate::Replace(b"{}".to_vec())),
            Err(error) => return Err(error),
        };
        let old_head = old.as_ref().and_then(|index| index.head.clone()).filter(|id| is_there(id.as_str()));
        let mut labels = BTreeMap::new();
        if old_head.is_none() {
            labels = labels_of(manifests, &journal);
        }
        for (label, id) in old.iter().flat_map(|index| &index.labels) {
            labels.insert(label.clone(), id.clone());
        }
        rebuilt.dropped = labels.iter().filter(|(_, id)| !is_there(id)).map(|(label, _)| label.clone()).collect();
        labels.retain(|_, id| is_there(id));
        let head = old_head.or_else(|| head_of(manifests, &journal, &is_there));

        (rebuilt.head, rebuilt.labels) = (head.clone(), labels.len());
        let mut index = old.unwrap_or_default();
        let is_right = index.head == head && index.labels == labels && matches!(rows, RowsUpdate::Keep);
        if is_right && (head.is_none() || layout::index(self.store().root(), self.run()).exists()) {
            return Ok(());
        }
        rebuilt.kept = self.keep_index()?;
        self.journal_differences(&journal, head.as_ref(), &labels)?;
        index.head = head;
        index.labels = labels;
        self.write_index(&index, &rows)?;
        rebuilt.is_written = true;
        Ok(())
    }

    /// Gives the index that is there a second name, so that it is kept and never missing.
    fn keep_index(&self) -> Result<Option<PathBuf>> {
        let path = layout::index(self.store().root(), self.run());
        if std::fs::symlink_metadata(&path).is_err() {
            return Ok(None);
        }
        let durability = self.store().durability();
        let mut ns = clock::now_ns();
        loop {
            let aside = layout::broken(&path, ns);
            let kept = match read_document(&path) {
                Ok(bytes) => document::publish_new(&aside, &[&bytes], durability)?,
                // Not a regular file: it cannot be replaced, so it must get out of the way.
                Err(error) if error.kind() == Kind::Damaged || error.kind() == Kind::NotFound => {
                    document::move_aside(&path, &aside, durability)?
                }
                Err(error) => return Err(error),
            };
            if kept == Published::New {
                return Ok(Some(aside));
            }
            ns = ns.saturating_add(1);
        }
    }

    /// The journal must tell what the index says now: it is what the next rebuild goes by.
    fn journal_differences(
        &self,
        journal: &Journal,
        head: Option<&SnapshotId>,
        labels: &BTreeMap<String, String>,
    ) -> Result<()> {
        let last = journal.targets();
        let mut now: BTreeMap<&str, &str> = labels.iter().map(|(label, id)| (&**label, &**id)).collect();
        now.extend(head.map(|id| (HEAD, id.as_str())));
        let moves: Vec<Move> = last
            .keys()
            .chain(now.keys())
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .filter(|label| last.get(**label) != now.get(**label))
            .map(|label| Move {
                label: (*label).to_owned(),
                old: last.get(label).map(|id| (*id).to_owned()),
                new: now.get(label).and_then(|id| SnapshotId::parse(id)),
            })
            .collect();
        if moves.is_empty() {
            return Ok(());
        }
        if journal.marks.is_empty() && !journal.damaged_lines.is_empty() {
            let path = layout::journal(self.store().root(), self.run());
            let aside = layout::broken(&path, clock::now_ns());
            document::move_aside(&path, &aside, self.store().durability())?;
        }
        self.append_journal(&moves)
    }

    /// Writes a manifest's pin if it does not list all that it must.
    fn renew_pin(&self, manifest: &Manifest, rebuilt: &mut Rebuilt) -> Result<()> {
        let mut wanted = pinned_hashes(manifest);
        let path = layout::pin(self.store().root(), self.run(), &manifest.id);
        let (mut listed, mut in_text) = (HashSet::new(), HashSet::new());
        let is_readable = match read_document(&path) {
            Ok(bytes) => {
                hashes::for_each_in_text(&bytes, &mut |id| {
                    in_text.insert(id);
                });
                hashes::for_each_named(&bytes, &mut |id| {
                    listed.insert(id);
                })
                .is_ok()
            }
            Err(error) if error.kind() == Kind::NotFound => wanted.is_empty(),
            Err(_) => false,
        };
        if is_readable && wanted.iter().all(|(id, _)| listed.contains(id)) {
            return Ok(());
        }
        // Whatever stood there is kept alive; nobody knows why it was.
        let known: HashSet<ObjectId> = wanted.iter().map(|(id, _)| *id).collect();
        wanted.extend(in_text.into_iter().filter(|id| !known.contains(id)).map(|id| (id, 0)));
        wanted.sort_unstable();
        let json = pin_json_of(manifest.id.as_str(), &wanted);
        document::replace(&path, &[&json], self.store().durability())?;
        rebuilt.pins.push(path);
        Ok(())
    }
}

fn head_of(manifests: &[Manifest], journal: &Journal, is_there: &dyn Fn(&str) -> bool) -> Option<SnapshotId> {
    let marked =
        journal.marks.iter().rev().filter(|mark| mark.label == HEAD).filter_map(|mark| mark.new.as_deref());
    if let Some(id) = marked.into_iter().find(|id| is_there(id)).and_then(SnapshotId::parse) {
        return Some(id);
    }
    let parents: HashSet<&SnapshotId> = manifests.iter().filter_map(|manifest| manifest.parent.as_ref()).collect();
    let mut ids = manifests.iter().map(|manifest| &manifest.id).rev();
    let newest = ids.clone().next();
    ids.find(|id| !parents.contains(id)).or(newest).cloned()
}

fn labels_of(manifests: &[Manifest], journal: &Journal) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    // Oldest first: the newest snapshot made under a label has it.
    for manifest in manifests {
        if let Some(label) = &manifest.label {
            labels.insert(label.clone(), manifest.id.to_string());
        }
    }
    for mark in journal.marks.iter().filter(|mark| mark.label != HEAD) {
        match &mark.new {
            Some(id) => labels.insert(mark.label.clone(), id.clone()),
            None => labels.remove(&mark.label),
        };
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::manifest::parse;

    fn manifest(id: &str, parent: &str, label: &str) -> Manifest {
        let text =
            format!(r#"{{"id":"{id}","parent":"{parent}","label":"{label}","created_at":"","entries":null}}"#);
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn without_a_journal_head_is_the_newest_that_nobody_names_as_parent() {
        let chain =
            [manifest("1-0001", "", ""), manifest("2-0001", "1-0001", ""), manifest("3-0001", "2-0001", "")];
        let head = |manifests: &[Manifest]| head_of(manifests, &Journal::default(), &|_| true).unwrap();
        assert_eq!(head(&chain).as_str(), "3-0001");
        assert_eq!(head(&chain[..2]).as_str(), "2-0001");
        let ring = [manifest("1-0001", "2-0001", ""), manifest("2-0001", "1-0001", "")];
        assert_eq!(head(&ring).as_str(), "2-0001");
    }

    #[test]
    fn an_own_label_counts_only_where_the_journal_never_mentions_it() {
        let manifests = [manifest("1-0001", "", "a"), manifest("2-0001", "", "a"), manifest("3-0001", "", "gone")];
        let mark = |label: &str, new: Option<&str>| crate::history::journal::Mark {
            seq: 1,
            time: String::new(),
            label: label.into(),
            old: None,
            new: new.map(str::to_owned),
        };
        let marks = vec![mark("gone", Some("3-0001")), mark("gone", None), mark("b", Some("1-0001"))];
        let labels = labels_of(&manifests, &Journal { marks, ..Journal::default() });
        let expected = [("a", "2-0001"), ("b", "1-0001")];
        assert_eq!(labels.iter().map(|(label, id)| (&**label, &**id)).collect::<Vec<_>>(), expected);
    }
}
