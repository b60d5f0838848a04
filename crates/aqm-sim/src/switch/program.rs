//! Programs as declarations: parameters, presets, and a scenario's notation, `dscp codepoints 46,26 threshold 30kb int`.

use super::control_plane::Program;
use super::declaration::{Info, Site};
use super::programs::PROGRAMS;
use aqm_core::input_error::InputError;
use aqm_core::params::{Child, Kind, Params, Preset, did_you_mean, same_name};
use std::fmt;

/// A program with its parameters, ready to be built.
#[derive(Clone)]
pub struct ProgramSpec {
    info: &'static Info,
    preset: &'static Preset,
    params: Params,
}

impl ProgramSpec {
    /// Reads `NAME[:PRESET] [PARAMETER VALUE | FLAG | noFLAG]...`.
    ///
    /// ```
    /// use aqm_sim::switch::program::ProgramSpec;
    /// let program = ProgramSpec::parse("dscp codepoints 46,26 int").unwrap();
    /// assert_eq!(program.to_string(), "dscp:plain codepoints 46,26 int");
    /// assert!(ProgramSpec::parse("dcsp").unwrap_err().to_string().contains("did you mean 'dscp'"));
    /// ```
    ///
    /// # Errors
    /// One line that names the program, the parameter, what is allowed and the nearest name.
    pub fn parse(text: &str) -> Result<ProgramSpec, InputError> {
        ProgramSpec::parse_among(text, PROGRAMS)
    }

    /// The same of the programs that a host knows.
    ///
    /// # Errors
    /// As [`parse`](ProgramSpec::parse).
    pub fn parse_among(text: &str, known: &[&'static Info]) -> Result<ProgramSpec, InputError> {
        let mut words = text.split_whitespace();
        let head = words.next().unwrap_or("");
        let (name, preset) = head.split_once(':').map_or((head, None), |(name, preset)| (name, Some(preset)));
        let info = known
            .iter()
            .copied()
            .find(|info| same_name(info.name, name))
            .ok_or_else(|| InputError::unknown("program", name, known.iter().map(|info| info.name)))?;
        let preset = match preset {
            None => &info.presets[0],
            Some(given) => {
                info.presets.iter().find(|preset| same_name(preset.name, given)).ok_or_else(|| {
                    let known: Vec<_> = info.presets.iter().map(|preset| preset.name).collect();
                    let hint = did_you_mean(given, known.iter().copied());
                    let problem =
                        format!("{} has no preset '{given}'{hint}; it has {}", info.name, known.join(", "));
                    InputError::new(problem).of_value(given).near(given, known.into_iter())
                })?
            }
        };
        let mut params = Params::new(info.params, preset, no_child);
        while let Some(word) = words.next() {
            let (param, value) = match flag(info, word) {
                Some((flag, on)) => (flag, if on { "on" } else { "off" }),
                None if !params.names().any(|name| same_name(name, word)) => (word, ""),
                None => {
                    let missing =
                        || InputError::new(format!("parameter '{word}' needs a value")).within(info.name);
                    (word, words.next().ok_or_else(missing)?)
                }
            };
            params
                .set_text(param, value, no_child)
                .map_err(|error| InputError::from(error).within(info.name))?;
        }
        Ok(ProgramSpec { info, preset, params })
    }

    /// Which program.
    pub fn info(&self) -> &'static Info {
        self.info
    }

    /// Makes the program for a switch.
    ///
    /// # Errors
    /// One line about a relation between parameters that does not hold.
    pub fn build(&self, site: Site) -> Result<Program, InputError> {
        (self.info.build)(&self.params, site).map_err(|error| InputError::from(error).within(self.info.name))
    }
}

/// The flag that a word sets, and whether it sets or clears it.
fn flag(info: &Info, word: &str) -> Option<(&'static str, bool)> {
    let flags = || info.params.iter().filter(|param| param.kind == Kind::Flag).map(|param| param.name);
    let find = |word: &str| flags().find(|name| same_name(name, word));
    find(word).map(|name| (name, true)).or_else(|| Some((find(word.strip_prefix("no")?)?, false)))
}

/// Programs have no disciplines inside.
fn no_child(_: &str) -> Result<Child, InputError> {
    Err(InputError::new("is no discipline"))
}

impl fmt::Display for ProgramSpec {
    /// Writes name, preset and the parameters that were given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}{}", self.info.name, self.preset.name, self.params.given())
    }
}

impl fmt::Debug for ProgramSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProgramSpec({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::random::Random;
    use aqm_core::units::Rate;

    fn problem(text: &str) -> String {
        ProgramSpec::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_program_is_refused_by_name() {
        assert_eq!(problem(""), format!("unknown program ''; known are {}", known()));
        assert!(problem("dscq int").starts_with("unknown program 'dscq', did you mean 'dscp'?"));
        assert_eq!(problem("dscp:plane"), "dscp has no preset 'plane', did you mean 'plain'?; it has plain");
        assert!(problem("dscp treshold 3kb").contains("'treshold' is unknown, did you mean 'threshold'?"));
        assert_eq!(problem("dscp threshold"), "dscp: parameter 'threshold' needs a value");
        assert!(problem("dscp threshold 3").contains("'3'"), "{}", problem("dscp threshold 3"));
        assert!(problem("dscp codepoints 46,64").contains("out of range: allowed is 0 to 63"));
    }

    fn known() -> String {
        PROGRAMS.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn every_program_is_declared_in_full_and_builds_with_each_preset() {
        for info in PROGRAMS {
            assert!(!info.summary.is_empty() && !info.reference.is_empty(), "{}", info.name);
            for param in info.params {
                assert!(
                    !param.help.is_empty() && !param.reference.is_empty(),
                    "{} {}",
                    info.name,
                    param.name
                );
            }
            for preset in info.presets {
                let text = format!("{}:{}", info.name, preset.name);
                let rates = vec![Rate::from_bits_per_sec(10_000_000); 5];
                let site = Site { rates, random: Random::seeded(1) };
                let spec = ProgramSpec::parse(&text).unwrap();
                assert_eq!(spec.to_string(), text);
                assert!(spec.build(site).is_ok(), "{text}");
            }
        }
    }
}
