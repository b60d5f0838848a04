//! What is counted on a channel.

use super::host::{ACCESS_POINT, Outcome, Released, Transmission};
use aqm_core::units::{Span, Time};

/// Sums of a station, of what is sent to it and by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationTotals {
    /// Airtime of transmissions to it, responses included.
    pub airtime_down: Span,
    /// Of those that it sent.
    pub airtime_up: Span,
    /// PPDUs to it.
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

/// Jain's index of shares: one if all are equal, one over their number if one has all; none of nothing.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[derive(Debug)]
pub(super) struct Account {
    pub(super) stations: Vec<StationTotals>,
    pub(super) medium: MediumTotals,
    /// What the transmissions of bursts add up to, for the check of `busy`.
    pub(super) alone: Span,
    /// Packets that receivers released.
    pub(super) released: u64,
    /// Packets that were given up.
    pub(super) dropped: u64,
}

impl Account {
    pub(super) fn new(stations: usize) -> Account {
        Account {
            stations: vec![StationTotals::default(); stations],
            medium: MediumTotals::default(),
            alone: Span::ZERO,
            released: 0,
            dropped: 0,
        }
    }

    pub(super) fn begin(&mut self, start: Time, until: Time, collides: bool) {
        let length = until.since(start);
        self.medium.busy += length;
        if collides {
            self.medium.collisions += length;
        }
        self.medium.bursts += 1;
        self.medium.last = until;
    }

    /// A receiver has released packets of a transmission to or from `station`.
    pub(super) fn released(&mut self, station: u8, released: &[Released]) {
        self.released += released.len() as u64;
        let Some(totals) = self.stations.get_mut(usize::from(station)) else { return };
        for one in released.iter().filter(|one| one.queue.node == ACCESS_POINT) {
            totals.released += 1;
            totals.driver += one.first_sent.since(one.taken);
            totals.air += one.received.since(one.first_sent);
            totals.reorder += one.at.since(one.received);
        }
    }

    pub(super) fn ended(&mut self, transmission: &Transmission) {
        if transmission.outcome != Outcome::Collided {
            self.alone += transmission.airtime;
        }
        let Some(totals) = self.stations.get_mut(usize::from(transmission.station())) else { return };
        totals.all_ppdus += 1;
        totals.collided += u64::from(transmission.outcome == Outcome::Collided);
        if transmission.queue.node == ACCESS_POINT {
            totals.airtime_down += transmission.airtime;
            totals.octets_down += transmission.octets;
            totals.ppdus += 1;
            totals.mpdus += u64::from(transmission.mpdus);
            totals.again += u64::from(transmission.again);
            totals.ppdu_time += transmission.ppdu;
        } else {
            totals.airtime_up += transmission.airtime;
            totals.octets_up += transmission.octets;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_if_all_are_equal() {
        assert_eq!(jain(&[2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[0.0]), None);
    }
}
