#![no_main]

#[path = "../checks/event_backwards.rs"]
mod event_backwards;

libfuzzer_sys::fuzz_target!(|input: &[u8]| event_backwards::check(input));
