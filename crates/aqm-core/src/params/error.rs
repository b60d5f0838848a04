//! Errors of parameters.

use crate::input_error::InputError;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// The reason why a parameter was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Which parameter.
    pub param: String,
    /// The refused value as given.
    pub value: String,
    /// What is wrong and what is allowed.
    pub problem: String,
    /// If the problem is in a child of `param`: which child, counted from one where there can be several.
    pub inside: Option<Option<usize>>,
}

impl ParamError {
    /// A relation between parameters does not hold.
    pub fn relation(param: &str, value: impl ToString, problem: impl ToString) -> ParamError {
        ParamError {
            param: param.to_owned(),
            value: value.to_string(),
            problem: problem.to_string(),
            inside: None,
        }
    }

    /// What `param` decides cannot be otherwise for packets that wait.
    pub fn while_packets_wait(param: &str, value: impl ToString) -> ParamError {
        ParamError::relation(param, value, "cannot change while packets may wait")
    }

    /// A child of `param` was refused, the `number`th if there can be several; `problem` begins with its name.
    pub fn of_child(param: &str, number: Option<usize>, problem: impl ToString) -> ParamError {
        let (param, problem) = (param.to_owned(), problem.to_string());
        ParamError { param, value: String::new(), problem, inside: Some(number) }
    }

    /// The error in one line, starting with the discipline's name: `drr child [2:] pie: parameter 'target' ...`.
    pub fn of(&self, discipline: &str) -> String {
        let colon = if self.inside.is_some() { "" } else { ":" };
        format!("{discipline}{colon} {self}")
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inside {
            Some(Some(number)) => write!(f, "{} {number}: {}", self.param, self.problem),
            Some(None) => write!(f, "{}: {}", self.param, self.problem),
            None if self.value.is_empty() => write!(f, "parameter '{}' {}", self.param, self.problem),
            None => write!(f, "parameter '{}': '{}' {}", self.param, self.value, self.problem),
        }
    }
}

impl core::error::Error for ParamError {}

impl From<ParamError> for InputError {
    fn from(error: ParamError) -> InputError {
        if error.inside.is_some() || error.value.is_empty() {
            return InputError::new(error.to_string());
        }
        InputError::value(&error.value, error.problem).within(format!("parameter '{}'", error.param))
    }
}
