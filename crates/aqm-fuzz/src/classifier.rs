//! Whatever packets a classifier sees, its memory stays as it is, it keeps no more flows than it may, and says the same
//! again.

use crate::setting::{Setting, given};
use aqm_core::classifier::FlowKind;
use aqm_core::random::Random;
use aqm_core::registry::CLASSIFIERS;
use aqm_core::spec::Spec;
use arbitrary::Arbitrary;

#[derive(Arbitrary, Debug)]
pub(crate) struct Run {
    classifier: u8,
    preset: u8,
    settings: Vec<Setting>,
    seed: u64,
    trains: Vec<Train>,
}

/// Packets of one flow, or one packet of each of so many.
#[derive(Arbitrary, Debug)]
struct Train {
    flow: u16,
    packets: u8,
    others: bool,
}

/// What a list does, a small one does within few packets; a large one takes longer to make, and to count, than to use.
const MOST_FLOWS: u64 = 40;
/// Enough to fill a list many times.
const MOST_PACKETS: u32 = 500;

pub(crate) fn run(run: Run) {
    let info = &CLASSIFIERS[usize::from(run.classifier) % CLASSIFIERS.len()];
    let presets = info.discipline.presets;
    let mut spec = Spec::of(info.discipline, &presets[usize::from(run.preset) % presets.len()]);
    for (name, text) in given(&run.settings, info.discipline.params) {
        spec.set_text(name, &text).expect("it is within its bounds");
    }
    for name in ["cache", "sq"] {
        if spec.params.names().any(|known| known == name) && spec.params.count(name) > MOST_FLOWS {
            spec.set_text(name, &MOST_FLOWS.to_string()).expect("it is within its bounds");
        }
    }
    let cache = spec.params.count("cache");
    // A relation between parameters may not hold.
    let (Ok(mut one), Ok(mut other)) = ((info.build)(&spec.params), (info.build)(&spec.params)) else {
        return;
    };
    let (mut random, mut same) = (Random::seeded(run.seed), Random::seeded(run.seed));
    let bytes = one.bytes();
    let mut left = MOST_PACKETS;
    'trains: for Train { flow, packets, others } in run.trains {
        let mut before = FlowKind::Responsive;
        for number in 0..packets {
            if left == 0 {
                break 'trains;
            }
            left -= 1;
            let flow = u64::from(flow) + if others { u64::from(number) } else { 0 };
            let kind = one.observe(flow, &mut random);
            assert_eq!(other.observe(flow, &mut same), kind, "{spec}");
            // To count the list is to walk through it: where something may have changed, and at the end of a train.
            if kind != before || number + 1 == packets {
                let (kept, reported) = one.flows();
                assert!(reported <= kept && kept as u64 <= cache, "{spec}: {reported} of {kept} of {cache}");
                assert!(
                    kind == FlowKind::Responsive || reported > 0,
                    "{spec}: flow {flow} is not in the list"
                );
            }
            before = kind;
        }
    }
    assert_eq!(one.bytes(), bytes, "{spec}");
}
