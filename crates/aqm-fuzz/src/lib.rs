//! What is fuzzed. A target is a function that takes any bytes and panics if the code under test is wrong.
//!
//! Parsers take the bytes as they come. Sequences of calls are made of them: the same bytes are the same calls. `fuzz/`
//! runs the targets under libFuzzer, which looks for bytes that reach new code; the tests here run them on what it has
//! kept in `fuzz/corpus` (see [`corpus`]).
#![forbid(unsafe_code)]

mod capture;
mod capture_writer;
mod classifier;
pub mod corpus;
mod discipline;
mod host;
mod link_trace;
mod notation;
mod packetdrill;
mod path;
mod program;
mod rate_control;
mod refusal;
mod scenario;
mod setting;
mod sketch;
mod spec;
mod switch;
mod tc;
mod units;

use arbitrary::{Arbitrary, Unstructured};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A name, and what is done with any bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("units", |bytes| text(bytes, units::run)),
    ("spec", |bytes| text(bytes, spec::run)),
    ("tc", |bytes| text(bytes, tc::run)),
    ("notation", |bytes| text(bytes, notation::run)),
    ("scenario", |bytes| text(bytes, scenario::run)),
    ("capture", capture::run),
    ("capture_writer", |bytes| calls(bytes, capture_writer::run)),
    ("path", |bytes| calls(bytes, path::run)),
    ("link_trace", link_trace::run),
    ("discipline", |bytes| calls(bytes, discipline::run)),
    ("classifier", |bytes| calls(bytes, classifier::run)),
    ("sketch", |bytes| calls(bytes, sketch::run)),
    ("program", |bytes| calls(bytes, program::run)),
    ("switch", |bytes| calls(bytes, switch::run)),
    ("rate_control", |bytes| calls(bytes, rate_control::run)),
    ("packetdrill", |bytes| text(bytes, packetdrill::run)),
];

/// The target of this name. A program that asks for it at compile time has nothing of the others in it, whose code the
/// fuzzer would look through after every input.
///
/// # Panics
/// If there is none.
pub const fn target(name: &str) -> fn(&[u8]) {
    let mut place = 0;
    while place < TARGETS.len() {
        let (known, run) = TARGETS[place];
        if is_same(known.as_bytes(), name.as_bytes()) {
            return run;
        }
        place += 1;
    }
    panic!("no target has this name");
}

/// `==`, at compile time.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut place = 0;
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}

/// Bytes that are text, as text.
fn text(bytes: &[u8], run: fn(&str)) {
    if let Ok(text) = str::from_utf8(bytes) {
        run(text);
    }
}

/// Bytes as a sequence of calls, which are shown if something is wrong.
fn calls<T: for<'a> Arbitrary<'a> + Debug>(bytes: &[u8], run: fn(T)) {
    let make = || T::arbitrary_take_rest(Unstructured::new(bytes));
    let Ok(made) = make() else { return };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(made))) {
        eprintln!("{:?}", make());
        resume_unwind(panic);
    }
}
