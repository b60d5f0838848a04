//! Unusual contents of a capture.

/// Counts of unusual things that were kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Oddities {
    /// Packets up to a second earlier than the previous packet; they were given its time.
    pub backward: u64,
    /// Places where time jumps back by more than a second or ahead by more than an hour, as where recordings were
    /// joined: the rest was moved to one second later.
    pub leaps: u64,
    /// Packets without a time (pcapng's Simple Packet Blocks); they were given that of the previous packet.
    pub untimed: u64,
    /// Packets of more than 1500 bytes: jumbo frames, or merged by the capturing host's offloads.
    pub oversized: u64,
    /// Packets whose transport header was not captured completely: options are missing, or all of it.
    pub cut_transport: u64,
    /// Packets whose IP header states more bytes than the frame had, as where payload was removed from the file; the
    /// header was used.
    pub beyond_frame: u64,
}
