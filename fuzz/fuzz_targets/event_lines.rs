#![no_main]

#[path = "../checks/event_lines.rs"]
mod event_lines;

libfuzzer_sys::fuzz_target!(|input: &[u8]| event_lines::check(input));
