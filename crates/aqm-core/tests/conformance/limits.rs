//! The limit holds at every time, in packets and in bytes, and when it is lowered. The rig checks each call.

use crate::common::rig::Rig;
use crate::common::workload::EVERYTHING;
use crate::common::{every_preset, values};
use aqm_core::packet::Ecn;
use aqm_core::signal::DropReason;
use aqm_core::units::{Size, Span};

const LIMITS: [&str; 5] = ["1p", "7p", "50p", "4000b", "64kb"];

#[test]
fn a_flood_never_goes_beyond_the_limit() {
    for mut spec in every_preset() {
        let Some(default) = values::limit(&spec.params) else { continue };
        let mut tried = 0;
        for text in [&*default.to_string()].into_iter().chain(LIMITS) {
            if spec.set_text("limit", text).is_err() {
                continue;
            }
            let Ok(mut rig) = Rig::try_new(&spec, 1) else { continue };
            // A quarter leaves at once; twice the limit is more than fits, whatever the law admits.
            let flood = match values::limit(&spec.params) {
                Some(Size::Packets(packets)) => (2 * packets).clamp(3000, 30_000),
                _ => 3000,
            };
            for number in 0..flood {
                rig.arrive(number % 11, 64 + (number as u32 * 97) % 1450, Ecn::NotEct);
                if number % 4 == 0 {
                    rig.serve();
                }
                rig.advance(Span::from_micros(50));
            }
            assert!(rig.qdisc().counters().dropped_total() > 0, "{spec}: the flood fits");
            rig.drain();
            tried += 1;
        }
        assert!(tried >= 3, "{spec}: only {tried} limits can be set");
    }
}

#[test]
fn lowering_the_limit_drops_excess_packets_with_a_reason() {
    for spec in every_preset() {
        if values::limit(&spec.params).is_none() {
            continue;
        }
        let mut rig = Rig::new(&spec, 1);
        for number in 0..20 {
            rig.arrive(number % 5, 1000, Ecn::NotEct);
        }
        let before = rig.qdisc().backlog().packets;
        assert!(before > 8, "{spec}: {before}");
        let lowered = ["8p", "8000b"].iter().any(|limit| rig.change("limit", limit).is_ok());
        assert!(lowered, "{spec}: the limit cannot be lowered");
        let gone = rig.qdisc().counters().dropped[DropReason::Reconfigured as usize];
        assert_eq!(rig.qdisc().backlog().packets, 8, "{spec}");
        assert_eq!(gone, before - 8, "{spec}");
        rig.run(&EVERYTHING.ops(1)).drain();
    }
}

#[test]
fn a_packet_larger_than_the_whole_limit_is_dropped_and_harms_nothing() {
    for mut spec in every_preset() {
        if values::limit(&spec.params).is_none() || spec.set_text("limit", "3000b").is_err() {
            continue;
        }
        let Ok(mut rig) = Rig::try_new(&spec, 1) else { continue };
        rig.arrive(1, 9000, Ecn::NotEct);
        assert_eq!(rig.qdisc().backlog().packets, 0, "{spec}");
        rig.arrive(2, 1000, Ecn::NotEct);
        rig.arrive(3, 9000, Ecn::NotEct);
        rig.drain();
        assert!(rig.qdisc().counters().departed <= 1, "{spec}");
    }
}
