//! Amounts of data: bytes, and sizes in packets or bytes.

use core::fmt;
use core::ops::{Add, AddAssign};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// The limit of a queue: in packets or in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Counted in packets of any length.
    Packets(u64),
    /// Counted in bytes.
    Bytes(u64),
}

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);

    /// `bytes` bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// The plain number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl Size {
    /// The plain number, in the size's own unit.
    pub const fn count(self) -> u64 {
        match self {
            Size::Packets(n) | Size::Bytes(n) => n,
        }
    }

    /// The same unit with another number.
    pub const fn with_count(self, count: u64) -> Size {
        match self {
            Size::Packets(_) => Size::Packets(count),
            Size::Bytes(_) => Size::Bytes(count),
        }
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl fmt::Display for Bytes {
    /// Writes the largest unit that needs no rounding: `64kb` (65536), `1500b`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n > 0 && n % (1 << 30) == 0 => write!(f, "{}gb", n >> 30),
            n if n > 0 && n % (1 << 20) == 0 => write!(f, "{}mb", n >> 20),
            n if n > 0 && n % (1 << 10) == 0 => write!(f, "{}kb", n >> 10),
            n => write!(f, "{n}b"),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Size::Packets(n) => write!(f, "{n}p"),
            Size::Bytes(n) => Bytes(n).fmt(f),
        }
    }
}
