//! The wire between commands: paths, records and how names are written in them (wt-stream(5)).
//!
//! This room knows nothing of stores, snapshots or terminals: bytes in, values out, and the reverse.

pub mod quote;
