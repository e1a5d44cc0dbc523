//! The grammar of labels: boundaries, gates and banks (facts 1.5).
//!
//! ```text
//! <phase>:<node>:<iteration>   phase is pre, post, fail, pause or resume; the iteration stands after the LAST colon
//! gate:<n>                     a review gate
//! <prefix>:<n>                 any numbered family: rewind-backup:<node>:<n>, pre-restore:<id>:<n>
//! ```

use super::index::Index;
use crate::error::{Error, Result};
use crate::store::id::Label;
use crate::stream::quote;

/// The phases of a boundary.
pub const PHASES: [&str; 5] = ["pre", "post", "fail", "pause", "resume"];

/// A boundary label, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary<'a> {
    /// One of [`PHASES`].
    pub phase: &'a str,
    /// The node; it may contain dots and colons.
    pub node: &'a str,
    /// The iteration.
    pub iteration: u64,
}

/// Takes a `<phase>:<node>:<iteration>` label apart; `None` for any other.
#[must_use]
pub fn boundary(label: &str) -> Option<Boundary<'_>> {
    let (phase, rest) = label.split_once(':')?;
    let (node, iteration) = rest.rsplit_once(':')?;
    let iteration = number(iteration)?;
    (PHASES.contains(&phase) && !node.is_empty()).then_some(Boundary { phase, node, iteration })
}

/// Builds the label of a boundary from its parts; the iteration is a decimal number without padding.
///
/// # Errors
/// [`crate::error::Kind::Usage`] for an unknown phase, a node without a name, or an iteration that is not such a number.
pub fn of_boundary(phase: &str, node: &str, iteration: &str) -> Result<Label> {
    if !PHASES.contains(&phase) {
        return Err(Error::usage(format!("not a phase: {}", quote::name(phase.as_bytes())))
            .hint(format!("a phase is one of {}", PHASES.join(", "))));
    }
    if node.is_empty() {
        return Err(Error::usage("the node has no name").hint("name the node whose boundary it is"));
    }
    if number(iteration).is_none_or(|number| number.to_string() != iteration) {
        return Err(Error::usage(format!("not an iteration: {}", quote::name(iteration.as_bytes())))
            .hint("an iteration is a decimal number without sign or padding"));
    }
    Label::named(&format!("{phase}:{node}:{iteration}"))
}

/// Whether a label marks a boundary of the run: one of the five phases, or a gate. Banks do not, and `pre-restore:` is
/// not `pre:` (facts 1.5).
#[must_use]
pub fn is_boundary(label: &str) -> bool {
    match label.split_once(':') {
        Some(("gate", rest)) => number(rest).is_some(),
        Some((phase, _)) => PHASES.contains(&phase),
        None => false,
    }
}

/// Whether a label marks a bank: a capture taken so that a restore can be undone.
#[must_use]
pub fn is_bank(label: &str) -> bool {
    matches!(label.split_once(':'), Some(("rewind-backup" | "pre-restore" | "bank", _))) || label == "bank"
}

/// The next free label of a numbered family: one above the highest number in use, else 0.
#[must_use]
pub fn next(index: &Index, prefix: &str) -> String {
    let prefix = prefix.strip_suffix(':').unwrap_or(prefix);
    let used = index.labels.keys().filter_map(|label| number(label.strip_prefix(prefix)?.strip_prefix(':')?));
    let next = used.max().map_or(0, |highest| highest.saturating_add(1));
    format!("{prefix}:{next}")
}

/// A decimal number without sign or blanks.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_iteration_stands_after_the_last_colon() {
        assert_eq!(boundary("pre:a.b:c:12"), Some(Boundary { phase: "pre", node: "a.b:c", iteration: 12 }));
        for other in
            ["pre-restore:1-0001:0", "rewind-backup:n:0", "gate:0", "pre:n", "pre::0", "pre:n:-1", "pre:n:x"]
        {
            assert_eq!(boundary(other), None, "{other}");
        }
    }

    #[test]
    fn boundaries_are_built_from_the_parts_that_they_are_read_into() {
        let label = of_boundary("post", "a:b.c", "12").unwrap();
        assert_eq!(boundary(label.as_str()), Some(Boundary { phase: "post", node: "a:b.c", iteration: 12 }));
        for (phase, node, iteration) in
            [("gate", "n", "0"), ("pre", "", "0"), ("pre", "n", ""), ("pre", "n", "01"), ("pre", "n", "-1")]
        {
            assert!(of_boundary(phase, node, iteration).is_err(), "{phase}:{node}:{iteration}");
        }
    }

    #[test]
    fn banks_are_no_boundaries() {
        for label in ["pre:n:0", "post:n:0", "fail:n:0", "pause:n:0", "resume:n:0", "gate:7"] {
            assert!(is_boundary(label) && !is_bank(label), "{label}");
        }
        for label in ["pre-restore:1-0001", "rewind-backup:n:0", "gate:", "gate:x", "gate:1:2", "bank:0", "mine"] {
            assert!(!is_boundary(label), "{label}");
        }
    }

    #[test]
    fn the_next_number_is_one_above_the_highest() {
        let mut index = Index::default();
        assert_eq!(next(&index, "gate"), "gate:0");
        for label in ["gate:0", "gate:9", "gate:x", "gate:10", "gates:99"] {
            index.labels.insert(label.into(), "1-0001".into());
        }
        assert_eq!(next(&index, "gate:"), "gate:11");
        assert_eq!(next(&index, "rewind-backup:n"), "rewind-backup:n:0");
    }
}
