//! Random sequences of calls, shrunk when one breaks the contract.
#![allow(unreachable_pub, reason = "proptest's macros write public functions")]

mod common;

use aqm_core::packet::Ecn;
use aqm_core::units::{Bytes, Rate, Size, Span, parse as quantity};
use common::rig::{Rig, What};
use common::workload::Op;
use common::{every_preset, parse};
use proptest::collection::vec;
use proptest::prelude::*;

/// Mostly traffic; sometimes a spurious wake-up or a change of parameters.
fn op() -> impl Strategy<Value = Op> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    // Few flows and many, small packets and large ones, so that limits and quanta are reached from both sides.
    let flow = prop_oneof![0..4u64, any::<u64>()];
    let length = prop_oneof![1..100u32, Just(1514), 1..20_000u32];
    let span = prop_oneof![0..2_000_000u64, 0..200_000_000u64].prop_map(Span::from_nanos);
    prop_oneof![
        8 => (flow, length, ecn).prop_map(|(flow, length, ecn)| Op::Arrive { flow, length, ecn }),
        5 => Just(Op::Serve),
        5 => span.prop_map(Op::Advance),
        1 => Just(Op::Wake),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(param, value)| Op::Change { param, value }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_discipline_keeps_its_contract_on_any_sequence_of_calls(
        ops in vec(op(), 1..400),
        seed in any::<u64>(),
    ) {
        for spec in every_preset() {
            Rig::new(&spec, seed).run(&ops).drain();
        }
    }

    #[test]
    fn a_standing_queue_is_served_completely_after_any_changes(
        changes in vec((any::<usize>(), any::<usize>()), 1..12),
        seed in any::<u64>(),
    ) {
        for spec in every_preset() {
            let mut rig = Rig::new(&spec, seed);
            for (number, &(param, value)) in changes.iter().enumerate() {
                for packet in 0..30 {
                    rig.arrive(packet % 5, 1000, [Ecn::NotEct, Ecn::Ect0][number % 2]);
                }
                rig.apply(&Op::Change { param, value });
                rig.advance(Span::from_millis(40));
                rig.serve();
            }
            rig.drain();
        }
    }
}

/// CAKE with settings that no preset has: those that cannot change while running, and sets that fill up.
const CAKES: [&str; 4] = [
    "cake besteffort flows queues 8",
    "cake diffserv8 dual-srchost queues 8 bandwidth 3mbit conservative",
    "cake precedence flowblind lan ack-filter limit 20p",
    "cake diffserv4 hosts queues 16 bandwidth 1mbit limit 30kb",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_cake_keeps_its_contract_on_any_sequence_of_calls(ops in vec(op(), 1..400), seed in any::<u64>()) {
        for text in CAKES {
            Rig::new(&parse(text), seed).run(&ops).drain();
        }
    }

    #[test]
    fn a_shaper_never_sends_ahead_of_its_rate(ops in vec(op(), 1..400), seed in any::<u64>()) {
        let mut rig = Rig::new(&parse("cake besteffort bandwidth 3mbit"), seed);
        let traffic: Vec<Op> = ops.into_iter().filter(|op| !matches!(op, Op::Change { .. })).collect();
        let lengths: Vec<u32> = traffic
            .iter()
            .filter_map(|op| if let Op::Arrive { length, .. } = op { Some(*length) } else { None })
            .collect();
        rig.run(&traffic).drain();
        let mut paid = Span::ZERO;
        for event in rig.events() {
            if let What::Departed(packet) = event.what {
                prop_assert!(event.at.as_nanos() >= paid.as_nanos());
                let length = Bytes::new(u64::from(lengths[packet as usize]));
                paid += Rate::from_mbit(3).time_for(length);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_a_quantity_never_panics(text in "\\PC{0,20}") {
        let _ = (quantity::rate(&text), quantity::span(&text), quantity::bytes(&text), quantity::size(&text), quantity::fraction(&text));
    }

    #[test]
    fn text_like_a_quantity_is_parsed_or_refused_with_a_reason(
        text in "-?[0-9]{0,25}\\.?[0-9]{0,25} ?[a-zA-Z%]{0,6}",
    ) {
        let refusals = [quantity::rate(&text).err(), quantity::span(&text).err(), quantity::size(&text).err()];
        for error in refusals.into_iter().flatten() {
            prop_assert_eq!(&error.text, &text);
            prop_assert!(!error.problem.is_empty());
        }
    }

    // Up to 2^53: larger quantities are refused as too large.
    #[test]
    fn a_quantity_reads_back_from_what_it_shows(number in 0..=1u64 << 53, shift in 0..53u32) {
        let number = number >> shift;
        let (rate, span) = (Rate::from_bits_per_sec(number), Span::from_nanos(number));
        prop_assert_eq!(quantity::rate(&rate.to_string()), Ok(rate));
        prop_assert_eq!(quantity::span(&span.to_string()), Ok(span));
        prop_assert_eq!(quantity::bytes(&Bytes::new(number).to_string()), Ok(Bytes::new(number)));
        for size in [Size::Packets(number), Size::Bytes(number)] {
            prop_assert_eq!(quantity::size(&size.to_string()), Ok(size));
        }
    }

    #[test]
    fn a_fraction_reads_back_from_what_it_shows(number in 0.0..=1.0f64) {
        prop_assert_eq!(quantity::fraction(&number.to_string()), Ok(number));
    }

    #[test]
    fn sending_the_bytes_that_fit_into_a_span_takes_no_longer(bits in 1..1u64 << 40, nanos in 0..1u64 << 40) {
        let (rate, span) = (Rate::from_bits_per_sec(bits), Span::from_nanos(nanos));
        prop_assert!(rate.time_for(rate.bytes_in(span)) <= span);
        prop_assert!(rate.time_for(rate.bytes_in(span) + Bytes::new(1)) > span);
    }
}
