//! Measurements at the endpoints of flows, and the time series. Accumulated in place: nothing is logged, nothing is
//! allocated per packet. Names and definitions are those of the metrics contract.

use super::classified::Confusion;
use super::losses::Losses;
use super::observer::{Dropped, PacketObserver};
use super::port::Passed;
use super::recording::Recording;
use crate::metrics::registry::{CLASS, Part};
use crate::metrics::sampled::*;
use crate::network::packet::{Packet, Role};
use crate::prefetch::prefetch;
use crate::switch::pipeline::Hops;
use aqm_core::backlog::Backlog;
use aqm_core::packet::Ecn;
use aqm_core::qdisc::Qdisc;
use aqm_core::units::{Span, Time};
use aqm_io::histogram::Histogram;

/// Flows up to this number get a time series of their own.
const MAX_FLOW_SERIES: usize = 100;

/// All measurements of a run except those at ports.
pub(crate) struct Metrics {
    pub(crate) flows: Vec<FlowMetrics>,
    /// Of each flow, what it has got.
    pub(crate) shares: Vec<Share>,
    pub(crate) groups: Vec<GroupMetrics>,
    pub(crate) feedback: FeedbackMetrics,
    pub(crate) telemetry: TelemetryMetrics,
    /// What the network has lost.
    pub(crate) losses: Losses,
    pub(crate) series: Recording,
    /// What the scenario asks for beside them.
    pub(crate) observers: Vec<Box<dyn PacketObserver>>,
    each_flow: bool,
    /// What the first flows' series are called; they are written where that is all of them.
    parts: Vec<Part>,
    /// Sum and number of the senders' RTT samples since the last sample of the series.
    rtt: (Span, u64),
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
    /// A packet arrived with the payload of another.
    Exchanged(u32),
}

/// What a flow has got: all that samples ask of every flow.
pub(crate) struct Share {
    /// Payload delivered (in order, for TCP) since the start of the run.
    pub(crate) total: u64,
    /// The same when measuring began.
    before: u64,
    /// What was delivered since, but had arrived before, and waited for a gap to be filled. With go-back-N nothing does.
    pub(crate) early: u64,
    pub(crate) group: u32,
    /// Its data go against the measured direction. Only its acknowledgments cross the bottleneck, and its goodput
    /// counts in its own row alone.
    pub(crate) back: bool,
    /// It is replayed from a capture and does not compete.
    pub(crate) recorded: bool,
}

/// One flow: one cache line. Packets are counted in 32 bits.
#[repr(align(64))]
pub(crate) struct FlowMetrics {
    /// Propagation delay one way: no packet can be faster.
    pub(crate) propagation: Span,
    pub(crate) owd_sum: Span,
    /// [`Span::MAX`] before the first packet.
    last_owd: Span,
    ipdv_sum: Span,
    min_excess: Span,
    /// One-way delay beyond propagation.
    excess: Option<Histogram>,
    pub(crate) delivered: u32,
    /// Packets lost in any queue or on any link; of TCP, only data packets.
    pub(crate) lost: u32,
    ipdv_count: u32,
    /// Packets with CE that are in flight: those that were marked, or sent so, less those that arrived or were lost.
    pub(crate) marked: i32,
}

/// Flows of one group together.
pub(crate) struct GroupMetrics {
    pub(crate) part: Part,
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
pub(crate) struct PortSample<'a> {
    pub(crate) queued: Backlog,
    /// What has passed since the last sample.
    pub(crate) passed: Passed,
    /// Verdicts of its classifier since the last sample.
    pub(crate) classified: Option<Confusion>,
    /// The discipline, for its own variables.
    pub(crate) qdisc: &'a Qdisc,
}

/// A sample of a sender for the time series.
pub(crate) enum SenderState {
    /// TCP.
    Window {
        /// Congestion window, bytes.
        cwnd: u64,
    },
    /// A rate control.
    Rate {
        /// Bit/s.
        rate: f64,
        /// Bit/s that the rate approaches.
        target: f64,
    },
}

impl Metrics {
    /// `each_flow`: whether every flow gets a series of its own.
    pub(crate) fn new(groups: Vec<String>, each_flow: bool) -> Metrics {
        let groups = groups.iter().map(|name| GroupMetrics { part: CLASS.part(name), sampled_payload: 0 });
        Metrics {
            flows: Vec::new(),
            shares: Vec::new(),
            groups: groups.collect(),
            feedback: FeedbackMetrics::default(),
            telemetry: TelemetryMetrics::default(),
            losses: Losses::default(),
            series: Recording::default(),
            observers: Vec::new(),
            each_flow,
            parts: Vec::new(),
            rtt: (Span::ZERO, 0),
            since: Time::ZERO,
            impossible: None,
        }
    }

    /// Adds a flow of group number `group`.
    pub(crate) fn add_flow(&mut self, group: usize, propagation: Span, back: bool) {
        if self.each_flow && self.flows.len() < MAX_FLOW_SERIES {
            self.parts.push(FLOW.part(&self.flows.len().to_string()));
        }
        self.flows.push(FlowMetrics::new(propagation));
        self.shares.push(Share { total: 0, before: 0, early: 0, group: group as u32, back, recorded: false });
        self.losses.add_flow();
    }

    /// The warm-up is over: everything starts again from zero, except the series and the backlog.
    pub(crate) fn restart(&mut self, now: Time) {
        self.since = now;
        self.observers.iter_mut().for_each(|observer| observer.on_measuring(now));
        for flow in &mut self.flows {
            let fresh = FlowMetrics::new(flow.propagation);
            let old = std::mem::replace(flow, fresh);
            flow.last_owd = old.last_owd;
            flow.marked = old.marked;
        }
        self.shares.iter_mut().for_each(|share| share.before = share.total);
        self.rtt = (Span::ZERO, 0);
        self.feedback = FeedbackMetrics::default();
        self.telemetry = TelemetryMetrics::default();
        self.losses.restart();
    }

    /// A packet is lost, in any queue or on any link: the only place that counts it and notifies observers.
    pub(crate) fn on_loss(&mut self, dropped: &Dropped<'_>) {
        let packet = dropped.packet;
        self.observers.iter_mut().for_each(|observer| observer.on_drop(dropped));
        self.losses.count(packet, dropped.by.cause());
        if packet.ecn == Ecn::Ce {
            self.flows[packet.flow as usize].marked -= 1;
        }
        if packet.is_counted() {
            self.flows[packet.flow as usize].lost += 1;
        } else if packet.role == Role::Feedback {
            self.feedback.lost += 1;
        }
    }

    /// A wire has doubled a packet.
    #[cold]
    pub(crate) fn on_doubled(&mut self, packet: &Packet) {
        self.losses.double(packet);
        if packet.ecn == Ecn::Ce {
            self.flows[packet.flow as usize].marked += 1;
        }
    }

    /// A packet of a flow will reach its end soon.
    #[inline]
    pub(crate) fn prefetch(&self, flow: u32) {
        prefetch(&self.flows[flow as usize]);
        prefetch(&self.shares[flow as usize]);
    }

    /// A data packet or datagram reaches its receiver.
    #[inline(always)]
    pub(crate) fn on_delivery(&mut self, flow: u32, owd: Span) {
        let metrics = &mut self.flows[flow as usize];
        metrics.delivered += 1;
        metrics.owd_sum.accumulate(owd);
        let excess = match owd.as_nanos().checked_sub(metrics.propagation.as_nanos()) {
            Some(nanos) => Span::from_nanos(nanos),
            None => {
                self.impossible = Some(Impossible::TooFast(flow));
                Span::ZERO
            }
        };
        metrics.min_excess = metrics.min_excess.min(excess);
        metrics.excess.get_or_insert_default().record(excess.as_nanos());
        if metrics.last_owd != Span::MAX {
            let change = metrics.last_owd.as_nanos().abs_diff(owd.as_nanos());
            metrics.ipdv_sum.accumulate(Span::from_nanos(change));
            metrics.ipdv_count += 1;
        }
        metrics.last_owd = owd;
    }

    /// A sender has measured a round-trip time; zero if it has not.
    #[inline]
    pub(crate) fn on_round_trip(&mut self, sample: Span) {
        self.rtt.0.accumulate(sample);
        self.rtt.1 += u64::from(sample > Span::ZERO);
    }

    /// A sender's sum and number of RTT samples were those, and are these.
    #[inline]
    pub(crate) fn on_round_trips(&mut self, before: (Span, u64), now: (Span, u64)) {
        self.rtt.0 += now.0.saturating_sub(before.0);
        self.rtt.1 += now.1 - before.1;
    }

    /// Adds a point to the time series: what was delivered since the last one. `sender` says how that of a flow is.
    pub(crate) fn sample(&mut self, now: Time, period: Span, sender: impl Fn(usize) -> Option<SenderState>) {
        let mut payload = vec![0; self.groups.len()];
        for share in self.shares.iter().filter(|share| !share.back) {
            payload[share.group as usize] += share.total;
        }
        let jain = self.jain(|_| true, |share| share.total);
        // Their mean.
        let (sum, samples) = std::mem::take(&mut self.rtt);
        let rtt = sum.as_millis_f64() / samples as f64;
        let series = &mut self.series;
        series.begin(now);
        self.observers.iter_mut().for_each(|observer| observer.on_sample(series, now));
        series.put(&Part::WHOLE, RTT_MS.name(), rtt);
        series.put(&Part::WHOLE, JAIN_INDEX.name(), jain);
        let mut total = 0;
        for (group, payload) in self.groups.iter_mut().zip(payload) {
            let new = payload - std::mem::replace(&mut group.sampled_payload, payload);
            total += new;
            series.put(&group.part, GOODPUT_MBIT.name(), mbit(new, period));
        }
        series.put(&Part::WHOLE, GOODPUT_MBIT.name(), mbit(total, period));
        if self.flows.len() > self.parts.len() {
            return;
        }
        for (number, (part, share)) in self.parts.iter().zip(&self.shares).enumerate() {
            series.put(part, DELIVERED_BYTES.name(), share.total as f64);
            match sender(number) {
                Some(SenderState::Window { cwnd }) => series.put(part, CWND_BYTES.name(), cwnd as f64),
                Some(SenderState::Rate { rate, target }) => {
                    series.put(part, RATE_MBIT.name(), rate / 1e6);
                    series.put(part, TARGET_MBIT.name(), target / 1e6);
                }
                None => {}
            }
        }
    }

    /// Adds the sample of a port to the same point, as that of `part`.
    pub(crate) fn sample_port(&mut self, part: &Part, port: &PortSample<'_>, now: Time, period: Span) {
        let series = &mut self.series;
        let mut put = |column: &Sampled, value: f64| series.put(part, column.name(), value);
        put(&QUEUE_PACKETS, port.queued.packets as f64);
        put(&QUEUE_BYTES, port.queued.bytes as f64);
        put(&QDELAY_MS, port.passed.sojourn_mean_ms());
        put(&THROUGHPUT_MBIT, mbit(port.passed.bytes, period));
        put(&DROPS, port.passed.dropped as f64);
        put(&DROPS_EARLY, port.passed.early as f64);
        put(&MARKS, port.passed.marked as f64);
        for (column, share) in
            port.classified.iter().flat_map(|answers| CLASSIFIED.iter().zip(answers.shares()))
        {
            put(column, share);
        }
        let probes = part.within("probe");
        port.qdisc.probe(now, &mut |name, value| series.put(&probes, name, value));
    }

    /// Adds what a station has used since the last point to the same point: its share of the air, and the delay of its packets.
    pub(crate) fn sample_station(&mut self, part: &Part, share: Option<f64>, delay: Option<f64>) {
        for (column, value) in [(&AIRTIME_SHARE, share), (&DELAY_TOTAL_MS, delay)] {
            self.series.put(part, column.name(), value.unwrap_or(f64::NAN));
        }
    }

    /// Jain's index over `bytes` of the flows that `chosen` accepts. Recorded traffic does not compete: beside other
    /// flows it is left out.
    pub(crate) fn jain(&self, chosen: impl Fn(usize) -> bool, bytes: impl Fn(&Share) -> u64) -> f64 {
        let only_recorded = self.shares.iter().all(|share| share.recorded);
        let competes = |share: &&Share| {
            !share.back && chosen(share.group as usize) && (only_recorded || !share.recorded)
        };
        let shares = self.shares.iter().filter(competes).map(|share| bytes(share) as f64);
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

    /// One-way delays of each group's flows, merged, and their packet delay variation (RFC 5481 section 4.2: delay above
    /// the flow's minimum).
    pub(crate) fn one_way(&self) -> Vec<(Histogram, Histogram)> {
        let mut groups = vec![(Histogram::default(), Histogram::default()); self.groups.len()];
        for (flow, share) in self.flows.iter().zip(&self.shares).filter(|(_, share)| !share.back) {
            let (owd, pdv) = &mut groups[share.group as usize];
            let (base, min) = (flow.propagation.as_nanos(), flow.min_excess.as_nanos());
            for (excess, count) in flow.excess.iter().flat_map(Histogram::iter) {
                owd.record_many(base + excess, count);
                pdv.record_many(excess.saturating_sub(min), count);
            }
        }
        groups
    }
}

impl Share {
    /// Payload that arrived while measuring, and was delivered: no more than the network carried in that time.
    pub(crate) fn payload(&self) -> u64 {
        self.total - self.before - self.early
    }
}

impl FlowMetrics {
    fn new(propagation: Span) -> FlowMetrics {
        FlowMetrics {
            propagation,
            owd_sum: Span::ZERO,
            last_owd: Span::MAX,
            ipdv_sum: Span::ZERO,
            min_excess: Span::MAX,
            excess: None,
            delivered: 0,
            lost: 0,
            ipdv_count: 0,
            marked: 0,
        }
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
