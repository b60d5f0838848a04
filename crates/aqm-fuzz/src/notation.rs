//! Whatever the text of a transport, rate control, program or sweep is, it is refused in one line, or what it says is written
//! and read alike.

use crate::refusal::one_line;
use aqm_core::random::Random;
use aqm_core::units::Rate;
use aqm_scenario::flows::{self, Catalogue, NoFiles};
use aqm_scenario::sweep::{MOST_POINTS, points};
use aqm_sim::rate_control::{RATE_CONTROLS, RateSender};
use aqm_sim::scenario::Tcp;
use aqm_sim::switch::declaration::Site;
use aqm_sim::switch::program::ProgramSpec;

pub(crate) fn run(text: &str) {
    match Tcp::parse(text) {
        Ok(tcp) => {
            let json = serde_json::to_value(&tcp).expect("plain data");
            let again: Tcp =
                serde_json::from_value(json.clone()).unwrap_or_else(|error| panic!("{json}: {error}"));
            assert_eq!(serde_json::to_value(&again).ok(), Some(json));
        }
        Err(error) => one_line(text, &error),
    }
    let known = Catalogue::default();
    match flows::parse(text, &known, &NoFiles) {
        Ok(group) => {
            for written in [group.to_string(), group.short()] {
                let again = flows::parse(&written, &known, &NoFiles);
                let again = again.unwrap_or_else(|error| panic!("{written}: {error}"));
                assert_eq!(again.to_string(), group.to_string(), "{written}");
                assert_eq!(again.short(), group.short(), "{written}");
            }
            if let Err(error) = group.group() {
                one_line(text, &error);
            }
        }
        Err(error) => one_line(text, &error),
    }
    match RateSender::parse(text) {
        Ok(sender) => {
            let named = sender.spec();
            assert_eq!(RateSender::of(&named, RATE_CONTROLS).as_ref(), Ok(&sender), "{named:?}");
        }
        Err(error) => one_line(text, &error),
    }
    match ProgramSpec::parse(text) {
        Ok(program) => {
            let canonical = program.to_string();
            assert_eq!(ProgramSpec::parse(&canonical).map(|again| again.to_string()), Ok(canonical));
            let rates = vec![Rate::from_bits_per_sec(0), Rate::from_bits_per_sec(10_000_000)];
            if let Err(error) = program.build(Site { rates, random: Random::seeded(1) }) {
                one_line(text, &error);
            }
        }
        Err(error) => one_line(text, &error),
    }
    match points::parse(text) {
        Ok(points) => assert!(points.len() <= MOST_POINTS, "{} points", points.len()),
        Err(error) => one_line(text, &error),
    }
}
