//! Quantities as types: an instant is not a duration, a bit is not a byte.
//!
//! Fields are private and constructors have the unit in their name. [`parse`] parses tc's notation (`10mbit`, `20ms`,
//! `64kb`, `1000p`); `Display` writes the canonical form, which can be parsed again.

mod bytes;
pub mod parse;
mod probability;
mod rate;
mod time;

pub use bytes::{Bytes, Size};
pub use probability::Probability;
pub use rate::Rate;
pub use time::{Span, Time};
