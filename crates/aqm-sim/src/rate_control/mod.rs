//! Rate-based congestion control, sans I/O: feedback, bytes and time in, a sending rate and a deadline out. One file per
//! machine.
//!
//! - [`dcqcn`]: sender and receiver of DCQCN as published. What its switches do is the discipline `ecn_ramp`.
//! - [`qcn`]: sender and switch of QCN, which P4QCN carries over IP.
//!
//! Beside the rate, [`go_back_n`] says what is sent: what is lost is sent again.

pub mod control;
pub mod dcqcn;
pub mod declaration;
pub mod go_back_n;
pub mod qcn;
mod rate_sender;
pub mod receiver;
mod registry;

pub use control::{Bounds, Feedback, NOTIFICATION, RateControl};
pub use declaration::Info;
pub use rate_sender::{RATE_SENDER, RateSender};
pub use registry::RATE_CONTROLS;
