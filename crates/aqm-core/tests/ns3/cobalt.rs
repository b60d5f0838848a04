//! `cobalt-queue-disc`: CoDel's part without BLUE (BlueThreshold at its maximum), and BLUE's alone.

use super::codel::served;
use super::played::{Do, Plan, Unit, at_once, check_order, early, overflow, probe, rig, units, waiting};
use aqm_core::packet::Ecn;

fn spec(unit: Unit, limit: u32, rest: &str) -> String {
    format!("cobalt:ns3 limit {} {rest}", unit.of(limit))
}

pub(crate) fn order() {
    for unit in units(1000) {
        check_order(&spec(unit, 1500, "interval 50ms target 4ms blue_threshold auto"), 6, 1000);
    }
}

/// 200 packets, 10 ms apart, at a queue for 100 that nobody serves.
pub(crate) fn overflows() {
    for unit in units(1500) {
        let mut rig = rig(&spec(unit, 100, "blue_threshold auto"), 1);
        Plan::default().every(0, 10_000, 200, Do::Arrive(0, 1500, Ecn::Ect0)).play(&mut rig, |_, _| ());
        assert!(probe(&rig, "drop_probability") > 0.0);
        assert_eq!((overflow(&rig), waiting(&rig)), (100, 100));
    }
}

pub(crate) fn drops_and_marks() {
    let times = [10, 210, 210, 420];
    for unit in units(1000) {
        // 1: no drop at the first service, one at the second.
        let found = served(&spec(unit, 500, "noecn blue_threshold auto"), &[(20, Ecn::NotEct)], &times);
        assert_eq!(found[0], [0, 0, 0, 19]);
        assert!(found[1][0] > 0);
        // 2: marks instead, one at the second and, since that is when the next is due, one at the same moment.
        let found = served(&spec(unit, 500, "ecn blue_threshold auto"), &[(20, Ecn::Ect0)], &times);
        assert_eq!(found, [[0, 0, 0, 19], [0, 1, 0, 18], [0, 2, 0, 17], [0, 3, 0, 16]]);
        // 3: three packets have ECN; the others are dropped, as many as are due.
        let packets = [(3, Ecn::Ect0), (17, Ecn::NotEct)];
        let found = served(&spec(unit, 500, "ecn blue_threshold auto"), &packets, &times);
        assert_eq!(found[..3], [[0, 0, 0, 19], [0, 1, 0, 18], [0, 2, 0, 17]]);
        let [dropped, marked, _, left] = found[3];
        assert!(dropped > 0);
        assert_eq!((marked, left), (2, 17 - 1 - dropped));
    }
}

/// 200 packets at once, a service each 10 ms: the drops of the law, and BLUE's probability.
fn blue(rest: &str, seed: u64) -> (usize, f64) {
    let mut rig = rig(&format!("cobalt:ns3 {rest}"), seed);
    at_once(&mut rig, 200, 0, 1500, Ecn::Ect0);
    Plan::default().every(0, 10_000, 100, Do::Serve).play(&mut rig, |_, _| ());
    (early(&rig), probe(&rig, "drop_probability"))
}

pub(crate) fn blue_by_the_sojourn_time() {
    // From the 41st service on packets have waited for more than 400 ms: 60 steps of 1/256. How many are dropped is
    // chance: 49 with the one stream of numbers that ns-3's test has.
    let found: Vec<usize> = (1..=100)
        .map(|seed| {
            let (dropped, probability) = blue("", seed);
            assert_eq!(probability, 60.0 / 256.0, "seed {seed}");
            dropped
        })
        .collect();
    let range = (*found.iter().min().unwrap(), *found.iter().max().unwrap());
    assert!(range.0 < 49 && 49 < range.1, "{range:?}");
    // Without that threshold, and with ECN, nothing is dropped.
    assert_eq!(blue("ecn blue_threshold auto", 1), (0, 0.0));
}
