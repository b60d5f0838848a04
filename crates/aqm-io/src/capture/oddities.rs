//! What a capture holds that is unusual.

/// What was kept although something about it is unusual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Packets up to a second earlier than the packet in front of them; they were given its time.
    pub backward: u64,
    /// Places where time leaps back by more than a second or ahead by more than an hour, as where recordings
    /// were joined: what follows was moved to one second later.
    pub leaps: u64,
    /// Packets without a time (pcapng's Simple Packet Blocks); they were given that of the packet in front.
    pub untimed: u64,
    /// Packets of more than 1500 bytes: jumbo frames, or joined by the capturing host's offloads.
    pub oversized: u64,
    /// Packets whose transport header was not captured whole: their flow may lack its ports.
    pub cut_transport: u64,
    /// Packets whose IP header tells of more bytes than the frame had, as where payload was removed from the
    /// file; the header was believed.
    pub beyond_frame: u64,
}
