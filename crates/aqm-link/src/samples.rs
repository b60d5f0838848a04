//! What a direction did in each period of equal length: rows for figures, and for who watches.

use aqm_core::backlog::Backlog;
use aqm_core::signal::DropReason;
use aqm_core::units::{Span, Time};
use aqm_io::histogram::Histogram;
use serde::Serialize;

/// The current period, and the rows of those that are over.
pub(crate) struct Samples {
    period: Span,
    /// When the current period ends.
    next: Time,
    bytes: u64,
    departed: u64,
    sojourn_sum: Span,
    sojourn: Histogram,
    drops_early: u64,
    drops_overflow: u64,
    marks: u64,
    rows: Vec<Sample>,
}

/// A period. Names are those of the simulator's series; a delay that nobody had is `null`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Sample {
    /// Its end, since the start of the link.
    time_s: f64,
    throughput_mbit: f64,
    /// At the end of it.
    queue_packets: u64,
    queue_bytes: u64,
    /// The mean of the packets that left the discipline.
    qdelay_ms: Option<f64>,
    qdelay_p50_ms: Option<f64>,
    qdelay_p99_ms: Option<f64>,
    drops: u64,
    drops_early: u64,
    marks: u64,
}

impl Samples {
    /// Periods of so many nanoseconds.
    pub(crate) fn every(period: Span) -> Samples {
        Samples {
            period,
            next: Time::ZERO + period,
            bytes: 0,
            departed: 0,
            sojourn_sum: Span::ZERO,
            sojourn: Histogram::default(),
            drops_early: 0,
            drops_overflow: 0,
            marks: 0,
            rows: Vec::new(),
        }
    }

    /// When the current period ends.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// `waits` was the backlog since the last event, and will be until `now`.
    #[inline]
    pub(crate) fn advance(&mut self, waits: Backlog, now: Time) {
        while self.next <= now {
            self.cut(waits);
        }
    }

    /// A packet begins to leave after this time in the discipline.
    pub(crate) fn depart(&mut self, bytes: u32, sojourn: Span) {
        self.bytes += u64::from(bytes);
        self.departed += 1;
        self.sojourn_sum += sojourn;
        self.sojourn.record(sojourn.as_nanos());
    }

    /// The discipline drops a packet.
    pub(crate) fn drop(&mut self, reason: DropReason) {
        if reason.is_early() {
            self.drops_early += 1;
        } else if reason.is_loss() {
            self.drops_overflow += 1;
        }
    }

    /// The discipline marks a packet.
    pub(crate) fn mark(&mut self) {
        self.marks += 1;
    }

    /// The rows that there are since the last call.
    pub(crate) fn rows(&mut self) -> impl Iterator<Item = Sample> + '_ {
        self.rows.drain(..)
    }

    #[cold]
    fn cut(&mut self, waits: Backlog) {
        let has_any = self.departed > 0;
        let row = Sample {
            time_s: self.next.as_secs_f64(),
            throughput_mbit: self.bytes as f64 * 8e-6 / self.period.as_secs_f64(),
            queue_packets: waits.packets,
            queue_bytes: waits.bytes,
            qdelay_ms: has_any.then(|| self.sojourn_sum.as_millis_f64() / self.departed as f64),
            qdelay_p50_ms: self.sojourn.quantile_ms(0.5),
            qdelay_p99_ms: self.sojourn.quantile_ms(0.99),
            drops: self.drops_early + self.drops_overflow,
            drops_early: self.drops_early,
            marks: self.marks,
        };
        self.rows.push(row);
        self.sojourn.clear();
        (self.bytes, self.departed, self.sojourn_sum) = (0, 0, Span::ZERO);
        (self.drops_early, self.drops_overflow, self.marks) = (0, 0, 0);
        self.next += self.period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_period_has_what_happened_in_it() {
        let mut samples = Samples::every(Span::from_millis(10));
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        samples.depart(1250, Span::from_millis(4));
        samples.depart(1250, Span::from_millis(6));
        samples.drop(DropReason::Congestion);
        samples.advance(Backlog { packets: 3, bytes: 4500 }, at(9));
        assert_eq!(samples.rows().count(), 0);
        samples.drop(DropReason::Overlimit);
        samples.mark();
        samples.advance(Backlog { packets: 2, bytes: 3000 }, at(20));
        let rows: Vec<Sample> = samples.rows().collect();
        assert_eq!(rows.iter().map(|row| row.time_s).collect::<Vec<f64>>(), [0.01, 0.02]);
        let [first, second] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((first.throughput_mbit, first.queue_packets, first.queue_bytes), (2.0, 2, 3000));
        assert_eq!((first.drops, first.drops_early, first.marks), (2, 1, 1));
        assert!((first.qdelay_ms.unwrap() - 5.0).abs() < 1e-9);
        assert_eq!(
            (second.throughput_mbit, second.qdelay_ms, second.qdelay_p99_ms, second.drops),
            (0.0, None, None, 0)
        );
    }
}
