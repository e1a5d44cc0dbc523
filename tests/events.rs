//! `run-events` from outside: the real program on real files.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

#[path = "events/sandbox.rs"]
#[allow(dead_code, reason = "shared with the tests of the other documents of a run")]
mod sandbox;

#[path = "events/append.rs"]
mod append;
#[path = "events/damage.rs"]
mod damage;
#[path = "events/disk.rs"]
mod disk;
#[path = "events/faults.rs"]
mod faults;
#[path = "events/folds.rs"]
mod folds;
#[path = "events/follow.rs"]
mod follow;
#[path = "events/locks.rs"]
mod locks;
#[path = "events/race.rs"]
mod race;
#[path = "events/read.rs"]
mod read;
