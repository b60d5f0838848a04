//! The error about something that a person wrote: which option, where in it, which value, what is allowed.
//!
//! Every reader and check of text gives it, with what it knows; each layer above adds the place that it knows
//! ([`InputError::within`], [`InputError::of_option`]), and the outermost writes it in one line.

use crate::names::{did_you_mean, known, nearest};
use crate::units::parse::UnitError;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

/// What is wrong with something that a person wrote. It reads as one line.
///
/// ```
/// use aqm_core::input_error::InputError;
/// let error = InputError::unknown("kind", "cubik", ["cubic", "newreno"].into_iter());
/// let error = error.within("'2*cubik'").of_option("flows");
/// let problem = "'2*cubik': unknown kind 'cubik', did you mean 'cubic'?; known are cubic, newreno";
/// assert_eq!((error.option.as_str(), error.problem().as_str()), ("flows", problem));
/// assert_eq!((error.value.as_str(), error.nearest.as_deref()), ("cubik", Some("cubic")));
/// assert_eq!(error.to_string(), format!("flows: {problem}"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError(Box<Details>);

/// What an [`InputError`] knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Details {
    /// The option, as `flows` or `aqm`; empty as long as none is known.
    pub option: String,
    /// Where in the option's value, from outside to inside: `["'2*cubic'", "iw"]`.
    pub path: Vec<String>,
    /// The refused value as written; empty if something is missing, or several values contradict each other.
    pub value: String,
    /// What is allowed: the names, or one phrase; empty where the problem says all.
    pub allowed: Vec<String>,
    /// The nearest allowed name.
    pub nearest: Option<String>,
    /// What is wrong, as a clause that names the value.
    clause: String,
}

impl InputError {
    /// A problem in words that name what they are about.
    pub fn new(clause: impl Into<String>) -> InputError {
        InputError(Box::new(Details { clause: clause.into(), ..Details::default() }))
    }

    /// A value that cannot be: `'5x' has no unit`. `problem` says what is allowed, too.
    pub fn value(value: &str, problem: impl fmt::Display) -> InputError {
        InputError::new(format!("'{value}' {problem}")).of_value(value)
    }

    /// A value that is outside of what is allowed: `'0p' is out of range: allowed is 1p to 10p`.
    pub fn out_of_range(value: &str, allowed: impl Into<String>) -> InputError {
        let allowed = allowed.into();
        let error = InputError::value(value, format_args!("is out of range: allowed is {allowed}"));
        error.allowing([allowed])
    }

    /// A word that is none of a few.
    pub fn not_one_of<'a>(value: &str, words: impl Iterator<Item = &'a str> + Clone) -> InputError {
        let (listed, hint) = (listed(words.clone()), did_you_mean(value, words.clone()));
        InputError::value(value, format_args!("is not one of {listed}{hint}")).near(value, words)
    }

    /// A name of a `what` that is none: of a few candidates it lists all, of many the nearest.
    pub fn unknown<'a>(
        what: &str,
        name: &str,
        candidates: impl Iterator<Item = &'a str> + Clone,
    ) -> InputError {
        let known = if candidates.clone().next().is_none() {
            "known are none".to_owned()
        } else {
            known(name, candidates.clone())
        };
        let hint = did_you_mean(name, candidates.clone());
        InputError::new(format!("unknown {what} '{name}'{hint}; {known}"))
            .of_value(name)
            .near(name, candidates)
    }

    /// A field of a resolved scenario that cannot be: `rate is 0: it must be greater than zero`.
    pub fn field(key: &str, value: impl fmt::Display, problem: impl fmt::Display) -> InputError {
        InputError::new(format!("{key} is {value}: {problem}")).of_value(&value.to_string())
    }

    /// The same about a value as written.
    #[must_use]
    pub fn of_value(mut self, value: &str) -> InputError {
        value.clone_into(&mut self.0.value);
        self
    }

    /// The same with what is allowed, where the words of the problem say it already.
    #[must_use]
    pub fn allowing(mut self, allowed: impl IntoIterator<Item = String>) -> InputError {
        self.0.allowed = allowed.into_iter().collect();
        self
    }

    /// The same with the names that are allowed and the nearest of them, where the words of the problem say it already.
    #[must_use]
    pub fn near<'a>(mut self, name: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> InputError {
        self.0.nearest = nearest(name, candidates.clone()).map(ToOwned::to_owned);
        self.allowing(candidates.map(ToOwned::to_owned))
    }

    /// The same with a hint behind it.
    #[must_use]
    pub fn noting(mut self, hint: &str) -> InputError {
        self.0.clause = format!("{}; {hint}", self.0.clause);
        self
    }

    /// The same with more words at the end of the problem.
    #[must_use]
    pub fn adding(mut self, words: &str) -> InputError {
        self.0.clause += words;
        self
    }

    /// The same, within a part of the option's value: a key, a group of flows, a parameter.
    #[must_use]
    pub fn within(mut self, place: impl Into<String>) -> InputError {
        self.0.path.insert(0, place.into());
        self
    }

    /// The same, about an option; an option that is known already stays.
    #[must_use]
    pub fn of_option(mut self, option: &str) -> InputError {
        if self.0.option.is_empty() {
            option.clone_into(&mut self.0.option);
        }
        self
    }

    /// The line without the option, for those who write the option differently (`--flows`, `points[3].flows`).
    pub fn problem(&self) -> String {
        let path = self.path.iter().map(|place| format!("{place}: "));
        path.chain([self.clause.clone()]).collect()
    }
}

impl Deref for InputError {
    type Target = Details;
    fn deref(&self) -> &Details {
        &self.0
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.option.is_empty() {
            write!(f, "{}: ", self.option)?;
        }
        f.write_str(&self.problem())
    }
}

impl core::error::Error for InputError {}

impl From<UnitError> for InputError {
    fn from(error: UnitError) -> InputError {
        InputError::value(&error.text, error.problem)
    }
}

/// Names with commas between them.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
