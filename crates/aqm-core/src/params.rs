//! Parameters: declared once; parsing, checks, output and documentation follow from the declaration.

mod choice;
mod declaration;
mod error;
mod kind;
mod notation;
mod per_class;
mod reading;
mod tc_number;
#[cfg(test)]
mod tests;
mod value;
mod values;

pub use crate::names::{did_you_mean, known, nearest, same_name};
pub use choice::Choice;
pub use error::ParamError;
pub use kind::Kind;
pub use notation::{Notation, ReadFile, WithFiles};
pub use per_class::{Each, MOST_CLASSES, PerClass};
pub use tc_number::TcNumber;
pub use value::{Child, ParamSpec, Params, Preset, Value};

use crate::input_error::InputError;

/// Parses the notation of a discipline, or says what is wrong with it. It is passed in, so that
/// parameters can hold children without depending on the registry.
pub type ReadChild = fn(&str) -> Result<Child, InputError>;
