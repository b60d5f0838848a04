//! A peer's window that lets nothing go: it is probed until it opens (RFC 9293 section 3.8.6.1).
//!
//! Windows in simulations hold a segment at least; peers of scripts close theirs.

use super::Sender;
use super::Transmission;
use crate::transport::flags;
use aqm_core::packet::Ecn;
use aqm_core::units::Time;

impl Sender {
    /// Nothing is outstanding, and the window alone holds back what waits: the timer, which is not needed otherwise, runs
    /// until a probe.
    pub(super) fn persist(&mut self, now: Time) {
        if self.timer.deadline.is_none() && u64::from(self.next_payload()) > self.settings.window_cap {
            self.timer.start(now);
        }
    }

    /// The timer expired with nothing outstanding: a probe is due, and the next one after twice the time.
    pub(super) fn on_persist_timer(&mut self, now: Time) {
        self.timer.rtt.back_off();
        self.timer.start(now);
        self.probe_window = true;
    }

    /// The window has opened.
    pub(super) fn stop_persisting(&mut self) {
        if self.timer.deadline.take().is_some() {
            self.timer.rtt.restart();
        }
        self.probe_window = false;
    }

    /// A segment without data below what was acknowledged, which the peer answers with its window (tcp_xmit_probe_skb).
    pub(super) fn window_probe(&mut self) -> Transmission {
        self.probe_window = false;
        let seq = self.stream.una.wrapping_sub(1);
        Transmission { seq, payload: 0, ecn: Ecn::NotEct, cwr: false, flags: flags::ACK, is_last: false }
    }
}
