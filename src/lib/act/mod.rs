//! What changes a store or a workspace: capture, restore, prune, forget, purge; and what examines a store: fsck, du.
//! What changes a store or a workspace: capture, restore, rewind.
//!
//! Destructive work is a plan value that can be printed or carried out.

pub mod bank;
pub mod capture;
pub mod compare;
pub mod delta;
pub mod du;
pub mod forget;
pub mod fsck;
pub mod hashing;
pub mod intake;
mod known;
pub mod presence;
pub mod prune;
pub mod purge;
pub mod recall;
pub mod restore;
pub mod rewind;
