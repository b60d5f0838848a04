//! Whatever the text of a discipline or classifier is, it is refused in one line, or its canonical form reads alike and it
//! can be built, or its building is refused in one line.

use crate::refusal::one_line;
use aqm_core::link::Link;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::Rate;

pub(crate) fn run(text: &str) {
    match Spec::parse(text) {
        Ok(spec) => {
            let canonical = spec.to_string();
            assert_eq!(Spec::parse(&canonical).map(|again| again.to_string()), Ok(canonical));
            let link = Link::new(Rate::from_bits_per_sec(10_000_000));
            if let Err(error) = spec.build(link, Random::seeded(1)) {
                one_line(text, &error);
            }
        }
        Err(error) => one_line(text, &error),
    }
    match Spec::parse_classifier(text) {
        Ok((info, spec)) => {
            if let Err(error) = (info.build)(&spec.params) {
                one_line(text, &error);
            }
        }
        Err(error) => one_line(text, &error),
    }
}
