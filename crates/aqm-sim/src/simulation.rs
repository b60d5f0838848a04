//! The event loop: packets move from link to link, endpoints answer, the metrics look on.

use crate::engine::{EventQueue, Kind, Target};
use crate::link::{Device, Impairment, InFlight, Lane, Link, NONE, Special, TraceDevice};
use crate::link_trace::OPPORTUNITY_BYTES;
use crate::metrics::Metrics;
use crate::network::{Capacity, LinkId, Network, NodeId, Queue};
use crate::packet::{Packet, PacketId, Role, Slab};
use crate::report::{Monitor, RunError};
use crate::traffic::Paced;
use crate::transport::{Acknowledgment, Receiver, Sender, Settings};
use aqm_core::discipline;
use aqm_core::packet::{Ecn, Packet as Metadata, TcpView};
use aqm_core::random::Random;
use aqm_core::signal::{DropPoint, DropReason, MarkReason, Observer};
use aqm_core::spec::SpecError;
use aqm_core::units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// End of a route.
const END: u32 = u32::MAX;
/// Feeder of a link that hosts, or several links, send to.
const HOST: u32 = NONE - 1;
/// Events between two looks at the monitor.
const MONITOR_PERIOD: u64 = 1 << 16;
const TCP: u8 = 6;
/// The ACK flag, set on every segment of an established connection.
const TCP_ACK: u8 = 16;

/// Clock events, by index.
const SAMPLE: u32 = 0;
const WARMUP: u32 = 1;

/// A running simulation.
pub(crate) struct Simulation {
    now: Time,
    events: EventQueue,
    pub(crate) slab: Slab,
    pub(crate) links: Vec<Link>,
    /// Where each link ends.
    ends: Vec<NodeId>,
    /// One lane for each link, then those that like links share.
    lanes: Vec<Lane>,
    routes: Vec<u32>,
    pub(crate) flows: Vec<Flow>,
    replays: Vec<Replay>,
    pub(crate) metrics: Metrics,
    pub(crate) handled: u64,
    overhead: u32,
    sample_period: Span,
    pub(crate) bottleneck: LinkId,
}

/// One flow: where it goes, what it carries, both ends of it.
pub(crate) struct Flow {
    forward: u32,
    reverse: u32,
    identity: Identity,
    /// Bytes of a data packet's IP and transport headers.
    headers: u32,
    /// Bytes of an acknowledgment without SACK blocks.
    ack_bytes: u32,
    pub(crate) endpoints: Endpoints,
    source: Option<Paced>,
    /// Bytes that the source hands over at a time.
    piece: u32,
    pub(crate) start: Time,
    /// Payload of a finite flow.
    pub(crate) size: Option<u64>,
    pub(crate) finished: Option<Time>,
    sender_timer: Time,
    receiver_timer: Time,
}

/// What a discipline sees of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) hash: u64,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    pub(crate) class: u16,
    pub(crate) dscp: u8,
    pub(crate) protocol: u8,
}

/// Both ends of a flow.
pub(crate) enum Endpoints {
    /// A TCP connection.
    Tcp(Box<Connection>),
    /// Datagrams.
    Datagrams,
}

/// Both ends of a TCP connection, side by side in memory.
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
}

/// What a flow is made of.
pub(crate) struct FlowSetup<'a> {
    pub(crate) group: usize,
    pub(crate) forward: &'a [LinkId],
    pub(crate) reverse: &'a [LinkId],
    pub(crate) propagation: Span,
    pub(crate) identity: Identity,
    pub(crate) tcp: Option<&'a Settings>,
    pub(crate) headers: u32,
    pub(crate) source: Option<Paced>,
    pub(crate) piece: u32,
    pub(crate) start: Time,
    pub(crate) size: Option<u64>,
}

/// Recorded packets, in order of time, and how far they have been sent.
pub(crate) struct Replay {
    pub(crate) packets: Vec<Recorded>,
    pub(crate) next: usize,
    pub(crate) start: Time,
}

/// A recorded packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub(crate) at: Span,
    pub(crate) flow: u32,
    pub(crate) ip_length: u32,
    pub(crate) payload: u32,
    pub(crate) ecn: Ecn,
    pub(crate) tcp: Option<TcpView>,
}

/// What is dropped goes back into the slab.
struct Watch<'a> {
    slab: &'a mut Slab,
    metrics: Option<&'a mut Metrics>,
    now: Time,
}

impl Observer for Watch<'_> {
    fn on_drop(&mut self, packet: Metadata, reason: DropReason, _point: DropPoint) {
        let id = packet.cookie as PacketId;
        if let Some(metrics) = &mut self.metrics {
            metrics.on_drop(self.slab[id].flow, packet.length, reason, self.now);
        }
        self.slab.remove(id);
    }

    fn on_mark(&mut self, packet: &Metadata, _reason: MarkReason) {
        if let Some(metrics) = &mut self.metrics {
            metrics.on_mark(self.slab[packet.cookie as PacketId].flow);
        }
    }
}

impl Simulation {
    /// An empty simulation of `network`, measuring the queue of `bottleneck`.
    pub(crate) fn new(
        network: &Network,
        bottleneck: LinkId,
        metrics: Metrics,
        overhead: u32,
        seed: u64,
    ) -> Result<Simulation, SpecError> {
        let mut links = Vec::with_capacity(network.links.len());
        for (id, spec) in network.links.iter().enumerate() {
            let mut special = Special::default();
            let name = network.link_name(id);
            if spec.loss > 0.0 || spec.jitter > Span::ZERO {
                let random = Random::stream(seed, &format!("{name} impairment"));
                let (loss, jitter) = (spec.loss, spec.jitter);
                special.impairment = Some(Impairment { loss, jitter, random, alone: 0 });
            }
            if let Queue::Discipline { spec: aqm, ring_packets, random } = &spec.queue {
                let served = discipline::Link { rate: spec.capacity.mean_rate(), mtu: 1500 + overhead };
                let qdisc = aqm.build(served, Random::stream(seed, random))?;
                let trace = match &spec.capacity {
                    Capacity::Rate(_) => None,
                    Capacity::Trace(trace) => {
                        Some(TraceDevice { cursor: trace.cursor(), budget: 0, sending: None })
                    }
                };
                special.device = Some(Device {
                    wakes: qdisc.wakes(),
                    qdisc,
                    ring: VecDeque::new(),
                    ring_packets: *ring_packets,
                    busy: false,
                    wake_at: Time::MAX,
                    trace,
                    measured: id == bottleneck,
                });
            }
            let mut link = Link::new(&spec.capacity, spec.delay);
            if special.device.is_some() || special.impairment.is_some() {
                link.special = Some(Box::new(special));
            }
            links.push(link);
        }
        Ok(Simulation {
            now: Time::ZERO,
            events: EventQueue::default(),
            slab: Slab::default(),
            links,
            ends: network.links.iter().map(|link| link.to).collect(),
            lanes: Vec::new(),
            routes: Vec::new(),
            flows: Vec::new(),
            replays: Vec::new(),
            metrics,
            handled: 0,
            overhead,
            sample_period: Span::MAX,
            bottleneck,
        })
    }

    /// Adds a flow.
    pub(crate) fn add_flow(&mut self, setup: FlowSetup<'_>) -> u32 {
        let forward = self.add_route(setup.forward);
        let reverse = self.add_route(setup.reverse);
        self.metrics.add_flow(setup.group, setup.propagation);
        let endpoints = match setup.tcp {
            None => Endpoints::Datagrams,
            Some(tcp) => {
                let delack = Span::from_nanos(tcp.delack_ns);
                let receiver = Receiver::new(tcp.sack, tcp.delack_segments, delack);
                Endpoints::Tcp(Box::new(Connection { sender: Sender::new(tcp), receiver }))
            }
        };
        self.flows.push(Flow {
            forward,
            reverse,
            identity: setup.identity,
            headers: setup.headers,
            ack_bytes: setup.headers,
            endpoints,
            source: setup.source,
            piece: setup.piece,
            start: setup.start,
            size: setup.size,
            finished: None,
            sender_timer: Time::MAX,
            receiver_timer: Time::MAX,
        });
        (self.flows.len() - 1) as u32
    }

    /// Adds a replay of recorded packets.
    pub(crate) fn add_replay(&mut self, replay: Replay) {
        self.replays.push(replay);
    }

    fn add_route(&mut self, links: &[LinkId]) -> u32 {
        let start = self.routes.len() as u32;
        for (position, &link) in links.iter().enumerate() {
            let feeder = if position == 0 { HOST } else { links[position - 1] as u32 };
            let fed_by = &mut self.links[link].fed_by;
            *fed_by = if *fed_by == NONE || *fed_by == feeder { feeder } else { HOST };
            self.routes.push(link as u32);
        }
        self.routes.push(END);
        start
    }

    /// Runs until `end`, measuring from `warmup` and sampling every `sample` nanoseconds.
    pub(crate) fn run(
        &mut self,
        end: Time,
        warmup: Time,
        sample: Span,
        monitor: &Monitor,
    ) -> Result<(), RunError> {
        self.settle_links();
        self.sample_period = sample;
        for flow in 0..self.flows.len() {
            self.events.push(self.flows[flow].start, Target::new(Kind::Source, flow as u32));
        }
        for (index, replay) in self.replays.iter().enumerate() {
            if let Some(first) = replay.packets.first() {
                let target = Target::new(Kind::Source, (self.flows.len() + index) as u32);
                self.events.push(replay.start + first.at, target);
            }
        }
        for link in 0..self.links.len() {
            self.arm_wakeup(link);
        }
        self.events.push(Time::ZERO + sample, Target::new(Kind::Clock, SAMPLE));
        if warmup > Time::ZERO {
            self.events.push(warmup, Target::new(Kind::Clock, WARMUP));
        }
        while let Some((time, target)) = self.events.peek() {
            if time > end {
                break;
            }
            self.now = time;
            self.handled += 1;
            if self.handled.is_multiple_of(MONITOR_PERIOD) && !monitor.report(time.as_nanos()) {
                return Err(RunError::Cancelled);
            }
            let index = target.index();
            let again = match target.kind() {
                Kind::Arrival => self.on_arrival(index),
                Kind::Free => self.serve(index),
                Kind::SenderTimer => self.on_sender_timer(index),
                Kind::ReceiverTimer => self.on_receiver_timer(index),
                Kind::Source => self.on_source(index),
                Kind::Wake => self.on_wakeup(index),
                Kind::Alone => self.on_lone_arrival(index as PacketId),
                Kind::Clock => self.on_clock(index as u32)?,
            };
            match again {
                Some(time) => self.events.replace(time, target),
                None => self.events.pop(),
            }
        }
        self.now = end;
        self.metrics.queue.advance(end);
        monitor.report(end.as_nanos());
        self.check()
    }

    /// A plain link without impairment that is fed by one other link alone, in order, needs no event of its own: when
    /// a packet leaves the feeder, its arrival at the far end is known.
    fn settle_links(&mut self) {
        for link in 0..self.links.len() {
            let this = &self.links[link];
            let shares = self.links.get(this.fed_by as usize).is_some_and(|feeder| {
                let impairment = feeder.special.as_ref().and_then(|special| special.impairment.as_ref());
                this.special.is_none() && impairment.is_none_or(|i| i.jitter == Span::ZERO)
            });
            if !shares {
                self.links[link].fed_by = NONE;
            }
        }
        self.lanes = vec![Lane::default(); self.links.len()];
        let mut shared = BTreeMap::new();
        for (link, end) in self.links.iter_mut().zip(&self.ends) {
            link.lane = *shared.entry(link.likeness(*end)).or_insert_with(|| {
                self.lanes.push(Lane::default());
                (self.lanes.len() - 1) as u32
            });
        }
    }

    // Links

    /// The first packet in flight on a lane has arrived.
    fn on_arrival(&mut self, lane: usize) -> Option<Time> {
        let (packet, again) = self.lanes[lane].land()?;
        self.links[packet.link as usize].balance -= 1;
        self.forward(packet.id);
        again
    }

    /// A packet that travels alone has arrived.
    fn on_lone_arrival(&mut self, id: PacketId) -> Option<Time> {
        let link = self.routes[self.slab[id].next as usize - 1] as usize;
        self.links[link].balance -= 1;
        if let Some(impairment) = self.links[link].impairment_mut() {
            impairment.alone -= 1;
        }
        self.forward(id);
        None
    }

    /// Sends a packet on its next link, or to its endpoint.
    fn forward(&mut self, id: PacketId) {
        let packet = &mut self.slab[id];
        let next = self.routes[packet.next as usize];
        if next == END {
            return self.deliver(id);
        }
        packet.next += 1;
        let (link, length) = (next as usize, packet.length);
        let this = &mut self.links[link];
        this.balance += 1;
        if this.device().is_some() {
            return self.enqueue(link, id);
        }
        let out = this.serialise(length, self.now);
        self.depart(link, id, out);
    }

    /// The last bit of a packet leaves `link` at `out`.
    fn depart(&mut self, mut link: LinkId, id: PacketId, out: Time) {
        let links = self.links.as_mut_slice();
        let this = &mut links[link];
        let mut at = out + this.delay;
        if let Some(impairment) = this.impairment_mut() {
            if impairment.loss > 0.0 && impairment.random.uniform() < impairment.loss {
                this.balance -= 1;
                return self.slab.remove(id);
            }
            if impairment.jitter > Span::ZERO {
                at += Span::from_nanos(impairment.random.below(impairment.jitter.as_nanos() + 1));
                impairment.alone += 1;
                return self.events.push(at, Target::new(Kind::Alone, id));
            }
        }
        let packet = &mut self.slab[id];
        // The route is at hand: as far as links share this one's event, the packet goes on at once.
        while let Some(following) = links.get_mut(self.routes[packet.next as usize] as usize)
            && following.fed_by == link as u32
        {
            following.balance += 1;
            at = following.serialise(packet.length, at) + following.delay;
            links[link].balance -= 1;
            link = self.routes[packet.next as usize] as usize;
            packet.next += 1;
        }
        let shared = links[link].lane as usize;
        let lane = if self.lanes[shared].admits(at) { shared } else { link };
        if self.lanes[lane].launch(InFlight { at, id, link: link as u32 }) {
            self.events.push(at, Target::new(Kind::Arrival, lane as u32));
        }
    }

    /// A packet arrives at a link with a discipline.
    fn enqueue(&mut self, link: LinkId, id: PacketId) {
        let (packet, now) = (&self.slab[id], self.now);
        let flow = &self.flows[packet.flow as usize];
        let identity = &flow.identity;
        let back = packet.role == Role::Ack;
        let metadata = Metadata {
            cookie: u64::from(id),
            flow: if back { !identity.hash } else { identity.hash },
            arrival: now,
            source: if back { identity.destination } else { identity.source },
            destination: if back { identity.source } else { identity.destination },
            length: packet.length,
            tcp: (identity.protocol == TCP).then_some(TcpView {
                seq: if back { 0 } else { packet.number as u32 },
                ack: if back { packet.number as u32 } else { packet.sack[0].0 },
                payload: packet.payload as u16,
                flags: packet.flags,
                has_sack: packet.sack_count > 0,
            }),
            class: identity.class,
            dscp: identity.dscp,
            ecn: packet.ecn,
            protocol: identity.protocol,
        };
        let device = self.links[link].device_mut().expect("only links with a device queue");
        let measured = device.measured;
        if measured {
            self.metrics.on_arrival(packet.flow, packet.length, now);
        }
        let metrics = measured.then_some(&mut self.metrics);
        let mut watch = Watch { slab: &mut self.slab, metrics, now };
        device.qdisc.enqueue(metadata, now, &mut watch);
        if measured {
            self.metrics.after_arrival();
        }
        if !device.busy {
            if let Some(free) = self.serve(link) {
                self.events.push(free, Target::new(Kind::Free, link as u32));
            }
        } else if device.ring_packets > 1 {
            self.fill_ring(link);
        }
        self.arm_wakeup(link);
    }

    /// The link can take a packet; answers when it can take the next one.
    fn serve(&mut self, link: LinkId) -> Option<Time> {
        if self.links[link].device()?.trace.is_some() {
            return self.serve_opportunity(link);
        }
        let id = self.next_packet(link);
        let this = &mut self.links[link];
        this.device_mut()?.busy = id.is_some();
        let id = id?;
        let out = self.now + this.serialisation(self.slab[id].length);
        let this = self.links[link].device()?;
        let (ring, wakes) = (this.ring_packets > 1, this.wakes);
        self.depart(link, id, out);
        if ring {
            self.fill_ring(link);
        }
        if wakes {
            self.arm_wakeup(link);
        }
        Some(out)
    }

    /// One delivery opportunity: what it carries leaves now, and what it has left stays while packets wait.
    fn serve_opportunity(&mut self, link: LinkId) -> Option<Time> {
        let now = self.now;
        let device = self.links[link].device_mut()?;
        let trace = device.trace.as_mut()?;
        if !device.busy {
            // Opportunities that found nobody waiting are gone.
            trace.cursor.skip_to(now);
            device.busy = true;
            return Some(trace.cursor.peek());
        }
        trace.cursor.next_opportunity();
        trace.budget += OPPORTUNITY_BYTES.as_u64();
        loop {
            let sending = self.links[link].device_mut()?.trace.as_mut()?.sending.take();
            let next = sending.or_else(|| {
                let id = self.next_packet(link)?;
                Some((id, u64::from(self.slab[id].length - self.overhead)))
            });
            let trace = self.links[link].device_mut()?.trace.as_mut()?;
            let Some((id, left)) = next else {
                trace.budget = 0;
                self.links[link].device_mut()?.busy = false;
                self.arm_wakeup(link);
                return None;
            };
            if left > trace.budget {
                trace.sending = Some((id, left - trace.budget));
                trace.budget = 0;
                let again = trace.cursor.peek();
                self.fill_ring(link);
                self.arm_wakeup(link);
                return Some(again);
            }
            trace.budget -= left;
            self.depart(link, id, now);
        }
    }

    /// The next packet for the wire: from the ring, else from the discipline.
    fn next_packet(&mut self, link: LinkId) -> Option<PacketId> {
        match self.links[link].device_mut()?.ring.pop_front() {
            Some(id) => Some(id),
            None => self.dequeue(link),
        }
    }

    /// Lets the device take packets ahead of the wire.
    fn fill_ring(&mut self, link: LinkId) {
        loop {
            let Some(device) = self.links[link].device() else { return };
            if device.ring.len() + 1 >= device.ring_packets as usize {
                return;
            }
            let Some(id) = self.dequeue(link) else { return };
            if let Some(device) = self.links[link].device_mut() {
                device.ring.push_back(id);
            }
        }
    }

    /// Takes a packet from the discipline.
    fn dequeue(&mut self, link: LinkId) -> Option<PacketId> {
        let now = self.now;
        let device = self.links[link].device_mut()?;
        let metrics = device.measured.then_some(&mut self.metrics);
        let mut watch = Watch { slab: &mut self.slab, metrics, now };
        let metadata = device.qdisc.dequeue(now, &mut watch)?;
        let id = metadata.cookie as PacketId;
        self.slab[id].ecn = metadata.ecn;
        if device.measured {
            let (flow, length) = (self.slab[id].flow, metadata.length);
            let sojourn = now.since(metadata.arrival);
            self.metrics.on_departure(flow, length, length - self.overhead, sojourn, now);
        }
        Some(id)
    }

    fn on_wakeup(&mut self, link: LinkId) -> Option<Time> {
        let now = self.now;
        let device = self.links[link].device_mut()?;
        if device.wake_at != now {
            return None;
        }
        device.wake_at = Time::MAX;
        let metrics = device.measured.then_some(&mut self.metrics);
        let mut watch = Watch { slab: &mut self.slab, metrics, now };
        device.qdisc.wake(now, &mut watch);
        if !device.busy
            && device.qdisc.backlog().packets > 0
            && let Some(free) = self.serve(link)
        {
            self.events.push(free, Target::new(Kind::Free, link as u32));
        }
        self.arm_wakeup(link);
        None
    }

    /// Makes sure that an event stands for the discipline's next wake-up.
    fn arm_wakeup(&mut self, link: LinkId) {
        let Some(device) = self.links[link].device_mut() else { return };
        if !device.wakes {
            return;
        }
        if let Some(at) = device.qdisc.next_wakeup()
            && at < device.wake_at
        {
            device.wake_at = at.max(self.now);
            self.events.push(device.wake_at, Target::new(Kind::Wake, link as u32));
        }
    }

    // Endpoints

    /// A packet has reached the end of its route.
    fn deliver(&mut self, id: PacketId) {
        let packet = self.slab[id];
        self.slab.remove(id);
        let (number, now) = (packet.flow as usize, self.now);
        let flow = &mut self.flows[number];
        match (packet.role, &mut flow.endpoints) {
            (Role::Data, Endpoints::Tcp(connection)) => {
                let receiver = &mut connection.receiver;
                self.metrics.on_delivery(packet.flow, now.since(packet.stamp));
                let answer = receiver.on_segment(
                    packet.number,
                    packet.payload,
                    packet.stamp,
                    packet.ecn,
                    packet.ecn_flag,
                    now,
                );
                let delivered = receiver.delivered();
                self.metrics.flows[number].payload_total = delivered;
                if flow.finished.is_none() && flow.size.is_some_and(|size| delivered >= size) {
                    flow.finished = Some(now);
                }
                match answer {
                    Some(ack) => self.acknowledge(number, &ack),
                    None => self.arm_receiver(number),
                }
            }
            (Role::Ack, Endpoints::Tcp(connection)) => {
                let ack = Acknowledgment {
                    ack: packet.number,
                    echo: packet.stamp,
                    sack: packet.sack,
                    sack_count: packet.sack_count,
                    ece: packet.ecn_flag,
                };
                connection.sender.on_ack(&ack, now);
                self.pump(number);
            }
            _ => {
                self.metrics.on_delivery(packet.flow, now.since(packet.stamp));
                self.metrics.flows[number].payload_total += u64::from(packet.payload);
            }
        }
    }

    /// Sends what the sender may send now.
    fn pump(&mut self, number: usize) {
        let now = self.now;
        loop {
            let flow = &mut self.flows[number];
            let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
            let Some(sent) = connection.sender.poll(now) else { break };
            let packet = Packet {
                flow: number as u32,
                next: flow.forward,
                length: sent.payload + flow.headers + self.overhead,
                payload: sent.payload,
                stamp: now,
                number: sent.seq,
                role: Role::Data,
                flags: TCP_ACK,
                ecn: if sent.ect { Ecn::Ect0 } else { Ecn::NotEct },
                ecn_flag: sent.cwr,
                ..Packet::default()
            };
            let id = self.slab.insert(packet);
            self.forward(id);
        }
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &flow.endpoints else { return };
        if let Some(deadline) = connection.sender.deadline()
            && deadline < flow.sender_timer
        {
            flow.sender_timer = deadline;
            self.events.push(deadline, Target::new(Kind::SenderTimer, number as u32));
        }
    }

    /// Sends an acknowledgment back.
    fn acknowledge(&mut self, number: usize, ack: &Acknowledgment) {
        let flow = &self.flows[number];
        // RFC 2018 section 3: two bytes and eight for each block, padded to a multiple of four.
        let sack_bytes = if ack.sack_count == 0 { 0 } else { 4 + 8 * u32::from(ack.sack_count) };
        let packet = Packet {
            flow: number as u32,
            next: flow.reverse,
            length: flow.ack_bytes + sack_bytes + self.overhead,
            number: ack.ack,
            stamp: ack.echo,
            sack: ack.sack,
            sack_count: ack.sack_count,
            role: Role::Ack,
            flags: TCP_ACK,
            ecn_flag: ack.ece,
            ..Packet::default()
        };
        let id = self.slab.insert(packet);
        self.forward(id);
    }

    /// One event stands for the timer; a deadline that has moved later is looked up again when it fires.
    fn arm_receiver(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &flow.endpoints else { return };
        if let Some(deadline) = connection.receiver.deadline()
            && deadline < flow.receiver_timer
        {
            flow.receiver_timer = deadline;
            self.events.push(deadline, Target::new(Kind::ReceiverTimer, number as u32));
        }
    }

    fn on_sender_timer(&mut self, number: usize) -> Option<Time> {
        let flow = &mut self.flows[number];
        if flow.sender_timer != self.now {
            return None;
        }
        flow.sender_timer = Time::MAX;
        if let Endpoints::Tcp(connection) = &mut flow.endpoints {
            connection.sender.on_timer(self.now);
        }
        self.pump(number);
        None
    }

    fn on_receiver_timer(&mut self, number: usize) -> Option<Time> {
        let flow = &mut self.flows[number];
        if flow.receiver_timer != self.now {
            return None;
        }
        flow.receiver_timer = Time::MAX;
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return None };
        match connection.receiver.on_timer(self.now) {
            Some(ack) => self.acknowledge(number, &ack),
            None => self.arm_receiver(number),
        }
        None
    }

    /// A source has something to send.
    fn on_source(&mut self, index: usize) -> Option<Time> {
        if index >= self.flows.len() {
            return self.on_replay(index - self.flows.len());
        }
        let now = self.now;
        let flow = &mut self.flows[index];
        let Some(source) = &mut flow.source else {
            if let Endpoints::Tcp(connection) = &mut flow.endpoints {
                connection.sender.write(flow.size.unwrap_or(u64::MAX));
            }
            self.pump(index);
            return None;
        };
        let again = now + source.next_gap();
        match &mut flow.endpoints {
            Endpoints::Tcp(connection) => {
                connection.sender.write(u64::from(flow.piece));
                self.pump(index);
            }
            Endpoints::Datagrams => {
                let ip_length = flow.piece;
                let payload = ip_length - flow.headers;
                let recorded = Recorded {
                    at: Span::ZERO,
                    flow: index as u32,
                    ip_length,
                    payload,
                    ecn: Ecn::NotEct,
                    tcp: None,
                };
                self.send_datagram(recorded);
            }
        }
        Some(again)
    }

    fn on_replay(&mut self, index: usize) -> Option<Time> {
        let replay = &mut self.replays[index];
        let recorded = replay.packets[replay.next];
        replay.next += 1;
        let again = replay.packets.get(replay.next).map(|next| replay.start + next.at);
        self.send_datagram(recorded);
        again
    }

    /// Sends what nothing reacts to.
    fn send_datagram(&mut self, datagram: Recorded) {
        let tcp = datagram.tcp.as_ref();
        let packet = Packet {
            flow: datagram.flow,
            next: self.flows[datagram.flow as usize].forward,
            length: datagram.ip_length + self.overhead,
            payload: datagram.payload,
            stamp: self.now,
            number: tcp.map_or(0, |tcp| u64::from(tcp.seq)),
            // A recorded segment's acknowledgment number has no other place: its blocks are not replayed.
            sack: [(tcp.map_or(0, |tcp| tcp.ack), 0), (0, 0), (0, 0)],
            flags: tcp.map_or(0, |tcp| tcp.flags),
            sack_count: tcp.map_or(0, |tcp| u8::from(tcp.has_sack)),
            role: Role::Datagram,
            ecn: datagram.ecn,
            ..Packet::default()
        };
        let id = self.slab.insert(packet);
        self.forward(id);
    }

    // Clock and checks

    fn on_clock(&mut self, index: u32) -> Result<Option<Time>, RunError> {
        if index == WARMUP {
            self.metrics.restart(self.now);
            for flow in &mut self.flows {
                if let Endpoints::Tcp(connection) = &mut flow.endpoints {
                    connection.sender.forget();
                }
            }
            self.check()?;
            return Ok(None);
        }
        let mut probes = Vec::new();
        if let Some(device) = self.links[self.bottleneck].device() {
            device.qdisc.probe(self.now, &mut |name, value| probes.push((name.to_owned(), value)));
        }
        let windows = self.flows.iter().map(|flow| match &flow.endpoints {
            Endpoints::Tcp(connection) => Some(connection.sender.cwnd()),
            Endpoints::Datagrams => None,
        });
        self.metrics.sample(self.now, self.sample_period, &probes, windows);
        self.check_bottleneck()?;
        Ok(Some(self.now + self.sample_period))
    }

    /// Packets and bytes are conserved at the bottleneck, and the metrics' backlog is the discipline's own.
    fn check_bottleneck(&self) -> Result<(), RunError> {
        let fail = |what: String| Err(RunError::Check(format!("at {}: {what}", self.now)));
        let Some(device) = self.links[self.bottleneck].device() else { return Ok(()) };
        if let Err(violation) = device.qdisc.check() {
            return fail(violation.to_string());
        }
        let (queue, backlog) = (&self.metrics.queue, device.qdisc.backlog());
        if (queue.packets, queue.bytes) != (backlog.packets, backlog.bytes) {
            return fail(format!("the metrics and the discipline disagree about the backlog, {backlog:?}"));
        }
        Ok(())
    }

    /// Packets are conserved at every link, and none was faster than propagation.
    fn check(&self) -> Result<(), RunError> {
        self.check_bottleneck()?;
        let fail = |what: String| Err(RunError::Check(format!("at {}: {what}", self.now)));
        let mut in_flight = vec![0_u64; self.links.len()];
        for packet in self.lanes.iter().flat_map(Lane::packets) {
            in_flight[packet.link as usize] += 1;
        }
        let mut alive = 0;
        for (number, (link, mut inside)) in self.links.iter().zip(in_flight).enumerate() {
            let mut dropped = 0;
            if let Some(special) = &link.special {
                inside += special.impairment.as_ref().map_or(0, |impairment| impairment.alone);
                if let Some(device) = &special.device {
                    let sending = device.trace.as_ref().is_some_and(|trace| trace.sending.is_some());
                    let waiting = device.qdisc.backlog().packets + device.ring.len() as u64;
                    inside += waiting + u64::from(sending);
                    dropped = device.qdisc.counters().dropped_total();
                }
            }
            if link.balance != dropped + inside {
                let balance = link.balance;
                return fail(format!(
                    "link {number} does not conserve packets: {balance} more went in than came out, but {dropped} were dropped and {inside} are inside"
                ));
            }
            alive += inside;
        }
        if alive != self.slab.alive() as u64 {
            return fail(format!("{} packets exist, but {alive} are somewhere", self.slab.alive()));
        }
        if let Some(flow) = self.metrics.too_fast {
            return fail(format!("flow {flow} has packets faster than its propagation delay"));
        }
        Ok(())
    }
}
