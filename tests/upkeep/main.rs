//! Upkeep of stores, from the outside: prune, fsck, forget, du and purge on stores made by the real capture.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::case_sensitive_file_extension_comparisons,
    clippy::unused_self,
    reason = "a test fails loudly, and builds its stores with its own hands"
)]

mod du;
mod forget;
mod fsck;
mod prune;
mod purge;
mod sandbox;
