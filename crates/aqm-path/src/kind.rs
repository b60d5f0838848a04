//! Kinds of links, declared as disciplines are: a name, parameters, and the device that they build.

use crate::device::burst::Device;
use crate::medium::Sharing;
use crate::placement::Placed;
use aqm_core::brackets;
use aqm_core::input_error::InputError;
use aqm_core::params::{ParamSpec, Params, Preset, ReadFile};
use aqm_core::random::Random;
use aqm_core::units::Rate;
use std::fmt;

/// The declaration of a kind of link.
pub struct LinkKind {
    /// Its name in the notation `KIND key value ...`. A parameter of this name needs no key: `rate 50mbit`.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// Where its rules are from.
    pub reference: &'static str,
    /// Its parameters.
    pub params: &'static [ParamSpec],
    /// The parameters in which links of one medium may differ.
    pub of_link: &'static [&'static str],
    /// What a link can carry: `1bdp`, `utilization` and estimates are of this.
    pub capacity: fn(&Params) -> Capacity,
    /// The names of the stations that share its medium, in the order of their numbers, if stations do.
    pub stations: Option<fn(&Params) -> Vec<String>>,
    /// What its stations get together, about, where that is less than the capacity: estimates of cost are of this.
    pub usual: Option<fn(&Params) -> Rate>,
    /// What serves its links.
    pub service: Service,
}

/// What a link can carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// What the link's path says: its own rate, or that of the scenario.
    OfPath,
    /// This rate.
    Rate(Rate),
    /// The recording of this name.
    Trace(String),
}

/// What serves the links of a kind.
pub enum Service {
    /// One packet after another, each as long as its bytes take.
    Line,
    /// Recorded delivery opportunities.
    Opportunities,
    /// A medium on which one link sends one packet at a time.
    Medium(fn(&Params) -> Sharing),
    /// A device that sends bursts, for all links of a medium. The parameters are those of its first link.
    Bursts(fn(&Params, Site<'_>) -> Built),
}

/// A device, or why there is none.
pub type Built = Result<Box<dyn Device>, InputError>;

impl Service {
    /// Whether links share it: each is on a medium, of its own if it names none.
    pub fn is_shared(&self) -> bool {
        matches!(self, Service::Medium(_) | Service::Bursts(_))
    }
}

/// A port that a device serves, and its link.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    /// The number of the port.
    pub port: u32,
    /// What its link can carry.
    pub rate: Rate,
    /// The parameters of its link.
    pub params: &'a Params,
    /// The node that its link leaves.
    pub from: &'a str,
    /// Where its discipline sits, on a medium that stations share.
    pub placed: Placed,
}

/// Where a device is built.
pub struct Site<'a> {
    /// What it serves, in the order of the links.
    pub ports: &'a [Served<'a>],
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
    ///
    /// ```
    /// use aqm_path::kind::KindSpec;
    /// use aqm_path::kinds::KINDS;
    /// let spec = KindSpec::parse("backoff rate 10mbit", KINDS).unwrap();
    /// assert_eq!((spec.kind().name, spec.to_string().as_str()), ("backoff", "backoff rate 10mbit"));
    /// let error = KindSpec::parse("trace", &[]).err().unwrap();
    /// assert!(error.to_string().starts_with("unknown link kind 'trace'"));
    /// ```
    pub fn parse(text: &str, kinds: &[&'static LinkKind]) -> Result<KindSpec, InputError> {
        let words = brackets::words(text).map_err(|problem| InputError::value(text, problem))?;
        let name = words.first().copied().unwrap_or_default();
        let Some(kind) = kinds.iter().copied().find(|kind| kind.name == name) else {
            return Err(InputError::unknown("link kind", name, kinds.iter().map(|kind| kind.name)));
        };
        let no_children =
            |text: &str| Err(InputError::value(text, "is a discipline, and a link has none in it"));
        let mut params = Params::new(kind.params, &DEFAULTS, no_children);
        let is_key = |word: &str| kind.params.iter().any(|param| param.name == word);
        let follows_name = words.get(1).is_some_and(|word| is_key(name) && !is_key(word));
        for pair in words[usize::from(!follows_name)..].chunks(2) {
            let &[key, value] = pair else {
                return Err(InputError::new(format!("'{}' has no value", pair[0]))
                    .of_value(pair[0])
                    .within(name));
            };
            if params.is_given(key) {
                return Err(InputError::new(format!("'{key}' is given twice")).of_value(key).within(name));
            }
            params.set_text(key, value, no_children).map_err(|error| InputError::from(error).within(name))?;
        }
        Ok(KindSpec { kind, params })
    }

    /// The same with the content of the files that its parameters name.
    ///
    /// # Errors
    /// If a file cannot be read, or has what a parameter does not.
    pub fn with_files(mut self, read: ReadFile<'_>) -> Result<KindSpec, InputError> {
        self.params.read_files(read).map_err(|error| error.within(self.kind.name))?;
        Ok(self)
    }

    /// Its declaration.
    pub fn kind(&self) -> &'static LinkKind {
        self.kind
    }

    /// Its parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The stations that share its medium; none if it has no stations.
    pub fn stations(&self) -> Vec<String> {
        self.kind.stations.map_or(Vec::new(), |stations| stations(&self.params))
    }

    /// What a link of it can carry.
    pub fn capacity(&self) -> Capacity {
        (self.kind.capacity)(&self.params)
    }

    /// Whether links of both can be on one medium.
    pub fn agrees(&self, other: &KindSpec) -> bool {
        let is_own = |name: &str| self.kind.of_link.contains(&name);
        let mut pairs = self.params.iter().zip(other.params.iter());
        self.kind.name == other.kind.name
            && pairs.all(|((param, value), (_, others))| is_own(param.name) || value == others)
    }
}

impl fmt::Debug for KindSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KindSpec({self})")
    }
}

impl fmt::Display for KindSpec {
    /// Writes it as it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name)?;
        if let Some(own) =
            self.params.names().find(|name| *name == self.kind.name && self.params.is_given(name))
        {
            write!(f, " {}", self.params.get(own))?;
        }
        for (param, value) in self.params.iter() {
            if param.name != self.kind.name && self.params.is_given(param.name) {
                write!(f, " {} {value}", param.name)?;
            }
        }
        Ok(())
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
        of_link: &[],
        capacity: |_| Capacity::OfPath,
        stations: None,
        usual: None,
        service: Service::Line,
    };

    #[test]
    fn kinds_are_read_as_disciplines_are() {
        let read = |text: &str| KindSpec::parse(text, &[&TEST]);
        assert_eq!(read("test packets 8").map(|spec| spec.params.count("packets")).ok(), Some(8));
        assert_eq!(read("test").map(|spec| spec.params.count("packets")).ok(), Some(4));
        for (text, problem) in [
            ("tset", "unknown link kind 'tset', did you mean 'test'?; known are test"),
            ("test packets", "test: 'packets' has no value"),
            ("test packets 2 packets 3", "test: 'packets' is given twice"),
            ("test packets 65", "test: parameter 'packets': '65' is out of range: allowed is 1 to 64"),
            ("test pakets 8", "test: parameter 'pakets' is unknown, did you mean 'packets'?"),
        ] {
            let found = read(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(found.starts_with(problem), "{text}: {found}");
        }
    }
}
