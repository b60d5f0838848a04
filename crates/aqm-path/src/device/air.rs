//! What the stations of a medium have sent and received, in sums.

use aqm_core::units::{Span, Time};

/// Sums of a station, of what is sent to it and by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StationTotals {
    /// Airtime of transmissions to it, responses included.
    pub airtime_down: Span,
    /// Of those that it sent.
    pub airtime_up: Span,
    /// PPDUs with packets to it.
    pub ppdus: u64,
    /// PPDUs to it and from it that collided, of all.
    pub collided: u64,
    /// PPDUs to it and from it.
    pub all_ppdus: u64,
    /// MPDUs to it, retries included.
    pub mpdus: u64,
    /// Of these, those that were sent again.
    pub again: u64,
    /// The time of the PPDUs to it, without responses.
    pub ppdu_time: Span,
    /// Packets to it that it released.
    pub released: u64,
    /// Their time in the driver, from being taken to being first sent; on the air, until they were received; and in the
    /// reorder buffer.
    pub driver: Span,
    /// See `driver`.
    pub air: Span,
    /// See `driver`.
    pub reorder: Span,
    /// Octets of IP packets that were acknowledged, to it.
    pub octets_down: u64,
    /// From it.
    pub octets_up: u64,
}

/// Sums of the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediumTotals {
    /// The time for which somebody sent, responses and the gaps before them included.
    pub busy: Span,
    /// Of it, collisions.
    pub collisions: Span,
    /// Bursts that ended.
    pub bursts: u64,
    /// The end of the last.
    pub last: Time,
}

impl StationTotals {
    /// What was added since `before`.
    #[must_use]
    pub fn since(&self, before: &StationTotals) -> StationTotals {
        StationTotals {
            airtime_down: self.airtime_down.saturating_sub(before.airtime_down),
            airtime_up: self.airtime_up.saturating_sub(before.airtime_up),
            ppdus: self.ppdus - before.ppdus,
            collided: self.collided - before.collided,
            all_ppdus: self.all_ppdus - before.all_ppdus,
            mpdus: self.mpdus - before.mpdus,
            again: self.again - before.again,
            ppdu_time: self.ppdu_time.saturating_sub(before.ppdu_time),
            released: self.released - before.released,
            driver: self.driver.saturating_sub(before.driver),
            air: self.air.saturating_sub(before.air),
            reorder: self.reorder.saturating_sub(before.reorder),
            octets_down: self.octets_down - before.octets_down,
            octets_up: self.octets_up - before.octets_up,
        }
    }

    /// Airtime in both directions.
    pub fn airtime(&self) -> Span {
        self.airtime_down + self.airtime_up
    }

    /// Packets of a mean PPDU to it.
    pub fn aggregate_mean_packets(&self) -> Option<f64> {
        (self.ppdus > 0).then(|| self.mpdus as f64 / self.ppdus as f64)
    }

    /// The time of a mean PPDU to it in microseconds.
    pub fn aggregate_mean_us(&self) -> Option<f64> {
        (self.ppdus > 0).then(|| self.ppdu_time.as_nanos() as f64 / 1e3 / self.ppdus as f64)
    }

    /// The share of MPDUs to it that were sent before.
    pub fn retry_ratio(&self) -> Option<f64> {
        (self.mpdus > 0).then(|| self.again as f64 / self.mpdus as f64)
    }

    /// The share of PPDUs to it and from it that collided.
    pub fn collision_ratio(&self) -> Option<f64> {
        (self.all_ppdus > 0).then(|| self.collided as f64 / self.all_ppdus as f64)
    }
}
