#![no_main]

#[path = "../checks/rules.rs"]
mod rules;

libfuzzer_sys::fuzz_target!(|input: &[u8]| rules::check(input));
