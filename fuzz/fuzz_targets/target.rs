//! A target of the list in `crates/aqm-fuzz`, under libFuzzer: the program's name says which.
#![no_main]

use libfuzzer_sys::fuzz_target;

const TARGET: fn(&[u8]) = aqm_fuzz::target(env!("CARGO_BIN_NAME"));

fuzz_target!(|bytes: &[u8]| TARGET(bytes));
