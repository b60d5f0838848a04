//! Kinds of links, declared as disciplines are: a name, parameters, and the device that they build.

use crate::device::burst::Device;
use aqm_core::input_error::InputError;
use aqm_core::params::{ParamSpec, Params, Preset};
use aqm_core::random::Random;
use aqm_core::units::Rate;

/// The declaration of a kind of link.
pub struct LinkKind {
    /// Its name in the notation `KIND key value ...`.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// Where its rules are from.
    pub reference: &'static str,
    /// Its parameters.
    pub params: &'static [ParamSpec],
    /// Builds the device that serves the links of one medium.
    pub build: fn(&Params, Site<'_>) -> Built,
}

/// A device, or why there is none.
pub type Built = Result<Box<dyn Device>, InputError>;

/// Where a device is built.
pub struct Site<'a> {
    /// The ports that it serves, and the rates of their links.
    pub ports: &'a [(u32, Rate)],
    /// Bytes that the link layer adds to an IP packet.
    pub overhead: u32,
    /// Its random numbers.
    pub random: Random,
}

/// A kind with the values of its parameters.
#[derive(Clone)]
pub struct KindSpec {
    kind: &'static LinkKind,
    params: Params,
}

/// Kinds have defaults, and no presets.
const DEFAULTS: Preset = Preset { name: "default", source: "", values: &[] };

impl KindSpec {
    /// Reads `KIND key value ...`, one of these kinds.
    ///
    /// # Errors
    /// The kind or the key that there is not, or the value and what is allowed.
    pub fn parse(text: &str, kinds: &[&'static LinkKind]) -> Result<KindSpec, InputError> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let Some(kind) = kinds.iter().copied().find(|kind| kind.name == name) else {
            return Err(InputError::unknown("link kind", name, kinds.iter().map(|kind| kind.name)));
        };
        let no_children = |text: &str| Err(format!("'{text}': a link has no disciplines in it"));
        let mut params = Params::new(kind.params, &DEFAULTS, no_children);
        while let Some(key) = words.next() {
            let Some(value) = words.next() else {
                return Err(InputError::new(format!("'{key}' has no value")).of_value(key).within(name));
            };
            params.set_text(key, value, no_children).map_err(|error| InputError::from(error).within(name))?;
        }
        Ok(KindSpec { kind, params })
    }

    /// Its declaration.
    pub fn kind(&self) -> &'static LinkKind {
        self.kind
    }

    /// Builds its device.
    ///
    /// # Errors
    /// What cannot be, of its parameters together or with its links.
    pub fn build(&self, site: Site<'_>) -> Built {
        (self.kind.build)(&self.params, site).map_err(|error| error.within(self.kind.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::params::{Kind, Value};

    static TEST: LinkKind = LinkKind {
        name: "test",
        summary: "Made for a test",
        reference: "none",
        params: &[ParamSpec::new(
            "packets",
            Kind::Count,
            Value::Count(4),
            (1.0, 64.0),
            "packets at once",
            "none",
        )],
        build: |params, _| {
            Err(InputError::field("packets", params.count("packets"), "there is no device of this kind"))
        },
    };

    #[test]
    fn kinds_are_read_as_disciplines_are() {
        let read = |text: &str| KindSpec::parse(text, &[&TEST]);
        assert_eq!(read("test packets 8").map(|spec| spec.params.count("packets")).ok(), Some(8));
        assert_eq!(read("test").map(|spec| spec.params.count("packets")).ok(), Some(4));
        for (text, problem) in [
            ("tset", "unknown link kind 'tset', did you mean 'test'?; known are test"),
            ("test packets", "test: 'packets' has no value"),
            ("test packets 65", "test: parameter 'packets': '65' is out of range: allowed is 1 to 64"),
            ("test pakets 8", "test: parameter 'pakets' is unknown, did you mean 'packets'?"),
        ] {
            let found = read(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(found.starts_with(problem), "{text}: {found}");
        }
        let site = Site { ports: &[], overhead: 0, random: Random::seeded(1) };
        let problem = read("test packets 9").ok().and_then(|spec| spec.build(site).err());
        assert_eq!(problem.unwrap().to_string(), "test: packets is 9: there is no device of this kind");
    }
}
