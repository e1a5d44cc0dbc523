//! How a person names a snapshot: `HEAD`, `HEAD~n`, an id, a label, or the beginning of an id (design section 5).

use super::History;
use super::index::Index;
use crate::error::{Error, Kind, Result};
use crate::store::id::SnapshotId;
use crate::stream::quote;

/// Shortest beginning of an id that is taken for one.
const PREFIX_DIGITS_MIN: usize = 8;

impl History {
    /// Finds the snapshot that `name` means: `HEAD`, `HEAD~n`, a full id, a label, a unique beginning of an id of at least
    /// eight digits, tried in this order. Resolve once and act on the id: labels move.
    ///
    /// # Errors
    /// [`crate::error::Kind::NotFound`] when nothing is called so, [`crate::error::Kind::Usage`] when more than one is.
    pub fn resolve(&self, index: &Index, name: &str) -> Result<SnapshotId> {
        let quoted = quote::name(name.as_bytes());
        let missing = |why: String| {
            let store = quote::path(self.store().root());
            Error::not_found(format!("{why} in store {store}")).hint(format!(
                "'wt-log --run {}' lists snapshots and labels; -C or --store names another store",
                self.run()
            ))
        };
        if name == "HEAD" || name.starts_with("HEAD~") {
            let steps = match name.strip_prefix("HEAD~") {
                None => 0,
                Some("") => 1,
                Some(count) => count.parse().map_err(|_| Error::usage(format!("not a snapshot: {quoted}")))?,
            };
            return self.ancestor(index, steps, &missing);
        }
        if let Some(id) = SnapshotId::parse(name) {
            let ids = self.snapshot_ids()?;
            if ids.contains(&id) {
                return Ok(id);
            }
            return Err(missing(format!("run '{}' has no snapshot {quoted}", self.run())));
        }
        if let Some(target) = index.labels.get(name) {
            return SnapshotId::parse(target)
                .ok_or_else(|| missing(format!("label {quoted} points to {}", quote::name(target.as_bytes()))));
        }
        let is_prefix = name.len() >= PREFIX_DIGITS_MIN && name.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if is_prefix {
            let ids = self.snapshot_ids()?;
            let mut found = ids.iter().filter(|id| id.as_str().starts_with(name));
            match (found.next(), found.next()) {
                (Some(id), None) => return Ok(id.clone()),
                (Some(first), Some(second)) => {
                    return Err(Error::usage(format!("{quoted} begins both '{first}' and '{second}'"))
                        .hint("give more digits"));
                }
                (None, _) => {}
            }
        }
        Err(missing(format!("run '{}' has no snapshot or label {quoted}", self.run())))
    }

    /// Says which snapshot a label, `HEAD` or `HEAD~n` points to; `None` when it is absent. Other names are not tried.
    ///
    /// # Errors
    /// [`Kind::Damaged`] for a foreign label that points to what is no snapshot id.
    pub fn points_to(&self, index: &Index, label: &str) -> Result<Option<SnapshotId>> {
        if label == "HEAD" || label.starts_with("HEAD~") {
            return match self.resolve(index, label) {
                Err(error) if error.kind() == Kind::NotFound => Ok(None),
                other => other.map(Some),
            };
        }
        let Some(target) = index.labels.get(label) else { return Ok(None) };
        SnapshotId::parse(target).map(Some).ok_or_else(|| {
            let (label, target) = (quote::name(label.as_bytes()), quote::name(target.as_bytes()));
            Error::new(Kind::Damaged, format!("label {label} points to {target}, which is no snapshot id"))
                .hint("delete it with wt-label --delete")
        })
    }

    fn ancestor(&self, index: &Index, steps: usize, missing: &dyn Fn(String) -> Error) -> Result<SnapshotId> {
        let head =
            index.head.clone().ok_or_else(|| missing(format!("run '{}' has no snapshot yet", self.run())))?;
        if steps == 0 {
            return Ok(head);
        }
        let mut chain = self.chain(Some(head));
        for taken in 0..=steps {
            match chain.next() {
                Some((id, Ok(_))) if taken == steps => return Ok(id),
                Some((_, Ok(_))) => {}
                Some((_, Err(error))) => return Err(error),
                None => break,
            }
        }
        Err(missing(format!("run '{}' has no {steps} snapshots before its newest one", self.run())))
    }
}
