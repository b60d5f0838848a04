//! The classifiers by hand-made sequences, and the shadow queue's chances against every possible sample.

use super::*;
use alloc::vec::Vec;

/// Draws this number, in 64 bits, again and again.
fn always(uniform: f64) -> Random {
    Random::script(alloc::vec![((uniform * 9_007_199_254_740_992.0) as u64) << 11])
}

/// Which of the packets are reported, in order.
fn reported(classifier: &mut dyn Classifier, flows: &[u64], random: &mut Random) -> Vec<bool> {
    flows.iter().map(|flow| classifier.observe(*flow, random) == FlowKind::Ltf).collect()
}

#[test]
fn a_sample_is_as_likely_to_hold_a_flow_as_the_share_of_all_samples_that_do() {
    for (n, m) in [(6u32, 2u32), (8, 3), (5, 5), (7, 0), (9, 4)] {
        let mut shadow = ShadowQueue::new(n, f64::from(m) / f64::from(n), Sampling::Set);
        for b in 0..=n {
            // The first b entries are of the flow: which of all sets of m entries have one of them?
            let sets = (0u32..1 << n).filter(|set| set.count_ones() == m);
            let (all, with) = sets.fold((0u32, 0u32), |(all, with), set| {
                (all + 1, with + u32::from(set & ((1 << b) - 1) != 0))
            });
            let expected = f64::from(with) / f64::from(all);
            assert!((shadow.chance_of(1) - expected).abs() < 1e-12, "{b} of {n}, {m} drawn");
            shadow.observe(1, &mut always(0.0));
        }
    }
}

#[test]
fn a_sample_has_the_nearest_whole_number_of_entries() {
    for (p_samp, entries) in [(0.25, 1.0), (0.35, 2.0), (0.05, 0.0)] {
        let mut shadow = ShadowQueue::new(5, p_samp, Sampling::Set);
        shadow.observe(1, &mut always(0.9));
        assert!((shadow.chance_of(1) - entries / 5.0).abs() < 1e-15, "{p_samp} of 5");
    }
}

#[test]
fn one_draw_matches_as_often_as_a_sample_that_is_taken() {
    let (n, m) = (50usize, 15usize);
    let mut shadow = ShadowQueue::new(n as u32, 0.3, Sampling::Set);
    let (mut random, mut other) = (Random::seeded(1), Random::seeded(2));
    let (mut queue, mut drawn, mut taken) = (Vec::new(), 0u32, 0u32);
    for _ in 0..40_000 {
        let flow = other.below(30).min(other.below(30));
        // A sample without putting back: the first m of a shuffle.
        let mut places: Vec<usize> = (0..n).collect();
        for place in 0..m {
            places.swap(place, place + other.below((n - place) as u64) as usize);
        }
        taken += u32::from(places[..m].iter().any(|place| queue.get(*place) == Some(&flow)));
        drawn += u32::from(shadow.observe(flow, &mut random));
        queue.push(flow);
        if queue.len() > n {
            queue.remove(0);
        }
    }
    // Half of 40 000 have a deviation of 100; two such counts differ by 140.
    assert!(drawn.abs_diff(taken) < 500, "{drawn} by one draw, {taken} by samples");
}

#[test]
fn a_single_entry_matches_by_equation_1() {
    let mut shadow = ShadowQueue::new(10, 0.3, Sampling::Single);
    for _ in 0..4 {
        shadow.observe(1, &mut always(0.9));
    }
    assert!((shadow.chance_of(1) - 0.3 * 4.0 / 10.0).abs() < 1e-15);
    assert_eq!(shadow.chance_of(2), 0.0);
}

#[test]
fn the_shadow_queue_forgets_its_oldest_packet() {
    let mut shadow = ShadowQueue::new(3, 1.0, Sampling::Set);
    let mut random = always(0.0);
    let matched: Vec<bool> = [1, 1, 2, 1, 3, 4, 1, 2].map(|flow| shadow.observe(flow, &mut random)).into();
    // Before each: "", 1, 11, 112, 121, 213, 134, 341.
    assert_eq!(matched, [false, true, false, true, false, false, true, false]);
    assert_eq!([1, 2, 3, 4].map(|flow| shadow.entries_of(flow)), [1, 1, 0, 1]);
}

#[test]
fn lru_reports_beyond_the_threshold_and_forgets_who_was_not_met_for_longest() {
    let mut lru = Lru::new(2, 1, 1.0);
    let flows = [1, 1, 2, 1, 3, 2, 1];
    // 1, 1 is met again; 2; 1; 3 pushes 2 out; 2 pushes 1 out; 1 pushes 3 out.
    let expected = [false, true, false, true, false, false, false];
    assert_eq!(reported(&mut lru, &flows, &mut always(0.5)), expected);
    assert_eq!(lru.flows(), (2, 0));
}

#[test]
fn lru_lets_in_with_its_probability() {
    let mut lru = Lru::new(4, 1, 0.25);
    assert_eq!(reported(&mut lru, &[1, 1, 1], &mut always(0.25)), [false; 3]);
    assert_eq!(lru.flows(), (0, 0));
    assert_eq!(reported(&mut lru, &[1, 1], &mut always(0.2)), [false, true]);
}

#[test]
fn short_flows_push_a_heavy_one_out_of_lru_but_not_above_the_landmark() {
    let flows = [1, 1, 1, 2, 3, 4, 5, 6, 1];
    let mut random = always(0.5);
    let (mut plain, mut landmark) = (Lru::new(4, 2, 1.0), LandmarkLru::new(4, 0.5, 2));
    assert_eq!(reported(&mut plain, &flows, &mut random).last(), Some(&false));
    assert_eq!(reported(&mut landmark, &flows, &mut random).last(), Some(&true));
}

#[test]
fn the_upper_part_of_a_landmark_lru_gives_its_oldest_flow_to_the_lower() {
    let mut landmark = LandmarkLru::new(3, 0.4, 1); // one flow above the landmark, two below
    let mut random = always(0.5);
    // 1 rises, then 2 does and 1 comes below the landmark; 3, 4 and 5 enter above it there and push it out.
    let seen = reported(&mut landmark, &[1, 1, 2, 2, 1, 2, 3, 4, 1], &mut random);
    assert_eq!(seen, [false, true, false, true, true, true, false, false, false]);
}

/// Every packet matches that has a predecessor among the last four.
fn small(p_lth: u32, ltf_unit: u32, responsive_unit: u32) -> MLru {
    let sampling = Sampling::Set;
    MLru::new(&Settings { sq: 4, p_samp: 1.0, sampling, p_lth, ltf_unit, responsive_unit })
}

#[test]
fn m_lru_counts_matched_packets_alone_and_reports_beyond_the_threshold() {
    let mut m_lru = small(2, 1, 1);
    // Unmatched; enters with count 1; 2; 3, which is beyond 2; stays reported.
    let seen = reported(&mut m_lru, &[1, 1, 1, 1, 1], &mut always(0.5));
    assert_eq!(seen, [false, false, false, true, true]);
    assert_eq!(m_lru.flows(), (1, 1));
    // Four others: flow 1 is no longer in the shadow queue, but still above MARK.
    let seen = reported(&mut m_lru, &[2, 3, 4, 5, 1], &mut always(0.5));
    assert_eq!(seen, [false, false, false, false, true]);
}

#[test]
fn no_number_of_short_flows_pushes_a_reported_one_out_of_m_lru() {
    let mut m_lru = small(1, 1, 2);
    let mut random = always(0.5);
    reported(&mut m_lru, &[1, 1, 1], &mut random);
    for flow in 10..1000 {
        assert_eq!(reported(&mut m_lru, &[flow, flow], &mut random), [false, false]);
    }
    assert_eq!(reported(&mut m_lru, &[1], &mut random), [true]);
    assert_eq!(m_lru.flows(), (3, 1));
}

#[test]
fn a_full_ltf_unit_gives_up_the_flow_that_was_not_met_for_longest() {
    let mut m_lru = small(1, 2, 2);
    let mut random = always(0.5);
    let report = |m_lru: &mut MLru, flow, random: &mut Random| {
        assert_eq!(reported(m_lru, &[flow, flow, flow], random), [false, false, true]);
    };
    report(&mut m_lru, 1, &mut random);
    report(&mut m_lru, 2, &mut random);
    assert_eq!(reported(&mut m_lru, &[1], &mut random), [true]); // so 2 is the oldest
    report(&mut m_lru, 3, &mut random);
    let seen = reported(&mut m_lru, &[9, 9, 9, 1, 3], &mut random);
    assert_eq!(seen, [false, false, true, false, true]); // 9 pushed 1 out
    assert_eq!(m_lru.flows(), (2, 2));
}

#[test]
fn memory_is_as_declared_and_does_not_grow() {
    let settings = Settings {
        sq: 200,
        p_samp: 0.3,
        sampling: Sampling::Set,
        p_lth: 5,
        ltf_unit: 20,
        responsive_unit: 30,
    };
    let (mut m_lru, mut lru) = (MLru::new(&settings), Lru::new(500, 5, 1.0));
    // Ring entries and buckets of 4 bytes, counts of 16, chances of 8, nodes of 32.
    let shadow = 200 * 4 + 512 * 4 + 201 * 16 + 201 * 8;
    assert_eq!(m_lru.bytes(), shadow + 53 * 32 + 128 * 4);
    assert_eq!(lru.bytes(), 503 * 32 + 1024 * 4);
    let mut random = Random::seeded(1);
    for flow in 0..100_000 {
        m_lru.observe(flow % 7919, &mut random);
        lru.observe(flow, &mut random);
    }
    assert_eq!((m_lru.bytes(), lru.flows().0), (shadow + 53 * 32 + 128 * 4, 500));
}

#[test]
fn who_shares_a_bucket_depends_on_the_seed_and_what_is_said_does_not() {
    use super::table::{Slot, Table};
    // The flows of the first bucket without a salt: an attacker could find them.
    let table = Table::<u32>::new(0, 64);
    let flows: Vec<u64> = (0..100_000).filter(|flow| table.bucket(*flow) == 0).take(64).collect();
    let longest = |table: &Table<u32>| {
        (0..128).map(|bucket| flows.iter().filter(|flow| table.bucket(**flow) == bucket).count()).max()
    };
    assert_eq!(longest(&table), Some(64));
    for seed in 0..20 {
        let mut table = Table::<u32>::new(0, 64);
        table.seed(&Random::seeded(seed));
        assert!(longest(&table) < Some(8), "seed {seed}");
        let slots: Vec<Slot> = flows.iter().map(|flow| table.insert(*flow, 0)).collect();
        assert!(flows.iter().zip(&slots).all(|(flow, slot)| table.find(*flow) == Some(*slot)));
    }
}

#[test]
fn a_flow_is_forgotten_with_as_many_reads_as_it_is_found() {
    let mut table = table::Table::<()>::new(0, 64);
    for flow in 0..64 {
        table.insert(flow, ());
    }
    let mut most = 0;
    for flow in 0..64 {
        let before = table.records_read();
        let slot = table.find(flow).expect("it was entered");
        let found = table.records_read() - before;
        table.remove(slot);
        assert_eq!(table.records_read() - before, 2 * found, "flow {flow}");
        most = most.max(found);
    }
    assert!(most > 1, "no two flows share a bucket");
}

#[test]
fn records_read_for_a_packet_depend_neither_on_the_number_of_flows_nor_on_the_tables() {
    let reads = |flows: u64, size: u32| {
        let (sq, ltf_unit, responsive_unit) = (4 * size, size / 2, size / 2);
        let settings =
            Settings { sq, p_samp: 0.3, sampling: Sampling::Set, p_lth: 5, ltf_unit, responsive_unit };
        let (mut m_lru, mut random) = (MLru::new(&settings), Random::seeded(1));
        let packets = 20_000;
        for _ in 0..packets {
            let flow = random.below(flows);
            m_lru.observe(flow, &mut random);
        }
        m_lru.records_read() as f64 / f64::from(packets)
    };
    // Of records that are found each bucket in use has one and a quarter, as they are at most half full; two tables find
    // one each, and enter and forget one each.
    for (flows, size) in [(10, 50), (200, 50), (5000, 50), (1_000_000, 50), (5000, 1000), (5000, 10)] {
        let reads = reads(flows, size);
        assert!((1.0..6.0).contains(&reads), "{flows} flows, {size} places: {reads}");
    }
}
