//! The kinds of links: a file and a line for each.

mod backoff;
mod parts;
mod rate;
mod trace;
mod turns;

use crate::kind::LinkKind;

/// All kinds; the first is that of a link of which only the rate is known.
pub const KINDS: &[&LinkKind] =
    &[&rate::KIND, &trace::KIND, &turns::KIND, &backoff::KIND, &crate::mac::link::KIND];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Capacity, KindSpec};
    use aqm_core::units::Rate;

    #[test]
    fn every_kind_is_declared_in_full_and_read_again_as_it_is_written() {
        for (number, kind) in KINDS.iter().enumerate() {
            assert!(KINDS[..number].iter().all(|other| other.name != kind.name), "{} twice", kind.name);
            assert!(!kind.summary.is_empty() && !kind.reference.is_empty(), "{}", kind.name);
            for param in kind.params {
                assert!(
                    !param.help.is_empty() && !param.reference.is_empty(),
                    "{} {}",
                    kind.name,
                    param.name
                );
            }
            for own in kind.of_link {
                assert!(kind.params.iter().any(|param| param.name == *own), "{} {own}", kind.name);
            }
            let spec = KindSpec::parse(kind.name, KINDS).unwrap();
            assert_eq!(spec.to_string(), kind.name);
        }
        for (text, written) in [
            ("rate 50mbit", "rate 50mbit"),
            ("rate rate 50mbit", "rate 50mbit"),
            ("trace a.down", "trace a.down"),
            ("turns rate 6mbit", "turns rate 6mbit"),
            ("backoff until arrival rate 6mbit", "backoff rate 6mbit until arrival"),
        ] {
            let spec = KindSpec::parse(text, KINDS).unwrap();
            assert_eq!(spec.to_string(), written);
            assert_eq!(KindSpec::parse(written, KINDS).unwrap().to_string(), written);
        }
    }

    #[test]
    fn a_kind_says_what_its_link_can_carry() {
        let capacity = |text: &str| KindSpec::parse(text, KINDS).unwrap().capacity();
        assert_eq!(capacity("rate 50mbit"), Capacity::Rate(Rate::from_mbit(50)));
        assert_eq!(capacity("backoff rate 6mbit"), Capacity::Rate(Rate::from_mbit(6)));
        assert_eq!(capacity("trace a.down"), Capacity::Trace("a.down".to_owned()));
        assert!(["rate", "trace", "turns", "backoff"].iter().all(|name| capacity(name) == Capacity::OfPath));
    }

    #[test]
    fn links_of_a_medium_may_differ_in_their_rates_alone() {
        let spec = |text: &str| KindSpec::parse(text, KINDS).unwrap();
        let first = spec("backoff rate 6mbit until arrival");
        assert!(first.agrees(&spec("backoff rate 54mbit until arrival")));
        assert!(!first.agrees(&spec("backoff rate 6mbit")));
        assert!(!first.agrees(&spec("turns rate 6mbit until arrival")));
    }
}
