//! [`Stat`]: how many lines each path gained and lost, as `git diff --stat` writes it.

use super::patch::{Content, Patch};
use super::{At, Difference, Letter};
use crate::history::manifest::Node;
use crate::stream::quote;

/// Columns that a line has when there are not too many changes to draw.
const WIDTH: usize = 80;
/// Columns that the bar has at least.
const BAR_WIDTH_MIN: usize = 10;

/// The counts of a whole comparison.
#[derive(Default)]
pub struct Stat {
    rows: Vec<(String, Count)>,
}

enum Count {
    Lines { added: usize, removed: usize },
    Words(String),
}

/// One line: what stands before the bar, and how many `+` and `-` it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatLine {
    /// Name and number.
    pub text: String,
    /// How many `+`.
    pub plus: usize,
    /// How many `-`.
    pub minus: usize,
}

impl Stat {
    /// Counts one difference.
    pub fn add(&mut self, difference: &Difference<'_>, patch: &Patch<'_>) {
        let name = String::from_utf8_lossy(&quote::c_quote(difference.path.as_bytes())).into_owned();
        let is_dir = |at: At<'_>| at.entry().is_some_and(|entry| entry.node == Node::Dir);
        let count = match (difference.letter, patch.counts()) {
            (Letter::Uncaptured, _) => Count::Words("uncaptured".into()),
            _ if is_dir(difference.old) || is_dir(difference.new) => Count::Words("directory".into()),
            (_, Some((added, removed))) => Count::Lines { added, removed },
            (_, None) if patch.has(&Content::TooLarge) => Count::Words("too large to compare".into()),
            (_, None) => Count::Words(format!("Bin {} -> {} bytes", size(difference.old), size(difference.new))),
        };
        self.rows.push((name, count));
    }

    /// The lines, one a path.
    #[must_use]
    pub fn lines(&self) -> Vec<StatLine> {
        let name_width = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let most = self.rows.iter().map(|(_, count)| count.changes()).max().unwrap_or(0);
        let has_words = self.rows.iter().any(|(_, count)| matches!(count, Count::Words(_)));
        let number_width = most.to_string().len().max(if has_words { 3 } else { 0 });
        let bar_width = WIDTH.saturating_sub(name_width + number_width + 6).max(BAR_WIDTH_MIN);
        let line = |(name, count): &(String, Count)| match count {
            Count::Words(words) => StatLine { text: format!(" {name:name_width$} | {words}"), plus: 0, minus: 0 },
            Count::Lines { added, removed } => {
                let total = added + removed;
                let bar = if total == 0 { "" } else { " " };
                let (plus, minus) = scaled(*added, *removed, most, bar_width);
                StatLine { text: format!(" {name:name_width$} | {total:number_width$}{bar}"), plus, minus }
            }
        };
        self.rows.iter().map(line).collect()
    }

    /// The sum of it all, in words; `None` when nothing differs.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        if self.rows.is_empty() {
            return None;
        }
        let sum = |pick: fn(&Count) -> usize| self.rows.iter().map(|(_, count)| pick(count)).sum::<usize>();
        let added = sum(|count| if let Count::Lines { added, .. } = count { *added } else { 0 });
        let removed = sum(|count| if let Count::Lines { removed, .. } = count { *removed } else { 0 });
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let files = format!(" {} file{} changed", self.rows.len(), plural(self.rows.len()));
        let insertions = format!(", {added} insertion{}(+)", plural(added));
        let deletions = format!(", {removed} deletion{}(-)", plural(removed));
        Some(match (added, removed) {
            (1.., 0) => files + &insertions,
            (0, 1..) => files + &deletions,
            _ => files + &insertions + &deletions,
        })
    }
}

impl Count {
    fn changes(&self) -> usize {
        match self {
            Self::Lines { added, removed } => added + removed,
            Self::Words(_) => 0,
        }
    }
}

fn size(at: At<'_>) -> u64 {
    match at.entry().map(|entry| &entry.node) {
        Some(Node::File { size, .. }) => *size,
        Some(Node::Link { target }) => target.len() as u64,
        Some(Node::Dir) | None => 0,
    }
}

/// Shrinks a bar to the width there is; what is not nothing keeps at least one mark.
fn scaled(added: usize, removed: usize, most: usize, width: usize) -> (usize, usize) {
    if most <= width {
        return (added, removed);
    }
    let scale = |count: usize| if count == 0 { 0 } else { 1 + count * (width - 1) / most };
    let mut total = scale(added + removed);
    if total < 2 && added > 0 && removed > 0 {
        total = 2;
    }
    if added < removed {
        let plus = scale(added);
        (plus, total.saturating_sub(plus))
    } else {
        let minus = scale(removed);
        (total.saturating_sub(minus), minus)
    }
}
