//! # What it does
//! A queue for each flow (by hash), served in rounds of a quantum with new flows first, and COBALT on each.
//!
//! # Reference
//! RFC 8290 for the flow queues; Linux `sch_cake` for COBALT; ns-3 has the two together as FqCobaltQueueDisc.
//!
//! # Parameters
//! See `aqmlab aqm show fq_cobalt`.
//!
//! # Deviations
//! Those of `fq_codel` and `cobalt`. A full queue drops a batch from the flow with the most bytes as FQ-CoDel does,
//! and tells that flow's COBALT once (CAKE: one packet at a time; ns-3: COBALT is not notified).
//!
//! # Promises
//! Packets of one flow stay in order; the last packet of a flow is neither dropped nor marked by the law; one random
//! number for the hash when the first packet arrives, then those of `cobalt`; 64 bytes per flow queue.

use super::flow_queueing::{self, FlowLaw, FlowQueueing};
use super::{Blueprint, Built, Group, Info, Traits, cobalt, codel};
use crate::cx::Cx;
use crate::law::cobalt::{Params as Law, State};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Params, Preset, Value};
use crate::queue::{Flow, Flows};
use crate::units::{Span, Time};

/// The registry entry.
pub static INFO: Info = Info {
    name: "fq_cobalt",
    group: Group::Flow,
    summary: "Flow queueing with COBALT on every flow",
    reference: "RFC 8290; Linux sch_cake",
    params: &[
        flow_queueing::LIMIT,
        flow_queueing::MEMORY_LIMIT,
        flow_queueing::FLOWS,
        flow_queueing::QUANTUM,
        flow_queueing::DROP_BATCH,
        codel::TARGET,
        codel::INTERVAL,
        cobalt::ECN,
        cobalt::INCREMENT,
        cobalt::DECREMENT,
        cobalt::MTU_GUARD,
        cobalt::BLUE_THRESHOLD,
        cobalt::SPARE_LAST,
    ],
    presets: &[
        Preset {
            name: "linux",
            source: "RFC 8290 section 5.2; cobalt_should_drop() of Linux 6.1 net/sched/sch_cake.c: the defaults are Linux's",
            values: &[],
        },
        Preset {
            name: "ns3",
            source: "ns-3 src/traffic-control/model/fq-cobalt-queue-disc.cc (defaults)",
            values: &[
                ("mtu_guard", Value::Flag(false)),
                ("blue_threshold", Value::Span(Span::from_millis(400))),
                ("spare_last", Value::Flag(false)),
            ],
        },
    ],
    probes: &[flow_queueing::ACTIVE_FLOWS],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: size_of::<Flow<State>>(),
    },
    deviations: "the last packet of a flow is not marked; a batch of drops counts as one overflow",
    build,
};

/// COBALT for every flow.
struct CobaltFlows {
    law: Law,
    floor: Span,
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let (law, floor) = cobalt::law(params, link);
    Ok(FlowQueueing::boxed(params, link, CobaltFlows { law, floor }))
}

impl FlowLaw for CobaltFlows {
    type State = State;

    fn change(&mut self, params: &Params, link: &Link) {
        (self.law, self.floor) = cobalt::law(params, link);
    }

    #[inline]
    fn dequeue(&self, flows: &mut Flows<State>, flow: usize, cx: &mut Cx<'_>) -> Option<Packet> {
        let (mut head, state) = flows.head(flow, false);
        self.law.dequeue(state, &mut head, self.floor, cx)
    }

    fn overflowed(&self, flows: &mut Flows<State>, flow: usize, now: Time) {
        let (_, state) = flows.head(flow, false);
        self.law.overflowed(state, now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use crate::signal::DropReason;

    #[test]
    fn cobalt_keeps_its_state_for_each_flow() {
        let mut host = Host::scripted("fq_cobalt noecn", &[0.999]);
        (0..8).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
        assert_eq!(host.get(ms(0)), Some(0)); // no delay: flow 1 waits until 100 ms
        assert_eq!(host.get(ms(10)), Some(1)); // late: until 110 ms
        (10..16).for_each(|cookie| host.put(ms(110), cookie, 2, 1514));
        assert_eq!(host.get(ms(110)), Some(10)); // new, and no delay
        assert_eq!(host.get(ms(110)), Some(11)); // flow 1 has used up its quantum
        assert_eq!(host.get(ms(110)), Some(3)); // drops 2
        assert_eq!(host.dropped(), [2]);
    }

    #[test]
    fn a_full_queue_tells_the_fattest_flow() {
        let mut host = Host::scripted("fq_cobalt limit 10p increment 1", &[0.999]);
        (0..8).for_each(|cookie| host.put(ms(50), cookie, 1, 1000));
        (10..13).for_each(|cookie| host.put(ms(50), cookie, 2, 1000)); // the third is one too many
        assert_eq!(host.dropped(), [0, 1, 2, 3]);
        // Flow 1 loses all but its last packet, flow 2 nothing.
        let mut sent = alloc::vec::Vec::new();
        while let Some(cookie) = host.get(ms(51)) {
            sent.push(cookie);
        }
        sent.sort_unstable();
        assert_eq!(sent, [7, 10, 11, 12]);
        assert_eq!(host.log.dropped[4], (4, DropReason::Congestion));
    }

    #[test]
    fn a_flow_takes_one_cache_line() {
        assert!(size_of::<Flow<State>>() <= 64, "{}", size_of::<Flow<State>>());
    }
}
