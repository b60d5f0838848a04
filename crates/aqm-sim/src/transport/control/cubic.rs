//! CUBIC's window (RFC 9438).
//!
//! Deviations: growth counts acknowledged segments, not acknowledgments (sections 4.4 and 4.5), so that delayed
//! acknowledgments do not halve it; Linux does the same. No acknowledgment lowers the window, not even to W_est
//! (section 4.3). A mark leaves at least two segments, as a loss does (section 4.6 allows one).

use super::controller::{Controller, Info};
use super::cubic_count::{BETA, C, CubicCount};
use crate::transport::rules::HyStartRule;
use crate::transport::window::{Acked, Window};
use aqm_core::choices;
use aqm_core::params::{ParamSpec, Preset, Value};
use aqm_core::units::{Span, Time};

/// Its declaration.
pub(super) static INFO: Info = Info {
    name: "cubic",
    summary: "TCP CUBIC (RFC 9438)",
    reference: "RFC 9438",
    params: &[ParamSpec::choice::<Growth>(
        "growth",
        "by the curve of RFC 9438, or by one segment for a whole number of acknowledged ones, as in the first paper",
        "RFC 9438; Ha, Rhee, Xu 2008, algorithm 1; Linux: count (bictcp_update)",
    )],
    profiles: &[
        Preset {
            name: "linux",
            source: "Linux 6.12 net/ipv4/tcp_cubic.c: bictcp_update, tcp_friendliness=1, hystart=1, hystart_detect=3 \
                     (hystart_update; its rounds as since 6.14)",
            values: &[
                ("slow_start.hystart", Value::Choice(HyStartRule::ClassicFirst.word())),
                ("growth", Value::Choice(Growth::Count.word())),
            ],
        },
        Preset {
            name: "ns3",
            source: "ns-3.44 src/internet/model/tcp-cubic.cc: HyStart true. Deviation: that is the classic HyStart",
            values: &[("slow_start.hystart", Value::Choice(HyStartRule::PlusPlus.word()))],
        },
    ],
    build: |values, _, _| match values.choice("growth") {
        Growth::Count => Box::new(CubicCount::default()),
        Growth::Curve => Box::new(Cubic::default()),
    },
    ..Info::USUAL
};

choices! {
    /// How the window grows.
    enum Growth {
        Curve = "curve",
        Count = "count",
    }
}

/// RFC 9438 section 4.3: additive increase that makes the Reno-friendly estimate as aggressive as Reno.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// State beyond the window, in segments and seconds as in the RFC.
#[derive(Clone, Debug, Default)]
struct Cubic {
    w_max: f64,
    k: f64,
    /// Time in this stage of congestion avoidance, without times in which the application limited the window.
    t: Option<Span>,
    /// When new data was last acknowledged, and how long after the time before that.
    last_ack: Time,
    since_last: Span,
    /// Whether nothing was outstanding after it.
    pauses: bool,
    w_est: f64,
    cwnd_prior: f64,
    /// The next stage of congestion avoidance is the first after a timeout.
    after_timeout: bool,
    /// Window in segments, with the fraction that whole bytes lose.
    cwnd: f64,
}

impl Controller for Cubic {
    fn observe(&mut self, _: &mut Window, acked: &Acked) {
        if acked.sample > Span::ZERO {
            let sent = Time::ZERO + acked.now.since(Time::ZERO + acked.sample);
            // Section 5.8: a pause of the application is no time in which its window grows.
            let since = if self.pauses { self.last_ack.max(sent) } else { self.last_ack };
            self.since_last = acked.now.since(since);
            (self.last_ack, self.pauses) = (acked.now, acked.next > 0 && acked.una == acked.next);
        }
    }

    fn avoid_congestion(&mut self, window: &mut Window, acked: &Acked) {
        let mss = window.mss as f64;
        let segments_acked = acked.bytes as f64 / mss;
        // Section 5.8: `t` stands still while the window is not used; then this is not called.
        let elapsed = match self.t {
            Some(t) => t + self.since_last,
            None => self.begin_stage(window.cwnd as f64 / mss),
        };
        self.t = Some(elapsed);
        let t = elapsed.as_secs_f64();
        let rtt = acked.rtt.as_secs_f64();
        // RFC 9438 figure 4 (the estimate of Reno's window). Once it reaches the window before the last decrease,
        // alpha becomes 1.
        let alpha = if self.w_est < self.cwnd_prior { ALPHA } else { 1.0 };
        self.w_est += alpha * segments_acked / self.cwnd;
        let w_cubic = |t: f64| C * (t - self.k) * (t - self.k) * (t - self.k) + self.w_max; // figure 1
        if w_cubic(t) < self.w_est {
            // Section 4.3: Reno-friendly region.
            self.cwnd = self.cwnd.max(self.w_est);
        } else {
            // Section 4.2: target one round trip ahead, at most half a window more (section 4.4, 4.5).
            let target = w_cubic(t + rtt).clamp(self.cwnd, 1.5 * self.cwnd);
            self.cwnd += (target - self.cwnd) / self.cwnd * segments_acked;
        }
        window.cwnd = (self.cwnd * mss) as u64;
    }

    /// RFC 9438 sections 4.6 and 4.7.
    fn on_congestion(&mut self, window: &mut Window, flight: u64) {
        let mss = window.mss as f64;
        let cwnd = window.cwnd as f64 / mss;
        self.cwnd_prior = cwnd;
        // Fast convergence: a window that did not reach the last maximum makes room for others.
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        let flight = (flight as f64 / mss).min(cwnd);
        self.cwnd = (flight * BETA).max(2.0);
        window.ssthresh = (self.cwnd * mss) as u64;
        window.cwnd = window.ssthresh;
        self.t = None;
        self.after_timeout = false;
    }

    fn on_timeout(&mut self, window: &mut Window) {
        self.t = None;
        self.after_timeout = true;
        window.cwnd = window.mss;
    }

    /// A new stage follows idle time.
    fn on_idle(&mut self, window: &mut Window) {
        self.t = None;
        window.cwnd = window.cwnd.min(window.initial);
    }
}

impl Cubic {
    /// Starts a stage of congestion avoidance.
    fn begin_stage(&mut self, cwnd: f64) -> Span {
        self.cwnd = cwnd;
        self.w_est = cwnd;
        if std::mem::take(&mut self.after_timeout) || self.w_max <= cwnd {
            // Section 4.8: a timeout forgets the last maximum. Section 4.10: slow start without loss has none.
            self.w_max = cwnd;
            self.k = 0.0;
        } else {
            self.k = libm::cbrt((self.w_max - cwnd) / C); // figure 2
        }
        Span::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_returns_to_its_maximum_after_k_seconds() {
        let mut window = Window { cwnd: 100_000, ssthresh: 1, ..Window::new(1000, 10) };
        let mut cubic = Cubic::default();
        cubic.on_congestion(&mut window, 100_000);
        assert_eq!(window.cwnd, 70_000);
        // K = cbrt((100 - 70) / 0.4) = 4.217 s. With an RTT of 100 ms the window is the curve one RTT ahead.
        let rtt = Span::from_millis(100);
        for step in 0..43 {
            let now = Time::ZERO + Span::from_millis(100) * step;
            let acked = Acked::new(window.cwnd, now, rtt);
            cubic.observe(&mut window, &acked);
            cubic.avoid_congestion(&mut window, &acked);
        }
        let segments = window.cwnd as f64 / 1000.0;
        assert!((segments - 100.0).abs() < 0.2, "{segments}");
    }

    #[test]
    fn a_pause_is_no_part_of_the_time_of_growth() {
        let rtt = Span::from_millis(100);
        let mut window = Window { cwnd: 100_000, ssthresh: 1, ..Window::new(1000, 10) };
        let mut cubic = Cubic::default();
        let mut acknowledge = |ms, una| {
            let now = Time::ZERO + Span::from_millis(ms);
            let acked = Acked { una, next: 2000, ..Acked::new(1000, now, rtt) };
            cubic.observe(&mut window, &acked);
            cubic.avoid_congestion(&mut window, &acked);
            cubic.t
        };
        assert_eq!(acknowledge(1000, 1000), Some(Span::ZERO));
        assert_eq!(acknowledge(1010, 2000), Some(Span::from_millis(10))); // everything
        assert_eq!(acknowledge(1300, 1500), Some(Span::from_millis(110))); // sent at 1200 ms
        assert_eq!(acknowledge(1600, 1600), Some(Span::from_millis(410))); // and this is no pause
    }

    #[test]
    fn fast_convergence_lowers_the_maximum_of_a_window_that_shrinks() {
        let mut window = Window { cwnd: 100_000, ssthresh: 1, ..Window::new(1000, 10) };
        let mut cubic = Cubic::default();
        cubic.on_congestion(&mut window, 100_000);
        assert_eq!(cubic.w_max, 100.0);
        cubic.on_congestion(&mut window, 70_000);
        // 70 < 100: W_max = 70 * (1 + 0.7) / 2 = 59.5
        assert!((cubic.w_max - 59.5).abs() < 1e-9);
    }

    #[test]
    fn a_short_path_grows_as_reno_would() {
        // At 1 ms the cubic curve is flat; the Reno-friendly estimate gains 0.529 segments per window.
        let mut window = Window { cwnd: 10_000, ssthresh: 1, ..Window::new(1000, 10) };
        let mut cubic = Cubic::default();
        cubic.on_congestion(&mut window, 10_000);
        let rtt = Span::from_millis(1);
        for step in 0..4 {
            let acked = Acked::new(window.cwnd, Time::ZERO + rtt * step, rtt);
            cubic.observe(&mut window, &acked);
            cubic.avoid_congestion(&mut window, &acked);
        }
        let segments = window.cwnd as f64 / 1000.0;
        assert!((segments - (7.0 + 4.0 * ALPHA)).abs() < 0.05, "{segments}");
    }
}
