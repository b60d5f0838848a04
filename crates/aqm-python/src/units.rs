//! tc's notation to numbers in base units, and back.

use crate::error::wrong;
use aqm_core::units::{Bytes, Rate, Size, Span, parse};
use pyo3::prelude::*;

/// Parses a rate; returns bit/s.
#[pyfunction]
pub(crate) fn parse_rate(text: &str) -> PyResult<u64> {
    parse::rate(text).map(Rate::as_bits_per_sec).map_err(wrong)
}

/// Parses a length of time; returns nanoseconds.
#[pyfunction]
pub(crate) fn parse_span(text: &str) -> PyResult<u64> {
    parse::span(text).map(Span::as_nanos).map_err(wrong)
}

/// Parses a number of bytes.
#[pyfunction]
pub(crate) fn parse_bytes(text: &str) -> PyResult<u64> {
    parse::bytes(text).map(Bytes::as_u64).map_err(wrong)
}

/// Parses a queue size; returns the number and whether it counts packets (rather than bytes).
#[pyfunction]
pub(crate) fn parse_size(text: &str) -> PyResult<(u64, bool)> {
    let size = parse::size(text).map_err(wrong)?;
    Ok((size.count(), matches!(size, Size::Packets(_))))
}

/// Parses a fraction such as `0.1` or `10%`.
#[pyfunction]
pub(crate) fn parse_fraction(text: &str) -> PyResult<f64> {
    parse::fraction(text).map_err(wrong)
}

/// Writes bit/s in the largest unit that needs no rounding.
#[pyfunction]
pub(crate) fn format_rate(bits_per_sec: u64) -> String {
    Rate::from_bits_per_sec(bits_per_sec).to_string()
}

/// Writes nanoseconds in the largest unit that needs no rounding.
#[pyfunction]
pub(crate) fn format_span(nanos: u64) -> String {
    Span::from_nanos(nanos).to_string()
}

/// Writes bytes in the largest unit that needs no rounding.
#[pyfunction]
pub(crate) fn format_bytes(number: u64) -> String {
    Bytes::new(number).to_string()
}

/// Width in nanoseconds of the histogram's bucket that holds a delay.
#[pyfunction]
pub(crate) fn bucket_width_ns(nanos: u64) -> u64 {
    aqm_io::histogram::width(nanos)
}
