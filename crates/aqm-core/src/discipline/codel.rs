//! # What it does
//! One queue under CoDel: packets carry their arrival time, and when every packet of an interval waited longer than
//! the target, packets are dropped (or marked) at the head, ever faster, until one waited less.
//!
//! # Reference
//! RFC 8289; preset `linux`: the parameters and the arithmetic of Linux `sch_codel`, written from the formula.
//!
//! # Parameters
//! See `aqmlab aqm show codel`.
//!
//! # Deviations
//! RFC 8289 leaves ECN open: a packet is marked where it would be dropped, and is sent, as in RFC 8290 section 4.2.
//! The RFC's constant `maxpacket` is the largest packet seen so far. `linux`: time in nanoseconds, not in units of
//! 1024 ns.
//!
//! # Promises
//! Order kept; no signal while at most one full packet would remain; no random numbers; no state per flow.

use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::choices;
use crate::cx::Cx;
use crate::law::CeThreshold;
use crate::law::codel::{Params as Law, Root, State};
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::units::Span;

/// The registry entry.
pub static INFO: Info = Info {
    name: "codel",
    group: Group::Delay,
    summary: "Controlled Delay: drops at the head while every packet waits longer than a target",
    reference: "RFC 8289",
    params: &[LIMIT, TARGET, INTERVAL, ECN, CE_THRESHOLD, CONTROL_LAW, MAXPACKET],
    presets: &[
        Preset { name: "rfc8289", source: "RFC 8289 sections 4.3, 4.4 and 5", values: &[] },
        Preset {
            name: "linux",
            source: "codel_dequeue() of Linux 6.1 include/net/codel_impl.h, net/sched/sch_codel.c (behaviour and defaults)",
            values: &[
                ("control_law", Value::Choice(Root::Newton.word())),
                ("maxpacket", Value::Choice(FullPacket::Mtu.word())),
            ],
        },
    ],
    probes: &[
        ProbeSpec { name: "count", unit: "packets", help: "Signals in this dropping state" },
        ProbeSpec { name: "dropping", unit: "0/1", help: "Whether the law is in dropping state" },
    ],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 1,
        flow_state_bytes: 0,
    },
    deviations: "maxpacket is the largest packet seen (RFC: a constant); linux: time in ns, not in 1024 ns",
    build,
};

pub(super) const TARGET: ParamSpec = ParamSpec::new(
    "target",
    Kind::Span,
    Value::Span(Span::from_millis(5)),
    (1e3, 1e10),
    "Acceptable standing queue delay",
    "RFC 8289 section 4.4: 5 ms",
);

pub(super) const INTERVAL: ParamSpec = ParamSpec::new(
    "interval",
    Kind::Span,
    Value::Span(Span::from_millis(100)),
    (1e3, 4e9),
    "How long the delay must stay above the target; about the largest usual round-trip time",
    "RFC 8289 section 4.3: 100 ms",
);

const ECN: ParamSpec =
    ParamSpec::flag("ecn", false, "Mark ECN-capable packets instead of dropping them", "tc-codel(8): off");

pub(super) const CE_THRESHOLD: ParamSpec = ParamSpec::new(
    "ce_threshold",
    Kind::Span,
    Value::Auto,
    (0.0, 1e10),
    "Mark every ECN-capable packet that waited longer than this",
    "tc-codel(8): off",
)
.or_auto("off");

pub(super) const CONTROL_LAW: ParamSpec = ParamSpec::choice::<Root>(
    "control_law",
    "How interval / sqrt(count) is computed: exactly, or by one Newton step in 16 bits",
    "RFC 8289 section 5.4: sqrt; Linux: newton",
);

choices! {
    /// The size of a full packet.
    pub(super) enum FullPacket {
        /// The largest one so far.
        Seen = "seen",
        /// The link's MTU.
        Mtu = "mtu",
    }
}

pub(super) const MAXPACKET: ParamSpec = ParamSpec::choice::<FullPacket>(
    "maxpacket",
    "The backlog that is never dropped from: the largest packet seen so far, or the link's MTU",
    "RFC 8289 section 5.6; Linux: mtu",
);

struct CoDel {
    law: Law,
    state: State,
    max_packet: MaxPacket,
}

/// The size of a full packet: the RFC's `maxpacket`.
pub(super) struct MaxPacket {
    bytes: u32,
    follow: bool,
}

impl MaxPacket {
    pub(super) fn new(params: &Params, mtu: u32) -> MaxPacket {
        let follow = params.choice::<FullPacket>("maxpacket") == FullPacket::Seen;
        MaxPacket { bytes: if follow { 0 } else { mtu }, follow }
    }

    #[inline]
    pub(super) fn see(&mut self, length: u32) {
        if self.follow && length > self.bytes {
            self.bytes = length;
        }
    }

    #[inline]
    pub(super) const fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// Reads CoDel's own parameters.
pub(super) fn law(params: &Params) -> Law {
    Law {
        target: params.span("target"),
        interval: params.span("interval"),
        ecn: params.flag("ecn"),
        ce_threshold: ce_threshold(params),
        root: params.choice("control_law"),
    }
}

/// Reads the threshold of marks; `fq_codel` has a selector too.
fn ce_threshold(params: &Params) -> Option<CeThreshold> {
    let Value::Span(above) = params.get("ce_threshold") else { return None };
    if !params.names().any(|name| name == "ce_threshold_mask") {
        return Some(CeThreshold::new(*above));
    }
    let octet = |name| params.count(name) as u8;
    Some(CeThreshold {
        above: *above,
        selector: octet("ce_threshold_selector"),
        mask: octet("ce_threshold_mask"),
    })
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let max_packet = MaxPacket::new(params, link.mtu);
    Ok(Single::boxed(params, CoDel { law: law(params), state: State::default(), max_packet }))
}

impl Gate for CoDel {
    #[inline]
    fn admit(&mut self, packet: Packet, _queue: &Fifo, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.max_packet.see(packet.length);
        Some(packet)
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        self.law.dequeue(&mut self.state, queue, self.max_packet.bytes(), cx)
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.law = law(params);
        Ok(())
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("count", f64::from(self.state.count()));
        sink("dropping", f64::from(u8::from(self.state.dropping())));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use crate::signal::DropReason;
    use crate::units::Time;

    /// Packets 0 to 19 of 1000 bytes come at 0 ms; see the first test for what follows up to 400 ms.
    fn overloaded(spec: &str, put: fn(&mut Host, Time, u64, u64, u32)) -> Host {
        let mut host = Host::new(spec);
        for cookie in 0..20 {
            put(&mut host, ms(0), cookie, 0, 1000);
        }
        host
    }

    #[test]
    fn drops_fall_when_the_control_law_says() {
        let mut host = overloaded("codel", Host::put);
        assert_eq!(host.get(ms(10)), Some(0)); // 10 ms >= 5 ms: above from here on, first_above_time = 110 ms
        assert_eq!(host.get(ms(109)), Some(1)); // not yet an interval
        assert_eq!(host.get(ms(110)), Some(3)); // drop 2; count 1, drop_next = 110 + 100 = 210 ms
        assert_eq!(host.get(ms(209)), Some(4));
        assert_eq!(host.get(ms(210)), Some(6)); // drop 5; count 2, drop_next = 210 + 100/sqrt(2) = 280.710678 ms
        assert_eq!(host.get(ms(280)), Some(7));
        // drop 8: 280.710678 + 57.735026 = 338.445704; drop 9: + 50 = 388.445704; drop 10: + 44.721359 = 433.167063
        assert_eq!(host.get(ms(400)), Some(11));
        assert_eq!(host.dropped(), [2, 5, 8, 9, 10]);
        assert_eq!((host.probe("count"), host.probe("dropping")), (5.0, 1.0));
        assert_eq!(host.get(Time::from_nanos(433_167_062)), Some(12));
        assert_eq!(host.get(Time::from_nanos(433_167_063)), Some(14)); // drop 13; count 6
    }

    #[test]
    fn a_queue_of_one_full_packet_ends_dropping_state() {
        let mut host = overloaded("codel", Host::put);
        host.get(ms(10));
        host.get(ms(110)); // drops 1
        for left in (2..=17).rev() {
            host.get(ms(111));
            assert_eq!(
                (host.qdisc.backlog().packets, host.probe("dropping")),
                (left - 1, f64::from(left > 2))
            );
        }
    }

    #[test]
    fn dropping_soon_again_starts_at_the_rate_that_was_reached() {
        let reenter = |late: u64| {
            let mut host = overloaded("codel", Host::put);
            host.get(ms(10));
            host.get(ms(110)); // drops 1: count = lastcount = 1, drop_next = 210 ms
            host.get(ms(210)); // drops 3: count 2, drop_next = 280.710678 ms
            host.get(ms(290)); // drops 5: count 3, drop_next = 338.445704 ms
            while host.get(ms(300)).is_some() {}
            (0..20).for_each(|cookie| host.put(ms(301), cookie, 0, 1000));
            host.get(ms(306)); // first_above_time = 406 ms
            host.get(Time::from_nanos(late)); // drops one
            host.probe("count")
        };
        // delta = 3 - 1 = 2, while less than 16 * 100 ms have passed since 338.445704 ms.
        assert_eq!(reenter(1_938_445_703), 2.0);
        assert_eq!(reenter(1_938_445_704), 1.0);
    }

    #[test]
    fn ecn_marks_the_packet_that_would_be_dropped() {
        let mut host = overloaded("codel ecn", Host::put_ect);
        host.get(ms(10));
        assert_eq!(host.get(ms(110)), Some(1)); // marked; drop_next = 210 ms
        assert_eq!(host.get(ms(210)), Some(2)); // marked; drop_next = 280.710678 ms
        // One signal per packet: the next is marked at its turn, though 338.4 ms have passed as well.
        assert_eq!(host.get(ms(400)), Some(3));
        assert_eq!((host.marked(), host.dropped().len()), (alloc::vec![1, 2, 3], 0));
        assert_eq!(host.get(ms(401)), Some(4)); // 280.710678 + 57.735026 = 338.4 ms is past: marked
        assert_eq!(host.marked(), [1, 2, 3, 4]);
    }

    #[test]
    fn packets_beyond_the_ce_threshold_are_marked_and_others_not() {
        let mut host = overloaded("codel ce_threshold 1ms", Host::put_ect);
        host.get(ms(1));
        host.get(Time::from_nanos(1_000_001));
        assert_eq!(host.marked(), [1]);
    }

    #[test]
    fn linux_never_drops_from_a_backlog_of_one_mtu() {
        // 1514 bytes of MTU hold three packets of 500 bytes; the RFC's guard holds one.
        let run = |spec| {
            let mut host = Host::new(spec);
            (0..5).for_each(|cookie| host.put(ms(0), cookie, 0, 500));
            host.get(ms(10)); // 2000 bytes stay: above
            host.get(ms(110)); // 1500 bytes stay
            host.dropped().len()
        };
        assert_eq!((run("codel:rfc8289"), run("codel:linux")), (1, 0));
    }

    #[test]
    fn a_full_queue_drops_the_arriving_packet() {
        let mut host = Host::new("codel limit 2p");
        (0..3).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
        assert_eq!(host.log.dropped, [(2, DropReason::Overlimit)]);
    }
}
