#![no_main]
#![allow(dead_code, reason = "each target has all checks and calls one")]

#[path = "../../tests/fuzz/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::lines::check(bytes));
