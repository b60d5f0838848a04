//! tc's way of naming a discipline with its parameters: `pie:linux target 15ms tupdate 15ms ecn`.

use crate::discipline::{Info, Link};
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, did_you_mean};
use crate::qdisc::Qdisc;
use crate::random::Random;
use crate::registry;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A discipline, a preset and all parameters, ready to be built.
#[derive(Clone)]
pub struct Spec {
    /// Which discipline.
    pub info: &'static Info,
    /// Which preset the parameters start from.
    pub preset: &'static Preset,
    /// All parameters.
    pub params: Params,
}

/// Why a spec could not be read or built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// No discipline of that name.
    UnknownDiscipline {
        /// As given.
        name: String,
    },
    /// The discipline has no preset of that name.
    UnknownPreset {
        /// The discipline.
        name: &'static str,
        /// As given.
        preset: String,
    },
    /// A parameter that needs a value stands last.
    MissingValue {
        /// The discipline.
        name: &'static str,
        /// The parameter.
        param: String,
    },
    /// A parameter was refused.
    Param {
        /// The discipline.
        name: &'static str,
        /// Why.
        error: ParamError,
    },
}

impl Spec {
    /// Reads `NAME[:PRESET] [PARAM VALUE | FLAG | noFLAG | KEYWORD]...`.
    ///
    /// ```
    /// use aqm_core::spec::Spec;
    /// let spec = Spec::parse("fifo:head limit 64kb").unwrap();
    /// assert_eq!(spec.to_string(), "fifo:head limit 64kb");
    /// assert!(Spec::parse("fiffo").unwrap_err().to_string().contains("did you mean 'fifo'"));
    /// ```
    pub fn parse(text: &str) -> Result<Spec, SpecError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        Spec::from_words(&words)
    }

    /// Reads the words of a spec.
    pub fn from_words(words: &[&str]) -> Result<Spec, SpecError> {
        let (head, mut rest) = words.split_first().map_or(("", words), |(head, rest)| (*head, rest));
        let (name, preset) = head.split_once(':').map_or((head, None), |(name, preset)| (name, Some(preset)));
        let info =
            registry::find(name).ok_or_else(|| SpecError::UnknownDiscipline { name: name.to_owned() })?;
        let preset = match preset {
            None => &info.presets[0],
            Some(preset) => info
                .preset(preset)
                .ok_or_else(|| SpecError::UnknownPreset { name: info.name, preset: preset.to_owned() })?,
        };
        let mut spec = Spec { info, preset, params: Params::new(info.params, preset) };
        while let [param, tail @ ..] = rest {
            rest = spec.take(param, tail)?;
        }
        Ok(spec)
    }

    /// Takes one parameter and as many words of `tail` as belong to it; returns what is left.
    fn take<'a>(&mut self, param: &str, tail: &'a [&'a str]) -> Result<&'a [&'a str], SpecError> {
        let name = self.info.name;
        let is_flag = |word: &str| {
            self.info.params.iter().any(|p| p.kind == Kind::Flag && crate::params::same_name(p.name, word))
        };
        let (param, value, rest) = if is_flag(param) {
            match tail {
                [value @ ("on" | "off"), rest @ ..] => (param, *value, rest),
                _ => (param, "on", tail),
            }
        } else if let Some(flag) = param.strip_prefix("no").filter(|flag| is_flag(flag)) {
            (flag, "off", tail)
        } else if let Some(choice) = self.keyword(param) {
            (choice, param, tail)
        } else if let [value, rest @ ..] = tail {
            (param, *value, rest)
        } else if self.info.params.iter().any(|p| crate::params::same_name(p.name, param)) {
            return Err(SpecError::MissingValue { name, param: param.to_owned() });
        } else {
            (param, "", tail)
        };
        self.params.set_text(param, value).map_err(|error| SpecError::Param { name, error })?;
        Ok(rest)
    }

    /// The parameter that has `word` among its keywords.
    fn keyword(&self, word: &str) -> Option<&'static str> {
        let has_word = |param: &&ParamSpec| match param.kind {
            Kind::Choice(words) => {
                param.keywords && words.iter().any(|known| known.eq_ignore_ascii_case(word))
            }
            _ => false,
        };
        self.info.params.iter().find(has_word).map(|param| param.name)
    }

    /// Whether the discipline, or one inside it, ever asks for wake-ups.
    pub fn wakes(&self) -> bool {
        let inside = |(declared, _): (&ParamSpec, _)| {
            declared.kind == Kind::Children && self.params.children(declared.name).iter().any(Spec::wakes)
        };
        self.info.traits.wakes || self.params.iter().any(inside)
    }

    /// Builds the discipline in its shell, with its own stream of random numbers.
    pub fn build(&self, link: Link, random: Random) -> Result<Qdisc, SpecError> {
        Qdisc::new(self, link, random).map_err(|error| SpecError::Param { name: self.info.name, error })
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spec({self})")
    }
}

impl fmt::Display for Spec {
    /// Writes name, preset and the parameters that were given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.info.name, self.preset.name)?;
        for (param, value) in self.params.iter().filter(|(param, _)| self.params.is_given(param.name)) {
            match (param.kind, value) {
                (Kind::Flag, crate::params::Value::Flag(true)) => write!(f, " {}", param.name)?,
                (Kind::Flag, _) => write!(f, " no{}", param.name)?,
                _ => write!(f, " {} {value}", param.name)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::UnknownDiscipline { name } => {
                let names = registry::DISCIPLINES.iter().map(|info| info.name);
                let known: Vec<_> = names.clone().collect();
                write!(
                    f,
                    "unknown discipline '{name}'{}; known are {}",
                    did_you_mean(name, names),
                    known.join(", ")
                )
            }
            SpecError::UnknownPreset { name, preset } => {
                let info = registry::find(name).expect("the name came from the registry");
                let names = info.presets.iter().map(|preset| preset.name);
                let known: Vec<_> = names.clone().collect();
                let hint = did_you_mean(preset, names);
                write!(f, "{name} has no preset '{preset}'{hint}; it has {}", known.join(", "))
            }
            SpecError::MissingValue { name, param } => {
                write!(f, "{name}: parameter '{param}' needs a value")
            }
            SpecError::Param { name, error } => f.write_str(&format!("{name}: {error}")),
        }
    }
}

impl core::error::Error for SpecError {}
