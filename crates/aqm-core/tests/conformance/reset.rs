//! After a reset a discipline behaves like a new one; a purge leaves nothing behind.

use crate::common::every_preset;
use crate::common::rig::{Event, Rig, What};
use crate::common::workload::EVERYTHING;
use aqm_core::backlog::Backlog;
use aqm_core::counters::Counters;
use aqm_core::packet::Ecn;
use aqm_core::units::Span;

/// Events from `first` on, packets counted from `packets`.
fn renumbered(events: &[Event], packets: u64) -> Vec<Event> {
    let shift = |event: &Event| {
        let what = match event.what {
            What::Departed(packet) => What::Departed(packet - packets),
            What::Dropped(packet, reason, point) => What::Dropped(packet - packets, reason, point),
            What::Marked(packet, reason) => What::Marked(packet - packets, reason),
            What::Emitted(emission) => What::Emitted(emission),
        };
        Event { at: event.at, what }
    };
    events.iter().map(shift).collect()
}

#[test]
fn reset_equals_new() {
    for spec in every_preset() {
        let mut used = Rig::new(&spec, 12);
        used.run(&EVERYTHING.ops(1));
        let (packets, now) = (used.qdisc().counters().arrived, used.now());
        used.reset();
        assert_eq!(*used.qdisc().counters(), Counters::default(), "{spec}");
        let before = used.events().len();
        used.run(&EVERYTHING.ops(2)).drain();

        let mut new = Rig::new(&spec, 12);
        new.skip_to(now);
        new.run(&EVERYTHING.ops(2)).drain();
        assert!(renumbered(&used.events()[before..], packets) == new.events(), "{spec}");
    }
}

#[test]
fn a_reset_returns_a_peeked_packet() {
    for spec in every_preset() {
        let mut rig = Rig::new(&spec, 1);
        let packet = rig.arrive(1, 1000, Ecn::NotEct);
        rig.advance(Span::from_millis(1));
        assert_eq!(rig.peek(), Some(packet), "{spec}");
        rig.reset();
        assert_eq!(rig.serve(), None, "{spec}");
    }
}

#[test]
fn a_purge_drops_the_backlog_and_a_peeked_packet() {
    let mut peeked = 0;
    for spec in every_preset() {
        let mut rig = Rig::new(&spec, 4);
        rig.run(&EVERYTHING.ops(4));
        for flow in 0..5 {
            rig.arrive(flow, 1000, Ecn::NotEct);
        }
        rig.advance(Span::from_millis(1));
        // A shaper may have nothing to show yet.
        peeked += u32::from(rig.peek().is_some());
        let (waiting, counters) = (rig.qdisc().backlog(), rig.qdisc().counters().clone());
        rig.purge();
        assert_eq!(rig.qdisc().backlog(), Backlog::default(), "{spec}");
        let now = rig.qdisc().counters();
        assert_eq!(now.dropped_total() - counters.dropped_total(), waiting.packets, "{spec}");
        assert_eq!(now.dropped_bytes - counters.dropped_bytes, waiting.bytes, "{spec}");
        rig.reset();
        rig.run(&EVERYTHING.ops(5)).drain();
    }
    assert!(peeked > 0);
}
