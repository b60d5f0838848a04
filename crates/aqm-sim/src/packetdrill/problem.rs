//! What is wrong with a script, or with the sender that it describes.

use aqm_core::input_error::InputError;
use std::fmt;

/// One line: the file, the line, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The script, as its caller names it.
    pub file: String,
    /// The line, from one on.
    pub line: usize,
    /// What is wrong.
    pub text: String,
    /// Whether the script asks for what is not modelled, so that nothing about the sender follows.
    pub is_unsupported: bool,
}

impl Problem {
    pub(super) fn new(file: &str, line: usize, text: String) -> Problem {
        Problem { file: file.to_owned(), line, text, is_unsupported: false }
    }
}

/// What is wrong, whose line is not known yet.
#[derive(Debug)]
pub(super) struct Refusal {
    text: String,
    is_unsupported: bool,
}

impl Refusal {
    /// The script is right, and asks for what is not modelled.
    pub(super) fn unsupported(text: String) -> Refusal {
        Refusal { text, is_unsupported: true }
    }

    /// The same of what was refused as wrong.
    pub(super) fn into_unsupported(self) -> Refusal {
        Refusal { is_unsupported: true, ..self }
    }

    /// The problem at a line of a script.
    pub(super) fn at(self, file: &str, line: usize) -> Problem {
        Problem { is_unsupported: self.is_unsupported, ..Problem::new(file, line, self.text) }
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Refusal {
        Refusal { text, is_unsupported: false }
    }
}

impl From<&str> for Refusal {
    fn from(text: &str) -> Refusal {
        text.to_owned().into()
    }
}

impl From<InputError> for Refusal {
    fn from(error: InputError) -> Refusal {
        error.to_string().into()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}

impl std::error::Error for Problem {}

/// `text`, cut to what fits on a line of an error.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
