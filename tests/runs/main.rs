//! The documents of a run, from the outside: the `run-*` programs on a scratch store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it had to skip"
)]

#[path = "../events/sandbox.rs"]
#[allow(dead_code, reason = "shared with the tests of the event log")]
mod sandbox;
