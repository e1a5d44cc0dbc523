//! Upkeep of stores, from the outside: prune, fsck, forget, du and purge on stores made by the real capture.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::case_sensitive_file_extension_comparisons,
    clippy::unused_self,
    reason = "a test fails loudly, and builds its stores with its own hands"
    clippy::expect_used,
    reason = "a test fails by panicking, and says what it had to skip"
)]

mod du;
mod forget;
mod fsck;
mod media;
mod prune;
mod purge;
mod sandbox;
mod thrash;
