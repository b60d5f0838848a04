//! Rate-based congestion controls outside the simulator: what a sender makes of what happens to it, and its receiver.

use crate::error::input;
use aqm_core::random::Random;
use aqm_core::units::{Rate, Time};
use aqm_sim::rate_control::receiver::Receiver;
use aqm_sim::rate_control::{self, Feedback, RATE_CONTROLS, RateControl};
use pyo3::prelude::*;

/// Reads a rate control in tc's notation.
fn parse(control: &str) -> PyResult<rate_control::RateSender> {
    rate_control::RateSender::parse_among(control, &[RATE_CONTROLS, aqm_papers::RATE_CONTROLS].concat())
        .map_err(input)
}

/// A sender with a control (`dcqcn timer 55us`) on a link of `line_bps`, in one thread.
#[pyclass(unsendable, module = "aqmlab._native")]
pub(crate) struct RateSender {
    control: Box<dyn RateControl>,
    packet_bytes: u32,
    ecn: u8,
    random: Random,
}

#[pymethods]
impl RateSender {
    #[new]
    fn new(control: &str, line_bps: f64, seed: u64) -> PyResult<RateSender> {
        let sender = parse(control)?;
        if !(1.0..=1e13).contains(&line_bps) {
            return Err(input(format!("line_bps: {line_bps} (allowed: 1 to 1e13)")));
        }
        let line = Rate::from_bits_per_sec(line_bps as u64);
        let control = sender.build(line, Time::ZERO);
        let (packet_bytes, ecn) = (sender.packet_bytes(), sender.ecn().codepoint() as u8);
        Ok(RateSender { control, packet_bytes, ecn, random: Random::seeded(seed) })
    }

    /// Bytes of its IP packets.
    #[getter]
    fn packet_bytes(&self) -> u32 {
        self.packet_bytes
    }

    /// The ECN field of them (RFC 3168).
    #[getter]
    fn ecn(&self) -> u8 {
        self.ecn
    }

    /// When a timer has something to do, in nanoseconds, if one runs.
    #[getter]
    fn deadline(&self) -> Option<u64> {
        self.control.deadline().map(Time::as_nanos)
    }

    /// Something happens; gives its rate and its target after it, bit/s.
    fn after(&mut self, nanos: u64, kind: &str, first: f64, second: f64) -> PyResult<(f64, f64)> {
        let now = Time::from_nanos(nanos);
        while let Some(due) = self.control.deadline().filter(|due| *due <= now) {
            self.control.on_timer(due);
        }
        let feedback = match kind {
            "wait" => None,
            "sent" => {
                self.control.on_sent(first as u64);
                None
            }
            "notified" => Some(Feedback::Notification),
            "quantised" => Some(Feedback::Quantised(first as u64)),
            "rates" => Some(Feedback::Rates { arriving: first, optimal: second }),
            _ => return Err(input(format!("unknown event '{kind}'"))),
        };
        if let Some(feedback) = feedback {
            self.control.on_feedback(feedback, now, &mut self.random);
        }
        Ok((self.control.rate(), self.control.target()))
    }
}

/// The receiver that such a control has: which marked packets it answers with a notification.
#[pyclass(unsendable, module = "aqmlab._native")]
pub(crate) struct RateReceiver(Receiver);

#[pymethods]
impl RateReceiver {
    #[new]
    fn new(control: &str) -> PyResult<RateReceiver> {
        let sender = parse(control)?;
        let nobody = || {
            input(format!(
                "{}: its receiver tells it nothing, and switches are not there",
                sender.info().name
            ))
        };
        sender.receiver().map(RateReceiver).ok_or_else(nobody)
    }

    /// A packet has come; whether the sender is notified.
    fn on_packet(&mut self, is_marked: bool, nanos: u64) -> bool {
        self.0.on_packet(is_marked, Time::from_nanos(nanos))
    }
}
