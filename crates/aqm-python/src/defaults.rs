//! What follows from other options: the size of a buffer, and the length of a warm-up.

use crate::error::wrong;
use aqm_core::units::{Rate, Size, Span};
use aqm_scenario::buffer::{self, Bottleneck};
use aqm_scenario::warmup::{self, Run};
use pyo3::prelude::*;

/// Resolves a buffer; returns the number, whether it counts packets (rather than bytes), and the rule.
#[pyfunction]
pub(crate) fn resolve_buffer(
    text: &str,
    rate_bps: u64,
    is_recorded: bool,
    rtt_ns: u64,
    packet_bytes: u64,
) -> PyResult<(u64, bool, String)> {
    let (rate, rtt) = (Rate::from_bits_per_sec(rate_bps), Span::from_nanos(rtt_ns));
    let found = buffer::resolve(text, &Bottleneck { rate, is_recorded, rtt, packet_bytes }).map_err(wrong)?;
    Ok((found.size.count(), matches!(found.size, Size::Packets(_)), found.rule))
}

/// Resolves a warm-up; returns nanoseconds, and the rule.
#[pyfunction]
pub(crate) fn resolve_warmup(
    text: &str,
    duration_ns: u64,
    rtt_ns: u64,
    reacts: bool,
    latest_start_ns: u64,
) -> PyResult<(u64, String)> {
    let [duration, rtt, latest_start] = [duration_ns, rtt_ns, latest_start_ns].map(Span::from_nanos);
    let found = warmup::resolve(text, &Run { duration, rtt, reacts, latest_start }).map_err(wrong)?;
    Ok((found.span.as_nanos(), found.rule))
}
