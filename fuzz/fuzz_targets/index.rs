#![no_main]

#[path = "../checks/index.rs"]
mod index;

#[path = "../checks/scratch.rs"]
mod scratch;

libfuzzer_sys::fuzz_target!(|input: &[u8]| index::check(input));
