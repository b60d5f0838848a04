//! # What it does
//! Two queues: one for scalable (L4S) traffic, with a shallow ramp of marks, and one for classic traffic under PI2. The
//! base probability p' of the classic queue is coupled to both: squared for classic packets, k times for scalable ones, so
//! that both kinds of flows get about the same rate.
//!
//! # Reference
//! RFC 9332: sections 2.4 and 2.5, appendix A (DualPI2: figures 2 to 5, 7 and 8). Preset `linux`: tc-dualpi2(8) and the
//! behaviour of `sch_dualpi2`, read in the patch series that brought it to Linux.
//!
//! # Parameters
//! See `aqmlab aqm show dualpi2`. `signals count` accumulates the likelihoods of each queue (`recur()` of figure 4);
//! `signals lot` draws random numbers, as Linux does.
//!
//! # Deviations
//! p' gives no signal while at most two full packets are queued (Linux: fewer than two; RFC: no such rule). Weights
//! in bytes are implemented by self-clocked fair queueing, where the RFC recommends weighted round robin, which Linux
//! has. The L4S ramp uses the delay of the departing packet; a step (no range) starts above its threshold, as in
//! Linux (RFC: at it). `Th_len` is one packet including the departing one; `min_qlen_step` is Linux's rule beside it, judged on
//! arrival. Likelihoods above one count as one. The limit has no byte form by default and does not add another
//! MTU.
//!
//! # Promises
//! Order kept within each queue; a flow that keeps its ECN identifier stays in order; updates once per period through
//! wake-ups, at most 16 of them late; no signal by p' while at most two full packets are queued, none by the ramp for
//! a packet that leaves the L4S queue empty, but with `step_alone`; random numbers only with `signals lot`.

mod settings;
#[cfg(test)]
mod tests;

use super::{Blueprint, Built, Discipline, Group, Info, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::law::Controlled;
use crate::packet::{Ecn, Packet};
use crate::params::{ParamError, Params, Preset, Value};
use crate::queue::Fifo;
use crate::scheduler::{Scfq, Scheduler};
use crate::signal::{DropReason, MarkReason};
use crate::units::{Size, Span, Time};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use settings::{CLASSIC, L4S, Order, Settings, Signals, settings};

/// The registry entry.
pub static INFO: Info = Info {
    name: "dualpi2",
    group: Group::Delay,
    summary: "L4S: a shallow queue for scalable traffic, coupled to PI2 on a queue for classic traffic",
    reference: "RFC 9332",
    params: settings::PARAMS,
    presets: &[
        Preset {
            name: "rfc9332",
            source: "RFC 9332 appendix A.1; the classic share is Linux's",
            values: &[],
        },
        Preset {
            name: "linux",
            source: "tc-dualpi2(8), calculate_probability() of Linux 6.17 net/sched/sch_dualpi2.c (defaults; lots)",
            values: &[
                ("tupdate", Value::Span(Span::from_millis(16))),
                ("alpha", Value::Frequency(41.0 / 256.0)), // tc: 0.16
                ("beta", Value::Frequency(819.0 / 256.0)), // tc: 3.2
                ("step_thresh", Value::Span(Span::from_millis(1))),
                ("step_range", Value::Span(Span::ZERO)),
                ("step_alone", Value::Flag(true)),
                ("signals", Value::Choice(Signals::Lot.word())),
            ],
        },
    ],
    probes: &[
        ProbeSpec { name: "base_probability", unit: "fraction", help: "Probability of the controller (p')" },
        ProbeSpec { name: "qdelay", unit: "s", help: "The longer of both delays at the last update" },
        ProbeSpec { name: "l4s_backlog", unit: "packets", help: "Packets in the L4S queue" },
        ProbeSpec { name: "classic_backlog", unit: "packets", help: "Packets in the classic queue" },
    ],
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: 1,
        flow_state_bytes: 0,
    },
    deviations: "quiet up to two full packets, as Linux; weighted fair queueing where the RFC has WRR",
    build,
};

struct DualPi2 {
    queues: [Fifo; 2],
    /// Whether a packet of the L4S queue found fewer than `min_qlen_step` packets in it; empty where that is none.
    found_few: VecDeque<bool>,
    settings: Settings,
    state: Controlled,
    scheduler: Scfq,
    /// Likelihoods accumulated since the last signal, for each queue.
    counts: [f64; 2],
    /// Two full packets: no signal for less.
    quiet_bytes: u64,
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params)?;
    let mut state = Controlled::new(settings.tupdate);
    state.bound(settings.highest());
    Ok(Box::new(DualPi2 {
        queues: Default::default(),
        found_few: VecDeque::new(),
        state,
        scheduler: Scfq::new(&settings.weights),
        counts: [0.0; 2],
        quiet_bytes: 2 * u64::from(link.mtu),
        settings,
    }))
}

impl DualPi2 {
    /// Whether a signal of likelihood `p` falls on a packet of `queue` (figure 4, `recur`).
    #[inline]
    fn falls(&mut self, queue: usize, p: f64, cx: &mut Cx<'_>) -> bool {
        if !self.settings.count {
            return p > 0.0 && (p >= 1.0 || cx.uniform() < p); // none is drawn where it is certain
        }
        let count = &mut self.counts[queue];
        *count += p.min(1.0);
        let falls = *count > 1.0;
        if falls {
            *count -= 1.0;
        }
        falls
    }

    /// The queue to serve.
    #[inline]
    fn select(&mut self) -> Option<usize> {
        let [l4s, classic] = &self.queues;
        let shift = match self.settings.order {
            Order::Shifted(shift) => shift,
            Order::First(first) => {
                return [first, L4S, CLASSIC].into_iter().find(|queue| !self.queues[*queue].is_empty());
            }
            Order::Weights => {
                let heads = [l4s.head(), classic.head()].map(|head| head.map(|packet| packet.length));
                return self.scheduler.select(&mut |queue| heads[queue]);
            }
        };
        match (l4s.head(), classic.head()) {
            (None, None) => None,
            (Some(_), None) => Some(L4S),
            (None, Some(_)) => Some(CLASSIC),
            // Each head counts by its age; the L4S head counts as having arrived earlier.
            (Some(l4s), Some(classic)) => {
                Some(if l4s.arrival <= classic.arrival + shift { L4S } else { CLASSIC })
            }
        }
    }

    /// Signals to a packet of the L4S queue with the higher of its own ramp's and the coupled probability. Once the
    /// latter has saturated, it is dropped like a classic packet (figure 7, lines 8c to 8i).
    fn signal_l4s(&mut self, mut packet: Packet, base: f64, native: f64, cx: &mut Cx<'_>) -> Option<Packet> {
        let coupled = self.settings.coupling * base;
        if coupled >= 1.0 && self.settings.drop_on_overload && self.falls(L4S, base * base, cx) {
            cx.drop(packet, DropReason::Congestion);
            return None;
        }
        if self.falls(L4S, native.max(coupled), cx) {
            let reason = if native > coupled { MarkReason::Threshold } else { MarkReason::Congestion };
            cx.mark(&mut packet, reason);
        }
        Some(packet)
    }

    /// Signals to a packet of the classic queue with the square of the base probability: with a mark, until that
    /// square has reached p_Cmax = min(1 / k^2, 1), where marks in the other queue saturate.
    fn signal_classic(&mut self, mut packet: Packet, base: f64, cx: &mut Cx<'_>) -> Option<Packet> {
        if !self.falls(CLASSIC, base * base, cx) {
            return Some(packet);
        }
        let overload = self.settings.drop_on_overload && self.settings.coupling.max(1.0) * base >= 1.0;
        if !overload && cx.mark(&mut packet, MarkReason::Congestion) {
            return Some(packet);
        }
        cx.drop(packet, DropReason::Congestion);
        None
    }

    /// Drops the newest packets, those of the classic queue first, until `memlimit` is met.
    fn trim_to_memlimit(&mut self, cx: &mut Cx<'_>) {
        let memlimit = self.settings.memlimit;
        let room = memlimit.saturating_sub(self.queues[L4S].backlog().bytes);
        self.queues[CLASSIC].trim(Size::Bytes(room), cx);
        self.queues[L4S].trim(Size::Bytes(memlimit), cx);
    }

    /// p', which gives no signal while at most two full packets wait.
    #[inline]
    fn base(&self) -> f64 {
        if self.backlog().bytes <= self.quiet_bytes { 0.0 } else { self.state.probability() }
    }

    /// What the L4S queue's own ramp says of `packet`, which has left it.
    #[inline]
    fn native(&mut self, packet: &Packet, now: Time) -> f64 {
        let left = self.queues[L4S].len() as u64;
        let found_few = self.found_few.pop_front().unwrap_or(false);
        if found_few || (left == 0 && !self.settings.step_alone) {
            return 0.0;
        }
        self.settings.native(now.since(packet.arrival), left)
    }
}

impl Discipline for DualPi2 {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let (backlog, length) = (self.backlog(), packet.length);
        if backlog.would_exceed(self.settings.limit, length)
            || backlog.bytes + u64::from(length) > self.settings.memlimit
        {
            return cx.drop(packet, DropReason::Overlimit);
        }
        // RFC 9331 section 5.1: ECT(1) and CE belong to the L4S service.
        let l4s =
            matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) || (self.settings.any_ect && packet.ecn == Ecn::Ect0);
        let queue = if l4s { L4S } else { CLASSIC };
        let mut admitted = Some(packet);
        if self.settings.at_arrival {
            let base = self.base();
            admitted = admitted.and_then(|packet| match queue {
                L4S => self.signal_l4s(packet, base, 0.0, cx),
                _ => self.signal_classic(packet, base, cx),
            });
        }
        let Some(packet) = admitted else { return };
        if l4s && self.settings.min_qlen_step > 0 {
            self.found_few.push_back((self.queues[L4S].len() as u64) < self.settings.min_qlen_step);
        }
        self.queues[queue].push(packet);
        self.scheduler.activate(queue);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let queue = self.select()?;
            let base = if self.settings.at_arrival { 0.0 } else { self.base() };
            let packet = self.queues[queue].pop().expect("only queues with a head are selected");
            self.scheduler.sent(queue, packet.length, self.queues[queue].is_empty());
            let left = match queue {
                L4S => {
                    let native = self.native(&packet, cx.now);
                    self.signal_l4s(packet, base, native, cx)
                }
                _ => self.signal_classic(packet, base, cx),
            };
            if left.is_some() {
                return left;
            }
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        let [l4s, classic] = [self.queues[L4S].backlog(), self.queues[CLASSIC].backlog()];
        Backlog { packets: l4s.packets + classic.packets, bytes: l4s.bytes + classic.bytes }
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let settings = settings(params)?;
        if settings.any_ect != self.settings.any_ect {
            // A flow that changes queues overtakes its own packets.
            return Err(ParamError::while_packets_wait("l4s", params.get("l4s")));
        }
        if (settings.min_qlen_step > 0) != (self.settings.min_qlen_step > 0) {
            // What the packets that wait found is not known.
            let known = if settings.min_qlen_step > 0 { self.queues[L4S].len() } else { 0 };
            self.found_few.clear();
            self.found_few.resize(known, false);
        }
        self.settings = settings;
        self.state.bound(self.settings.highest());
        self.state.adopt(self.settings.tupdate, cx.now);
        self.scheduler.reweigh(&self.settings.weights);
        // The classic queue is trimmed first: it is the one with the deep buffer.
        let limit = self.settings.limit;
        self.queues[L4S].trim(limit, cx);
        let room = limit.count() - self.queues[L4S].backlog().in_unit_of(limit);
        self.queues[CLASSIC].trim(limit.with_count(room), cx);
        self.trim_to_memlimit(cx);
        self.found_few.truncate(self.queues[L4S].len());
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queues.iter_mut().for_each(|queue| queue.purge(cx));
        self.found_few.clear();
        self.scheduler.clear();
        self.counts = [0.0; 2];
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        Some(self.state.due())
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        // Figure 8, line 2a: the longer delay, so that scalable traffic alone can cause overload.
        let oldest = self.queues.iter().filter_map(Fifo::head).map(|packet| packet.arrival).min();
        let delay = oldest.map_or(0.0, |arrival| cx.now.since(arrival).as_secs_f64());
        self.state.catch_up(&self.settings.law, self.settings.tupdate, delay, cx.now);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("base_probability", self.state.probability());
        sink("qdelay", self.state.last());
        sink("l4s_backlog", self.queues[L4S].len() as f64);
        sink("classic_backlog", self.queues[CLASSIC].len() as f64);
    }

    fn state_bytes(&self) -> usize {
        size_of::<DualPi2>() + self.scheduler.state_bytes() + self.found_few.capacity()
    }
}
