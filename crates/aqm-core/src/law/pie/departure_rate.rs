//! The departure rate (RFC 8033 section 5.2), from which a delay follows without timestamps.

use crate::units::Time;

/// How the departure rate is estimated.
#[derive(Clone, Copy, Debug)]
pub struct Estimator {
    /// Bytes of one measurement (`DQ_THRESHOLD`).
    pub threshold: u64,
    /// Weight of a new measurement in the average.
    pub weight: f64,
}

/// The estimate.
#[derive(Clone, Copy, Debug)]
pub struct DepartureRate {
    pub(super) measurement: Option<Measurement>,
    /// The average of the measurements: seconds for `threshold` bytes; as ns-3.27 keeps it, byte/s. Zero: unknown.
    pub(super) average: f64,
}

/// A running measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement {
    pub(super) start: Time,
    /// Bytes that have left since.
    pub(super) count: u64,
}

impl DepartureRate {
    /// Nothing is measured yet.
    pub const UNKNOWN: DepartureRate = DepartureRate { measurement: None, average: 0.0 };

    /// A measurement starts.
    pub(super) fn measure(&mut self, now: Time) {
        self.measurement = Some(Measurement { start: now, count: 0 });
    }

    /// `length` bytes have left; `bytes_left` are still queued.
    pub(super) fn depart(&mut self, estimator: Estimator, length: u32, bytes_left: u64, now: Time) {
        if let Some(measurement) = &mut self.measurement {
            measurement.count += u64::from(length);
            if measurement.count >= estimator.threshold {
                let time = now.since(measurement.start).as_secs_f64();
                self.take(time, estimator.weight);
                self.measurement = None;
            }
        }
        if self.measurement.is_none() && bytes_left >= estimator.threshold {
            self.measure(now);
        }
    }

    /// Averages one more value; the first counts in full.
    pub(super) fn take(&mut self, value: f64, weight: f64) {
        self.average =
            if self.average == 0.0 { value } else { value * weight + self.average * (1.0 - weight) };
    }

    /// The delay of `bytes`, seconds; zero while the rate is unknown.
    pub(super) fn qdelay(&self, estimator: Estimator, bytes: u64) -> f64 {
        bytes as f64 * self.average / estimator.threshold as f64
    }
}
