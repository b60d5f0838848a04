//! Whatever packets a classifier sees, its memory stays as it is, it keeps no more flows than it may, and says the same
//! again.

use crate::setting::Setting;
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

/// Tables beyond this take longer to make than to use.
const MOST_FLOWS: u64 = 2000;

pub(crate) fn run(run: Run) {
    let info = &CLASSIFIERS[usize::from(run.classifier) % CLASSIFIERS.len()];
    let presets = info.discipline.presets;
    let mut spec = Spec::of(info.discipline, &presets[usize::from(run.preset) % presets.len()]);
    for setting in &run.settings {
        if let Some((name, text)) = setting.read(info.discipline.params) {
            spec.set_text(name, &text).expect("it is within its bounds");
        }
    }
    let cache = spec.params.count("cache");
    let shadow = if spec.params.names().any(|name| name == "sq") { spec.params.count("sq") } else { 0 };
    if cache.max(shadow) > MOST_FLOWS {
        return;
    }
    // A relation between parameters may not hold.
    let (Ok(mut one), Ok(mut other)) = ((info.build)(&spec.params), (info.build)(&spec.params)) else {
        return;
    };
    let (mut random, mut same) = (Random::seeded(run.seed), Random::seeded(run.seed));
    let bytes = one.bytes();
    for Train { flow, packets, others } in run.trains {
        for number in 0..packets {
            let flow = u64::from(flow) + if others { u64::from(number) } else { 0 };
            let kind = one.observe(flow, &mut random);
            assert_eq!(other.observe(flow, &mut same), kind, "{spec}");
            let (kept, reported) = one.flows();
            assert!(reported <= kept && kept as u64 <= cache, "{spec}: {reported} of {kept} of {cache}");
            assert!(kind == FlowKind::Responsive || reported > 0, "{spec}: flow {flow} is not in the list");
        }
    }
    assert_eq!(one.bytes(), bytes, "{spec}");
}
