//! Bit rates.

use super::{Bytes, Span};
use core::fmt;

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// A rate of `bits` per second.
    pub const fn from_bits_per_sec(bits: u64) -> Rate {
        Rate(bits)
    }

    /// A rate of `mbit` million bits per second.
    ///
    /// ```
    /// # use aqm_core::units::Rate;
    /// assert_eq!(Rate::from_mbit(10), Rate::from_bits_per_sec(10_000_000));
    /// ```
    pub const fn from_mbit(mbit: u64) -> Rate {
        Rate(mbit * 1_000_000)
    }

    /// The rate in bits per second.
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }

    /// The rate in bytes per second.
    pub fn as_bytes_per_sec_f64(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// Serialisation time of `bytes`, rounded up to the nanosecond; the longest span if it exceeds that, and at rate
    /// zero.
    pub const fn time_for(self, bytes: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        // Of any packet they fit into a word, which is divided sooner.
        if let Some(bit_nanos) = bytes.as_u64().checked_mul(8_000_000_000) {
            return Span::from_nanos(bit_nanos.div_ceil(self.0));
        }
        let bit_nanos = bytes.as_u64() as u128 * 8_000_000_000;
        Span::from_nanos(saturate(bit_nanos.div_ceil(self.0 as u128)))
    }

    /// How many bytes fit into `span`, rounded down.
    pub const fn bytes_in(self, span: Span) -> Bytes {
        Bytes::new(saturate(self.0 as u128 * span.as_nanos() as u128 / 8_000_000_000))
    }
}

/// `number`, or the largest that fits.
const fn saturate(number: u128) -> u64 {
    if number > u64::MAX as u128 { u64::MAX } else { number as u64 }
}

impl fmt::Display for Rate {
    /// Writes the largest unit that needs no rounding: `10mbit`, `1500kbit`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n > 0 && n % 1_000_000_000 == 0 => write!(f, "{}gbit", n / 1_000_000_000),
            n if n > 0 && n % 1_000_000 == 0 => write!(f, "{}mbit", n / 1_000_000),
            n if n > 0 && n % 1_000 == 0 => write!(f, "{}kbit", n / 1_000),
            n => write!(f, "{n}bit"),
        }
    }
}
