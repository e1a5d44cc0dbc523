//! The durable record of a run. This room knows nothing of snapshots, workspaces or terminals.

pub mod events;
pub mod json;
pub mod standstill;
