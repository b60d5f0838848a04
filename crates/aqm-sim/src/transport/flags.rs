//! TCP's flags as on the wire.

/// No more data follow.
pub(crate) const FIN: u8 = 1;
/// The connection is being opened.
pub(crate) const SYN: u8 = 2;
/// The connection is refused.
pub(crate) const RST: u8 = 4;
/// The acknowledgment number is valid.
pub(crate) const ACK: u8 = 16;
/// ECN-Echo (RFC 3168 section 6.1).
pub(crate) const ECE: u8 = 64;
/// Congestion window reduced (RFC 3168 section 6.1).
pub(crate) const CWR: u8 = 128;
