//! Errors in inputs from outside.

use std::fmt;

/// A file that cannot be used. It reads as one line: `lte.down, line 3: 'abc' is not ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The file name as given by the user.
    pub file: String,
    /// Where in the file (`line 3`, `byte 24`); `None` for the file as a whole.
    pub place: Option<String>,
    /// What is wrong and what is allowed.
    pub problem: String,
}

impl InputError {
    /// A problem with the whole file.
    pub fn new(file: &str, problem: impl Into<String>) -> InputError {
        InputError { file: file.to_string(), place: None, problem: problem.into() }
    }

    /// A problem at one place in the file.
    pub fn at(file: &str, place: impl Into<String>, problem: impl Into<String>) -> InputError {
        InputError { file: file.to_string(), place: Some(place.into()), problem: problem.into() }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", one_line(&self.file))?;
        if let Some(place) = &self.place {
            write!(f, ", {place}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for InputError {}

impl From<InputError> for aqm_core::input_error::InputError {
    fn from(error: InputError) -> aqm_core::input_error::InputError {
        aqm_core::input_error::InputError::new(error.to_string())
    }
}

/// `value` in quotes for a message: control characters escaped, cut to a readable length.
pub(crate) fn quoted(value: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown = one_line(&value.chars().take(LONGEST).collect::<String>());
    if value.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("'{shown}'")
}

fn one_line(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_whatever_the_file_is_called() {
        let error = InputError::at("a\nb.down", "line 3", format!("{} is not a number", quoted("x\r\ty")));
        assert_eq!(error.to_string(), r"a\nb.down, line 3: 'x\r\ty' is not a number");
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(quoted(&"7".repeat(41)), format!("'{}…'", "7".repeat(40)));
        assert_eq!(quoted(&"7".repeat(40)), format!("'{}'", "7".repeat(40)));
    }
}
