#![doc = include_str!("../README.md")]
//! # Inside
//!
//! Formats of recorded data, read and written: captures, link traces, histograms.
//!
//! Input is hostile until parsed: any bytes give a result or one line that says why not. Nothing here opens a file;
//! the caller passes the bytes, and a name for errors.
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
