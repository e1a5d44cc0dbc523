//! Black-box tests: the programs are run as a person runs them, and judged by what they leave behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test fails loudly, and builds its trees with its own hands"
)]

mod docs;
mod rules_git;
mod tidy;
