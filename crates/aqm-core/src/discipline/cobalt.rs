//! # What it does
//! One queue under COBALT: CoDel signals at the head while packets wait too long, and BLUE also drops at random once
//! the queue has overflowed.
//!
//! # Reference
//! The behaviour of Linux `sch_cake`; T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE: A Comprehensive Queue
//! Management Solution for Home Gateways" (2018). No document defines it in pseudocode.
//!
//! # Parameters
//! See `aqmlab aqm show cobalt`.
//!
//! # Deviations
//! The last packet of a queue is neither dropped nor marked (CAKE marks it). The time between signals is computed
//! exactly (Linux: Newton's iteration from a table), BLUE's probability is a float. A full queue drops the arriving
//! packet, as in ns-3 (CAKE: the head of the longest flow). `ns3` drops the last packet too, and BLUE rises there
//! with delays above `blue_threshold`.
//!
//! # Promises
//! Order kept; no signal if the queue would become empty, with `spare_last`; one random number per packet that CoDel lets pass while
//! BLUE's probability is above zero; no state per flow.

use super::codel::{INTERVAL, TARGET};
use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::cx::Cx;
use crate::law::blue;
use crate::law::cobalt::{Last, Params as Law, State};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::units::{Bytes, Size, Span};

/// The registry entry.
pub static INFO: Info = Info {
    name: "cobalt",
    group: Group::Delay,
    summary: "COBALT, the law of CAKE: CoDel with BLUE against overflow",
    reference: "Linux sch_cake; Høiland-Jørgensen, Täht and Morton 2018",
    params: &[LIMIT, TARGET, INTERVAL, ECN, INCREMENT, DECREMENT, MTU_GUARD, BLUE_THRESHOLD, SPARE_LAST],
    presets: &[
        Preset {
            name: "linux",
            source: "cobalt_should_drop() of Linux 6.1 net/sched/sch_cake.c: the defaults are Linux's",
            values: &[],
        },
        Preset {
            name: "ns3",
            source: "ns-3 src/traffic-control/model/cobalt-queue-disc.cc (defaults)",
            values: &[
                ("limit", Value::Size(Size::Bytes(1_500_000))), // 1000 packets of 1500 bytes
                ("ecn", Value::Flag(false)),
                ("mtu_guard", Value::Flag(false)),
                ("blue_threshold", Value::Span(Span::from_millis(400))),
                ("spare_last", Value::Flag(false)),
            ],
        },
    ],
    probes: &[
        ProbeSpec { name: "count", unit: "packets", help: "CoDel's count of signals" },
        ProbeSpec { name: "dropping", unit: "0/1", help: "Whether the last packet waited too long" },
        ProbeSpec { name: "drop_probability", unit: "fraction", help: "BLUE's probability" },
    ],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "the last packet is not marked either; exact square root; a full queue drops the arriving packet",
    build,
};

pub(super) const ECN: ParamSpec = ParamSpec::flag(
    "ecn",
    true,
    "CoDel marks ECN-capable packets instead of dropping them; BLUE drops them",
    "Linux sch_cake: always on",
);

pub(super) const INCREMENT: ParamSpec = ParamSpec::new(
    "increment",
    Kind::Fraction,
    Value::Fraction(1.0 / 256.0),
    (0.0, 1.0),
    "By how much BLUE's probability rises when the queue overflows, at most once per target",
    "Linux sch_cake: 1/256",
);

pub(super) const DECREMENT: ParamSpec = ParamSpec::new(
    "decrement",
    Kind::Fraction,
    Value::Fraction(1.0 / 4096.0),
    (0.0, 1.0),
    "By how much BLUE's probability falls when the queue is empty, at most once per target",
    "Linux sch_cake: 1/4096",
);

pub(super) const MTU_GUARD: ParamSpec = ParamSpec::flag(
    "mtu_guard",
    true,
    "Accept any delay that four full packets take on the link",
    "Linux sch_cake, with its shaper: on",
);

pub(super) const BLUE_THRESHOLD: ParamSpec = ParamSpec::new(
    "blue_threshold",
    Kind::Span,
    Value::Auto,
    (0.0, 1e11),
    "Sojourn time beyond which BLUE's probability rises too, at most once per target",
    "ns-3.35 cobalt-queue-disc.cc BlueThreshold: 400 ms; Linux sch_cake: none",
)
.or_auto("at overflow alone");

pub(super) const SPARE_LAST: ParamSpec = ParamSpec::flag(
    "spare_last",
    true,
    "The last packet of a queue is neither dropped nor marked",
    "Linux sch_cake: it is not dropped; ns-3.35 drops it",
);

/// Reads COBALT's own parameters: the law, and the delay that is never too long.
pub(super) fn law(params: &Params, link: &Link) -> (Law, Span) {
    let blue = blue::Params {
        increment: params.number("increment"),
        decrement: params.number("decrement"),
        freeze_time: params.span("target"),
    };
    let (target, interval) = (params.span("target"), params.span("interval"));
    let four_packets = link.rate.time_for(Bytes::new(4 * u64::from(link.mtu)));
    let floor = if params.flag("mtu_guard") { four_packets } else { Span::ZERO };
    let last = if params.flag("spare_last") { Last::Spared } else { Last::AsOthers };
    let blue_threshold = match params.get("blue_threshold") {
        Value::Span(threshold) => Some(*threshold),
        _ => None,
    };
    (Law { target, interval, ecn: params.flag("ecn"), blue, blue_threshold, last }, floor)
}

struct Cobalt {
    law: Law,
    floor: Span,
    state: State,
    link: Link,
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let (law, floor) = law(params, link);
    Ok(Single::boxed(params, Cobalt { law, floor, state: State::default(), link: *link }))
}

impl Gate for Cobalt {
    fn overflowed(&mut self, _packet: &Packet, cx: &mut Cx<'_>) {
        self.law.overflowed(&mut self.state, cx.now);
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        self.law.dequeue(&mut self.state, queue, self.floor, cx)
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        (self.law, self.floor) = law(params, &self.link);
        Ok(())
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("count", f64::from(self.state.count()));
        sink("dropping", f64::from(u8::from(self.state.dropping())));
        sink("drop_probability", self.state.probability());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use crate::units::Time;
    use alloc::format;

    /// Thirty packets of 1000 bytes at 0 ms; the first is served at once, so that the law counts from there.
    fn standing(spec: &str, put: fn(&mut Host, Time, u64, u64, u32)) -> Host {
        let mut host = Host::scripted(spec, &[0.999]);
        (0..30).for_each(|cookie| put(&mut host, ms(0), cookie, 0, 1000));
        assert_eq!(host.get(ms(0)), Some(0)); // no delay: drop_next = 100 ms
        host
    }

    #[test]
    fn drops_come_closer_while_the_delay_stays() {
        let mut host = standing("cobalt", Host::put);
        assert_eq!(host.get(ms(10)), Some(1)); // late: drop_next = 10 + 100 ms, count 1
        assert_eq!(host.get(ms(109)), Some(2));
        assert_eq!(host.get(ms(110)), Some(4)); // drops 3: count 2, drop_next = 110 + 70.710678 ms
        assert_eq!(host.get(ms(180)), Some(5));
        assert_eq!(host.get(ms(181)), Some(7)); // drops 6: count 3, + 57.735026 = 238.445704 ms
        assert_eq!((host.dropped(), host.probe("count")), (alloc::vec![3, 6], 3.0));
        assert_eq!(host.get(Time::from_nanos(238_445_703)), Some(8));
        assert_eq!(host.get(Time::from_nanos(238_445_704)), Some(10));
    }

    #[test]
    fn the_count_decays_when_the_delay_is_low_again() {
        let mut host = standing("cobalt", Host::put);
        for at in [10, 110, 181] {
            host.get(ms(at));
        }
        assert_eq!(host.probe("count"), 3.0); // drop_next = 238.445704 ms
        while host.qdisc.backlog().packets > 0 {
            host.get(ms(182));
        }
        (100..106).for_each(|cookie| host.put(ms(340), cookie, 0, 1000));
        // No delay: + 70.710678 = 309.156382 ms at count 2, + 100 = 409.156382 ms at count 1, which is not past.
        assert_eq!(host.get(ms(340)), Some(100));
        assert_eq!((host.probe("count"), host.probe("dropping")), (1.0, 0.0));
        assert_eq!(host.get(ms(400)), Some(101)); // late again: drop_next = 500 ms
        assert_eq!(host.get(ms(499)), Some(102));
        assert_eq!(host.get(ms(500)), Some(104)); // drops 103
        assert_eq!((host.probe("count"), host.dropped()), (2.0, alloc::vec![2, 4, 103]));
    }

    #[test]
    fn marks_come_first_and_blue_drops_all_the_same() {
        let mut host = standing("cobalt", Host::put_ect);
        host.get(ms(10));
        assert_eq!(host.get(ms(110)), Some(2));
        assert_eq!((host.marked(), host.dropped().len()), (alloc::vec![2], 0));
        // An overflow raises BLUE's probability to 1, and the random numbers are below it.
        let mut host = Host::scripted("cobalt limit 5p increment 1", &[0.999]);
        (0..6).for_each(|cookie| host.put_ect(ms(50), cookie, 0, 1000));
        assert_eq!(host.probe("drop_probability"), 1.0);
        assert_eq!(host.get(ms(50)), Some(4)); // only the last packet gets through
        assert_eq!(host.dropped(), [5, 0, 1, 2, 3]);
    }

    #[test]
    fn blue_answers_to_a_long_delay_only_if_it_is_asked_to() {
        let probability = |threshold: &str| {
            let mut host = Host::scripted(&format!("cobalt increment 0.25{threshold}"), &[0.999]);
            (0..9).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
            [400, 401, 403, 407].map(|at| (host.get(ms(at)).is_some(), host.probe("drop_probability")).1)
        };
        assert_eq!(probability(""), [0.0; 4]);
        // 400 ms are not too long; 401 ms are; then 5 ms of rest.
        assert_eq!(probability(" blue_threshold 400ms"), [0.0, 0.25, 0.25, 0.5]);
    }

    #[test]
    fn the_last_packet_is_spared_unless_told_otherwise() {
        let last = |spec: &str| {
            let mut host = Host::scripted(&format!("cobalt limit 1p increment 1{spec}"), &[0.999]);
            (0..2).for_each(|cookie| host.put(ms(50), cookie, 0, 1000));
            host.get(ms(50))
        };
        assert_eq!((last(""), last(" nospare_last")), (Some(0), None));
    }

    #[test]
    fn four_packets_are_never_late_on_a_slow_link() {
        // 10 Mbit/s: 4 * 1514 bytes take 4.8448 ms.
        let late = |spec: &str, micros: u64| {
            let mut host = Host::scripted(spec, &[0.999]);
            (0..5).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
            host.get(Time::from_nanos(micros * 1000));
            host.probe("dropping")
        };
        assert_eq!((late("cobalt target 1ms", 4844), late("cobalt target 1ms", 4845)), (0.0, 1.0));
        assert_eq!(late("cobalt:ns3 target 1ms", 1001), 1.0);
    }
}
