//! The label journal, `labels.log`: every change of a label or of head, appended before the index is written.
//!
//! ```text
//! {"seq":7,"time":"2026-11-29T12:44:31.5Z","label":"pause:review:0","old":"<id>"|null,"new":"<id>"|null}
//! ```
//!
//! Head changes carry the label `HEAD`. The journal is the reflog; it rebuilds a lost index, and since lines are never
//! rewritten it gives authorship the stop and resume marks that labels lose when they are pointed elsewhere. A line
//! cut short by a crash is isolated by the next append and skipped by readers.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use serde::Deserialize;

use super::History;
use super::index::Index;
use super::json::{push_key, push_number, push_string};
use crate::clock;
use crate::error::{Error, IoContext, Kind, Result};
use crate::store::fsio::{self, Durability};
use crate::store::id::SnapshotId;
use crate::store::{layout, read_log, read_log_end};

/// The label under which head changes stand.
pub const HEAD: &str = "HEAD";

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Number of the line, from 1.
    pub seq: u64,
    /// When, RFC 3339.
    pub time: String,
    /// The label, or [`HEAD`].
    pub label: String,
    /// What it pointed to before.
    pub old: Option<String>,
    /// What it points to now.
    pub new: Option<String>,
}

#[derive(Deserialize)]
struct MarkJson<'a> {
    seq: u64,
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(borrow)]
    label: Cow<'a, str>,
    #[serde(borrow)]
    old: Option<Cow<'a, str>>,
    #[serde(borrow)]
    new: Option<Cow<'a, str>>,
}

/// What a journal holds.
#[derive(Debug, Default)]
pub struct Journal {
    /// The changes, oldest first.
    pub marks: Vec<Mark>,
    /// Numbers of the lines, from 1, that could not be understood.
    pub damaged_lines: Vec<usize>,
    /// Whether the last line was cut short.
    pub is_torn: bool,
}

impl Journal {
    /// What it says that every label, and [`HEAD`], points to now.
    #[must_use]
    pub fn targets(&self) -> BTreeMap<&str, &str> {
        let mut targets = BTreeMap::new();
        for mark in &self.marks {
            match &mark.new {
                Some(id) => targets.insert(&*mark.label, &**id),
                None => targets.remove(&*mark.label),
            };
        }
        targets
    }
}

impl Journal {
    /// The changes that came about, oldest first. The journal is written before the index, so a change may stand here that
    /// died before it did: the next one of that label, or the index, still has the value from before it.
    #[must_use]
    pub fn effective(&self, index: &Index) -> Vec<&Mark> {
        let mut afterwards: HashMap<&str, Option<&str>> = HashMap::new();
        let mut marks = Vec::with_capacity(self.marks.len());
        for mark in self.marks.iter().rev() {
            let (old, new) = (mark.old.as_deref(), mark.new.as_deref());
            let next = afterwards.insert(&mark.label, old).unwrap_or_else(|| match mark.label.as_str() {
                HEAD => index.head.as_ref().map(SnapshotId::as_str),
                label => index.labels.get(label).map(String::as_str),
            });
            if next == new || next != old {
                marks.push(mark);
            }
        }
        marks.reverse();
        marks
    }
}

/// A change to be made: a label or [`HEAD`], and what it is to point to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The label.
    pub label: String,
    /// What it points to now, as text.
    pub old: Option<String>,
    /// What it is to point to; `None` deletes it.
    pub new: Option<SnapshotId>,
}

impl History {
    /// Reads the journal; an absent one is empty.
    ///
    /// # Errors
    /// [`Kind::Io`]. A damaged line is counted, not an error.
    pub fn journal(&self) -> Result<Journal> {
        let document = match read_log(&layout::journal(self.store().root(), self.run())) {
            Ok(document) => document,
            Err(error) if error.kind() == Kind::NotFound => return Ok(Journal::default()),
            Err(error) => return Err(error),
        };
        let is_torn = document.last().is_some_and(|byte| *byte != b'\n');
        let mut journal = Journal { is_torn, ..Journal::default() };
        for (number, line) in document.split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice::<MarkJson<'_>>(line) {
                Ok(mark) => journal.marks.push(Mark {
                    seq: mark.seq,
                    time: mark.time.into_owned(),
                    label: mark.label.into_owned(),
                    old: mark.old.map(Cow::into_owned),
                    new: mark.new.map(Cow::into_owned),
                }),
                Err(_) => journal.damaged_lines.push(number + 1),
            }
        }
        Ok(journal)
    }

    /// Appends changes in one write and flushes them. The caller holds the history lock.
    pub(super) fn append_journal(&self, moves: &[Move]) -> Result<()> {
        let path = layout::journal(self.store().root(), self.run());
        let (last, is_torn) = self.journal_tail()?;
        let time = clock::rfc3339(clock::now_ns());
        let mut lines = Vec::new();
        if is_torn {
            lines.push(b'\n');
        }
        for (change, seq) in moves.iter().zip(last + 1..) {
            write_line(&mut lines, seq, &time, change);
        }
        let dir =
            fsio::open_store_dir(&layout::history(self.store().root(), self.run())).on("cannot open", &path)?;
        let name = path.file_name().map(OsStrExt::as_bytes).unwrap_or_default();
        fsio::append(dir.as_fd(), name, &lines, self.store().durability()).on("cannot append to", &path)?;
        if last == 0 && self.store().durability() == Durability::Flushed {
            fsio::flush_dir(dir.as_fd(), name).on("cannot flush the directory of", &path)?;
        }
        Ok(())
    }

    /// The last sequence number, and whether the last line was cut short.
    fn journal_tail(&self) -> Result<(u64, bool)> {
        let path = layout::journal(self.store().root(), self.run());
        // A journal grows with its run, and a change of a label must not.
        let (end, is_whole) = match read_log_end(&path, TAIL_BYTES) {
            Ok(read) => read,
            Err(error) if error.kind() == Kind::NotFound => return Ok((0, false)),
            Err(error) => return Err(error),
        };
        let is_torn = end.last().is_some_and(|byte| *byte != b'\n');
        // The first of these lines may have begun before.
        let whole = if is_whole { 0 } else { memchr::memchr(b'\n', &end).map_or(end.len(), |first| first + 1) };
        if let Some(seq) = last_seq(end.get(whole..).unwrap_or_default()) {
            return Ok((seq, is_torn));
        }
        let document = if is_whole { end } else { read_log(&path)? };
        if let Some(seq) = last_seq(&document) {
            return Ok((seq, is_torn));
        }
        // The very first append may have been cut short, too.
        if lines_backwards(&document).count() <= usize::from(is_torn) {
            return Ok((0, is_torn));
        }
        Err(Error::damaged(&path, "no line of it can be understood").hint("'wt-fsck' examines the store"))
    }
}

/// Bytes within which the last line of a journal ends, unless it is damaged.
const TAIL_BYTES: u64 = 16 * 1024;

/// The lines that are not empty, the last one first.
fn lines_backwards(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn last_seq(lines: &[u8]) -> Option<u64> {
    lines_backwards(lines)
        .filter_map(|line| serde_json::from_slice::<MarkJson<'_>>(line).ok())
        .map(|mark| mark.seq)
        .next()
}

fn write_line(out: &mut Vec<u8>, seq: u64, time: &str, change: &Move) {
    out.push(b'{');
    push_key(out, "seq");
    push_number(out, seq);
    push_key(out, "time");
    push_string(out, time);
    push_key(out, "label");
    push_string(out, &change.label);
    for (key, id) in [("old", change.old.as_deref()), ("new", change.new.as_ref().map(SnapshotId::as_str))] {
        push_key(out, key);
        match id {
            Some(id) => push_string(out, id),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_died_before_the_index_did_not_come_about() {
        let change = |label: &str, old: Option<&str>, new: Option<&str>| Mark {
            seq: 0,
            time: String::new(),
            label: label.to_owned(),
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
        };
        let marks = vec![
            change("a", None, Some("1-1")),
            change("a", None, Some("2-1")),
            change("b", None, Some("2-1")),
            change("a", Some("2-1"), Some("2-1")),
            change("c", None, Some("3-1")),
            change("a", Some("2-1"), Some("3-1")),
            change("a", Some("2-1"), None),
        ];
        let journal = Journal { marks, ..Journal::default() };
        let kept = |index: &Index| -> Vec<usize> {
            let place = |mark: &Mark| journal.marks.iter().position(|other| std::ptr::eq(other, mark)).unwrap();
            journal.effective(index).into_iter().map(place).collect()
        };
        let mut index = Index::default();
        assert_eq!(kept(&index), [1, 3, 6]);
        index.labels.insert("a".into(), "2-1".into());
        // Somebody who keeps no journal has moved this one on.
        index.labels.insert("b".into(), "9-1".into());
        index.labels.insert("c".into(), "3-1".into());
        assert_eq!(kept(&index), [1, 2, 3, 4]);
    }
}
