//! Arrival processes: when applications that do not wait for delivery send, and how much.

use super::distribution::Distribution;
use super::kind::{Key, Over, RATE, SourceKind, Takes};
use super::source::Source;
use crate::traffic::voice;
use aqm_core::params::{Kind as Unit, Value};
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Rate, Span};

const ON_OFF: &[Key] = &[
    RATE,
    Key::new("on", "on", Takes::Drawn(Unit::Span), "1s", "how long ON periods are"),
    Key::new("off", "off", Takes::Drawn(Unit::Span), "1s", "how long OFF periods are"),
];
const MESSAGES: &[Key] = &[
    Key::new("gap", "gap", Takes::Drawn(Unit::Span), "", "time from one message to the next"),
    Key::new(
        "size",
        "size",
        Takes::Drawn(Unit::Bytes),
        "",
        "payload of a message; a full packet unless given",
    ),
];

/// The kinds of flow that are an arrival process.
pub(super) static KINDS: &[SourceKind] = &[
    SourceKind {
        name: "cbr",
        summary: "a constant rate",
        keys: &[RATE],
        must: &["rate"],
        form: "cbr",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "onoff",
        summary: "a constant rate while ON, nothing while OFF",
        keys: ON_OFF,
        must: &["rate"],
        form: "on_off",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "pareto",
        summary: "ON/OFF with Pareto OFF periods",
        reference: "the defaults: Saleh, Shu and Koldehofe 2024, their program",
        keys: ON_OFF,
        defaults: &[("on", "1s"), ("off", "pareto(1500ms,2.5)")],
        must: &["rate"],
        form: "on_off",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "weibull",
        summary: "ON/OFF with Weibull OFF periods",
        reference: "the defaults: Saleh, Shu and Koldehofe 2024, their program",
        keys: ON_OFF,
        defaults: &[("on", "3s"), ("off", "weibull(1s,1.5)")],
        must: &["rate"],
        form: "on_off",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "poisson",
        summary: "full packets at exponential intervals",
        keys: &[RATE],
        must: &["rate"],
        form: "poisson",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "steps",
        summary: "variable rate: one rate after another",
        keys: &[
            Key::new("rates", "rate", Takes::Drawn(Unit::Rate), "", "the rates"),
            Key::new("every", "every", Takes::Drawn(Unit::Span), "1s", "how long each rate lasts"),
        ],
        must: &["rates"],
        form: "steps",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "vbr",
        summary: "variable rate: frames of random size",
        keys: MESSAGES,
        defaults: &[("gap", "40ms")],
        must: &["size"],
        form: "arrivals",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "telnet",
        summary: "single bytes at tcplib's intervals, as in ns-2",
        reference: "Danzig and Jamin 1991, tcplib; ns-2 tcp/telnet.cc",
        transport: "newreno",
        keys: MESSAGES,
        defaults: &[("gap", "telnet"), ("size", "1b")],
        form: "arrivals",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "arrivals",
        summary: "messages of any sizes at any intervals",
        keys: MESSAGES,
        must: &["gap"],
        form: "arrivals",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "voip",
        summary: "a call in both directions: G.711, 160 bytes every 20 ms; its mean opinion score is measured",
        reference: "ITU-T G.711, G.107",
        over: Over::Udp,
        defaults: &[("packet", "200b")],
        form: "voip",
        ..SourceKind::PLAIN
    },
    SourceKind {
        name: "gaming",
        summary: "small packets in both directions: 200 bytes, 50 a second",
        reference: "the defaults: Saleh, Shu and Koldehofe 2024, their program",
        keys: MESSAGES,
        defaults: &[("gap", "20ms"), ("size", "172b")],
        form: "arrivals",
        constants: &[("both_ways", Value::Flag(true))],
        ..SourceKind::PLAIN
    },
];

/// A stream of messages.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    process: Process,
    random: Random,
}

/// Equal pieces after equal gaps, as long as there is time for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rhythm {
    interval: Span,
    left: Span,
}

impl Rhythm {
    /// That of no source: there is never time.
    pub(crate) const NONE: Rhythm = Rhythm { interval: Span::MAX, left: Span::ZERO };

    /// The gap from the piece that is due to the next.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Span> {
        if self.interval > self.left {
            return None;
        }
        self.left = self.left.saturating_sub(self.interval);
        Some(self.interval)
    }

    /// Whether it is that of a source.
    #[inline]
    pub(crate) fn is_some(&self) -> bool {
        self.interval != Span::MAX
    }
}

#[derive(Clone, Debug)]
enum Process {
    /// Equal pieces at a constant rate.
    Steady { interval: Span },
    /// Equal pieces at a constant rate while ON.
    OnOff { interval: Span, on: Distribution, off: Distribution, left: Span },
    /// Equal pieces at a rate that changes in steps.
    Steps { rate: Distribution, every: Distribution, piece: u32, rate_bps: u64, left: Span },
    /// Independent gaps and sizes: a renewal process. Without sizes, equal pieces.
    Renewal { gap: Distribution, size: Option<Distribution> },
}

/// The gap of a process that has ended: nothing is sent after it.
const NEVER: Span = Span::MAX;

impl Arrivals {
    /// The process of a source; `None` for applications that react. It sends `piece` bytes at a time unless it draws
    /// sizes.
    pub(crate) fn new(source: &Source, piece: u32, mut random: Random) -> Option<Arrivals> {
        let interval =
            |rate_bps: u64| Rate::from_bits_per_sec(rate_bps).time_for(Bytes::new(u64::from(piece)));
        let process = match source {
            Source::Cbr { rate_bps } => Process::Steady { interval: interval(*rate_bps) },
            Source::OnOff { rate_bps, on, off } => Process::OnOff {
                interval: interval(*rate_bps),
                left: on.span(&mut random),
                on: on.clone(),
                off: off.clone(),
            },
            Source::Steps { rate, every } => Process::Steps {
                rate_bps: rate.sample(&mut random),
                left: every.span(&mut random),
                rate: rate.clone(),
                every: every.clone(),
                piece,
            },
            Source::Poisson { rate_bps } => {
                let mean = f64::from(piece) * 8e9 / *rate_bps as f64;
                let gap = Distribution::Exponential { mean: (mean.round_ties_even() as u64).max(1) };
                Process::Renewal { gap, size: None }
            }
            Source::Arrivals { gap, size, .. } => Process::Renewal { gap: gap.clone(), size: size.clone() },
            Source::Voip => Process::Renewal {
                gap: Distribution::Constant { value: voice::FRAME.as_nanos() },
                size: Some(Distribution::Constant { value: voice::FRAME_BYTES }),
            },
            Source::Bulk { .. }
            | Source::Rounds(_)
            | Source::Workload { .. }
            | Source::Video(_)
            | Source::Replay { .. } => return None,
        };
        Some(Arrivals { process, random })
    }

    /// How many messages it sends within a time, and how long they are (`None` for the usual piece), on average;
    /// nothing is longer than `largest`.
    ///
    /// A renewal process has between one and two times `t / E[min(gap, t)]` arrivals within t, whatever its tail
    /// (Erickson, "Strong renewal theorems with infinite mean", Trans. AMS 151, 1970, lemma 1).
    pub(super) fn expected(&self, within: Span, largest: f64) -> (f64, Option<f64>) {
        let time = within.as_nanos() as f64;
        match &self.process {
            Process::Steady { interval } => (time / (interval.as_nanos() as f64).max(1.0), None),
            Process::OnOff { interval, on, off, .. } => {
                // ON at first: with exponential periods exact, a two-state Markov chain.
                let (on, off) = (on.mean_up_to(time).max(1.0), off.mean_up_to(time).max(1.0));
                let (share, decay) = (on / (on + off), 1.0 / on + 1.0 / off);
                let sending = share * time + (1.0 - share) * (1.0 - libm::exp(-decay * time)) / decay;
                (sending / (interval.as_nanos() as f64).max(1.0), None)
            }
            Process::Steps { rate, piece, .. } => {
                (rate.mean_up_to(f64::MAX) * time / 1e9 / 8.0 / f64::from(*piece), None)
            }
            Process::Renewal { gap, size } => {
                let size = size.as_ref().map(|size| size.mean_up_to(largest));
                (1.0 + time / gap.mean_up_to(time).max(1.0), size)
            }
        }
    }

    /// How its next pieces follow each other, if nothing is drawn for some time.
    pub(crate) fn rhythm(&self) -> Option<Rhythm> {
        let rhythm = match self.process {
            Process::Steady { interval } => Rhythm { interval, left: Span::MAX },
            Process::OnOff { interval, left, .. } => Rhythm { interval, left },
            Process::Steps { .. } | Process::Renewal { .. } => return None,
        };
        Some(rhythm).filter(|rhythm| rhythm.interval < rhythm.left)
    }

    /// Pieces went by in its rhythm, which now is `rhythm`.
    pub(crate) fn resume(&mut self, rhythm: Rhythm) {
        if let Process::OnOff { left, .. } = &mut self.process {
            *left = rhythm.left;
        }
    }

    /// The size of the message that is due now (`None` for the usual piece), and the gap to the next.
    pub(crate) fn next(&mut self) -> (Option<u64>, Span) {
        let random = &mut self.random;
        match &mut self.process {
            Process::Steady { interval } => (None, *interval),
            Process::OnOff { interval, on, off, left } => {
                // Sending takes ON time only; a piece that an ON period leaves unfinished continues in the next.
                let (mut gap, mut needed) = (Span::ZERO, *interval);
                while needed > *left {
                    needed = needed.saturating_sub(*left);
                    gap = gap + *left + off.span(random);
                    *left = on.span(random);
                    if gap == NEVER {
                        return (None, NEVER);
                    }
                }
                *left = left.saturating_sub(needed);
                (None, gap + needed)
            }
            Process::Steps { rate, every, piece, rate_bps, left } => {
                // In bits times nanoseconds per second, so that integers suffice.
                let mut needed = u128::from(*piece) * 8 * 1_000_000_000;
                let mut gap = Span::ZERO;
                loop {
                    let possible = u128::from(*rate_bps) * u128::from(left.as_nanos());
                    if needed <= possible {
                        let taken = Span::from_nanos(needed.div_ceil(u128::from(*rate_bps)) as u64);
                        *left = left.saturating_sub(taken);
                        return (None, gap + taken);
                    }
                    needed -= possible;
                    gap += *left;
                    if gap == NEVER {
                        return (None, NEVER);
                    }
                    (*rate_bps, *left) = (rate.sample(random), every.span(random));
                }
            }
            Process::Renewal { gap, size } => {
                let size = size.as_ref().map(|size| size.sample(random));
                (size, gap.span(random))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ms(value: u64) -> Distribution {
        Distribution::Constant { value: value * MS }
    }

    fn gaps_ms(arrivals: &mut Arrivals, count: usize) -> Vec<f64> {
        (0..count).map(|_| arrivals.next().1.as_millis_f64()).collect()
    }

    #[test]
    fn as_many_messages_are_expected_as_come() {
        let exponential = |mean| Distribution::Exponential { mean };
        let rate = Distribution::Uniform { low: 0, high: 2_000_000 };
        let renewal = |gap| Source::Arrivals { gap, size: None, both_ways: false };
        // Erickson's bounds, and a tenth for periods that are cut to the length of the run.
        let (exact, heavy) = ((0.95, 1.05), (0.5, 1.1));
        let sources = [
            (Source::Cbr { rate_bps: 1_000_000 }, exact),
            (
                Source::OnOff { rate_bps: 1_000_000, on: exponential(100 * MS), off: exponential(300 * MS) },
                exact,
            ),
            (
                Source::OnOff { rate_bps: 1_000_000, on: exponential(900 * MS), off: exponential(9000 * MS) },
                heavy,
            ),
            (Source::Steps { rate, every: ms(50) }, exact),
            (Source::Poisson { rate_bps: 1_000_000 }, exact),
            (renewal(ms(7)), exact),
            (renewal(Distribution::Pareto { scale: MS, shape: 0.9 }), heavy),
        ];
        for (source, (low, high)) in sources {
            let (mut come, runs) = (0, 400);
            for seed in 0..runs {
                let mut arrivals = Arrivals::new(&source, 1000, Random::seeded(seed)).unwrap();
                let mut at = 0.0;
                while at < 2000.0 {
                    come += 1;
                    at += arrivals.next().1.as_millis_f64();
                }
            }
            let process = Arrivals::new(&source, 1000, Random::seeded(0)).unwrap();
            let ratio = process.expected(Span::from_secs(2), 1e9).0 * runs as f64 / f64::from(come);
            assert!((low..high).contains(&ratio), "{source:?}: {ratio}");
        }
    }

    #[test]
    fn an_unfinished_piece_continues_in_the_next_on_period() {
        // 1000 bytes at 1 Mbit/s take 8 ms. ON 20 ms, OFF 100 ms: after two pieces 4 ms are left, the third needs
        // 4 ms of the next period: 4 + 100 + 4.
        let source = Source::OnOff { rate_bps: 1_000_000, on: ms(20), off: ms(100) };
        let mut arrivals = Arrivals::new(&source, 1000, Random::seeded(1)).unwrap();
        assert_eq!(gaps_ms(&mut arrivals, 4), [8.0, 8.0, 108.0, 8.0]);
    }

    #[test]
    fn pieces_that_go_by_in_their_rhythm_are_those_that_the_process_would_have_sent() {
        let on_off = Source::OnOff {
            rate_bps: 1_000_000,
            on: Distribution::Exponential { mean: 100 * MS },
            off: Distribution::Exponential { mean: 30 * MS },
        };
        for source in [Source::Cbr { rate_bps: 1_000_000 }, on_off] {
            let mut plain = Arrivals::new(&source, 1000, Random::seeded(4)).unwrap();
            let (mut lent, mut gone_by) = (plain.clone(), 0);
            while gone_by < 300 {
                let mut rhythm = lent.rhythm().unwrap_or(Rhythm::NONE);
                while gone_by % 7 != 6
                    && let Some(gap) = rhythm.next()
                {
                    gone_by += 1;
                    assert_eq!(plain.next(), (None, gap));
                }
                if rhythm.is_some() {
                    lent.resume(rhythm);
                }
                gone_by += 1;
                assert_eq!(plain.next(), lent.next());
            }
        }
    }

    #[test]
    fn each_rate_of_a_stepping_source_lasts_for_its_time() {
        // 1 or 2 Mbit/s for 10 ms each. The script draws the lower half (1), then the upper half (2), in turn; constant
        // lengths draw nothing. 1000 bytes are 8000 bits: 8 ms at 1 Mbit/s; then 2 ms hold 2000 bits, and the other
        // 6000 take 3 ms at 2 Mbit/s; 4 ms; then 3 ms hold 6000 bits and 2000 take 2 ms.
        let rate = Distribution::Uniform { low: 1_000_000, high: 2_000_000 };
        let source = Source::Steps { rate, every: ms(10) };
        let script = Random::script(vec![0, u64::MAX]);
        let mut arrivals = Arrivals::new(&source, 1000, script).unwrap();
        assert_eq!(gaps_ms(&mut arrivals, 4), [8.0, 5.0, 4.0, 5.0]);
    }

    #[test]
    fn a_rate_of_zero_is_a_pause() {
        let rate = Distribution::Uniform { low: 0, high: 1_000_000 };
        let source = Source::Steps { rate, every: ms(10) };
        let script = Random::script(vec![u64::MAX, 0]);
        let mut arrivals = Arrivals::new(&source, 1000, script).unwrap();
        assert_eq!(gaps_ms(&mut arrivals, 2), [8.0, 18.0]);
    }

    #[test]
    fn poisson_arrivals_have_their_rate_and_an_index_of_dispersion_of_one() {
        let source =
            Source::Arrivals { gap: Distribution::Exponential { mean: MS }, size: None, both_ways: false };
        let mut arrivals = Arrivals::new(&source, 1000, Random::seeded(3)).unwrap();
        // Arrivals in 1000 windows of 100 ms: mean and variance are 100 both.
        let mut counts = vec![0.0_f64; 1000];
        let mut at = 0.0;
        while at < 100_000.0 {
            counts[(at / 100.0) as usize] += 1.0;
            at += arrivals.next().1.as_millis_f64();
        }
        let mean = counts.iter().sum::<f64>() / 1000.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 1000.0;
        assert!((mean - 100.0).abs() < 4.0 * (100.0_f64 / 1000.0).sqrt(), "{mean}");
        // The index of dispersion is 1 with a standard error of sqrt(2 / 1000).
        assert!((variance / mean - 1.0).abs() < 4.0 * 0.045, "{}", variance / mean);
    }

    #[test]
    fn sizes_and_gaps_are_drawn() {
        let size = Distribution::Uniform { low: 1, high: 3 };
        let source = Source::Arrivals { gap: ms(40), size: Some(size), both_ways: false };
        let mut arrivals = Arrivals::new(&source, 1000, Random::seeded(1)).unwrap();
        let messages: Vec<_> = (0..100).map(|_| arrivals.next()).collect();
        assert!(messages.iter().all(|(_, gap)| *gap == Span::from_millis(40)));
        for size in 1..=3 {
            assert!(messages.iter().any(|(drawn, _)| *drawn == Some(size)));
        }
    }
}
