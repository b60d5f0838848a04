//! One step along the layers of a frame.

use super::super::skipped::SkipReason;
use super::layer::Layer;

/// What a header leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The IP header at this offset.
    Ip(usize),
    /// A layer at this offset.
    Inside(Layer, usize),
}

pub(super) type Next = Result<Step, SkipReason>;
