//! What is measured, accumulated in place: nothing is logged, nothing allocated per packet.
//!
//! The measured queue is the bottleneck's. Names and definitions are those of the metrics contract.

use crate::network::packet::{Packet, Role};
use crate::report::Series;
use aqm_core::signal::DropReason;
use aqm_core::units::{Span, Time};
use aqm_io::histogram::Histogram;

/// S-PIE's queue weight in its equation 11 (RED's default).
const EWMA_WEIGHT: f64 = 0.002;
/// Flows up to this number get a time series of their own.
const MAX_FLOW_SERIES: usize = 100;

/// Everything measured in one run.
pub(crate) struct Metrics {
    pub(crate) flows: Vec<FlowMetrics>,
    pub(crate) groups: Vec<GroupMetrics>,
    pub(crate) queue: QueueMetrics,
    pub(crate) feedback: FeedbackMetrics,
    pub(crate) series: Series,
    each_flow: bool,
    /// Sum and number of the senders' RTT samples up to the last sample of the series.
    sampled_rtt: (Span, u64),
    since: Time,
    /// A flow with a packet that was faster than propagation: there must be none.
    pub(crate) too_fast: Option<u32>,
}

/// One flow: two cache lines. Packets are counted in 32 bits.
pub(crate) struct FlowMetrics {
    /// Propagation delay one way: no packet can be faster.
    pub(crate) propagation: Span,
    pub(crate) bottleneck_bytes: u64,
    /// Payload delivered (in order, for TCP) since the start of the run.
    pub(crate) payload_total: u64,
    /// The same when measuring began.
    payload_before: u64,
    pub(crate) owd_sum: Span,
    /// [`Span::MAX`] before the first packet.
    last_owd: Span,
    ipdv_sum: Span,
    sojourn_sum: Span,
    min_excess: Span,
    /// One-way delay beyond propagation.
    excess: Option<Histogram>,
    pub(crate) group: u32,
    pub(crate) arrived: u32,
    pub(crate) dropped: u32,
    pub(crate) marked: u32,
    departed: u32,
    pub(crate) delivered: u32,
    /// Packets lost on the way, in any queue or on any link; of TCP those with data.
    pub(crate) lost: u32,
    ipdv_count: u32,
    /// Its data go against the measured direction: only its acknowledgments cross the bottleneck, and what is
    /// delivered counts for its own row alone.
    pub(crate) back: bool,
    /// It is replayed from a capture and competes with nobody.
    pub(crate) recorded: bool,
}

/// Flows of one group together.
pub(crate) struct GroupMetrics {
    pub(crate) name: String,
    sojourn: Histogram,
    sampled_payload: u64,
}

/// The bottleneck's queue.
pub(crate) struct QueueMetrics {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    last_change: Time,
    packet_nanos: u128,
    byte_nanos: u128,
    pub(crate) max_packets: u64,
    pub(crate) drops_early: u64,
    pub(crate) drops_overflow: u64,
    pub(crate) marks: u64,
    /// Bytes handed to the wire, link-layer overhead included and without it.
    pub(crate) sent_bytes: u64,
    pub(crate) sent_ip_bytes: u64,
    ewma: f64,
    ewma_sum: f64,
    ewma_count: u64,
    empty_since: Time,
    /// Serialisation time of a full packet: how fast the average decays while the queue is empty.
    full_packet: Span,
    sample: Sample,
}

/// Packets that disciplines have emitted.
#[derive(Default)]
pub(crate) struct FeedbackMetrics {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    /// For no end of the flow that they are about: not sent.
    pub(crate) unaddressed: u64,
}

/// Sums since the last sample of the series.
#[derive(Default)]
struct Sample {
    sojourn_sum: Span,
    departed: u64,
    sent_bytes: u64,
    dropped_early: u64,
    dropped: u64,
    marked: u64,
}

/// What a sample of the series wants to know about a flow's sender, if it is TCP.
pub(crate) struct SenderState {
    /// Congestion window, bytes.
    pub(crate) cwnd: u64,
    /// Sum and number of its RTT samples.
    pub(crate) rtt: (Span, u64),
}

impl Metrics {
    /// `each_flow`: whether every flow gets a series of its own.
    pub(crate) fn new(groups: Vec<String>, full_packet: Span, each_flow: bool) -> Metrics {
        let groups = groups.into_iter().map(|name| GroupMetrics {
            name,
            sojourn: Histogram::default(),
            sampled_payload: 0,
        });
        Metrics {
            flows: Vec::new(),
            groups: groups.collect(),
            queue: QueueMetrics::new(full_packet),
            feedback: FeedbackMetrics::default(),
            series: Series::default(),
            each_flow,
            sampled_rtt: (Span::ZERO, 0),
            since: Time::ZERO,
            too_fast: None,
        }
    }

    /// Adds a flow of group number `group`.
    pub(crate) fn add_flow(&mut self, group: usize, propagation: Span, back: bool) {
        self.flows.push(FlowMetrics::new(group as u32, propagation, back));
    }

    /// The warm-up is over: everything begins again, but for what is in the queue and in the series.
    pub(crate) fn restart(&mut self, now: Time) {
        self.since = now;
        for flow in &mut self.flows {
            let fresh = FlowMetrics::new(flow.group, flow.propagation, flow.back);
            let old = std::mem::replace(flow, fresh);
            flow.payload_total = old.payload_total;
            flow.payload_before = old.payload_total;
            flow.last_owd = old.last_owd;
            flow.recorded = old.recorded;
        }
        self.sampled_rtt = (Span::ZERO, 0);
        self.groups.iter_mut().for_each(|group| group.sojourn.clear());
        self.queue.restart(now);
        self.feedback = FeedbackMetrics::default();
    }

    /// A packet arrives at the bottleneck's queue.
    #[inline]
    pub(crate) fn on_arrival(&mut self, flow: u32, length: u32, now: Time) {
        self.flows[flow as usize].arrived += 1;
        self.queue.average(now);
        self.queue.advance(now);
        self.queue.packets += 1;
        self.queue.bytes += u64::from(length);
    }

    /// The backlog after an arrival has been dealt with; only now is it known whether the packet stayed.
    #[inline]
    pub(crate) fn after_arrival(&mut self) {
        self.queue.max_packets = self.queue.max_packets.max(self.queue.packets);
    }

    /// The measured discipline drops a packet.
    pub(crate) fn on_drop(&mut self, flow: u32, length: u32, reason: DropReason, now: Time) {
        self.flows[flow as usize].dropped += 1;
        self.queue.remove(length, now);
        self.queue.sample.dropped += 1;
        if reason.is_early() {
            self.queue.sample.dropped_early += 1;
            self.queue.drops_early += 1;
        } else {
            self.queue.drops_overflow += 1;
        }
    }

    /// A packet is lost, in whatever queue or on whatever wire.
    pub(crate) fn on_loss(&mut self, packet: &Packet) {
        if packet.is_counted() {
            self.flows[packet.flow as usize].lost += 1;
        } else if packet.role == Role::Feedback {
            self.feedback.lost += 1;
        }
    }

    /// The discipline marks a packet.
    pub(crate) fn on_mark(&mut self, flow: u32) {
        self.flows[flow as usize].marked += 1;
        self.queue.marks += 1;
        self.queue.sample.marked += 1;
    }

    /// A packet leaves the queue for the device.
    #[inline]
    pub(crate) fn on_departure(&mut self, flow: u32, length: u32, ip_length: u32, sojourn: Span, now: Time) {
        self.queue.remove(length, now);
        let metrics = &mut self.flows[flow as usize];
        metrics.bottleneck_bytes += u64::from(length);
        metrics.sojourn_sum += sojourn;
        metrics.departed += 1;
        self.groups[metrics.group as usize].sojourn.record(sojourn.as_nanos());
        let queue = &mut self.queue;
        queue.sent_bytes += u64::from(length);
        queue.sent_ip_bytes += u64::from(ip_length);
        queue.sample.sojourn_sum += sojourn;
        queue.sample.departed += 1;
        queue.sample.sent_bytes += u64::from(length);
    }

    /// A data packet or datagram reaches its receiver.
    #[inline]
    pub(crate) fn on_delivery(&mut self, flow: u32, owd: Span) {
        let metrics = &mut self.flows[flow as usize];
        metrics.delivered += 1;
        metrics.owd_sum += owd;
        if owd < metrics.propagation {
            self.too_fast = Some(flow);
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

    /// Adds a point to the time series; `probes` are the discipline's own variables, `senders` those of the flows.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        period: Span,
        probes: &[(String, f64)],
        senders: &[Option<SenderState>],
    ) {
        self.queue.advance(now);
        let seconds = period.as_secs_f64();
        let mbit = |bytes: u64| bytes as f64 * 8.0 / 1e6 / seconds;
        let sample = std::mem::take(&mut self.queue.sample);
        let qdelay = if sample.departed == 0 {
            f64::NAN
        } else {
            sample.sojourn_sum.as_millis_f64() / sample.departed as f64
        };
        let mut payload = vec![0; self.groups.len()];
        for flow in self.flows.iter().filter(|flow| !flow.back) {
            payload[flow.group as usize] += flow.payload_total;
        }
        let jain = self.jain(|_| true, |flow| flow.payload_total);
        let rtt = self.sample_rtt(senders);
        let series = &mut self.series;
        series.time_s.push(now.as_secs_f64());
        let mut put = |name: &str, value: f64| match series.columns.get_mut(name) {
            Some(column) => column.push(value),
            None => {
                series.columns.insert(name.to_owned(), vec![value]);
            }
        };
        put("queue_packets", self.queue.packets as f64);
        put("queue_bytes", self.queue.bytes as f64);
        put("queue_ewma_packets", self.queue.ewma);
        put("qdelay_ms", qdelay);
        put("throughput_mbit", mbit(sample.sent_bytes));
        put("rtt_ms", rtt);
        put("jain_index", jain);
        put("drops", sample.dropped as f64);
        put("drops_early", sample.dropped_early as f64);
        put("marks", sample.marked as f64);
        let mut total = 0;
        for (group, payload) in self.groups.iter_mut().zip(payload) {
            let new = payload - std::mem::replace(&mut group.sampled_payload, payload);
            total += new;
            put(&format!("class.{}.goodput_mbit", group.name), mbit(new));
        }
        put("goodput_mbit", mbit(total));
        if self.each_flow && self.flows.len() <= MAX_FLOW_SERIES {
            for (id, (flow, sender)) in self.flows.iter().zip(senders).enumerate() {
                put(&format!("flow.{id}.delivered_bytes"), flow.payload_total as f64);
                if let Some(sender) = sender {
                    put(&format!("flow.{id}.cwnd_bytes"), sender.cwnd as f64);
                }
            }
        }
        for (name, value) in probes {
            put(&format!("probe.{name}"), *value);
        }
    }

    /// Mean of the RTT samples since the last point, milliseconds.
    fn sample_rtt(&mut self, senders: &[Option<SenderState>]) -> f64 {
        let mut now = (Span::ZERO, 0);
        for (_, sender) in self.flows.iter().zip(senders).filter(|(flow, _)| !flow.back) {
            let Some(SenderState { rtt: (sum, samples), .. }) = sender else { continue };
            now = (now.0 + *sum, now.1 + samples);
        }
        let before = std::mem::replace(&mut self.sampled_rtt, now);
        now.0.saturating_sub(before.0).as_millis_f64() / (now.1 - before.1) as f64
    }

    /// Jain's index over `bytes` of the flows that `chosen` admits. Recorded traffic does not compete: beside other
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

    /// Sojourn times of the groups that `chosen` admits, merged.
    pub(crate) fn sojourn(&self, chosen: impl Fn(usize) -> bool) -> Histogram {
        let mut all = Histogram::default();
        for (_, group) in self.groups.iter().enumerate().filter(|(index, _)| chosen(*index)) {
            all.merge(&group.sojourn);
        }
        all
    }

    /// One-way delays of the flows that `chosen` admits, merged, and their packet delay variation (RFC 5481 section
    /// 4.2: delay beyond the flow's smallest).
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
            bottleneck_bytes: 0,
            payload_total: 0,
            payload_before: 0,
            owd_sum: Span::ZERO,
            last_owd: Span::MAX,
            ipdv_sum: Span::ZERO,
            sojourn_sum: Span::ZERO,
            min_excess: Span::MAX,
            excess: None,
            group,
            arrived: 0,
            dropped: 0,
            marked: 0,
            departed: 0,
            delivered: 0,
            lost: 0,
            ipdv_count: 0,
            back,
            recorded: false,
        }
    }

    /// Payload delivered while measuring.
    pub(crate) fn payload(&self) -> u64 {
        self.payload_total - self.payload_before
    }

    /// Mean sojourn time in milliseconds.
    pub(crate) fn sojourn_mean_ms(&self) -> f64 {
        self.sojourn_sum.as_millis_f64() / f64::from(self.departed)
    }

    /// Share of the packets that were lost on the way.
    pub(crate) fn lost_share(&self) -> f64 {
        f64::from(self.lost) / (f64::from(self.lost) + f64::from(self.delivered))
    }

    /// One-way delays in nanoseconds, ascending, and how many.
    pub(crate) fn delays(&self) -> impl Iterator<Item = (u64, u32)> + Clone + '_ {
        let base = self.propagation.as_nanos();
        self.excess.iter().flat_map(Histogram::iter).map(move |(excess, count)| (base + excess, count))
    }

    /// Sum and number of the sojourn times.
    pub(crate) fn sojourn_total(&self) -> (Span, u64) {
        (self.sojourn_sum, self.departed.into())
    }

    /// Sum and number of the delay variations between consecutive packets.
    pub(crate) fn ipdv_total(&self) -> (Span, u64) {
        (self.ipdv_sum, self.ipdv_count.into())
    }
}

impl QueueMetrics {
    fn new(full_packet: Span) -> QueueMetrics {
        QueueMetrics {
            packets: 0,
            bytes: 0,
            last_change: Time::ZERO,
            packet_nanos: 0,
            byte_nanos: 0,
            max_packets: 0,
            drops_early: 0,
            drops_overflow: 0,
            marks: 0,
            sent_bytes: 0,
            sent_ip_bytes: 0,
            ewma: 0.0,
            ewma_sum: 0.0,
            ewma_count: 0,
            empty_since: Time::ZERO,
            full_packet,
            sample: Sample::default(),
        }
    }

    fn restart(&mut self, now: Time) {
        let fresh = QueueMetrics::new(self.full_packet);
        let old = std::mem::replace(self, fresh);
        self.packets = old.packets;
        self.bytes = old.bytes;
        self.max_packets = old.packets;
        self.last_change = now;
        self.ewma = old.ewma;
        self.empty_since = old.empty_since;
        self.sample = old.sample;
    }

    /// Brings the time-weighted sums up to `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        let passed = u128::from(now.since(self.last_change).as_nanos());
        self.packet_nanos += passed * u128::from(self.packets);
        self.byte_nanos += passed * u128::from(self.bytes);
        self.last_change = now;
    }

    #[inline]
    fn remove(&mut self, length: u32, now: Time) {
        self.advance(now);
        self.packets -= 1;
        self.bytes -= u64::from(length);
        if self.packets == 0 {
            self.empty_since = now;
        }
    }

    /// S-PIE's equation 11, taken at each arrival as ns-3's RED does: while the queue was empty, m full packets could
    /// have passed.
    #[inline]
    fn average(&mut self, now: Time) {
        let mut kept = 1.0 - EWMA_WEIGHT;
        if self.packets == 0 && self.full_packet > Span::ZERO {
            let idle = now.since(self.empty_since).as_nanos() / self.full_packet.as_nanos();
            kept = power(kept, idle + 1);
        }
        self.ewma = EWMA_WEIGHT * self.packets as f64 + kept * self.ewma;
        self.ewma_sum += self.ewma;
        self.ewma_count += 1;
    }

    /// Time-weighted means over `seconds`: packets and bytes.
    pub(crate) fn means(&self, seconds: f64) -> (f64, f64) {
        let mean = |sum: u128| sum as f64 / 1e9 / seconds;
        (mean(self.packet_nanos), mean(self.byte_nanos))
    }

    /// Mean of the weighted average over arrivals.
    pub(crate) fn ewma_mean(&self) -> f64 {
        self.ewma_sum / self.ewma_count as f64
    }
}

/// `base` to a whole power, by squaring: the same bits everywhere.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
