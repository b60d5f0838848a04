//! What is common to the suites: units of queue sizes, counts of events, and packets at given times.

use super::common::parse;
use super::common::rig::{Rig, What};
use aqm_core::packet::Ecn;
use aqm_core::signal::{DropReason, MarkReason};
use aqm_core::units::{Span, Time};

/// Most suites run once with sizes in packets and once in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Unit {
    word: &'static str,
    scale: u32,
}

impl Unit {
    /// So many packets.
    pub(crate) fn of(self, packets: u32) -> String {
        format!("{}{}", packets * self.scale, self.word)
    }
}

/// Both units, for packets of `length` bytes.
pub(crate) fn units(length: u32) -> [Unit; 2] {
    [Unit { word: "p", scale: 1 }, Unit { word: "b", scale: length }]
}

/// A discipline with the random numbers of its seed.
pub(crate) fn rig(spec: &str, seed: u64) -> Rig {
    Rig::new(&parse(spec), seed)
}

/// Packets dropped by the law, or because there was no room.
pub(crate) fn drops(rig: &Rig, reason: DropReason) -> usize {
    rig.events().iter().filter(|one| matches!(one.what, What::Dropped(_, why, _) if why == reason)).count()
}

/// Packets dropped by the law.
pub(crate) fn early(rig: &Rig) -> usize {
    drops(rig, DropReason::Congestion)
}

/// Packets dropped because there was no room.
pub(crate) fn overflow(rig: &Rig) -> usize {
    drops(rig, DropReason::Overlimit)
}

/// Packets marked for a reason.
pub(crate) fn marks(rig: &Rig, reason: MarkReason) -> usize {
    rig.events().iter().filter(|one| matches!(one.what, What::Marked(_, why) if why == reason)).count()
}

/// Packets that wait.
pub(crate) fn waiting(rig: &Rig) -> u64 {
    rig.qdisc().backlog().packets
}

/// A probe's value.
pub(crate) fn probe(rig: &Rig, wanted: &str) -> f64 {
    let mut found = None;
    rig.qdisc().probe(rig.now(), &mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.unwrap_or_else(|| panic!("no probe {wanted}"))
}

/// So many packets of a flow at the same moment.
pub(crate) fn at_once(rig: &mut Rig, count: u32, flow: u64, length: u32, ecn: Ecn) {
    for _ in 0..count {
        rig.arrive(flow, length, ecn);
    }
}

/// So many packets in, all out in order, and nothing more.
pub(crate) fn check_order(spec: &str, packets: u64, length: u32) {
    let mut rig = rig(spec, 1);
    for count in 1..=packets {
        rig.arrive(0, length, Ecn::NotEct);
        let is = (waiting(&rig), rig.qdisc().backlog().bytes);
        assert_eq!(is, (count, count * u64::from(length)), "{spec}");
    }
    for count in 0..packets {
        assert_eq!(rig.serve(), Some(count), "{spec}");
        assert_eq!(waiting(&rig), packets - count - 1, "{spec}");
    }
    assert_eq!((rig.serve(), early(&rig), overflow(&rig)), (None, 0, 0), "{spec}");
}

/// What happens at a time.
#[derive(Clone, Copy)]
pub(crate) enum Do {
    /// A packet of a flow comes.
    Arrive(u64, u32, Ecn),
    /// A packet is taken.
    Serve,
}

/// Things to do at times in microseconds; of those at the same time in the order given.
#[derive(Default)]
pub(crate) struct Plan(Vec<(u64, Do)>);

impl Plan {
    /// The same `count` times, `gap` apart, the first one `gap` after `start`.
    pub(crate) fn every(&mut self, start: u64, gap: u64, count: u64, what: Do) -> &mut Plan {
        self.0.extend((1..=count).map(|number| (start + number * gap, what)));
        self
    }

    /// Once.
    pub(crate) fn at(&mut self, time: u64, what: Do) -> &mut Plan {
        self.0.push((time, what));
        self
    }

    /// Does everything; `look` is called after each step.
    pub(crate) fn play(&self, rig: &mut Rig, mut look: impl FnMut(&Rig, Do)) {
        let mut steps = self.0.clone();
        steps.sort_by_key(|(time, _)| *time);
        for (micros, what) in steps {
            let due = Time::ZERO + Span::from_micros(micros);
            rig.advance(due.since(rig.now()));
            match what {
                Do::Arrive(flow, length, ecn) => {
                    rig.arrive(flow, length, ecn);
                }
                Do::Serve => {
                    rig.serve();
                }
            }
            look(rig, what);
        }
    }
}
