//! Whatever a discipline's text is, it is refused in one line, or its canonical form reads alike and it can be
//! built, or its building is refused in one line.
#![no_main]

use aqm_core::link::Link;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::Rate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Spec::parse(text) {
        Ok(spec) => {
            let canonical = spec.to_string();
            assert_eq!(Spec::parse(&canonical).map(|again| again.to_string()), Ok(canonical));
            let link = Link::new(Rate::from_bits_per_sec(10_000_000));
            if let Err(error) = spec.build(link, Random::seeded(1)) {
                error.to_string();
            }
        }
        Err(error) => {
            error.to_string();
        }
    }
});
