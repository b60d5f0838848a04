//! Queue disciplines. One file is one AQM: a law, a queue and parameters, combined.
//!
//! To add one, copy the most similar file, and add its `mod` line below and its entry in [`crate::registry`].

pub mod afd;
pub mod aifo;
pub mod airtime_fq;
pub mod ared;
pub mod blue;
pub mod cake;
pub mod choke;
mod classful;
pub mod cobalt;
pub mod codel;
pub mod daqm;
pub mod dctcp_step;
pub mod docsis_pie;
pub mod drr;
pub mod dualpi2;
mod early;
pub mod ecn_ramp;
pub mod ets;
#[cfg(test)]
#[path = "../../tests/example/coin.rs"]
pub mod example;
#[cfg(test)]
#[path = "../../tests/example/tests.rs"]
mod example_tests;
pub mod feng_ared;
pub mod fifo;
mod flow_queueing;
pub mod fq;
pub mod fq_cobalt;
pub mod fq_codel;
pub mod fq_pie;
pub mod l_lru;
pub mod lru_red;
pub mod mq_ecn;
pub mod nlred;
pub mod pfifo_fast;
pub mod pi;
pub mod pi2;
pub mod pie;
pub mod pifo;
pub mod prio;
mod priomap;
pub mod qfq;
mod ranked;
pub mod red;
pub mod rem;
mod reported;
pub mod rr;
pub mod s_pie;
pub mod sfb;
pub mod sfq;
mod sfq_red;
mod sharing;
pub mod single;
pub mod sp;
pub mod sp_pifo;
pub mod sqm_lru;
mod step;
pub mod tcn;
#[cfg(test)]
mod testing;
pub mod wfq;
pub mod wred;
pub mod wrr;

use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Child, ParamError, ParamSpec, Params, Preset, Value};
use crate::sent::Sent;
use crate::units::{Size, Time};
use alloc::boxed::Box;
pub(crate) use classful::TRAITS as OF_CLASSES;

/// A queue discipline.
///
/// Contract, tested for every entry of the registry:
/// - A packet handed to [`enqueue`](Discipline::enqueue) is kept, or dropped with [`Cx::drop`]; it is returned by
///   [`dequeue`](Discipline::dequeue) at most once and never duplicated.
/// - Packets of one flow leave in the order of arrival, unless [`Traits::reorders_within_flow`] says otherwise.
/// - `dequeue` may return `None` with a backlog only if [`next_wakeup`](Discipline::next_wakeup) says when to ask again.
/// - A discipline that serves classes skips those in [`Cx::paused`] and keeps their packets. Any other may return a
///   packet of a paused class: the caller (the shell or a scheduler) holds it, and asks for no other until its class
///   may send. A scheduler with only paused classes returns `None`, and the host asks again when a pause ends. The same
///   holds for packets whose next hop is none of [`Cx::next_hop`].
/// - Time never decreases between calls.
pub trait Discipline: Send {
    /// A packet arrives.
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>);

    /// The link is free: which packet goes next?
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet>;

    /// A transmission to or from a station has ended: those that schedule by airtime account for it. Only hosts with a
    /// shared medium say so.
    fn sent(&mut self, _sent: &Sent, _cx: &mut Cx<'_>) {}

    /// Takes back a packet that it has just released, since the host may not send it now but another of its queues may
    /// send; it leaves first when it may. One that has a single queue refuses: the host keeps the packet, and the rest waits.
    fn put_back(&mut self, packet: Packet) -> Option<Packet> {
        Some(packet)
    }

    /// Gives up a packet, since another class needs its room: the one that is missed least, which is lost with it.
    /// `None` if it has none.
    fn evict(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.dequeue(cx)
    }

    /// The backlog, packets of children included.
    fn backlog(&self) -> Backlog;

    /// What its parts hold together at most, if each has a limit of its own. See [`total`].
    fn parts_limit(&self) -> Option<Size> {
        None
    }

    /// Changes parameters while running. On an error nothing has changed; packets beyond a new limit are dropped
    /// through `cx`.
    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError>;

    /// Drops the whole backlog through `cx`. It ends with it: what comes next is a new one.
    fn purge(&mut self, cx: &mut Cx<'_>);

    /// When [`on_wakeup`](Discipline::on_wakeup) is to be called next. Ask after every call if [`Traits::wakes`] is
    /// set; otherwise it is always `None`.
    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    /// Does the work that is due by now. Spurious calls are harmless.
    fn on_wakeup(&mut self, _cx: &mut Cx<'_>) {}

    /// Reports the law's own variables under the names declared in [`Info::probes`].
    fn probe(&self, _now: Time, _sink: &mut dyn FnMut(&str, f64)) {}

    /// Whether it ever asks its host to send packets ([`Cx::emit`]); children do not count.
    fn emits(&self) -> bool {
        false
    }

    /// Visits the children (of classful schedulers), with the name of each.
    fn children(&self, _visit: &mut dyn FnMut(&str, &dyn Discipline)) {}

    /// Bytes of state beyond queued packets: fixed part, tables and per-flow records.
    fn state_bytes(&self) -> usize;
}

/// The most that `discipline` holds: its `limit`, or that of its parts together if that is less. `None` if neither is
/// known. A limit in packets and one in bytes cannot be compared: then it is its own.
pub fn total(params: &Params, discipline: &dyn Discipline) -> Option<Size> {
    let own = params.iter().find_map(|(param, value)| match value {
        Value::Size(size) if param.name == "limit" => Some(*size),
        _ => None,
    });
    match (own, discipline.parts_limit()) {
        (Some(own), Some(parts)) if own.with_count(parts.count()) == parts => {
            Some(own.with_count(own.count().min(parts.count())))
        }
        (own, parts) => own.or(parts),
    }
}

/// A new discipline, or the relation between its parameters that does not hold.
pub type Built = Result<Box<dyn Discipline>, ParamError>;

/// Builds a child. It is passed to each call, so that disciplines do not depend on the registry.
pub type BuildChild = fn(&Child, &Link) -> Built;

/// What a discipline is built from.
#[derive(Clone, Copy)]
pub struct Blueprint<'a> {
    /// Its declaration.
    pub info: &'static Info,
    /// The values of its parameters.
    pub params: &'a Params,
    /// The link that it feeds.
    pub link: &'a Link,
    /// Builds its children.
    pub build_child: BuildChild,
}

/// One variable that a discipline reports while running.
#[derive(Clone, Copy, Debug)]
pub struct ProbeSpec {
    /// Stable name.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Its meaning.
    pub help: &'static str,
}

/// The group of a discipline, in the order of listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Plain queues.
    Queue,
    /// Laws on the average queue length.
    QueueLength,
    /// Laws on delay.
    Delay,
    /// Flow queueing and flow-aware laws.
    Flow,
    /// Schedulers over classes of packets.
    Class,
    /// Schedulers over stations of a shared medium.
    Station,
}

impl Group {
    /// Title in listings.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Queue => "Plain queues",
            Group::QueueLength => "By queue length",
            Group::Delay => "By delay",
            Group::Flow => "By flow",
            Group::Class => "By class",
            Group::Station => "By station",
        }
    }
}

/// Properties that hosts and the conformance tests use.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// Asks for wake-ups: poll [`Discipline::next_wakeup`] after every call.
    pub wakes: bool,
    /// Can mark instead of dropping.
    pub ecn: bool,
    /// Drops packets that are already queued (at the head or inside).
    pub drops_queued: bool,
    /// Packets of different flows may overtake each other.
    pub reorders_flows: bool,
    /// Packets of one flow may overtake each other.
    pub reorders_within_flow: bool,
    /// The law gives no signal while at most this many packets are queued, the arriving one not counted. With zero it
    /// may signal with every packet that had to wait.
    pub quiet_packets: u64,
    /// Bytes kept per flow, zero for disciplines that do not tell flows apart.
    pub flow_state_bytes: usize,
}

/// The declaration of a discipline.
pub struct Info {
    /// Name on the command line; hyphens and underscores are interchangeable on input.
    pub name: &'static str,
    /// Where it is listed.
    pub group: Group,
    /// One line for listings.
    pub summary: &'static str,
    /// Document that defines it.
    pub reference: &'static str,
    /// Parameters.
    pub params: &'static [ParamSpec],
    /// Presets; the first is the default.
    pub presets: &'static [Preset],
    /// Variables that it reports.
    pub probes: &'static [ProbeSpec],
    /// Properties.
    pub traits: Traits,
    /// Where this implementation differs from its reference, and why.
    pub deviations: &'static str,
    /// Builds one, or returns the relation between its parameters that does not hold.
    pub build: fn(Blueprint<'_>) -> Built,
}

impl Info {
    /// The preset of this name.
    pub fn preset(&self, name: &str) -> Option<&'static Preset> {
        self.presets.iter().find(|preset| crate::params::same_name(preset.name, name))
    }
}

/// The limit that most disciplines share: `limit`, 1000 packets by default.
pub const LIMIT: ParamSpec = ParamSpec::new(
    "limit",
    crate::params::Kind::Size,
    crate::params::Value::Size(Size::Packets(1000)),
    (1.0, 1e12),
    "Limit of the queue, in packets or bytes",
    "tc: 1000 packets, Ethernet's default queue length",
);
