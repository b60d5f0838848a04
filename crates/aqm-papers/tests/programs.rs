//! The programs of switches, declared in full.

use aqm_core::random::Random;
use aqm_core::units::Rate;
use aqm_papers::PROGRAMS;
use aqm_sim::switch::declaration::Site;
use aqm_sim::switch::program::ProgramSpec;

#[test]
fn every_program_is_declared_in_full_and_builds_with_each_preset() {
    for info in PROGRAMS {
        assert!(!info.summary.is_empty() && !info.reference.is_empty(), "{}", info.name);
        for param in info.params {
            assert!(!param.help.is_empty() && !param.reference.is_empty(), "{} {}", info.name, param.name);
        }
        for preset in info.presets {
            let text = format!("{}:{}", info.name, preset.name);
            let rates = vec![Rate::from_mbit(10); 5];
            let spec = ProgramSpec::parse_among(&text, PROGRAMS).unwrap();
            assert_eq!(spec.to_string(), text);
            assert!(spec.build(Site { rates, random: Random::seeded(1) }).is_ok(), "{text}");
        }
    }
}

#[test]
fn the_simulator_alone_knows_no_programs_of_papers() {
    for info in PROGRAMS {
        let problem = ProgramSpec::parse(info.name).unwrap_err().to_string();
        assert!(problem.starts_with(&format!("unknown program '{}'", info.name)), "{problem}");
    }
}
