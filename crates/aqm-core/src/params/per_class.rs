//! Numbers, one per class.

use crate::units::parse::{self, UnitError};
use crate::units::{Bytes, Span};
use alloc::borrow::{Cow, ToOwned};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Most classes; also most children of a classful discipline.
pub const MOST_CLASSES: usize = 64;

/// What each number of a list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// A plain whole number.
    Count,
    /// A number of bytes.
    Bytes,
    /// A length of time.
    Span,
}

/// Up to [`MOST_CLASSES`] numbers, bytes or times; further classes use the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerClass {
    each: Each,
    /// In the base unit: plain, bytes or nanoseconds.
    numbers: Cow<'static, [u64]>,
}

impl Each {
    /// Reads one number of a list.
    fn parse(self, word: &str) -> Result<u64, UnitError> {
        match self {
            Each::Count => word.parse().map_err(|_| UnitError {
                text: word.to_owned(),
                problem: "is not a whole number".to_owned(),
            }),
            Each::Bytes => parse::bytes(word).map(Bytes::as_u64),
            Each::Span => parse::span(word).map(Span::as_nanos),
        }
    }

    /// The notation of the parser.
    pub(super) fn write(self, number: u64) -> String {
        match self {
            Each::Count => number.to_string(),
            Each::Bytes => Bytes::new(number).to_string(),
            Each::Span => Span::from_nanos(number).to_string(),
        }
    }
}

impl PerClass {
    /// A list in a declaration: at least one number, in the base unit.
    pub const fn of(each: Each, numbers: &'static [u64]) -> PerClass {
        assert!(!numbers.is_empty() && numbers.len() <= MOST_CLASSES);
        PerClass { each, numbers: Cow::Borrowed(numbers) }
    }

    /// Reads numbers that are separated by commas.
    pub(super) fn parse(each: Each, text: &str) -> Result<PerClass, UnitError> {
        let numbers = text.split(',').map(|word| each.parse(word)).collect::<Result<Vec<_>, _>>()?;
        if numbers.len() > MOST_CLASSES {
            let problem = alloc::format!("has {} numbers: allowed are {MOST_CLASSES}", numbers.len());
            return Err(UnitError { text: text.to_owned(), problem });
        }
        Ok(PerClass { each, numbers: Cow::Owned(numbers) })
    }

    /// What its numbers are.
    pub fn each(&self) -> Each {
        self.each
    }

    /// The numbers, in the base unit.
    pub fn as_slice(&self) -> &[u64] {
        &self.numbers
    }

    /// The number of class `class`: the last if the list is shorter.
    pub fn of_class(&self, class: usize) -> u64 {
        self.numbers[class.min(self.numbers.len() - 1)]
    }
}

impl fmt::Display for PerClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.numbers.iter().map(|number| self.each.write(*number)).collect();
        f.write_str(&words.join(","))
    }
}
