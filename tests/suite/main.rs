//! Black-box tests: build a workspace, run the programs, compare trees, stores and reports.
//!
//! `sandbox` is the ground they stand on. Every other file holds one program or one promise.
#![allow(clippy::disallowed_methods, reason = "fixtures are written with the plain library, on purpose not with ours")]
#![allow(clippy::missing_panics_doc, reason = "a test helper panics to say that a test failed")]

mod sandbox;

mod cat_object;
mod gaps;
mod hash_object;
mod journal;
mod ls_files;
mod project_untouched;
mod publishing;
mod rules_git;
mod shapes;
mod stat_cache;
mod truncated;
mod write_manifest;
