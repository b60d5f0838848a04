//! A frame in a capture file.

use super::link::LinkType;
use super::skipped::SkipReason;
use aqm_core::units::Time;

/// One captured frame, or why it cannot be used.
pub(super) struct Record<'a> {
    /// The interface of pcapng that captured it.
    pub(super) interface: u32,
    /// Type of its link layer.
    pub(super) link: Result<LinkType, SkipReason>,
    /// When it was captured; pcapng's Simple Packet Blocks do not say.
    pub(super) time: Option<Time>,
    /// The bytes that were captured.
    pub(super) data: &'a [u8],
    /// The bytes that were on the wire.
    pub(super) wire_length: u32,
}
