//! CUBIC's window as its first paper computes it, and Linux still does (tcp_cubic.c): the window is whole segments, and
//! grows by one after a whole number `cnt` of acknowledged ones.
//!
//! Ha, Rhee, Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", 2008, algorithm 1. Against RFC 9438: the curve is
//! read one smallest round trip ahead instead of a smoothed one; the Reno-friendly estimate keeps its slope; a timeout
//! forgets everything.

use super::controller::Controller;
use crate::transport::window::{Acked, Window};
use aqm_core::units::{Span, Time};

/// RFC 9438 section 4.1: the constant C, segments per second cubed.
pub(super) const C: f64 = 0.4;
/// RFC 9438 section 4.1: multiplicative decrease.
pub(super) const BETA: f64 = 0.7;

/// Of a curve that is flat: one segment in a hundred windows.
const FLAT: u64 = 100;
/// Before the first loss since a timeout the curve says nothing: at least one segment for so many.
const UNKNOWN: u64 = 20;
/// At most one segment for so many.
const FASTEST: u64 = 2;
/// Smallest round trips are not learnt so soon after a reduction.
const SETTLES: Span = Span::from_secs(1);
/// The count is not computed again so soon while the window is the same.
const KEPT: Span = Span::from_nanos(1_000_000_000 / 32);

/// State beyond the window, in segments.
#[derive(Clone, Debug)]
pub(super) struct CubicCount {
    /// W_last_max; zero if it is not known.
    last_max: u64,
    /// dMin.
    shortest: Span,
    /// When this stage of congestion avoidance began, moved on by times in which nothing was outstanding.
    epoch: Option<Time>,
    /// When the last data were sent, if nothing is outstanding since.
    idle_since: Option<Time>,
    /// The curve's plateau, and seconds until then.
    origin: u64,
    k: f64,
    /// W_tcp, and segments acknowledged since it last grew.
    w_tcp: u64,
    ack_cnt: u64,
    /// The last count: when and for which window it was computed.
    cnt: u64,
    computed: (Time, u64),
    /// Segments acknowledged since the window last grew, and bytes beyond the last whole one.
    counted: u64,
    rest: u64,
}

impl Default for CubicCount {
    fn default() -> CubicCount {
        CubicCount {
            last_max: 0,
            shortest: Span::MAX,
            epoch: None,
            idle_since: None,
            origin: 0,
            k: 0.0,
            w_tcp: 0,
            ack_cnt: 0,
            cnt: FLAT,
            computed: (Time::ZERO, 0),
            counted: 0,
            rest: 0,
        }
    }
}

impl Controller for CubicCount {
    fn observe(&mut self, _: &mut Window, acked: &Acked) {
        if acked.sample > Span::ZERO {
            let sent = Time::ZERO + acked.now.since(Time::ZERO + acked.sample);
            // Time in which the application limits the window counts, but for that since its last segment
            // (cubictcp_cwnd_event, CA_EVENT_TX_START).
            if let (Some(since), Some(epoch)) = (self.idle_since.take(), &mut self.epoch) {
                *epoch = (*epoch + sent.since(since)).min(sent);
            }
            self.idle_since = (acked.next > 0 && acked.una == acked.next).then_some(sent);
            if self.epoch.is_none_or(|epoch| acked.now.since(epoch) >= SETTLES) || self.shortest == Span::MAX
            {
                self.shortest = self.shortest.min(acked.sample);
            }
        }
    }

    fn avoid_congestion(&mut self, window: &mut Window, acked: &Acked) {
        let bytes = self.rest + acked.bytes;
        let segments = bytes / window.mss;
        self.rest = bytes % window.mss;
        let (cwnd, now) = (window.cwnd / window.mss, acked.now);
        self.ack_cnt += segments;
        if self.computed.1 != cwnd || now.since(self.computed.0) > KEPT {
            self.cnt = self.count(cwnd, segments, now);
            self.computed = (now, cwnd);
        }
        let cnt = self.cnt;
        // A window that waited for a longer count grows at once when the count is short again.
        if self.counted >= cnt {
            self.counted = 0;
            window.cwnd += window.mss;
        }
        self.counted += segments;
        window.cwnd += self.counted / cnt * window.mss;
        self.counted %= cnt;
    }

    fn on_congestion(&mut self, window: &mut Window, flight: u64) {
        let cwnd = window.cwnd / window.mss;
        // Fast convergence: a window that did not reach the last maximum makes room for others.
        self.last_max = if cwnd < self.last_max { (cwnd as f64 * (1.0 + BETA) / 2.0) as u64 } else { cwnd };
        window.reduce_to((flight.min(window.cwnd) as f64 * BETA) as u64);
        (self.epoch, self.counted, self.rest) = (None, 0, 0);
    }

    /// cubic_reset.
    fn on_timeout(&mut self, window: &mut Window) {
        *self = CubicCount::default();
        window.cwnd = window.mss;
    }

    /// A new stage follows idle time.
    fn on_idle(&mut self, window: &mut Window) {
        self.epoch = None;
        window.cwnd = window.cwnd.min(window.initial);
    }
}

impl CubicCount {
    /// cubic_update and cubic_tcp_friendliness: how many segments must be acknowledged for one more in a window of
    /// `cwnd`, when `acked` more are.
    fn count(&mut self, cwnd: u64, acked: u64, now: Time) -> u64 {
        if self.epoch.is_none() {
            self.begin_stage(cwnd, acked, now);
        }
        let elapsed = self.epoch.map_or(Span::ZERO, |epoch| now.since(epoch));
        // Nothing that was sent once has been acknowledged yet: no round trip is known.
        let shortest = if self.shortest == Span::MAX { Span::ZERO } else { self.shortest };
        let x = (elapsed + shortest).as_secs_f64() - self.k;
        // Whole segments away from the plateau, towards it.
        let away = (C * x.abs() * x * x) as u64;
        let target = if x < 0.0 { self.origin - away.min(self.origin) } else { self.origin + away };
        let cnt = if target > cwnd { cwnd / (target - cwnd) } else { FLAT * cwnd };
        let cnt = if self.last_max == 0 { cnt.min(UNKNOWN) } else { cnt };
        // Reno with this decrease gains 3 (1 - BETA) / (1 + BETA) segments in a window: one for 17/9 windows.
        let friendly = (cwnd * 17 / 9).max(1);
        self.w_tcp += self.ack_cnt / friendly;
        self.ack_cnt %= friendly;
        let cnt = if self.w_tcp > cwnd { cnt.min(cwnd / (self.w_tcp - cwnd)) } else { cnt };
        cnt.max(FASTEST)
    }

    /// Starts a stage of congestion avoidance.
    fn begin_stage(&mut self, cwnd: u64, acked: u64, now: Time) {
        self.epoch = Some(now);
        (self.w_tcp, self.ack_cnt) = (cwnd, acked);
        (self.origin, self.k) = if self.last_max > cwnd {
            (self.last_max, libm::cbrt((self.last_max - cwnd) as f64 / C))
        } else {
            (cwnd, 0.0)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` acknowledgments of a segment each, one every `gap` milliseconds after `now`.
    fn acknowledge(cubic: &mut CubicCount, window: &mut Window, now: &mut Time, count: u64, gap: u64) {
        for _ in 0..count {
            *now += Span::from_millis(gap);
            let now = *now;
            let acked = Acked::new(window.mss, now, Span::from_millis(100));
            cubic.observe(window, &acked);
            cubic.avoid_congestion(window, &acked);
        }
    }

    fn window(segments: u64) -> Window {
        Window { cwnd: segments * 1000, ssthresh: 1, whole: true, ..Window::new(1000, 10) }
    }

    #[test]
    fn congestion_leaves_seven_tenths_in_whole_segments() {
        let (mut cubic, mut window) = (CubicCount::default(), window(9));
        cubic.on_congestion(&mut window, 9000);
        assert_eq!((window.cwnd, cubic.last_max), (6000, 9)); // 6.3
        cubic.on_congestion(&mut window, 6000);
        // Fast convergence: 6 * 0.85 = 5.1.
        assert_eq!((window.cwnd, cubic.last_max), (4000, 5));
    }

    #[test]
    fn the_estimate_of_reno_keeps_its_slope() {
        let (mut cubic, mut window) = (CubicCount::default(), window(10));
        cubic.on_congestion(&mut window, 10_000);
        cubic.shortest = Span::from_millis(1);
        // The curve stands still, 2.99 segments below its plateau of ten: two whole ones. One segment more for 7 / (8 - 7).
        // The estimate needs 7 * 17 / 9 = 13 acknowledged segments for one more.
        assert_eq!((cubic.count(7, 12, Time::ZERO), cubic.w_tcp), (7, 7));
        cubic.ack_cnt += 1;
        assert_eq!((cubic.count(7, 1, Time::ZERO), cubic.w_tcp), (7, 8));
        cubic.ack_cnt += 13;
        assert_eq!((cubic.count(7, 13, Time::ZERO), cubic.w_tcp), (3, 9)); // 7 / 2
        // Beyond the last maximum as before it, where RFC 9438 has one for each window.
        cubic.ack_cnt += 26;
        assert_eq!((cubic.count(7, 26, Time::ZERO), cubic.w_tcp), (2, 11)); // 7 / 4, but no faster than 2
    }

    #[test]
    fn the_count_is_kept_for_a_thirty_second_of_a_second() {
        let mut now = Time::ZERO;
        let (mut cubic, mut window) = (CubicCount::default(), window(1000));
        cubic.on_congestion(&mut window, 1_000_000);
        // The first count is of 1 ms, and of K = 9.08 s less a round trip of 100 ms: 290 of 300 segments away, 700 / 10.
        acknowledge(&mut cubic, &mut window, &mut now, 32, 1);
        assert_eq!((window.cwnd, cubic.cnt), (700_000, 70));
        // After 32 ms 287 segments.
        acknowledge(&mut cubic, &mut window, &mut now, 1, 1);
        assert_eq!((window.cwnd, cubic.cnt), (700_000, 53));
    }

    #[test]
    fn the_window_returns_to_its_maximum_after_k_seconds() {
        let mut now = Time::ZERO;
        let (mut cubic, mut window) = (CubicCount::default(), window(1000));
        cubic.on_congestion(&mut window, 1_000_000);
        // K = cbrt(300 / 0.4) = 9.09 s; a segment every millisecond.
        acknowledge(&mut cubic, &mut window, &mut now, 9000, 1);
        assert!((995_000..=1_000_000).contains(&window.cwnd), "{}", window.cwnd);
    }

    #[test]
    fn time_counts_in_which_the_window_is_not_used_but_not_that_in_which_nothing_is_outstanding() {
        let round_trip = Span::from_millis(100);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let ack = |ms, una, next| Acked { una, next, ..Acked::new(1000, at(ms), round_trip) };
        for idle in [false, true] {
            let (mut cubic, mut window) = (CubicCount::default(), window(10));
            for acked in [ack(1000, 1000, 9000), ack(3000, 8000, if idle { 8000 } else { 9000 })] {
                cubic.observe(&mut window, &acked);
                if acked.una == 1000 {
                    cubic.avoid_congestion(&mut window, &acked);
                }
            }
            // Sent at 2.9 s, and next at 5.9 s: idle time moves the beginning from 1 to 4 s.
            cubic.observe(&mut window, &ack(6000, 9000, 20_000));
            assert_eq!(cubic.epoch, Some(at(if idle { 4000 } else { 1000 })));
            // 0.4 * 2.1^3 = 3 segments in 2.1 s; 53 in 5.1 s.
            assert_eq!(cubic.count(10, 1, at(6000)), if idle { 10 / 3 } else { FASTEST });
        }
        // It does not move beyond the time of sending: the last data before were sent before it began.
        let (mut cubic, mut window) = (CubicCount::default(), window(10));
        cubic.avoid_congestion(&mut window, &ack(1000, 1000, 9000));
        cubic.observe(&mut window, &Acked { sample: Span::from_millis(900), ..ack(1001, 9000, 9000) });
        cubic.observe(&mut window, &ack(1700, 10_000, 11_000));
        assert_eq!(cubic.epoch, Some(at(1600)));
    }

    #[test]
    fn after_a_timeout_nothing_is_known_and_one_in_twenty_acknowledged_segments_is_added() {
        let mut now = Time::ZERO;
        let (mut cubic, mut window) = (CubicCount::default(), window(1000));
        cubic.on_congestion(&mut window, 1_000_000);
        cubic.on_timeout(&mut window);
        assert_eq!((window.cwnd, cubic.last_max), (1000, 0));
        window.cwnd = 100_000;
        acknowledge(&mut cubic, &mut window, &mut now, 40, 1);
        assert_eq!(window.cwnd, 101_000 + 1000);
    }
}
