//! First in, first out within a flow; peeking takes the same decisions as dequeueing.

use crate::common::every_preset;
use crate::common::rig::{Rig, What};
use crate::common::workload::{EVERYTHING, Op};
use aqm_core::packet::Ecn;
use aqm_core::units::Span;

#[test]
fn packets_of_a_flow_leave_in_order_through_bursts_of_serving() {
    // The rig checks the order; here the queue is filled and emptied in bursts, so that schedulers go round.
    for spec in every_preset() {
        let mut rig = Rig::new(&spec, 3);
        for round in 0..50 {
            for packet in 0..40 {
                rig.arrive(packet % 7, 64 + 50 * (packet as u32 % 20), Ecn::Ect0);
                rig.advance(Span::from_micros(200));
            }
            for _ in 0..20 + round % 30 {
                rig.serve();
                rig.advance(Span::from_micros(700));
            }
        }
        rig.drain();
    }
}

#[test]
fn peeking_shows_what_is_sent_and_changes_nothing() {
    for spec in every_preset() {
        let (mut peeked, mut plain) = (Rig::new(&spec, 5), Rig::new(&spec, 5));
        for op in EVERYTHING.ops(5) {
            if let Op::Serve = op {
                let seen = peeked.peek();
                assert_eq!(peeked.peek(), seen, "{spec}: a second look sees another packet");
                assert_eq!(peeked.serve(), seen, "{spec}: another packet is sent than was seen");
            } else {
                peeked.apply(&op);
            }
            plain.apply(&op);
        }
        assert_eq!(peeked.events(), plain.events(), "{spec}");
        assert!(plain.events().iter().any(|event| matches!(event.what, What::Departed(_))), "{spec}");
    }
}
