//! `fifo-queue-disc`: ten packets fit, an eleventh does not.

use super::common::rig::Rig;
use super::played::{overflow, rig, units, waiting};
use aqm_core::packet::Ecn;

const LENGTH: u32 = 1000;

/// Ten packets in, an eleventh dropped, ten out in order.
fn fill(rig: &mut Rig) {
    for count in 1..=10 {
        rig.arrive(0, LENGTH, Ecn::NotEct);
        assert_eq!(waiting(rig), count);
    }
    rig.arrive(0, LENGTH, Ecn::NotEct);
    assert_eq!((waiting(rig), overflow(rig)), (10, 1));
    for count in 0..10 {
        assert_eq!((rig.serve(), waiting(rig)), (Some(count), 9 - count));
    }
    assert_eq!(rig.serve(), None);
}

pub(crate) fn limit_from_the_start() {
    units(LENGTH).into_iter().for_each(|unit| fill(&mut rig(&format!("fifo limit {}", unit.of(10)), 1)));
}

pub(crate) fn limit_set_later() {
    for unit in units(LENGTH) {
        let mut rig = rig("fifo", 1);
        rig.change("limit", &unit.of(10)).unwrap();
        fill(&mut rig);
    }
}
