//! What is counted on a channel.

use super::host::{ACCESS_POINT, Outcome, Released, Transmission};
use crate::device::air::{MediumTotals, StationTotals};
use aqm_core::units::{Span, Time};

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
            // One that only asks for a block ACK is no aggregate.
            totals.ppdus += u64::from(transmission.mpdus > 0);
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
