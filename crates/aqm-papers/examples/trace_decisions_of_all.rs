//! The core's example `trace_decisions`, which reads the disciplines of this crate as well.

#[allow(dead_code, reason = "its main function is that of the other program")]
#[path = "../../aqm-core/examples/trace_decisions.rs"]
mod trace_decisions;

use aqm_core::spec::Spec;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    trace_decisions::replay(|text| match aqm_papers::spec(text) {
        Some(spec) => Ok(spec?),
        None => Ok(Spec::parse(text)?),
    })
}
