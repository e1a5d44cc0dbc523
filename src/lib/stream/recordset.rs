//! A whole record stream in memory: sorted, and free of duplicates and contradictions.

use std::io::BufRead;

use super::broken;
use super::record::Record;
use super::wire::{Header, Reader, Step};
use crate::error::Result;
use crate::store::relpath::RelPath;
use crate::stream::quote;

/// Everything that a complete stream said.
#[derive(Debug)]
pub struct RecordSet {
    /// What stood before the records.
    pub header: Header,
    /// The records, ascending by path bytes, each path once.
    pub records: Vec<Record>,
}

/// What came of reading a stream to its end.
#[derive(Debug)]
pub enum Outcome {
    /// It was complete.
    Complete(RecordSet),
    /// An earlier stage failed with this exit code, for this reason.
    Failed(u8, String),
}

impl RecordSet {
    /// Reads to the end of the stream, whatever its order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Damaged`] for a broken stream, two records of one path, or a path below a file.
    pub fn read<R: BufRead>(reader: Reader<R>, header: Header) -> Result<Outcome> {
        Self::read_on(reader, header, Vec::new())
    }

    /// As [`RecordSet::read`], for a stream whose first `records` were read already.
    ///
    /// # Errors
    /// As [`RecordSet::read`].
    pub fn read_on<R: BufRead>(mut reader: Reader<R>, header: Header, mut records: Vec<Record>) -> Result<Outcome> {
        loop {
            match reader.step()? {
                Step::Record(record) => records.push(record),
                Step::Failed(code, text) => return Ok(Outcome::Failed(code, text)),
                Step::End => break,
            }
        }
        Self::new(header, records).map(Outcome::Complete)
    }

    /// Takes everything that a complete stream would say, whatever its order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Damaged`] for two records of one path, or a path below a file.
    pub fn new(header: Header, mut records: Vec<Record>) -> Result<Self> {
        if !records.is_sorted_by(|a, b| a.path < b.path) {
            records.sort_by(|a, b| a.path.cmp(&b.path));
        }
        if let Some(problem) = contradiction(&records, |record| &record.path) {
            return Err(broken(format!("record stream: {problem}")));
        }
        Ok(Self { header, records })
    }
}

/// Says which two items of a sorted list cannot both be: one path twice, or a path below another one.
pub fn contradiction<T>(sorted: &[T], path: impl Fn(&T) -> &RelPath) -> Option<String> {
    for pair in sorted.windows(2) {
        if let [a, b] = pair
            && path(a) == path(b)
        {
            return Some(format!("path {} stands twice", quote::name(path(a).as_bytes())));
        }
    }
    let mut last_parent: Option<&RelPath> = None;
    for item in sorted {
        let parent = path(item).parent();
        if parent == last_parent {
            continue;
        }
        // What is above the item before, too, was looked for with that.
        let before = std::mem::replace(&mut last_parent, parent);
        let is_new = |dir: &&RelPath| !before.is_some_and(|before| before.is_within(dir));
        for ancestor in path(item).ancestors().take_while(is_new) {
            if sorted.binary_search_by(|other| path(other).cmp(ancestor)).is_ok() {
                return Some(format!(
                    "path {} cannot lie below {}",
                    quote::name(path(item).as_bytes()),
                    quote::name(ancestor.as_bytes())
                ));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::relpath::RelPathBuf;

    fn check(paths: &[&str]) -> Option<String> {
        let mut sorted: Vec<_> = paths.iter().map(|p| RelPathBuf::new(p.as_bytes()).unwrap()).collect();
        sorted.sort();
        contradiction(&sorted, |path| path)
    }

    #[test]
    fn finds_duplicates_and_paths_below_files_even_when_not_neighbours() {
        assert_eq!(check(&["a", "a.b", "ab/c", "b/c/d"]), None);
        assert!(check(&["a", "b", "a"]).is_some());
        assert!(check(&["a", "a.b", "a/b"]).is_some());
        assert!(check(&["b/c", "b/c.d", "b/c/d/e"]).is_some());
    }
}
