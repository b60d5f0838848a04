//! Memory: bounded for any number of flows, correctly reported, and not allocated per packet.

use crate::allocator;
use crate::common::workload::LINK_RATE;
use crate::common::{every_preset, values};
use aqm_core::link::Link;
use aqm_core::packet::Packet;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::registry::CLASSIFIERS;
use aqm_core::signal::Unobserved;
use aqm_core::spec::Spec;
use aqm_core::units::{Size, Span, Time};
use std::fmt::Write as _;

/// Flows in every test run: more than any table has room for.
const FLOWS: u64 = 100_000;
/// Flows in `make nightly`.
const MANY_FLOWS: u64 = 1_000_000;
/// More than any table of the registry needs, far less than a record for each of many flows.
const BOUND: usize = 8 << 20;
/// A limit below this says nothing.
const LEAST: usize = 1 << 10;

fn build(spec: &Spec) -> Qdisc {
    Qdisc::new(spec, Link::new(LINK_RATE), Random::seeded(1))
        .unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// A number that looks like the hash of a 5-tuple.
fn hashed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

/// Two packets arrive for each that leaves; wake-ups are delivered. Returns the largest backlog.
fn flood(qdisc: &mut Qdisc, numbers: std::ops::Range<u64>, flow: impl Fn(u64) -> u64) -> u64 {
    let mut most = 0;
    for number in numbers {
        let now = Time::from_nanos(number * 400_000);
        if qdisc.next_wakeup().is_some_and(|due| due <= now) {
            qdisc.wake(now, &mut Unobserved);
        }
        qdisc.enqueue(Packet::new(number, flow(number), 1000), now, &mut Unobserved);
        if number % 2 == 0 {
            qdisc.dequeue(now, &mut Unobserved);
        }
        most = most.max(qdisc.backlog().packets);
    }
    most
}

#[test]
fn a_flood_of_flows_is_held_in_bounded_memory() {
    is_held_in_bounded_memory(FLOWS);
}

#[test]
#[ignore = "takes minutes: make nightly"]
fn a_flood_of_a_million_flows_is_held_in_the_same_memory() {
    is_held_in_bounded_memory(MANY_FLOWS);
}

fn is_held_in_bounded_memory(flows: u64) {
    let mut limits = String::new();
    for spec in every_preset() {
        let before = allocator::bytes();
        let mut qdisc = build(&spec);
        let most = flood(&mut qdisc, 0..flows, hashed);
        let held = (allocator::bytes() - before) as usize;
        let state = qdisc.discipline().state_bytes();
        assert!(state <= BOUND, "{spec}: {state} bytes of state after {flows} flows");
        // Rings grow by doubling, so twice the packets that the limit allows may be held.
        let packets = match values::limit(&spec.params) {
            Some(Size::Packets(packets)) => packets,
            _ => most.max(1000),
        };
        let queued = 2 * (packets as usize + 1) * size_of::<Packet>();
        assert!(
            held <= state + queued + 4096,
            "{spec}: holds {held} bytes, owns up to {state} and {queued} queued"
        );
        assert!(qdisc.check().is_ok(), "{spec}");
        writeln!(limits, "{spec}: {} KiB", state.next_power_of_two().max(LEAST) >> 10).unwrap();
    }
    // The limit of each, the next power of two: more is a change that someone has to see.
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("memory_in_a_flood", limits);
    });
}

#[test]
fn memory_per_flow_is_at_most_what_the_traits_say() {
    for spec in every_preset() {
        let state = |flows: u64| {
            let mut qdisc = build(&spec);
            flood(&mut qdisc, 0..5000, |number| hashed(number % flows));
            qdisc.discipline().state_bytes()
        };
        let (few, many) = (state(1), state(500));
        let most = few + 499 * spec.info.traits.flow_state_bytes;
        assert!(many <= most, "{spec}: {few} bytes for one flow, {many} for 500, expected at most {most}");
    }
}

#[test]
fn a_classifier_takes_exactly_the_memory_that_it_declares_and_no_more_for_any_flows() {
    for info in CLASSIFIERS {
        for preset in info.discipline.presets {
            let spec = Spec::of(info.discipline, preset);
            let before = allocator::bytes();
            let mut classifier = (info.build)(&spec.params).unwrap_or_else(|error| panic!("{spec}: {error}"));
            let declared = classifier.bytes() + size_of_val(&*classifier);
            let mut random = Random::seeded(1);
            assert_eq!(allocator::bytes() - before, declared as isize, "{spec}");
            for number in 0..FLOWS {
                classifier.observe(hashed(number), &mut random);
            }
            assert_eq!(allocator::bytes() - before, declared as isize, "{spec}");
        }
    }
}

#[test]
fn nothing_is_allocated_per_packet_once_warm() {
    for spec in every_preset() {
        let mut qdisc = build(&spec);
        // First a burst: rings grow as long as the limit allows, independent of the law.
        for number in 0..20_000 {
            let packet = Packet::new(number, hashed(number % 100), 1000);
            qdisc.enqueue(packet, Time::ZERO, &mut Unobserved);
        }
        flood(&mut qdisc, 0..50_000, |number| hashed(number % 100));
        let before = allocator::calls();
        flood(&mut qdisc, 50_000..100_000, |number| hashed(number % 100));
        assert_eq!(allocator::calls() - before, 0, "{spec}: allocations over 50000 packets");
    }
}

#[test]
fn memory_is_freed() {
    for spec in every_preset() {
        let before = allocator::bytes();
        let mut qdisc = build(&spec);
        flood(&mut qdisc, 0..20_000, hashed);
        qdisc.reset(Time::from_nanos(0) + Span::from_secs(100), &mut Unobserved);
        drop(qdisc);
        assert_eq!(allocator::bytes(), before, "{spec}");
    }
}
