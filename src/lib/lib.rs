//! The library below the `wt-*` and `run-*` programs: versions the workspace of an agent run, and reads and writes the
//! run's durable record.
//!
//! # Rooms, from the floor up
//!
//! * [`error`]: one error type, a kind for the caller and a sentence for the person.
//! * [`store`]: names as types, every path below the store, and the only code that writes.
//! * [`stream`]: the wire between commands.
//! * [`tree`]: the workspace on disk.
//! * [`history`]: what was captured, under which names, and what differs.
//! * [`act`]: what changes a store or a workspace: capture, restore.
//! * [`run`]: the durable record of a run; knows nothing of snapshots.
//! * [`cli`]: what all programs share.

pub mod act;
pub mod cli;
pub mod clock;
pub mod error;
pub mod history;
pub mod run;
pub mod store;
pub mod stream;
mod sys;
pub mod tree;
