#![no_main]

#[path = "../checks/stream.rs"]
mod stream;

libfuzzer_sys::fuzz_target!(|input: &[u8]| stream::check(input));
