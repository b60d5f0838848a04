//! The interface of rate-based controls: from bytes, feedback and time to a rate and a deadline.

use aqm_core::random::Random;
use aqm_core::units::Time;
use std::fmt::Debug;

/// A notification of congestion on a sender's path. It comes from outside: each machine judges whether it can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feedback {
    /// The receiver has seen marked packets (DCQCN's CNP).
    Notification,
    /// How much too long the queue of a switch is, 1 to 63 (QCN's quantised Fb, without its sign).
    Quantised(u64),
    /// What arrives of the sender's class at a switch (lambda) and what should (lambda*), packets per second.
    Rates {
        /// lambda.
        arriving: f64,
        /// lambda*.
        optimal: f64,
    },
}

/// A receiver's notification as the values of a packet: RoCEv2's opcode of a CNP (InfiniBand annex 17).
pub const NOTIFICATION: [u64; 3] = [0x81, 0, 0];

/// A machine that says how fast to send.
pub trait RateControl: Debug + Send {
    /// Bits per second.
    fn rate(&self) -> f64;

    /// Bits per second that the rate approaches.
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

/// The rates that a sender keeps within: bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// However often feedback slows it down, it sends this fast: it must notice when congestion is over.
    pub least: f64,
    /// The rate of its link.
    pub most: f64,
}

impl Bounds {
    /// The nearest rate within them.
    pub fn clamp(self, rate: f64) -> f64 {
        rate.clamp(self.least, self.most)
    }
}
