//! Shows packets to a classifier, for instruction counts: `classify SPEC FLOWS PACKETS`.
//!
//! Half of the packets are of eight flows in turn, the other half of all others in turn. Prints `bytes N reported N`.

use aqm_core::classifier::FlowKind;
use aqm_core::random::Random;
use aqm_core::sketch::mix;
use aqm_core::spec::Spec;
use std::error::Error;

const HEAVY: u64 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, spec, flows, packets] = words.as_slice() else {
        return Err("usage: classify SPEC FLOWS PACKETS".into());
    };
    let (info, spec) = Spec::parse_classifier(spec)?;
    let mut classifier = (info.build)(&spec.params)?;
    let mut random = Random::seeded(1);
    let light = flows.parse::<u64>()?.saturating_sub(HEAVY).max(1);
    let mut reported = 0;
    for number in 0..packets.parse::<u64>()? {
        let turn = number / 2;
        let flow = if number % 2 == 0 { turn % HEAVY } else { HEAVY + turn % light };
        let kind = classifier.observe(mix(flow), &mut random);
        reported += u64::from(std::hint::black_box(kind) == FlowKind::Ltf);
    }
    println!("bytes {} reported {reported}", classifier.bytes());
    Ok(())
}
