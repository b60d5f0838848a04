//! Who used a medium that stations share, and where their packets waited.

use crate::metrics::registry::*;
use crate::report::Report;
use crate::simulation::state::Channel;
use aqm_core::units::{Span, Time};
use aqm_path::device::burst::Air;
use aqm_path::mac::channel::{MediumTotals, StationTotals, jain};

/// The metrics of the channels on which stations share the air, from the end of the warm-up on.
pub(super) fn report(report: &mut Report, channels: &[Channel], warmup: Time, end: Time) {
    let shared: Vec<(&Channel, Air<'_>)> =
        channels.iter().filter_map(|channel| Some((channel, channel.device.as_ref()?.air()?))).collect();
    for (channel, air) in &shared {
        let before = channel.before.as_ref();
        let stations: Vec<StationTotals> = air
            .stations
            .iter()
            .enumerate()
            .map(|(number, totals)| before.map_or(*totals, |(stations, _)| totals.since(&stations[number])))
            .collect();
        let airtimes: Vec<f64> = stations.iter().map(|one| one.airtime().as_nanos() as f64).collect();
        let all: f64 = airtimes.iter().sum();
        for (number, totals) in stations.iter().enumerate() {
            let part = STATION.part(&air.names[number]);
            let mut put = |metric: &Metric, value| put(report, &part, metric, value);
            put(&AIRTIME_SHARE, (all > 0.0).then(|| airtimes[number] / all));
            put(&AGGREGATE_MEAN_PACKETS, totals.aggregate_mean_packets());
            put(&AGGREGATE_MEAN_US, totals.aggregate_mean_us());
            put(&RETRY_RATIO, totals.retry_ratio());
            put(&COLLISION_RATIO, totals.collision_ratio());
            let waits = channel.waits[number];
            put(&DELAY_DISCIPLINE_MS, mean_ms(waits.sojourn, waits.packets));
            put(&DELAY_DRIVER_MS, mean_ms(totals.driver, totals.released));
            put(&DELAY_AIR_MS, mean_ms(totals.air, totals.released));
            put(&DELAY_REORDER_MS, mean_ms(totals.reorder, totals.released));
        }
        // Of several channels each has the stations, and the first is that of the whole.
        if std::ptr::eq(*channel, shared[0].0) {
            put(report, &Part::WHOLE, &BUSY_SHARE, busy_share(channel, warmup, end));
            put(report, &Part::WHOLE, &AIRTIME_JAIN, jain(&airtimes));
        }
    }
}

/// Of nothing there is no mean and no share.
fn put(report: &mut Report, part: &Part, metric: &Metric, value: Option<f64>) {
    if let Some(value) = value {
        report.metrics.put(part, metric, value);
    }
}

fn mean_ms(sum: Span, packets: u64) -> Option<f64> {
    (packets > 0).then(|| sum.as_millis_f64() / packets as f64)
}

/// The share of time in which somebody sent; none where stations do not share the air. What of the last transmission lies
/// behind the end of the run is no part of it, nor what of one lies behind the warm-up that began before.
pub(super) fn busy_share(channel: &Channel, warmup: Time, end: Time) -> Option<f64> {
    let medium = channel.device.as_ref()?.air()?.medium;
    let inside = |medium: &MediumTotals, by: Time| medium.busy.saturating_sub(medium.last.since(by));
    let before = channel.before.as_ref().map_or(Span::ZERO, |(_, before)| inside(before, warmup));
    let busy = inside(&medium, end).saturating_sub(before);
    Some(busy.as_secs_f64() / end.since(warmup).as_secs_f64())
}
