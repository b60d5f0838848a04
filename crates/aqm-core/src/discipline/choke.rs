//! # What it does
//! One queue under RED, but while the average is above `min` an arriving packet is first compared with one drawn from
//! the queue: if both are of the same flow, both are dropped. A flow with a larger share is hit more often.
//!
//! # Reference
//! R. Pan, B. Prabhakar and K. Psounis, "CHOKe: A stateless active queue management scheme for approximating fair
//! bandwidth allocation" (INFOCOM 2000).
//!
//! # Parameters
//! See `aqmlab aqm show choke`.
//!
//! # Deviations
//! The comparison comes before the test for a full queue, in which it may make space (as in Linux). A match does not
//! change RED's count between signals. ECN, byte mode and the full queue: as in `red`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only, of the arriving packet and of one in the queue; at most two random
//! numbers per packet, none while the average is below `min`; no state per flow.

use super::red::{self, Red, Settings};
use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{ParamError, Params, Preset, Value};
use crate::signal::DropReason;
use crate::units::Time;
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "choke",
    group: Group::Flow,
    summary: "CHOKe: RED that drops an arriving packet with one of its own flow",
    reference: "Pan, Prabhakar and Psounis 2000",
    params: &[
        LIMIT,
        red::MIN,
        red::MAX,
        red::PROBABILITY,
        red::W,
        red::BURST,
        red::GENTLE.with_default(Value::Flag(false), "Pan 2000: off"),
        red::ECN,
        red::HARDDROP,
        red::WAIT,
        red::AVPKT,
        red::BANDWIDTH,
        red::CODE,
    ],
    presets: &[
        Preset {
            name: "pan2000",
            source: "Pan, Prabhakar and Psounis 2000; values as red:floyd",
            values: &[],
        },
        Preset {
            name: "linux",
            source: "choke_enqueue() of Linux 6.1 net/sched/sch_choke.c, tc-choke(8) (defaults)",
            values: &[
                ("probability", Value::Fraction(0.02)),
                ("w", Value::Auto),
                ("harddrop", Value::Flag(false)),
                ("code", Value::Choice(red::Code::Linux.word())),
            ],
        },
    ],
    probes: &[red::AVERAGE_QUEUE, red::DROP_PROBABILITY],
    traits: Traits { drops_queued: true, ..red::TRAITS },
    deviations: "compares before it tests for a full queue; a match does not change RED's count",
    build,
};

struct Choke {
    red: Red,
}

/// As RED's, except that tc's `q_choke.c` does not derive `max` from a given `min`.
fn settings(params: &Params, link: &Link) -> Result<Settings, ParamError> {
    if params.choice::<red::Code>("code") != red::Code::Linux {
        return red::settings(params, link);
    }
    let (min, max) = red::tc_thresholds(params, None);
    red::settings_between(params, link, min, max, red::weight(params, min, max)?)
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    Ok(Box::new(Choke { red: Red::new(params, link, settings)? }))
}

impl Choke {
    /// Draws a packet from the queue, and removes it if it belongs to `flow`.
    #[inline]
    fn draw(&mut self, flow: u64, cx: &mut Cx<'_>) -> Option<Packet> {
        let Red { queue, state, settings, .. } = &mut self.red;
        if state.average() <= settings.law.min || queue.is_empty() {
            return None;
        }
        let index = cx.below(queue.len() as u64) as usize;
        if queue.get(index)?.flow != flow {
            return None;
        }
        let drawn = queue.remove(index);
        if queue.is_empty() {
            state.emptied(cx.now);
        }
        drawn
    }
}

impl Discipline for Choke {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        self.red.sample(cx.now);
        match self.draw(packet.flow, cx) {
            Some(drawn) => {
                cx.drop(drawn, DropReason::Unfair);
                cx.drop(packet, DropReason::Unfair);
            }
            None => self.red.admit(packet, cx),
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.red.dequeue(cx)
    }

    fn backlog(&self) -> Backlog {
        self.red.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.red.change(params, cx)
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.red.purge(cx);
    }

    fn probe(&self, now: Time, sink: &mut dyn FnMut(&str, f64)) {
        self.red.probe(now, sink);
    }

    fn state_bytes(&self) -> usize {
        size_of::<Choke>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;

    /// Weight 1: the average is the queue that a packet finds. The curve is flat at zero up to `max`.
    const SMALL: &str = "choke limit 6p min 2p max 5p probability 0 w 1";

    #[test]
    fn a_packet_that_meets_its_own_flow_takes_it_along() {
        // The fourth packet finds 3, which is above min: it draws index 3 * 0.4 = 1, which is of its own flow.
        let mut host = Host::scripted(SMALL, &[0.4]);
        for (cookie, flow) in [(0, 7), (1, 8), (2, 7), (3, 8)] {
            host.put(ms(1), cookie, flow, 1000);
        }
        assert_eq!(host.log.dropped, [(1, DropReason::Unfair), (3, DropReason::Unfair)]);
        // Packet 4 finds 2, which is not above min. Packet 5 of flow 8 finds 3, the middle one of flow 7.
        host.put(ms(1), 4, 8, 1000);
        host.put(ms(1), 5, 8, 1000);
        assert_eq!(host.dropped(), [1, 3]);
        assert_eq!([host.get(ms(1)), host.get(ms(1)), host.get(ms(1))], [Some(0), Some(2), Some(4)]);
    }

    #[test]
    fn tc_derives_the_thresholds_from_the_limit() {
        let of = |text: &str| {
            let spec = crate::spec::Spec::parse(text).unwrap();
            let link = Link::new(crate::units::Rate::from_mbit(10));
            let law = settings(&spec.params, &link).unwrap_or_else(|error| panic!("{error}")).law;
            (law.min, law.max, law.max_p, law.weight)
        };
        // The kernel's own test of `choke limit 1000 bandwidth 10000`: min 83p max 250p; tc: probability 0.02.
        assert_eq!(of("choke:linux limit 1000p"), (83.0, 250.0, 0.02, 1.0 / 64.0));
        assert_eq!(of("choke:linux limit 1000p min 100p"), (100.0, 250.0, 0.02, 1.0 / 64.0));
        assert_eq!(of("choke limit 1000p"), (200.0, 600.0, 0.1, 0.002));
    }

    #[test]
    fn beyond_max_even_strangers_are_dropped() {
        let mut host = Host::scripted(SMALL, &[0.0]);
        (0..6).for_each(|cookie| host.put(ms(1), cookie, cookie, 1000)); // the sixth finds 5
        assert_eq!(host.log.dropped, [(5, DropReason::Congestion)]);
    }

    #[test]
    fn a_full_queue_may_be_made_room_in() {
        let mut host = Host::scripted("choke limit 3p min 1p max 9p probability 0 w 1", &[0.0]);
        (0..3).for_each(|cookie| host.put(ms(1), cookie, cookie, 1000));
        host.put(ms(1), 3, 9, 1000);
        host.put(ms(1), 4, 0, 1000); // draws packet 0
        assert_eq!(
            host.log.dropped,
            [(3, DropReason::Overlimit), (0, DropReason::Unfair), (4, DropReason::Unfair)]
        );
    }
}
