//! Upkeep of stores, from the outside: prune, fsck, forget, du and purge on stores made by the real capture.

mod du;
mod forget;
mod fsck;
mod prune;
mod purge;
mod sandbox;
