//! [`TextDiff`]: the lines that two texts differ in, as hunks of a unified diff.
//!
//! Lines are bytes: nothing is assumed of their encoding. A last line without its newline is another line than one with
//! it.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

/// Lines of context around a change.
const CONTEXT_LINES: usize = 3;

/// So long the shortest script is looked for; after that a longer one does.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(5);

/// Two texts, compared.
pub struct TextDiff<'t> {
    old: Vec<&'t [u8]>,
    new: Vec<&'t [u8]>,
    ops: Vec<DiffOp>,
}

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'t> {
    /// Where the hunk lies: its first line and how many lines it has, in the old and the new text.
    Hunk {
        /// In the old text.
        old: (usize, usize),
        /// In the new text.
        new: (usize, usize),
    },
    /// In both.
    Same(&'t [u8]),
    /// In the old text only.
    Removed(&'t [u8]),
    /// In the new text only.
    Added(&'t [u8]),
}

impl<'t> TextDiff<'t> {
    /// Compares.
    #[must_use]
    pub fn new(old: &'t [u8], new: &'t [u8]) -> Self {
        let (old, new) = (lines(old), lines(new));
        // Numbers are compared faster than lines.
        let mut numbers = HashMap::new();
        let mut number = |line: &&'t [u8]| {
            let next = numbers.len();
            *numbers.entry(*line).or_insert(next)
        };
        let old_numbers: Vec<usize> = old.iter().map(&mut number).collect();
        let new_numbers: Vec<usize> = new.iter().map(&mut number).collect();
        let deadline = Instant::now().checked_add(SEARCH_TIME_MAX);
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &old_numbers, &new_numbers, deadline);
        Self { old, new, ops }
    }

    /// How many lines were added and removed.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        self.ops.iter().fold((0, 0), |(added, removed), op| match *op {
            DiffOp::Equal { .. } => (added, removed),
            DiffOp::Delete { old_len, .. } => (added, removed + old_len),
            DiffOp::Insert { new_len, .. } => (added + new_len, removed),
            DiffOp::Replace { old_len, new_len, .. } => (added + new_len, removed + old_len),
        })
    }

    /// Calls `visit` for every line of every hunk.
    pub fn for_each_line(&self, mut visit: impl FnMut(Line<'t>)) {
        if self.counts() == (0, 0) {
            return;
        }
        for group in group_diff_ops(self.ops.clone(), CONTEXT_LINES) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            visit(Line::Hunk {
                old: place(first.old_range().start..last.old_range().end),
                new: place(first.new_range().start..last.new_range().end),
            });
            for op in &group {
                let (old, new) = (
                    self.old.get(op.old_range()).unwrap_or_default(),
                    self.new.get(op.new_range()).unwrap_or_default(),
                );
                // An equal stretch has the same lines on both sides.
                let (kept, removed) = if op.tag() == DiffTag::Equal { (old, &[][..]) } else { (&[][..], old) };
                let added = if op.tag() == DiffTag::Equal { &[][..] } else { new };
                for line in kept {
                    visit(Line::Same(line));
                }
                for line in removed {
                    visit(Line::Removed(line));
                }
                for line in added {
                    visit(Line::Added(line));
                }
            }
        }
    }
}

/// Lines with their newlines.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// First line, counted from 1, and length. An empty range is written as lying behind the line before it.
fn place(range: Range<usize>) -> (usize, usize) {
    (if range.is_empty() { range.start } else { range.start + 1 }, range.len())
}
