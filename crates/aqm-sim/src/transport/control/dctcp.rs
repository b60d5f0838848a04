//! DCTCP's window (RFC 8257): Reno's growth, and a reduction in proportion to the share of marked bytes.

use super::controller::{Controller, Info};
use super::hystart::SlowStart;
use super::newreno::Newreno;
use crate::transport::feedback::{Echo, ReceiverReport};
use crate::transport::window::{Acked, Window};

/// Its declaration.
pub(super) static INFO: Info = Info {
    name: "dctcp",
    summary: "DCTCP (RFC 8257): reacts to the share of marked packets",
    reference: "RFC 8257",
    sets: &[("ecn", "classic")],
    feedback: (Echo::Exact, ReceiverReport::Nothing),
    build: |_, _, _| Box::new(Dctcp::default()),
    ..Info::USUAL
};

/// RFC 8257 section 4.2: the weight g of a window in the average.
const G: f64 = 1.0 / 16.0;

/// State beyond the window.
#[derive(Clone, Debug)]
struct Dctcp {
    reno: Newreno,
    alpha: f64,
    acked: u64,
    marked: u64,
    window_end: u64,
    /// The window was reduced for everything sent before this.
    reduced_until: u64,
    /// Everything before was sent.
    sent: u64,
}

impl Default for Dctcp {
    fn default() -> Dctcp {
        // Section 4.2: alpha starts at 1, so that the first mark halves the window.
        let (reno, alpha) = (Newreno::default(), 1.0);
        Dctcp { reno, alpha, acked: 0, marked: 0, window_end: 0, reduced_until: 0, sent: 0 }
    }
}

impl Controller for Dctcp {
    /// Section 3.3: updates the estimate once per window of data, and reduces at most once in it.
    fn observe(&mut self, window: &mut Window, acked: &Acked) {
        self.acked += acked.bytes;
        self.marked += acked.marked;
        if acked.una > self.window_end {
            let share = if self.acked > 0 { self.marked as f64 / self.acked as f64 } else { 0.0 };
            self.alpha = (1.0 - G) * self.alpha + G * share.min(1.0);
            (self.acked, self.marked, self.window_end) = (0, 0, acked.next);
        }
        if acked.marked > 0 && acked.una > self.reduced_until {
            window.ssthresh = self.reduced(window).max(2 * window.mss);
            // After a timeout it has less already.
            window.cwnd = window.cwnd.min(window.ssthresh);
            self.reduced_until = acked.next;
            if window.whole {
                // As in Linux (tcp_init_cwnd_reduction), a segment that growth has begun is given up as well.
                self.reno.begin_segment();
            }
        }
        self.sent = acked.next;
    }

    /// As Reno (section 3.3, last paragraph).
    fn on_ack(&mut self, window: &mut Window, start: &mut SlowStart, acked: &Acked) {
        // RFC 3168 section 6.1.2: an echo does not let the window grow.
        if acked.marked == 0 {
            self.reno.on_ack(window, start, acked);
        }
    }

    /// Section 3.5: a loss has the same response as in any TCP, and answers the marks of its window of data as well.
    fn on_congestion(&mut self, window: &mut Window, flight: u64) {
        self.reno.on_congestion(window, flight);
        self.reduced_until = self.sent;
    }
}

impl Dctcp {
    /// Equation 2; in whole segments no started one is taken, as in Linux (dctcp_ssthresh).
    fn reduced(&self, window: &Window) -> u64 {
        let share = self.alpha / 2.0;
        if window.whole {
            return window.cwnd - (window.cwnd as f64 * share) as u64 / window.mss * window.mss;
        }
        (window.cwnd as f64 * (1.0 - share)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::units::{Span, Time};

    fn acked(bytes: u64, marked: u64, una: u64, next: u64) -> Acked {
        Acked { marked, una, next, ..Acked::new(bytes, Time::ZERO, Span::from_millis(1)) }
    }

    #[test]
    fn alpha_follows_the_share_of_marked_bytes_window_by_window() {
        let mut window = Window { cwnd: 100_000, ssthresh: 1, ..Window::new(1000, 10) };
        let mut dctcp = Dctcp::default();
        dctcp.observe(&mut window, &acked(1000, 0, 1000, 100_000)); // ends the empty first window: 15/16
        assert_eq!(dctcp.alpha, 0.9375);
        dctcp.observe(&mut window, &acked(49_000, 0, 50_000, 150_000));
        assert_eq!(dctcp.alpha, 0.9375); // still in the window that ends at 100 000
        // A quarter of the 100 000 bytes since was marked: 15/16 * 15/16 + 1/16 * 1/4.
        dctcp.observe(&mut window, &acked(51_000, 25_000, 101_000, 200_000));
        assert!((dctcp.alpha - (0.9375 * 0.9375 + 0.25 / 16.0)).abs() < 1e-12, "{}", dctcp.alpha);
    }

    #[test]
    fn the_window_shrinks_by_half_of_alpha_once_in_a_window() {
        let mut window = Window { cwnd: 100_000, ssthresh: 1, ..Window::new(1000, 10) };
        let mut dctcp = Dctcp { alpha: 0.5, window_end: 1_000_000, ..Dctcp::default() };
        dctcp.observe(&mut window, &acked(1000, 1000, 1000, 100_000));
        assert_eq!((window.cwnd, window.ssthresh), (75_000, 75_000)); // 1 - 0.5 / 2
        dctcp.observe(&mut window, &acked(1000, 1000, 100_000, 175_000));
        assert_eq!(window.cwnd, 75_000); // the same window of data
        dctcp.observe(&mut window, &acked(1000, 1000, 101_000, 176_000));
        assert_eq!(window.cwnd, 56_250);
    }

    #[test]
    fn in_whole_segments_a_started_one_is_not_taken() {
        for (alpha, left) in [(0.2, 8_000), (0.5, 6_000)] {
            let mut window = Window { cwnd: 8_000, ssthresh: 1, whole: true, ..Window::new(1000, 10) };
            let mut dctcp = Dctcp { alpha, window_end: 1_000_000, ..Dctcp::default() };
            dctcp.observe(&mut window, &acked(1000, 1000, 1000, 100_000));
            assert_eq!(window.cwnd, left);
        }
    }

    #[test]
    fn in_whole_segments_growth_begins_anew_with_a_reduction() {
        for (whole, grown) in [(false, 1000), (true, 0)] {
            let mut window = Window { cwnd: 10_000, ssthresh: 1, whole, ..Window::new(1000, 10) };
            let mut dctcp = Dctcp { window_end: 1_000_000, ..Dctcp::default() };
            dctcp.reno.avoid_congestion(&mut window, &acked(9000, 0, 9000, 10_000));
            dctcp.observe(&mut window, &acked(1000, 1000, 10_000, 20_000));
            assert_eq!(window.cwnd, 5000);
            dctcp.reno.avoid_congestion(&mut window, &acked(1000, 0, 11_000, 21_000));
            assert_eq!(window.cwnd, 5000 + grown);
        }
    }

    #[test]
    fn a_loss_answers_the_marks_of_its_window_of_data() {
        let mut window = Window { cwnd: 100_000, ssthresh: 1, ..Window::new(1000, 10) };
        let mut dctcp = Dctcp::default();
        dctcp.observe(&mut window, &acked(1000, 0, 1000, 101_000));
        dctcp.on_congestion(&mut window, 100_000);
        dctcp.observe(&mut window, &acked(1000, 1000, 101_000, 120_000));
        assert_eq!(window.cwnd, 50_000);
        dctcp.observe(&mut window, &acked(1000, 1000, 102_000, 121_000));
        assert!(window.cwnd < 50_000);
    }

    #[test]
    fn a_mark_does_not_raise_the_window_that_a_timeout_left() {
        let mut window = Window { cwnd: 1000, ssthresh: 50_000, ..Window::new(1000, 10) };
        Dctcp::default().observe(&mut window, &acked(1000, 1000, 1000, 2000));
        assert_eq!((window.cwnd, window.ssthresh), (1000, 2000));
    }

    #[test]
    fn without_marks_alpha_decays() {
        let mut window = Window { cwnd: 10_000, ssthresh: 1, ..Window::new(1000, 10) };
        let mut dctcp = Dctcp::default();
        for round in 1..=32 {
            dctcp.observe(&mut window, &acked(10_000, 0, round * 10_000, round * 10_000 + 1));
        }
        // (15/16)^32 = 0.127
        assert!((dctcp.alpha - 0.127).abs() < 0.01, "{}", dctcp.alpha);
    }
}
