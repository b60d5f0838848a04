//! Both ends of a rate-based sender's flow: its rate control, and the receiver that may notify it.

use crate::measure::metrics::SenderState;
use crate::rate_control::go_back_n;
use crate::rate_control::receiver::Receiver;
use crate::rate_control::{Feedback, RateControl, RateSender};
use crate::transport::Losses;
use aqm_core::random::Random;
use aqm_core::units::{Rate, Span, Time};
use std::collections::VecDeque;

/// A host's port as its rate-based senders share it: they send in turn, so that none waits behind what another has put into
/// the queue.
#[derive(Default)]
pub(crate) struct Nic {
    /// When the packet that was sent last is out.
    pub(crate) free: Time,
    /// Flows that have a packet to send, the next first.
    pub(crate) waiting: VecDeque<u32>,
}

/// Both ends of a flow of a rate-based sender.
pub(crate) struct RateEndpoints {
    pub(crate) control: Box<dyn RateControl>,
    pub(crate) read: fn([u64; 3]) -> Feedback,
    /// What the control may draw from.
    pub(crate) random: Random,
    /// What is sent, and what has arrived of it; without the latter nothing is sent again.
    pub(crate) transfer: go_back_n::Sender,
    pub(crate) arrived: Option<go_back_n::Receiver>,
    /// The last packet: when it was sent, and its bits on the link. None before the first.
    pub(crate) last: Option<(Time, f64)>,
    /// When the next packet is sent, and the event that stands for the timers; [`Time::MAX`] for none.
    pub(crate) next: Time,
    pub(crate) timer: Time,
    /// Whether it waits until it is its turn at its host's port; then `next` is not before that.
    pub(crate) waits: bool,
    /// Which marks the receiver answers, if any.
    pub(crate) receiver: Option<Receiver>,
}

impl RateEndpoints {
    /// Ends of a flow of `size` bytes that starts at `start` on a link of `line`; `random` is what the control may draw from.
    pub(crate) fn new(
        sender: &RateSender,
        line: Rate,
        start: Time,
        size: Option<u64>,
        random: Random,
    ) -> RateEndpoints {
        let info = sender.info();
        let recovery = sender.go_back_n(size.is_some());
        RateEndpoints {
            control: sender.build(line, start),
            read: info.read,
            random,
            transfer: go_back_n::Sender::new(size, recovery),
            arrived: recovery.map(go_back_n::Receiver::new),
            last: None,
            next: Time::MAX,
            timer: Time::MAX,
            waits: false,
            receiver: sender.receiver(),
        }
    }

    /// The sender as the time series see it.
    pub(crate) fn state(&self) -> SenderState {
        SenderState::Rate { rate: self.control.rate(), target: self.control.target() }
    }

    /// What was lost and sent again since the last look.
    pub(crate) fn losses(&self) -> Losses {
        let rewinds = self.transfer.rewinds;
        Losses {
            recoveries: rewinds.naks,
            timeouts: rewinds.timeouts,
            retransmissions: rewinds.retransmissions,
        }
    }

    /// Whether what is lost is sent again.
    pub(crate) fn recovers(&self) -> bool {
        self.arrived.is_some()
    }

    /// When a timer has something to do: the control's, or that of the transfer's end.
    pub(crate) fn deadline(&self) -> Time {
        self.control.deadline().unwrap_or(Time::MAX).min(self.transfer.deadline())
    }

    /// From when the next packet may be sent.
    pub(crate) fn due(&self, now: Time) -> Time {
        let Some((at, bits)) = self.last else { return now };
        now.max(at + Span::from_nanos((bits / self.control.rate() * 1e9).ceil() as u64))
    }
}
