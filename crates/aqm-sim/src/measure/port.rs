//! Measurements at a port: its queue, and what each flow sends through it. Accumulated in place: nothing is logged,
//! nothing is allocated per packet.

use super::classified::Classified;
use crate::metrics::registry::{PORT, Part};
use crate::network::graph::Capacity;
use aqm_core::backlog::Backlog;
use aqm_core::signal::DropReason;
use aqm_core::units::{Span, Time};
use aqm_io::histogram::Histogram;
use aqm_io::link_trace::OPPORTUNITY_BYTES;
use aqm_path::meter::queue::QueueOverTime;
use aqm_path::meter::signals::Signals;
use aqm_path::meter::totals::Totals;

/// A measured port. Names and definitions are those of the metrics contract.
pub(crate) struct PortMetrics {
    /// Whose metrics its own are where several ports are measured.
    pub(crate) part: Part,
    capacity: Capacity,
    pub(crate) flows: Vec<FlowAtPort>,
    /// Sojourn times by group of flows.
    sojourn: Vec<Histogram>,
    /// Verdicts of a classifier, if there is one.
    pub(crate) classified: Option<Box<Classified>>,
    pub(crate) queue: QueueOverTime,
    /// Packets times nanoseconds before measuring began, and how long dropped packets have waited, the whole run's.
    packet_nanos_before: u128,
    wasted: Span,
    pub(crate) signals: Signals,
    /// Bytes handed to the wire, link-layer overhead included.
    sent_bytes: u64,
    /// Counters of port and discipline at the last sample of the series.
    sampled: Passed,
    /// Counters of port and discipline when measuring began, and the bytes that each flow had sent through.
    before: Passed,
    carried_before: Vec<u64>,
    /// Bytes that the device held when measuring began, and those that it holds at the end.
    held_before: f64,
    held: f64,
}

/// Packets at a port, as discipline and switch count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) arrived: u64,
    pub(crate) dropped: u64,
    /// Those of the dropped that the AQM chose.
    pub(crate) early: u64,
    /// Acknowledgments that were filtered beside.
    pub(crate) filtered: u64,
    pub(crate) marked: u64,
    pub(crate) departed: u64,
    /// Bytes of those that departed, and how long they had waited.
    pub(crate) bytes: u64,
    pub(crate) sojourn: Span,
}

/// One flow at a measured port. What was dropped and marked is a part of what arrived while measuring, as the sample of
/// RFC 7680 section 3.4 is of packets sent in an interval; what departed, left while measuring. Packets are counted in
/// 32 bits.
#[derive(Clone, Copy, Default)]
pub(crate) struct FlowAtPort {
    pub(crate) group: u32,
    pub(crate) arrived: u32,
    pub(crate) dropped: u32,
    pub(crate) marked: u32,
    pub(crate) departed: u32,
    /// Bytes that left the queue.
    pub(crate) bytes: u64,
    pub(crate) sojourn_sum: Span,
}

impl PortMetrics {
    pub(crate) fn new(name: &str, capacity: Capacity, groups: usize) -> PortMetrics {
        PortMetrics {
            part: PORT.part(name),
            capacity,
            flows: Vec::new(),
            sojourn: vec![Histogram::default(); groups],
            classified: None,
            queue: QueueOverTime::default(),
            packet_nanos_before: 0,
            wasted: Span::ZERO,
            signals: Signals::default(),
            sent_bytes: 0,
            sampled: Passed::default(),
            before: Passed::default(),
            carried_before: Vec::new(),
            held_before: 0.0,
            held: 0.0,
        }
    }

    /// Adds a flow of group number `group`.
    pub(crate) fn add_flow(&mut self, group: u32) {
        self.flows.push(FlowAtPort { group, ..FlowAtPort::default() });
        self.carried_before.push(0);
    }

    /// The warm-up is over: everything starts again from zero, except the current sample.
    /// `passed` is what discipline and switch have counted so far; the device has `held` bytes to send.
    pub(crate) fn restart(&mut self, queued: Backlog, passed: Passed, held: f64, now: Time) {
        (self.before, self.held_before) = (passed, held);
        for (flow, carried) in self.flows.iter_mut().zip(&mut self.carried_before) {
            *carried += flow.bytes;
            *flow = FlowAtPort { group: flow.group, ..FlowAtPort::default() };
        }
        self.sojourn.iter_mut().for_each(Histogram::clear);
        self.classified.iter_mut().for_each(|classified| classified.restart());
        self.advance(queued, now);
        self.packet_nanos_before += self.queue.packet_nanos();
        (self.queue, self.signals) = (QueueOverTime::since(now, queued), Signals::since(now));
        self.sent_bytes = 0;
    }

    /// Measuring ends while `queued` waits and the device has `held` bytes to send.
    pub(crate) fn end(&mut self, queued: Backlog, held: f64, now: Time) {
        self.advance(queued, now);
        self.held = held;
    }

    /// A packet arrives while `queued` waits.
    #[inline]
    pub(crate) fn on_arrival(&mut self, flow: u32, queued: Backlog, now: Time) {
        self.flows[flow as usize].arrived += 1;
        self.advance(queued, now);
    }

    /// The backlog after an arrival was handled; only now is it known whether the packet stayed.
    #[inline]
    pub(crate) fn after_arrival(&mut self, queued: Backlog) {
        self.queue.reach(queued);
    }

    /// The discipline drops a packet; `queued` waited until now.
    pub(crate) fn on_drop(&mut self, packet: Signalled, reason: DropReason, queued: Backlog, now: Time) {
        self.advance(queued, now);
        self.wasted += now.since(packet.arrival);
        if self.signals.drop(packet.arrival, reason) {
            self.flows[packet.flow as usize].dropped += 1;
        }
    }

    /// The discipline marks a packet.
    pub(crate) fn on_mark(&mut self, packet: Signalled) {
        if self.signals.mark(packet.arrival) {
            self.flows[packet.flow as usize].marked += 1;
        }
    }

    /// A classifier says what a packet is, for which it read `read` records.
    pub(crate) fn on_classify(&mut self, flow: u32, unresponsive: bool, reported: bool, read: u64) {
        self.classified.get_or_insert_default().count(flow, unresponsive, reported, read);
    }

    /// A packet leaves the queue for the device; `queued` waited until now.
    #[inline(always)]
    pub(crate) fn on_departure(&mut self, packet: Departure, queued: Backlog, now: Time) {
        self.advance(queued, now);
        let Departure { flow, length, sojourn } = packet;
        let flow = &mut self.flows[flow as usize];
        flow.bytes += u64::from(length);
        flow.sojourn_sum.accumulate(sojourn);
        flow.departed += 1;
        self.sojourn[flow.group as usize].record(sojourn.as_nanos());
        self.sent_bytes += u64::from(length);
    }

    /// Brings the time-weighted sums up to `now`.
    #[inline]
    pub(crate) fn advance(&mut self, queued: Backlog, now: Time) {
        self.queue.advance(queued, now);
    }

    /// What its flows have counted since measuring began, if discipline and switch, which have `passed` in all, say
    /// otherwise.
    pub(crate) fn miscounted(&self, passed: Passed) -> Option<Passed> {
        let sum = |of: fn(&FlowAtPort) -> u32| self.flows.iter().map(|flow| u64::from(of(flow))).sum::<u64>();
        let counted = Passed {
            arrived: self.before.arrived + sum(|flow| flow.arrived),
            dropped: self.before.dropped + self.signals.older.dropped + sum(|flow| flow.dropped),
            early: self.before.early + self.signals.older.early + self.signals.early,
            filtered: self.before.filtered + self.signals.older.filtered + self.signals.filtered,
            marked: self.before.marked + self.signals.older.marked + sum(|flow| flow.marked),
            departed: self.before.departed + sum(|flow| flow.departed),
            bytes: self.before.bytes + self.sent_bytes,
            sojourn: self.flows.iter().fold(self.before.sojourn, |sum, flow| sum + flow.sojourn_sum),
        };
        (counted != passed).then_some(counted)
    }

    /// Whether bytes and histograms are those of its flows, and early drops and those of a full queue add up.
    pub(crate) fn adds_up(&self) -> bool {
        let bytes: u64 = self.flows.iter().map(|flow| flow.bytes).sum();
        let dropped: u64 = self.flows.iter().map(|flow| u64::from(flow.dropped)).sum();
        let mut of_groups = vec![(0, 0); self.sojourn.len()];
        for flow in &self.flows {
            let (departed, sum) = &mut of_groups[flow.group as usize];
            *departed += u64::from(flow.departed);
            *sum += u128::from(flow.sojourn_sum.as_nanos());
        }
        let mut histograms = self.sojourn.iter().zip(of_groups);
        bytes == self.sent_bytes
            && dropped == self.signals.dropped()
            && histograms.all(|(histogram, (departed, sum))| histogram.agrees(departed, sum))
    }

    /// Little's law: all packets that ever came have waited, `sojourn` those that departed, as long as the queue was long
    /// over time. Answers with both in nanoseconds if they differ; nothing waits any more.
    pub(crate) fn breaks_littles_law(&self, sojourn: Span) -> Option<(u128, u128)> {
        let over_time = self.packet_nanos_before + self.queue.packet_nanos();
        let of_packets = u128::from(sojourn.as_nanos()) + u128::from(self.wasted.as_nanos());
        (over_time != of_packets).then_some((over_time, of_packets))
    }

    /// Bytes that a flow has sent through it since the start of the run.
    pub(crate) fn carried(&self, flow: usize) -> u64 {
        self.carried_before[flow] + self.flows[flow].bytes
    }

    /// Counts and sums of the groups that `chosen` accepts.
    pub(crate) fn totals(&self, chosen: impl Fn(usize) -> bool) -> Totals {
        let mut totals = Totals::default();
        for flow in self.flows.iter().filter(|flow| chosen(flow.group as usize)) {
            totals.arrived += u64::from(flow.arrived);
            totals.dropped += u64::from(flow.dropped);
            totals.marks += u64::from(flow.marked);
            totals.departed += u64::from(flow.departed);
            totals.bytes += flow.bytes;
            totals.sojourn_nanos += u128::from(flow.sojourn_sum.as_nanos());
        }
        totals
    }

    /// Share of the capacity between `since` and `end` that was used. Of a packet that is being sent at one of these times,
    /// the part between them counts. Each has `overhead` bytes of the link layer, which opportunities do not carry.
    pub(crate) fn utilization(&self, since: Time, end: Time, overhead: u32) -> f64 {
        let (taken, capacity) = match &self.capacity {
            Capacity::Rate(rate) => {
                (self.sent_bytes, rate.as_bytes_per_sec_f64() * end.since(since).as_secs_f64())
            }
            Capacity::Trace(trace) => {
                // An opportunity at the end is still used.
                let after = Time::from_nanos(end.as_nanos() + 1);
                let offered = trace.count_between(since, after) * OPPORTUNITY_BYTES.as_u64();
                let departed = self.flows.iter().map(|flow| u64::from(flow.departed)).sum::<u64>();
                (self.sent_bytes - departed * u64::from(overhead), offered as f64)
            }
        };
        // PAUSE frames do not count, but the device may hold the rest of one.
        (taken as f64 + self.held_before - self.held).max(0.0) / capacity
    }

    /// Sojourn times of the groups that `chosen` accepts, merged.
    pub(crate) fn sojourn(&self, chosen: impl Fn(usize) -> bool) -> Histogram {
        let mut all = Histogram::default();
        for (_, group) in self.sojourn.iter().enumerate().filter(|(index, _)| chosen(*index)) {
            all.merge(group);
        }
        all
    }

    /// What has passed since the last sample; `passed` is what discipline and switch have counted so far.
    pub(crate) fn take_sample(&mut self, passed: Passed) -> Passed {
        passed.since(std::mem::replace(&mut self.sampled, passed))
    }
}

/// A packet that is dropped or marked.
#[derive(Clone, Copy)]
pub(crate) struct Signalled {
    pub(crate) flow: u32,
    /// When it came to the port.
    pub(crate) arrival: Time,
}

/// A packet that leaves a queue.
pub(crate) struct Departure {
    pub(crate) flow: u32,
    pub(crate) length: u32,
    pub(crate) sojourn: Span,
}

impl FlowAtPort {
    /// Mean sojourn time in milliseconds.
    pub(crate) fn sojourn_mean_ms(&self) -> f64 {
        self.sojourn_sum.as_millis_f64() / f64::from(self.departed)
    }
}

impl Passed {
    /// What has passed since it was `earlier`.
    fn since(self, earlier: Passed) -> Passed {
        Passed {
            arrived: self.arrived - earlier.arrived,
            dropped: self.dropped - earlier.dropped,
            early: self.early - earlier.early,
            filtered: self.filtered - earlier.filtered,
            marked: self.marked - earlier.marked,
            departed: self.departed - earlier.departed,
            bytes: self.bytes - earlier.bytes,
            sojourn: self.sojourn.saturating_sub(earlier.sojourn),
        }
    }

    /// Mean sojourn time in milliseconds; `NaN` if nothing left.
    pub(crate) fn sojourn_mean_ms(&self) -> f64 {
        if self.departed == 0 { f64::NAN } else { self.sojourn.as_millis_f64() / self.departed as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::units::Rate;
    use aqm_path::meter::totals::{QUANTILES, quantiles};
    use std::collections::BTreeMap;

    /// The recorded events and metrics of `tests/meter`, which the meter of `aqm-path` agrees with.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the recording is beside all crates that read it")]
    fn recorded_events_at_a_port_give_the_metrics_of_their_definitions() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/meter");
        let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let wanted: serde_json::Value = serde_json::from_str(&read("metrics.json")).unwrap();
        let [since, until] =
            ["since_ns", "until_ns"].map(|key| Time::from_nanos(wanted[key].as_u64().unwrap()));
        let mut port = PortMetrics::new("port", Capacity::Rate(Rate::from_mbit(10)), 2);
        // Packets of two flows in two groups take turns.
        (0..2).for_each(|group| port.add_flow(group));
        let (mut queued, mut arrivals, mut began) = (Backlog::default(), BTreeMap::new(), false);
        for line in read("events.csv").lines().skip(1) {
            let words: Vec<&str> = line.split(',').collect();
            let [time, packet, bytes] = [0, 2, 3].map(|place| words[place].parse::<u64>().unwrap());
            let (now, flow) = (Time::from_nanos(time), (packet % 2) as u32);
            if now >= since && !began {
                port.restart(queued, Passed::default(), 0.0, since);
                began = true;
            }
            if words[1] == "arrive" {
                arrivals.insert(packet, now);
                port.on_arrival(flow, queued, now);
                queued = Backlog { packets: queued.packets + 1, bytes: queued.bytes + bytes };
                continue;
            }
            let signalled = Signalled { flow, arrival: arrivals[&packet] };
            match words[1] {
                "mark" => {
                    port.on_mark(signalled);
                    continue;
                }
                "depart" => {
                    let sojourn = now.since(signalled.arrival);
                    port.on_departure(Departure { flow, length: bytes as u32, sojourn }, queued, now);
                }
                "early" => port.on_drop(signalled, DropReason::Congestion, queued, now),
                _ => port.on_drop(signalled, DropReason::Overlimit, queued, now),
            }
            if words[1] != "overlimit" {
                port.after_arrival(queued);
            }
            queued = Backlog { packets: queued.packets - 1, bytes: queued.bytes - bytes };
        }
        port.end(queued, 0.0, until);
        let seconds = until.since(since).as_secs_f64();
        let (packets, bytes) = port.queue.means(seconds);
        let whole = [
            ("queue_mean_packets", packets),
            ("queue_mean_bytes", bytes),
            ("queue_max_packets", port.queue.max_packets as f64),
            ("drops_early", port.signals.early as f64),
            ("drops_overflow", port.signals.overflow as f64),
            ("ack_drops", port.signals.filtered as f64),
        ];
        let sojourn = port.sojourn(|_| true);
        let named = port.totals(|_| true).named(seconds).into_iter().chain(quantiles(&sojourn)).chain(whole);
        let found: BTreeMap<_, _> = named.collect();
        let wanted = wanted["metrics"].as_object().unwrap();
        assert_eq!(found.len(), wanted.len());
        for (name, value) in found {
            let wanted = wanted[name].as_f64().unwrap();
            let within = if QUANTILES.iter().any(|(one, _)| *one == name) { 1.0 / 64.0 } else { 1e-12 };
            assert!((value - wanted).abs() <= within * wanted, "{name}: {value}, not {wanted}");
        }
        let [first, second] = [0, 1].map(|group| port.totals(|of| of == group));
        assert_eq!(first.departed + second.departed, port.totals(|_| true).departed);
    }
}
