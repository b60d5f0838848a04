//! # What it does
//! One queue with a limit in packets or bytes. When it is full, the arriving packet is dropped (`tail`), the oldest
//! one (`head`), or one at random, the arriving one included (`random`).
//!
//! # Reference
//! RFC 7567 section 2.1 (tail drop and its alternatives, B10); Linux `pfifo`, `bfifo`, `pfifo_head_drop`.
//!
//! # Deviations
//! None. A packet larger than the whole limit is dropped on arrival under every policy.
//!
//! # Promises
//! Order kept; drops only when full; no state per flow; never marks.

use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, Traits};
use crate::backlog::Backlog;
use crate::choices;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::DropReason;
use crate::units::Size;
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "fifo",
    group: Group::Queue,
    summary: "One queue, dropping only when full (tail, head or random drop)",
    reference: "RFC 7567 section 2.1; Linux pfifo, bfifo, pfifo_head_drop",
    params: &[
        LIMIT,
        ParamSpec::choice::<Policy>(
            "drop",
            "Which packet goes when the queue is full: the arriving one, the oldest, or one at random",
            "RFC 7567 section 2.1",
        ),
    ],
    presets: &[
        Preset { name: "tail", source: "Linux pfifo, bfifo", values: &[] },
        Preset {
            name: "head",
            source: "Linux pfifo_head_drop",
            values: &[("drop", Value::Choice(Policy::Head.word()))],
        },
        Preset {
            name: "random",
            source: "RFC 7567 section 2.1, random drop on full",
            values: &[("drop", Value::Choice(Policy::Random.word()))],
        },
    ],
    probes: &[],
    traits: Traits {
        wakes: false,
        ecn: false,
        drops_queued: true,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: u64::MAX,
        flow_state_bytes: 0,
    },
    deviations: "none",
    build,
};

choices! {
    /// Which packet goes when the queue is full.
    pub enum Policy {
        /// The arriving one.
        Tail = "tail",
        /// The oldest.
        Head = "head",
        /// One at random.
        Random = "random",
    }
}

struct TailDrop {
    queue: Fifo,
    limit: Size,
    policy: Policy,
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let (limit, policy) = settings(params);
    Ok(Box::new(TailDrop { queue: Fifo::default(), limit, policy }))
}

fn settings(params: &Params) -> (Size, Policy) {
    (params.size("limit").expect("limit has no auto"), params.choice("drop"))
}

impl TailDrop {
    /// Makes space for `arriving` by the policy; returns it if there is space now.
    #[cold]
    fn overflow(&mut self, arriving: Packet, cx: &mut Cx<'_>) -> Option<Packet> {
        let length = arriving.length;
        while self.queue.backlog().would_exceed(self.limit, length) {
            let victim = match self.policy {
                Policy::Tail => None,
                Policy::Head => self.queue.pop(),
                Policy::Random => self.queue.remove(cx.below(self.queue.len() as u64 + 1) as usize),
            };
            match victim {
                Some(victim) => cx.drop(victim, DropReason::Overlimit),
                None => {
                    cx.drop(arriving, DropReason::Overlimit);
                    return None;
                }
            }
        }
        Some(arriving)
    }
}

impl Discipline for TailDrop {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx<'_>) {
        if self.queue.backlog().would_exceed(self.limit, packet.length) {
            match self.overflow(packet, cx) {
                Some(kept) => packet = kept,
                None => return,
            }
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.queue.pop()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        (self.limit, self.policy) = settings(params);
        self.queue.trim(self.limit, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
    }

    fn state_bytes(&self) -> usize {
        size_of::<TailDrop>()
    }
}
