//! From bytes to what was recorded, and back: captures, link traces, histograms.
//!
//! What comes in is hostile until parsed: any bytes give what they hold or one line that says why not. Nothing here
//! opens a file; the caller brings the bytes, and the name by which errors call them.
//!
//! - [`capture`]: recorded traffic, read from pcap and pcapng and written to them.
//! - [`link_trace`]: recorded capacity of a link.
//! - [`histogram`]: delays in buckets, mergeable.
//! - [`input_error`]: what is wrong with an input.
#![forbid(unsafe_code)]

pub mod capture;
pub mod histogram;
pub mod input_error;
pub mod link_trace;
