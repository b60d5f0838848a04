//! `codel-queue-disc`: twenty packets at once, served at 10, 210, 210 and 420 ms with a target of 5 ms and an interval of
//! 100 ms.

use super::played::{Unit, at_once, check_order, early, marks, overflow, rig, units, waiting};
use aqm_core::packet::Ecn;
use aqm_core::signal::MarkReason;
use aqm_core::units::Time;

const LENGTH: u32 = 1000;

/// Twice the target, two intervals later, at the same moment again, and at twice that time.
const TIMES: [u64; 4] = [10, 210, 210, 420];

/// What was dropped, marked by the law and by the threshold, and what waits, after each service.
pub(crate) fn served(spec: &str, packets: &[(u32, Ecn)], at_ms: &[u64]) -> Vec<[usize; 4]> {
    let mut rig = rig(spec, 1);
    for (count, ecn) in packets {
        at_once(&mut rig, *count, 0, LENGTH, *ecn);
    }
    let served = at_ms.iter().map(|ms| {
        rig.skip_to(Time::from_nanos(ms * 1_000_000));
        rig.serve();
        let [law, threshold] = [MarkReason::Congestion, MarkReason::Threshold].map(|why| marks(&rig, why));
        [early(&rig), law, threshold, waiting(&rig) as usize]
    });
    served.collect()
}

fn spec(unit: Unit, rest: &str) -> String {
    format!("codel:linux limit {} {rest}", unit.of(500))
}

pub(crate) fn order() {
    for unit in units(LENGTH) {
        check_order(&format!("codel:linux limit {} interval 50ms target 4ms", unit.of(1500)), 6, LENGTH);
    }
}

pub(crate) fn overflows() {
    for unit in units(LENGTH) {
        let mut rig = rig(&spec(unit, ""), 1);
        at_once(&mut rig, 503, 0, LENGTH, Ecn::NotEct);
        assert_eq!((waiting(&rig), overflow(&rig)), (500, 3));
    }
}

pub(crate) fn drops() {
    for unit in units(LENGTH) {
        let found = served(&spec(unit, ""), &[(20, Ecn::NotEct)], &TIMES);
        // Above the target at 10 ms, and for an interval at 210 ms: a drop. It is not time for another.
        assert_eq!(found[..3], [[0, 0, 0, 19], [1, 0, 0, 17], [1, 0, 0, 16]]);
        // Every drop that has become due since, and the packet that is served.
        let [dropped, _, _, left] = found[3];
        assert!(dropped > 1);
        assert_eq!(left, 20 - 4 - dropped);
    }
}

pub(crate) fn marks_of_the_law_and_of_the_threshold() {
    for unit in units(LENGTH) {
        // 1: no packet has ECN: none is marked, and the first drop comes where the first mark comes below.
        let found = served(&spec(unit, "ecn"), &[(20, Ecn::NotEct)], &TIMES);
        assert_eq!(found[..2], [[0, 0, 0, 19], [1, 0, 0, 17]]);
        // 2: all have: marks in place of drops, and one packet leaves at each moment.
        let found = served(&spec(unit, "ecn"), &[(20, Ecn::Ect0)], &TIMES);
        assert_eq!(found, [[0, 0, 0, 19], [0, 1, 0, 18], [0, 1, 0, 17], [0, 2, 0, 16]]);
        // 3: three have, with a threshold of 2 ms: it marks what the law does not, and no packet twice.
        let found = served(&spec(unit, "ecn ce_threshold 2ms"), &[(3, Ecn::Ect0), (17, Ecn::NotEct)], &TIMES);
        assert_eq!(found[..3], [[0, 0, 1, 19], [0, 1, 1, 18], [0, 1, 2, 17]]);
        let [dropped, law, threshold, left] = found[3];
        assert_eq!((law, threshold, left), (1, 2, 17 - 1 - dropped));
        assert!(dropped > 0);
        // 4: the threshold alone, from the second of these times on.
        let found = served(&spec(unit, "ecn ce_threshold 2ms"), &[(20, Ecn::Ect0)], &[1, 3, 10, 10]);
        assert_eq!(found, [[0, 0, 0, 19], [0, 0, 1, 18], [0, 0, 2, 17], [0, 0, 3, 16]]);
    }
}
