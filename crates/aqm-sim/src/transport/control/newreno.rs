//! NewReno's window (RFC 5681), with appropriate byte counting (RFC 3465) or without.

use super::controller::{Controller, Info};
use super::hystart::SlowStart;
use crate::transport::relation::Relation;
use crate::transport::rules::{HyStartRule, Reduced};
use crate::transport::window::{Acked, Window};
use aqm_core::params::{ParamSpec, Preset, Value};

/// Its declaration.
pub(super) static INFO: Info = Info {
    name: "newreno",
    summary: "TCP NewReno (RFC 5681, RFC 6582)",
    reference: "RFC 5681, RFC 6582; without SACK, else RFC 6675",
    params: &[ParamSpec::flag(
        "abc",
        true,
        "growth by bytes; off: by acknowledgments, as in RFC 5681 and ns-3",
        "RFC 3465",
    )],
    relations: &[
        Relation { given: ("slow_start.hystart", HyStartRule::PlusPlus.word()), needs: ("abc", "on") },
        Relation { given: ("slow_start.hystart", HyStartRule::Classic.word()), needs: ("abc", "on") },
        Relation { given: ("slow_start.hystart", HyStartRule::ClassicFirst.word()), needs: ("abc", "on") },
    ],
    profiles: &[Preset {
        name: "ns3",
        source: "ns-3.44 src/internet/model/tcp-congestion-ops.cc (TcpNewReno), tcp-socket-base.cc",
        values: &[("abc", Value::Flag(false)), ("recovery.ssthresh", Value::Choice(Reduced::Pipe.word()))],
    }],
    build: |values, _, _| Box::new(Newreno::new(!values.flag("abc"))),
    ..Info::USUAL
};

/// State beyond the window: bytes acknowledged since the last increase in congestion avoidance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newreno {
    bytes_acked: u64,
    /// Whether growth counts acknowledgments rather than bytes.
    by_acks: bool,
}

impl Newreno {
    /// With byte counting unless `by_acks`.
    fn new(by_acks: bool) -> Newreno {
        Newreno { by_acks, ..Newreno::default() }
    }

    /// What was acknowledged so far counts no longer.
    pub(super) fn begin_segment(&mut self) {
        self.bytes_acked = 0;
    }

    /// New data was acknowledged, no matter how much: RFC 5681 equations 2 and 3.
    fn on_each_ack(window: &mut Window, acked: &Acked) {
        window.cwnd += if window.in_slow_start() {
            acked.bytes.min(window.mss)
        } else {
            (window.mss * window.mss / window.cwnd).max(1)
        };
    }
}

impl Controller for Newreno {
    fn on_ack(&mut self, window: &mut Window, start: &mut SlowStart, acked: &Acked) {
        if self.by_acks {
            Newreno::on_each_ack(window, acked);
        } else if window.in_slow_start() {
            start.grow(window, acked);
        } else {
            self.avoid_congestion(window, acked);
        }
    }

    fn avoid_congestion(&mut self, window: &mut Window, acked: &Acked) {
        // RFC 3465 section 2.1: one segment per window of acknowledged bytes, however many acknowledgments there
        // were.
        self.bytes_acked += acked.bytes;
        if self.bytes_acked >= window.cwnd {
            self.bytes_acked -= window.cwnd;
            window.cwnd += window.mss;
        }
    }

    /// RFC 5681 equation 4.
    fn on_congestion(&mut self, window: &mut Window, flight: u64) {
        window.reduce_to(flight / 2);
        self.begin_segment();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::units::{Span, Time};

    fn acked(bytes: u64) -> Acked {
        Acked::new(bytes, Time::ZERO, Span::from_millis(10))
    }

    #[test]
    fn slow_start_grows_by_acknowledged_bytes_up_to_two_segments_per_ack() {
        let mut window = Window::new(1000, 2);
        window.slow_start(1000);
        assert_eq!(window.cwnd, 3000);
        window.slow_start(5000);
        assert_eq!(window.cwnd, 5000);
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_for_each_window_of_acknowledged_bytes() {
        let mut window = Window { cwnd: 10_000, ssthresh: 5_000, ..Window::new(1000, 10) };
        let mut reno = Newreno::default();
        (0..9).for_each(|_| reno.avoid_congestion(&mut window, &acked(1000)));
        assert_eq!(window.cwnd, 10_000);
        reno.avoid_congestion(&mut window, &acked(1000));
        assert_eq!(window.cwnd, 11_000);
        // Bytes beyond the window count towards the next increase: 10 500 of 11 000 bytes, then 500 more.
        reno.avoid_congestion(&mut window, &acked(10_500));
        assert_eq!(window.cwnd, 11_000);
        reno.avoid_congestion(&mut window, &acked(500));
        assert_eq!(window.cwnd, 12_000);
    }

    #[test]
    fn without_byte_counting_an_acknowledgment_of_two_segments_counts_as_one() {
        let mut window = Window { cwnd: 2_000, ssthresh: 4_000, ..Window::new(1000, 2) };
        Newreno::on_each_ack(&mut window, &acked(2000));
        assert_eq!(window.cwnd, 3_000);
        Newreno::on_each_ack(&mut window, &acked(400));
        assert_eq!(window.cwnd, 3_400);
        // Congestion avoidance: 1000 * 1000 / 10 000, then / 10 100.
        window.cwnd = 10_000;
        Newreno::on_each_ack(&mut window, &acked(2000));
        Newreno::on_each_ack(&mut window, &acked(1000));
        assert_eq!(window.cwnd, 10_199);
        window.cwnd = 2_000_000;
        Newreno::on_each_ack(&mut window, &acked(1000));
        assert_eq!(window.cwnd, 2_000_001);
    }

    #[test]
    fn congestion_halves_the_flight_but_leaves_at_least_two_segments() {
        let mut window = Window::new(1000, 10);
        Newreno::default().on_congestion(&mut window, 9_000);
        assert_eq!((window.cwnd, window.ssthresh), (4_500, 4_500));
        Newreno::default().on_congestion(&mut window, 3_000);
        assert_eq!(window.cwnd, 2_000);
    }
}
