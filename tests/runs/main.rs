//! The documents of a run, from the outside: the `run-*` programs on a scratch store.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, says what it had to skip, and makes its own files"
)]

#[path = "../events/sandbox.rs"]
#[allow(dead_code, reason = "shared with the tests of the event log")]
mod sandbox;

mod artifacts;
mod attachments;
mod engines;
mod file_arguments;
mod files_deleted;
mod files_faults;
mod files_race;
mod hostile;
mod interactions;
mod messages;
mod modes;
mod options;
mod plans_tools;
mod record;
mod routes;
mod shell;
mod turns_log;
mod untouched;

// The life of a run.
mod delete;
mod deployment;
mod fixtures;
mod fixtures_writers;
mod life;
mod lock;
mod odd_directories;
mod prune;
mod reconcile;
mod show;
