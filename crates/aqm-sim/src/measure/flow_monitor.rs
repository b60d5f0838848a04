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

use super::observer::{AtHost, Dropped, PacketObserver};
use crate::metrics::registry::*;
use crate::network::packet::{Packet, Role};
use crate::report::Report;
use aqm_core::backlog::Backlog;
use aqm_core::signal::{DropPoint, DropReason};
use aqm_core::units::{Span, Time};

/// When a packet that was never heard of again counts as lost (`MaxPerHopDelay`).
const FORGOTTEN: Span = Span::from_secs(10);
/// How often it looks for such packets (`PERIODIC_CHECK_INTERVAL`).
const LOOK: Span = Span::from_secs(1);

/// The monitor of one run.
#[derive(Default)]
pub(crate) struct FlowMonitor {
    overhead: u32,
    /// Two for each flow: there and back.
    flows: Vec<Seen>,
    /// When each packet under way was sent, by its place in the slab.
    sent: Vec<Time>,
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
struct Seen {
    first_sent: Option<Time>,
    last_received: Time,
    sent: u64,
    received: u64,
    bytes: u64,
    lost: u64,
    delay: Span,
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
    pub(crate) fn new(overhead: u32) -> FlowMonitor {
        FlowMonitor { overhead, ..FlowMonitor::default() }
    }

    fn seen(&mut self, packet: &Packet) -> &mut Seen {
        let index = place(packet);
        if self.flows.len() <= index {
            self.flows.resize(index + 1, Seen::default());
        }
        &mut self.flows[index]
    }

    fn on_queue(&mut self, packets: u64) {
        self.queue_with_zeros.add(packets as f64);
        if packets > 0 {
            self.queue.add(packets as f64);
        }
    }

    /// A packet is taken out of a queue that holds `queued` now.
    fn on_taken(&mut self, queued: Backlog, sojourn: Span, now: Time) {
        self.on_queue(queued.packets);
        self.count(now, -1);
        let millis = sojourn.as_nanos() / 1_000_000;
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

    fn count(&mut self, now: Time, change: i64) {
        self.waited += self.waiting as f64 * now.since(self.since).as_secs_f64();
        self.since = now;
        self.waiting = self.waiting.wrapping_add_signed(change);
    }
}

/// The place of a packet's flow and direction.
fn place(packet: &Packet) -> usize {
    2 * packet.flow as usize + usize::from(packet.role == Role::Ack)
}

/// What switches and receivers say about congestion belongs to no flow.
fn is_of_flow(packet: &Packet) -> bool {
    packet.role != Role::Feedback
}

impl PacketObserver for FlowMonitor {
    fn on_sent(&mut self, &AtHost { id, packet, now, .. }: &AtHost<'_>) {
        if !is_of_flow(packet) {
            return;
        }
        let seen = self.seen(packet);
        seen.first_sent.get_or_insert(now);
        seen.sent += 1;
        let place = id as usize;
        if self.sent.len() <= place {
            self.sent.resize(place + 1, Time::ZERO);
        }
        self.sent[place] = now;
    }

    fn on_received(&mut self, &AtHost { id, packet, now, .. }: &AtHost<'_>) {
        let delay = now.since(self.sent[id as usize]);
        let bytes = packet.length - self.overhead;
        let seen = self.seen(packet);
        seen.last_received = now;
        seen.received += 1;
        seen.bytes += u64::from(bytes);
        seen.delay += delay;
    }

    fn on_enqueue(&mut self, queued: Backlog, now: Time) {
        if std::mem::take(&mut self.refused) {
            return;
        }
        self.on_queue(queued.packets);
        self.count(now, 1);
    }

    fn on_dequeue(&mut self, queued: Backlog, sojourn: Span, now: Time) {
        self.sojourn_with_zeros.add(sojourn.as_millis_f64());
        self.on_taken(queued, sojourn, now);
    }

    fn on_drop(&mut self, dropped: &Dropped<'_>) {
        let Dropped { id, packet, reason, point, queued, sojourn, now } = *dropped;
        if is_of_flow(packet) && reason == DropReason::Inspected {
            self.vanished.push((self.sent[id as usize], place(packet)));
        } else {
            self.on_refusal(packet);
        }
        if point == DropPoint::Enqueue && sojourn == Span::ZERO {
            self.refused = true;
        } else {
            self.on_taken(queued, sojourn, now);
        }
    }

    fn on_refusal(&mut self, packet: &Packet) {
        if is_of_flow(packet) {
            self.seen(packet).lost += 2;
        }
    }

    fn on_sample(&mut self, now: Time) {
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

    fn report(&mut self, report: &mut Report, end: Time) {
        let zero_if_none = |mean: &Mean| if mean.1 == 0 { 0.0 } else { mean.value() };
        let waited = self.waited + self.waiting as f64 * end.since(self.since).as_secs_f64();
        let mut put = |metric, value| report.metrics.put(&Part::WHOLE, metric, value);
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

    fn ms(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// A packet of a flow, or an acknowledgment.
    fn packet(flow: u32, back: bool, length: u32) -> Packet {
        Packet { flow, length, role: if back { Role::Ack } else { Role::Data }, ..Packet::default() }
    }

    fn at(id: u32, packet: &Packet, now: Time) -> AtHost<'_> {
        AtHost { id, packet, protocol: 6, dscp: 0, now }
    }

    fn dropped(id: u32, packet: &Packet, reason: DropReason, point: DropPoint) -> Dropped<'_> {
        let (queued, sojourn, now) = (queued(0), Span::ZERO, ms(6));
        Dropped { id, packet, reason, point, queued, sojourn, now }
    }

    fn queued(packets: u64) -> Backlog {
        Backlog { packets, bytes: 0 }
    }

    fn told(monitor: &mut FlowMonitor, end: Time) -> impl Fn(&str) -> f64 + use<> {
        let mut report = Report::default();
        monitor.report(&mut report, end);
        move |name: &str| report.metrics[name]
    }

    #[test]
    fn flows_that_received_something_weigh_the_same_and_acknowledgments_are_flows() {
        let mut monitor = FlowMonitor::default();
        let (there, back) = (packet(0, false, 1000), packet(0, true, 40));
        monitor.on_sent(&at(0, &there, ms(0)));
        monitor.on_sent(&at(1, &there, ms(0)));
        monitor.on_received(&at(0, &there, ms(10)));
        monitor.on_received(&at(1, &there, ms(30)));
        monitor.on_sent(&at(0, &back, ms(30)));
        monitor.on_received(&at(0, &back, ms(32)));
        monitor.on_sent(&at(2, &packet(1, false, 1000), ms(40))); // nothing of it arrives
        monitor.on_sample(ms(100));
        let told = told(&mut monitor, ms(100));
        // (10 + 30) / 2 there, 2 back; 16 kbit in 30 ms, 320 bit in 2 ms; 30 and 2 ms.
        assert_eq!(told("flowmon_delay_ms"), 11.0);
        assert!((told("flowmon_throughput_kbit") - (16.0 / 0.03 + 0.32 / 0.002) / 2.0).abs() < 1e-9);
        assert!((told("flowmon_fct_s") - 0.016).abs() < 1e-12);
    }

    #[test]
    fn drops_count_twice_and_what_vanished_once_when_it_was_sent_ten_seconds_ago() {
        let mut monitor = FlowMonitor::default();
        let there = packet(0, false, 1000);
        for id in 0..10 {
            monitor.on_sent(&at(id, &there, ms(150)));
        }
        monitor.on_received(&at(0, &there, ms(1_000)));
        monitor.on_drop(&dropped(3, &there, DropReason::Inspected, DropPoint::Dequeue));
        monitor.on_sample(ms(5_000)); // without a loss: not part of the mean
        monitor.on_drop(&dropped(4, &there, DropReason::Congestion, DropPoint::Enqueue));
        monitor.on_sample(ms(10_900)); // it looks at 10 s, when 9.85 s have passed
        assert_eq!(told(&mut monitor, ms(10_900))("flowmon_loss_ratio"), 0.2);
        monitor.on_sample(ms(11_000));
        assert_eq!(told(&mut monitor, ms(11_000))("flowmon_loss_ratio"), (0.2 + 0.3) / 2.0);
    }

    #[test]
    fn what_is_taken_out_of_a_queue_counts_whatever_becomes_of_it_and_what_is_refused_does_not() {
        let mut monitor = FlowMonitor::default();
        let there = packet(0, false, 1000);
        monitor.on_sent(&at(0, &there, ms(0)));
        let drop = |reason, point, packets, sojourn| Dropped {
            queued: queued(packets),
            sojourn: Span::from_millis(sojourn),
            ..dropped(0, &there, reason, point)
        };
        // Seven arrive, and an eighth is refused: lengths 1 to 7.
        (1..=7).for_each(|packets| monitor.on_enqueue(queued(packets), ms(0)));
        monitor.on_drop(&drop(DropReason::Congestion, DropPoint::Enqueue, 7, 0));
        monitor.on_enqueue(queued(7), ms(0));
        // Five are destroyed, the head is dropped, and the last one leaves: lengths 6 to 0, waits of 10 ms each.
        (2..=6).rev().for_each(|left| {
            monitor.on_drop(&drop(DropReason::Inspected, DropPoint::Dequeue, left, 10));
        });
        monitor.on_drop(&drop(DropReason::Congestion, DropPoint::Dequeue, 1, 10));
        monitor.on_dequeue(queued(0), Span::from_millis(24), ms(24));
        let told = told(&mut monitor, ms(100));
        assert_eq!(told("flowmon_queue_packets"), (28.0 + 21.0) / 13.0);
        assert_eq!(told("flowmon_queue_with_zeros_packets"), (28.0 + 21.0) / 14.0);
        assert_eq!(told("flowmon_sojourn_ms"), (6.0 * 10.0 + 24.0) / 7.0);
        // Properly, only what leaves has a sojourn time.
        assert_eq!(told("all_queues_sojourn_mean_ms"), 24.0);
    }

    #[test]
    fn queues_and_sojourn_times_leave_out_zeros_and_the_mean_over_time_does_not() {
        let mut monitor = FlowMonitor::default();
        monitor.on_enqueue(queued(1), ms(0));
        monitor.on_enqueue(queued(2), ms(10));
        monitor.on_dequeue(queued(1), Span::from_micros(14_700), ms(20));
        monitor.on_dequeue(queued(0), Span::from_micros(900), ms(30));
        let told = told(&mut monitor, ms(100));
        assert_eq!(
            (told("flowmon_queue_packets"), told("flowmon_queue_with_zeros_packets")),
            (4.0 / 3.0, 1.0)
        );
        assert_eq!(told("flowmon_sojourn_ms"), 14.0);
        // 10 ms of one, 10 of two, 10 of one, in 100.
        assert!((told("all_queues_mean_packets") - 0.4).abs() < 1e-12);
    }
}
