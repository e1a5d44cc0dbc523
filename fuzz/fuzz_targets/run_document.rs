#![no_main]

#[path = "../checks/run_document.rs"]
mod run_document;

#[path = "../checks/scratch.rs"]
mod scratch;

libfuzzer_sys::fuzz_target!(|input: &[u8]| run_document::check(input));
