//! What is wrong with a script, or with the sender that it describes.

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

    pub(super) fn unsupported(file: &str, line: usize, text: String) -> Problem {
        Problem { is_unsupported: true, ..Problem::new(file, line, text) }
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
