//! Values that have a notation of their own.

use crate::input_error::InputError;
use alloc::string::String;

/// A notation that a discipline reads: `[s 1s, b 120]`.
#[derive(Debug)]
pub struct Notation {
    /// What it lists, as the unit of the parameter.
    pub unit: &'static str,
    /// How it is written, within its brackets.
    pub form: &'static str,
    /// Texts that it reads.
    pub examples: &'static [&'static str],
    /// Texts that it refuses.
    pub refused: &'static [&'static str],
    /// The form in which a text is written, which is read alike; or what is wrong with it.
    pub canonical: fn(&str) -> Result<String, InputError>,
    /// The same text with the content of the files that it names; none if it names no files.
    pub with_files: Option<WithFiles>,
}

/// Puts what files have in place of their names.
pub type WithFiles = fn(&str, ReadFile<'_>) -> Result<String, InputError>;

/// Reads a file by its name: what errors call it, and its content.
pub type ReadFile<'a> = &'a mut dyn FnMut(&str) -> Result<(String, String), InputError>;

impl PartialEq for Notation {
    fn eq(&self, other: &Notation) -> bool {
        (self.unit, self.form) == (other.unit, other.form)
    }
}

impl Eq for Notation {}
