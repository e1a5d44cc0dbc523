//! The programs that read and move a run's history: `wt-label`, `wt-log`, `wt-diff`, and `wt-check-ignore`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests build workspaces by hand")]

mod check_ignore;
mod diff;
mod diff_patch;
mod label;
mod log;
mod sandbox;
