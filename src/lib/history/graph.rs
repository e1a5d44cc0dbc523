//! [`Graph`]: lines beside a log that show which snapshot follows which.
//!
//! A snapshot has one parent, so lines only ever join. Each column waits for the parent of the snapshot last drawn in
//! it; when that comes, all columns that wait for it become one.

use std::collections::HashSet;

use crate::store::id::SnapshotId;

/// The lines that are open between two rows of a log that goes from newest to oldest.
#[derive(Debug, Default)]
pub struct Graph {
    columns: Vec<SnapshotId>,
    drawn: HashSet<SnapshotId>,
}

impl Graph {
    /// Draws the next snapshot: first the line on which columns join, if any do, then the one that it stands on.
    pub fn draw(&mut self, id: &SnapshotId, parent: Option<&SnapshotId>) -> (Option<String>, String) {
        let join = self.join(id);
        let at = self.columns.iter().position(|waiting| waiting == id).unwrap_or(self.columns.len());
        if at == self.columns.len() {
            self.columns.push(id.clone());
        }
        let marks = (0..self.columns.len()).map(|column| if column == at { "*" } else { "|" });
        let line = marks.collect::<Vec<_>>().join(" ");
        self.drawn.insert(id.clone());
        // A parent that was drawn already would be waited for in vain; only a damaged history has one.
        match (parent.filter(|parent| !self.drawn.contains(*parent)), self.columns.get_mut(at)) {
            (Some(parent), Some(column)) => column.clone_from(parent),
            _ => drop(self.columns.remove(at)),
        }
        (join, line)
    }

    /// Makes one column of all that wait for `id`.
    fn join(&mut self, id: &SnapshotId) -> Option<String> {
        let first = self.columns.iter().position(|waiting| waiting == id)?;
        let is_extra = |column: usize, waiting: &SnapshotId| column > first && waiting == id;
        let marks: Vec<&str> = self
            .columns
            .iter()
            .enumerate()
            .map(|(column, waiting)| if is_extra(column, waiting) { "/" } else { "|" })
            .collect();
        if !marks.contains(&"/") {
            return None;
        }
        let mut column = 0;
        self.columns.retain(|waiting| {
            column += 1;
            !is_extra(column - 1, waiting)
        });
        // A slash stands between its own column and the one to the left.
        Some(marks.join(" ").replace(" /", "/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_join_where_they_left() {
        let id = |n: u64| SnapshotId::new(n, 1);
        let mut graph = Graph::default();
        let mut lines = Vec::new();
        for (n, parent) in [(9, Some(7)), (8, Some(6)), (7, Some(5)), (6, Some(5)), (5, None), (4, None)] {
            let (join, line) = graph.draw(&id(n), parent.map(id).as_ref());
            lines.extend(join);
            lines.push(format!("{line} {n}"));
        }
        assert_eq!(lines, ["* 9", "| * 8", "* | 7", "| * 6", "|/", "* 5", "* 4"]);
    }

    #[test]
    fn a_parent_newer_than_its_child_is_not_waited_for() {
        let id = |n: u64| SnapshotId::new(n, 1);
        let mut graph = Graph::default();
        graph.draw(&id(2), Some(&id(1)));
        assert_eq!(graph.draw(&id(1), Some(&id(2))), (None, "*".into()));
        assert_eq!(graph.draw(&id(0), None), (None, "*".into()));
    }
}
