//! Both ends of a rate-based sender's flow: its rate control, and the receiver that may notify it.

use crate::measure::metrics::SenderState;
use crate::rate_control::receiver::Receiver;
use crate::rate_control::{Feedback, RateControl, Rated};
use aqm_core::random::Random;
use aqm_core::units::{Rate, Span, Time};

/// Both ends of a flow of a rate-based sender.
pub(crate) struct RatedEnds {
    pub(super) control: Box<dyn RateControl>,
    pub(super) read: fn([u64; 3]) -> Feedback,
    /// What the control may draw from.
    pub(super) random: Random,
    /// Payload that is not yet sent, [`ENDLESS`](super::flow::ENDLESS) without end.
    pub(super) left: u64,
    /// The last packet: when it was sent, and its bits on the link. None before the first.
    pub(super) last: Option<(Time, f64)>,
    /// When the next packet is sent, and the event that stands for the control's timer; [`Time::MAX`] for none.
    pub(super) next: Time,
    pub(super) timer: Time,
    /// Which marks the receiver answers, if any.
    pub(super) receiver: Option<Receiver>,
}

impl RatedEnds {
    /// Ends of a flow that starts at `start` on a link of `line`; `random` is what the control may draw from.
    pub(crate) fn new(rated: &Rated, line: Rate, start: Time, random: Random) -> RatedEnds {
        let info = rated.info();
        RatedEnds {
            control: rated.build(line, start),
            read: info.read,
            random,
            left: 0,
            last: None,
            next: Time::MAX,
            timer: Time::MAX,
            receiver: (info.receiver)(rated).map(Receiver::new),
        }
    }

    /// The sender as the time series see it.
    pub(crate) fn state(&self) -> SenderState {
        SenderState::Rate { rate: self.control.rate(), target: self.control.target() }
    }

    /// From when the next packet may be sent.
    pub(super) fn due(&self, now: Time) -> Time {
        let Some((at, bits)) = self.last else { return now };
        now.max(at + Span::from_nanos((bits / self.control.rate() * 1e9).ceil() as u64))
    }
}
