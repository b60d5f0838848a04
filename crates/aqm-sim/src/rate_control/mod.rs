//! Rate-based congestion control, sans I/O: feedback, bytes and time in, a sending rate and a deadline out. One file per
//! machine.
//!
//! - [`pmqecn`]: the sender of PMQECN, and the senders that its authors built for DCQCN and P4QCN.
//! - [`dcqcn`]: sender and receiver of DCQCN as published. What its switches do is the discipline `ecn_ramp`.
//! - [`qcn`]: sender and switch of QCN, which P4QCN carries over IP.

pub mod dcqcn;
pub mod pmqecn;
pub mod qcn;
mod rated;
mod registry;

pub use rated::{Info, RATED, Rated};
pub use registry::{RATE_CONTROLS, find};

use aqm_core::random::Random;
use aqm_core::units::Time;
use std::fmt::Debug;

/// What a sender is told about congestion on its way. It comes from outside: each machine judges whether it can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feedback {
    /// The receiver has seen marked packets (DCQCN's CNP).
    Notification,
    /// How much too long the queue of a switch is, 1 to 63 (QCN's quantised Fb, without its sign).
    Quantised(u64),
    /// What arrives of the sender's class at a switch (lambda) and what should (lambda*), packets per second (PMQECN's INT).
    Rates {
        /// lambda.
        arriving: f64,
        /// lambda*.
        optimal: f64,
    },
}

/// A receiver's notification as the values of a packet: RoCEv2's opcode of a CNP (InfiniBand annex 17).
pub(crate) const NOTIFICATION: [u64; 3] = [0x81, 0, 0];

/// A machine that says how fast to send.
pub trait RateControl: Debug + Send {
    /// Bits per second.
    fn rate(&self) -> f64;

    /// Bits per second that the rate is on its way to.
    fn target(&self) -> f64;

    /// When [`on_timer`](RateControl::on_timer) has something to do next.
    fn deadline(&self) -> Option<Time>;

    /// Time has passed; does what is due by `now`.
    fn on_timer(&mut self, now: Time);

    /// `bytes` were sent.
    fn on_sent(&mut self, _bytes: u64) {}

    /// Something came back; whether it can be believed. What cannot changes nothing.
    fn on_feedback(&mut self, feedback: Feedback, now: Time, random: &mut Random) -> bool;
}

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

/// The rates that a sender keeps within: bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// However often it is told to slow down, it sends this fast: it must notice when congestion is over.
    pub least: f64,
    /// The rate of its link.
    pub most: f64,
}

impl Bounds {
    fn clamp(self, rate: f64) -> f64 {
        rate.clamp(self.least, self.most)
    }
}
