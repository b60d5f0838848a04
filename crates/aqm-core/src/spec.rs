//! tc's notation for a discipline with its parameters: `pie:linux target 15ms tupdate 15ms ecn`. Children are in
//! brackets: `drr child [pie target 15ms] child [codel] quantum 3000b`.

use crate::brackets::{self, BracketError};
use crate::discipline::Info;
use crate::input_error::InputError;
use crate::params::{
    Child, Kind, ParamError, ParamSpec, Params, Preset, Value, did_you_mean, known, same_name,
};
use crate::registry::{self, CLASSIFIERS, ClassifierInfo};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
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

/// The reason why a spec could not be parsed or built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// Brackets that do not match, or are nested too deeply.
    Brackets {
        /// As given.
        text: String,
        /// What is wrong with them.
        problem: BracketError,
    },
    /// No discipline of that name.
    UnknownDiscipline {
        /// As given.
        name: String,
    },
    /// No classifier of that name.
    UnknownClassifier {
        /// As given.
        name: String,
    },
    /// The discipline has no preset of that name.
    UnknownPreset {
        /// The discipline.
        name: &'static str,
        /// As given.
        preset: String,
        /// Those that it has.
        known: Vec<&'static str>,
    },
    /// The last parameter lacks its value.
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
    /// Reads `NAME[:PRESET] [PARAM VALUE | PARAM [SPEC] | FLAG | noFLAG | KEYWORD]...`.
    ///
    /// ```
    /// use aqm_core::spec::Spec;
    /// let spec = Spec::parse("fifo:head limit 64kb").unwrap();
    /// assert_eq!(spec.to_string(), "fifo:head limit 64kb");
    /// let spec = Spec::parse("drr child [pie target 15ms] child [fifo]").unwrap();
    /// assert_eq!(spec.to_string(), "drr:linux child [pie:rfc8033 target 15ms] child [fifo:tail]");
    /// assert_eq!(Spec::parse("pie no_dq_rate_estimator").unwrap().to_string(), "pie:rfc8033 nodq_rate_estimator");
    /// assert!(Spec::parse("fiffo").unwrap_err().to_string().contains("did you mean 'fifo'"));
    /// ```
    pub fn parse(text: &str) -> Result<Spec, SpecError> {
        Spec::parse_among(text, &[])
    }

    /// The same where the host has further disciplines; its children are those of the registry.
    pub fn parse_among(text: &str, added: &[&'static Info]) -> Result<Spec, SpecError> {
        let words = split(text)?;
        let (head, rest) = words.split_first().map_or(("", &*words), |(head, rest)| (*head, rest));
        let (name, preset) = head.split_once(':').map_or((head, None), |(name, preset)| (name, Some(preset)));
        let of_host = || added.iter().copied().find(|info| same_name(info.name, name));
        let info = registry::find(name).or_else(of_host);
        let info = info.ok_or_else(|| SpecError::UnknownDiscipline { name: name.to_owned() })?;
        let preset = match preset {
            None => &info.presets[0],
            Some(preset) => info.preset(preset).ok_or_else(|| SpecError::UnknownPreset {
                name: info.name,
                preset: preset.to_owned(),
                known: info.presets.iter().map(|preset| preset.name).collect(),
            })?,
        };
        Spec::of(info, preset).with(rest)
    }

    /// Reads the parameters of a discipline that its host has found, perhaps not in the registry.
    pub fn parse_as(info: &'static Info, preset: &'static Preset, params: &str) -> Result<Spec, SpecError> {
        Spec::of(info, preset).with(&split(params)?)
    }

    /// The same with parameters and their values.
    fn with<'a>(mut self, mut words: &'a [&'a str]) -> Result<Spec, SpecError> {
        while let [param, tail @ ..] = words {
            words = self.take(param, tail)?;
        }
        Ok(self)
    }

    /// Reads the notation of a classifier: its own name, then what it takes of the parameters of the discipline that it
    /// is a part of.
    ///
    /// ```
    /// use aqm_core::spec::Spec;
    /// let (info, spec) = Spec::parse_classifier("m_lru:consistent sq 100").unwrap();
    /// assert_eq!((info.name, spec.to_string().as_str()), ("m_lru", "sqm_lru:consistent sq 100"));
    /// let error = Spec::parse_classifier("m_lruu").err().unwrap();
    /// assert_eq!(error.to_string(), "unknown classifier 'm_lruu', did you mean 'm_lru'?; known are lru, l_lru, m_lru");
    /// let error = Spec::parse_classifier("lru limit 20p").err().unwrap();
    /// assert_eq!(error.to_string(), "lru: parameter 'limit' is unknown; known are cache, threshold, insert");
    /// ```
    pub fn parse_classifier(text: &str) -> Result<(&'static ClassifierInfo, Spec), SpecError> {
        let end = text.find([':', ' ']).unwrap_or(text.len());
        let info = CLASSIFIERS.iter().find(|info| same_name(info.name, &text[..end]));
        let info = info.ok_or_else(|| SpecError::UnknownClassifier { name: text[..end].to_owned() })?;
        let spec = Spec::parse(&(info.discipline.name.to_owned() + &text[end..]));
        let spec = spec.map_err(|error| error.of_classifier(info))?;
        match spec.params.names().find(|name| spec.params.is_given(name) && !info.takes(name)) {
            Some(name) => Err(info.refuses(name)),
            None => Ok((info, spec)),
        }
    }

    /// `info` with the parameters of `preset`.
    pub fn of(info: &'static Info, preset: &'static Preset) -> Spec {
        Spec { info, preset, params: Params::new(info.params, preset, read_child) }
    }

    /// Takes one parameter and its words from `tail`; returns the rest.
    fn take<'a>(&mut self, param: &str, tail: &'a [&'a str]) -> Result<&'a [&'a str], SpecError> {
        let name = self.info.name;
        let is_flag =
            |word: &str| self.info.params.iter().any(|p| p.kind == Kind::Flag && same_name(p.name, word));
        let (param, value, rest) = if is_flag(param) {
            match tail {
                [value @ ("on" | "off"), rest @ ..] => (param, *value, rest),
                _ => (param, "on", tail),
            }
        } else if let Some(flag) = negated(param).find(|flag| is_flag(flag)) {
            (flag, "off", tail)
        } else if let Some(choice) = self.keyword(param) {
            (choice, param, tail)
        } else if let [value, rest @ ..] = tail {
            (param, *value, rest)
        } else if self.info.params.iter().any(|p| same_name(p.name, param)) {
            return Err(SpecError::MissingValue { name, param: param.to_owned() });
        } else {
            (param, "", tail)
        };
        self.set(param, value).map_err(|error| SpecError::Param { name, error })?;
        Ok(rest)
    }

    /// Sets a parameter; repeated children are those of successive classes.
    fn set(&mut self, param: &str, value: &str) -> Result<(), ParamError> {
        let declared = self.params.declared(param)?;
        if declared.kind != Kind::Children || !self.params.is_given(param) {
            return self.params.set_text(param, value, read_child);
        }
        let mut children = self.params.children(param).to_vec();
        children.push(declared.parse_child(value, children.len() + 1, read_child)?);
        self.params.set(param, Value::Children(children))
    }

    /// The parameter that has `word` among its keywords.
    fn keyword(&self, word: &str) -> Option<&'static str> {
        let has_word = |param: &&ParamSpec| match param.kind {
            Kind::Choice(words) => {
                param.keywords && words.iter().any(|known| known.eq_ignore_ascii_case(word))
            }
            _ => param.is_auto_word(word),
        };
        self.info.params.iter().find(has_word).map(|param| param.name)
    }

    /// Sets one parameter from text.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        self.params.set_text(name, text, read_child)
    }

    /// Whether the discipline, or a child, ever asks for wake-ups.
    pub fn wakes(&self) -> bool {
        self.info.traits.wakes || self.params.all_children().any(registry::wakes)
    }
}

impl ClassifierInfo {
    /// Whether the classifier alone has this parameter.
    fn takes(&self, param: &str) -> bool {
        self.params.iter().any(|known| same_name(known, param))
    }

    /// It has not.
    fn refuses(&self, param: &str) -> SpecError {
        let hint = did_you_mean(param, self.params.iter().copied());
        let problem = format!("is unknown{hint}; known are {}", self.params.join(", "));
        SpecError::Param { name: self.name, error: ParamError::relation(param, "", problem) }
    }
}

impl SpecError {
    /// The same about a classifier that is a part of the discipline.
    fn of_classifier(self, info: &ClassifierInfo) -> SpecError {
        match self {
            SpecError::MissingValue { param, .. }
            | SpecError::Param { error: ParamError { param, .. }, .. }
                if !info.takes(&param) =>
            {
                info.refuses(&param)
            }
            SpecError::MissingValue { param, .. } => SpecError::MissingValue { name: info.name, param },
            SpecError::Param { error, .. } => SpecError::Param { name: info.name, error },
            other => other,
        }
    }
}

/// The flags that `word` may turn off: tc writes `noecn`, `no_dq_rate_estimator` and `no-split-gso`.
fn negated(word: &str) -> impl Iterator<Item = &str> {
    let plain = word.strip_prefix("no");
    let joined = plain.and_then(|flag| flag.strip_prefix(['_', '-']));
    plain.into_iter().chain(joined)
}

/// The words of a notation; what is in brackets is one.
fn split(text: &str) -> Result<Vec<&str>, SpecError> {
    brackets::words(text).map_err(|problem| SpecError::Brackets { text: text.to_owned(), problem })
}

/// Parses a child.
pub fn read_child(text: &str) -> Result<Child, InputError> {
    let spec = Spec::parse(text)?;
    Ok(Child { name: spec.info.name, preset: spec.preset.name, params: spec.params })
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spec({self})")
    }
}

impl fmt::Display for Spec {
    /// Writes name, preset and the parameters that were given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}{}", self.info.name, self.preset.name, self.params.given())
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Brackets { text, problem } => write!(f, "'{text}' {problem}"),
            SpecError::UnknownDiscipline { name } => {
                unknown(f, "discipline", name, registry::DISCIPLINES.iter().map(|info| info.name))
            }
            SpecError::UnknownClassifier { name } => {
                unknown(f, "classifier", name, CLASSIFIERS.iter().map(|info| info.name))
            }
            SpecError::UnknownPreset { name, preset, known } => {
                let hint = did_you_mean(preset, known.iter().copied());
                write!(f, "{name} has no preset '{preset}'{hint}; it has {}", known.join(", "))
            }
            SpecError::MissingValue { name, param } => {
                write!(f, "{name}: parameter '{param}' needs a value")
            }
            SpecError::Param { name, error } => f.write_str(&error.of(name)),
        }
    }
}

/// Says that no `what` is called `name`, and which are known or near.
fn unknown(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'static str> + Clone,
) -> fmt::Result {
    write!(f, "unknown {what} '{name}'{}; {}", did_you_mean(name, names.clone()), known(name, names))
}

impl core::error::Error for SpecError {}

impl From<SpecError> for InputError {
    fn from(error: SpecError) -> InputError {
        let line = InputError::new(error.to_string());
        match error {
            SpecError::Param { name, error } if error.inside.is_none() => {
                InputError::from(error).within(name)
            }
            SpecError::Brackets { text, .. } => line.of_value(&text),
            SpecError::UnknownDiscipline { name } => {
                let names = registry::DISCIPLINES.iter().map(|info| info.name);
                line.of_value(&name).near(&name, names)
            }
            SpecError::UnknownClassifier { name } => {
                let names = CLASSIFIERS.iter().map(|info| info.name);
                line.of_value(&name).near(&name, names)
            }
            SpecError::UnknownPreset { preset, known, .. } => {
                line.of_value(&preset).near(&preset, known.iter().copied())
            }
            SpecError::MissingValue { .. } | SpecError::Param { .. } => line,
        }
    }
}
