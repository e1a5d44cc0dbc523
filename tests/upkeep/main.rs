//! Upkeep of stores, from the outside: prune, fsck, forget, du and purge on stores made by the real capture.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it had to skip"
)]

mod disk;
mod du;
mod forget;
mod fsck;
mod media;
mod no_locks;
mod power;
mod prune;
mod purge;
mod sandbox;
mod thrash;
