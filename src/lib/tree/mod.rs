//! The workspace tree: which of its paths count, and what they look like. It knows nothing of snapshots or stores.

pub mod rules;
