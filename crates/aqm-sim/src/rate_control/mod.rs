//! Rate-based congestion control, sans I/O: feedback, bytes and time in, a sending rate and a deadline out. One file per
//! machine.
//!
//! - [`pmqecn`]: the sender of PMQECN, and the senders that its authors built for DCQCN and P4QCN.
//! - [`dcqcn`]: sender and receiver of DCQCN as published. What its switches do is the discipline `ecn_ramp`.
//! - [`qcn`]: sender and switch of QCN, which P4QCN carries over IP.

pub mod control;
pub mod dcqcn;
pub mod declaration;
pub mod pmqecn;
pub mod qcn;
mod rated;
pub mod receiver;
mod registry;

pub(crate) use control::NOTIFICATION;
pub use control::{Bounds, Feedback, RateControl};
pub use declaration::Info;
pub use rated::{RATED, Rated};
pub use registry::{RATE_CONTROLS, find};

use aqm_core::units::Time;

/// The machines by name, as tools ask for them, each with its link's rate in bit/s and the instant at which it begins.
pub const CONTROLS: &[(&str, Begin)] = &[
    ("pmqecn", |most, now| Box::new(pmqecn::Sender::new(bounded(pmqecn::Settings::PAPER, most), now))),
    ("pmqecn-as-run", |_, now| Box::new(pmqecn::Sender::new(pmqecn::Settings::AS_RUN, now))),
    ("dcqcn", |most, _| Box::new(dcqcn::Sender::new(dcqcn::Settings::SIGCOMM_2015.scaled(most)))),
    ("dcqcn-as-run", |_, now| Box::new(pmqecn::Sender::new(pmqecn::Settings::DCQCN_AS_RUN, now))),
    ("qcn", |most, _| Box::new(qcn::Sender::new(qcn::Settings::STANDARD.scaled(most)))),
    ("p4qcn-as-run", |_, now| Box::new(pmqecn::Sender::new(pmqecn::Settings::P4QCN_AS_RUN, now))),
];

/// Makes a control.
pub type Begin = fn(f64, Time) -> Box<dyn RateControl>;

/// The paper says of no bounds; a sender cannot exceed its link.
fn bounded(settings: pmqecn::Settings, most: f64) -> pmqecn::Settings {
    pmqecn::Settings { bounds: Bounds { least: most / 1000.0, most }, ..settings }
}
