//! The workspace as it is on disk: its root, the rules, the walk, and whether a file is still the same.
//!
//! This room knows nothing of snapshots or history, writes nothing and follows no link.

pub mod beneath;
pub mod check;
pub mod listing;
pub mod root;
pub mod rules;
pub mod scan;
pub mod seen;
pub mod stat;
pub mod walk;
