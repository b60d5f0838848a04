//! Who used a medium that stations share, and where their packets waited.

use crate::metrics::registry::*;
use crate::report::Report;
use crate::simulation::air_use::{AirUse, airtime_shares};
use crate::simulation::state::Channel;
use aqm_core::units::{Span, Time};
use aqm_path::mac::channel::{MediumTotals, jain};
use aqm_path::mac::link::MULTICAST;

/// The metrics of the channels on which stations share the air, from the end of the warm-up on.
pub(super) fn report(report: &mut Report, channels: &[Channel], warmup: Time, end: Time) {
    let shared: Vec<(&Channel, AirUse)> =
        channels.iter().filter_map(|channel| Some((channel, channel.air_use()?))).collect();
    for (channel, used) in &shared {
        let stations = used.since(channel.before.as_ref());
        for ((part, one), share) in channel.parts.iter().zip(&stations).zip(airtime_shares(&stations)) {
            let mut put = |metric: &Metric, value| put(report, part, metric, value);
            put(&AIRTIME_SHARE, share);
            put(&AGGREGATE_MEAN_PACKETS, one.totals.aggregate_mean_packets());
            put(&AGGREGATE_MEAN_US, one.totals.aggregate_mean_us());
            put(&RETRY_RATIO, one.totals.retry_ratio());
            put(&COLLISION_RATIO, one.totals.collision_ratio());
            let layers = [&DELAY_DISCIPLINE_MS, &DELAY_DRIVER_MS, &DELAY_AIR_MS, &DELAY_REORDER_MS];
            layers.into_iter().zip(one.delays_ms()).for_each(|(metric, delay)| put(metric, delay));
            put(&DELAY_TOTAL_MS, one.delay_ms());
        }
        // Of several channels each has the stations, and the first is that of the whole.
        if std::ptr::eq(*channel, shared[0].0) {
            // Multicast is for all stations, and is none of them.
            let group = STATION.part(MULTICAST);
            let each = channel.parts.iter().zip(&stations).filter(|(part, _)| **part != group);
            let airtimes: Vec<f64> = each.map(|(_, one)| one.totals.airtime().as_nanos() as f64).collect();
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

/// The share of time in which somebody sent; none where stations do not share the air. What of the last transmission lies
/// behind the end of the run is no part of it, nor what of one lies behind the warm-up that began before.
pub(super) fn busy_share(channel: &Channel, warmup: Time, end: Time) -> Option<f64> {
    let inside = |medium: &MediumTotals, by: Time| medium.busy.saturating_sub(medium.last.since(by));
    let before = channel.before.as_ref().map_or(Span::ZERO, |before| inside(&before.medium, warmup));
    let busy = inside(&channel.air_use()?.medium, end).saturating_sub(before);
    Some(busy.as_secs_f64() / end.since(warmup).as_secs_f64())
}
