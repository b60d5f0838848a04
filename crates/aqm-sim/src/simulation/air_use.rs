//! Who used the air of a channel, and how long packets waited for it.

use aqm_core::units::Span;
use aqm_path::device::burst::Air;
use aqm_path::mac::channel::{MediumTotals, StationTotals};

/// The use of a channel that stations share, in sums since the beginning.
pub(crate) struct AirUse {
    /// Of the stations, by their numbers.
    pub(crate) stations: Vec<StationUse>,
    pub(crate) medium: MediumTotals,
}

/// The use of a station.
#[derive(Clone, Copy)]
pub(crate) struct StationUse {
    pub(crate) totals: StationTotals,
    /// Packets for it that were taken from the discipline.
    pub(crate) waits: Waits,
}

/// Packets that were taken from a discipline, and how long they had waited in all.
#[derive(Clone, Copy, Default)]
pub(crate) struct Waits {
    pub(crate) packets: u64,
    pub(crate) sojourn: Span,
}

impl AirUse {
    /// The use of a device's air; `waits` are of its stations.
    pub(crate) fn new(air: Air<'_>, waits: &[Waits]) -> AirUse {
        let stations = air.stations.into_iter().zip(waits);
        let stations = stations.map(|(totals, &waits)| StationUse { totals, waits }).collect();
        AirUse { stations, medium: air.medium }
    }

    /// What stations have added since `before`; all of it if there is no before.
    pub(crate) fn since(&self, before: Option<&AirUse>) -> Vec<StationUse> {
        let added = |(number, now): (usize, &StationUse)| {
            before.map_or(*now, |before| now.since(&before.stations[number]))
        };
        self.stations.iter().enumerate().map(added).collect()
    }
}

impl StationUse {
    fn since(&self, before: &StationUse) -> StationUse {
        StationUse {
            totals: self.totals.since(&before.totals),
            waits: Waits {
                packets: self.waits.packets - before.waits.packets,
                sojourn: self.waits.sojourn.saturating_sub(before.waits.sojourn),
            },
        }
    }

    /// Mean times of packets for it: in the discipline, in the driver, on the air and in the reorder buffer; none of no packets.
    pub(crate) fn delays_ms(&self) -> [Option<f64>; 4] {
        let mean = |sum: Span, packets: u64| (packets > 0).then(|| sum.as_millis_f64() / packets as f64);
        let StationTotals { driver, air, reorder, released, .. } = self.totals;
        [
            mean(self.waits.sojourn, self.waits.packets),
            mean(driver, released),
            mean(air, released),
            mean(reorder, released),
        ]
    }

    /// Their sum.
    pub(crate) fn delay_ms(&self) -> Option<f64> {
        self.delays_ms().into_iter().sum()
    }
}

/// Shares of the airtime of all stations; none where nobody sent.
pub(crate) fn airtime_shares(stations: &[StationUse]) -> Vec<Option<f64>> {
    let airtimes = stations.iter().map(|one| one.totals.airtime().as_nanos() as f64);
    let all: f64 = airtimes.clone().sum();
    airtimes.map(|airtime| (all > 0.0).then(|| airtime / all)).collect()
}
