//! Probabilities.

use core::fmt;

/// A probability, always within 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const ZERO: Probability = Probability(0.0);
    /// Always.
    pub const ONE: Probability = Probability(1.0);

    /// `value`, limited to 0 and 1 (NaN becomes 0).
    pub fn clamped(value: f64) -> Probability {
        if value >= 1.0 {
            Probability::ONE
        } else if value > 0.0 {
            Probability(value)
        } else {
            Probability::ZERO
        }
    }

    /// The plain number.
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
