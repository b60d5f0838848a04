//! A congestion control without its connection, for oracles.

use super::control::Control;
use super::tcp::Tcp;
use super::window::Acked;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};

/// A congestion control that is told what happens, and returns its window.
///
/// ```
/// use aqm_sim::transport::{IsolatedControl, Tcp};
/// let mut cubic = IsolatedControl::new(&Tcp::parse("cubic mss 1000b iw 100").unwrap());
/// cubic.congestion(100_000);
/// assert_eq!((cubic.cwnd(), cubic.ssthresh()), (70_000, 70_000));
/// ```
#[derive(Debug)]
pub struct IsolatedControl {
    control: Control,
}

impl IsolatedControl {
    /// At the start of a connection.
    pub fn new(tcp: &Tcp) -> IsolatedControl {
        IsolatedControl { control: Control::new(tcp, Random::seeded(0)) }
    }

    /// `bytes` were acknowledged at `now`, with a smoothed round-trip time of `rtt`. Unless the window is `used`, the
    /// application limited what was sent.
    pub fn acknowledge(&mut self, bytes: u64, now: Time, rtt: Span, used: bool) {
        let acked =
            Acked { bytes, marked: 0, flight: bytes, una: 0, next: 0, now, rtt, sample: rtt, note: 0 };
        self.control.observe(&acked);
        if used {
            self.control.on_ack(&acked);
        }
    }

    /// A loss or a mark, with `flight` bytes outstanding.
    pub fn congestion(&mut self, flight: u64) {
        self.control.on_congestion(flight);
    }

    /// The retransmission timer expired, `first` or once more for the same segment.
    pub fn timeout(&mut self, flight: u64, first: bool) {
        self.control.on_timeout(flight, first);
    }

    /// The connection sends again after idle time.
    pub fn idle(&mut self) {
        self.control.on_idle();
    }

    /// Congestion window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.control.window.cwnd
    }

    /// Slow start threshold, bytes.
    pub fn ssthresh(&self) -> u64 {
        self.control.window.ssthresh
    }
}
