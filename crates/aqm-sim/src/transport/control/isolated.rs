//! A congestion control without its connection, for oracles.

use super::bbr::Moment;
use super::running::Control;
use crate::transport::rate::{LostSegment, RateSample, Sampler};
use crate::transport::tcp::Tcp;
use crate::transport::window::Acked;
use aqm_core::random::Random;

/// A congestion control driven by events, which returns its window, and its rate if it has one.
///
/// ```
/// use aqm_core::random::Random;
/// use aqm_sim::transport::{IsolatedControl, Tcp};
/// let tcp = Tcp::parse("cubic mss 1000b iw 100").unwrap();
/// let mut cubic = IsolatedControl::new(&tcp, Random::seeded(0));
/// cubic.congestion(100_000);
/// assert_eq!((cubic.cwnd(), cubic.ssthresh(), cubic.rate()), (70_000, 70_000, None));
/// ```
#[derive(Debug)]
pub struct IsolatedControl {
    control: Control,
    sampler: Sampler,
}

impl IsolatedControl {
    /// At the start of a connection, with its random numbers.
    pub fn new(tcp: &Tcp, random: Random) -> IsolatedControl {
        IsolatedControl { control: Control::new(tcp, random), sampler: Sampler::default() }
    }

    /// New data was acknowledged. Unless the window is `used`, the application limited what was sent.
    pub fn acknowledge(&mut self, acked: &Acked, used: bool) {
        self.control.observe(acked);
        self.control.judge_slow_start(acked, used);
        if used {
            self.control.on_ack(acked);
        }
    }

    /// An acknowledgment gave a sample of the delivery rate, after `delivered` bytes over the connection's life; the
    /// window was `full` in the last round trip or was not.
    pub fn sample(&mut self, rs: RateSample, delivered: u64, full: bool, at: Moment) {
        self.sampler.delivered = delivered;
        if full {
            self.sampler.mark_window_limited(0);
        }
        self.control.on_sample(&mut self.sampler, rs, at);
    }

    /// A segment is lost, for a control with samples.
    pub fn lost(&mut self, lost: &LostSegment) {
        self.control.on_lost(lost);
    }

    /// Nothing was lost in the recovery of a control with samples.
    pub fn spurious(&mut self) {
        self.control.on_spurious_recovery(&self.sampler);
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

    /// The application of a control with samples sends again after a pause.
    pub fn restart(&mut self, at: Moment) {
        self.control.on_restart(&self.sampler, at.srtt, at.now);
    }

    /// Congestion window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.control.window.cwnd
    }

    /// Slow start threshold, bytes.
    pub fn ssthresh(&self) -> u64 {
        self.control.window.ssthresh
    }

    /// Pacing rate of a control that always paces, bytes per second.
    pub fn rate(&self) -> Option<f64> {
        self.control.rate()
    }
}
