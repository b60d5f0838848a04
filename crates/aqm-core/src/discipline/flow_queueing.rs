//! Flow queueing with a law on every flow: the common part of FQ-CoDel and FQ-COBALT (RFC 8290 section 4).

use super::{Discipline, ProbeSpec};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Value};
use crate::queue::{Flow, Flows};
use crate::signal::DropReason;
use crate::sketch::mix;
use crate::units::{Bytes, Size, Time};
use alloc::boxed::Box;

pub(super) const LIMIT: ParamSpec = ParamSpec::new(
    "limit",
    Kind::Size,
    Value::Size(Size::Packets(10_240)),
    (1.0, 1e12),
    "Limit of all flow queues together, in packets or bytes",
    "RFC 8290 section 5.2.3: 10240 packets",
);

pub(super) const MEMORY_LIMIT: ParamSpec = ParamSpec::new(
    "memory_limit",
    Kind::Bytes,
    Value::Bytes(Bytes::new(32 << 20)),
    (1.0, 1e12),
    "Limit of all flow queues together, in bytes",
    "tc-fq_codel(8): 32 MB",
);

pub(super) const FLOWS: ParamSpec = ParamSpec::new(
    "flows",
    Kind::Count,
    Value::Count(1024),
    (1.0, 65_536.0),
    "Flow queues that packets are hashed to",
    "RFC 8290 section 5.2.5: 1024",
);

pub(super) const QUANTUM: ParamSpec = ParamSpec::new(
    "quantum",
    Kind::Bytes,
    Value::Bytes(Bytes::new(1514)),
    (64.0, 1e6),
    "Bytes that a flow may send in a round",
    "RFC 8290 section 5.2.4: 1514 bytes",
);

pub(super) const DROP_BATCH: ParamSpec = ParamSpec::new(
    "drop_batch",
    Kind::Count,
    Value::Count(64),
    (1.0, 1e6),
    "Most packets that a full queue drops at a time",
    "RFC 8290 section 4.1, tc-fq_codel(8): 64",
);

pub(super) const ACTIVE_FLOWS: ProbeSpec =
    ProbeSpec { name: "active_flows", unit: "flows", help: "Flow queues on the lists of DRR++" };

/// A law that looks at the head of a flow.
pub(super) trait FlowLaw: Send + 'static {
    /// State of the law for each flow.
    type State: Clone + Default + Send;

    /// Takes new parameters.
    fn change(&mut self, params: &Params, link: &Link);

    /// A packet of `length` bytes has arrived.
    fn see(&mut self, _length: u32) {}

    /// The next packet of flow `flow`; `None` if there is none, or none remains.
    fn dequeue(&self, flows: &mut Flows<Self::State>, flow: usize, cx: &mut Cx<'_>) -> Option<Packet>;

    /// Flow `flow` had the most bytes when the queue was full.
    fn overflowed(&self, _flows: &mut Flows<Self::State>, _flow: usize, _now: Time) {}
}

struct Settings {
    limit: Size,
    memory_limit: u64,
    quantum: u32,
    drop_batch: u64,
}

/// Flow queues under a law.
pub(super) struct FlowQueueing<L: FlowLaw> {
    flows: Flows<L::State>,
    settings: Settings,
    law: L,
    hash: FlowHash,
    link: Link,
}

/// How a packet is assigned to a flow queue.
#[derive(Default)]
pub(super) struct FlowHash {
    /// Salt, drawn when the first packet arrives.
    perturbation: Option<u64>,
}

impl FlowHash {
    /// The queue of `flow` among `count`.
    #[inline]
    pub(super) fn queue(&mut self, flow: u64, count: usize, cx: &mut Cx<'_>) -> usize {
        let perturbation = *self.perturbation.get_or_insert_with(|| cx.below(u64::MAX));
        ((u128::from(mix(flow ^ perturbation)) * count as u128) >> 64) as usize
    }
}

fn settings(params: &Params) -> Settings {
    Settings {
        limit: params.size("limit").expect("limit has no auto"),
        memory_limit: params.bytes("memory_limit").expect("memory_limit has no auto").as_u64(),
        quantum: params.bytes("quantum").expect("quantum has no auto").as_u64() as u32,
        drop_batch: params.count("drop_batch"),
    }
}

/// Section 4.1: drops from the head of `flow` half of its bytes, or `batch` packets.
pub(super) fn drop_batch<S: Clone + Default>(
    flows: &mut Flows<S>,
    flow: usize,
    batch: u64,
    reason: DropReason,
    cx: &mut Cx<'_>,
) {
    let half = flows.bytes(flow) / 2;
    for _ in 0..batch {
        let Some(packet) = flows.pop(flow) else { break };
        cx.drop(packet, reason);
        if flows.bytes(flow) <= half {
            break;
        }
    }
}

impl<L: FlowLaw> FlowQueueing<L> {
    /// Empty queues under `law`.
    pub(super) fn boxed(params: &Params, link: &Link, law: L) -> Box<dyn Discipline> {
        Box::new(FlowQueueing {
            flows: Flows::new(params.count("flows") as usize),
            settings: settings(params),
            law,
            hash: FlowHash::default(),
            link: *link,
        })
    }

    fn over(&self) -> bool {
        let backlog = self.flows.backlog();
        backlog.exceeds(self.settings.limit) || backlog.bytes > self.settings.memory_limit
    }

    /// Section 4.1: drops from the head of the flow with the most bytes, half of it or a batch, until the limits
    /// are met.
    #[cold]
    fn shrink(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        while self.over() {
            let fattest = self.flows.fattest();
            if reason == DropReason::Overlimit {
                self.law.overflowed(&mut self.flows, fattest, cx.now);
            }
            drop_batch(&mut self.flows, fattest, self.settings.drop_batch, reason, cx);
        }
    }
}

impl<L: FlowLaw> Discipline for FlowQueueing<L> {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let flow = self.hash.queue(packet.flow, self.flows.len(), cx);
        self.law.see(packet.length);
        self.flows.push(flow, packet, self.settings.quantum);
        if self.over() {
            self.shrink(DropReason::Overlimit, cx);
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let flow = self.flows.select(self.settings.quantum)?;
            match self.law.dequeue(&mut self.flows, flow, cx) {
                Some(packet) => {
                    self.flows.charge(flow, packet.length);
                    return Some(packet);
                }
                None => self.flows.retire(flow),
            }
        }
    }

    /// From the flow with the most bytes, as when the buffer is full.
    fn evict(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.flows.pop(self.flows.fattest())
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let flows = params.count("flows");
        if flows != self.flows.len() as u64 {
            return Err(ParamError::while_packets_wait("flows", flows));
        }
        self.settings = settings(params);
        self.law.change(params, &self.link);
        self.shrink(DropReason::Reconfigured, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.flows.purge(cx);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("active_flows", f64::from(self.flows.active()));
    }

    fn state_bytes(&self) -> usize {
        size_of::<Self>() + self.flows.len() * size_of::<Flow<L::State>>()
    }
}
