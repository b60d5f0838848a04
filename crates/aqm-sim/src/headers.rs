//! Sizes of headers and packets in bytes, and IP protocol numbers.

/// Protocol number of TCP (RFC 9293 section 3.1).
pub const TCP: u8 = 6;
/// Protocol number of UDP (RFC 768).
pub const UDP: u8 = 17;

/// An IPv4 header without options (RFC 791 section 3.1).
pub const IPV4_HEADER: u16 = 20;
/// An IPv6 header (RFC 8200 section 3).
pub const IPV6_HEADER: u16 = 40;
/// A UDP header (RFC 768).
pub const UDP_HEADER: u16 = 8;
/// A TCP header without options (RFC 9293 section 3.1).
pub const TCP_HEADER: u16 = 20;
/// TCP's timestamps, with two bytes that align them (RFC 7323 appendix A).
pub const TIMESTAMPS: u16 = 12;

/// The headers of a UDP datagram over IPv4.
pub const UDP_HEADERS: u16 = IPV4_HEADER + UDP_HEADER;
/// The headers of a TCP segment over IPv4, with timestamps.
pub const TCP_HEADERS: u16 = IPV4_HEADER + TCP_HEADER + TIMESTAMPS;
/// What IPv6 adds to them.
pub const IPV6_EXTRA: u16 = IPV6_HEADER - IPV4_HEADER;

/// The IP packet that fills an Ethernet frame (RFC 894).
pub const FULL_IP_PACKET: u32 = 1500;
