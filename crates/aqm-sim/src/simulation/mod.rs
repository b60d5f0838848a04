//! The event loop: packets move from link to link, endpoints answer, the metrics look on.

mod applications;
mod endpoints;
mod flow;
mod links;

pub(crate) use applications::User;
pub(crate) use flow::{Endpoints, Flow, FlowSetup, Identity, Label, Recorded, Replay, Way};

use crate::engine::{EventQueue, Kind, Target};
use crate::link::{Device, Impairment, Lane, Link, Medium, NONE, Special, TraceDevice};
use crate::metrics::Metrics;
use crate::network::{Capacity, LinkId, Network, NodeId, Queue};
use crate::packet::{PacketId, Slab};
use crate::report::{Monitor, RunError};
use crate::traffic::Wish;
use crate::transport::{Receiver, Sender};
use aqm_core::discipline;
use aqm_core::packet::Packet as Metadata;
use aqm_core::random::Random;
use aqm_core::signal::{DropPoint, DropReason, MarkReason, Observer};
use aqm_core::spec::SpecError;
use aqm_core::units::{Span, Time};
use flow::{Connection, ENDLESS, Session};
use std::collections::{BTreeMap, VecDeque};

/// End of a route.
const END: u32 = u32::MAX;
/// Feeder of a link that hosts, or several links, send to.
const HOST: u32 = NONE - 1;
/// Events between two looks at the monitor.
const MONITOR_PERIOD: u64 = 1 << 16;

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
    media: Vec<Medium>,
    pub(crate) users: Vec<User>,
    /// Room for an application's wishes, kept for the next.
    wishes: Vec<Wish>,
    pub(crate) metrics: Metrics,
    pub(crate) handled: u64,
    overhead: u32,
    sample_period: Span,
    pub(crate) bottleneck: LinkId,
}

/// What is dropped goes back into the slab.
struct Watch<'a> {
    slab: &'a mut Slab,
    metrics: &'a mut Metrics,
    /// Whether it is the measured queue that is watched.
    measured: bool,
    now: Time,
}

impl Observer for Watch<'_> {
    fn on_drop(&mut self, packet: Metadata, reason: DropReason, _point: DropPoint) {
        let id = packet.cookie as PacketId;
        let dropped = &self.slab[id];
        if dropped.is_counted() {
            self.metrics.on_loss(dropped.flow);
        }
        if self.measured {
            self.metrics.on_drop(dropped.flow, packet.length, reason, self.now);
        }
        self.slab.remove(id);
    }

    fn on_mark(&mut self, packet: &Metadata, _reason: MarkReason) {
        if self.measured {
            self.metrics.on_mark(self.slab[packet.cookie as PacketId].flow);
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
        let mut media: Vec<Medium> = Vec::new();
        let mut links = Vec::with_capacity(network.links.len());
        for (id, spec) in network.links.iter().enumerate() {
            let mut special = Special::default();
            let name = network.link_name(id);
            if spec.loss > 0.0 || spec.jitter > Span::ZERO {
                let random = Random::stream(seed, &format!("{name} impairment"));
                let (loss, jitter) = (spec.loss, spec.jitter);
                special.impairment = Some(Impairment { loss, jitter, random, alone: 0 });
            }
            if let Queue::Discipline { spec: aqm, ring_packets, random, medium } = &spec.queue {
                if let Some(medium) = medium {
                    media.resize_with(media.len().max(*medium as usize + 1), Medium::default);
                }
                let served =
                    discipline::Link { rate: spec.capacity.mean_rate(), mtu: 1500 + overhead, overhead };
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
                    medium: *medium,
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
            media,
            users: Vec::new(),
            wishes: Vec::new(),
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
        self.metrics.add_flow(setup.group, setup.propagation, setup.back);
        let endpoints = match setup.tcp {
            None => Endpoints::Datagrams,
            Some((tcp, random)) => Endpoints::Tcp(Box::new(Connection {
                sender: Sender::new(tcp, random),
                receiver: Receiver::new(tcp),
                sender_timer: Time::MAX,
                paced: false,
                receiver_timer: Time::MAX,
            })),
        };
        self.flows.push(Flow {
            endpoints,
            identity: setup.identity,
            forward,
            reverse,
            headers: setup.headers,
            piece: setup.piece,
            awaited: setup.size.unwrap_or(ENDLESS),
            session: Box::new(Session {
                source: setup.source,
                user: None,
                written: 0,
                size: setup.size.unwrap_or(ENDLESS),
                start: setup.start,
                finished: None,
            }),
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
        for (number, flow) in self.flows.iter().enumerate().filter(|(_, flow)| flow.session.user.is_none()) {
            self.events.push(flow.session.start, Target::new(Kind::Source, number as u32));
        }
        for (index, replay) in self.replays.iter().enumerate() {
            if let Some(first) = replay.packets.first() {
                let target = Target::new(Kind::Source, (self.flows.len() + index) as u32);
                self.events.push(replay.start + first.at, target);
            }
        }
        self.start_users();
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
                Kind::Free => self.on_free(index),
                Kind::SenderTimer => self.on_sender_timer(index),
                Kind::ReceiverTimer => self.on_receiver_timer(index),
                Kind::Source => self.on_source(index),
                Kind::Wake => self.on_wakeup(index),
                Kind::Alone => self.on_lone_arrival(index as PacketId),
                Kind::Clock => self.on_clock(index as u32)?,
                Kind::Pace => self.on_pace(index),
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

    fn on_clock(&mut self, index: u32) -> Result<Option<Time>, RunError> {
        if index == WARMUP {
            self.metrics.restart(self.now);
            self.users.iter_mut().for_each(|user| user.application.forget(self.now));
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
        let senders: Vec<_> = self.flows.iter().map(|flow| flow.endpoints.state()).collect();
        self.metrics.sample(self.now, self.sample_period, &probes, &senders);
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
