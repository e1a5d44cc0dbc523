//! The durable record of a run. This room knows nothing of snapshots, workspaces or terminals.

pub mod access;
pub mod artifact;
pub mod artifact_files;
pub mod attachment;
pub mod companion;
pub mod console;
pub mod document;
pub mod events;
pub mod interaction;
pub mod json;
pub mod line_log;
pub mod message;
pub mod plan;
pub mod record;
pub mod standstill;
pub mod status;
pub mod tool;
pub mod transition;
pub mod turn;
