//! What ns-3's FlowMonitor and queue traces would say of a run, read as the authors of dAQM read them (their artifacts,
//! `Call_function.cc`): beside the metrics of the contract it shows what comes of the way of measuring.
//!
//! Each way of a connection is a flow of its own, acknowledgments too. At every sample of the series: over the flows that
//! have received something, each with the same weight, the means of delay, loss, throughput and "completion time" (last
//! packet received less first sent, of flows that never end), all since the start; then the mean over the samples, of loss
//! over those above zero. A drop counts twice, since two probes report it; a packet that was taken out of a queue to be
//! looked at is no drop: a look once a second finds it missing when it was sent ten seconds ago. Queue lengths and sojourn
//! times are those of ns-3's traces (`QueueDisc::PacketEnqueued`, `PacketDequeued`), of all queues together: a length for
//! every packet that is put into a queue, a length and the whole milliseconds of its wait for every packet that is taken
//! out, whether it is then sent, dropped or destroyed; nothing for a packet that is dropped before it is in. The means
//! leave out zeros.
//!
//! Waits are looked up by ns-3's number of a packet, under which the last arrival is kept until a departure takes it. A
//! segment has the number of its first byte's write; one that begins in the middle of a write has that of the segment
//! before (`TcpTxBuffer::GetPacketFromList` merges writes and cuts them). Of a source that waits for its window, most
//! packets have one number, and few departures find a time.

use crate::daqm_artifact::DESTROYED;
use aqm_core::backlog::Backlog;
use aqm_core::signal::DropPoint;
use aqm_core::units::{Span, Time};
use aqm_sim::metrics::registry::{Better, Metric, Unit};
use aqm_sim::observer::{Answers, Info, Kind, Lost, LostBy, Observer, Packet, Samples};
use std::collections::BTreeMap;

/// The entry of the list.
pub(crate) static INFO: Info = Info {
    name: "flow_monitor",
    summary: "ns-3's FlowMonitor and queue traces, read as the authors of dAQM read them; and all queues together",
    reference: "the authors' artifacts, Call_function.cc; ns-3's flow-monitor.cc",
    metrics: &[
        &FLOWMON_DELAY_MS,
        &FLOWMON_LOSS_RATIO,
        &FLOWMON_THROUGHPUT_KBIT,
        &FLOWMON_FCT_S,
        &FLOWMON_QUEUE_PACKETS,
        &FLOWMON_QUEUE_WITH_ZEROS_PACKETS,
        &FLOWMON_SOJOURN_MS,
        &ALL_QUEUES_MEAN_PACKETS,
        &ALL_QUEUES_SOJOURN_MEAN_MS,
    ],
    series: &[],
    build: |site| Box::new(FlowMonitor::new(site.overhead)),
};

static FLOWMON_DELAY_MS: Metric = Metric::new(
    "flowmon_delay_ms",
    "Delay (as FlowMonitor is read)",
    Unit::Ms,
    1,
    Better::Neither,
    "delay of each flow's packets since the start, acknowledgments being flows, \
         averaged over flows and samples",
);

static FLOWMON_LOSS_RATIO: Metric = Metric::new(
    "flowmon_loss_ratio",
    "Loss (as FlowMonitor is read)",
    Unit::One,
    4,
    Better::Neither,
    "drops, each counted twice, over packets sent, averaged over flows and the \
         samples above zero",
);

static FLOWMON_THROUGHPUT_KBIT: Metric = Metric::new(
    "flowmon_throughput_kbit",
    "Throughput (as FlowMonitor is read)",
    Unit::Kbit,
    1,
    Better::Neither,
    "bytes received over the time from first to last packet, averaged over flows \
         and samples",
);

static FLOWMON_FCT_S: Metric = Metric::new(
    "flowmon_fct_s",
    "Completion time (as FlowMonitor is read)",
    Unit::Seconds,
    3,
    Better::Neither,
    "time from a flow's first packet to its last so far, averaged over flows and \
         samples",
);

static FLOWMON_QUEUE_PACKETS: Metric = Metric::new(
    "flowmon_queue_packets",
    "Queue (as traces are read)",
    Unit::Packets,
    1,
    Better::Neither,
    "lengths of all queues after each arrival and departure, without zeros, \
         averaged",
);

static FLOWMON_QUEUE_WITH_ZEROS_PACKETS: Metric = Metric::new(
    "flowmon_queue_with_zeros_packets",
    "Queue at arrivals and departures",
    Unit::Packets,
    1,
    Better::Neither,
    "lengths of all queues after each arrival and departure, zeros included, averaged",
);

static FLOWMON_SOJOURN_MS: Metric = Metric::new(
    "flowmon_sojourn_ms",
    "Sojourn time (as traces are read)",
    Unit::Ms,
    1,
    Better::Neither,
    "sojourn times in all queues in whole milliseconds, without zeros, averaged",
);

static ALL_QUEUES_MEAN_PACKETS: Metric = Metric::new(
    "all_queues_mean_packets",
    "Mean of all queues together",
    Unit::Packets,
    1,
    Better::Neither,
    "packets that wait in any queue with a discipline, averaged over time",
);

static ALL_QUEUES_SOJOURN_MEAN_MS: Metric = Metric::new(
    "all_queues_sojourn_mean_ms",
    "Mean queue delay, all queues",
    Unit::Ms,
    2,
    Better::Neither,
    "sojourn time of every packet that left any queue with a discipline, averaged",
);

/// When a packet that was never heard of again counts as lost (`MaxPerHopDelay`).
const FORGOTTEN: Span = Span::from_secs(10);
/// How often it looks for such packets (`PERIODIC_CHECK_INTERVAL`).
const LOOK: Span = Span::from_secs(1);

/// The monitor of one run.
#[derive(Default)]
struct FlowMonitor {
    overhead: u32,
    /// Two for each flow: there and back.
    flows: Vec<FlowCounts>,
    /// When each packet in flight was sent, and its number in ns-3, by its place in the slab.
    sent: Vec<(Time, u64)>,
    /// Numbers given so far, and when the last packet of a number came into a queue, if none has left since.
    numbers: u64,
    entered: BTreeMap<u64, Time>,
    /// Packets that vanished without a drop, with the time when they were sent, and when they are looked for next.
    vanished: Vec<(Time, usize)>,
    next_look: Time,
    /// Whether the packet that arrives was refused.
    refused: bool,
    delay: Mean,
    loss: Mean,
    throughput: Mean,
    completion: Mean,
    queue: Mean,
    queue_with_zeros: Mean,
    sojourn: Mean,
    sojourn_with_zeros: Mean,
    /// What waits in all queues, since when, and the sum over time.
    waiting: u64,
    since: Time,
    waited: f64,
}

#[derive(Clone, Default)]
struct FlowCounts {
    first_sent: Option<Time>,
    last_received: Time,
    sent: u64,
    received: u64,
    bytes: u64,
    lost: u64,
    delay: Span,
    /// Where the next new byte is, and the numbers of segments by where they begin.
    next: u64,
    numbers: Vec<(u64, u64)>,
}

/// A sum and how many were added.
#[derive(Default)]
struct Mean(f64, u64);

impl Mean {
    fn add(&mut self, value: f64) {
        self.0 += value;
        self.1 += 1;
    }

    fn value(&self) -> f64 {
        self.0 / self.1 as f64
    }
}

impl FlowMonitor {
    /// The monitor of a run whose packets have `overhead` bytes of the link layer, which it leaves out.
    fn new(overhead: u32) -> FlowMonitor {
        FlowMonitor { overhead, ..FlowMonitor::default() }
    }

    fn seen(&mut self, packet: &Packet) -> &mut FlowCounts {
        let index = place(packet);
        if self.flows.len() <= index {
            self.flows.resize(index + 1, FlowCounts::default());
        }
        &mut self.flows[index]
    }

    fn on_queue(&mut self, packets: u64) {
        self.queue_with_zeros.add(packets as f64);
        if packets > 0 {
            self.queue.add(packets as f64);
        }
    }

    /// The number of a packet that is sent, of a source that writes `written` bytes at a time.
    fn number(&mut self, packet: &Packet) -> u64 {
        let fresh = self.numbers;
        self.numbers += 1;
        if packet.kind != Kind::Data || packet.payload == 0 {
            return fresh;
        }
        let (begin, seen) = (packet.first_byte, self.seen(packet));
        if begin >= seen.next {
            seen.next = begin + u64::from(packet.payload);
            if begin % packet.written == 0 {
                seen.numbers.push((begin, fresh));
            }
        }
        let before = seen.numbers.partition_point(|(first, _)| *first <= begin);
        before.checked_sub(1).map_or(fresh, |last| seen.numbers[last].1)
    }

    /// A packet is taken out of a queue that holds `queued` now.
    fn on_taken(&mut self, id: u32, queued: Backlog, now: Time) {
        self.on_queue(queued.packets);
        self.count(now, -1);
        let Some(entered) = self.entered.remove(&self.sent[id as usize].1) else { return };
        let millis = now.since(entered).as_nanos() / 1_000_000;
        if millis > 0 {
            self.sojourn.add(millis as f64);
        }
    }

    /// Packets that were sent too long ago are lost.
    fn look_for_lost(&mut self, now: Time) {
        let flows = &mut self.flows;
        self.vanished.retain(|(sent, flow)| {
            let is_lost = now.since(*sent) >= FORGOTTEN;
            flows[*flow].lost += u64::from(is_lost);
            !is_lost
        });
    }

    /// A point of the series: the means over flows.
    fn take_sample(&mut self, now: Time) {
        while self.next_look <= now {
            self.look_for_lost(self.next_look);
            self.next_look += LOOK;
        }
        let [mut delay, mut loss, mut throughput, mut completion] = <[Mean; 4]>::default();
        for seen in self.flows.iter().filter(|seen| seen.received > 0) {
            let lasted = seen.last_received.since(seen.first_sent.unwrap_or_default()).as_secs_f64();
            delay.add(seen.delay.as_millis_f64() / seen.received as f64);
            loss.add(seen.lost as f64 / seen.sent as f64);
            throughput.add(seen.bytes as f64 * 8.0 / 1e3 / lasted);
            completion.add(lasted);
        }
        if delay.1 == 0 {
            return;
        }
        self.delay.add(delay.value());
        self.throughput.add(throughput.value());
        self.completion.add(completion.value());
        if loss.0 > 0.0 {
            self.loss.add(loss.value());
        }
    }

    fn count(&mut self, now: Time, change: i64) {
        self.waited += self.waiting as f64 * now.since(self.since).as_secs_f64();
        self.since = now;
        self.waiting = self.waiting.wrapping_add_signed(change);
    }
}

/// The place of a packet's flow and direction.
fn place(packet: &Packet) -> usize {
    2 * packet.flow as usize + usize::from(packet.kind == Kind::Ack)
}

/// What switches and receivers say about congestion belongs to no flow.
fn is_of_flow(packet: &Packet) -> bool {
    packet.kind != Kind::Feedback
}

impl Observer for FlowMonitor {
    fn on_sent(&mut self, packet: &Packet, now: Time) {
        if is_of_flow(packet) {
            let seen = self.seen(packet);
            seen.first_sent.get_or_insert(now);
            seen.sent += 1;
        }
        // It may wait in queues as all others.
        let place = packet.id as usize;
        if self.sent.len() <= place {
            self.sent.resize(place + 1, (Time::ZERO, 0));
        }
        self.sent[place] = (now, self.number(packet));
    }

    fn on_received(&mut self, packet: &Packet, now: Time) {
        let delay = now.since(self.sent[packet.id as usize].0);
        let bytes = packet.length - self.overhead;
        let seen = self.seen(packet);
        seen.last_received = now;
        seen.received += 1;
        seen.bytes += u64::from(bytes);
        seen.delay += delay;
    }

    fn on_enqueue(&mut self, packet: &Packet, _port: usize, queued: Backlog, now: Time) {
        if std::mem::take(&mut self.refused) {
            return;
        }
        self.entered.insert(self.sent[packet.id as usize].1, now);
        self.on_queue(queued.packets);
        self.count(now, 1);
    }

    fn on_dequeue(&mut self, packet: &Packet, _port: usize, queued: Backlog, sojourn: Span, now: Time) {
        self.sojourn_with_zeros.add(sojourn.as_millis_f64());
        self.on_taken(packet.id, queued, now);
    }

    fn on_drop(&mut self, lost: &Lost, now: Time) {
        let Lost { packet, by, queued, sojourn, .. } = lost;
        match by {
            LostBy::Discipline(DESTROYED, _) if is_of_flow(packet) => {
                self.vanished.push((self.sent[packet.id as usize].0, place(packet)));
            }
            // No probe of FlowMonitor sees the channel.
            LostBy::Wire => return,
            _ if is_of_flow(packet) => self.seen(packet).lost += 2,
            _ => {}
        }
        let LostBy::Discipline(_, point) = by else { return };
        if *point == DropPoint::Enqueue && *sojourn == Span::ZERO {
            self.refused = true;
        } else {
            self.on_taken(packet.id, *queued, now);
        }
    }

    fn on_sample(&mut self, _samples: &mut Samples<'_>, now: Time) {
        self.take_sample(now);
    }

    fn report(&mut self, values: &mut Answers<'_>, end: Time) {
        let zero_if_none = |mean: &Mean| if mean.1 == 0 { 0.0 } else { mean.value() };
        let waited = self.waited + self.waiting as f64 * end.since(self.since).as_secs_f64();
        let mut put = |metric, value| values.put(metric, value);
        put(&FLOWMON_DELAY_MS, self.delay.value());
        put(&FLOWMON_LOSS_RATIO, zero_if_none(&self.loss));
        put(&FLOWMON_THROUGHPUT_KBIT, self.throughput.value());
        put(&FLOWMON_FCT_S, self.completion.value());
        put(&FLOWMON_QUEUE_PACKETS, zero_if_none(&self.queue));
        put(&FLOWMON_QUEUE_WITH_ZEROS_PACKETS, zero_if_none(&self.queue_with_zeros));
        put(&FLOWMON_SOJOURN_MS, zero_if_none(&self.sojourn));
        put(&ALL_QUEUES_MEAN_PACKETS, waited / end.as_secs_f64());
        put(&ALL_QUEUES_SOJOURN_MEAN_MS, zero_if_none(&self.sojourn_with_zeros));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::signal::DropReason;
    use aqm_sim::observer::reported;

    fn ms(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// A packet of a flow, or an acknowledgment.
    fn packet(flow: u32, back: bool, length: u32) -> Packet {
        let kind = if back { Kind::Ack } else { Kind::Data };
        Packet { flow, length, kind, written: 1000, ..Packet::default() }
    }

    /// The same packet at another place in memory.
    fn at(id: u32, packet: &Packet) -> Packet {
        Packet { id, ..*packet }
    }

    fn dropped(packet: Packet, reason: DropReason, point: DropPoint) -> Lost {
        let by = LostBy::Discipline(reason, point);
        Lost { packet, port: 0, by, queued: queued(0), sojourn: Span::ZERO }
    }

    impl FlowMonitor {
        /// Some packet comes into a queue, which then holds `packets`.
        fn enters(&mut self, id: u32, packets: u64, now: Time) {
            self.on_enqueue(&at(id, &Packet::default()), 0, queued(packets), now);
        }

        /// Some packet leaves a queue, which then holds `packets`.
        fn leaves(&mut self, id: u32, packets: u64, now: Time, sojourn: Span) {
            self.on_dequeue(&at(id, &Packet::default()), 0, queued(packets), sojourn, now);
        }
    }

    fn queued(packets: u64) -> Backlog {
        Backlog { packets, bytes: 0 }
    }

    fn value_of(monitor: &mut FlowMonitor, end: Time) -> impl Fn(&str) -> f64 + use<> {
        let values = reported(monitor, end);
        move |name: &str| values[name]
    }

    #[test]
    fn flows_that_received_something_weigh_the_same_and_acknowledgments_are_flows() {
        let mut monitor = FlowMonitor::default();
        let (there, back) = (packet(0, false, 1000), packet(0, true, 40));
        monitor.on_sent(&at(0, &there), ms(0));
        monitor.on_sent(&at(1, &there), ms(0));
        monitor.on_received(&at(0, &there), ms(10));
        monitor.on_received(&at(1, &there), ms(30));
        monitor.on_sent(&at(0, &back), ms(30));
        monitor.on_received(&at(0, &back), ms(32));
        monitor.on_sent(&at(2, &packet(1, false, 1000)), ms(40)); // nothing of it arrives
        monitor.take_sample(ms(100));
        let value_of = value_of(&mut monitor, ms(100));
        // (10 + 30) / 2 there, 2 back; 16 kbit in 30 ms, 320 bit in 2 ms; 30 and 2 ms.
        assert_eq!(value_of("flowmon_delay_ms"), 11.0);
        assert!((value_of("flowmon_throughput_kbit") - (16.0 / 0.03 + 0.32 / 0.002) / 2.0).abs() < 1e-9);
        assert!((value_of("flowmon_fct_s") - 0.016).abs() < 1e-12);
    }

    #[test]
    fn drops_count_twice_and_what_vanished_once_when_it_was_sent_ten_seconds_ago() {
        let mut monitor = FlowMonitor::default();
        let there = packet(0, false, 1000);
        for id in 0..10 {
            monitor.on_sent(&at(id, &there), ms(150));
        }
        monitor.on_received(&at(0, &there), ms(1_000));
        monitor.on_drop(&dropped(at(3, &there), DESTROYED, DropPoint::Dequeue), ms(6));
        monitor.take_sample(ms(5_000)); // without a loss: not part of the mean
        monitor.on_drop(&dropped(at(4, &there), DropReason::Congestion, DropPoint::Enqueue), ms(6));
        monitor.take_sample(ms(10_900)); // it looks at 10 s, when 9.85 s have passed
        assert_eq!(value_of(&mut monitor, ms(10_900))("flowmon_loss_ratio"), 0.2);
        monitor.take_sample(ms(11_000));
        assert_eq!(value_of(&mut monitor, ms(11_000))("flowmon_loss_ratio"), (0.2 + 0.3) / 2.0);
    }

    #[test]
    fn what_is_taken_out_of_a_queue_counts_whatever_becomes_of_it_and_what_is_refused_does_not() {
        let mut monitor = FlowMonitor::default();
        let ack = packet(0, true, 40);
        (0..8).for_each(|id| monitor.on_sent(&at(id, &ack), ms(0)));
        let drop = |id, reason, point, packets, sojourn| Lost {
            queued: queued(packets),
            sojourn: Span::from_millis(sojourn),
            ..dropped(at(id, &ack), reason, point)
        };
        // Seven arrive, and an eighth is refused: lengths 1 to 7.
        (0..7).for_each(|id| monitor.enters(id, u64::from(id) + 1, ms(0)));
        monitor.on_drop(&drop(7, DropReason::Congestion, DropPoint::Enqueue, 7, 0), ms(0));
        monitor.enters(7, 7, ms(0));
        // Five are destroyed, the head is dropped, and the last one leaves: lengths 6 to 0.
        (1..6).for_each(|id| {
            let left = 7 - u64::from(id);
            monitor.on_drop(&drop(id, DESTROYED, DropPoint::Dequeue, left, 10), ms(10));
        });
        monitor.on_drop(&drop(0, DropReason::Congestion, DropPoint::Dequeue, 1, 10), ms(10));
        monitor.leaves(6, 0, ms(24), Span::from_millis(24));
        let value_of = value_of(&mut monitor, ms(100));
        assert_eq!(value_of("flowmon_queue_packets"), (28.0 + 21.0) / 13.0);
        assert_eq!(value_of("flowmon_queue_with_zeros_packets"), (28.0 + 21.0) / 14.0);
        assert_eq!(value_of("flowmon_sojourn_ms"), (6.0 * 10.0 + 24.0) / 7.0);
        // Properly, only what leaves has a sojourn time.
        assert_eq!(value_of("all_queues_sojourn_mean_ms"), 24.0);
    }

    #[test]
    fn segments_that_begin_within_a_write_share_a_number_and_one_wait() {
        let mut monitor = FlowMonitor::default();
        let segment = |first_byte| Packet { first_byte, payload: 1200, ..packet(0, false, 1240) };
        // Writes of 1000 bytes in segments of 1200: those at 0 and 6000 begin with a write.
        for (id, number) in [0, 1200, 2400, 3600, 4800, 6000, 1200].into_iter().enumerate() {
            monitor.on_sent(&at(id as u32, &segment(number)), ms(0));
        }
        (0..6).for_each(|id| monitor.enters(id, 1, ms(10 * u64::from(id))));
        // The first departure finds the arrival at 40 ms, the next four nothing, the last its own at 50 ms.
        for (id, at) in [(0, 100), (1, 200), (2, 300), (3, 400), (4, 500), (5, 600)] {
            monitor.leaves(id, 1, ms(at), Span::ZERO);
        }
        // A segment that is sent again has its old number.
        monitor.enters(6, 1, ms(700));
        monitor.leaves(2, 1, ms(740), Span::ZERO);
        assert_eq!(value_of(&mut monitor, ms(1000))("flowmon_sojourn_ms"), (60.0 + 550.0 + 40.0) / 3.0);
    }

    #[test]
    fn queues_and_sojourn_times_leave_out_zeros_and_the_mean_over_time_does_not() {
        let mut monitor = FlowMonitor::default();
        let ack = packet(0, true, 40);
        (0..2).for_each(|id| monitor.on_sent(&at(id, &ack), ms(0)));
        monitor.enters(0, 1, ms(0));
        monitor.enters(1, 2, Time::from_nanos(29_100_000));
        monitor.leaves(0, 1, Time::from_nanos(14_700_000), Span::from_micros(14_700));
        monitor.leaves(1, 0, ms(30), Span::from_micros(900));
        let value_of = value_of(&mut monitor, ms(100));
        assert_eq!(
            (value_of("flowmon_queue_packets"), value_of("flowmon_queue_with_zeros_packets")),
            (4.0 / 3.0, 1.0)
        );
        assert_eq!(value_of("flowmon_sojourn_ms"), 14.0);
    }

    #[test]
    fn the_mean_over_time_counts_all_queues() {
        let mut monitor = FlowMonitor::default();
        let ack = packet(0, true, 40);
        (0..2).for_each(|id| monitor.on_sent(&at(id, &ack), ms(0)));
        monitor.enters(0, 1, ms(0));
        monitor.enters(1, 2, ms(10));
        monitor.leaves(0, 1, ms(20), Span::from_millis(20));
        monitor.leaves(1, 0, ms(30), Span::from_millis(20));
        // 10 ms of one, 10 of two, 10 of one, in 100.
        assert!((value_of(&mut monitor, ms(100))("all_queues_mean_packets") - 0.4).abs() < 1e-12);
    }
}
