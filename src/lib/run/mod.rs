//! The durable record of a run. This room knows nothing of snapshots, workspaces or terminals.

pub mod document;
pub mod events;
pub mod json;
pub mod record;
pub mod standstill;
pub mod status;
pub mod transition;
