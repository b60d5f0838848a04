//! Measurements at the endpoints of flows, and the time series. Accumulated in place: nothing is logged, nothing is
//! allocated per packet. Names and definitions are those of the metrics contract.

use super::classified::Confusion;
use super::losses::{Cause, Losses};
use super::observer::PacketObserver;
use super::port::Sample;
use crate::metrics::registry::{CLASS, Part};
use crate::metrics::sampled::*;
use crate::network::packet::{Packet, Role};
use crate::report::Series;
use crate::switch::pipeline::Hops;
use aqm_core::backlog::Backlog;
use aqm_core::packet::Ecn;
use aqm_core::units::{Span, Time};
use aqm_io::histogram::Histogram;

/// Flows up to this number get a time series of their own.
const MAX_FLOW_SERIES: usize = 100;

/// All measurements of a run except those at ports.
pub(crate) struct Metrics {
    pub(crate) flows: Vec<FlowMetrics>,
    pub(crate) groups: Vec<GroupMetrics>,
    pub(crate) feedback: FeedbackMetrics,
    pub(crate) telemetry: TelemetryMetrics,
    /// What the network has lost.
    pub(crate) losses: Losses,
    pub(crate) series: Series,
    /// What the scenario asks for beside them.
    pub(crate) observers: Vec<Box<dyn PacketObserver>>,
    each_flow: bool,
    /// Sum and number of the senders' RTT samples up to the last sample of the series.
    sampled_rtt: (Span, u64),
    since: Time,
    /// What was seen and cannot be: always a defect.
    pub(crate) impossible: Option<Impossible>,
}

/// What cannot be, and the flow that it was seen of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Impossible {
    /// A packet was faster than propagation.
    TooFast(u32),
    /// A packet was marked that is not ECN-capable.
    MarkedNotEct(u32),
    /// A packet was sent while its class was paused.
    SentWhilePaused(u32),
    /// A transfer was complete before its last byte had arrived.
    Incomplete(u32),
}

/// One flow: two cache lines. Packets are counted in 32 bits.
pub(crate) struct FlowMetrics {
    /// Propagation delay one way: no packet can be faster.
    pub(crate) propagation: Span,
    /// Payload delivered (in order, for TCP) since the start of the run.
    pub(crate) payload_total: u64,
    /// The same when measuring began.
    payload_before: u64,
    pub(crate) owd_sum: Span,
    /// [`Span::MAX`] before the first packet.
    last_owd: Span,
    ipdv_sum: Span,
    min_excess: Span,
    /// One-way delay beyond propagation.
    excess: Option<Histogram>,
    pub(crate) group: u32,
    pub(crate) delivered: u32,
    /// Packets lost in any queue or on any link; of TCP, only data packets.
    pub(crate) lost: u32,
    ipdv_count: u32,
    /// Packets with CE that are under way: those that were marked, or sent so, less those that arrived or were lost.
    pub(crate) marked: i32,
    /// Its data go against the measured direction. Only its acknowledgments cross the bottleneck, and its goodput
    /// counts in its own row alone.
    pub(crate) back: bool,
    /// It is replayed from a capture and does not compete.
    pub(crate) recorded: bool,
}

/// Flows of one group together.
pub(crate) struct GroupMetrics {
    pub(crate) name: String,
    sampled_payload: u64,
}

/// Packets that disciplines and programs have emitted.
#[derive(Default)]
pub(crate) struct FeedbackMetrics {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    /// Not sent: their flow has no such endpoint.
    pub(crate) unaddressed: u64,
    /// Delivered, but not to be believed: a rate that cannot be.
    pub(crate) ignored: u64,
}

/// INT headers of packets, as read by endpoints.
#[derive(Default)]
pub(crate) struct TelemetryMetrics {
    /// Packets with at least one entry, their entries, and the longest queue in an entry.
    pub(crate) packets: u64,
    pub(crate) hops: u64,
    pub(crate) longest_queue: u32,
}

impl TelemetryMetrics {
    /// A packet with these entries has reached its endpoint.
    pub(crate) fn count(&mut self, hops: &Hops) {
        self.packets += 1;
        for entry in hops.as_slice() {
            self.hops += 1;
            self.longest_queue = self.longest_queue.max(entry.queue_packets);
        }
    }
}

/// A sample of a port for the time series.
pub(crate) struct PortSample {
    pub(crate) queued: Backlog,
    /// The weighted average of its queue.
    pub(crate) ewma: f64,
    /// Sums since the last sample.
    pub(crate) sums: Sample,
    /// What its classifier has said since the last sample.
    pub(crate) classified: Option<Confusion>,
    /// Name and value of the discipline's own variables.
    pub(crate) probes: Vec<(String, f64)>,
}

/// A sample of a sender for the time series.
pub(crate) enum SenderState {
    /// TCP.
    Window {
        /// Congestion window, bytes.
        cwnd: u64,
        /// Sum and number of its RTT samples.
        rtt: (Span, u64),
    },
    /// A rate control.
    Rate {
        /// Bit/s.
        rate: f64,
        /// Bit/s that the rate is on its way to.
        target: f64,
    },
}

impl Metrics {
    /// `each_flow`: whether every flow gets a series of its own.
    pub(crate) fn new(groups: Vec<String>, each_flow: bool) -> Metrics {
        let groups = groups.into_iter().map(|name| GroupMetrics { name, sampled_payload: 0 });
        Metrics {
            flows: Vec::new(),
            groups: groups.collect(),
            feedback: FeedbackMetrics::default(),
            telemetry: TelemetryMetrics::default(),
            losses: Losses::default(),
            series: Series::default(),
            observers: Vec::new(),
            each_flow,
            sampled_rtt: (Span::ZERO, 0),
            since: Time::ZERO,
            impossible: None,
        }
    }

    /// Adds a flow of group number `group`.
    pub(crate) fn add_flow(&mut self, group: usize, propagation: Span, back: bool) {
        self.flows.push(FlowMetrics::new(group as u32, propagation, back));
        self.losses.add_flow();
    }

    /// The warm-up is over: everything starts again from zero, except the series and the backlog.
    pub(crate) fn restart(&mut self, now: Time) {
        self.since = now;
        for flow in &mut self.flows {
            let fresh = FlowMetrics::new(flow.group, flow.propagation, flow.back);
            let old = std::mem::replace(flow, fresh);
            flow.payload_total = old.payload_total;
            flow.payload_before = old.payload_total;
            flow.last_owd = old.last_owd;
            flow.marked = old.marked;
            flow.recorded = old.recorded;
        }
        self.sampled_rtt = (Span::ZERO, 0);
        self.feedback = FeedbackMetrics::default();
        self.telemetry = TelemetryMetrics::default();
        self.losses.restart();
    }

    /// A packet is lost, in any queue or on any link.
    pub(crate) fn on_loss(&mut self, packet: &Packet, cause: Cause) {
        self.losses.count(packet, cause);
        if packet.ecn == Ecn::Ce {
            self.flows[packet.flow as usize].marked -= 1;
        }
        if packet.is_counted() {
            self.flows[packet.flow as usize].lost += 1;
        } else if packet.role == Role::Feedback {
            self.feedback.lost += 1;
        }
    }

    /// A data packet or datagram reaches its receiver.
    #[inline]
    pub(crate) fn on_delivery(&mut self, flow: u32, owd: Span) {
        let metrics = &mut self.flows[flow as usize];
        metrics.delivered += 1;
        metrics.owd_sum += owd;
        if owd < metrics.propagation {
            self.impossible = Some(Impossible::TooFast(flow));
        }
        let excess = owd.saturating_sub(metrics.propagation);
        metrics.min_excess = metrics.min_excess.min(excess);
        metrics.excess.get_or_insert_default().record(excess.as_nanos());
        if metrics.last_owd != Span::MAX {
            metrics.ipdv_sum += Span::from_nanos(metrics.last_owd.as_nanos().abs_diff(owd.as_nanos()));
            metrics.ipdv_count += 1;
        }
        metrics.last_owd = owd;
    }

    /// Adds a point to the time series: what was delivered since the last one. `senders` are those of the flows.
    pub(crate) fn sample(&mut self, now: Time, period: Span, senders: &[Option<SenderState>]) {
        let mut payload = vec![0; self.groups.len()];
        for flow in self.flows.iter().filter(|flow| !flow.back) {
            payload[flow.group as usize] += flow.payload_total;
        }
        let jain = self.jain(|_| true, |flow| flow.payload_total);
        let rtt = self.sample_rtt(senders);
        self.observers.iter_mut().for_each(|observer| observer.on_sample(now));
        let series = &mut self.series;
        series.time_s.push(now.as_secs_f64());
        put(series, &Part::WHOLE, &RTT_MS, rtt);
        put(series, &Part::WHOLE, &JAIN_INDEX, jain);
        let mut total = 0;
        for (group, payload) in self.groups.iter_mut().zip(payload) {
            let new = payload - std::mem::replace(&mut group.sampled_payload, payload);
            total += new;
            put(series, &CLASS.part(&group.name), &GOODPUT_MBIT, mbit(new, period));
        }
        put(series, &Part::WHOLE, &GOODPUT_MBIT, mbit(total, period));
        if self.each_flow && self.flows.len() <= MAX_FLOW_SERIES {
            for (id, (flow, sender)) in self.flows.iter().zip(senders).enumerate() {
                let part = FLOW.part(&id.to_string());
                put(series, &part, &DELIVERED_BYTES, flow.payload_total as f64);
                match sender {
                    Some(SenderState::Window { cwnd, .. }) => {
                        put(series, &part, &CWND_BYTES, *cwnd as f64);
                    }
                    Some(SenderState::Rate { rate, target }) => {
                        put(series, &part, &RATE_MBIT, rate / 1e6);
                        put(series, &part, &TARGET_MBIT, target / 1e6);
                    }
                    None => {}
                }
            }
        }
    }

    /// Adds the sample of a port to the same point, under each of `parts`.
    pub(crate) fn sample_port(&mut self, parts: &[Part], port: &PortSample, period: Span) {
        let series = &mut self.series;
        for part in parts {
            let mut put = |column: &Sampled, value: f64| put(series, part, column, value);
            put(&QUEUE_PACKETS, port.queued.packets as f64);
            put(&QUEUE_BYTES, port.queued.bytes as f64);
            put(&QUEUE_EWMA_PACKETS, port.ewma);
            put(&QDELAY_MS, port.sums.sojourn_mean_ms());
            put(&THROUGHPUT_MBIT, mbit(port.sums.sent_bytes, period));
            put(&DROPS, port.sums.dropped as f64);
            put(&DROPS_EARLY, port.sums.dropped_early as f64);
            put(&MARKS, port.sums.marked as f64);
            for (column, share) in
                port.classified.iter().flat_map(|said| CLASSIFIED.iter().zip(said.shares()))
            {
                put(column, share);
            }
            for (name, value) in &port.probes {
                put_named(series, part.of(&format!("probe.{name}")), *value);
            }
        }
    }

    /// Mean of the RTT samples since the last point, milliseconds.
    fn sample_rtt(&mut self, senders: &[Option<SenderState>]) -> f64 {
        let mut now = (Span::ZERO, 0);
        for (_, sender) in self.flows.iter().zip(senders).filter(|(flow, _)| !flow.back) {
            let Some(SenderState::Window { rtt: (sum, samples), .. }) = sender else { continue };
            now = (now.0 + *sum, now.1 + samples);
        }
        let before = std::mem::replace(&mut self.sampled_rtt, now);
        now.0.saturating_sub(before.0).as_millis_f64() / (now.1 - before.1) as f64
    }

    /// Jain's index over `bytes` of the flows that `chosen` accepts. Recorded traffic does not compete: beside other
    /// flows it is left out.
    pub(crate) fn jain(&self, chosen: impl Fn(usize) -> bool, bytes: impl Fn(&FlowMetrics) -> u64) -> f64 {
        let only_recorded = self.flows.iter().all(|flow| flow.recorded);
        let competes = |flow: &&FlowMetrics| {
            !flow.back && chosen(flow.group as usize) && (only_recorded || !flow.recorded)
        };
        let shares = self.flows.iter().filter(competes).map(|flow| bytes(flow) as f64);
        let (sum, squares, n) =
            shares.fold((0.0, 0.0, 0u32), |(sum, squares, n), x| (sum + x, squares + x * x, n + 1));
        sum * sum / (f64::from(n) * squares)
    }

    /// Seconds measured up to `now`.
    pub(crate) fn seconds(&self, now: Time) -> f64 {
        now.since(self.since).as_secs_f64()
    }

    /// When measuring began.
    pub(crate) fn since(&self) -> Time {
        self.since
    }

    /// One-way delays of the flows that `chosen` accepts, merged, and their packet delay variation (RFC 5481 section
    /// 4.2: delay above the flow's minimum).
    pub(crate) fn one_way(&self, chosen: impl Fn(usize) -> bool) -> (Histogram, Histogram) {
        let (mut owd, mut pdv) = (Histogram::default(), Histogram::default());
        for flow in self.flows.iter().filter(|flow| !flow.back && chosen(flow.group as usize)) {
            let (base, min) = (flow.propagation.as_nanos(), flow.min_excess.as_nanos());
            for (excess, count) in flow.excess.iter().flat_map(Histogram::iter) {
                owd.record_many(base + excess, count);
                pdv.record_many(excess.saturating_sub(min), count);
            }
        }
        (owd, pdv)
    }
}

impl FlowMetrics {
    fn new(group: u32, propagation: Span, back: bool) -> FlowMetrics {
        FlowMetrics {
            propagation,
            payload_total: 0,
            payload_before: 0,
            owd_sum: Span::ZERO,
            last_owd: Span::MAX,
            ipdv_sum: Span::ZERO,
            min_excess: Span::MAX,
            excess: None,
            group,
            delivered: 0,
            lost: 0,
            ipdv_count: 0,
            marked: 0,
            back,
            recorded: false,
        }
    }

    /// Payload delivered while measuring.
    pub(crate) fn payload(&self) -> u64 {
        self.payload_total - self.payload_before
    }

    /// Whether the histogram of one-way delays agrees with their number and sum.
    pub(crate) fn adds_up(&self) -> bool {
        let propagation = u128::from(self.delivered) * u128::from(self.propagation.as_nanos());
        let excess = u128::from(self.owd_sum.as_nanos()).checked_sub(propagation);
        let agrees = |sum| match &self.excess {
            Some(histogram) => histogram.agrees(self.delivered.into(), sum),
            None => self.delivered == 0 && sum == 0,
        };
        excess.is_some_and(agrees)
    }

    /// Share of the packets that were lost.
    pub(crate) fn lost_share(&self) -> f64 {
        f64::from(self.lost) / (f64::from(self.lost) + f64::from(self.delivered))
    }

    /// One-way delays in nanoseconds, ascending, and how many.
    pub(crate) fn delays(&self) -> impl Iterator<Item = (u64, u32)> + Clone + '_ {
        let base = self.propagation.as_nanos();
        self.excess.iter().flat_map(Histogram::iter).map(move |(excess, count)| (base + excess, count))
    }

    /// Sum of the squared differences of its one-way delays from their mean, square milliseconds.
    pub(crate) fn squares(&self) -> f64 {
        let delays = || self.delays().map(|(nanos, count)| (nanos as f64 / 1e6, f64::from(count)));
        let mean = delays().map(|(ms, count)| ms * count).sum::<f64>() / f64::from(self.delivered);
        delays().map(|(ms, count)| count * (ms - mean).powi(2)).sum()
    }

    /// Sum and number of the delay variations between consecutive packets.
    pub(crate) fn ipdv_total(&self) -> (Span, u64) {
        (self.ipdv_sum, self.ipdv_count.into())
    }
}

fn put(series: &mut Series, part: &Part, column: &Sampled, value: f64) {
    put_named(series, part.of(column.name()), value);
}

fn put_named(series: &mut Series, name: String, value: f64) {
    match series.columns.get_mut(&name) {
        Some(column) => column.push(value),
        None => {
            // What comes late was unknown before.
            let mut column = vec![f64::NAN; series.time_s.len() - 1];
            column.push(value);
            series.columns.insert(name, column);
        }
    }
}

fn mbit(bytes: u64, period: Span) -> f64 {
    bytes as f64 * 8.0 / 1e6 / period.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_of_the_delays_about_their_mean_to_the_width_of_a_bucket() {
        let mut metrics = Metrics::new(vec!["all".to_owned()], false);
        for (flow, delays) in [(0, [10, 30, 30, 50]), (1, [25, 25, 25, 25])] {
            metrics.add_flow(0, Span::from_millis(10), false);
            delays.into_iter().for_each(|ms| metrics.on_delivery(flow, Span::from_millis(ms)));
        }
        assert!((metrics.flows[0].squares() / 800.0 - 1.0).abs() < 0.02);
        assert!(metrics.flows[1].squares() < 1e-9);
    }
}
