//! The durable record of a run. This room knows nothing of snapshots, workspaces or terminals.

pub mod delete;
pub mod document;
pub mod events;
pub mod json;
pub mod liveness;
pub mod needs;
pub mod pid;
pub mod prune;
pub mod reconcile;
pub mod record;
pub mod roster;
pub mod standstill;
pub mod status;
pub mod transition;
