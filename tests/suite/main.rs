//! Black-box tests: build a workspace, run the programs, compare trees, stores and reports.
//!
//! `sandbox` is the ground they stand on. Every other file holds one program or one promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::format_push_string,
    clippy::format_collect,
    clippy::needless_raw_string_hashes,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a test fails loudly, and builds its trees with its own hands"
)]

mod sandbox;

mod cat_object;
mod concurrency;
mod counts;
mod counts_capture;
mod counts_look;
mod cross_product;
mod dir_cache;
mod dir_memory;
mod docs;
mod durability;
mod fuzz_seeds;
mod gaps;
mod hash_object;
mod hostile;
mod journal;
mod limits;
mod ls_files;
mod malformed;
mod many_files;
mod original_store;
mod output;
mod privacy;
mod project_untouched;
mod property;
mod publishing;
mod restore_destroys_nothing;
mod restore_edges;
mod restore_faults;
mod restore_is_exact;
mod restore_many;
mod restore_races;
mod roots;
mod rules_git;
mod shapes;
mod spare;
mod stat_cache;
mod store_lifetime;
mod tidy;
mod truncated;
mod write_manifest;
